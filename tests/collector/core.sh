#!/usr/bin/env bash
# The collector's core, without a GPU: what is in the capture after each way to live and to end.
#
#	core.sh PROGRAM DUMP BEHAVIOUR
set -euo pipefail
program=$1 dump=$2 behaviour=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# the signals that end the program are its own, also in a sanitized build
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0:handle_sigbus=0:handle_abort=0
fail() { echo "FAIL: $*" >&2; exit 1; }
sanitized() { [[ $(ldd "$program") == *lib[at]san* ]]; }

# collect CODE CONFIG WORDS...: run the program, expect its exit code, dump its captures
collect() {
	local want=$1 config=$2 code=0
	shift 2
	rm -rf "$work/run"
	mkdir "$work/run"
	{ WAVESCOPE_COLLECT="1;dir=$work/run;$config" timeout 120 "$program" "$@" \
		>"$work/out" 2>"$work/err" || code=$?; } 2>/dev/null # bash reports signals, too
	[ "$code" = "$want" ] || fail "exit code $code instead of $want: $(head -c 2000 "$work/err")"
	[ ! -s "$work/err" ] || fail "stderr: $(head -c 2000 "$work/err")"
	: >"$work/text"
	for file in "$work"/run/*; do
		[ -e "$file" ] && "$dump" "$file" >>"$work/text"
	done
	[ -n "${damaged-}" ] || ! grep -q 'DAMAGE any=1' "$work/text" || fail "the capture is damaged"
}
has() { [ "$(grep -c -- "$2" "$work/text")" = "$1" ] || fail "$(grep -c -- "$2" "$work/text") times '$2' instead of $1"; }
ok() { [ "$(cat "$work/out")" = ok ] || fail "output: $(cat "$work/out")"; }
files() { [ "$(ls "$work/run" | wc -l)" = "$1" ] || fail "$(ls "$work/run" | wc -l) captures instead of $1"; }

case $behaviour in
calls)
	collect 7 'services=rccl' calls 1000
	ok; files 1
	has 2000 '^CALL'; has 1 'FILE closed=1'; has 1 '^END'; has 2 '^OPERATION'
	# ids count from 1; inner calls end first and name their outer ones
	awk '/^CALL/ { split($0, w); for (i in w) { split(w[i], kv, "="); v[kv[1]] = kv[2] }
		if (v["end"] < v["start"]) exit 1
		if (++n % 2) { inner = v["corr"]; anc = v["ancestor"]; s = v["start"]; e = v["end"] }
		else if (v["corr"] != anc || v["ancestor"] != 0 || v["corr"] + 1 != inner ||
			 s < v["start"] || e > v["end"] || v["corr"] != n - 1) exit 1 }
	     END { if (n != 2000) exit 1 }' "$work/text" || fail "nesting or ids are wrong"
	;;
nothing)
	# Not asked, nothing used, or a configuration of the future: no file, no words.
	collect 7 'services=rccl' nothing; ok; files 0
	collect 7 'services=kernel' calls 10; ok; files 0
	;;
threads)
	collect 7 'services=rccl' threads 50 200
	ok; has 20000 '^CALL'
	# each thread is named by its last name and ended
	has 50 'ended=1 name=worker'
	[ "$(awk '/^CALL/ { print $2 }' "$work/text" | sort -u | wc -l)" = 50 ] || fail "not 50 threads"
	[ "$(awk '/^CALL/ { print $6 }' "$work/text" | sort | uniq -d | wc -l)" = 0 ] || fail "ids are not unique"
	;;
churn)
	collect 7 'services=rccl' churn 4000
	ok; has 16000 '^CALL'; has 4000 'ended=1'
	# lanes are handed on: four at a time need few chunks
	[ "$(stat -c %s "$work"/run/*)" -lt 20000000 ] || fail "the file is $(stat -c %s "$work"/run/*) bytes"
	;;
fork)
	collect 7 'services=rccl' fork
	ok; files 2
	has 24 '^CALL'; has 1 'flags=2'; has 2 'FILE closed=1'; has 2 'op=4352 kind=14'
	collect 7 'services=rccl;flags=no-children' fork
	ok; files 1; has 14 '^CALL'
	;;
exec)
	collect 7 'services=rccl' exec
	ok; files 2; has 16 '^CALL'; has 1 'FILE closed=1'
	;;
leave)
	for how in exit _exit quick_exit thread; do
		collect 7 'services=rccl' leave $how
		ok; has 1 'FILE closed=1'
		has $([ $how = thread ] && echo 8 || echo 6) '^CALL'
	done
	# bash reports signals as 128 + n
	collect 134 'services=rccl' leave abort; ok; has 6 '^CALL'; has 1 'FILE closed=0'
	collect 137 'services=rccl' leave kill; ok; has 6 '^CALL'; has 1 'FILE closed=0'
	collect 139 'services=rccl' leave segv; ok; has 6 '^CALL'; has 1 'FILE closed=0'
	;;
cut)
	# Truncated under the program: it notices nothing, and the capture tells.
	# (a sanitizer's sigaction() is in front of ours: there the program keeps to the default)
	for handler in none $(sanitized || echo own); do
		for bytes in 0 1000 65536 150000; do
			damaged=1 collect 7 'services=rccl' cut $bytes $handler
			ok; files 1; has 1 '^DAMAGE .*pages_cut=[1-9]'
		done
	done
	# A handler that sends the fault again ends the process, and not only the test's patience.
	[ "$(uname -m)" != x86_64 ] || sanitized || { collect 135 'services=rccl' resend; has 20 '^CALL'; }
	;;
sandbox)
	! sanitized || { echo "SKIP: a sanitizer's runtime opens files when the program ends"; exit 77; }
	for how in exit _exit; do
		collect 7 'services=rccl,marker' sandbox $how
		ok; has 1 'FILE closed=1'; has 80 '^CALL'; has 1 'text=inside$'
		has 1 "name=main's name"; has 1 'name=late name'
	done
	;;
open)
	for how in exit _exit quick_exit; do
		collect 7 'services=marker' open $how
		ok; has 1 'FILE closed=1'
		for text in started 'ended 1' 'ended 2' 'main 1' 'main 2' 'main 3' 'alive 1' 'alive 2' closed; do
			has 1 "^MARKER .*text=$text\$"
		done
		# each with its own thread, and nothing twice
		for text in main alive ended; do
			[ "$(sed -n "s/^MARKER \(tid=[0-9]*\) .*text=$text [0-9]$/\1/p" "$work/text" | sort -u |
				tee -a "$work/tids" | wc -l)" = 1 ] || fail "ranges of $text are of several threads"
		done
		[ "$(sort -u "$work/tids" | wc -l)" = 3 ] || fail "ranges are not with their threads"
		rm "$work/tids"
		[ "$(awk '/^MARKER/ { print $6 }' "$work/text" | sort | uniq -d | wc -l)" = 0 ] || fail "a range is there twice"
	done
	;;
markers)
	collect 7 'services=marker,rccl' markers
	ok; has 7 '^MARKER'; has 6 '^CALL'
	has 1 'op=0 .*text=a mark$'; has 1 'op=1 .*text=outer range$'; has 1 'op=1 .*text=inner range$'
	has 1 'op=2 .*text=first$'; has 1 'op=2 .*text=x\{999\}$'; has 1 'op=256'; has 1 'op=257'
	has 1 'CONTROL on=0'; has 2 'CONTROL on=1'; has 1 'name=a name of its own'
	collect 7 'services=marker,rccl;flags=selected-regions' markers
	has 4 '^CALL'
	;;
periods)
	# a busy machine may let the program do nothing for a fifth of a second, but not each time
	for attempt in 1 2 3; do
		collect 7 'services=marker,rccl;period=200000000:200000000:1' periods 800
		ok; has 1 'CONTROL on=1'; has 2 'CONTROL on=0'
		n=$(grep -c '^CALL' "$work/text") || :
		if [ "$n" -gt 20 ] && [ "$n" -lt 500 ]; then
			break
		fi
		[ $attempt -lt 3 ] || fail "$n calls in a fifth of a second"
	done
	;;
signals)
	collect 7 'services=rccl' signals 2000000
	ok
	lost=$(sed -n 's/LEDGER domain=7 dropped=\([0-9]*\).*/\1/p' "$work/text")
	n=$(grep -c '^CALL' "$work/text")
	[ "$n" -gt 4000000 ] || fail "$n calls, $lost lost: handlers made none"
	[ "$lost" -lt 100 ] || fail "$lost calls of handlers were lost"
	;;
stress)
	collect 7 'services=marker,rccl' stress 1
	ok; has 1 'FILE closed=1'
	grep -q '^CALL' "$work/text" || fail "no calls"
	;;
