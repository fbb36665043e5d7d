#!/bin/sh
# PC samples: files, columns, instructions, source lines, and the listing.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
app=$WS_BUILD/tests/cmd/vcopy-lines
[ -x "$app" ] || skip "hipcc is not installed"
# MI210 has no stochastic sampling; only a report of our own has its stall reasons there.
sample() { # METHOD UNIT INTERVAL [OPTION...]
	method=$1 unit=$2 interval=$3
	shift 3
	[ "$method" != stochastic ] || set -- --pc-report "$@"
	run rocprofv3 --pc-sampling-beta-enabled --pc-sampling-method "$method" \
		--pc-sampling-unit "$unit" --pc-sampling-interval "$interval" "$@" -- "$app" -n 65536 -b 256
}

sample stochastic cycles 256 -f csv json -d out -o s
rc_is 0
csv=out/s_pc_sampling_stochastic.csv
is "$(head -1 $csv)" '"Sample_Timestamp","Exec_Mask","Dispatch_Id","Instruction","Instruction_Comment","Correlation_Id","Wave_Issued_Instruction","Instruction_Type","Stall_Reason","Wave_Count"' header
cat >check.py <<'P'
import csv, json, sys
rows = list(csv.DictReader(open("out/s_pc_sampling_stochastic.csv")))
kernel = next(csv.DictReader(open("out/s_kernel_trace.csv")))
tool = json.load(open("out/s_results.json"))["rocprofiler-sdk-tool"][0]
records = tool["buffer_records"]["pc_sample_stochastic"]
texts, lines = (tool["strings"]["pc_sample_" + k] for k in ("instructions", "comments"))
assert len(rows) == len(records) > 100, (len(rows), len(records))
start, end = int(kernel["Start_Timestamp"]), int(kernel["End_Timestamp"])
issued = waiting = named = 0
for row, entry in zip(sorted(rows, key=lambda r: int(r["Sample_Timestamp"])),
                      sorted(records, key=lambda r: r["record"]["timestamp"])):
    record = entry["record"]
    assert start <= int(row["Sample_Timestamp"]) <= end, row
    assert row["Dispatch_Id"] == "1" and record["dispatch_id"] == 1, row
    assert row["Instruction"], row
    # the compiler gives some instructions no line
    assert not row["Instruction_Comment"] or "vcopy.hip.cpp:" in row["Instruction_Comment"], row
    named += row["Instruction_Comment"] != ""
    assert row["Correlation_Id"] == kernel["Correlation_Id"], row
    assert record["wrkgrp_id"]["x"] < 256 and record["wave_in_grp"] < 4, record
    assert 0 < int(row["Wave_Count"]) <= 32, row
    issued += row["Wave_Issued_Instruction"] == "1"
    waiting += row["Stall_Reason"].endswith("_WAITCNT")
# the same instructions, however the files sort what was sampled at the same time
of_csv = sorted((r["Instruction"], r["Instruction_Comment"]) for r in rows)
of_json = sorted((texts[r["inst_index"]], lines[r["inst_index"]]) for r in records)
assert of_csv == of_json
assert 0 < issued < waiting, (issued, waiting)
assert named > len(rows) / 2, (named, len(rows))
assert any(r["Instruction"].startswith("global_") for r in rows)
P
"${PYTHON:-python3}" check.py || fail "the samples are not right"
# The software GPU samples by its own clock: the same again.
cut -d, -f2- $csv | sort >first
sample stochastic cycles 256 -f csv -d out -o again
cut -d, -f2- out/again_pc_sampling_stochastic.csv | sort >second
same_files first second "a second run gave other samples"

sample host_trap time 1 -f csv -d out -o h
rc_is 0
is "$(head -1 out/h_pc_sampling_host_trap.csv)" \
	'"Sample_Timestamp","Exec_Mask","Dispatch_Id","Instruction","Instruction_Comment","Correlation_Id"' header
[ "$(rows out/h_pc_sampling_host_trap.csv)" -gt 10 ] || fail "no samples by host trap"

# The listing: source, instruction, samples, why.
run rocprofv3 --pc-report -d out -o r -- "$app" -n 65536 -b 256
rc_is 0
out_has "vecCopy(double*, double*, double*, int, int)  gfx90a"
out_has "vcopy.hip.cpp:"
out_has "global_load_dwordx2"
out_has "WAITCNT"
grep -q 'vcopy.hip.cpp:[0-9]* *[a-z]*\[.*\] = ' "$out" || fail "no source text"

# With counters, of the same dispatches.
sample stochastic cycles 256 --pmc SQ_WAVES -f csv -d out -o both
rc_is 0
cut -d, -f2- out/both_pc_sampling_stochastic.csv | sort >second
same_files first second "counting changed the samples"
grep -q '"SQ_WAVES",1024.0' out/both_counter_collection.csv || fail "no counter beside the samples"

sample stochastic cycles 1000
rc_is 2
err_has "power of two"
sample stochastic instructions 1024
rc_is 2
err_has "--pc-sampling-unit cycles"
sample host_trap time 0
rc_is 2
run rocprofv3 --pc-sampling-beta-enabled --pc-sampling-method stochastic --pc-sampling-unit cycles \
	--pc-sampling-interval 1024 -d none -- "$app"
rc_is 1
err_has "stochastic PC sampling exists from MI300 on, and not on gfx90a: use --pc-sampling-method host_trap"
[ ! -e none ] || fail "the program was run all the same"
