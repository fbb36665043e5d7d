#!/bin/sh
# Block 4: rates, points and plot, reckoned by hand, and the files that are written.
. "$WS_SOURCE/tests/cmd/lib.sh"

make_workload() { "$PYTHON" "$WS_SOURCE/tests/cmd/compute/make_workload.py" "$@"; }
# value ID: the cell in the Value column.
value() { awk -v id="$1" -F '│' '{ gsub(/ /, "", $2) } $2 == id { gsub(/ /, "", $4); print $4 }' "$out"; }
near() {
	awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(d <= 0.01 * b + 0.005) }' ||
		fail "$3: '$1' is not near $2"
}

cd "$work"
make_workload load
run rocprof-compute analyze -p load -b 4 -k 0
rc_is 0
err_is_empty
# gemm: 512 * 39062500 FLOPs in 1 ms; 64 * 1562500 bytes of HBM; 128 * 4000000 of LDS
near "$(value 4.1.2)" 20000 "MFMA FLOPs (F32)"
near "$(value 4.1.7)" 100 "HBM bandwidth"
near "$(value 4.1.8)" 400 "L2 bandwidth"
near "$(value 4.1.9)" 800 "L1 bandwidth"
near "$(value 4.1.10)" 512 "LDS bandwidth"
is "$(value 4.2.0)" 200.00 "AI HBM"
is "$(value 4.2.1)" 50.00 "AI L2"
is "$(value 4.2.2)" 25.00 "AI L1"
is "$(value 4.2.3)" 39.06 "AI LDS"
out_has '1400.00'
out_has '4.3 Roofline Plot'
out_has 'HBM 1400 GB/s'
out_has 'LDS 17700 GB/s'
out_has 'VALU-FP32 21000 GFLOP/s'
out_has 'MFMA-FP32 41500 GFLOP/s'
out_has 'HBM 200 (48% comp)'
out_lacks saxpy\<float\>\(int,\ float,\ float\ const\*,\ float\*\)$'\n'
out_has 'HTML page: load/empirRoof_gpu-0_FP32.html'
[ -s load/empirRoof_gpu-0_FP32.html ] || fail "no page in the workload"
awk 'length > 400' load/pmc_kernel_top.csv | grep -q . && fail "pmc_kernel_top.csv was touched"

# Filters, levels, types and what a point is.
run rocprof-compute analyze -p load -b 4 -m L2 LDS -R FP64 I32
rc_is 0
out_has 'L2 5000 GB/s'
out_lacks 'HBM 1400 GB/s'
out_has 'MFMA-FP64 41000 GFLOP/s'
out_has 'VALU-I32 10500 GOP/s'
out_lacks 'VALU-FP32'
[ -s load/empirRoof_gpu-0_FP64_I32.html ] || fail "the page's name does not say the types"
run rocprof-compute analyze -p load -b 4 --sort dispatches
rc_is 0
out_has 'dispatch 0: gemm'
out_has '8 more with less time are not shown.'
run rocprof-compute analyze -p load -b 4 -R FP8 FP16 FP32
rc_is 0
out_has 'ERROR FP8 is not a supported datatype for roofline profiling on MI210'
out_has 'MFMA-FP16 165000 GFLOP/s'
run rocprof-compute analyze -p load -b 4 -R FP7
rc_is 2
err_has "--roofline-data-type 'FP7'"
run rocprof-compute analyze -p load -b 4 -m L3
rc_is 2
err_has "--mem-level 'L3'"

# What AMD's 3.3 prints: the plot alone.
run rocprof-compute analyze -p load -b 4 --like-3.3
rc_is 0
out_has '4.1 Roofline'
out_lacks 'Performance Rates'

# Pictures where they are asked for.
run rocprof-compute analyze -p load -b 4 -R FP32 FP64 --charts pictures/
rc_is 0
is "$(ls pictures | tr '\n' ' ')" "memory_chart.svg roofline.html roofline_FP32.svg roofline_FP64.svg " pictures
COLUMNS=80 run rocprof-compute analyze -p load -b 4
"$PYTHON" "$WS_SOURCE/tests/cmd/compute/roofline_places.py" load pictures/roofline_FP32.svg "$out" ||
	fail "something stands in the wrong place"
"$PYTHON" - pictures/roofline_FP32.svg <<'PY' || fail "roofline_FP32.svg is not what it should be"
import sys
import xml.etree.ElementTree as tree
ns = "{http://www.w3.org/2000/svg}"
svg = tree.parse(sys.argv[1]).getroot()
texts = [t.text for t in svg.iter(ns + "text")]
for name in ("HBM  1400 GB/s", "MFMA FP32  41500 GFLOP/s", "A", "B", "C"):
    assert name in texts, (name, texts)
marks = [p.get("class") for p in svg.iter(ns + "path") if p.get("class", "").startswith("mark")]
assert len(marks) == 4 + 4 + 3, marks  # legend, gemm, saxpy (which uses no LDS)
PY
run rocprof-compute analyze -p load -b 4 --charts /proc/nowhere
rc_is 1
err_has '/proc/nowhere'

# A read-only workload stays as it is.
make_workload locked
chmod a-w locked
run rocprof-compute analyze -p locked -b 4
rc_is 0
out_lacks 'As a page'
is "$(ls locked | tr '\n' ' ')" "pmc_perf.csv roofline.csv sysinfo.csv " "files of a read-only workload"
chmod u+w locked

# No peaks, damaged peaks, missing counters, a GPU without a roofline.
make_workload bare --no-roof
run rocprof-compute analyze -p bare -b 4
rc_is 0
out_has 'Cannot create roofline plot for CLI with incomplete/missing roofline profiling data.'
out_has 'Roofline Performance Rates'
printf 'device,HBMBw\n0\n' >bare/roofline.csv
run rocprof-compute analyze -p bare -b 4
rc_is 0
out_has 'Cannot create roofline plot'
err_has 'bare/roofline.csv'
printf 'device,HBMBw,FP32Flops\n0,1000,2000\n' >bare/roofline.csv
run rocprof-compute analyze -p bare -b 4
rc_is 0
out_has 'HBM 1000 GB/s'
out_has 'VALU-FP32 2000 GFLOP/s'
make_workload lost --without TCC_EA_RDREQ_sum --without SQ_INSTS_VALU_FMA_F32
run rocprof-compute analyze -p lost -b 4
rc_is 0
out_has 'no point: its floating-point operations were not counted'
is "$(value 4.1.7)" N/A "HBM bandwidth without its counter"

make_workload soft --soft
run rocprof-compute analyze -p soft -b 4 --charts soft_pictures
out_has '(modelled: a software GPU)'
grep -q Modelled soft_pictures/roofline_FP32.svg || fail "the picture does not say modelled"
grep -q 'modelled: software GPU' soft_pictures/roofline.html || fail "the page does not say modelled"

unpack_recording MI200 recording
run rocprof-compute analyze -p recording -b 4
rc_is 0
out_has 'HBM 1389 GB/s'
out_has 'LDS 17718 GB/s'
out_has 'VALU-FP32 20942 GFLOP/s'
out_has 'MFMA-FP32 41439 GFLOP/s'
out_has 'it executes no floating-point operations'
# rates as other tables of the reference have them
near "$(value 4.1.9)" 1952.15 "L1 bandwidth"
near "$(value 4.1.7)" 868.91 "HBM bandwidth: reads and writes"
