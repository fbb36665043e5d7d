#!/bin/sh
# CPU events beside samples: from the option to the tables, and what cannot be counted.
. "$WS_SOURCE/tests/cmd/lib.sh"
for lib in libwavescope-collector.so libwavescope-sample.so; do
	[ -e "$WS_BUILD/lib/$lib" ] || skip "$lib is not in this build"
done
HOME=$work WAVESCOPE_GPU=native
export HOME WAVESCOPE_GPU
cd "$work"
program=$WS_BUILD/tests/collector/sample-program
[ -x "$program" ] || skip "sample-program is not in this build"
set -- -f 200 --sampling-wait 0.001 -E rocm amd-smi -P --time-output off --use-pid off

run rocprof-sys-run -S "$@" -o out -C page-faults perf::TASK-CLOCK -- "$program" counts
rc_is 7
! grep -q "cannot be counted" "$err" || skip "perf events are not permitted"
# 3,000 pages of the main thread and 5,000 of the other one, at the function that touches them.
"$PYTHON" - <<'END' || fail "page faults of the profile"
import json
rows = json.load(open("out/sampling_page-faults.json"))["timemory"]["page-faults"]["ranks"][0]["graph"]
def of(thread):
    return sum(r["stats"]["sum"] for r in rows if r["prefix"].startswith(thread) and r["prefix"].endswith("|_touch"))
threads = sorted({r["prefix"].split(">>>")[0] for r in rows})
assert len(threads) == 2, threads
assert 3000 <= of(threads[0]) <= 3300 and 5000 <= of(threads[1]) <= 5300, (of(threads[0]), of(threads[1]))
def total(file, metric):
    rows = json.load(open(file))["timemory"][metric]["ranks"][0]["graph"]
    return sum(r["stats"]["sum"] for r in rows if r["depth"] == 0)
# Two threads of 0.2 s and their faults: what the threads' own clocks say, which the program reads.
task, cpu = total("out/sampling_perf_TASK-CLOCK.json", "perf::TASK-CLOCK"), total("out/sampling_cpu_clock.json", "sampling_cpu_clock")
assert cpu >= 0.36 and 0.75 <= task / 1e9 / cpu <= 1.25, (task, cpu)
END
# The option and the variable are one setting.
ROCPROFSYS_PAPI_EVENTS=page-faults
export ROCPROFSYS_PAPI_EVENTS
run rocprof-sys-run -S "$@" -o env -- "$program" counts
rc_is 7
[ -s env/sampling_page-faults.txt ] || fail "no page faults: $(ls env)"
unset ROCPROFSYS_PAPI_EVENTS

# Mistakes.
run rocprof-sys-run -S "$@" -C page-fault -- "$program" counts
rc_is 1
err_has "ROCPROFSYS_PAPI_EVENTS: no CPU counter 'page-fault' on this machine: 'rocprof-sys-avail -H -c CPU' lists them"
run rocprof-sys-run -S "$@" -C perf::INSTRUCTIONS:k -- "$program" counts
rc_is 1
err_has "CPU counter 'perf::INSTRUCTIONS:k': only counting in user mode is supported"
run rocprof-sys-run --use-sampling off -E rocm -C page-faults -- true
err_has "ROCPROFSYS_PAPI_EVENTS has no effect without call-stack sampling: use -S"

# A counter that this machine does not have: left out, or an error where that is requested.
run rocprof-sys-avail -H -c CPU --csv -r '^PAPI_TOT_INS'
grep -q 'PAPI_TOT_INS,CPU,false' "$out" || { skip_part "this machine counts instructions" && exit 0; }
run rocprof-sys-run -S "$@" -o left -C PAPI_TOT_INS page-faults -- "$program" counts
rc_is 7
err_has "'PAPI_TOT_INS' cannot be counted on this machine and is left out"
[ -s left/sampling_page-faults.txt ] || fail "the other counter is missing, too"
ROCPROFSYS_PAPI_QUIET=on run rocprof-sys-run -S "$@" -o quiet -C PAPI_TOT_INS -- "$program" counts
rc_is 7
err_lacks "left out"
ROCPROFSYS_PAPI_FAIL_ON_ERROR=on run rocprof-sys-run -S "$@" -C PAPI_TOT_INS -- "$program" counts
rc_is 1
err_has "ROCPROFSYS_PAPI_EVENTS: 'PAPI_TOT_INS' cannot be counted on this machine"
