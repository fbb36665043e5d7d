#!/bin/sh
# Ranks of a real MPI launcher: one output per process, named by rank or by process.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
command -v mpirun >/dev/null || skip "there is no mpirun (Debian: openmpi-bin)"

ranks() {
	run mpirun --allow-run-as-root --oversubscribe -n 3 "$@" -- "$vcopy" -n 65536 -b 256
	rc_is 0
}

ranks rocprofv3 --stats --kernel-trace -f csv -d out -o 'r%rank%_of_%size%'
for rank in 0 1 2; do
	file=out/r${rank}_of_3_kernel_trace.csv
	[ -e "$file" ] || fail "no $file"
	is "$(grep -c '"vecCopy' "$file")" 1 "kernels of rank $rank"
done
is "$(ls out/*_kernel_trace.csv | wc -l | tr -d ' ')" 3 traces
# three different processes, each in its own file
is "$(tail -qn 1 out/*_kernel_trace.csv | cut -d, -f5 | sort -u | wc -l | tr -d ' ')" 3 threads

ranks rocprofv3 --kernel-trace -f csv -d by_pid
is "$(ls by_pid/*/*_kernel_trace.csv | wc -l | tr -d ' ')" 3 "traces by process"
