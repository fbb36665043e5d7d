#!/usr/bin/env bash
# The collector in programs that use the software GPU: every dispatch and copy, and no trace of
# us in what the program does.
#
#	gpu.sh BUILD BEHAVIOUR
set -euo pipefail
build=$1 behaviour=$2
here=$(dirname "$0")
dump=$build/tests/collector/capture-dump
library=$build/lib/libwavescope-collector.so
# a sanitizer's runtime must be there before the library that needs it; HIP's own leaks are not ours
runtime=$(ldd "$library" | awk '/lib[at]san/ { printf "%s:", $3 }')
[ -z "$runtime" ] || export ASAN_OPTIONS=detect_leaks=0
# as in tests/cmd/lib.sh: ROCr 6.1 (Debian 13) uses memory that it has freed while it shuts down
[ -e "$build/lib/libhsakmt.so.1" ] || unset MALLOC_PERTURB_
all=hsa-core,hsa-amd,hsa-image,hsa-finalizer,kernel,memory-copy,memory-allocation,scratch-memory
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAIL: $*" >&2; exit 1; }

# collect SERVICES COMMAND...: the exit code in $code, the captures as text in $work/text
collect() {
	local services=$1
	shift
	rm -rf "$work/run"; mkdir "$work/run"
	code=0
	WAVESCOPE_COLLECT="1;dir=$work/run;services=$services" LD_PRELOAD=$runtime$library HSA_TOOLS_LIB=$library \
		timeout 120 "$build/bin/wavescope" run -- "$@" >"$work/out" 2>"$work/err" || code=$?
	: >"$work/text"
	for file in "$work"/run/*; do
		[ -e "$file" ] && "$dump" "$file" >>"$work/text"
	done
}
has() { [ "$(grep -c -- "$2" "$work/text")" = "$1" ] || fail "$(grep -c -- "$2" "$work/text") times '$2' instead of $1"; }

case $behaviour in
vcopy)
	"$build/bin/wavescope" run -- "$build/samples/vcopy" -n 65536 -b 256 >"$work/bare.out" 2>"$work/bare.err"
	collect $all "$build/samples/vcopy" -n 65536 -b 256
	[ $code = 0 ] || fail "exit code $code"
	cmp "$work/bare.out" "$work/out" || fail "stdout differs"
	cmp "$work/bare.err" "$work/err" || fail "stderr differs"
	[ "$(ls "$work/run" | wc -l)" = 1 ] || fail "captures: $(ls "$work/run")"
	has 1 '^DISPATCH'; has 1 '^DISPATCH.* wg=256,1,1 grid=65536,1,1 '
	has 1 'name=_Z7vecCopyPdS_S_ii.kd'; has 2 '^AGENT id='; has 1 'FILE closed=1'
	has 1 '^AGENT id=2 type=2 .*name=gfx90a product=AMD Instinct MI210 cu=104 .*flags=1$'
	has 2 '^COPY.*bytes=524288'
	# whoever is to tell of it did
	has 1 "^DISPATCH.* ordered=$([ -z "${WAVESCOPE_INTERCEPT:-}" ] && echo 1 || echo 0)\$"
	python3 "$here/check.py" "$work/text" || fail "see above"
	;;
counts)
	# with few services, and enough of them in the air to come back in any order
	collect kernel "$build/tests/collector/launch" 20000 0
	[ $code = 0 ] || fail "exit code $code: $(cat "$work/err")"
	has 21000 '^DISPATCH'; has 0 '^CALL'
	collect kernel "$build/tests/collector/launch" 500 1
	has 1500 '^DISPATCH'
	python3 "$here/check.py" "$work/text" || fail "see above"
	;;
samples)
	for sample in streams graph reduction peer managed; do
		collect $all "$build/samples/$sample"
		[ $code = 0 ] || fail "$sample: exit code $code: $(tail -3 "$work/err")"
		python3 "$here/check.py" "$work/text" || fail "$sample"
	done
	;;
copies)
	collect kernel,memory-copy "$build/tests/hip/copies"
	[ $code = 0 ] || fail "exit code $code: $(tail -3 "$work/err")"
	python3 "$here/check.py" "$work/text" || fail "see above"
	;;
fork)
	collect $all "$build/tests/hip/fork"
	[ $code = 0 ] || fail "exit code $code: $(tail -3 "$work/err")"
	python3 "$here/check.py" "$work/text" || fail "see above"
	;;
kill)
	for i in 1 2; do
		rm -rf "$work/run"; mkdir "$work/run"
		WAVESCOPE_COLLECT="1;dir=$work/run;services=kernel,hsa-core" LD_PRELOAD=$runtime$library \
			HSA_TOOLS_LIB=$library "$build/bin/wavescope" run -- \
			"$build/tests/collector/launch" 100000000 4 >/dev/null 2>&1 &
		pid=$!
		# not before there is something to lose: HIP takes its time to start
		for wait in $(seq 100); do
			[ "$(stat -c %s "$work"/run/* 2>/dev/null || echo 0)" -gt 5500000 ] && break
			sleep 0.1
		done
		sleep "0.$((RANDOM % 3))"
		kill -9 $pid
		wait $pid 2>/dev/null || true
		"$dump" "$work"/run/* >"$work/text"
		grep -q '^DISPATCH' "$work/text" || fail "killed, and no dispatches"
		python3 "$here/check.py" --killed "$work/text" || fail "kill $i"
	done
	;;
abort)
	# what the GPU had done by then is there, also what it did in the last moment
	for i in 1 2 3; do
		for how in abort terminate; do
			collect kernel "$build/tests/collector/aborts" 50 $how
			[ $code = 134 ] || fail "exit code $code: $(cat "$work/err")"
			has 50 '^DISPATCH'; has 1 'FILE closed=0'
		done
	done
	# a real GPU's last moment is seen by whoever looks next; this one tells at once
	for signal in 9 11 15; do
		[ -z "${WAVESCOPE_INTERCEPT:-}" ] || break
		[ $signal != 11 ] || [ -z "$runtime" ] || continue # a sanitizer takes it for its own
		collect kernel "$build/tests/collector/aborts" 50 $signal
		[ $code = $((128 + signal)) ] || fail "exit code $code: $(cat "$work/err")"
		has 50 '^DISPATCH'; has 1 'FILE closed=0'
	done
	;;
cycles)
	[ -z "$runtime" ] || { echo "SKIP: a sanitizer holds freed memory back, which looks like growth"; exit 77; }
	collect $all "$build/tests/collector/cycles" 500
	[ $code = 0 ] || fail "exit code $code: $(cat "$work/err")"
	has 500 '^QUEUE'; has 1 'FILE closed=1'; has 0 'dropped=[1-9]'
	;;
places)
	# every way to reserve a place in a queue; the record has the thread that did
	collect kernel "$build/tests/collector/places"
	[ $code = 0 ] || fail "exit code $code: $(cat "$work/err")"
	has 200 '^DISPATCH.* ordered=1$'; has 1 '^LEDGER.* failed=3'
	[ "$(sed -n 's/^DISPATCH id=\([0-9]*\) .*/\1/p' "$work/text" | sort -u | wc -l)" = 200 ] || fail "a number twice"
	read -r one two <"$work/out"
	for i in $(seq 200); do
		[ "$i" -le 100 ] && tid=$one || tid=$two
		has 1 "^DISPATCH.* tid=$tid .* grid=$((64 * i)),1,1 "
	done
	;;
wrappers)
	# processes without a GPU leave nothing, and the program they start is found
	collect kernel sh -c 'true; true | timeout 60 "$0" -n 1024 -b 64 >/dev/null; exit 9' "$build/samples/vcopy"
	[ $code = 9 ] || fail "exit code $code: $(cat "$work/err")"
	[ "$(ls "$work/run" | wc -l)" = 1 ] || fail "captures: $(ls "$work/run")"
	has 1 '^DISPATCH'
	;;
