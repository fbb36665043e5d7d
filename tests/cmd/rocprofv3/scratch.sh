#!/bin/sh
# Scratch memory: each time that a queue gets some or gives it back, with the size that follows from
# the kernel, in all formats.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
private=$WS_BUILD/tests/cmd/private
[ -x "$private" ] || skip "no HIP program in this build"
check() { "${PYTHON:-python3}" "$WS_SOURCE/tests/cmd/rocprofv3/scratch.py" "$@" || fail "see above"; }

# 20 kernels behind each other, each of which gets scratch and gives it back. The second time
# ROCr has it in store and asks nobody.
run rocprofv3 --kernel-trace --scratch-memory-trace --stats -f csv json rocpd pftrace -d a -o r -- "$private" 0 20
rc_is 0
is "$(check a/r 0)" "24 allocations, 21 frees"
awk '/^ *scratch memory/ && $3 == 45 && $4 == 45 && $5 == 0 { found = 1 } END { exit !found }' "$err" ||
	fail "no line in the ledger"
grep -aq 'SCRATCH MEMORY on Agent \[1\] (GPU)' a/r_results.pftrace || fail "no track in the picture"
err_lacks "scratch memory:"

# Queues that are not intercepted, of the second GPU.
WAVESCOPE_GPU=mi210,mi100
export WAVESCOPE_GPU
run rocprofv3 --kernel-trace --scratch-memory-trace --stats -f csv json rocpd -d b -o r -- "$private" 1 2
rc_is 0
is "$(check b/r 1)" "6 allocations, 3 frees"
what() { sed 1d "$1" | cut -d, -f2-4,6,9 | sort; }
run rocprofv3 --scratch-memory-trace -f csv -d c -o r -- "$private" 1 2
rc_is 0
same "$(what c/r_scratch_memory_trace.csv)" "$(what b/r_scratch_memory_trace.csv)" "without kernels"

# Signals are waited for by spinning: no thread can be told from the others.
HSA_ENABLE_INTERRUPT=0
export HSA_ENABLE_INTERRUPT
run rocprofv3 --scratch-memory-trace -f csv -d d -o r -- "$private" 1 2
rc_is 0
same "$(what d/r_scratch_memory_trace.csv)" "$(what b/r_scratch_memory_trace.csv)" "without interrupts"
