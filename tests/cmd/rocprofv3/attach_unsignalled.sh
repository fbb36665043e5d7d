#!/bin/sh
# rocprofv3 --pid with counters: kernels without a completion signal, as HIP 5.7 and later launch them.
. "$WS_SOURCE/tests/cmd/lib.sh"
resident=unsignalled
. "$WS_SOURCE/tests/cmd/resident.sh"

# What was counted of kernels that are all the same, and whether every one of them was.
counted() { # FOLDER COUNTER
	"${PYTHON:-python3}" -c '
import csv, sys
folder, counter = sys.argv[1:]
rows = [r for r in csv.DictReader(open(folder + "/a_counter_collection.csv")) if r["Counter_Name"] == counter]
kernels = list(csv.DictReader(open(folder + "/a_kernel_trace.csv")))
ids = sorted(int(r["Dispatch_Id"]) for r in rows)
assert ids == list(range(1, len(rows) + 1)), "numbers %s" % ids[:10]
# Tracing starts after counting and stops before: a few are counted and not traced.
traced = {int(r["Dispatch_Id"]) for r in kernels}
assert traced <= set(ids) and len(ids) - len(kernels) < 30, "%d of %d kernels" % (len(kernels), len(ids))
assert len({r["Queue_Id"] for r in rows}) == 1, "queues"
assert all(int(r["Start_Timestamp"]) < int(r["End_Timestamp"]) for r in rows)
assert {r["Grid_Size"] for r in rows} == {"256"}, "sizes"
print(*sorted({"%g" % float(r["Counter_Value"]) for r in rows}), "many" if len(rows) > 30 else len(rows))' \
		"$1" "$2"
}

# 256 work-items are 4 waves.
start
run rocprofv3 --pmc SQ_WAVES --kernel-trace -f csv -d a -o a --pid "$pid" --attach-duration-msec 300
rc_is 0
err_lacks "were observed but not in the output"
is "$(counted a SQ_WAVES)" "4 many" "SQ_WAVES"

# Without --kernel-trace nothing else is written; tracing alone, and counting again, have the same queue.
run rocprofv3 --pmc SQ_WAVES -f csv -d b -o a --pid "$pid" --attach-duration-msec 200
rc_is 0
[ ! -e b/a_kernel_trace.csv ] || fail "kernels that were not asked for"
[ "$(rows b/a_counter_collection.csv)" -gt 10 ] || fail "no counters"
run rocprofv3 --kernel-trace -f csv -d c -o a --pid "$pid" --attach-duration-msec 200
rc_is 0
[ "$(rows c/a_kernel_trace.csv)" -gt 10 ] || fail "no kernels"
[ ! -e c/a_counter_collection.csv ] || fail "counters that were not asked for"
run rocprofv3 --pmc SQ_WAVES_sum --kernel-trace -f csv -d d -o a --pid "$pid" --attach-duration-msec 200
rc_is 0
is "$(counted d SQ_WAVES_sum)" "4 many" "SQ_WAVES_sum"
end

# A GPU that does not report its kernels, as hardware: they are lost, and that is said.
WAVESCOPE_INTERCEPT=1
export WAVESCOPE_INTERCEPT
start
run rocprofv3 --pmc SQ_WAVES -f csv -d e -o a --pid "$pid" --attach-duration-msec 200
rc_is 0
err_has "were observed but not in the output"
end
