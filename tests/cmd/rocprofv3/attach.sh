#!/bin/sh
# rocprofv3 --pid: into a program that was started without it, and out again.
. "$WS_SOURCE/tests/cmd/lib.sh"
. "$WS_SOURCE/tests/cmd/resident.sh"

# A program that was started without us: calls, markers, copies, allocations.
start
run rocprofv3 --sys-trace -f csv json -d a -o a --pid "$pid" --attach-duration-msec 1000
rc_is 0
err_has "attached to 1 process"
[ "$(rows a/a_hip_api_trace.csv)" -gt 20 ] || fail "HIP calls: $(rows a/a_hip_api_trace.csv)"
[ "$(rows a/a_hsa_api_trace.csv)" -gt 20 ] || fail "HSA calls: $(rows a/a_hsa_api_trace.csv)"
[ "$(rows a/a_memory_copy_trace.csv)" -gt 2 ] || fail "copies: $(rows a/a_memory_copy_trace.csv)"
grep -q '"turn"' a/a_marker_api_trace.csv || fail "no markers"
grep -q 'hipMemcpyAsync' a/a_hip_api_trace.csv || fail "no hipMemcpyAsync"
grep -q '"fill(int\*, int)"' a/a_kernel_trace.csv || fail "no kernel of that name"
# calls nest and correlate like those of any other run
"${PYTHON:-python3}" - <<'PY' || fail "the records do not fit together"
import json
d = json.load(open("a/a_results.json"))["rocprofiler-sdk-tool"][0]["buffer_records"]
calls = {c["correlation_id"]["internal"] for c in d["hip_api"] + d["hsa_api"]}
assert len(calls) == len(d["hip_api"]) + len(d["hsa_api"]), "ids twice"
for c in d["hip_api"] + d["hsa_api"] + d["kernel_dispatch"] + d["memory_copy"]:
    assert c["start_timestamp"] <= c["end_timestamp"]
assert any(c["correlation_id"]["internal"] in calls for c in d["memory_copy"])
# most kernels go to the queue that was there before: every launch has its kernel, with its own times
kernels = d["kernel_dispatch"]
launches = sum(1 for row in open("a/a_hip_api_trace.csv") if '"hipLaunchKernel"' in row)
assert launches - 3 <= len(kernels) <= launches + 3, (launches, len(kernels))
assert len({k["start_timestamp"] for k in kernels}) == len(kernels), "times twice"
assert sum(k["correlation_id"]["internal"] in calls for k in kernels) >= len(kernels) - 3
PY

# Again, for other things; and what ends it.
run sh -c '{ sleep 1; echo; } | rocprofv3 --hip-trace -f csv -d b -o b --pid '"$pid"
rc_is 0
[ "$(rows b/b_hip_api_trace.csv)" -gt 20 ] || fail "HIP calls the second time"
[ ! -e b/b_hsa_api_trace.csv ] || fail "HSA calls that were not asked for"
run timeout --preserve-status -s INT 2 rocprofv3 --marker-trace -f csv -d c -o c -p "$pid"
rc_is 0
[ "$(rows c/c_marker_api_trace.csv)" -gt 2 ] || fail "markers the third time"

# Nobody else while somebody is; and the end of the front end is the end of recording.
rocprofv3 --hip-trace -f csv -d d -o d --pid "$pid" --attach-duration-msec 60000 2>d.err &
front=$!
i=0
while ! grep -qs attached d.err && [ $i -lt 300 ]; do
	i=$((i + 1))
	sleep 0.1
done
run rocprofv3 --hip-trace -d e --pid "$pid" --attach-duration-msec 100
rc_is 1
err_has "cannot attach to process $pid: it is already being recorded"
[ ! -e e/.rocprofv3 ] || fail "a folder was left behind"
kill -KILL $front
wait $front 2>/dev/null || :
sleep 1
dir=$(echo d/.rocprofv3/*)
run rocprofv3 --recover "$dir"
rc_is 0
[ "$(rows d/d_hip_api_trace.csv)" -gt 20 ] || fail "nothing recovered"
err_lacks "still running"

# The program ends while it is recorded: the records are there.
(sleep 1; kill -TERM "$pid") &
run rocprofv3 --hip-trace -f csv -d f -o f --pid "$pid" --attach-duration-msec 60000
rc_is 0
[ "$(rows f/f_hip_api_trace.csv)" -gt 20 ] || fail "the last records are missing"
code=0
wait "$pid" || code=$?
is "$code" 0 "exit code of the program that ended by itself"

# A program that was started with us, idle, and its own recorder wins.
rm -f ready
rocprofv3 --marker-trace -f csv -d g -o g -- "$resident" ready >/dev/null 2>&1 &
front=$!
i=0
while [ ! -e ready ] && [ $i -lt 300 ]; do
	i=$((i + 1))
	sleep 0.1
done
pid=$(cat /proc/$front/task/$front/children)
pid=${pid%% *}
run rocprofv3 --hip-trace -d h --pid "$pid" --attach-duration-msec 100
rc_is 1
err_has "it is already being recorded"
kill -TERM "$pid"
wait $front || :
