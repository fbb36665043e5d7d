#!/bin/sh
# The counters of known kernels are what they have to be; with recordings all of them are compared.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_softgpu
[ -x "$WS_BUILD/lib/fidelity-kernels" ] || skip "fidelity-kernels is not built: no hipcc"

run wavescope fidelity --gpu mi210
rc_is 0
out_has 'mi210 against MI200'
out_has 'lds stride 32'
grep -Eq '^vcopy +2 +SQ_INSTS_VALU +163840 +163840 +\+0.0% +exact$' "$out" || fail "no exact SQ_INSTS_VALU"
grep -q OFF "$out" && fail "an exact counter is off"

run wavescope fidelity --gpu mi50
rc_is 2
err_has "no recordings of 'mi50'"

run wavescope fidelity --recorded "$work/nowhere"
rc_is 1
err_has "no recordings in '$work/nowhere/MI200'"

# a recording that says something else is noticed
mkdir -p "$work/rec/MI200"
printf 'Kernel_Name,SQ_WAVES,TCC_HIT_sum\n"a, b",1,2.0\n"a, b",16384,2.0\n"a, b",16384,2.0\n' > "$work/rec/MI200/pmc_perf.csv"
run wavescope fidelity --gpu mi210 --recorded "$work/rec"
rc_is 1
grep -Eq '^vcopy +0 +SQ_WAVES +1 +16384 .*OFF$' "$out" || fail "a wrong exact counter is not reported"
grep -Eq '^vcopy +1 +SQ_WAVES +16384 +16384 +\+0.0% +exact$' "$out" || fail "the second row was not read"