scratch)
	# events of ROCr 6, from a stand-in: its tables come from itself, or also from AMD's register library
	for way in itself register; do
		rm -rf "$work/run"; mkdir "$work/run"
		WAVESCOPE_COLLECT="1;dir=$work/run;services=scratch-memory" LD_PRELOAD=$runtime$library \
			"$build/tests/collector/scratch_events" "$way" || fail "$way: exit code $?"
		"$dump" "$work"/run/* >"$work/text"
		has 1 '^SCRATCH.* op=1 agent=1 queue=1 flags=0 bytes=4096 times=ok$'
		has 1 '^SCRATCH.* op=1 agent=1 queue=1 flags=1 bytes=1048576 times=ok$'
		has 1 '^SCRATCH.* op=2 agent=1 queue=1 flags=1 bytes=0 times=ok$'
		has 1 '^SCRATCH.* op=3 agent=1 queue=1 flags=2 bytes=0 times=ok$'
		has 4 '^SCRATCH'
	done
	;;
python)
	cat >"$work/hip.py" <<-END
	import ctypes
	hip = ctypes.CDLL("libamdhip64.so.5")
	p = ctypes.c_void_p()
	assert hip.hipMalloc(ctypes.byref(p), ctypes.c_size_t(1 << 20)) == 0
	assert hip.hipMemset(p, 7, ctypes.c_size_t(1 << 20)) == 0
	b = ctypes.create_string_buffer(1 << 20)
	assert hip.hipMemcpy(b, p, ctypes.c_size_t(1 << 20), 2) == 0
	assert b.raw == b"\7" * (1 << 20)
	END
	collect kernel,memory-copy,memory-allocation python3 "$work/hip.py"
	[ $code = 0 ] || fail "exit code $code: $(cat "$work/err")"
	[ "$(ls "$work/run" | wc -l)" = 1 ] || fail "captures: $(ls "$work/run")"
	has 1 '^DISPATCH'; has 1 '^COPY op=3'
	;;
*) fail "no behaviour '$behaviour'" ;;
esac
echo "ok: $behaviour"
