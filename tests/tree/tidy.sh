#!/bin/sh
# clang-tidy finds nothing in any source of ours, and would find a mistake if there were one.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_program clang-tidy

limit_s=280 run "$WS_SOURCE/scripts/tidy" "$WS_BUILD"
rc_is 0
n=$(sed -n 's/^tidy: \([0-9]*\) sources checked$/\1/p' "$out")
[ "${n:-0}" -gt 400 ] || fail "only ${n:-no} sources were checked"

# A project with one mistake of the kind that the checks are for.
mkdir -p "$work/source/scripts" "$work/source/build"
cp "$WS_SOURCE/.clang-tidy" "$work/source/"
cp "$WS_SOURCE/scripts/tidy" "$work/source/scripts/"
cat >"$work/source/wrong.c" <<'X'
int sum(const int *at, unsigned long n)
{
	int total = 0;

	for (unsigned char i = 0; i < n; i++)
		total += at[i];
	return total;
}
X
printf '[{"directory": "%s", "command": "cc -c ../wrong.c",\n"file": "../wrong.c"\n}]\n' "$work/source/build" \
	>"$work/source/build/compile_commands.json"
run "$work/source/scripts/tidy" "$work/source/build"
rc_is 1
out_has "bugprone-too-small-loop-variable"
