#!/bin/sh
# Tasks of a real Slurm: one output per process, named by rank, task or process.
. "$WS_SOURCE/tests/cmd/lib.sh"
. "$WS_SOURCE/tests/lib/slurm.sh"
need_tracing
slurm_start

# As in the documents that users start from, with their program at the end.
run srun --ntasks=4 rocprofv3 --stats --sys-trace --kernel-trace --output-format pftrace -- \
	"$vcopy" -n 65536 -b 256
rc_is 0
is "$(ls ./*/*_results.pftrace | wc -l | tr -d ' ')" 4 "traces, one per process"

run srun -n 4 rocprofv3 --stats --kernel-trace -f csv -d out -o 'r%rank%_of_%size%_%job%' -- \
	"$vcopy" -n 65536 -b 256
rc_is 0
for rank in 0 1 2 3; do
	set -- out/r${rank}_of_4_[0-9]*_kernel_trace.csv
	[ -e "$1" ] || fail "no $1"
	is "$(grep -c '"vecCopy' "$1")" 1 "kernels of rank $rank"
done
is "$(ls out/*_kernel_trace.csv | wc -l | tr -d ' ')" 4 traces
is "$(ls out/*_kernel_stats.csv | wc -l | tr -d ' ')" 4 statistics
is "$(tail -qn 1 out/*_kernel_trace.csv | cut -d, -f5 | sort -u | wc -l | tr -d ' ')" 4 threads

# Only some ranks; a task that fails is the job's failure.
run srun -n 3 rocprofv3 --profile-mpi-ranks 1-2 --kernel-trace -f csv -d some -o 'r%rank%' -- \
	"$vcopy" -n 65536 -b 256
rc_is 0
is "$(cd some && echo *_kernel_trace.csv)" "r1_kernel_trace.csv r2_kernel_trace.csv" "chosen ranks"
run srun -n 2 rocprofv3 --kernel-trace -f csv -d failed -- sh -c 'exit $((SLURM_PROCID * 7))'
rc_is 7

# Another launcher inside a step: its ranks count, not the step's only task.
if part_needs mpiexec.mpich; then
	run srun -n 1 mpiexec.mpich -launcher fork -n 2 rocprofv3 --kernel-trace -f csv -d inside \
		-o 'r%rank%_of_%size%' -- "$vcopy" -n 65536 -b 256
	rc_is 0
	is "$(cd inside && echo *_kernel_trace.csv)" \
		"r0_of_2_kernel_trace.csv r1_of_2_kernel_trace.csv" "ranks inside a task"
fi

# rocprof-sys: a front end per task, and the last one to end merges what all wrote.
run srun -n 3 rocprof-sys-run -TP -E rocm --use-sampling off --time-output off -o 'sys-%tag%' \
	--perfetto-combine-traces -- sleep 0.1
rc_is 0
for rank in 0 1 2; do
	grep -aq "Rank $rank" sys-sleep/perfetto-trace-$rank.proto || fail "no trace of rank $rank: $(ls sys-sleep)"
done
cat sys-sleep/perfetto-trace-[0-2].proto | cmp -s - sys-sleep/merged.proto || fail "the merged trace"
run rocprof-sys-merge-output sys-sleep
rc_is 0
is "$(grep -c '^| |[0-2]|0>>> sleep ' sys-sleep/merged-wall_clock.txt)" 3 "rows of the ranks"
