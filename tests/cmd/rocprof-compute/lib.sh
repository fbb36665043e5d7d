# What the tests of rocprof-compute profile share.
. "$WS_SOURCE/tests/cmd/lib.sh"

unset ROCPROFCOMPUTE_COLOR ROCPROFCOMPUTE_LOGLEVEL ROCPROF ROOFLINE_BIN
for variable in SLURM_PROCID FLUX_TASK_RANK PMI_RANK PMIX_RANK PALS_RANKID OMPI_COMM_WORLD_RANK \
	MV2_COMM_WORLD_RANK MPI_RANKID MPI_LOCALRANKID MPI_RANK; do
	unset $variable
done
limit_s=120

# A workload that takes a second: kernels small, peaks not measured.
profile() {
	run rocprof-compute profile --no-roof "$@"
}

# The value of a column in a row (from 1) of a CSV file.
cell() { # FILE COLUMN ROW
	"${PYTHON:-python3}" -c '
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
print(rows[int(sys.argv[3]) - 1][sys.argv[2]])' "$1" "$2" "$3"
}

# All columns of the counters of a folder, one "file column value value ..." per line; times
# and numbers of processes are left out.
counters_of() { # FOLDER
	"${PYTHON:-python3}" -c '
import csv, glob, os, sys
skip = {"Queue_ID", "PID", "TID", "Start_Timestamp", "End_Timestamp", "Correlation_ID", "Kernel_ID"}
seen = {}
for path in sorted(glob.glob(sys.argv[1] + "/pmc_perf_*.csv") + glob.glob(sys.argv[1] + "/SQ*.csv")):
    rows = list(csv.DictReader(open(path)))
    for name in rows[0].keys() if rows else []:
        if name in skip: continue
        key = os.path.basename(path)[:-4] + " " + name if name == "SQ_ACCUM_PREV_HIRES" else name
        seen[key] = [row[name] for row in rows]
for key in sorted(seen): print(key, *seen[key])' "$1"
}