cycles)
	# nothing is asked at first; then a hundred captures, in each recording is off and on ten times
	mkdir "$work/run"
	code=0
	timeout 120 "$program" cycles 100 "$work/run" >"$work/out" 2>"$work/err" || code=$?
	[ $code = 7 ] || fail "exit code $code: $(cat "$work/out" "$work/err")"
	ok; files 100
	for file in "$work"/run/*-0.wcap "$work"/run/*-99.wcap; do
		"$dump" "$file" >"$work/text"
		has 40 '^CALL'; has 20 '^MARKER'; has 1 'FILE closed=1'; has 2 '^OPERATION'
		! grep -q 'DAMAGE any=1' "$work/text" || fail "$file is damaged"
	done
	;;
attach)
	# the same while 64 threads are inside: each capture is whole, and no thread wrote to an old one
	mkdir "$work/run"
	code=0
	timeout 120 "$program" attach 4 "$work/run" >"$work/out" 2>"$work/err" || code=$?
	[ $code = 7 ] || fail "exit code $code: $(head -c 3000 "$work/out" "$work/err")"
	ok
	[ "$(ls "$work/run" | wc -l)" -gt 10 ] || fail "only $(ls "$work/run" | wc -l) captures"
	n=0
	for file in "$work"/run/*; do
		"$dump" "$file" >"$work/text"
		has 1 'FILE closed=1'
		! grep -q 'DAMAGE any=1' "$work/text" || fail "$file is damaged"
		n=$((n + $(grep -c '^CALL' "$work/text" || true)))
	done
	[ $n -gt 1000 ] || fail "$n calls in all captures"
	;;
kill)
	# random moments: whole records, no id twice
	n_read=0
	for i in $(seq 12); do
		rm -rf "$work/run"; mkdir "$work/run"
		WAVESCOPE_COLLECT="1;dir=$work/run;services=rccl" "$program" threads 4 100000000 &
		pid=$!
		# every other time not before it records, however busy the machine is
		for wait in $(seq $((i % 2 * 5000))); do
			# no program is started for this: the other one records 10 calls in a microsecond
			begun= captures=("$work"/run/*.wcap)
			[ ! -e "${captures[0]}" ] || IFS= read -r -n 1 -d '' begun <"${captures[0]}" || :
			[ -z "$begun" ] || break
			sleep 0.002
		done
		# 10,000 calls per millisecond: they are read as text below
		sleep "0.00$((RANDOM % 10))"
		kill -9 $pid
		wait $pid 2>/dev/null || true
		[ -e "$work"/run/*.wcap ] || continue # killed before its first call
		# killed while it was being made: as cap_unbegun() says, nothing was recorded
		[ -n "$(head -c 8 "$work"/run/*.wcap | tr -d '\0')" ] || continue
		"$dump" "$work"/run/* >"$work/text"
		verdict=$(awk '/^CALL/ { if ($6 in seen) twice = 1; seen[$6]; n[$2] }
			/DAMAGE any=1/ { damaged = 1 }
			END { for (t in n) k++; print (damaged ? "damaged" : twice ? "an id twice" : k > 4 ? "a thread that is none" : k ? "calls" : "") }' \
			"$work/text")
		case $verdict in calls) n_read=$((n_read + 1)) ;; ?*) fail "kill $i: $verdict" ;; esac
	done
	[ $n_read -gt 5 ] || fail "only $n_read of 12 killed programs had recorded a call"
	;;
bad-config)
	for text in 'dir=/nonexistent;services=rccl' 'services=rccl' "dir=$work/out;services=rccl"; do
		code=0
		WAVESCOPE_COLLECT="1;$text" "$program" calls 10 >"$work/out" 2>"$work/err" || code=$?
		[ $code = 7 ] || fail "exit code $code with '$text'"
		ok
		[ "$(grep -c '^wavescope: nothing is recorded' "$work/err")" = 1 ] || fail "no word about '$text': $(cat "$work/err")"
	done
	;;
*) fail "no behaviour '$behaviour'" ;;
esac
echo "ok: $behaviour"
