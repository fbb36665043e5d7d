#!/usr/bin/env bash
# Locks, barriers and joins as regions: how often, in which threads, and only those requested.
#
#	pthread_regions.sh BUILD
set -euo pipefail
build=$1 here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAIL: $*" >&2; [ ! -e "$work/paths" ] || cat "$work/paths" >&2; exit 1; }
! [[ $(ldd "$build/lib/libwavescope-collector.so") == *lib[at]san* ]] ||
	{ echo "SKIP: a sanitizer intercepts the same functions"; exit 77; }
libraries=$build/lib/libwavescope-collector.so:$build/lib/libwavescope-waits.so:$build/lib/libwavescope-locks.so

# collect CODE FLAGS COMMAND...
collect() {
	local want=$1 flags=$2 code=0
	shift 2
	rm -rf "$work/run"; mkdir "$work/run"
	timeout 20 env WAVESCOPE_COLLECT="1;dir=$work/run;services=regions;flags=$flags" LD_PRELOAD="$libraries" \
		"$@" >"$work/out" 2>"$work/err" || code=$?
	[ $code = $want ] || fail "exit code $code instead of $want: $(cat "$work/err")"
	: >"$work/text"
	for file in $(ls -v "$work"/run/*); do "$build/tests/collector/capture-dump" "$file" >>"$work/text"; done
	! grep -q 'DAMAGE any=1' "$work/text" || fail "the capture is damaged"
	python3 "$here/regions.py" "$work/text" pthread >"$work/paths" || fail "the records are wrong"
}
# times N NAME: in all threads together
times() {
	n=$(awk -v name="$2" '$3 == "pthread" && $5 == name { n += $4 } END { print n + 0 }' "$work/paths")
	[ "$n" = "$1" ] || fail "$n times $2 instead of $1"
}
program=$build/tests/collector/pthread-program

collect 7 thread-barriers,thread-join "$program"
times 4 pthread_join; times 12 pthread_barrier_wait
[ "$(wc -l <"$work/paths")" = 5 ] || fail "more than barriers of four threads and joins of one"
! grep -q 'open$' "$work/paths" || fail "something is open"

collect 7 thread-locks "$program"
times 41 pthread_mutex_lock; times 41 pthread_mutex_unlock; times 1 pthread_mutex_trylock; times 1 pthread_mutex_timedlock
times 0 pthread_join; times 0 pthread_spin_lock

collect 7 thread-rw-locks,thread-spin-locks "$program"
times 20 pthread_rwlock_rdlock; times 4 pthread_rwlock_wrlock; times 24 pthread_rwlock_unlock
times 28 pthread_spin_lock; times 28 pthread_spin_unlock; times 0 pthread_mutex_lock

# nothing requested: nothing recorded
collect 7 '' "$program"
[ ! -s "$work/paths" ] || fail "not requested"

# programs of others, whose threads and allocators lock early and late
all=thread-locks,thread-rw-locks,thread-spin-locks,thread-barriers,thread-join
seq 20000 -1 1 >"$work/numbers"
collect 0 $all sort --parallel=4 -n "$work/numbers"
cmp -s "$work/out" <(seq 1 20000) || fail "sort does not sort"
collect 0 $all "$(python3 -c 'import sys; print(sys.executable)')" -c '
import sys, threading
t = [threading.Thread(target=sys.stdout.write, args=("%d\n" % i,)) for i in range(8)]
for x in t: x.start()
for x in t: x.join()'
[ "$(sort -n "$work/out" | tr '\n' ' ')" = '0 1 2 3 4 5 6 7 ' ] || fail "Python's threads"
