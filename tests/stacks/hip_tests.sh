#!/bin/sh
# The programs of tests/hip on a GPU that the HIP of a stack knows: run in it (scripts/test-stacks does so).
#
#   hip_tests.sh PROGRAMS ARCH MODEL
#
# Compiles them with the stack's hipcc into PROGRAMS/hip-ARCH, where the output of a failure is, too. Prints one line.
set -u
# without those of libraries that the stacks do not have
tests='
assert atomics callbacks cooperative copies counting devmalloc digest faults fork graphs half hostmem intdiv ipc lds malformed managed math
memset module occupancy oom pinned printf replay rtc sampling scratch sleeping spinning streams waveops
'
# HIP 7 returns an error where a kernel faults or an assertion fails, and earlier versions end the program; it copies by
# a kernel of its own, which is counted; a thread that waits takes a third of a core and more.
not_on_hip7='assert faults managed replay streams'

root=$(cd "$(dirname "$0")/../.." && pwd)
dir=${1:?usage: hip_tests.sh PROGRAMS ARCH MODEL}/hip-$2 arch=$2 model=$3
mkdir -p "$dir"
cd "$root" || exit 1
libraries='-lhsa-runtime64 -ldl -lpthread'
hip=$(echo /usr/lib/*/libamdhip64.so.?)
if [ "${hip##*.}" -ge 6 ]; then
	libraries="$libraries -lhiprtc"
	skipped=$not_on_hip7
else
	skipped=
fi

# compile NAME: by contents, because a checkout changes times. With -g: faults expects lines of its source.
compile() {
	cat samples/check.h tests/hip/hiptest.h "tests/hip/$1.hip.cpp" >"$dir/$1.new"
	[ -x "$dir/$1" ] && cmp -s "$dir/$1.new" "$dir/$1.source" && return
	# shellcheck disable=SC2086
	hipcc --offload-arch="$arch" -O2 -g -std=c++17 -I. -Itests/hip -o "$dir/$1" "tests/hip/$1.hip.cpp" $libraries \
		>"$dir/$1.out" 2>&1 && mv "$dir/$1.new" "$dir/$1.source"
}

begin=$(date +%s%N)
failures='' n=0
hipcc --genco --offload-arch="$arch" -O2 -I. -o "$dir/module_code.co" tests/hip/module_code.hip.cpp \
	>"$dir/module_code.out" 2>&1 || failures=' module_code'
for name in $tests; do
	case " $skipped " in *" $name "*) continue ;; esac
	case $name in module | malformed) code=$dir/module_code.co ;; *) code= ;; esac
	rc=0
	compile "$name" && WAVESCOPE_GPU=$model timeout 120 wavescope run -- "$dir/$name" ${code:+"$code"} \
		>"$dir/$name.out" 2>&1 || rc=$?
	case $rc in 0 | 77) n=$((n + 1)) ;; *) failures="$failures $name" ;; esac
done
[ -z "$failures" ] && word=ok || word=FAILED
printf '  %-16s %-12s %5d ms  %s\n' "hip@$model" $word $((($(date +%s%N) - begin) / 1000000)) \
	"$n programs${failures:+, but not$failures}${skipped:+; not with HIP 7: $skipped}"
[ -z "$failures" ]
