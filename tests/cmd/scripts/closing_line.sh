#!/bin/sh
# scripts/test counts every test of every tree, once, and its exit code is honest.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_program meson
need_program ninja

# A project of its own, so that nothing here depends on our suite.
project() {
	mkdir -p "$work/$1"
	{
		echo "project('t')"
		echo "sh = find_program('sh')"
		n=0
		for code in $2; do
			n=$((n + 1))
			echo "test('t$n', sh, args: ['-c', 'echo SKIP: because $n; echo SKIP: and $n; exit $code'],"
			echo "  suite: 's$code')"
		done
	} >"$work/$1/meson.build"
	meson setup "$work/$1/b" "$work/$1" >/dev/null
}

expect() {
	want=$1
	line=$2
	shift 2
	run "$WS_SOURCE/scripts/test" "$@"
	rc_is "$want"
	[ "$(tail -1 "$out")" = "$line" ] || fail "last line is not '$line'"
}

project good '0 0 0'
project mixed '0 1 77 0 3 77'
project none ''
project skips '77 77'
expect 0 '3 passed, 0 failed, 0 skipped' "$work/good/b"
[ "$(cat "$work/good/b/test-summary.txt")" = '3 passed, 0 failed, 0 skipped' ] || fail summary
expect 1 '5 passed, 2 failed, 2 skipped' "$work/good/b" "$work/mixed/b"
out_has 't3: SKIP: because 3'
out_has 't3: SKIP: and 3'
out_has 't2: FAIL'
# One suite of a tree.
expect 0 '5 passed, 0 failed, 0 skipped' "$work/good/b" "$work/mixed/b:s0"
# Nothing passed is no success, whatever the reason.
expect 1 '0 passed, 0 failed, 2 skipped' "$work/skips/b"
run "$WS_SOURCE/scripts/test" "$work/none/b"
rc_is 1
# A tree that does not build and a suite that is not there show in the numbers.
mkdir "$work/broken"
expect 1 '3 passed, 2 failed, 0 skipped' "$work/good/b" "$work/broken" "$work/mixed/b:nosuch"
