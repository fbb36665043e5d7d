#!/bin/sh
# Ranks of real MPIs with two clocks on one machine: a time namespace has a CLOCK_BOOTTIME of its own,
# and by how much it differs is known.
. "$WS_SOURCE/tests/cmd/lib.sh"
cd "$work"
HOME=$work
ROCPROFSYS_USE_SAMPLING=false ROCPROFSYS_USE_PROCESS_SAMPLING=false ROCPROFSYS_TIME_OUTPUT=off
ROCPROFSYS_USE_MPIP=true
export HOME ROCPROFSYS_USE_SAMPLING ROCPROFSYS_USE_PROCESS_SAMPLING ROCPROFSYS_TIME_OUTPUT ROCPROFSYS_USE_MPIP
unshare -T --boottime 100000 true 2>/dev/null || skip "no permission for a time namespace"

cat >program.c <<'END'
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	double one = 1, sum;
	MPI_Comm pair;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (argc > 1) /* a program without collectives */
		return MPI_Finalize();
	MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair); /* one rank of each clock */
	for (int i = 0; i < 40; i++) {
		if (rank == 1)
			usleep(12000);
		MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, pair);
	}
	MPI_Comm_free(&pair);
	MPI_Finalize();
	return sum != 2;
}
END
printf '#!/bin/sh\n[ $((%s %% 2)) = 0 ] || exec unshare -T --boottime 100000 "$@"\nexec "$@"\n' \
	'${OMPI_COMM_WORLD_RANK-$PMI_RANK}' >clocks.sh
chmod +x clocks.sh

check() { # MPI LAUNCHER
	mpicc."$1" program.c -o "program-$1"
	run $2 -n 4 ./clocks.sh rocprof-sys-run --keep-captures -T -o "out-$1" -- "./program-$1"
	rc_is 0
	err_has "rocprof-sys-run: the captures are in $work/out-$1/.rocprof-sys/"
	run wavescope merge "out-$1" -o "$1"
	rc_is 0
	err_is_empty
	"$PYTHON" - "$1" <<'END' || fail "$1: values: $(cat "$1"_clocks.csv "$1"_ranks.csv)"
import csv, json, sys
data = json.load(open(sys.argv[1] + "_ranks.json"))
first, second = data["nodes"]
assert (first["ranks"], second["ranks"]) == ([0, 2], [1, 3]), data["nodes"]
assert second["clock"] == "collectives" and second["collectives"] == 80 + 40, second
error = second["offset_ns"] + 100000 * 10**9
assert abs(error) <= second["uncertainty_ns"] < 5e6, (error, second)
assert abs(second["drift_ppm"]) <= second["drift_uncertainty_ppm"], second
rows = {row["comm_ranks"]: row for row in data["imbalance"]}
assert sorted(rows) == [2, 4] and all(row["name"] == "MPI_Allreduce" for row in rows.values()), rows
assert rows[4]["calls"] == 160 and rows[4]["slowest_rank"] == 1 and rows[4]["most_wait_rank"] != 1, rows[4]
# it sleeps for 12 ms in each of 40 steps; on a busy machine others are late, too
assert rows[4]["most_wait_ns"] > 40 * 10e6, rows[4]
assert data["unmatched_calls"] == 0 and data["matched_collectives"] == 40 + 2 * 40, data
END
	# Without collectives the clocks are known from stamps in the folder (merge_stamps.sh), or if the
	# user had them exchanged.
	run $2 -n 2 ./clocks.sh rocprof-sys-run --keep-captures -T -o "alone-$1" -- "./program-$1" alone
	rc_is 0
	rm -r "alone-$1/.rocprof-sys/clocks"
	run wavescope merge "alone-$1" -o "$1"
	rc_is 1
	err_has "(ranks 1) is not known: it recorded no collective of MPI, or of RCCL with kernels, together with '"
	run $2 -n 2 ./clocks.sh rocprof-sys-run --keep-captures --mpi-clock-exchange -T -o "exchanged-$1" -- "./program-$1" alone
	rc_is 0
	run wavescope merge "exchanged-$1" -o "$1"
	rc_is 0
	"$PYTHON" - "$1" <<'END' || fail "$1: exchange: $(cat "$1"_ranks.json)"
import json, sys
data = json.load(open(sys.argv[1] + "_ranks.json"))
second = data["nodes"][1]
assert second["collectives"] == 64, second # 32 at each end
assert abs(second["offset_ns"] + 100000 * 10**9) <= second["uncertainty_ns"] < 20e6, second
assert data["imbalance"] == [], data # they are not the program's
END
}

if part_needs mpicc.openmpi && part_needs mpirun.openmpi; then
	check openmpi "mpirun.openmpi --allow-run-as-root --oversubscribe"
fi
if part_needs mpicc.mpich && part_needs mpiexec.mpich; then
	check mpich mpiexec.mpich
fi
