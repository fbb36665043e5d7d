#!/bin/sh
# Nothing recorded is said, and with --strict it is a failure.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
run rocprofv3 --kernel-trace -d out -- true
rc_is 0
err_has "no process of the program used a GPU runtime"
err_has "requested, but never observed: kernel dispatches"
[ -z "$(find out -name '*.db')" ] || fail "a file with nothing in it"
run rocprofv3 --strict --kernel-trace -d out -- true
rc_is 3
run rocprofv3 --strict --kernel-trace -d out -- sh -c 'exit 9'
rc_is 9
# Every format holds all that was seen, so that none of them calls it lost.
for format in csv json pftrace rocpd; do
	run rocprofv3 --strict --sys-trace -f $format -d out -- "$vcopy" -n 65536 -b 256
	rc_is 0
	err_lacks "not in the output"
done
run rocprofv3 --strict --sys-trace --rccl-trace -d out -- "$vcopy" -n 65536 -b 256
rc_is 3
# Ids of the last provider are far from 1, with nobody before it: they are no damage.
run rocprofv3 --kernel-trace --rccl-trace -d out -- "$vcopy" -n 65536 -b 256
rc_is 0
err_lacks "damaged"
# Files that were not wanted are not lost.
run rocprofv3 --strict --kernel-trace --minimum-output-data 1000 -d out -- "$vcopy" -n 65536 -b 256
rc_is 0
err_has "less than --minimum-output-data: no files"
run rocprofv3 --strict --kernel-trace --benchmark-mode sdk-buffer-overhead -d none -- "$vcopy" -n 65536 -b 256
rc_is 0
[ -z "$(find none -type f)" ] || fail "--benchmark-mode wrote files"
# No room, no permission, not a folder: said before the program is started.
: >file
run rocprofv3 --kernel-trace -d file/out -- touch started
rc_is 1
[ ! -e started ] || fail "the program ran for nothing"
run rocprofv3 --kernel-trace -d file -- touch started
rc_is 1
err_has "'file' is a file"

# A program that the collector does not get into: why.
if echo 'int main(void) { return 0; }' | cc -static -x c - -o alone 2>/dev/null; then
	run rocprofv3 --kernel-trace -- ./alone
	rc_is 0
	err_has "'./alone' is statically linked"
fi

# A period that the program never reached: what happened before it is counted.
run rocprofv3 --kernel-trace -P 100:1:1 -d out -- "$vcopy" -n 65536 -b 256
rc_is 0
err_has "(1 while paused)"
