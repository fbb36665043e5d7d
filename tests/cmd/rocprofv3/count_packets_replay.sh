#!/bin/sh
# Kernel replay by packets, as on hardware, with a stand-in for AMD's aqlprofile: kernels that read what they write are
# executed five times, and the program's results are those of one execution. What cannot be repeated is said,
# and counted by more runs of the program.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
counted() { "$PYTHON" "$WS_SOURCE/tests/cmd/rocprofv3/counted.py" "$@" || fail "counted.py $*"; }
[ -e "$WS_BUILD/tests/collector/aqlprofile/libhsa-amd-aqlprofile64.so.1" ] ||
	{ echo "SKIP: no HSA headers, so no stand-in for aqlprofile"; exit 77; }
LD_LIBRARY_PATH=$WS_BUILD/tests/collector/aqlprofile${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
WAVESCOPE_COUNTERS=aqlprofile
export LD_LIBRARY_PATH WAVESCOPE_COUNTERS
replayed=$WS_BUILD/tests/collector/replayed
five="TCC_HIT TCC_MISS TCC_REQ TCC_READ TCC_WRITE TCC_ATOMIC TCC_CYCLE TCC_BUSY TCC_PROBE TCC_NC_REQ TCC_UC_REQ TCC_RW_REQ
	TCC_CC_REQ TCC_EA_RDREQ TCC_EA_WRREQ TCC_EA_WRREQ_64B TCC_EA_RDREQ_32B SQ_WAVES"
two="TCC_HIT TCC_MISS TCC_REQ TCC_READ TCC_WRITE SQ_WAVES"

# In place, five passes: 18 counters of four dispatches, and the numbers of one execution of each. Both ways of counting agree
# on every pass.
WAVESCOPE_COUNTERS=compare
# shellcheck disable=SC2086
run rocprofv3 --replay kernel --pmc $five -f csv -d device -o r -- "$replayed" device
rc_is 0
out_has "device: 0 of 4096 wrong"
is "$(grep -c wrong "$out")" 1 "runs of the program"
err_has "kernel replay: 4 dispatches ran 5.0 times each: 0.1 MB saved and restored"
err_has "(20 dispatches, 0 without values)"
grep -q "by packets and by the service, \([0-9]*\) of \1 values equal" "$err" || fail "values of passes differ: $(cat "$err")"
is "$(counted values device/r | wc -l)" $((4 * 18)) "counters of five passes"
WAVESCOPE_COUNTERS=aqlprofile

# The same values as by one run per pass; here the kernel finds the address in memory.
# shellcheck disable=SC2086
run rocprofv3 --replay kernel --pmc $two -f csv -d pointer -o r -- "$replayed" pointer
rc_is 0
out_has "pointer: 0 of 4096 wrong"
# shellcheck disable=SC2086
run rocprofv3 --replay application --pmc $two -f csv -d application -o r -- "$replayed" pointer
rc_is 0
is "$(counted values pointer/r)" "$(counted values application/r)" "values by kernel replay"

# Memory of the host cannot be restored, because the host may write it: the program runs again for the second set.
once() {
	# shellcheck disable=SC2086
	run rocprofv3 --replay kernel --pmc $two -f csv -d "$1" -o r -- "$replayed" "$1"
	rc_is 0
	is "$(grep -c "$1: 0 of 4096 wrong" "$out")" 2 "runs of the program with right results"
	err_has "could not be repeated (unknown kernel: $2): the program runs 1 more time"
	err_has "kernel 'unknown kernel' was not repeated: $2"
	is "$(counted values "$1/r" | wc -l)" 24 "values of $1"
}
once host "memory of the host changed while it ran"
# What an argument points to must be known, and the queue of the passes is not the program's.
once signal "an argument points to memory of the runtime, such as a signal"
once mask "its queue is limited to some of the compute units"
# One rank of several does not run again alone: the values of the second set are missing, and that is said.
# shellcheck disable=SC2086
run env OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 rocprofv3 --replay kernel --pmc $two -f csv -d rank -o r -- "$replayed" host
is "$(grep -c "host: 0 of 4096 wrong" "$out")" 1 "runs of a rank"
err_has "their other counters have no values, because a rank cannot run again alone"
err_has "absent: TCC_WRITE"
# More than may be saved: the limit is 1 MB, and two of them are allocated.
WAVESCOPE_REPLAY_MB=1
export WAVESCOPE_REPLAY_MB
once large "the memory that it can write is larger than WAVESCOPE_REPLAY_MB allows"
unset WAVESCOPE_REPLAY_MB

# A GPU without memory to save to: the host's is used, every pass begins with the same, and that is said once.
WAVESCOPE_COUNTERS=compare
# shellcheck disable=SC2086
run rocprofv3 --replay kernel --pmc $five -f csv -d full -o r -- "$replayed" full
WAVESCOPE_COUNTERS=aqlprofile
if [ "$rc" = 77 ]; then
	skip_part "memory of the host: this runtime has no library of the driver by which to use up the GPU's"
else
	rc_is 0
	out_has "full: 0 of 4096 wrong"
	if grep -q "Queue create failed" "$err"; then
		# ROCr 6 takes memory of the GPU for a queue, so there is none for ours: more runs of the program count the rest.
		err_has "the runtime has no queue or memory for that"
		is "$(grep -c "full: 0 of 4096 wrong" "$out")" 5 "runs of the program"
	else
		err_has "kernel replay: 4 dispatches ran 5.0 times each"
		is "$(grep -c "the GPU has no memory left, so kernel replay saves its memory in that of the host" "$err")" 1 "notes"
	fi
	grep -q "by packets and by the service, \([0-9]*\) of \1 values equal" "$err" || fail "values differ: $(cat "$err")"
	is "$(counted values full/r | wc -l)" $((4 * 18)) "counters of five passes"
fi

# A copy to the GPU and a free during the passes, and a copy that waits for the kernel: nothing of them is undone.
for how in copy waits; do
	# shellcheck disable=SC2086
	run rocprofv3 --replay kernel --pmc $two -f csv -d $how -o r -- "$replayed" $how
	rc_is 0
	! grep "wrong" "$out" | grep -qv ": 0 of 4096 wrong" || fail "$(cat "$out")"
	is "$(counted values $how/r | wc -l)" 6 "counters"
done

# A kernel that never ends, in a queue that is destroyed: the next one is replayed.
# shellcheck disable=SC2086
run rocprofv3 --replay kernel --pmc $two -f csv -d never -o r -- "$replayed" never
rc_is 0
out_has "second queue: 0 of 4096 wrong"
is "$(counted values never/r | wc -l)" 6 "counters of the second queue"

# A pass without values is missing, and said; by application replay it is a message of the second run.
FAKE_AQLPROFILE=sq
export FAKE_AQLPROFILE
# shellcheck disable=SC2086
run rocprofv3 --replay kernel --pmc $two -f csv -d silent -o r -- "$replayed" device
err_has "the GPU did not write the values of a kernel"
counted values silent/r >values
! grep -q TCC_WRITE values || fail "a value that was never written"
is "$(grep -c SQ_WAVES values)" 4 "values of the other pass"
# shellcheck disable=SC2086
run rocprofv3 --replay application --pmc $two -f csv -d silent2 -o r -- "$replayed" device
grep -q "run 2, process [0-9]*: counters: the GPU did not write the values of a kernel" "$err" || fail "no message of the second run"
