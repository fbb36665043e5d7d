#!/bin/sh
# The folder that a profile leaves: its files, what is in them, and that analyze reads it.
. "$WS_SOURCE/tests/cmd/rocprof-compute/lib.sh"
need_tracing

profile --name vcopy -- "$vcopy" -n 16384 -b 256 -i 3
rc_is 0
out_has "Path: $work/workloads/vcopy/MI200"
out_has "Target: MI200"
out_has "Command: $vcopy -n 16384 -b 256 -i 3"
out_has "Kernel Selection: None"
out_has "Hardware Blocks: All"
out_has "1 run of the program, the GPU repeats each dispatch"
out_has "|-> [rocprofiler-sdk] vcopy testing on GCD 0"
out_lacks "| '__/ _" # the banner is for terminals
dir=workloads/vcopy/MI200

is "$(cd $dir && echo *)" "SQC_DCACHE_INFLIGHT_LEVEL.csv SQ_IFETCH_LEVEL.csv \
SQ_INST_LEVEL_LDS.csv SQ_INST_LEVEL_SMEM.csv SQ_INST_LEVEL_VMEM.csv SQ_LEVEL_WAVES.csv log.txt \
perfmon pmc_perf_0.csv pmc_perf_1.csv pmc_perf_2.csv pmc_perf_3.csv pmc_perf_4.csv pmc_perf_5.csv \
profiling_config.yaml sysinfo.csv timestamps.csv" files
is "$(cd $dir/perfmon && ls *.txt | wc -l | tr -d ' ')" 12 "passes, as many as AMD's"
[ ! -e $dir/.rocprofv3 ] || fail "captures are left behind"

# Inputs of rocprof: five lines, blocks in order.
is "$(sed -n 2,5p $dir/perfmon/pmc_perf_5.txt | tr '\n' '|')" '|gpu:|range:|kernel:|' "perfmon lines"
grep -q '^pmc: SQ_' $dir/perfmon/pmc_perf_0.txt || fail "no SQ counters first"
grep -q ' SQ_IFETCH_LEVEL SQ_IFETCH_LEVEL_ACCUM ' $dir/perfmon/SQ_IFETCH_LEVEL.txt ||
	fail "a level and its accumulation"
