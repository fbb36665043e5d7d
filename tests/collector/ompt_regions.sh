#!/usr/bin/env bash
# OpenMP constructs as regions, with LLVM's runtime: how often, and how they nest.
#
#	ompt_regions.sh BUILD
set -euo pipefail
build=$1 here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAIL: $*" >&2; [ ! -e "$work/paths" ] || cat "$work/paths" >&2; exit 1; }
! [[ $(ldd "$build/lib/libwavescope-collector.so") == *lib[at]san* ]] ||
	{ echo "SKIP: a sanitizer must be loaded first"; exit 77; }
for compiler in clang-14 clang-15 clang; do
	"$compiler" -fopenmp -O1 "$here/ompt_program.c" -o "$work/program" 2>"$work/err" && break
done
[ -x "$work/program" ] || { echo "SKIP: no compiler with LLVM's OpenMP: $(tail -1 "$work/err")"; exit 77; }

# collect LIBRARIES
collect() {
	local code=0
	rm -rf "$work/run"; mkdir "$work/run"
	timeout 60 env WAVESCOPE_COLLECT="1;dir=$work/run;services=regions" LD_PRELOAD="$1" \
		"$work/program" >"$work/out" 2>"$work/err" || code=$?
	[ $code = 7 ] && [ "$(cat "$work/out")" = 8 ] || fail "exit code $code: $(cat "$work/out" "$work/err")"
	"$build/tests/collector/capture-dump" "$work"/run/* >"$work/text"
	! grep -q 'DAMAGE any=1' "$work/text" || fail "the capture is damaged"
	python3 "$here/regions.py" "$work/text" ompt >"$work/paths" || fail "the records are wrong"
}
# times N REGEX: of paths, in all threads together
times() {
	n=$(grep ' ompt [0-9]' "$work/paths" | sed 's/ open$//' | while read -r _ _ _ count path; do
		[[ ! $path =~ $2 ]] || echo "$count"; done | awk '{ n += $1 } END { print n + 0 }')
	[ "$n" = "$1" ] || fail "$n times $2 instead of $1"
}

collect "$build/lib/libwavescope-collector.so:$build/lib/libwavescope-ompt.so"
times 1 '^ompt_thread_initial$'
times 3 '^ompt_thread_worker$'
times 2 'ompt_parallel \[parallelism=4\]$'
times 8 'ompt_implicit_task$'
times 8 'ompt_implicit_task/ompt_work_loop(_static)?$' # since LLVM 18 with the schedule
times 8 'ompt_mutex_critical$'
times 8 'ompt_sync_region_barrier_explicit$'
times 2 '^ompt_thread_initial/ompt_parallel \[parallelism=4\]/ompt_implicit_task$'
# not requested: nothing
collect "$build/lib/libwavescope-collector.so"
[ ! -s "$work/paths" ] || fail "not requested"
