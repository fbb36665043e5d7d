#!/usr/bin/env bash
# MPI calls as regions, and the bytes they move, with each MPI that is here.
#
#	mpi_regions.sh SOURCE BUILD
set -euo pipefail
source=$1 build=$2 here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAIL: ${mpi-}: $*" >&2; [ ! -e "$work/paths" ] || cat "$work/paths" >&2; exit 1; }
! [[ $(ldd "$build/lib/libwavescope-collector.so") == *lib[at]san* ]] ||
	{ echo "SKIP: a sanitizer must be loaded first"; exit 77; }
libraries=$build/lib/libwavescope-collector.so:$build/lib/libwavescope-regions.so:$build/lib/libwavescope-dlsym.so

# collect FLAGS PROGRAM: two ranks; $work/rank0 and rank1 are what they recorded
collect() {
	local code=0 n=0
	rm -rf "$work/run"; mkdir "$work/run"
	timeout 100 $launcher -n 2 env WAVESCOPE_COLLECT="1;dir=$work/run;services=regions;flags=$1" \
		LD_PRELOAD="$libraries" "$2" >"$work/out" 2>"$work/err" || code=$?
	[ $code = 0 ] || fail "exit code $code: $(cat "$work/err")"
	rm -f "$work"/rank*
	for file in "$work"/run/*; do
		"$build/tests/collector/capture-dump" "$file" >"$work/text"
		grep -q 'ENTER' "$work/text" || continue
		! grep -q 'DAMAGE any=1' "$work/text" || fail "the capture is damaged"
		# the rank that sends is 0; without bytes it does not matter
		n=$((n + 1))
		to=$([ -e "$work/rank0" ] && echo 1 || echo 0)
		! grep -q 'name=MPI_Recv$' "$work/text" || to=1
		! grep -q 'name=MPI_Send$' "$work/text" || to=0
		python3 "$here/regions.py" "$work/text" mpi >"$work/rank$to" || fail "the records are wrong"
		cp "$work/text" "$work/text$to"
	done
	[ $n = 2 ] || fail "$n ranks"
}
is() { cp "$work/$1" "$work/paths"; grep -qxF -- "0 0 mpi $2" "$work/paths" || fail "$1: no line '$2'"; }
# total RANK NAME BYTES: the last value of the metric
total() {
	id=$(sed -n "s/^METRIC id=\([0-9]*\) category=19 unit=bytes name=$2$/\1/p" "$work/text$1")
	got=$(awk -v id="metric=$id" '$1 == "VALUE" && $3 == id { v = $5 } END { print v }' "$work/text$1")
	[ "$got" = "value=$3" ] || fail "rank $1: $2: $got instead of $3"
}
# A part that cannot run: the rest does, and the test counts as skipped.
skipped=
skip() { echo "SKIP: $*"; skipped=yes; }

check() { # MPI LAUNCHER
	mpi=$1 launcher=$2
	command -v mpicc.$mpi >/dev/null && command -v ${launcher%% *} >/dev/null || { skip "no $mpi"; return 0; }
	mpicc.$mpi "$here/mpi_program.c" -o "$work/program-$mpi"
	collect mpi "$work/program-$mpi"
	[ "$(sort "$work/out" | tr '\n' ' ')" = 'rank 0 of 2 rank 1 of 2 ' ] || fail "output: $(cat "$work/out")"
	for rank in rank0 rank1; do
		for call in Init Finalize Comm_rank Comm_size Sendrecv Bcast Allreduce Gather Alltoall Comm_dup Comm_free Wait; do
			is $rank "1 MPI_$call"
		done
		is $rank '2 MPI_Barrier'
	done
	is rank0 '10 MPI_Send'; is rank1 '10 MPI_Recv'; is rank0 '1 MPI_Isend'; is rank1 '1 MPI_Irecv'
	total 0 'MPI Comm Send' 41127; total 0 'MPI Comm Recv' 904
	total 1 'MPI Comm Send' 920; total 1 'MPI Comm Recv' 41143
	# Collectives: the same communicators and numbers on both ranks, and the copy is another one.
	for rank in 0 1; do
		! grep '^COLLECTIVE' "$work/text$rank" | grep -q 'times=bad\|of=[013-9]' || fail "collectives of rank $rank"
		grep -q "^COLLECTIVE .* rank=$rank of=2 " "$work/text$rank" || fail "rank $rank in its communicator"
		sed -n 's/^COLLECTIVE .* \(comm=.* seq=[0-9]*\) rank=[0-9]* of=2 \(root=[-0-9]*\).*/\1 \2/p' "$work/text$rank" >"$work/comms$rank"
	done
	cmp "$work/comms0" "$work/comms1" || fail "ranks disagree about their communicators"
	[ "$(sed 's/comm=[^ ]* //' "$work/comms0" | tr '\n' ' ')" = 'seq=0 root=0 seq=1 root=-1 seq=0 root=1 seq=1 root=-1 seq=2 root=-1 seq=3 root=-1 ' ] ||
		fail "collectives: $(cat "$work/comms0")"
	[ "$(sed 's/ seq.*//' "$work/comms0" | sort -u | wc -l)" = 2 ] || fail "communicators: $(cat "$work/comms0")"
	# without the other calls: what is always recorded
	collect '' "$work/program-$mpi"
	is rank0 '1 MPI_Init'; is rank0 '1 MPI_Comm_size'
	[ "$(wc -l <"$work/rank0")" = 4 ] || fail "more than four functions: $(cat "$work/rank0")"
	! grep -q '^METRIC' "$work/text0" || fail "bytes were not requested"
	if ! mpif90.$mpi "$here/mpi_fortran.f90" -o "$work/fortran-$mpi" 2>"$work/err"; then
		skip "no Fortran for $mpi"
		return 0
	fi
	collect mpi "$work/fortran-$mpi"
	is rank0 '1 MPI_Init'; is rank0 '10 MPI_Send'; is rank1 '10 MPI_Recv'; is rank1 '1 MPI_Bcast'; is rank0 '1 MPI_Finalize'
	grep -q '^COLLECTIVE .* seq=0 rank=0 of=2 root=' "$work/text0" || fail "no collective of a Fortran program"
	[ "$(sed -n 's/^COLLECTIVE .* \(comm=[^ ]* seq=[0-9]*\) .*/\1/p' "$work/text0")" = \
		"$(sed -n 's/^COLLECTIVE .* \(comm=[^ ]* seq=[0-9]*\) .*/\1/p' "$work/text1")" ] || fail "Fortran: ranks disagree"
	total 0 'MPI Comm Send' 40240; total 0 'MPI Comm Recv' 40; total 1 'MPI Comm Recv' 40240
}
headers=
for header in /usr/lib/*/openmpi/include/mpi.h /usr/include/*/mpich/mpi.h; do
	[ ! -e "$header" ] || headers="$headers $header"
done
python3 "$here/mpi_prototypes.py" "$source/collector/mpi/table.h" $headers || fail "the table"
check openmpi "mpirun.openmpi --allow-run-as-root --oversubscribe"
check mpich mpiexec.mpich

# A program without MPI finds no MPI: dlsym() says so.
mpi=none
WAVESCOPE_COLLECT="1;dir=$work;services=regions" LD_PRELOAD="$libraries" \
	"$(python3 -c 'import sys; print(sys.executable)')" -c '
import ctypes
try: ctypes.CDLL(None).MPI_Init
except AttributeError: print("none")' >"$work/out"
[ "$(cat "$work/out")" = none ] || fail "there is MPI_Init"
[ -z "$skipped" ] || exit 77
