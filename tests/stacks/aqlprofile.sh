#!/bin/sh
# Counting by AMD's aqlprofile against the software GPU's own service, value by value: run in a stack that has
# libhsa-amd-aqlprofile64-1 (scripts/test-stacks does so on experimental).
#
#   aqlprofile.sh BUILD PROGRAMS [NAME...]     programs of that folder, default below
#
# Both count the same run of each kernel (WAVESCOPE_COUNTERS=compare). Prints a line per program; the exit code is
# 1 if a value differs, and 77 if the library is not there.
set -u
build=${1:?usage: aqlprofile.sh BUILD PROGRAMS [NAME...]}
cd "$2" || exit 1
shift 2
[ $# -gt 0 ] || set -- vcopy transpose reduction streams
ldconfig -p | grep -q libhsa-amd-aqlprofile64 || {
	printf '  %-14s %-14s           %s\n' aqlprofile "not installed" "counting by packets is not compared here"
	exit 77
}
rm -rf r/aqlprofile
mkdir -p r/aqlprofile
failed=0

# What fits into a pass is what aqlprofile says: the limits of the blocks.
"$build/tests/stacks/aql_limits" || failed=1

# All hardware counters that the software GPU has values for, in groups that each fit into one pass.
rocprofv3-avail list --pmc 2>/dev/null | tr -s ' \t' '\n\n' | sort -u | awk '
	BEGIN { n = split("SQ 8 TA 2 TD 2 TCP 4 TCC 4 CPC 2 CPF 2 SPI 6 GRBM 1", w); for (i = 1; i < n; i += 2) limit[w[i]] = w[i + 1] }
	/^(SQ_ACCUM_PREV|SQ_ACCUM_PREV_HIRES|TD_SPI_STALL|TCC_BUBBLE)$/ { next }
	/_ACCUM$/ { accumulated[a++] = $1; next }
	/^(SQ|SQC|TA|TD|TCP|TCC|GRBM|CPC|CPF|SPI)_[A-Z0-9_]+$/ {
		block = substr($1, 1, index($1, "_") - 1); sub(/^SQC$/, "SQ", block)
		used[block]++; k = int((used[block] - 1) / limit[block]); group[k] = group[k] " " $1; if (k >= groups) groups = k + 1
	}
	END {
		for (k = 0; k < a; k++) { at = groups + int(k / 4); group[at] = group[at] " " accumulated[k] }
		groups += int((a + 3) / 4)
		for (k = 0; k < groups; k++) print group[k]
	}' >r/aqlprofile/groups
[ -s r/aqlprofile/groups ] || { echo "  rocprofv3-avail lists no counters"; exit 1; }

# Its first interface loads the library by its name without a number, which only the development package has.
mkdir r/aqlprofile/lib
ln -s "$(ldconfig -p | sed -n 's/.*libhsa-amd-aqlprofile64.so.1 .*=> //p' | head -n 1)" r/aqlprofile/lib/libhsa-amd-aqlprofile64.so
LD_LIBRARY_PATH=$PWD/r/aqlprofile/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

for by in compare compare-1; do
	for name; do
		# its first interface: one program is enough
		[ "$by" = compare ] || [ "$name" = "$1" ] || continue
		begin=$(date +%s%N)
		: >"r/aqlprofile/$name.$by"
		while read -r names; do
			# shellcheck disable=SC2086
			WAVESCOPE_COUNTERS=$by timeout 120 rocprofv3 --pmc $names -f csv -d r/aqlprofile -o "$name" -- "./$name" \
				>>"r/aqlprofile/$name.$by" 2>&1 || echo "rocprofv3 ended with $?" >>"r/aqlprofile/$name.$by"
		done <r/aqlprofile/groups
		awk -v name="$name" -v by="$by" -v groups="$(wc -l <r/aqlprofile/groups)" \
			-v counters="$(wc -w <r/aqlprofile/groups)" -v ms=$((($(date +%s%N) - begin) / 1000000)) '
			/by packets and by the service/ {
				sub(/.*service, /, ""); equal += $1; all += $3; n++; sub(/.*\(/, ""); dispatches += $1; none += $3
			}
			/rocprofv3 ended with/ { wrong++ }
			END {
				ok = all && equal == all && n == groups && !none && !wrong
				printf "  %-14s %-14s %5d ms  %d counters by %s: %d of %d values equal\n", name,
					ok ? "ok" : "FAILED", ms, counters, by == "compare" ? "aqlprofile" : "its first interface", equal, all
				exit !ok
			}' "r/aqlprofile/$name.$by" || failed=1
	done
done
exit $failed
