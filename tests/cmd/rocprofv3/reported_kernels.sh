#!/bin/sh
# The software GPU reports its kernels itself; queues of a real GPU are intercepted. The output is the same
# except for the times. Many streams, waits between them, graphs, a long chain of launches.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
[ -x "$WS_BUILD/tests/hip/streams" ] || skip "tests/hip/streams is not built: no hipcc"

cd "$work"
unset WAVESCOPE_INTERCEPT

trace() { # trace FOLDER PROGRAM...
	folder=$1
	shift
	run rocprofv3 --hip-runtime-trace --kernel-trace -f csv -d "$folder" -o r -- "$@"
	rc_is 0
	[ -s "$folder/r_kernel_trace.csv" ] || fail "no kernels in $folder"
}

same() { # same FOLDER FOLDER LEAST_ROWS
	"$PYTHON" - "$@" <<'PY' || fail "$1 and $2 differ"
import csv, sys
a, b = (list(csv.DictReader(open(d + "/r_kernel_trace.csv"))) for d in sys.argv[1:3])
for rows in a, b:
    threads = {}
    rows.sort(key=lambda r: int(r["Dispatch_Id"]))
    for r in rows:
        if int(r["Start_Timestamp"]) > int(r["End_Timestamp"]):
            sys.exit("ends before it begins: %s" % r)
        # HIP loads its own kernels in an order that differs from run to run
        del r["Start_Timestamp"], r["End_Timestamp"], r["Kernel_Id"]
        r["Thread_Id"] = threads.setdefault(r["Thread_Id"], len(threads))
if len(a) < int(sys.argv[3]) or [int(r["Dispatch_Id"]) for r in a] != list(range(1, len(a) + 1)):
    sys.exit("dispatches of %s: %d, numbered to %s" % (sys.argv[1], len(a), a[-1]["Dispatch_Id"]))
for x, y in zip(a, b):
    if x != y:
        sys.exit("\n%s\n%s" % (x, y))
if len(a) != len(b):
    sys.exit("%d and %d dispatches" % (len(a), len(b)))
PY
}

for program in streams graphs copies; do
	trace "told_$program" "$WS_BUILD/tests/hip/$program"
	(WAVESCOPE_INTERCEPT=1; export WAVESCOPE_INTERCEPT; trace "intercepted_$program" "$WS_BUILD/tests/hip/$program")
	same "told_$program" "intercepted_$program" 10
done

# one queue, more kernels than it has room for; the wait in between puts other packets there
n=40000
[ -z "$WS_SANITIZED" ] || n=8000
trace told_many "$WS_BUILD/tests/collector/launch" $n 1000
(WAVESCOPE_INTERCEPT=1; export WAVESCOPE_INTERCEPT; trace intercepted_many "$WS_BUILD/tests/collector/launch" $n 1000)
same told_many intercepted_many $((n + 1000))
