#!/bin/sh
# Tracing, counting and profiling on one stack: run by scripts/test-stacks, inside of it.
#
#   profilers.sh PROGRAMS CODE
#
# PROGRAMS is the folder of the compiled programs, CODE the code object for shared_code. Prints a line per check; the
# last column is what was asserted. A failed check has its output in NAME.log. counters.txt gets the counters of
# shared_code, for a comparison of the stacks.
set -u
programs=$1 code=$2
cd "$programs" || exit 1
hip=$(echo /usr/lib/*/libamdhip64.so.?)
hip=${hip##*.}
failed=0

# check NAME FUNCTION: the function runs what a user types and echoes what it found, or "no: ..."
check() {
	rm -rf "r/$1"
	mkdir -p "r/$1"
	begin=$(date +%s%N)
	found=$("$2" "r/$1" 2>&1)
	case $found in "no: "* | "") word=FAILED failed=1 ;; *) word=ok ;; esac
	printf '  %-14s %-14s %5d ms  %s\n' "$1" "$word" $((($(date +%s%N) - begin) / 1000000)) "$found"
}

profile() { timeout 120 "$@" >>"$log" 2>&1 || { echo "no: $1 ended with $?"; exit 1; }; }
calls() { grep -c "\"$1\"" "$dir/t_hip_api_trace.csv"; } # how often a HIP function was called
rows() { [ -e "$1" ] && sed 1d "$1" | wc -l || echo 0; }
kernels() { [ -e "$dir/t_kernel_trace.csv" ] && grep -c "\"$1(" "$dir/t_kernel_trace.csv" || :; }
# is WHAT VALUE EXPECTED
is() { [ "$2" = "$3" ] || { echo "no: $1: $2 instead of $3"; exit 1; }; }
least() { [ "$2" -ge "$3" ] || { echo "no: $1: $2, at least $3 were expected"; exit 1; }; }

sys_trace() {
	dir=$1 log=trace.log
	profile rocprofv3 --sys-trace --stats -f csv json -d "$dir" -o t -- ./shared_code "$code" 3
	is kernels "$(kernels vecCopy)" 3
	is copies "$(rows "$dir/t_memory_copy_trace.csv")" 2
	is launches "$(calls hipModuleLaunchKernel)" 3
	is "stream-ordered allocations" "$(calls hipMallocAsync)+$(calls hipFreeAsync)" 2+2
	least "HSA calls" "$(rows "$dir/t_hsa_api_trace.csv")" 100
	least allocations "$(rows "$dir/t_memory_allocation_trace.csv")" 2
	is "kernels in the statistics" "$(sed -n 's/^"vecCopy([^"]*",\([0-9]*\),.*/\1/p' "$dir/t_kernel_stats.csv")" 3
	! grep -q 'not supported\|dropped [1-9]' "$log" || { echo "no: $(grep 'not supported' "$log")"; exit 1; }
	echo "3 kernels, 2 copies, $(rows "$dir/t_hip_api_trace.csv") HIP and $(rows "$dir/t_hsa_api_trace.csv") HSA calls"
}

graphs() {
	dir=$1 log=graphs.log
	profile rocprofv3 --sys-trace -f csv -d "$dir" -o t -- ./graph
	least "graph launches" "$(calls hipGraphLaunch)" 1
	is instantiations "$(calls hipGraphInstantiate)" 2
	is kernels "$(rows "$dir/t_kernel_trace.csv")" 41
	echo "41 kernels of $(calls hipGraphLaunch) launches"
}

cooperative() {
	dir=$1 log=cooperative.log
	profile rocprofv3 --sys-trace -f csv -d "$dir" -o t -- ./gridsync
	least "cooperative launches" "$(calls hipLaunchCooperativeKernel)" 1
	least kernels "$(rows "$dir/t_kernel_trace.csv")" 2
	# Counted, their queue is intercepted, and the program still has to end well.
	profile rocprofv3 --pmc SQ_WAVES -f csv -d "$dir" -o c -- ./gridsync
	least "counted kernels" "$(rows "$dir/c_counter_collection.csv")" 2
	echo "$(calls hipLaunchCooperativeKernel) launches"
}

virtual_memory() {
	dir=$1 log=virtual-memory.log
	profile rocprofv3 --sys-trace -f csv -d "$dir" -o t -- ./vmm
	is "memory created" "$(calls hipMemCreate)" 2
	least "memory mapped" "$(calls hipMemMap)" 2
	least "access set" "$(calls hipMemSetAccess)" 1
	least kernels "$(kernels fill)" 1
	echo "$(calls hipMemMap) mappings, $(kernels fill) kernels"
}

scratch_memory() {
	dir=$1 log=scratch-events.log
	profile rocprofv3 --scratch-memory-trace --kernel-trace -f csv -d "$dir" -o t -- ./scratch
	is kernels "$(kernels scratch_array)+$(kernels scratch_recursion)" 1+1
	# 104 CUs, 32 waves, 64 lanes, 112 bytes: as much as the first kernel needs
	grep -q 'SCRATCH_MEMORY_ALLOC".*,23855104$' "$dir/t_scratch_memory_trace.csv" || { echo "no: allocation of 23855104"; exit 1; }
	least frees "$(grep -c SCRATCH_MEMORY_FREE "$dir/t_scratch_memory_trace.csv")" 1
	echo "$(rows "$dir/t_scratch_memory_trace.csv") events"
}

