#!/bin/sh
# Two ranks with two clocks and nothing in common but the output folder: a time namespace has a
# CLOCK_BOOTTIME of its own, and by how much it differs is known.
. "$WS_SOURCE/tests/cmd/lib.sh"
cd "$work"
HOME=$work
ROCPROFSYS_USE_SAMPLING=false ROCPROFSYS_USE_PROCESS_SAMPLING=false ROCPROFSYS_TIME_OUTPUT=off
export HOME ROCPROFSYS_USE_SAMPLING ROCPROFSYS_USE_PROCESS_SAMPLING ROCPROFSYS_TIME_OUTPUT
unshare -T --boottime 100000 true 2>/dev/null || skip "no permission for a time namespace"

rank() { # RANK FOLDER OPTION...
	number=$1 folder=$2
	shift 2
	clock=
	[ "$number" = 0 ] || clock="unshare -T --boottime 100000"
	OMPI_COMM_WORLD_RANK=$number OMPI_COMM_WORLD_SIZE=3 $clock "$(command -v rocprof-sys-run)" "$@" \
		-T -o "$folder" -- sleep 0.4 >"$folder.$number" 2>&1
}
job() { # FOLDER OPTION...: ranks 1 and 2 are on one node
	rank 1 "$@" &
	one=$!
	rank 2 "$@" &
	two=$!
	rank 0 "$@" || fail "rank 0: $(cat "$1.0")"
	wait $one || fail "rank 1: $(cat "$1.1")"
	wait $two || fail "rank 2: $(cat "$1.2")"
}

job out --keep-captures
run wavescope merge out -o merged
rc_is 0
out_has " stamps in the output folder in common with "
"$PYTHON" - <<'END' || fail "values: $(cat merged_ranks.json)"
import csv, json
data = json.load(open("merged_ranks.json"))
second = data["nodes"][1]
assert (data["nodes"][0]["ranks"], second["ranks"]) == ([0], [1, 2]), data["nodes"]
assert second["clock"] == "stamps" and second["collectives"] == 0 and second["stamps"] >= 4, second
error = second["offset_ns"] + 100000 * 10**9
# they look every 50 ms; a busy machine may let them wait
assert abs(error) <= second["uncertainty_ns"] < 2e9, (error, second)
assert list(csv.DictReader(open("merged_clocks.csv")))[1]["Stamps"] == str(second["stamps"])
END
# One front end per node does it.
is "$(ls out/.rocprof-sys/clocks/*.wclk | wc -l)" 2 "readings of clocks"
is "$(ls out/.rocprof-sys/clocks/*.stamp | wc -l)" 2 "stamps"

# Without captures there is nothing to merge, and nothing is left in the folder.
job plain
[ ! -e plain/.rocprof-sys ] || fail "something is left: $(find plain/.rocprof-sys)"
