#!/bin/sh
# A database of rocprof-sys in the other formats: regions, call-stack samples and metrics are there.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_program sqlite3
cd "$work"
# A program of which everything is known (tests/output/systrace_capture.c), directly and as a database.
known=$WS_BUILD/tests/output/systrace_convert
[ -x "$known" ] || skip "$known is not in this build"
mkdir direct stored
"$known" "$work/direct" >/dev/null || fail "no trace"
"$known" "$work/stored" database >/dev/null || fail "no database"
db=stored/out/rocpd_results.db

run rocpd convert -i $db -f pftrace csv -o c -d c
rc_is 0
"$PYTHON" - "$WS_SOURCE" direct/out/perfetto-trace.proto c/c_results.pftrace <<'END' || fail "the traces differ"
import sys
sys.path.insert(0, sys.argv[1] + "/tests/output")
from harness import same
from systrace_file import Trace
direct, stored = Trace(sys.argv[2]), Trace(sys.argv[3])
def slices(trace):
    return sorted((str(s["track"]), s["category"], s["name"], s["start"], s["end"], s["above"]) for s in trace.slices)
# The name of an event is not in a database.
want = [tuple([x.replace("HW_CPU_CYCLES ", "") if isinstance(x, str) else [y.replace("HW_CPU_CYCLES ", "") for y in x]
               if isinstance(x, list) else x for x in s]) for s in slices(direct)]
same(slices(stored), sorted(want), "slices")
notes = {"begin_ns", "end_ns", "file", "line", "loss", "delta", "phase"}
def annotations(trace, name):
    return [{k: v for k, v in s["notes"].items() if k in notes} for s in trace.named(name)]
same(annotations(stored, "step"), annotations(direct, "step"), "annotations")
# Tracks end with 0: of a thread with it, or with the process.
def values(trace):
    same({v[-1][1] for v in trace.values.values()}, {0.0}, "last values")
    return {name: v[:-1] for name, v in trace.values.items()}
same(values(stored), values(direct), "values over time")
for name in direct.values:
    want, got = direct.track_named(name), stored.track_named(name)
    same((got["unit"], got["category"]), (want["unit"], want["category"]), name)
# Profiler samples: functions and lines; addresses are not in a database.
def samples(trace):
    return sorted((s["at"], s["tid"], [(f[0], f[3] or f[1], f[4]) for f in s["frames"]]) for s in trace.samples)
same(samples(stored), samples(direct), "profiler samples")
END

fields() { sed 1d "$1" | cut -d, -f2- | tr -d '"'; }
is "$(fields c/c_region_trace.csv | head -2)" "host,app,4711,4711,0,1000000000000,1000001000000
user,step,4711,4711,0,1000000050000,1000000240000" "regions as CSV"
is "$(rows c/c_region_trace.csv)" 6 "regions as CSV"
is "$(fields c/c_call_stack_sample_trace.csv | head -3)" \
	"timer_sampling,main,4711,4712,0,/bin/app,,0,1000005000000,1000010000000
timer_sampling,work(int),4711,4712,1,/bin/app,w.cpp,7,1000005000000,1000010000000
timer_sampling,leaf,4711,4712,2,,w.h,3,1000005000000,1000010000000" "samples as CSV"
is "$(rows c/c_call_stack_sample_trace.csv)" 10 "frames as CSV"
is "$(fields c/c_metric_trace.csv | head -2)" "process_page_fault,CPU Memory Usage (S),4711,1000005000000,100.5,MB,
device_busy_gfx,GPU GFX Busy [0] (S),4711,1000005000000,50,%,simulated" "metrics as CSV"
is "$(rows c/c_hsa_api_trace.csv)" 1 "HSA calls as CSV"

if part_needs otf2-print; then
	run rocpd convert -i $db -f otf2 -o o -d c
	rc_is 0
	run otf2-print c/o_results.otf2
	sed -n 's/^\([A-Z]*\)  *\([0-9]*\)  *\([0-9]*\)  Region: "\([^"]*\)".*/\2 \1 \3 \4/p' "$out" >events
	thread=$(sed -n 's/^\([0-9]*\) ENTER 1000000000000 app$/\1/p' events)
	is "$(sed -n "s/^$thread //p" events | grep -E ' (app|step|hipLaunchKernel|fib)$')" \
		"ENTER 1000000000000 app