channels=$(grep -l 'TCC_HIT\[0\]' $dir/perfmon/*.txt)
grep -q 'expression: select(TCC_HIT,\[DIMENSION_XCC=\[0\], DIMENSION_INSTANCE=\[31\]\])' \
	"${channels%.txt}.yaml" || fail "no definition of a channel"

# Rows: what launched, and what follows from the program is exact.
file=$dir/pmc_perf_0.csv
is "$(head -n 1 $file | cut -d, -f1-18)" "Dispatch_ID,GPU_ID,Queue_ID,PID,TID,Grid_Size,\
Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,Wave_Size,\
Kernel_Name,Start_Timestamp,End_Timestamp,Correlation_ID,Kernel_ID" header
is "$(rows $file)" 3 rows
is "$(cell $file Kernel_Name 2)" "vecCopy(double*, double*, double*, int, int)" kernel
is "$(cell $file Grid_Size 1) $(cell $file Workgroup_Size 1)" "16384 256" sizes
counters_of $dir >counters
is "$(grep '^SQ_WAVES ' counters)" "SQ_WAVES 256 256 256" waves
is "$(grep '^SQ_INSTS_VALU ' counters | cut -d' ' -f2)" 2560 "vector instructions"
grep -q '^TCC_HIT\[31\] ' counters || fail "no channel of the L2"
grep -q '^SQ_LEVEL_WAVES SQ_ACCUM_PREV_HIRES [1-9]' counters || fail "no accumulated level"
head -n 1 $dir/SQ_LEVEL_WAVES.csv | tr , '\n' | sed 1,18d >columns
LC_ALL=C sort -c columns || fail "columns are not in alphabetical order"
is "$(head -n 1 $dir/timestamps.csv | tr , '\n' | wc -l | tr -d ' ')" 18 "columns of timestamps.csv"

# The machine.
is "$(cell $dir/sysinfo.csv gpu_model 1)" MI200 model
is "$(cell $dir/sysinfo.csv gpu_arch 1)" gfx90a architecture
is "$(cell $dir/sysinfo.csv command 1)" "$vcopy -n 16384 -b 256 -i 3" command
is "$(cell $dir/sysinfo.csv ip_blocks 1)" "SQ|LDS|SQC|TA|TD|TCP|TCC|SPI|CPC|CPF" blocks
is "$(cell $dir/sysinfo.csv cu_per_gpu 1) $(cell $dir/sysinfo.csv total_l2_chan 1)" "104 32" GPU
is "$(cell $dir/sysinfo.csv vbios 1)" "software GPU (wavescope)" "what counted"
is "$(cell $dir/sysinfo.csv hostname 1)" "$(uname -n)" host
grep -q '^filter_blocks: \[\]$' $dir/profiling_config.yaml || fail "filter_blocks"
grep -q "^- '16384'\$" $dir/profiling_config.yaml || fail "numbers that are text are quoted"
grep -q '^format_rocprof_output: csv$' $dir/profiling_config.yaml || fail "format"
grep -E '^[a-z_]+:' $dir/profiling_config.yaml >keys
[ "$(wc -l <keys)" -gt 10 ] || fail "only $(wc -l <keys) keys"
sort -c keys || fail "keys are not sorted"
grep -q '^Target: MI200$' $dir/log.txt || fail "log.txt has the text alone"

run rocprof-compute analyze -p $dir -b 10.1 7.1
rc_is 0
out_has "vecCopy"
grep -q '7.1.2 .*Total Wavefronts .* 256.00 ' "$out" || fail "waves in the report"

# For AMD's analyze up to 3.3: one file with everything; an added pass makes it untrue. Blocks
# are a mapping, without names and metrics, and the memory's bandwidth is there: 3.0 to 3.2 end
# with a traceback otherwise.
profile --output-directory merged --merge --replay application -b wavefront 7.2.1 -- "$vcopy" -n 4096 -b 256 -i 2
rc_is 0
is "$(rows merged/pmc_perf.csv)" 2 "rows of the joined file"
is "$(cell merged/pmc_perf.csv SQ_WAVES 2) $(cell merged/pmc_perf.csv Grid_Size 1)" "64 4096" cells
is "$(cell merged/pmc_perf.csv Kernel_Name 1)" "vecCopy(double*, double*, double*, int, int)" kernel
is "$(sed -n '/^filter_blocks:/,/^format/p' merged/profiling_config.yaml | tr -d '\n')" \
	"filter_blocks:  '7': metric_id  '7.2': metric_idformat_rocprof_output: csv" "the mapping"
is "$(cell merged/sysinfo.csv hbm_bw 1)" 1638.4 "the memory's bandwidth"
run rocprof-compute analyze -p merged -b 7.1
rc_is 0
grep -q '7.1.2 .*Total Wavefronts .* 64.00 ' "$out" || fail "the joined file in the report"
profile --output-directory merged -b 12 -- "$vcopy" -n 4096 -b 256 -i 2
rc_is 0
[ ! -e merged/pmc_perf.csv ] || fail "a joined file that lacks a pass is left"

# MI100's fabric counters changed their names in 3.3: both are there.
WAVESCOPE_GPU=mi100
export WAVESCOPE_GPU
profile --output-directory mi100 --merge -b 17.2 -- "$vcopy" -n 4096 -b 256 -i 1
rc_is 0
unset WAVESCOPE_GPU
[ "$(cell mi100/pmc_perf.csv TCC_EA0_RDREQ_sum 1)" -gt 0 ] || fail "no reads from memory"
same "$(cell mi100/pmc_perf.csv TCC_EA_RDREQ_sum 1)" "$(cell mi100/pmc_perf.csv TCC_EA0_RDREQ_sum 1)" \
	"the counter under both names"

# The same of the long form: the rows of all passes, once, and analyze reads them as one.
profile --output-directory long --merge --format-rocprof-output rocpd -b 7 12 -- "$vcopy" -n 4096 -b 256 -i 2
rc_is 0
is "$(rows long/pmc_perf.csv)" "$(cat long/results_*.csv | grep -vc '^GPU_ID,')" "rows of the long file"
[ "$(ls long/results_*.csv | wc -l)" -gt 1 ] || fail "one pass joins nothing"
is "$(grep -c '^GPU_ID,' long/pmc_perf.csv)" 1 "headers of the long file"
run rocprof-compute analyze -p long -b 7.1
rc_is 0
grep -q '7.1.2 .*Total Wavefronts .* 64.00 ' "$out" || fail "the long file in the report"

# -q says nothing; the log says it all.
profile -q --output-directory quiet --set launch_stats -- "$vcopy" -n 4096 -b 256
rc_is 0
out_is_empty
err_is_empty
grep -q 'vcopy testing' quiet/log.txt || fail "the log misses what the program said"

# Another GPU, another folder.
WAVESCOPE_GPU=mi100 profile --name vcopy -b 12 -- "$vcopy" -n 4096 -b 256
rc_is 0
is "$(cell workloads/vcopy/MI100/sysinfo.csv gpu_arch 1)" gfx908 "second GPU"
