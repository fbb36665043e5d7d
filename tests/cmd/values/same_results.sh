#!/bin/sh
# One program, the same bits: whatever the number of workers and the SIMD level.
. "$WS_SOURCE/tests/cmd/lib.sh"

digest=$WS_BUILD/tests/hip/digest
[ -x "$digest" ] || skip "tests/hip/digest is not built: no hipcc"
need_softgpu

expected=
for gpu in mi210 mi100; do
	expected=
	for setting in WAVESCOPE_WORKERS=1 WAVESCOPE_WORKERS=2 WAVESCOPE_WORKERS=7 \
		WAVESCOPE_SIMD=plain WAVESCOPE_SIMD=avx2 WAVESCOPE_SIMD=avx512; do
		run env "$setting" wavescope run --gpu "$gpu" -- "$digest"
		rc_is 0
		grep -q "matrices *[0-9a-f]" "$out" || fail "$gpu, $setting: no digest"
		[ -n "$expected" ] || expected=$(cat "$out")
		[ "$(cat "$out")" = "$expected" ] || {
			echo "$expected"
			fail "$gpu, $setting: other results than with one worker"
		}
	done
done
