#!/bin/sh
# The commands of AMD's guide to profiling AI programs, on train_cifar_100.py: Python functions,
# C++ frames, HIP calls and kernels on one timeline, nested and linked.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_softgpu
[ -x "$WS_BUILD/samples/liblinear_layer.so" ] || skip "liblinear_layer.so is not built: no hipcc"
for python in /usr/bin/python3 "$PYTHON" none; do
	[ "$python" != none ] || skip "no Python with numpy is installed (Debian: python3-numpy)"
	"$python" -c 'import numpy' 2>/dev/null && break
done
"$python" -c 'import torch' 2>/dev/null || skip_part "no PyTorch is installed (Debian: python3-torch)"
cd "$work"
mkdir bin
ln -s "$python" bin/python3
PATH=$work/bin:$PATH PROFILER_TOP_DIR=$WS_BUILD/samples HOME=$work
# As on hardware: where HIP waits, it uses CPU time, and so there are samples.
WAVESCOPE_WAIT=spin
export PROFILER_TOP_DIR HOME WAVESCOPE_WAIT
limit_s=200
size="--epochs 1 --images 128"

# check FOLDER: one set of files, and what the trace shows
check() {
	"$PYTHON" - "$WS_SOURCE/tests/output" "$1"/*/perfetto-trace-*.proto <<'END' || fail "the trace in $1"
import sys
sys.path.insert(0, sys.argv[1])
from systrace_file import Trace
(path,) = sys.argv[2:]
trace = Trace(path)
calls = {s["flow"]: s for s in trace.slices if s["category"] == "rocm_hip_api" and s["flow"]}
kernels = [s for s in trace.slices if s["name"].startswith("linear_")]
names = {s["name"].split("(")[0] for s in kernels}
assert names == {"linear_forward", "linear_backward_input", "linear_backward_weight"}, names
for kernel in kernels:
    call = calls[kernel["flow"]]  # what launched it
    assert call["name"] == "hipLaunchKernel" and call["start"] <= kernel["start"], call
    assert kernel["track"].startswith("HIP Activity Stream"), kernel
# One sampled stack from the script down to HIP.
order = ["main", "train_epoch", "GpuLayer._call", "layer_", "hip"]


def in_order(stack):
    at = 0
    for name in stack:
        at += at < len(order) and name.startswith(order[at])
    return at == len(order)


sampled = [s["above"] + [s["name"]] for s in trace.slices if s["category"] == "timer_sampling"]
assert any(in_order(s) for s in sampled), sorted({s[-1] for s in sampled})[:50]
# The same in the profiler samples, innermost last.
assert any(in_order([f[0] for f in s["frames"]]) for s in trace.samples)
END
}

run rocprof-sys-run --profile --trace -- \
	python3 "${PROFILER_TOP_DIR}/train_cifar_100.py" --data-path "$work/data" $size
rc_is 0
out_has PASS
check rocprofsys-python3-output
grep -hq 'hipLaunchKernel' rocprofsys-python3-output/*/wall_clock-*.txt || fail "no calls in wall_clock"
grep -hq '|_linear_forward' rocprofsys-python3-output/*/wall_clock-*.txt || fail "no kernels in wall_clock"
grep -hq 'train_epoch.*layer_forward' rocprofsys-python3-output/*/sampling_*.folded || fail "no folded stacks"
[ -s rocprofsys-python3-output/*/flamegraph-*.html ] || fail "no flame graph"

# A configuration file, without --.
run rocprof-sys-avail -G my.cfg
rc_is 0
rm -r rocprofsys-python3-output
RSP_CFG=$work/my.cfg
# shellcheck disable=SC2086 # words
run rocprof-sys-sample -c $RSP_CFG \
	python3 "${PROFILER_TOP_DIR}/train_cifar_100.py" --data-path "$work/data" $size
rc_is 0
out_has PASS
check rocprofsys-python3-output

if part_needs mpirun.openmpi; then
	rm -r rocprofsys-python3-output
	run mpirun.openmpi --allow-run-as-root --oversubscribe -n 2 rocprof-sys-sample -c $RSP_CFG -I all -- \
		python3 "${PROFILER_TOP_DIR}/train_cifar_100.py" --data-path "$work/data" $size
	rc_is 0
	is "$(cd rocprofsys-python3-output/* && echo perfetto-trace-*.proto)" \
		"perfetto-trace-0.proto perfetto-trace-1.proto" "traces of two ranks"
fi
