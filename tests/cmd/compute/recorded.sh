#!/bin/sh
# Recordings from real GPUs: every cell of every table is the reference tool's, and with
# --like-3.3 every line. WS_RECORDED names the folder; it is not part of the source.
. "$WS_SOURCE/tests/cmd/lib.sh"

recorded=${WS_RECORDED:-$(dirname "$WS_SOURCE")/shared/recorded}
[ -d "$recorded/vcopy" ] || skip "no recordings in '$recorded' (WS_RECORDED names their folder)"

# Lines of tables and titles; what the tool logs, the drawn blocks and the lines between blocks go.
lines() {
	awk '/^[0-9]+\. / { block = $1 + 0; begun = 1 } !begun || block == 3 || block == 4 || /^$/ || /^-+$/ ||
		/^ INFO/ || /^WARNING/ { next } { print }' "$1"
}

for reference in "$recorded"/vcopy/*/reference_analyze.txt; do
	workload=${reference%/*}
	run rocprof-compute analyze -p "$workload"
	rc_is 0
	err_is_empty
	"$PYTHON" "$WS_SOURCE/tests/cmd/compute/cells.py" "$reference" "$out" ||
		fail "$workload: cells differ"

	run rocprof-compute analyze -p "$workload" --like-3.3
	rc_is 0
	lines "$reference" >"$work/reference"
	lines "$out" >"$work/ours"
	cmp -s "$work/reference" "$work/ours" || {
		diff "$work/reference" "$work/ours" | head -20
		fail "$workload: --like-3.3 prints other lines"
	}
	echo "ok ${workload##*/}"
done
