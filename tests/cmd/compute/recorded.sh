#!/bin/sh
# Recordings from real GPUs (tests/recorded): every cell of every table is the reference tool's,
# and with --like-3.3 every line of tables and memory charts.
. "$WS_SOURCE/tests/cmd/lib.sh"

recorded=$WS_SOURCE/tests/recorded
compare() {
	"$PYTHON" "$recorded/compare.py" "$1" "$name" "$out" >"$work/compared" || {
		cat "$work/compared"
		fail "$name: $1 differ"
	}
	# The last line is 'N cells compared, 0 differ'.
	n_compared=$((n_compared + $(awk 'END { print $1 }' "$work/compared")))
}

cd "$work"
n_cells=0 n_lines=0 names=''
for name in $("$PYTHON" "$recorded/recording.py" list); do
	unpack_recording "$name" "$name"
	"$PYTHON" - "$recorded" "$name" <<'PY' || fail "$name: packing what was unpacked gives another file"
import sys
sys.path.insert(0, sys.argv[1])
import recording
name = sys.argv[2]
with open(f"{recording.HERE}/{name}.counters", encoding="utf-8") as kept:
    assert recording.packed_counters(name, name) == kept.read()
PY
	run rocprof-compute analyze -p "$name"
	rc_is 0
	err_is_empty
	n_compared=$n_cells
	compare cells
	n_cells=$n_compared

	run rocprof-compute analyze -p "$name" --like-3.3
	rc_is 0
	n_compared=$n_lines
	compare lines
	n_lines=$n_compared
	names="$names$name "
done
is "$names" "MI100 MI200 MI300A_A1 MI300X_A1 MI350 " recordings
is "$n_cells" 31175 "cells compared"
is "$n_lines" 10905 "lines compared"
echo "$n_cells cells and $n_lines lines agree"

# The comparison notices one digit of one cell, and one character of one line.
name=MI200
run rocprof-compute analyze -p MI200 --like-3.3
sed -i 's/│ 104.0    │ 67.31/│ 104.0    │ 67.41/' "$out"
for what in cells lines; do
	! "$PYTHON" "$recorded/compare.py" $what $name "$out" >"$work/compared" || fail "a wrong cell passes as $what"
	grep -q '2\.1' "$work/compared" || fail "$what: which table differs is not printed"
done
