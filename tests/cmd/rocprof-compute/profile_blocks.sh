#!/bin/sh
# Choosing: blocks, tables, metrics and sets; kernels; dispatches. -b adds to what is there.
. "$WS_SOURCE/tests/cmd/rocprof-compute/lib.sh"
need_tracing
dir=workloads/vcopy/MI200

profile -n vcopy -b 12 -- "$vcopy" -n 4096 -b 256 -i 2
rc_is 0
out_has "Report Sections: ['12']"
counters_of $dir >first
grep -q '^SQ_INSTS_LDS ' first || fail "block 12 without SQ_INSTS_LDS"
! grep -q '^TA_' first || fail "block 12 with counters of other blocks"
grep -q "^- '12'\$" $dir/profiling_config.yaml || fail "filter_blocks"

# More blocks into the same folder: only what is missing is counted, and nothing is lost.
profile -n vcopy -b 10 memchart -- "$vcopy" -n 4096 -b 256 -i 2
rc_is 0
out_has "counters are in the folder already"
counters_of $dir >second
grep -q '^TA_FLAT_WAVEFRONTS_sum ' second || fail "block 10 without TA_FLAT_WAVEFRONTS_sum"
grep -q '^SQC_TC_DATA_READ_REQ ' second || fail "block 3 without SQC_TC_DATA_READ_REQ"
cut -d' ' -f1 first | sort >a
cut -d' ' -f1 second | sort | comm -23 a - >gone
[ ! -s gone ] || fail "counters of the first run are gone: $(cat gone)"
for block in 12 10 memchart; do
	grep -q "^- '*$block'*\$" $dir/profiling_config.yaml || fail "filter_blocks lacks $block"
done
is "$(ls $dir/perfmon/*.txt | wc -l)" "$(ls $dir/pmc_perf_*.csv $dir/SQ*.csv | wc -l)" \
	"an input per file"
run rocprof-compute analyze -p $dir -b 12.2 10.1
rc_is 0
grep -q '12.2.0 .*LDS Instr' "$out" || fail "block 12 in the report"

# The same again is there already.
profile -n vcopy -b 12 -- "$vcopy" -n 4096 -b 256 -i 2
rc_is 0
out_has "All requested counters were already collected"

# One metric is a handful of counters; sets are one pass each.
profile --output-directory one -b 11.1.1 12.1.1 -- "$vcopy" -n 4096 -b 256
rc_is 0
is "$(ls one/perfmon/*.txt | wc -l | tr -d ' ')" 1 "passes for two metrics"
# One that is about a level is a pass of its own, and can be read like any other.
profile --output-directory level -b 7.2.7 -- "$vcopy" -n 4096 -b 256
rc_is 0
out_has "in 1 pass: 1 run"
run rocprof-compute analyze -p level -b 7.2.7
rc_is 0
grep -q '7.2.7 .*Wavefront Occupancy .*[1-9]' "$out" || fail "a metric about a level, alone"
for set in compute_thruput_util compute_thruput_flops mem_thruput launch_stats; do
	profile --output-directory set_$set --set $set --replay none -- "$vcopy" -n 4096 -b 256
	rc_is 0
	out_has "Set Selection: $set"
	is "$(cd set_$set/perfmon && echo *.txt)" pmc_perf_0.txt "passes of $set"
done
grep -q "^- 7.1.0\$\|^- '7.1.0'\$" set_launch_stats/profiling_config.yaml || fail "ids of the set"
profile --output-directory warned -b 12 99 -- "$vcopy" -n 4096 -b 256
rc_is 0
out_has "Skipping 99: block not found"

# Dispatches, from 0; over all kernels.
profile --output-directory d0 --set launch_stats -d 0 -- "$vcopy" -n 4096 -b 256 -i 4
is "$(rows d0/pmc_perf_0.csv)" 1 "-d 0"
profile --output-directory d02 --set launch_stats -d 0:2 3 -- "$vcopy" -n 4096 -b 256 -i 5
is "$(rows d02/pmc_perf_0.csv)" 3 "-d 0:2 3"
grep -q '^range: 0:2 3$' d02/perfmon/pmc_perf_0.txt || fail "range line"
need_sample occupancy
occupancy=$WS_BUILD/samples/occupancy
profile --output-directory global --set launch_stats -d 1 -- "$occupancy" -n 4096
rc_is 0
is "$(rows global/pmc_perf_0.csv) $(cut -d, -f14 global/pmc_perf_0.csv | tail -n 1)" \
	'1 "limited_by_lds(float const*' "second dispatch of the program"

# Kernels, by parts of their names.
profile --output-directory k --set launch_stats -k lds registers -- "$occupancy" -n 4096
rc_is 0
out_has "Kernel Selection: ['lds', 'registers']"
is "$(rows k/pmc_perf_0.csv)" 2 "-k"
grep -q '^kernel: lds,registers$' k/perfmon/pmc_perf_0.txt || fail "kernel line"
profile --output-directory none --set launch_stats -k nothing -- "$occupancy" -n 4096
rc_is 1
err_has "matches --kernel: its kernels are "
for kernel in full limited_by_lds limited_by_registers; do err_has $kernel; done
profile --output-directory none --set launch_stats -d 100 -- "$occupancy" -n 4096
rc_is 1
err_has "has no such dispatch: --dispatch counts those of a program from 0"
# As a report shows it, and as an expression.
for text in "full(float const*, float*, int)" "full(" "^f\w+\("; do
	profile --output-directory name --replace --set launch_stats -k "$text" -- "$occupancy" -n 4096
	rc_is 0
	is "$(rows name/pmc_perf_0.csv)" 1 "-k $text"
done
# Each has groups of its own.
profile --output-directory name --replace --set launch_stats -k '(l)imited_by_\1ds' '^(f)ul+\(\1loat' -- "$occupancy" -n 4096
rc_is 0
is "$(rows name/pmc_perf_0.csv)" 2 "back references"
profile --output-directory nogpu --set launch_stats -- true
rc_is 1
err_has "'true' dispatched no kernel on a GPU"

# The long form, as it comes from rocpd databases.
profile --output-directory long --format-rocprof-output rocpd -b 12 -- "$vcopy" -n 4096 -b 256 -i 2
rc_is 0
is "$(head -n 1 long/results_0.csv)" "GPU_ID,Dispatch_ID,Grid_Size,Workgroup_Size,\
LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,Kernel_Name,Start_Timestamp,\
End_Timestamp,Kernel_ID,Counter_Name,Counter_Value" header
grep -q ',SQ_INST_LEVEL_LDS_ACCUM,' long/results_*.csv || fail "levels keep their names"
run rocprof-compute analyze -p long -b 12.2
rc_is 0
