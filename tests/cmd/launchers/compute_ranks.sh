#!/bin/sh
# MPI programs under real launchers: a folder per rank, one run per rank.
. "$WS_SOURCE/tests/cmd/rocprof-compute/lib.sh"
. "$WS_SOURCE/tests/lib/slurm.sh"
need_tracing
limit_s=200

# What four ranks leave, each on its own.
four_ranks() { # FOLDER
	is "$(cd "$1" && echo *)" "0 1 2 3" "ranks in $1"
	for rank in 0 1 2 3; do
		dir=$1/$rank
		[ -e "$dir/sysinfo.csv" ] || fail "no profile of rank $rank"
		is "$(rows "$dir/pmc_perf_0.csv")" 4 "dispatches of rank $rank"
		grep -q "rank $rank of 4" "$dir/log.txt" || fail "the log of rank $rank"
	done
	is "$(tail -qn 1 "$1"/?/pmc_perf_0.csv | cut -d, -f4 | sort -u | wc -l | tr -d ' ')" 4 processes
}

for mpi in openmpi mpich; do
	app=$WS_BUILD/samples/laplace_eqn
	launcher="mpirun.openmpi --allow-run-as-root --oversubscribe -n 4"
	if [ $mpi = mpich ]; then
		app=$app.mpich
		launcher="mpiexec.mpich -n 4"
	fi
	part_needs "${launcher%% *}" || continue
	[ -x "$app" ] || {
		skip_part "${app##*/} is not built (Debian: libopenmpi-dev, libmpich-dev)"
		continue
	}
	mkdir $mpi
	cd $mpi
	# shellcheck disable=SC2086 # words
	run $launcher rocprof-compute profile --no-roof -n laplace -b 12 -- "$app" -n 4096 -b 256 -i 2
	rc_is 0
	four_ranks workloads/laplace
	# Whose a line is; on the terminals that Open MPI makes, one banner.
	for rank in 0 1 2 3; do
		out_has "[rank $rank] Path: $work/$mpi/workloads/laplace/$rank"
	done
	[ "$(grep -c '| .__/ __' "$out")" -le 1 ] || fail "a banner per rank"
	# shellcheck disable=SC2086
	run $launcher rocprof-compute profile --no-roof --set launch_stats \
		--output-directory "$work/$mpi/p/%hostname%/%rank%" -- "$app" -n 4096 -b 256 -i 2
	rc_is 0
	four_ranks "p/$(uname -n)"

	cd ..
	[ $mpi = openmpi ] || continue # the rest is the same with any launcher

	cd $mpi
	# MPI_Init cannot be called again: refused before anything runs, unless one run is enough.
	# shellcheck disable=SC2086
	run $launcher rocprof-compute profile --no-roof --output-directory twice \
		--replay application -b 12 10 -- "$app" -n 4096 -b 256 -i 2
	[ "$rc" -ne 0 ] || fail "application replay of an MPI program is not refused"
	err_has "MPI_Init may be called once per rank"
	err_has "--iteration-multiplexing, --set NAME"
	# shellcheck disable=SC2086
	run $launcher rocprof-compute profile --no-roof --output-directory mux -b 12 \
		--iteration-multiplexing -- "$app" -n 4096 -b 256 -i 2
	rc_is 0
	four_ranks mux
	cd ..
done

slurm_start
run srun -n 4 rocprof-compute profile --no-roof -n vcopy --set launch_stats -- \
	"$vcopy" -n 4096 -b 256 -i 4
rc_is 0
is "$(cd workloads/vcopy && echo *)" "0 1 2 3" "tasks of Slurm"
for rank in 0 1 2 3; do
	is "$(rows workloads/vcopy/$rank/pmc_perf_0.csv)" 4 "dispatches of task $rank"
done
run srun -n 1 rocprof-compute profile --no-roof -n one --set launch_stats -- srun "$vcopy"
rc_is 2
err_has "must be in front of rocprof-compute"
