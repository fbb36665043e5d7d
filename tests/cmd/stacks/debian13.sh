#!/bin/sh
# This build under another ROCm, in a Debian 13 that scripts/stack made: rocminfo, samples, a trace and a count.
# The commands run here, the program and the libraries that are loaded into it run there.
WAVESCOPE_STACKS=${WAVESCOPE_STACKS:-${XDG_CACHE_HOME:-$HOME/.cache}/wavescope/stacks}
export WAVESCOPE_STACKS
. "$WS_SOURCE/tests/cmd/lib.sh"
! grep -qx VERSION_CODENAME=trixie /etc/os-release 2>/dev/null ||
	skip "this is Debian 13: all other tests ran under its ROCm"
[ -e "$WAVESCOPE_STACKS/trixie/.complete" ] ||
	skip "Debian 13 is not covered: 'scripts/stack trixie' sets its ROCm up, once (docs/stacks.md)"
need_tracing
case $WS_BUILD/ in "$WS_SOURCE"/*) ;; *) skip "$WS_BUILD is not inside the source tree, which a stack shows" ;; esac
stack=$WS_SOURCE/scripts/stack
run "$stack" trixie cat /etc/debian_version
[ "$rc" -eq 0 ] || skip "the stack cannot be entered: $(cat "$err")"
grep -q '^13' "$out" || fail "not Debian 13"

kfd=$WS_BUILD/lib/libwavescope-kfd.so
run "$stack" trixie env LD_PRELOAD="$kfd" WAVESCOPE_GPU=mi210,mi100 rocminfo
rc_is 0
out_has 'AMD Instinct MI210'
out_has 'AMD Instinct MI100'
# GPUs that this ROCr knows and Debian 12's does not, as rocminfo prints them on such boards.
run "$stack" trixie env LD_PRELOAD="$kfd" WAVESCOPE_GPU=mi300x,mi300a rocminfo
rc_is 0
awk '/^Agent 2/ { on = 1 } on' "$out" >dies
for line in 'Name: gfx942' 'Compute Unit: 304' 'Compute Unit: 228' 'Shader Engines: 32' 'Shader Engines: 24' \
	'Chip ID: 29857(0x74a1)' 'Max Clock Freq. (MHz): 2100' 'L1: 32(0x20) KB' 'L2: 4096(0x1000) KB' 'L2: 24576(0x6000) KB' \
	'L3: 262144(0x40000) KB' 'Size: 201310208(0xbffc000) KB' 'Size: 134217728(0x8000000) KB' 'Coherent Host Access: TRUE' \
	'Max Waves Per CU: 32(0x20)' 'Name: amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-'; do
	sed 's/^ *//; s/:  */: /; s/ *$//' dies | grep -Fxq "$line" || fail "rocminfo does not say '$line'"
done
run "$stack" trixie env LD_PRELOAD="$kfd" WAVESCOPE_GPU=mi300x:cpx/nps4 rocminfo
rc_is 0
is "$(grep -c 'Compute Unit: *38 ' "$out")" 8 "partitions"
for sample in vcopy reduction streams peer; do
	run "$stack" trixie env LD_PRELOAD="$kfd" WAVESCOPE_GPU=mi210,mi210 "$WS_BUILD/samples/$sample"
	rc_is 0
done

# A trace: the program of one system, recorded by libraries that were built on another.
export WAVESCOPE_DRIVER=kernel
run rocprofv3 --hip-trace --kernel-trace --memory-copy-trace -f csv -d . -o t -- \
	"$stack" trixie "$vcopy" -n 65536 -b 256
rc_is 0
out_has 'Releasing CPU memory'
is "$(rows t_kernel_trace.csv)" 1 "kernels"
grep -q '"vecCopy(double\*, double\*, double\*, int, int)"' t_kernel_trace.csv || fail "no kernel of that name"
is "$(rows t_memory_copy_trace.csv)" 2 "copies"
grep -q '"hipMemcpy"' t_hip_api_trace.csv || fail "no hipMemcpy"

# Counters do not depend on the system: the program and its code object are the same.
for where in here there; do
	run rocprofv3 --pmc SQ_WAVES SQ_INSTS_VALU SQ_INSTS_SALU -f csv -d . -o $where -- \
		$([ $where = here ] || echo "$stack trixie") "$vcopy" -n 65536 -b 256
	rc_is 0
	# the kernel's name has commas: count from the end
	awk -F, 'NR > 1 { print $(NF - 3), $(NF - 2) }' ${where}_counter_collection.csv | sort >$where.values
done
grep -q '"SQ_WAVES" 1024' there.values || fail "no such counter: $(cat there.values)"
same_files here.values there.values "counters differ"
