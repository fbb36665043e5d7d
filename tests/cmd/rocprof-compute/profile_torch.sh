#!/bin/sh
# PyTorch operators and their kernels. Real PyTorch modules; their kernels are launched on the
# software GPU through ctypes, because Debian's PyTorch knows no GPU.
. "$WS_SOURCE/tests/cmd/rocprof-compute/lib.sh"
need_tracing

run rocprof-compute --experimental profile -n a --torch-trace -- "$vcopy"
rc_is 1
err_has "--torch-trace needs a Python program"

for python in /usr/bin/python3 "${PYTHON:-python3}" none; do
	[ $python != none ] || skip "no Python with PyTorch is installed (Debian: python3-torch)"
	"$python" -c 'import torch.overrides; torch.overrides.TorchFunctionMode' 2>/dev/null && break
done
need_sample libtorch_kernels.so
cp "$WS_BUILD/samples/torch_train.py" train.py
chmod +x train.py
# The user's own sitecustomize is still run.
mkdir mine
echo 'print("my own sitecustomize")' >mine/sitecustomize.py
export PYTHONPATH=$work/mine

ln -s "$python" python
ln -s "$python" python3
PATH=$work:$PATH
run rocprof-compute --experimental profile --no-roof --name torch --torch-trace -b 11 12 -- \
	python train.py --kernels "$WS_BUILD/samples/libtorch_kernels.so"
rc_is 0
out_has "Torch Trace: Enabled"
out_has "[rocprofiler-sdk] PASS"
out_has "my own sitecustomize"
dir=workloads/torch/MI200
grep -q '^torch_trace: true$' $dir/profiling_config.yaml || fail "config"
for file in marker_api_trace counter_collection; do
	[ -s $dir/torch_trace_pmc_perf_$file.csv ] || fail "no raw $file"
done
is "$(head -n 1 $dir/torch_trace/consolidated.csv)" "Operator_Name,Context_Id,Kernel_Name,\
Counter_Name,Counter_Value,Start_Timestamp_function,End_Timestamp_function,\
Start_Timestamp_kernel,End_Timestamp_kernel" header
cat >check.py <<'END'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1] + "/torch_trace/consolidated.csv")))
seen = {}
for row in rows:
    seen.setdefault(row["Operator_Name"], set()).add((row["Context_Id"], row["Kernel_Name"]))
    # A kernel is launched inside its operator, on the host's clock; it may end a little later.
    assert int(row["Start_Timestamp_function"]) < int(row["End_Timestamp_function"])
    assert int(row["End_Timestamp_kernel"]) > int(row["Start_Timestamp_function"])
linear = "linear_kernel(float const*, float const*, float const*, float*, int, int, int)"
relu = "elementwise_relu_kernel(float const*, float*, int)"
net = "nn.Module.Net.forward/"
want = {
    net + "nn.Module.Linear.forward/torch.nn.functional.linear": linear,
    net + "nn.Module.ReLU.forward/torch.nn.functional.relu": relu,
    net + "torch.nn.functional.relu": relu,
}
assert set(seen) == set(want), sorted(seen)
for name, kernel in want.items():
    assert {k for _, k in seen[name]} == {kernel}, (name, seen[name])
# two batches; two linear layers, one activation, one function in each
assert sorted(len(seen[n]) for n in want) == [2, 2, 4], {n: len(seen[n]) for n in want}
assert all("@" in c and c.split("@")[0].isdigit() for s in seen.values() for c, _ in s)
# every kernel has every counter once
names = {row["Counter_Name"] for row in rows}
assert "SQ_WAVES" in names and len(rows) == 8 * len(names), (len(rows), len(names))
waves = [float(r["Counter_Value"]) for r in rows
         if r["Counter_Name"] == "SQ_WAVES" and r["Kernel_Name"] == linear]
assert sorted(waves) == [2, 2, 16, 16], waves
END
"$python" check.py $dir || fail "torch_trace/consolidated.csv"
run rocprof-compute --experimental analyze -p $dir --list-torch-operators
rc_is 0
out_has "torch.nn.functional.linear"
out_has "train.py:68 (kernel_launches: 1"
# Counters of the kernels themselves are as always: under their own names.
grep -q '"linear_kernel(' $dir/pmc_perf_0.csv || fail "names of kernels"

run rocprof-compute --experimental profile --no-roof --name mux --torch-trace -b 12 \
	--iteration-multiplexing kernel -k elementwise -- \
	./train.py --kernels "$WS_BUILD/samples/libtorch_kernels.so"
rc_is 0
grep -q 'torch.nn.functional.relu,.*relu_kernel' workloads/mux/MI200/torch_trace/consolidated.csv ||
	fail "with multiplexing and a kernel filter"
! grep -q linear_kernel workloads/mux/MI200/torch_trace/consolidated.csv || fail "-k"

# A Python program without PyTorch is told so.
echo 'pass' >plain.py
run rocprof-compute --experimental profile --no-roof -n plain --torch-trace --set launch_stats -- \
	python plain.py
rc_is 1
err_has "dispatched no kernel"
out_lacks "calls of PyTorch operators"
# One that fails is not asked about PyTorch.
run rocprof-compute --experimental profile --no-roof -n gone --torch-trace --set launch_stats -- \
	python nosuch.py
rc_is 1
err_has "'python' exited with code 2"
out_lacks "No PyTorch operator"
