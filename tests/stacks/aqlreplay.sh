#!/bin/sh
# Kernel replay by AMD's aqlprofile: run in a stack that has libhsa-amd-aqlprofile64-1 (scripts/test-stacks does so on
# experimental). The programs check their own results; every pass is counted by the software GPU's service, too.
#
#   aqlreplay.sh PROGRAMS [NAME...]     programs of that folder, default below
#
# Prints a line per program. The exit code is 1 if a program's results or a value are wrong, or a counter has no value,
# and 77 if the library is not there.
set -u
cd "${1:?usage: aqlreplay.sh PROGRAMS [NAME...]}" || exit 1
shift
[ $# -gt 0 ] || set -- vcopy divergence gemm graph histogram managed nbody occupancy reduction scan scratch \
	stencil streams transpose
ldconfig -p | grep -q libhsa-amd-aqlprofile64 || {
	printf '  %-14s %-14s           %s\n' aqlreplay "not installed" "kernel replay by packets is not tested here"
	exit 77
}
rm -rf r/aqlreplay
mkdir -p r/aqlreplay
failed=0
# Four passes.
counters="SQ_WAVES SQ_INSTS_VALU SQ_INSTS_SALU SQ_INSTS_SMEM SQ_INSTS_LDS SQ_INSTS_VMEM_RD SQ_INSTS_VMEM_WR SQ_INSTS
	SQ_BUSY_CYCLES SQ_WAIT_INST_ANY SQ_INSTS_BRANCH TCC_HIT TCC_MISS TCC_REQ TCC_READ TCC_WRITE TCC_ATOMIC TCC_EA_RDREQ
	TCC_EA_WRREQ TCP_TOTAL_CACHE_ACCESSES TA_TA_BUSY TD_TD_BUSY TCC_BUSY TCC_CYCLE TCC_UC_REQ TCC_PROBE TCC_NC_REQ"

for name; do
	[ -x "./$name" ] || continue
	begin=$(date +%s%N)
	rc=0
	# shellcheck disable=SC2086
	WAVESCOPE_COUNTERS=compare timeout 300 rocprofv3 --replay kernel --pmc $counters -f csv -d r/aqlreplay -o "$name" -- \
		"./$name" >"r/aqlreplay/$name.out" 2>&1 || rc=$?
	awk -v name="$name" -v rc="$rc" -v ms=$((($(date +%s%N) - begin) / 1000000)) \
		-v counters="$(echo $counters | wc -w)" -v rows="$(sed 1d "r/aqlreplay/${name}_counter_collection.csv" 2>/dev/null | wc -l)" '
		/by packets and by the service/ { sub(/.*service, /, ""); equal += $1; all += $3; sub(/.*\(/, ""); none += $3 }
		/counted dispatches/ { dispatches = $3 }
		/kernel replay: .* ran/ { replayed = $4; times = $7 }
		/could not be repeated/ { sub(/.*replay: /, ""); once = ", " $1 " not repeated" }
		END {
			ok = rc == 0 && all && equal == all && !none && rows == dispatches * counters
			printf "  %-14s %-14s %5d ms  %d of %d dispatches ran %s times: %d of %d values equal%s\n", name,
				ok ? "ok" : "FAILED", ms, replayed, dispatches, times, equal, all, once
			exit !ok
		}' "r/aqlreplay/$name.out" || failed=1
done
exit $failed
