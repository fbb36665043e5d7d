#!/bin/sh
# PC samples by ROCr against the software GPU's own service, sample by sample: run in a stack with ROCr 7.0 or later
# (scripts/test-stacks does so).
#
#   pc_sampling.sh PROGRAMS
#
# PROGRAMS has vcopy and reduction for gfx90a and gfx942, and for gfx950 where HIP knows it. With WAVESCOPE_COUNTERS=aqlprofile AMD's trap handler writes the samples,
# and ROCr reads them. Prints a line per program, GPU and method; the exit code is 1 if samples differ, and 77 if
# this ROCr does not have the functions.
set -u
here=$(cd "$(dirname "$0")" && pwd)
cd "${1:?usage: pc_sampling.sh PROGRAMS}" || exit 1
version=$(readlink -f /usr/lib/*/libhsa-runtime64.so.1)
version=${version#*.so.1.}
[ "${version%%.*}" -ge 18 ] || {
	printf '  %-14s %-14s           %s\n' pc-sampling "not supported" "ROCr 1.$version has no PC sampling that works"
	exit 77
}
rm -rf r/pcs
mkdir -p r/pcs
failed=0

# sample PROGRAM GPU METHOD UNIT INTERVAL
sample() {
	begin=$(date +%s%N)
	for by in service aqlprofile; do
		WAVESCOPE_GPU=$2 WAVESCOPE_COUNTERS=$by timeout 120 rocprofv3 --pc-sampling-beta-enabled \
			--pc-sampling-method "$3" --pc-sampling-unit "$4" --pc-sampling-interval "$5" \
			-f json -d r/pcs -o "$1-$2-$3-$by" -- "./$1" >"r/pcs/$1-$2-$3-$by.log" 2>&1 || {
			printf '  %-14s %-14s           %s\n' "pcs-$1" FAILED "$2, $3: rocprofv3 ended with $?"
			failed=1
			return
		}
	done
	found=$(python3 "$here/pc_samples.py" "r/pcs/$1-$2-$3-service_results.json" "r/pcs/$1-$2-$3-aqlprofile_results.json" "$3" \
		2>"r/pcs/$1-$2-$3.differences") && word=ok || word=FAILED failed=1
	printf '  %-14s %-14s %5d ms  %s, %s: %s\n' "pcs-$1" $word $((($(date +%s%N) - begin) / 1000000)) "$2" "$3" "$found"
	sed 's/^/        /' "r/pcs/$1-$2-$3.differences"
}

for program in vcopy reduction; do
	sample $program mi210 host_trap time 1
	sample $program mi300x host_trap time 1
	sample $program mi300x stochastic cycles 256
done
sample vcopy mi300a stochastic cycles 256
[ ! -e vcopy.archs ] || grep -q gfx950 vcopy.archs && sample vcopy mi355x stochastic cycles 256
exit $failed
