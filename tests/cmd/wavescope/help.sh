#!/bin/sh
# --help is complete, grouped, on stdout, and fits a terminal; so for every command.
. "$WS_SOURCE/tests/cmd/lib.sh"

run wavescope --help
rc_is 0
err_is_empty
out_fits
for word in 'usage: wavescope COMMAND' run info doctor WAVESCOPE_GPU --version; do
	out_has "$word"
done
out_lacks _agents

for command in run info doctor; do
	run wavescope "$command" --help
	rc_is 0
	err_is_empty
	out_fits
	out_has "usage: wavescope $command"
	cp "$out" "$work/long"
	run wavescope "$command" -h
	same_files "$out" "$work/long" "-h and --help differ"
	run wavescope help "$command"
	same_files "$out" "$work/long" "help $command and --help differ"
done

run wavescope run --help
for word in 'GPU:' 'Loading:' 'Exit code:' '-g, --gpu LIST' '-w, --workers N'; do
	out_has "$word"
done

# After the program's name it is the program's own option.
fake_install
run wavescope run -- printf '%s\n' --help
rc_is 0
out_is --help
run wavescope run printf '%s\n' --help
out_is --help
