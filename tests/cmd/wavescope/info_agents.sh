#!/bin/sh
# info shows the software GPUs that were asked for, with their numbers.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_softgpu

run wavescope info --gpu mi210
rc_is 0
out_has 'HSA System Attributes'
out_has '*** Done ***'
grep -q '^  Name:  *gfx90a *$' "$out" || fail "no gfx90a"
grep -q '^  Compute Unit:  *104 *$' "$out" || fail "not 104 CUs"
grep -q '^  Wavefront Size:  *64(0x40) *$' "$out" || fail "not wave64"

# A reader that has seen enough is no error of ours; sixteen GPUs overflow the pipe.
many=mi210,mi210,mi210,mi210,mi210,mi210,mi210,mi210
run sh -c "wavescope info --gpu $many,$many | head -n 1"
rc_is 0
err_is_empty

run wavescope info --gpu mi100,mi250x --brief
rc_is 0
[ "$(grep -c ' GPU  gfx908 .* 120 CUs' "$out")" = 1 ] || fail "not one mi100"
[ "$(grep -c ' GPU  gfx90a .* 110 CUs' "$out")" = 2 ] || fail "not two dies of a mi250x"

run wavescope doctor
rc_is 0
grep -q '^  yes  ROCr starts on it' "$out" || fail "doctor disagrees"
