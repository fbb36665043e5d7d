#!/bin/sh
# Mistakes in how a program, its output and the services are named.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
ln -s "$vcopy" app
wrong() { # COMPLAINT ARGUMENTS...
	text=$1
	shift
	run "$@"
	rc_is 2
	err_is "$text"
	[ ! -e out ] || fail "'$shown' made a folder"
}
# The program without its "--", wherever it is swallowed.
for words in "-f csv" "--pmc SQ_WAVES" "-d out" "--kernel-trace -o x" "--preload $WS_BUILD/lib/libroctx64.so.4 -f csv"; do
	# shellcheck disable=SC2086 # words
	wrong "rocprofv3: missing '--' before './app': type 'rocprofv3 ... -- ./app'" \
		rocprofv3 $words ./app -n 4096
done
wrong "rocprofv3: missing '--' before 'sh': type 'rocprofv3 ... -- sh'" \
	rocprofv3 --pmc SQ_WAVES sh -c ./app
wrong "rocprofv3: unrecognized arguments: ./app: the program goes after '--'" rocprofv3 ./app
for words in "-b 4" "-k copy" "-d 0"; do
	# shellcheck disable=SC2086 # words
	wrong "rocprof-compute: missing '--' before './app': type 'rocprof-compute profile ... -- ./app'" \
		rocprof-compute profile -n out $words ./app
done
# Other mistakes are not taken for that one.
wrong "rocprofv3: unknown option '--kernel-tarce': did you mean '--kernel-trace'?" \
	rocprofv3 --kernel-tarce -- ./app
wrong "rocprofv3: Fatal error: No application provided: put it after --, as in 'rocprofv3 --kernel-trace -- ./app'" \
	rocprofv3 --kernel-trace
wrong "rocprofv3: warning: No tracing options were enabled. --kernel-trace or --sys-trace records something
rocprofv3: Fatal error: No tracing options were enabled for --stats option.: add --kernel-trace or another trace option" \
	rocprofv3 --stats -- ./app

wrong "rocprofv3: unrecognized arguments: kernel-trace: did you mean '--kernel-trace'?" \
	rocprofv3 kernel-trace -- ./app
wrong "rocprofv3: --pmc names no counter: 'rocprofv3-avail list --pmc' lists them" rocprofv3 --pmc -- ./app

# Names: placeholders that are none, and what no file system takes, before the program runs.
run rocprofv3 --kernel-trace -f csv -d out -o '%typo%_%pid%' -- ./app -n 4096 -b 256
rc_is 0
err_has "warning: -o '%typo%_%pid%': unknown placeholder %typo% is not replaced: --help lists them"
err_has "out/%typo%_"
run rocprofv3 --kernel-trace -f csv -d 'out/%pidd%' -- true
err_has "warning: -d 'out/%pidd%': unknown placeholder %pidd% is not replaced: did you mean %pid%?"
run rocprofv3 --kernel-trace -f csv -d out -o '%h_%p-%env{USER}%-%q{HOME}-{nid}-%arg1%' -- true
err_lacks placeholder
rm -r out
long=$(printf '%0300d' 0)
for words in "-o $long" "-o out/$long" "-d out/$long"; do
	# shellcheck disable=SC2086 # words
	run rocprofv3 --kernel-trace $words -- sh -c 'echo ran >ran'
	rc_is 2
	err_has "'00000000000000000000...' is too long for a name of a f"
	[ ! -e ran ] || fail "'$shown' ran the program"
done
deep=$(printf 'a/%.0s' $(seq 2048))
run rocprofv3 --kernel-trace -o "$deep" -- sh -c 'echo ran >ran'
rc_is 2
err_has "is too long for a path"
[ ! -e ran ] || fail "'$shown' ran the program"

# A group of services: those that saw nothing are no news, unless none of them did.
for group in -s -r; do
	run rocprofv3 $group -d out -- ./app -n 4096 -b 256
	rc_is 0
	err_has "kernel dispatches"
	err_lacks "requested, but"
done
run rocprofv3 -s --rccl-trace --rocdecode-trace -d out -- ./app -n 4096 -b 256
err_has "requested, but never observed: RCCL calls"
err_has "not supported by this version: rocDecode calls"
run rocprofv3 -r -d out -- true
err_has "requested, but never observed: "
err_has "kernel dispatches"
