#!/bin/sh
# HIP asks for the kind of every symbol once per kernel: counted, and recorded only on request.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
program=$WS_BUILD/tests/cmd/list_symbols code=$WS_BUILD/tests/cmd/many_symbols.hsaco
[ -e "$code" ] || skip "no assembler for GPU code in this build"
queries() { grep -c '"hsa_executable_symbol_get_info"' "$1" || :; }

# 200 kernels: 40,000 queries in 200 enumerations, and 200 that the program makes by itself.
run rocprofv3 --hsa-trace -f csv json -d a -o r -- "$program" "$code"
rc_is 0
out_has "200 symbols"
is "$(queries a/r_hsa_api_trace.csv)" 200 "queries recorded"
is "$(grep -c '"hsa_executable_iterate_symbols"' a/r_hsa_api_trace.csv)" 200 "enumerations recorded"
err_has "(40000 symbol queries left out)"
"${PYTHON:-python3}" - <<'PY' || fail "left_out is not in the JSON file"
import json
text = open("a/r_results.json").read()
json.loads(text)
assert '"left_out":40000' in text.replace(" ", "")
PY

run rocprofv3 --hsa-trace --hsa-symbol-queries -f csv -d b -o r -- "$program" "$code"
rc_is 0
is "$(queries b/r_hsa_api_trace.csv)" 40200 "queries recorded on request"
err_lacks "left out"
