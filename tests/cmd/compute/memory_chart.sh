#!/bin/sh
# Block 3: the wide chart is the reference's to the character; each value of the narrow one and of the
# picture is where it belongs.
. "$WS_SOURCE/tests/cmd/lib.sh"

make_workload() { "$PYTHON" "$WS_SOURCE/tests/cmd/compute/make_workload.py" "$@"; }
columns() { "$PYTHON" -c 'import sys; print(max(len(l.rstrip("\n")) for l in open(sys.argv[1], encoding="utf-8")))' "$1"; }
chart() { awk '/^3\.1 / { on = 1; next } /^$/ { on = 0 } on' "$1"; }

cd "$work"
make_workload load --no-roof
run rocprof-compute analyze -p load -b 3 -n per_wave
rc_is 0
chart "$out" >wide
is "$(wc -l <wide)" 42 "lines of the wide chart"
is "$(columns wide)" 234 "columns of the wide chart"
out_has '(Normalization: per_wave)'
out_has 'LDS Alloc:'
grep -qF 'VGPRseq:   8.0' wide || fail "no VGPRs in the chart"
grep -qF 'Lat:    N/A' wide || fail "what was not counted is not N/A"

run rocprof-compute analyze -p load -b 3 --memory-chart narrow
rc_is 0
chart "$out" >narrow
[ "$(columns narrow)" -le 100 ] || fail "the narrow chart has $(columns narrow) columns"
grep -qF 'VGPRs' narrow || fail "no VGPRs in the narrow chart"
run rocprof-compute analyze -p load -b 3 --memory-chart tall
rc_is 2
err_has 'memory-chart'

run rocprof-compute analyze -p load -b 3 --charts pictures
rc_is 0
"$PYTHON" - pictures/memory_chart.svg <<'PY' || fail "memory_chart.svg is not what it should be"
import sys
import xml.etree.ElementTree as tree
svg = tree.parse(sys.argv[1]).getroot()
texts = [t.text for t in svg.iter("{http://www.w3.org/2000/svg}text")]
for name in ("Vector L1 Cache", "L2 Cache", "HBM", "Scalar L1D Cache", "LDS", "8", "16"):
    assert name in texts, name
assert not any(t and "nan" in t for t in texts)
PY

# The charts of the unit test, read by their boxes, wires and labels.
WS_GOLDEN_OUT=$work run "$WS_BUILD/tests/unit/test_memchart"
rc_is 0
same_files memchart_narrow.txt "$WS_SOURCE/tests/unit/golden/memchart_narrow.txt" "another narrow chart"
"$PYTHON" "$WS_SOURCE/tests/cmd/compute/memory_places.py" memchart_narrow.txt memchart.svg ||
	fail "something stands in the wrong place"

# Several workloads: a table like any other.
make_workload other --no-roof --seed 2
run rocprof-compute analyze -p load -p other -b 3
rc_is 0
out_has '3.1.12'

# The charts of real GPUs are the reference tool's to the character (compute/recorded). 3.3 cannot
# find the scalar cache's wires; without --like-3.3 they are drawn, and nothing else differs.
for name in $("$PYTHON" "$WS_SOURCE/tests/recorded/recording.py" list); do
	unpack_recording "$name" recording
	run rocprof-compute analyze -p recording -b 3 --like-3.3
	rc_is 0
	chart "$out" >like
	is "$(wc -l <like)" 42 "lines of $name's chart"
	run rocprof-compute analyze -p recording -b 3
	rc_is 0
	chart "$out" >ours
	is "$(diff ours like | grep -c '^<')" 3 "lines that --like-3.3 changes for $name"
	rm -rf recording
done
