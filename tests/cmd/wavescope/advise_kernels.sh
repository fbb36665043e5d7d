#!/bin/sh
# Every rule about kernels fires on the kernel that has its problem, and not on the one that has not.
. "$WS_SOURCE/tests/cmd/rocprof-compute/lib.sh"
need_tracing
need_sample findings-kernels
limit_s=280

profile --output-directory w -- "$WS_BUILD/samples/findings-kernels"
rc_is 0
run "$PYTHON" "$WS_SOURCE/tests/cmd/wavescope/findings_table.py" pairs w
rc_is 0
out_is "29 pairs, 0 wrong"

# What the evidence says is what the tables say.
run wavescope advise w --check lds_bank_conflicts --json
rc_is 0
cp "$out" check.json
run rocprof-compute analyze -p w --list-stats
row=$("$PYTHON" - check.json <<'P'
import json, sys
for f in json.load(open(sys.argv[1]))["findings"][0]["subjects"]:
    if f["subject"].startswith("lds_bank_conflicts_slow"):
        print(f["kernel"], *["%.2f" % v["value"] for v in f["evidence"] if v["metric"] == "12.2.3"])
P
)
run rocprof-compute analyze -p w -b 12.2 -k "${row%% *}"
grep '12\.2\.3' "$out" | grep -qF "${row#* }" || fail "12.2.3 is not ${row#* } in the table"

# A part of the counters: rules that need others are not checked, and the report says so.
profile --output-directory part -b 12 -- "$WS_BUILD/samples/findings-kernels" lds_bank_conflicts
rc_is 0
run wavescope advise part
rc_is 0
grep -q '^[0-9]* of 29 rules were not checked' "$out" || fail "nothing about rules that were not checked"
out_has "LDS bank conflicts"
