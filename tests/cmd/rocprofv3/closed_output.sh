#!/bin/sh
# A closed pipe or a file size limit ends one output: the others are written, and the loss is reported.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
closed() { # COMMAND... with a standard output that nobody reads
	shown="$*"
	: >"$out"
	{ sleep 0.2; r=0; timeout 60 "$@" 2>"$err" || r=$?; echo $r >code; } | true
	wait
	while [ ! -s code ]; do sleep 0.05; done
	rc=$(cat code)
	rm code
}
cat >two.sh <<END
"$vcopy" -n 65536 -b 256 >/dev/null
"$vcopy" -n 65536 -b 256 >/dev/null
exit \$1
END

# What is printed is lost, with a sentence; both processes have their files, and no capture is left.
closed rocprofv3 --pc-report --pc-sampling-interval 64 --pc-sampling-method stochastic \
	--pc-sampling-unit cycles --pc-sampling-beta-enabled -f csv json -d out -o p -- sh two.sh 0
rc_is 1
err_has "rocprofv3: standard output was closed early"
is "$(find out -name '*_kernel_trace.csv' | wc -l)" 2 "files of two processes"
is "$(find out -name '*_results.json' | wc -l)" 2 "databases of two processes"
[ ! -e out/.rocprofv3 ] || fail "captures are left"
# The program's own exit code passes through.
closed rocprofv3 --kernel-trace -S --summary-output-file stdout -f csv -d own -o p -- sh two.sh 7
rc_is 7
is "$(find own -name '*_kernel_trace.csv' | wc -l)" 2 "files of two processes"
# Nothing of ours was to be printed: nothing is lost.
closed rocprofv3 --kernel-trace -f csv -d none -o p -- sh two.sh 0
rc_is 0
# A program that writes to the closed pipe itself ends as without us.
closed rocprofv3 --kernel-trace -f csv -d itself -o p -- yes
rc_is 141

# Signals are the program's as they are without us, ignored ones too.
# (32 and 33 are the C library's own business; SIGBUS, SIGFPE and SIGSEGV a sanitizer's.)
masks() {
	"$@" cat /proc/self/status 2>/dev/null | while read -r key mask rest; do
		case $key in SigBlk: | SigIgn: | SigCgt:) echo $key $((0x$mask & 0x7ffffb3f)) ;; esac
	done
}
bare=$(masks env)
same "$(masks rocprofv3 --kernel-trace -d m --)" "$bare" "signals of a traced program"
is "$(masks wavescope run --)" "$bare" "signals of a program on the software GPU"
(
	trap '' PIPE
	same "$(masks rocprofv3 --kernel-trace -d m --)" "$(masks env)" "ignored signals"
) || exit 1

# A limit on the size of files: the large one fails with a sentence, the small one is there.
run rocprofv3 --hsa-trace --kernel-trace -f csv -d kept -o k --keep-captures -- "$vcopy" -n 65536 -b 256
rc_is 0
dir=$(echo kept/.rocprofv3/*)
run sh -c 'ulimit -f 16 && exec "$@"' limited rocprofv3 --recover "$dir" -d small -o s -f csv json
rc_is 1
err_has "File too large"
[ -s small/s_kernel_trace.csv ] || fail "the small file is missing"
[ ! -e small/s_results.json ] || fail "the large file is there"
is "$(find small -name '*partial*' | wc -l)" 0 "half a file"

# The other front ends.
run rocprofv3 --kernel-trace -d db -o d -- "$vcopy" -n 65536 -b 256
rc_is 0
closed rocpd query -i db/d_results.db --query "SELECT * FROM kernels"
rc_is 1
err_has "standard output was closed"
# Those that only print end as any filter does, without a word.
for list in "rocprofv3-avail list --pmc" "wavescope info"; do
	closed $list
	rc_is 141
	[ ! -s "$err" ] || fail "'$list' complains about a closed pipe"
done
closed rocprof-compute analyze --list-metrics gfx90a
rc_is 1
err_has "standard output was closed"
# What profile prints is in its log as well: nothing is lost.
closed rocprof-compute profile -n w --output-directory w -b 7.1 --no-roof -- "$vcopy" -n 65536 -b 256
rc_is 0
[ -s w/timestamps.csv ] || fail "the workload is not complete"
grep -q vcopy w/log.txt || fail "no log"
