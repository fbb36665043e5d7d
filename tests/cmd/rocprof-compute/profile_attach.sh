#!/bin/sh
# rocprof-compute profile --attach-pid: a workload of a program that runs already.
. "$WS_SOURCE/tests/cmd/rocprof-compute/lib.sh"
. "$WS_SOURCE/tests/cmd/resident.sh"

start
profile --output-directory w --attach-pid "$pid" --attach-duration-msec 500 -b 2.1 7
rc_is 0
is "$(cell w/sysinfo.csv command 1)" "$resident ready" "command"
grep -q "^attach_pid: $pid\$" w/profiling_config.yaml || fail "no attach_pid in the config"
grep -q "^attach_duration_msec: 500\$" w/profiling_config.yaml || fail "no duration in the config"
# 1024 work-items in workgroups of 64 are 16 waves, in each dispatch of each pass
"${PYTHON:-python3}" - <<'PY' || fail "the passes do not fit together"
import csv, glob
n = set()
waves = set()
for path in glob.glob("w/pmc_perf_*.csv") + glob.glob("w/SQ_*.csv"):
    rows = list(csv.DictReader(open(path)))
    n.add(len(rows))
    assert {r["Kernel_Name"] for r in rows} == {"fill(int*, int)"}
    waves |= {float(r["SQ_WAVES"]) for r in rows if "SQ_WAVES" in r}
assert len(n) == 1 and min(n) > 5, n
assert waves == {16}, waves
PY
run rocprof-compute analyze -p w -b 7
rc_is 0
out_has "fill(int*, int)"

# Until Enter; another block, added to the same folder; all of the GPU's passes.
run sh -c '{ sleep 1; echo; } | rocprof-compute profile --no-roof --output-directory v --attach-pid '"$pid"
rc_is 0
out_has "each in all passes"
profile --output-directory w --attach-pid "$pid" --attach-duration-msec 300 -b 16
rc_is 0
out_has "are in the folder already"

# What cannot be.
profile -n a --attach-pid 999999999
rc_is 1
err_has "process 999999999 does not exist"
profile -n a --attach-pid $$
rc_is 1
err_has "process $$ does not use the software GPU"
profile --output-directory u --attach-pid "$pid" --replay application
rc_is 1
err_has "a running process cannot be run again"
profile -n a --attach-pid "$pid" -b 21
rc_is 1
err_has "--attach-pid does not support block 21"
profile -n a --attach-duration-msec 5 -- true
rc_is 2
err_has "--attach-duration-msec must be at least 1"
profile -n a --attach-pid "$pid" -- true
rc_is 2
err_has "--attach-pid runs no program"
end
