#!/bin/sh
# --explain: meaning, formula, counters with their values, and the result step by step.
. "$WS_SOURCE/tests/cmd/lib.sh"

cd "$work"
"$PYTHON" "$WS_SOURCE/tests/cmd/compute/make_workload.py" load --dispatches 2
explain() { run rocprof-compute analyze -p load --explain "$@"; }

explain 2.1.14
rc_is 0
err_is_empty
out_fits
out_has '2.1.14 IPC (Instr/cycle)'
out_has 'in table 2.1 System Speed-of-Light'
out_has 'Low: waves'
out_has 'AVG(SQ_INSTS / SQ_BUSY_CU_CYCLES)'
grep -q 'SQ_INSTS  *8000000' "$out" || fail "no value of SQ_INSTS"
grep -Eq 'a = SQ_INSTS / SQ_BUSY_CU_CYCLES = 8000000 / [0-9]+ = 0.09' "$out" || fail "no step"
out_has 'Over 6 dispatches'
# the steps lead to what the table prints
told=$(awk '/^Here/ { getline; print $2 }' "$out")
run rocprof-compute analyze -p load -b 2.1.14
grep -q " $told " "$out" || fail "explains $told, which the table does not have"

# A formula of several steps, with a variable.
explain 2.1.9
rc_is 0
out_has '$cu_per_gpu'
grep -q '^  b = ' "$out" || fail "one step only"

# By name, in any case; a name in several tables gives each of them.
explain 'valu utilization'
rc_is 0
out_has '2.1.9 VALU Utilization'
out_has '11.2.3 VALU Utilization'
# Tables, blocks, counters, several at once.
explain 12.1 SQ_WAVES
rc_is 0
out_has '12.1.0 Utilization'
out_has 'SQ_WAVES, a counter: 16384.00 on average over 6 dispatches'
out_has '7.2.2 Instructions per wavefront'
explain lds
rc_is 0
out_has '12.2 LDS Statistics'
# What has no value says why.
explain 2.1.26
rc_is 0
out_has 'no value: '
out_has 'not collected'
# Filters count: one kernel alone.
run rocprof-compute analyze -p load -k 0 --explain 2.1.14
out_has 'Over 2 dispatches'

explain 2.1.99
rc_is 2
err_has "no metric '2.1.99' on gfx90a"
explain 99
rc_is 2
explain gibberish
rc_is 2
err_has "no metric 'gibberish'"
