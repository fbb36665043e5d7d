#!/bin/sh
# Counting by packets around the kernels, as on hardware, with a stand-in for AMD's aqlprofile: the same values as by
# the software GPU's service, no value where none was counted, and no queue that waits for ever.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
counted() { "$PYTHON" "$WS_SOURCE/tests/cmd/rocprofv3/counted.py" "$@" || fail "counted.py $*"; }
[ -e "$WS_BUILD/tests/collector/aqlprofile/libhsa-amd-aqlprofile64.so.1" ] ||
	{ echo "SKIP: no HSA headers, so no stand-in for aqlprofile"; exit 77; }
LD_LIBRARY_PATH=$WS_BUILD/tests/collector/aqlprofile${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
names="SQ_WAVES SQ_INSTS_VALU SQ_BUSY_CYCLES SQ_LEVEL_WAVES_ACCUM TCC_HIT TCC_MISS_sum TCC_REQ[5] GRBM_COUNT"

# shellcheck disable=SC2086
run rocprofv3 --pmc $names -f csv json -d service -o r -- "$vcopy" -n 65536 -b 256
rc_is 0
export WAVESCOPE_COUNTERS=aqlprofile
# shellcheck disable=SC2086
run rocprofv3 --pmc $names -f csv json -d packets -o r -- "$vcopy" -n 65536 -b 256
rc_is 0
err_has "counted dispatches                 1           1           0"
is "$(counted values packets/r)" "$(counted values service/r)" "values by packets"
values() { grep -o '"counter_id":{"handle":[0-9]*},"value":[0-9.]*' "$1"; }
is "$(values packets/r_results.json | wc -l)" "$((3 * 8 + 1 + 32 + 1 + 1 + 1))" "number of values"
is "$(values packets/r_results.json)" "$(values service/r_results.json)" "values of the instances"

# Several passes are several runs.
run rocprofv3 --pmc TCC_HIT_sum TCC_MISS_sum TCC_REQ_sum TCC_READ_sum TCC_WRITE_sum -f csv -d passes -o r -- \
	"$vcopy" -n 65536 -b 256
rc_is 0
err_has "the counters need 2 passes: the program runs 2 times"
is "$(counted values passes/r | wc -l)" 5 "counters of two passes"

# Kernels of several queues take turns, and no value is lost. The service counts the same runs.
WAVESCOPE_COUNTERS=compare
run rocprofv3 --kernel-trace --pmc SQ_WAVES TCC_REQ -f csv -d queues -o r -- "$WS_BUILD/samples/streams"
rc_is 0
n=$(sed 1d queues/r_kernel_trace.csv | wc -l)
[ "$n" -gt 4 ] || fail "$n kernels in the trace"
err_has "by packets and by the service, $((n * 40)) of $((n * 40)) values equal ($n dispatches, 0 without values)"
WAVESCOPE_COUNTERS=aqlprofile

# Counters that were never on read 0: that is no value, and it is said.
FAKE_AQLPROFILE=off
export FAKE_AQLPROFILE
run rocprofv3 --pmc SQ_WAVES -f csv -d off -o r -- "$vcopy" -n 65536 -b 256
err_has "the counters of this GPU are not enabled"
! grep -qs SQ_WAVES off/r_counter_collection.csv || fail "a counter that was never on has a value"
# Nothing was written: the same.
FAKE_AQLPROFILE=silent
run rocprofv3 --pmc SQ_WAVES -f csv -d silent -o r -- "$vcopy" -n 65536 -b 256
err_has "the GPU did not write the values of a kernel"
! grep -qs SQ_WAVES silent/r_counter_collection.csv || fail "a value that was never written"
unset FAKE_AQLPROFILE

# A queue that is destroyed in the middle of a kernel gives the GPU to the next.
run rocprofv3 --pmc SQ_WAVES -f csv -d gone -o r -- "$WS_BUILD/tests/collector/lost-queue"
rc_is 0
out_has "second queue: ok"

# Kernels that fill their queue behind a packet that takes its time: the thread that submits waits, ROCr's does not, and
# every kernel is counted.
run rocprofv3 --pmc SQ_WAVES -f csv -d behind -o r -- "$WS_BUILD/tests/collector/replayed" behind
rc_is 0
out_has "behind: 0 of 4096 wrong"
err_has "counted dispatches               150         150           0"
is "$(grep -c ',"SQ_WAVES",64' behind/r_counter_collection.csv)" 150 "values"

# PC sampling by a runtime that has none that works, and counting of a process that runs: refused before anything runs.
runtime=$(readlink -f "$(ldconfig -p | sed -n 's/.*libhsa-runtime64.so.1 .*=> //p' | head -n 1)")
runtime=${runtime#*.so.1.}
if [ "${runtime%%.*}" -lt 18 ]; then
	run rocprofv3 --pc-sampling-beta-enabled --pc-sampling-method host_trap --pc-sampling-unit time --pc-sampling-interval 1 \
		-f csv -d none -o r -- "$vcopy" -n 65536 -b 256
	rc_is 1
	err_has "PC sampling: the runtime (libhsa-runtime64.so.1) has no PC sampling that works: ROCm 7.0 and later have it"
	[ ! -e none ] || fail "the program ran"
else
	skip_part "PC sampling refused: this runtime has it"
fi
sleep 60 &
pid=$!
run rocprofv3 --pmc SQ_WAVES --pid $pid -d none -o r
kill $pid
rc_is 1
err_has "attaching to count is not supported with WAVESCOPE_COUNTERS=aqlprofile, as on hardware: unset it"

# Another profiler in the environment: a warning before the program runs.
run env ROCP_TOOL_LIBRARIES=tool.so rocprofv3 --pmc SQ_WAVES -f csv -d other -o r -- "$WS_BUILD/tests/collector/replayed" device
rc_is 0
err_has "warning: ROCP_TOOL_LIBRARIES=tool.so loads another profiler into the program: both program the counters of the GPU"

# No library, or one without the interface: before anything is counted, with what to do.
LD_LIBRARY_PATH=
run rocprofv3 --pmc SQ_WAVES -f csv -d none -o r -- "$vcopy" -n 65536 -b 256
rc_is 1
err_has "counting on this GPU needs AMD's libhsa-amd-aqlprofile64.so.1: install"
[ ! -e none ] || fail "the program ran"
WAVESCOPE_COUNTERS=amd
run rocprofv3 --pmc SQ_WAVES -f csv -d none -o r -- "$vcopy" -n 65536 -b 256
rc_is 2
err_has "WAVESCOPE_COUNTERS=amd: use service"
