#!/bin/sh
# --gpu-time: times of kernels and copies from the timing model, in every file, in the order of events.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
unset WAVESCOPE_GPU_TIME WAVESCOPE_TIMES
trace() { # DIR [OPTION...]
	dir=$1
	shift
	run rocprofv3 --hip-trace --kernel-trace --memory-copy-trace --stats -d "$dir" -o t "$@" -- \
		"$vcopy" -n 1048576 -b 256 -i 3
	rc_is 0
}
trace sim --gpu-time simulated -f csv json pftrace rocpd otf2
err_has "(vcopy), on the software GPU: GPU times are simulated"
trace host -f csv json
err_has "(vcopy), on the software GPU: GPU times are host times (--gpu-time)"
cat >check.py <<'P'
import csv, json, sqlite3, sys
def rows(path): return list(csv.DictReader(open(path)))
def times(path): return sorted((int(r["Start_Timestamp"]), int(r["End_Timestamp"])) for r in rows(path))
def tool(d): return json.load(open(d + "/t_results.json"))["rocprofiler-sdk-tool"][0]

kernels, copies = times("sim/t_kernel_trace.csv"), times("sim/t_memory_copy_trace.csv")
assert len(kernels) == 3 and len(copies) == 2, (kernels, copies)
for start, end in kernels:  # recorded on an MI200: 20480, then 16320
    assert 12000 < end - start < 27000, end - start
for start, end in copies:   # 8 MiB at 28 GB/s
    assert 299000 < end - start < 301000, end - start
# copy, kernels, copy: one after the other
order = sorted(kernels + copies)
assert order == [copies[0]] + kernels + [copies[1]], order
assert all(a[1] <= b[0] for a, b in zip(order, order[1:])), order
# not before the call that submits it, complete before the call that waits for it returns
calls = {c: [(int(r["Start_Timestamp"]), int(r["End_Timestamp"])) for r in rows("sim/t_hip_api_trace.csv")
             if r["Function"] == c] for c in ("hipLaunchKernel", "hipMemcpy", "hipDeviceSynchronize")}
for (start, end), launch in zip(kernels, calls["hipLaunchKernel"]):
    assert launch[0] <= start, (launch, start)
for (start, end), call in zip(copies, calls["hipMemcpy"]):
    assert call[0] <= start < end <= call[1], (call, start, end)
assert kernels[-1][1] <= calls["hipMemcpy"][1][1]

# the other files and the statistics have the same
t = tool("sim")
of_json = sorted((r["start_timestamp"], r["end_timestamp"]) for r in t["buffer_records"]["kernel_dispatch"])
assert of_json == kernels, (of_json, kernels)
db = sqlite3.connect("sim/t_results.db")
assert sorted(db.execute("SELECT start, end FROM kernels")) == kernels
total = [r for r in rows("sim/t_kernel_stats.csv") if "vecCopy" in r["Name"]][0]["TotalDurationNs"]
assert int(total) == sum(e - s for s, e in kernels), total
# and say whose times they are
assert t["metadata"]["gpu_times"] == "simulated", t["metadata"]
ledger = json.loads(db.execute("SELECT value FROM rocpd_metadata WHERE tag = 'wavescope_ledger'").fetchone()[0])
assert ledger["gpu_times"] == "simulated", ledger
assert b"GPU times: simulated" in open("sim/t_results.pftrace", "rb").read()
assert b"WAVESCOPE::GPU_TIMES\0simulated" in open("sim/t_results.otf2", "rb").read()
assert tool("host")["metadata"]["gpu_times"] == "host"
for start, end in times("host/t_kernel_trace.csv"):
    assert end - start > 100000, "the host cannot execute vcopy in that time"
P
"${PYTHON:-python3}" check.py || fail "times are not right"
# Also those that are made from the database.
run rocpd convert -i sim/t_results.db -f pftrace otf2 -d again -o t
rc_is 0
grep -q -a "GPU times: simulated" again/*.pftrace || fail "not in the timeline of a database"
grep -q -a "WAVESCOPE::GPU_TIMES" again/*.otf2 || fail "not in the archive of a database"

# Several queues: in each, one kernel after the other, and none before its launch.
need_sample streams
run env WAVESCOPE_GPU_TIME=simulated rocprofv3 --hip-trace --kernel-trace -f csv -d streams -o t -- \
	"$WS_BUILD/samples/streams"
rc_is 0
err_has "GPU times are simulated"
"${PYTHON:-python3}" - <<'P' || fail "kernels overlap"
import collections, csv
queues, launched = collections.defaultdict(list), {}
for r in csv.DictReader(open("streams/t_hip_api_trace.csv")):
    launched[r["Correlation_Id"]] = int(r["Start_Timestamp"])
for r in csv.DictReader(open("streams/t_kernel_trace.csv")):
    queues[r["Queue_Id"]].append((int(r["Start_Timestamp"]), int(r["End_Timestamp"])))
    assert int(r["Start_Timestamp"]) >= launched.get(r["Correlation_Id"], 0), r
assert len(queues) > 1 and sum(map(len, queues.values())) > 4, queues
for of in queues.values():
    of.sort()
    assert all(a[0] < a[1] for a in of) and all(a[1] <= b[0] for a, b in zip(of, of[1:])), of
P

# What is typed wins over the environment; the variable's former name is still understood.
small() { run "$@" rocprofv3 $typed --kernel-trace -f csv -d more -o t -- "$vcopy" -n 65536 -b 256; rc_is 0; }
typed="--gpu-time host" small env WAVESCOPE_GPU_TIME=simulated
err_has "GPU times are host times"
typed="" small env WAVESCOPE_TIMES=modelled
err_has "GPU times are simulated"
typed="--pmc SQ_WAVES" small env
err_has "GPU times of counted kernels are simulated"
run rocprofv3 --gpu-time fast --kernel-trace -- true
rc_is 2
err_has "--gpu-time"
WAVESCOPE_GPU_TIME=fast run rocprofv3 --kernel-trace -- true
err_has "GPU times 'fast': host or simulated (--gpu-time, WAVESCOPE_GPU_TIME)"
run rocprofv3 --gpu-time simulated --kernel-trace --pid $$
rc_is 2
err_has "--pid excludes --gpu-time: start the program with WAVESCOPE_GPU_TIME=simulated"

# Kernels of two GPUs that spin until the other one is there: the model has an end.
meet=$WS_BUILD/tests/cmd/meet
if [ -x "$meet" ]; then
	WAVESCOPE_GPU=mi210,mi210 run rocprofv3 --kernel-trace --gpu-time simulated -f csv -d meet -o t -- "$meet" 100
	rc_is 0
	out_has met
	is "$(rows meet/t_kernel_trace.csv)" 2 "kernels that met"
fi