counters() {
	dir=$1 log=counting.log
	profile rocprofv3 --pmc SQ_WAVES SQ_INSTS_VALU SQ_INSTS_SALU SQ_INSTS_SMEM SQ_INSTS_VMEM_RD SQ_INSTS_VMEM_WR \
		TCP_TOTAL_ACCESSES_sum TCC_REQ_sum TCC_HIT_sum -f csv -d "$dir" -o t -- ./shared_code "$code" 3
	sed -n 's/.*,"\([A-Z][A-Za-z_]*\)",\([0-9.]*\),.*/\1 \2/p' "$dir/t_counter_collection.csv" | sort >counters.txt
	is "rows of 9 counters and 3 kernels" "$(wc -l <counters.txt)" 27
	is waves "$(sed -n 's/SQ_WAVES //p' counters.txt | sort -u)" 1024.000000
	echo "9 counters of 3 kernels"
}

# The number of waves in table 7.1.2 ("Total Wavefronts") is that of the launch.
profile_and_analyze() {
	dir=$1 log=profiling.log
	profile rocprof-compute profile -n v -p "$dir/w" --no-roof -b 2 7.1 -- ./shared_code "$code" 3
	profile rocprof-compute analyze -p "$dir/w" -b 7.1 -o "$dir/analysis.txt"
	waves=$(awk -F'│' '/Total Wavefronts/ { gsub(/ /, "", $4); print $4 }' "$dir/analysis.txt")
	is "Total Wavefronts" "$waves" 1024.00
	runs=$(sed -n 's/.*INFO \([0-9]*\) runs* of the program.*/\1/p' "$log")
	is "runs of the program" "$runs" 1
	echo "1 run, Total Wavefronts 1024"
}

sys_run() {
	dir=$1 log=sys-run.log
	profile rocprof-sys-run -o "$dir" -- ./shared_code "$code" 3
	is "kernels in the ledger" "$(awk '/kernel dispatches/ { print $3 }' "$log")" 3
	trace=$(echo "$dir"/*/perfetto-trace-*.proto)
	[ "$(grep -ac vecCopy "$trace")" -ge 1 ] || { echo "no: no vecCopy in $trace"; exit 1; }
	echo "3 kernels, $(wc -c <"$trace") bytes of trace"
}

# What HIP compiles at its start is kept, and found by the next program.
code_cache() {
	dir=$1 log=code-cache.log
	for run in first second; do
		WAVESCOPE_CODE_CACHE=$programs/$dir/code WAVESCOPE_LOG=debug profile wavescope run -- ./vcopy
		grep -c 'code cache: action .*: kept$' "$log" >"$dir/$run.kept"
		grep -c 'code cache: action .*: found$' "$log" >"$dir/$run.found"
	done
	kept=$(cat "$dir/first.kept")
	is "kept by the second program" $(($(cat "$dir/second.kept") - kept)) 0
	is "found by the second program" "$(cat "$dir/second.found")" "$kept"
	least "results kept" "$kept" 3
	! grep 'code cache: not used' "$log" || { echo "no: $(grep 'code cache: not used' "$log")"; exit 1; }
	echo "$kept results kept and found"
}

attach() {
	dir=$1 log=attach.log
	: >program.out
	wavescope run -- ./shared_code "$code" 2 8 >program.out 2>&1 &
	pid=$!
	i=0
	while ! grep -q ready program.out && [ $i -lt 300 ]; do
		i=$((i + 1))
		sleep 0.1
	done
	profile rocprofv3 --sys-trace -f csv -d "$dir" -o t -p $pid --attach-duration-msec 1000
	profile rocprofv3 --pmc SQ_WAVES -f csv -d "$dir/counted" -o t -p $pid --attach-duration-msec 1000
	wait $pid || { echo "no: the program ended with $?"; exit 1; }
	grep -q PASS program.out || { echo "no: the program's result is wrong"; exit 1; }
	least kernels "$(kernels vecCopy)" 10
	least launches "$(calls hipModuleLaunchKernel)" 10
	least "HSA calls" "$(rows "$dir/t_hsa_api_trace.csv")" 50
	counted=$(rows "$dir/counted/t_counter_collection.csv")
	least "counted kernels" "$counted" 2
	! grep -q 'not in the output' "$log" || { echo "no: $(grep 'not in the output' "$log")"; exit 1; }
	echo "$(kernels vecCopy) kernels in a second, $counted counted in another"
}

rm -f ./*.log counters.txt
check trace sys_trace
check graphs graphs
check cooperative cooperative
if [ "$hip" -ge 6 ]; then
	check virtual-memory virtual_memory
else
	printf '  %-14s %-14s\n' virtual-memory "not supported"
fi
check scratch-events scratch_memory
check counting counters
check profiling profile_and_analyze
check sys-run sys_run
check code-cache code_cache
check attach attach
exit $failed
