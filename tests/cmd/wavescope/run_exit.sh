#!/bin/sh
# The program's end is the end: its exit code, its signal, and no process of ours around it.
. "$WS_SOURCE/tests/cmd/lib.sh"
fake_install

for code in 0 1 2 42 125 255; do
	run wavescope run -- sh -c "exit $code"
	rc_is "$code"
	out_is_empty
	err_is_empty
done

# Killed by a signal, not "exited with 143": ask a parent that can tell.
run "${PYTHON:-python3}" -c '
import subprocess
print(subprocess.run(["wavescope", "run", "--", "sh", "-c", "kill -TERM $$"]).returncode)'
out_is -15

# The program has the pid that wavescope was started with.
run sh -c 'echo $$; exec wavescope run -- sh -c "echo \$\$"'
[ "$(sed -n 1p "$out")" = "$(sed -n 2p "$out")" ] || fail "the program runs as a child"
