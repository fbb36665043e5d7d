#!/bin/sh
# PC samples of kernels whose code is in no file afterwards: instructions and source lines are there.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
app=$WS_BUILD/tests/cmd/from_memory
[ -x "$app" ] || skip "hipcc is not installed"
check() { # the sampled instructions in $1, and the kernels of the dispatches in $2
	"${PYTHON:-python3}" - "$1" "$2" <<'P' || fail "instructions are missing: $1"
import csv, re, sys
kernels = {r["Dispatch_Id"]: r["Kernel_Name"] for r in csv.DictReader(open(sys.argv[2]))}
seen, lines = {}, {}
for row in csv.DictReader(open(sys.argv[1])):
    name = kernels[row["Dispatch_Id"]]
    assert "Unrecognized" not in row["Instruction"] and row["Instruction"], (name, row)
    seen.setdefault(row["Dispatch_Id"], set()).add(row["Instruction"].split()[0])
    lines.setdefault(row["Dispatch_Id"], set()).add(row["Instruction_Comment"])
names = [kernels[d] for d in sorted(seen, key=int)]
assert names[:3] == ["in_memory", "in_memory", "in_a_file"], names
assert any("fillBuffer" in n for n in names[3:]), names
for d, insns in seen.items():
    # which ones depends on the timing model; all kernels wait for memory
    assert all(re.match("(s|v|global|flat|buffer|ds)_[a-z]", i) for i in insns), (kernels[d], insns)
    assert "s_waitcnt" in insns, (kernels[d], insns)
    if kernels[d].startswith("in_"):
        # HIP 5.2's name of the source, and HIP 5.7's file of it
        assert any(re.search(r"(CompileSource|/input/\w+\.cu):5$", l) for l in lines[d]), (kernels[d], lines[d])
P
}

run rocprofv3 --pc-report --pc-sampling-beta-enabled --pc-sampling-method stochastic --pc-sampling-unit cycles \
	--pc-sampling-interval 64 -f csv -d out -o s --keep-captures -- "$app"
rc_is 0
err_lacks "have no instructions"
check out/s_pc_sampling_stochastic.csv out/s_kernel_trace.csv
# Elsewhere, from the capture alone.
mkdir elsewhere
cp -r out/.rocprofv3/* elsewhere/run
run rocprofv3 --recover elsewhere/run -d elsewhere -o r
rc_is 0
err_lacks "have no instructions"
check elsewhere/r_pc_sampling_stochastic.csv elsewhere/r_kernel_trace.csv

# Killed: what was loaded before is known all the same; and the listing shows it.
run rocprofv3 --pc-report --pc-sampling-interval 64 --pc-sampling-method stochastic \
	--pc-sampling-unit cycles --pc-sampling-beta-enabled -f csv -d out -o k -- "$app" kill
rc_is 137
err_lacks "have no instructions"
check out/k_pc_sampling_stochastic.csv out/k_kernel_trace.csv
out_has "in_memory  gfx90a"
grep -qE "(CompileSource|\.cu):5" "$out" || fail "no source line"

# Each image is in the capture once: the one that was compiled and loaded twice, that of the file, and
# HIP's own. A run without samples keeps none.
run rocprofv3 --kernel-trace -f csv -d plain -o t --keep-captures -- "$app"
rc_is 0
images() {
	"${PYTHON:-python3}" -c 'import sys; print(open(sys.argv[1], "rb").read().count(b"\x7fELF"))' "$1"
}
is "$(images elsewhere/run/*.wcap)" 3 "images in the capture"
is "$(images plain/.rocprofv3/*/*.wcap)" 0 "images of a trace"
