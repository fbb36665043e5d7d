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
run rocprofv3 --profile-mpi-ranks 0-3 --kernel-trace -- true
rc_is 2
err_has "no rank in the environment"