ENTER 1000000050000 step
ENTER 1000000100000 hipLaunchKernel
LEAVE 1000000200000 hipLaunchKernel
LEAVE 1000000240000 step
ENTER 1000000700000 fib
ENTER 1000000710000 fib
LEAVE 1000000720000 fib
LEAVE 1000000730000 fib
LEAVE 1000001000000 app" "regions and calls of a thread"
	grep -q 'LEAVE 1000000600000 epoch' events || fail "a range across regions was cut"
	sampled=$(sed -n 's/^\([0-9]*\) ENTER 1000005000000 leaf$/\1/p' events)
	is "$(sed -n "s/^$sampled //p" events | sed -n '1,7p')" "ENTER 1000005000000 samples [rocprof-sys]
ENTER 1000005000000 main
ENTER 1000005000000 work(int)
ENTER 1000005000000 leaf
LEAVE 1000010000000 leaf
LEAVE 1000010000000 work(int)
LEAVE 1000010000000 main" "samples of a thread"
	grep -q '^METRIC .* 1000015000000 .*"GPU GFX Busy \[0\] (S)".* DOUBLE; 12.5)' "$out" || fail "no metric"
	run otf2-print -G c/o_results.otf2
	out_has '"Thread 1 (S) 4712"'
fi

# A sample counts for its innermost function; regions by their category.
run rocpd summary -i $db --domain-summary -f csv -o s -d c
rc_is 0
is "$(cut -d, -f1-3 c/s_samples_summary.csv)" "Name,Calls,DURATION (nsec)
leaf,2,20000000
train.forward,2,10000000" "samples by function"
is "$(cut -d, -f1-3 c/s_python_summary.csv)" "Name,Calls,DURATION (nsec)
fib,2,40000" "Python functions"
grep -q '^SAMPLES,4,30000000,' c/s_domain_summary.csv || fail "samples among the domains"
run rocpd summary -i $db --region-categories PYTHON -f csv -o p -d c
[ -e c/p_python_summary.csv ] && [ ! -e c/p_samples_summary.csv ] || fail "categories that were not chosen"
run rocpd query -i $db --query "SELECT name, MAX(value) AS most FROM metrics WHERE category = 'device_busy_gfx'"
out_has "GPU GFX Busy [0] (S) 50.0"

# Two copies of it as one, and a window.
run rocpd merge -i $db -o m -d c
rc_is 0
is "$(sqlite3 c/m.db 'SELECT COUNT(*) FROM call_stack_samples')" 10 "frames after a merge"
run rocpd convert -i $db -f csv -o w -d c --start 1000000600000 --end 1000000800000
is "$(rows c/w_region_trace.csv)" 3 "regions in a window"

# As AMD's system profiler writes it: its own categories, and one event for values that were read together.
cp $db amd.db
suffix=$(sqlite3 amd.db "SELECT value FROM rocpd_metadata WHERE tag = 'uuid'")
sqlite3 amd.db "UPDATE \"rocpd_string$suffix\" SET string = 'rocm_hip_api' WHERE string = 'HIP_RUNTIME_API_EXT';
	CREATE TEMP TABLE one AS SELECT MIN(s.event_id) AS event, s.timestamp AS t FROM rocpd_sample s
		JOIN rocpd_track k ON k.id = s.track_id WHERE k.tid IS NULL GROUP BY s.timestamp;
	UPDATE \"rocpd_pmc_event$suffix\" SET event_id = (SELECT event FROM one JOIN rocpd_sample s ON s.timestamp = t
		WHERE s.event_id = \"rocpd_pmc_event$suffix\".event_id) WHERE event_id IN (SELECT s.event_id FROM rocpd_sample s
		JOIN rocpd_track k ON k.id = s.track_id WHERE k.tid IS NULL);
	UPDATE \"rocpd_sample$suffix\" SET event_id = (SELECT event FROM one WHERE t = timestamp)
		WHERE track_id IN (SELECT id FROM rocpd_track WHERE tid IS NULL)"
run rocpd convert -i amd.db -f pftrace -o a -d c
rc_is 0
"$PYTHON" - "$WS_SOURCE" c/c_results.pftrace c/a_results.pftrace <<'END' || fail "a database in AMD's form"
import sys
sys.path.insert(0, sys.argv[1] + "/tests/output")
from harness import same
from systrace_file import Trace
ours, amds = Trace(sys.argv[2]), Trace(sys.argv[3])
def slices(trace):
    return sorted((str(s["track"]), s["category"], s["name"], s["start"], s["end"]) for s in trace.slices)
same(slices(amds), slices(ours), "slices")
same(amds.values, ours.values, "values over time")
END
