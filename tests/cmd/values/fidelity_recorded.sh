#!/bin/sh
# Every counter that was recorded on an MI200 and an MI100 (tests/recorded) is compared, and
# docs/fidelity.md publishes what comes out.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_softgpu
[ -x "$WS_BUILD/lib/fidelity-kernels" ] || skip "fidelity-kernels is not built"

mkdir "$work/recorded"
unpack_recording MI200 recorded/MI200
unpack_recording MI100 recorded/MI100
limit_s=280 # 20 s on an idle machine
run wavescope fidelity --recorded "$work/recorded" --markdown
rc_is 0
err_is_empty
out_has '| kernel | mi210 exact, equal | modelled | mi100 exact, equal | modelled |'
out_has '| lds conflicts | 96 of 96 | - | 96 of 96 | - |'
grep -Eq '^\| duration_ns \|( [0-9]+ \([+-][0-9.]+ %\) \|){6}$' "$out" || fail "no durations"
grep -v '^ *$' "$out" >"$work/lines"
[ "$(wc -l <"$work/lines")" -gt 250 ] || fail "too few lines"
# -x: whole lines; what is left is printed here and not published
grep -vxF -f "$WS_SOURCE/docs/fidelity.md" "$work/lines" >"$work/unpublished" || :
[ ! -s "$work/unpublished" ] || {
	head -20 "$work/unpublished"
	fail "docs/fidelity.md has other values"
}
