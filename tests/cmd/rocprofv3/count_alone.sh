#!/bin/sh
# Counters belong to the GPU: while they are collected, its kernels run one at a time, whatever stream they are
# in. Nothing else is serialised, and streams that wait for each other do not hang.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
app=$WS_BUILD/tests/cmd/overlap
[ -x "$app" ] || skip "hipcc is not installed"

met() { sed -n 's/^\([0-9]*\) of \([0-9]*\) kernels met another$/\1 \2/p' "$out"; }

# Bare they do meet: else there is nothing to see here.
run wavescope run -- "$app" 4 100000
rc_is 0
set -- $(met)
[ "$1" -gt 0 ] && [ "$2" -eq 21 ] || fail "bare, $1 of $2 kernels met another"
run rocprofv3 --kernel-trace -f csv -d trace -o t -- "$app" 4 100000
rc_is 0
set -- $(met)
[ "$1" -gt 0 ] || fail "traced, no kernel met another"

for options in "--kernel-include-regex together" "--kernel-trace"; do
	run rocprofv3 --pmc SQ_WAVES $options -f csv -d count -o c -- "$app" 4 2000
	rc_is 0
	is "$(met)" "0 21" "kernels that met another, with '$options'"
done
# What is written says so, too: no two kernels of the GPU at the same time.
"$PYTHON" - <<'P' || fail "times overlap"
import csv
rows = sorted(csv.DictReader(open("count/c_kernel_trace.csv")), key=lambda r: int(r["Start_Timestamp"]))
assert len(rows) >= 21, len(rows)
assert len({r["Queue_Id"] for r in rows}) >= 3
for a, b in zip(rows, rows[1:]):
    assert int(a["End_Timestamp"]) <= int(b["Start_Timestamp"]), (a, b)
P
