#!/bin/sh
# doctor --selftest counts kernels whose counters are known by construction, and says which are not as they must be.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
[ -x "$WS_BUILD/lib/fidelity-kernels" ] || { echo "SKIP: no clang for amdgcn, so no kernels"; exit 77; }
# A compiler that takes no time: nothing here depends on it.
mkdir "$work/quick"
printf '#!/bin/sh\necho HIP version: 5.2\n' >"$work/quick/hipcc"
chmod +x "$work/quick/hipcc"
PATH=$work/quick:$PATH

run wavescope doctor --selftest
rc_is 0
err_is_empty
out_has "287 of 287 values equal"
grep -q '^  SQ_INSTS_VALU  *68  *68  *0$' "$out" || fail "SQ_INSTS_VALU of 68 kernels"
! grep -q '^Different' "$out" || fail "differences, and all are equal"
is "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'wavescope-selftest-*' -newer "$work/quick/hipcc" | wc -l)" 0 "folders left"

# By packets of a library that does not have all events: no value is taken for one.
[ -e "$WS_BUILD/tests/collector/aqlprofile/libhsa-amd-aqlprofile64.so.1" ] || {
	skip_part "no stand-in for aqlprofile in this build"
	exit 0
}
LD_LIBRARY_PATH=$WS_BUILD/tests/collector/aqlprofile${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH WAVESCOPE_COUNTERS=aqlprofile
run wavescope doctor --selftest
rc_is 1
grep -q '^  add_f32  *SQ_INSTS_VALU  *256  *no value$' "$out" || fail "a kernel that was not counted"
out_has "0 of 287 values equal"
out_has "GPU 0 counts nothing: aqlprofile does not have event" # the stand-in has no SPI

run wavescope doctor --selftest --json
rc_is 2
err_has "--json and --selftest exclude each other"
