#!/usr/bin/env bash
# main() and the user interface as regions: what is in the capture, path by path.
#
#	regions.sh BUILD BEHAVIOUR
set -euo pipefail
build=$1 behaviour=$2 here=$(dirname "$0")
program=$build/tests/collector/regions-program
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAIL: $*" >&2; [ ! -e "$work/paths" ] || cat "$work/paths" >&2; exit 1; }

# collect CODE CONFIG WORDS...: run the program with the collector, expect its exit code
collect() {
	local want=$1 config=$2 code=0
	shift 2
	rm -rf "$work/run"; mkdir "$work/run"
	{ timeout 60 env WAVESCOPE_COLLECT="1;dir=$work/run;services=regions$config" \
		LD_PRELOAD=$build/lib/libwavescope-collector.so "$program" "$@" >"$work/out" 2>"$work/err" ||
		code=$?; } 2>/dev/null
	[ $code = $want ] || fail "exit code $code instead of $want: $(cat "$work/err")"
	: >"$work/text"
	for file in $(ls -v "$work"/run/*); do "$build/tests/collector/capture-dump" "$file" >>"$work/text"; done
	! grep -q 'DAMAGE any=1' "$work/text" || fail "the capture is damaged"
	! grep 'LEDGER domain=16' "$work/text" | grep -v 'dropped=0' || fail "records were dropped"
	python3 "$here/regions.py" "$work/text" >"$work/paths" || fail "the records are wrong"
}
# is LINE: this line is there
is() { grep -qxF -- "$1" "$work/paths" || fail "no line '$1'"; }
lines() { [ "$(wc -l <"$work/paths")" = "$1" ] || fail "$(wc -l <"$work/paths") lines instead of $1"; }

case $behaviour in
all)
	collect 7 '' all
	is '0 0 host 1 regions-program'
	is '0 0 user 1 regions-program/outer/left open by its inner one'
	is '0 0 causal 2 regions-program/step'
	a='0 annotation regions-program/annotated kind='
	is "${a}12 0 text text=a text"; is "${a}7 0x4004000000000000 real text="
	is "${a}4 0xfffffffffffffff9 small text="; is "${a}3 0xffff tiny text="
	is "${a}7 0x3fe0000000000000 single text="; is "${a}8 0x1000 where text="
	[ "$(grep -c annotation "$work/paths")" = 7 ] || fail "not 7 values"
	for thread in 1 2; do is "0 $thread user 100 work"; is "0 $thread user 100 work/inner"; done
	# each depth once, also beyond what is remembered
	[ "$(grep -c 'nest$' "$work/paths")" = 300 ] || fail "not 300 levels"
	! grep -q stray "$work/paths" || fail "an end without a beginning"
	! grep -q 'open$' "$work/paths" || fail "something is open"
	;;
pauses)
	collect 7 '' pauses
	is '0 0 user 1 regions-program/over the pause'
	is '0 0 user 1 regions-program/over the pause/after'
	is "0 0 user 1 regions-program/over the thread's pause"
	is '0 0 user 1 regions-program/end'
	lines 5
	# recording is off at first, so main() is not recorded, nor what is begun before
	collect 7 ';flags=selected-regions' pauses
	is '0 0 user 1 after'; is "0 0 user 1 over the thread's pause"; is '0 0 user 1 end'; lines 3
	;;
forks)
	collect 7 '' forks
	is '0 0 user 1 regions-program/before fork'; is '1 0 user 1 in the child'
	is '1 0 user 1 child goes on'; lines 4
	;;
configures)
	collect 7 '' configures
	[ "$(tr '\n' ' ' <"$work/out")" = 'own union own bad own intersection ok ' ] || fail "output: $(cat "$work/out")"
	is '0 0 user 1 regions-program/by the old one'; is '0 0 user 1 regions-program/restored'; lines 3
	;;
killed)
	collect 134 '' killed
	is '0 0 host 1 regions-program open'; is '0 0 user 1 regions-program/open open'
	is '0 0 user 1 regions-program/open/closed'; lines 3
	;;
bare)
	"$program" bare >"$work/out" && fail "exit code 0" || [ $? = 7 ] || fail "without the profiler"
	"$build/tests/collector/regions-cxx" || fail "the C++ program"
	# the profiler without regions binds nothing either
	mkdir "$work/run"
	WAVESCOPE_COLLECT="1;dir=$work/run;services=kernel" LD_PRELOAD=$build/lib/libwavescope-collector.so \
		"$program" bare >"$work/out" && fail "exit code 0" || [ $? = 7 ] || fail "without regions"
	[ -z "$(ls "$work/run")" ] || fail "a capture of nothing"
	;;
esac
