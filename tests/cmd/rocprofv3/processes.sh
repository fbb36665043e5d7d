#!/bin/sh
# One output per process, none for those that use no GPU, and no two with one name.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
cat >two.sh <<END
"$vcopy" -n 65536 -b 256 &
"$vcopy" -n 131072 -b 256 &
wait
END
run rocprofv3 --kernel-trace -f csv -d out -o same -- sh two.sh
rc_is 0
is "$(find out -name '*_kernel_trace.csv' | wc -l)" 2 files
[ -s out/same_kernel_trace.csv ] || fail "the first has no plain name"
is "$(cat out/*_kernel_trace.csv | grep -c vecCopy)" 2 kernels
is "$(grep -c '^rocprofv3: process' "$err")" 2 ledgers
# Ranks, as launchers tell them.
for rank in 0 1; do
	OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=2 \
		run rocprofv3 --kernel-trace -f csv -d ranks -o r%rank%of%size% -- "$vcopy" -n 65536 -b 256
	rc_is 0
	[ -s ranks/r${rank}of2_kernel_trace.csv ] || fail "no file of rank $rank"
done
OMPI_COMM_WORLD_RANK=5 run rocprofv3 --profile-mpi-ranks 0-3 --kernel-trace -d none -- "$vcopy" -n 65536 -b 256
rc_is 0
[ ! -e none ] || fail "rank 5 was profiled"
ROCPROF_MPI_RANKS=0-3 OMPI_COMM_WORLD_RANK=5 run rocprofv3 --kernel-trace -d none -- "$vcopy" -n 65536 -b 256
rc_is 0
[ ! -e none ] || fail "rank 5 was profiled, against ROCPROF_MPI_RANKS"
OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 run rocprofv3 --profile-mpi-ranks 0-7 --kernel-trace -- touch ran
rc_is 2
err_has "no rank 7 in '0-7': this job has 4 ranks, 0 to 3"
MINE=4 ALL=4 run rocprofv3 --mpi-world-rank-variable MINE --mpi-world-size-variable ALL --kernel-trace -- touch ran
rc_is 2
err_has "MINE is 4, but ALL is 4: ranks are 0 to 3"
MINE=2 ALL=3 OMPI_COMM_WORLD_RANK=0 run rocprofv3 --mpi-world-rank-variable MINE --mpi-world-size-variable ALL \
	--profile-mpi-ranks 2 --kernel-trace -f csv -d mine -o r%rank%of%size% -- "$vcopy" -n 65536 -b 256
rc_is 0
[ -s mine/r2of3_kernel_trace.csv ] || fail "no file of the rank that the variables name"
[ ! -e ran ] || fail "the program was run with a rank that cannot be"
run rocprofv3 --profile-mpi-ranks 0-3 --kernel-trace -f csv -d alone -o r -- "$vcopy" -n 65536 -b 256
rc_is 0
err_has "no rank in the environment, so this process is profiled"
[ -s alone/r_kernel_trace.csv ] || fail "a process without a rank was not profiled"

# Several launchers that were given one name: whoever writes first has it, nobody's is lost.
cat >meet.py <<'END'
import ctypes, glob, os, time
open("here.%d" % os.getpid(), "w").close()
while len(glob.glob("here.*")) < 4:
    time.sleep(0.02)
ctypes.CDLL("librocprofiler-sdk-roctx.so.1").roctxMarkA(b"met")
END
for i in 1 2 3 4; do
	rocprofv3 --marker-trace -f csv rocpd -d job -o run -- "${PYTHON:-python3}" meet.py 2>"err.$i" &
done
wait
is "$(find job -name 'run*_marker_api_trace.csv' | wc -l)" 4 "files of launchers with one name"
is "$(cat job/*_marker_api_trace.csv | grep -c '"met"')" 4 marks
is "$(find job -name 'run*_results.db' | wc -l)" 4 databases
is "$(cat err.* | grep -c 'belong to another run at the same time')" 3 warnings
is "$(find job ! -name 'run*' | tr '\n' ' ')" "job " "what else is left"
# One after the other: yesterday's is replaced.
rm -f here.*
for i in 1 2 3 4; do : >here.$i; done
for i in 1 2; do
	run rocprofv3 --marker-trace -f csv -d later -o run -- "${PYTHON:-python3}" meet.py
	rc_is 0
done
is "$(find later -name '*_marker_api_trace.csv')" later/run_marker_api_trace.csv "files of two runs"

# A program that another one replaces was not killed.
cat >again.py <<'END'
import ctypes, os, sys
ctypes.CDLL("librocprofiler-sdk-roctx.so.1").roctxMarkA(b"one of two")
if len(sys.argv) == 1:
    os.execv(sys.executable, [sys.executable, "again.py", "last"])
END
run rocprofv3 --marker-trace -f csv -d again -o run -- "${PYTHON:-python3}" again.py
rc_is 0
is "$(cat again/*_marker_api_trace.csv | grep -c '"one of two"')" 2 marks
is "$(grep -c 'which another program replaced (exec)' "$err")" 1 "programs that were replaced"
err_lacks 'was killed'
