#!/bin/sh
# What did not run never counts as passed: a test that ran in part ends with 77, and one whose other
# parts fail ends with 1. And no test leaves a part out without saying so.
. "$WS_SOURCE/tests/cmd/lib.sh"

# A test with these lines; $work is its own.
in_a_test() { run sh -c ". '$WS_SOURCE/tests/cmd/lib.sh'; $1"; }

in_a_test 'part_needs sh && echo there'
rc_is 0
out_is there
in_a_test 'if part_needs no-such-program; then fail; fi; skip_part "no GPU"; echo rest'
rc_is 77
out_is "$(printf 'SKIP: no-such-program is not installed\nSKIP: no GPU\nrest')"
in_a_test 'skip_part "no GPU"; fail "wrong"'
rc_is 1
in_a_test 'skip_part "no GPU"; false'
rc_is 1
in_a_test 'cleanup() { echo cleaned; }; skip_part "no GPU"'
rc_is 77
out_has cleaned
in_a_test 'echo $work; cleanup() { false; }'
rc_is 0
[ ! -e "$(cat "$out")" ] || fail "the folder of a test is left behind"

# Ways to leave something out that nobody counts. lib.sh has the ways that are counted.
grep -rnE --include='*.sh' \
	-e '^[[:space:]]*(if|elif)?[[:space:]]*!?[[:space:]]*command -v [^|]*(; then|\|\| (exit|return|continue|:|true))' \
	-e '(\|\||&&|then)[[:space:]]*exit 0([[:space:]]|$)' \
	"$WS_SOURCE/tests" | grep -vE 'tests/cmd/(lib|scripts/skipped_parts)\.sh:' >"$work/silent" || :
grep -rnE --include='*.c' '(^|[^_a-z])skip\(\);' "$WS_SOURCE/tests" >>"$work/silent" || :
[ ! -s "$work/silent" ] || {
	cat "$work/silent"
	fail "a part is left out without a word: use part_needs, skip_part or unit_skip"
}
