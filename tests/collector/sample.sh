#!/usr/bin/env bash
# Call-stack samples: that they are right, and that the program does not notice them.
#
#	sample.sh BUILD BEHAVIOUR
set -euo pipefail
build=$1 behaviour=$2
here=$(cd "$(dirname "$0")" && pwd)
program=$build/tests/collector/sample-program
dump=$build/tests/collector/capture-dump
libraries=$build/lib/libwavescope-collector.so:$build/lib/libwavescope-sample.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAIL: $*" >&2; exit 1; }
skip() { echo "SKIP: $*"; exit 77; }
case $(uname -m) in x86_64) ;; *) skip "stacks are unwound on x86-64 only" ;; esac
! [[ $(ldd "${libraries%%:*}") == *lib[at]san* ]] || skip "a sanitizer intercepts the same functions"

cpu=cputime=5000000:0:0:0:     # 200 per second of CPU time
real=realtime=1000000:0:0:0:   # 1,000 per second

# collect CODE CONFIG COMMAND...: the last capture as text in $work/text, all in $work/all
collect() {
	local want=$1 config=$2 code=0
	shift 2
	rm -rf "$work/run"; mkdir "$work/run"
	# KILL: its exit code is that of a process that SIGKILL ended
	{ timeout -s KILL ${limit_s:-120} bash -c "${first:-:}"'; exec "$@"' bash env WAVESCOPE_COLLECT="1;dir=$work/run;services=call-stacks;$config" \
		LD_PRELOAD="$libraries" "$@" >"$work/out" 2>"$work/err" || code=$?; } 2>/dev/null
	[ "$code" = "$want" ] || fail "exit code $code instead of $want: $(head -c 2000 "$work/err")"
	[ ! -s "$work/err" ] || fail "stderr: $(head -c 2000 "$work/err")"
	[ "$want" != 7 ] || [ "$(cat "$work/out")" = ok ] || fail "output: $(cat "$work/out")"
	: >"$work/all"
	for file in $(ls -v "$work"/run/*); do
		"$dump" "$file" >"$work/text"
		cat "$work/text" >>"$work/all"
	done
	! grep -q 'DAMAGE any=1' "$work/all" || fail "the capture is damaged"
}
samples() { python3 "$here/samples.py" "$work/text" "$@" || fail "see above"; }
has() { grep -q -- "$1" "$work/text" || fail "no '$1'"; }

case $behaviour in
split)
	# compiled without frame pointers, see meson.build
	collect 7 "$cpu" "$program" split 4
	samples share fifty 50 3 share thirty 30 3 share twenty 20 3 least 500 whole 99 outermost _start
	has '^SAMPLER kind=0 period=5000000 '
	has '^LEDGER domain=14 dropped=0 paused=0 failed=0'
	# what the thread had used grows, up to the four seconds
	awk '/^SAMPLE / { sub(/.*cpu=/, ""); if ($1 + 0 <= cpu) exit 1; cpu = $1 + 0 }
	     END { if (cpu < 3.9e9 || cpu > 4.2e9) exit 1 }' "$work/text" || fail "CPU times are wrong"
	;;
recursion)
	collect 7 "$cpu" "$program" recursion 100
	samples depth recurse 100 order other,recurse,main
	# cut at the configured depth, from the outside
	collect 7 "$cpu;stack-depth=32" "$program" recursion 100
	has '^STACK .* flags=1 native=32 '
	samples order other,recurse
	;;
threads)
	collect 7 "$cpu" "$program" threads 1
	samples share first 50 5 share second 50 5 threads 2 whole 99
	[ "$(grep -c '^THREAD .*ended=1' "$work/text")" = 2 ] || fail "not two threads have ended"
	# by number: 0 is main, then in the order of creation
	collect 7 cputime=5000000:0:0:0:1+3 "$program" chosen 1
	samples share first 50 5 share third 50 5 threads 2
	collect 7 "cputime=5000000:0:0:0:2;realtime=5000000:0:0:0:0" "$program" chosen 1
	samples order second threads 2 order pthread_join,main
	;;
handler)
	collect 7 "$cpu;$real" "$program" handler 1
	samples order in_handler,on_alarm,interrupted,main whole 97
	has '^STACK .* flags=4 '
	;;
own)
	collect 7 "$cpu" "$program" own 1
	samples share other 100 5 least 150
	# 128 + 27: without a handler of the program the signal ends it, as it should
	collect 155 "$cpu" "$program" fatal
	;;
masks)
	collect 7 "$cpu;$real" "$program" masks 0.5
	samples share other 60 40 least 300
	;;
kills)
	# at any moment: what was written is there, whole, and without a gap
	for i in $(seq "${KILLS:-8}"); do
		limit_s=0.$((RANDOM % 80 + 15)) collect 137 "$real" "$program" malloc 60
		has 'FILE closed=0'
		samples steady 1000000 3
	done
	samples order malloc,allocate
	;;
waits)
	collect 7 "$real" "$program" waits
	samples least 1000
	;;
malloc)
	collect 7 "$cpu;$real" "$program" malloc 2
	samples least 2000 threads 5 whole 99 order malloc,allocate
	;;
storm)
	collect 7 "$cpu;$real" "$program" storm 2000
	samples least 2000 whole 98 order short_life
	collect 7 "$real" "$program" cancel
	# more threads than there may be timers: noted once, and the others are sampled. The limit is the user's.
	queued=$(sed -n 's|^SigQ:[^0-9]*\([0-9]*\)/.*|\1|p' /proc/self/status)
	first="ulimit -i $((queued + 60))" collect 7 "$cpu;$real" "$program" storm 100
	[ "$(grep -c '^FACT .*call-stack sampling: the limit of pending signals' "$work/text")" = 1 ] ||
		fail "not one note about the limit of timers"
	samples least 10
	;;
leave)
	limit_s=20 collect 0 "$cpu;$real" "$program" leave
	[ "$(cat "$work/out")" = ok ] || fail "output: $(cat "$work/out")"
	has 'FILE closed=1'
	;;
strict)
	collect 7 "$cpu;$real" "$program" strict
	# the process ends with its main thread, though ours live, and with its status
	limit_s=20 collect 7 "$cpu;$real" "$program" strict-main
	limit_s=20 collect 7 "$cpu;$real" "$program" raw-exit
	samples order main
	limit_s=20 collect 7 "$cpu;services=metrics;monitor=10000000:0:0;monitor-what=process" "$program" raw-exit
	;;
clone)
	collect 7 "$real" "$program" clone 1
	samples order raw,raw_main threads 2 inside raw 45 25 whole 95
	;;
fork)
	collect 7 "$cpu" "$program" fork 1
	samples order child,main whole 99 least 120
	"$dump" "$(ls -v "$work"/run/* | head -1)" >"$work/text"
	samples order parent,main whole 99 least 120
	[ "$(ls "$work/run" | wc -l)" = 2 ] || fail "$(ls "$work/run" | wc -l) captures"
	# a child that is not recorded is not disturbed
	collect 7 "$cpu;flags=no-children" "$program" fork 0.3
	[ "$(ls "$work/run" | wc -l)" = 1 ] || fail "$(ls "$work/run" | wc -l) captures"
	;;
exec)
	collect 7 "$cpu" "$program" exec 1
	samples share fifty 50 6 least 120
	;;
unload)
	collect 7 "$cpu;$real" "$program" unload 100 "$build/tests/collector/libsample-library.so"
	# not whole: samples inside of dlopen() and dlclose(), which take longer beside other work
	samples order library_inner,library_work,main least 100 whole 90
	[ "$(grep -c '^MODULE .*libsample-library.so' "$work/text")" -gt 10 ] || fail "modules are not written again"
	;;
stacks)
	collect 7 "$real" "$program" coroutine 0.5
	samples order routine,routine_main inside routine 97 5
	collect 7 "$real" "$program" jump 0.5
	samples order on_segv,jump,main whole 97
	;;
sandbox)
	collect 7 "$cpu;$real" "$program" sandbox 0.5
	samples order other,main least 60 whole 95
	;;
exceptions)
	collect 7 "$cpu;$real" "$build/tests/collector/sample-exceptions" 1
	samples order main order _Z7descendi,main least 200 whole 97
	;;
kill)
	limit_s=1 collect 137 "$real" "$program" spin
	samples share other 100 3 least 300 whole 99
	has 'FILE closed=0'
	;;
window)
	# begins after half a second, and ends half a second later: about 100 samples
	collect 7 realtime=5000000:500000000:500000000:0: "$program" split 1.2
	samples least 40 most 115 whole 99
	# a period of recording switches samples, too: about 60
	collect 7 "realtime=5000000:0:0:0:;period=300000000:300000000:1" "$program" split 0.8
	samples least 15 most 80
	has '^LEDGER domain=14 dropped=0 paused=[1-9]'
	# of CPU time: the samples are those of a stretch of it
	collect 7 "$cpu;period=300000000:300000000:1:cpu" "$program" split 0.9
	# beside other tests the thread that ends it is late
	samples least 30 most 90
	awk '/^SAMPLE / { sub(/.*cpu=/, ""); if ($1 + 0 < 2.8e8 || $1 + 0 > 7.5e8) exit 1 }' "$work/text" ||
		fail "samples at other CPU times"
	;;
overflow)
	# task-clock: nanoseconds, counted by the kernel itself, so that any machine has it
	collect 7 'overflow=5000000:0:0:0:;overflow-event=1:1:task-clock' "$program" split 2
	! grep -q '^FACT .*perf events are not permitted' "$work/text" || skip "perf events are not permitted"
	samples share fifty 50 4 share thirty 30 4 least 200 whole 99
	has '^SAMPLER kind=2 period=5000000 event=task-clock'
	# what cannot be counted is noted once, and the other samplers work
	collect 7 "$cpu;overflow=1000:0:0:0:;overflow-event=99999:1:nothing" "$program" threads 0.5
	[ "$(grep -c '^FACT .*sampling by overflow: ' "$work/text")" = 1 ] || fail "not one note"
	samples least 60 threads 2
	;;
counts)
	events='cpu-event=1:2:page-faults;cpu-event=1:1:task-clock'
	# 8,000 pages, and the few that the threads need otherwise
	collect 7 "$cpu;$events" "$program" counts
	! grep -q '^FACT .*CPU events: .* not permitted' "$work/text" || skip "perf events are not permitted"
	has '^SAMPLER kind=0 period=5000000 event= counts=page-faults,task-clock'
	samples threads 2 uncounted 0 total 0 8000 8500
	# nanoseconds that agree with the thread's clock, but for what a virtual machine's host takes: that is in one of them
	awk '/^SAMPLE / { match($0, /cpu=[0-9]+/); cpu = substr($0, RSTART + 4, RLENGTH - 4)
			  match($0, /count1=[0-9]+/); count = substr($0, RSTART + 7, RLENGTH - 7)
			  if (!($2 in n)) first[$2] = cpu - count
			  n[$2]++; behind = cpu - count - first[$2]; most = 2e7 + cpu / 4
			  if (behind > most || behind < -most) { print "behind by " behind; bad = 1; exit }
	     } END { for (t in n) if (n[t] < 10 && !bad) { print n[t] " samples"; bad = 1 }
		     exit bad }' "$work/text" || fail "CPU times are wrong"
	# what cannot be counted is noted once, and the others have their names
	collect 7 "$cpu;cpu-event=99999:1:nothing;cpu-event=1:2:page-faults;cpu-event=99999:2:void" "$program" counts
	[ "$(grep -c '^FACT .*CPU events: nothing, void is not counted: this machine' "$work/text")" = 1 ] || fail "not one note"
	has ' counts=page-faults$'
	samples uncounted 0 total 0 8000 8500
	# few descriptors: the program has most of them, and threads without are noted once
	first='ulimit -n 64' collect 7 "$cpu;$real;$events" "$program" storm 40
	[ "$(grep -c '^FACT .*CPU events: the limit of open files' "$work/text")" = 1 ] || fail "not one note of the limit"
	samples least 10
	# a program that closes them and uses their numbers loses nothing
	first='ulimit -n 256' collect 7 "$cpu;$real;$events" "$program" reuse
	samples least 50
	# the child of a fork counts for itself
	collect 7 "$cpu;$events" "$program" fork 0.2
	samples threads 1 uncounted 0
	;;
python)
	# every version that there is: those of pyenv, if that is installed, besides the system's
	n=0
	for python in /usr/bin/python3.{9..13} "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.{9,1[0-3]}.*/bin/python3; do
		[ -x "$python" ] || continue
		collect 7 "$cpu" "$python" "$here/sample_python.py" 0.6
		inner=Outer.inner method=Outer.method run=Thread.run
		case $(sed -n 's/^PYTHON .*version=\([0-9a-f]*\) .*/\1/p' "$work/text" | head -1) in
		309 | 30a) inner=inner method=method run=run ;; # they have no qualified names
		30[bcd]) ;;
		*) fail "$python: no Python code was recorded" ;;
		esac
		samples python "busy,$inner,$method,recurse,recurse,recurse,recurse,recurse,recurse,main,<module>" \
			python "busy,naïve,$run" entries 95 whole 99 threads 2 least 100
		has "^PYTHON .* line=8 .*name=busy file=$here/sample_python.py"
		n=$((n + 1))
	done
	[ $n -gt 0 ] || skip "no Python between 3.9 and 3.13 is installed"
	;;
*)
	fail "no such behaviour: $behaviour"
	;;
esac
