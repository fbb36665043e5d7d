#!/bin/sh
# Every option of analyze, as typed.
. "$WS_SOURCE/tests/cmd/lib.sh"

cp -r "$WS_SOURCE/tests/cmd/compute/workloads" "$work/w"
cd "$work"
w=w/gfx90a

has() { # text, arguments
	text=$1
	shift
	run rocprof-compute "$@"
	rc_is 0
	out_has "$text"
}
lacks() {
	text=$1
	shift
	run rocprof-compute "$@"
	rc_is 0
	out_lacks "$text"
}

# General options, before and after the mode.
has "rocprofiler-compute version" -v
has "rocprofiler-compute version" analyze --version
has "2.1.1 -> VALU IOPs" --list-metrics gfx90a
has "Integer operations the vector ALU" analyze --list-metrics gfx90a
has "lds" --list-blocks gfx950
has "GPU Arch" analyze -s -p $w
has "17.6.10 ->" analyze --list-available-metrics -p $w
has "GPU Arch" -s analyze -p $w
has "│ 2.1.1 " -q analyze -p $w
run rocprof-compute
rc_is 2
err_has "a mode is required"
run rocprof-compute analyse
rc_is 2
err_has "did you mean 'analyze'"
run rocprof-compute analyze --help
rc_is 0
out_fits

# Blocks by id and alias; tables 0.1 and 0.2 always.
has "12.2.0" analyze -p $w -b 12
has "12.2.0" analyze -p $w -b lds
lacks "12.1.0" analyze -p $w -b lds.2
has "0.1 Top Kernels" analyze -p $w -b 12.2.1
lacks "12.2.2 " analyze -p $w -b 12.2.1
lacks "System Info" analyze -p $w -b 2
has "System Info" analyze -p $w -b 1
run rocprof-compute analyze -p $w -b SQ 100
rc_is 2
err_has "-b SQ: gfx90a has no such block, table or metric"

# What profile recorded decides, block by block, when -b does not.
cp -r $w recorded
printf "filter_blocks:\n- '12.1.1'\n- lds\ntorch_trace: false\n" >recorded/profiling_config.yaml
has "12.2.0" analyze -p recorded
lacks "│ 2.1.1 " analyze -p recorded
has "Not showing table not selected during profiling: 2.1" analyze -p recorded
has "│ 2.1.1 " analyze -p recorded -b 2
printf "filter_blocks:\n  '12': metric_id\n  '2': other\n" >recorded/profiling_config.yaml
lacks "│ 2.1.1 " analyze -p recorded

# Filters.
has "│    3.00 │" analyze -p $w -d 0 2 3 -b 2
has " * " analyze -p $w -k 1 -b 2
lacks "copy(" analyze -p $w --list-stats -d 0
has "copy(" analyze -p $w --list-stats
has "Detected Kernels (sorted descending by duration)" analyze -p $w --list-stats
has "0.2 Dispatch List" analyze -p $w --gpu-id 4 -b 2
lacks "│  0 │             0 │" analyze -p $w -d '>' 2 -b 2
lacks "│  1 │" analyze -p $w --max-stat-num 1 -b 2
run rocprof-compute analyze -p $w --max-stat-num 0 -b 2
rc_is 0
out_has "│ Kernel_Name   │ Count "
lacks "│  4 │" analyze -p $w --max-stat-num -1 -b 2

# What made the numbers is said.
cp -r $w soft && sed -i '1s/$/,vbios/; 2s/$/,wavescope software GPU/' soft/sysinfo.csv
has "was recorded on the software GPU" analyze -p soft -b 2
lacks "was recorded on the software GPU" analyze -p $w -b 2

# A trace beside a pass is no pass.
printf 'Domain,Function\nHIP,x\n' >soft/SQ_LEVEL_WAVES_hip_api_trace.csv
has "│ 2.1.1 " analyze -p soft -b 2

# Units and digits.
has "Kernel Time                │" analyze -p $w -b 7
has "│ us " analyze -p $w -b 7.2.0 -t us
has "Sum(ms)" analyze -p $w -b 7 -t ms
has "Instr per wave" analyze -p $w -b 10 -n per_wave
has "per second" analyze -p $w -b 10 -n per_second
has "│ Instr/wavefront " analyze -p $w -b 7.2.2 -t us
has "│ us " analyze -p $w -b 7.2.2 -t us --like-3.3
run rocprof-compute analyze -p $w -b 2.1.1 --decimal 4
grep -Eq '[0-9]\.[0-9]{4} ' "$out" || fail "--decimal 4 does not show"
run rocprof-compute analyze -p $w -b 2.1.1 --decimal 0
grep -Eq 'IOPs │ +[0-9]+ │' "$out" || fail "--decimal 0 does not show"
run rocprof-compute analyze -p $w -n per_day
rc_is 2

# Columns.
lacks "│ Unit" analyze -p $w -b 10.1 --cols 0 1
has "Description" analyze -p $w -b 10.1 --include-cols Description
has "SQ_LEVEL_WAVES" analyze -p $w -b 2.1 --include-cols coll_level
lacks "Metric   " analyze -p $w -b 10.1 --cols 2

# Corrections and names.
has "│ cu_per_gpu         │ 7 " analyze -p $w -b 1 --specs-correction 'cu_per_gpu: 7, max_sclk:5'
has "gemm(" analyze -p $w -b 2 --kernel-verbose 1
has "gemm<float, 16>" analyze -p $w -b 2 --kernel-verbose 5
run rocprof-compute analyze -p $w -b 2 --dependency
rc_is 0

# -g shows formulas with their counters.
has "64 * (SQ_INSTS_VALU_INT32 + SQ_INSTS_VALU_INT64)" analyze -p $w -g -b 2.1.1

# Counters under their other name.
sed -i 's/TCC_EA_/TCC_EA0_/g' $w/pmc_perf.csv
run rocprof-compute analyze -p $w -b 17.6
out_has "Not showing table with empty column(s): 17.6"
has "17.6.0" analyze -p $w -b 17.6 --ea-aliases

# The top tables stay beside the data; a workload that cannot be written is fine.
[ -s w/gfx90a/pmc_kernel_top.csv ] || fail "no pmc_kernel_top.csv"
grep -q '^Dispatch_ID,Kernel_Name,GPU_ID$' w/gfx90a/pmc_dispatch_info.csv || fail "pmc_dispatch_info.csv"
