#!/bin/sh
# The peaks of the software MI210 are those that AMD's benchmark measured on an MI200, within 10 %, and
# roofline.csv says so in the columns that rocprof-compute reads.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_softgpu
cd "$work"

limit_s=280 # 9 s on an idle machine
run wavescope run --gpu mi210 -- wavescope-roofline
rc_is 0
err_is_empty
out_has 'Total detected GPU devices: 1'
out_has 'AMD Instinct MI210 is a software GPU: times are modelled'
grep -Eq '^HBM BW, GPU ID: 0, workgroupSize:256, workgroups:832, experiments:[0-9]+, traffic:[0-9]+ bytes, duration:[0-9.]+ ms, mean:[0-9.]+ GB/sec, stdev=[0-9.]+ GB/sec$' "$out" || fail "no line for HBM"
grep -Eq '^Peak MFMA IOPs \(I8\), GPU ID: 0, .* IOP:[0-9]+, .* GOPS$' "$out" || fail "no line for MFMA I8"
is "$(wc -l <roofline.csv)" 2 "lines of roofline.csv"

# what was recorded on the device of AMD's published workload (first row of its roofline.csv)
"$PYTHON" - <<'END' || fail "roofline.csv is not what it has to be"
import csv, sys

recorded = {
    "HBMBw": 1388.9302, "L2Bw": 5018.2891, "L1Bw": 9226.7266, "LDSBw": 17717.834,
    "FP32Flops": 20941.971, "FP64Flops": 20272.537,
    "MFMABF16Flops": 170483.16, "MFMAF16Flops": 164938.17, "MFMAF32Flops": 41438.68,
    "MFMAF64Flops": 41497.562, "MFMAI8Ops": 166402.27,
}
# not recorded: what the chip's data sheet allows, 104 CUs of 1700 MHz
allowed = {"FP16Flops": 45260, "I8Ops": 22630, "I32Ops": 5658, "I64Ops": 2000}
absent = ["MALLBw", "MFMAF4Flops", "MFMAF6Flops", "MFMAF6F4Flops", "MFMAF8Flops"]
(row,) = csv.DictReader(open("roofline.csv"))
bad = 0
if row["device"] != "0" or len(row) != 61:
    sys.exit(f"device {row['device']}, {len(row)} columns")
for name in list(recorded) + list(allowed):
    low, value, high = (float(row[name + end]) for end in ("Low", "", "High"))
    if not low <= value <= high:
        print(f"{name}: {value} is not within {low} and {high}")
        bad += 1
    if name in recorded:
        off = value / recorded[name] - 1
        print(f"{name:14} {value:10.1f}, recorded {recorded[name]:10.1f}: {100 * off:+.1f} %")
        bad += abs(off) > 0.1
    else:
        print(f"{name:14} {value:10.1f}, at most  {allowed[name]:10.1f}")
        bad += not 0.6 * allowed[name] < value <= allowed[name]
for name in absent:
    bad += any(float(row[name + end]) != 0 for end in ("Low", "", "High"))
sys.exit(bad != 0)
END
