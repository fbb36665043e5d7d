#!/usr/bin/env bash
# Instrumented programs: output and exit code as without, and each call recorded once.
#
#	instrument.sh BUILD SOURCE VARIANT
set -euo pipefail
build=$1 source=$2 variant=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAIL: $*" >&2; exit 1; }
skip() { echo "SKIP: $*"; exit 77; }
cc=${CC:-cc} cxx=${CXX:-c++}
instrument=$build/bin/rocprof-sys-instrument dump=$build/tests/collector/capture-dump
libraries=$build/lib/libwavescope-collector.so:$build/lib/libwavescope-regions.so
services=regions
! [[ $(ldd "${libraries%%:*}") == *lib[at]san* ]] || skip "a sanitizer must be linked with the program"
command -v "$cc" >/dev/null || skip "no C compiler"
cd "$work"

# compile FLAGS...: program and library; exceptions.cpp likewise
compile() {
	"$cc" -g "$@" "$source/program.c" -o program -lm -lpthread -ldl
	# shellcheck disable=SC2046
	"$cc" -g $(printf '%s\n' "$@" | grep -v mnop) -shared -fPIC "$source/library.c" -o library.so
}

# record WORDS...: the program bare and instrumented, and what was recorded as text
record() {
	local program=$1 bare=0 code=0
	shift
	"./$program" "$@" >bare.out 2>bare.err || bare=$?
	# shellcheck disable=SC2086
	"$instrument" -v -1 -i 1 --print-dir lists -f -o "$program.inst" ${load-} -- "./$program" 2>instrument.err ||
		fail "instrument: $(cat instrument.err)"
	rm -rf run
	mkdir run
	LD_PRELOAD=$libraries WAVESCOPE_COLLECT="1;dir=$work/run;services=$services" \
		timeout 60 "./$program.inst" "$@" >inst.out 2>inst.err || code=$?
	[ "$code" = "$bare" ] || fail "exit code $code instead of $bare: $(head -c 2000 inst.err)"
	diff bare.out inst.out >&2 || fail "the output differs"
	[ ! -s inst.err ] || fail "stderr: $(head -c 2000 inst.err)"
	: >text
	for file in run/*; do
		"$dump" "$file" >>text
	done
	! grep -q 'DAMAGE any=1' text || fail "the capture is damaged"
	python3 "$source/check.py" text inst.out || fail "wrong records"
}

case $variant in
c)
	for flags in -O0 -O2 -O3 -Os "-O2 -fcf-protection=full" "-O2 -fomit-frame-pointer -no-pie -fno-pic" \
		"-O2 -fpatchable-function-entry=16,8" "-O2 -fpatchable-function-entry=5" "-O2 -flto"; do
		echo "== $flags"
		# shellcheck disable=SC2086
		compile $flags
		load='--load ./library.so' record program ./library.so
		grep -q 'name=library_inner' text || fail "the library was not instrumented"
	done
	;;
compiled)
	for flags in "-O2 -finstrument-functions" "-O2 -pg" "-O2 -pg -mfentry" "-O0 -pg" "-O2 -pg -mfentry -mrecord-mcount -mnop-mcount -fno-pic -no-pie"; do
		echo "== $flags"
		# shellcheck disable=SC2086
		compile $flags
		load='--load ./library.so' record program ./library.so
	done
	;;
c++)
	command -v "$cxx" >/dev/null || skip "no C++ compiler"
	for flags in -O0 "-O2 -fcf-protection=full" "-O2 -finstrument-functions" "-O2 -pg"; do
		echo "== $flags"
		# shellcheck disable=SC2086
		"$cxx" -g $flags "$source/exceptions.cpp" -o exceptions -lpthread
		record exceptions
	done
	;;
first)
	# functions that begin with a call, a RIP-relative operand, a branch, a loop to themselves
	for flags in "" "-no-pie"; do
		# shellcheck disable=SC2086
		"$cc" -g -O2 $flags "$source/first.c" "$source/first.S" -o first
		record first
		grep -q 'into_middle .*jump between' lists/excluded.txt || fail "a jump into the patch was not seen"
		grep -q 'too_short .*too short' lists/excluded.txt || fail "a short function was not refused"
		grep -q 'has_loop .*cannot be moved' lists/excluded.txt || fail "loop was not refused"
	done
	;;
vectors)
	# vector arguments and results, while chunks of records are changed; a handler that jumps out
	grep -qw avx2 /proc/cpuinfo || skip "the processor has no AVX2"
	"$cc" -g -O2 -mavx2 "$source/vectors.c" -o vectors -lpthread
	record vectors
	if grep -qw avx512f /proc/cpuinfo; then
		"$cc" -g -O2 -mavx512f -mprefer-vector-width=512 "$source/vectors.c" -o vectors -lpthread
		record vectors
	fi
	;;
samples)
	# call stacks of instrumented functions: whole, and without the places that returns go through
	"$cc" -g -O2 "$source/spin.c" -o spin
	libraries=$build/lib/libwavescope-sample.so:$libraries
	services='regions,call-stacks;cputime=1000000:0:0:0:'
	record spin 60000
	python3 "$source/stacks.py" text spin.inst || fail "wrong stacks"
	;;
foreign)
	# programs of the system, with all their functions
	printf 'create table t(a,b); insert into t values(1,2),(3,4); select sum(a*b), count(*) from t;' >q.sql
	printf 'x%.0s' {1..5000} >data
	run() {
		local name=$1
		shift
		command -v "$name" >/dev/null || { echo "no $name"; return 0; }
		echo "== $name"
		"$name" "$@" >bare.out 2>bare.err </dev/null || true
		"$instrument" -v -1 -i 1 --print-dir lists -- "$name" "$@" >inst.out 2>inst.err </dev/null || true
		cmp bare.out inst.out || fail "$name: the output differs: $(tail -5 inst.err)"
		grep -q '^ *regions  *[1-9]' inst.err || fail "$name: nothing was recorded: $(tail -5 inst.err)"
	}
	export ROCPROFSYS_USE_ROCM=false ROCPROFSYS_USE_PROCESS_SAMPLING=false ROCPROFSYS_TRACE=false ROCPROFSYS_PROFILE=true
	run gzip -c data
	run bash -c 'for i in 1 2 3; do echo $((i * i)); done; x=$(echo sub); echo "$x" | tr a-z A-Z; [[ abc =~ b ]] && echo yes'
	run sqlite3 :memory: 'create table t(a,b); insert into t values(1,2),(3,4); select sum(a*b), count(*) from t'
	# where python3 is a script, what it starts
	run "$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')" -S -c 'import json, re; print(json.dumps({"a": [1, 2.5, None]}), re.sub("b+", "-", "abbbc"), sum(i * i for i in range(1000)))'
	;;
*)
	fail "unknown variant $variant"
	;;
esac
