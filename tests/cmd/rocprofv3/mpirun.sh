#!/bin/sh
# Ranks of real MPI launchers: one output per process, named by rank or by process.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing

# The launcher and its options, and then what one of its ranks does.
ranks() {
	run $launcher "$@" -- "$vcopy" -n 65536 -b 256
	rc_is 0
}

one_output_per_process() {
	ranks rocprofv3 --stats --kernel-trace -f csv -d "$1" -o 'r%rank%_of_%size%'
	for rank in 0 1 2; do
		file=$1/r${rank}_of_3_kernel_trace.csv
		[ -e "$file" ] || fail "no $file"
		is "$(grep -c '"vecCopy' "$file")" 1 "kernels of rank $rank"
	done
	is "$(ls "$1"/*_kernel_trace.csv | wc -l | tr -d ' ')" 3 traces
	# three different processes, each in its own file
	is "$(tail -qn 1 "$1"/*_kernel_trace.csv | cut -d, -f5 | sort -u | wc -l | tr -d ' ')" 3 threads

	ranks rocprofv3 --kernel-trace -f csv -d "$1/by_pid"
	is "$(ls "$1"/by_pid/*/*_kernel_trace.csv | wc -l | tr -d ' ')" 3 "traces by process"
}

if part_needs mpirun.openmpi; then
	launcher="mpirun.openmpi --allow-run-as-root --oversubscribe -n 3"
	one_output_per_process openmpi
fi
if part_needs mpiexec.mpich; then
	launcher="mpiexec.mpich -n 3"
	one_output_per_process mpich
fi
