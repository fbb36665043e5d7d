#!/bin/sh
# --pmc-interval: counters of a whole GPU over time. Nothing is lost between two readings, intervals follow each
# other, and the software GPU's service and packets (a stand-in for AMD's aqlprofile) count the same.
. "$WS_SOURCE/tests/cmd/lib.sh"
[ -x "$WS_BUILD/tests/cmd/launches" ] || skip "no HSA headers, so no program that launches kernels"
need_softgpu
WAVESCOPE_GPU=mi210
export WAVESCOPE_GPU
cd "$work"

# sums FILE: per counter its sum, and how many intervals have a value, if they follow each other
sums() {
	"${PYTHON:-python3}" - "$1" <<'END_PYTHON' || fail "$1"
import csv, sys
counters = {}
for row in csv.DictReader(open(sys.argv[1], newline="")):
    rows = counters.setdefault(row["Counter_Name"], [])
    start, end = int(row["Start_Timestamp"]), int(row["End_Timestamp"])
    assert start < end, row
    assert not rows or rows[-1][1] == start, ("a gap", rows[-1], row)
    assert row["Agent_Id"] == "Agent 1", row
    rows.append((start, end, float(row["Counter_Value"])))
for name, rows in sorted(counters.items()):
    print(name, "%g" % sum(r[2] for r in rows))
waves = counters["SQ_WAVES"]
assert len(waves) >= 4, waves
assert sum(1 for r in waves if r[2]) >= 3, ("all in one interval", waves)
END_PYTHON
}

run rocprofv3 --kernel-trace --pmc SQ_WAVES SQ_BUSY_CYCLES --pmc-interval 20 -f csv json pftrace -d service -o r -- \
	"$WS_BUILD/tests/cmd/launches" 40 5000
rc_is 0
out_has "40 kernels"
is "$(sed 1d service/r_kernel_trace.csv | wc -l)" 40 "kernels in the trace"
[ ! -e service/r_counter_collection.csv ] || fail "kernels were counted"
sums service/r_counter_intervals.csv >service.sums
grep -qx 'SQ_WAVES 40' service.sums || fail "SQ_WAVES: $(cat service.sums)"
is "$(grep -o '"counter_name":"SQ_WAVES"' service/r_results.json | wc -l)" "$(grep -c SQ_WAVES service/r_counter_intervals.csv)" \
	"intervals in JSON"
grep -qa 'Agent \[1\] PMC SQ_WAVES' service/r_results.pftrace || fail "no track in the Perfetto trace"

# Derived counters are computed of each interval: 100 % where a kernel ran, 0 elsewhere.
run rocprofv3 --pmc GPU_UTIL SQ_WAVES_sum --pmc-interval 20 -f csv -d derived -o r -- "$WS_BUILD/tests/cmd/launches" 10 5000
rc_is 0
is "$(grep -c '"SQ_WAVES_sum"' derived/r_counter_intervals.csv | sed 's/^[1-9][0-9]*$/some/')" some "intervals"
is "$(sed -n 's/.*"GPU_UTIL",\([^,]*\),.*/\1/p' derived/r_counter_intervals.csv | sort -u | tail -n 1)" 100.000000 "GPU_UTIL"

# By packets the same.
if [ -e "$WS_BUILD/tests/collector/aqlprofile/libhsa-amd-aqlprofile64.so.1" ]; then
	run env LD_LIBRARY_PATH="$WS_BUILD/tests/collector/aqlprofile${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
		WAVESCOPE_COUNTERS=aqlprofile rocprofv3 --pmc SQ_WAVES SQ_BUSY_CYCLES --pmc-interval 20 -f csv -d packets -o r -- \
		"$WS_BUILD/tests/cmd/launches" 40 5000
	rc_is 0
	is "$(sums packets/r_counter_intervals.csv)" "$(cat service.sums)" "sums by packets"
else
	skip_part "no HSA headers, so no stand-in for aqlprofile"
fi

# What cannot be: before the program runs, with what to do.
refuse() {
	code=$1 text=$2
	shift 2
	run rocprofv3 "$@" -d none -o r -- "$WS_BUILD/tests/cmd/launches" 1
	rc_is "$code"
	err_has "$text"
	[ ! -e none ] || fail "the program ran"
}
refuse 2 "--pmc-interval needs counters: add --pmc NAME" --pmc-interval 10
refuse 2 "option '--pmc-interval': '0' is not a number of milliseconds" --pmc SQ_WAVES --pmc-interval 0
refuse 2 "it excludes --kernel-include-regex" --pmc SQ_WAVES --pmc-interval 10 --kernel-include-regex x
refuse 1 "these need 2 passes: request fewer" --pmc TCC_HIT TCC_MISS TCC_REQ TCC_READ TCC_WRITE --pmc-interval 10
WAVESCOPE_COUNTERS=compare
export WAVESCOPE_COUNTERS
LD_LIBRARY_PATH=$WS_BUILD/tests/collector/aqlprofile refuse 1 "compares kernels: use service or aqlprofile" --pmc SQ_WAVES --pmc-interval 10
