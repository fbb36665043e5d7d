#!/bin/sh
# Counting by AMD's aqlprofile against the software GPU's own service, value by value: run in a stack that has
# libhsa-amd-aqlprofile64-1 (scripts/test-stacks does so on experimental), with WAVESCOPE_GPU.
#
#   aqlprofile.sh BUILD PROGRAMS [NAME...]     programs of that folder, default below
#
# Both count the same run of each kernel (WAVESCOPE_COUNTERS=compare). Prints a line per program; the exit code is
# 1 if a value differs, and 77 if the library is not there. With several GPUs in WAVESCOPE_GPU every program has to use all
# of them, and values of each are compared.
set -u
build=${1:?usage: aqlprofile.sh BUILD PROGRAMS [NAME...]}
gpu=${WAVESCOPE_GPU:?aqlprofile.sh: set WAVESCOPE_GPU to the GPU that the programs are compiled for}
cd "$2" || exit 1
shift 2
[ $# -gt 0 ] || set -- vcopy transpose reduction streams
ldconfig -p | grep -q libhsa-amd-aqlprofile64 || {
	printf '  %-16s %-14s           %s\n' aqlprofile "not installed" "counting by packets is not compared here"
	exit 77
}
dir=r/aqlprofile-$(echo "$gpu" | tr :, --) # a path of libraries, so no colon
gpus=$(echo "$gpu" | awk -F, '{ print NF }')
rm -rf "$dir"
mkdir -p "$dir/lib"
failed=0

# All hardware counters that the software GPU has values for, in groups that each fit into one pass: as many of a
# block as it has counters (GRBM: less one, for GRBM_COUNT), and levels with their accumulation last.
rocprofv3-avail info --pmc 2>"$dir/avail.log" | awk -F ':\t' '
	BEGIN { n = split("SQ 8 TA 2 TD 2 TCP 4 TCC 4 CPC 2 CPF 2 SPI 6 GRBM 1 TCA 4", w, " "); for (i = 1; i < n; i += 2) limit[w[i]] = w[i + 1] }
	$1 == "GPU:1" { exit } # the others are like the first
	$1 ~ /^Counter_Name/ { name = $2 }
	$1 ~ /^Expression/ && name ~ /_ACCUM$/ { accumulated[a++] = name }
	$1 ~ /^Block/ && name !~ /^SQ_ACCUM_PREV/ {
		if (!limit[$2]) limit[$2] = 1 # a block that is new
		k = int(used[$2] / limit[$2]); used[$2]++; group[k] = group[k] " " name; if (k >= groups) groups = k + 1
	}
	END {
		for (k = 0; k < a; k++) { at = groups + int(k / 4); group[at] = group[at] " " accumulated[k] }
		groups += int((a + 3) / 4)
		for (k = 0; k < groups; k++) print group[k]
	}' >"$dir/groups"
[ -s "$dir/groups" ] || { echo "  rocprofv3-avail lists no counters:"; cat "$dir/avail.log"; exit 1; }

# Its first interface loads the library by its name without a number, which only the development package has.
ln -s "$(ldconfig -p | sed -n 's/.*libhsa-amd-aqlprofile64.so.1 .*=> //p' | head -n 1)" "$dir/lib/libhsa-amd-aqlprofile64.so"
LD_LIBRARY_PATH=$PWD/$dir/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

# What fits into a pass is what aqlprofile says: the limits of the blocks.
"$build/tests/stacks/aql_limits" "$(rocprofv3-avail info --pmc GRBM_COUNT 2>/dev/null | sed -n 's/^Name://p' | head -n 1)" || failed=1

# compare NAME SETTING: all counters of a program
compare() {
	begin=$(date +%s%N)
	: >"$dir/$1.$2"
	while read -r names; do
		# shellcheck disable=SC2086
		WAVESCOPE_COUNTERS=$2 timeout 300 rocprofv3 --pmc $names -f csv -d "$dir" -o "$1" -- "./$1" \
			>>"$dir/$1.$2" 2>&1 || echo "rocprofv3 ended with $?" >>"$dir/$1.$2"
		# Agent_Id is the third column.
		awk -F, 'NR > 1 && !seen[$3]++ { n++ } END { print n + 0, "agents have values" }' "$dir/$1_counter_collection.csv" \
			>>"$dir/$1.$2" 2>/dev/null
	done <"$dir/groups"
	awk -v name="$gpu-$1" -v by="$2" -v gpus="$gpus" -v groups="$(wc -l <"$dir/groups")" \
		-v counters="$(wc -w <"$dir/groups")" -v ms=$((($(date +%s%N) - begin) / 1000000)) '
		/by packets and by the service/ {
			sub(/.*service, /, ""); equal += $1; all += $3; n++; sub(/.*\(/, ""); dispatches += $1; none += $3
		}
		/rocprofv3 ended with/ { wrong++ }
		/agents have values/ { wrong += $1 != gpus }
		END {
			gpus_text = gpus > 1 ? ", of " gpus " GPUs" : ""
			ok = all && equal == all && n >= groups && !none && !wrong
			printf "  %-16s %-14s %5d ms  %d counters by %s: %d of %d values equal%s\n", name,
				ok ? "ok" : "FAILED", ms, counters, by == "compare" ? "aqlprofile" : "its first interface", equal, all, gpus_text
			exit !ok
		}' "$dir/$1.$2"
}
for name; do
	compare "$name" compare || failed=1
done
compare "$1" compare-1 || failed=1 # one program is enough

# The whole GPU over time: all intervals together are the same by packets and by the service, as is every kernel. Of two runs,
# so only counters that follow from the code.
begin=$(date +%s%N)
for by in service aqlprofile; do
	WAVESCOPE_COUNTERS=$by timeout 300 rocprofv3 --pmc SQ_WAVES SQ_INSTS_VALU SQ_INSTS_SALU TA_TOTAL_WAVEFRONTS_sum --pmc-interval 5 -f csv \
		-d "$dir/time-$by" -o r -- "./$1" >"$dir/time-$by.log" 2>&1
	awk -F, 'NR > 1 { sum[$1 " " $3] += $4 } END { for (name in sum) if (sum[name]) print name, sum[name] }' \
		"$dir/time-$by/r_counter_intervals.csv" 2>/dev/null | sort >"$dir/time-$by.txt"
done
word=ok
[ "$(wc -l <"$dir/time-service.txt")" = $((4 * gpus)) ] && cmp -s "$dir/time-service.txt" "$dir/time-aqlprofile.txt" || word=FAILED failed=1
printf '  %-16s %-14s %5d ms  %s\n' "$gpu-over-time" "$word" $((($(date +%s%N) - begin) / 1000000)) \
	"sums of $(sed 1d "$dir/time-aqlprofile/r_counter_intervals.csv" | grep -c SQ_WAVES) intervals by aqlprofile and by the service"

# rocprof-compute needs several passes by packets and one run by the service; the analysis is the same.
begin=$(date +%s%N)
for by in service aqlprofile; do
	WAVESCOPE_COUNTERS=$by timeout 300 rocprof-compute profile -n v -p "$dir/$by" --no-roof -b 2 -- "./$1" >"$dir/$by.log" 2>&1 &&
		rocprof-compute analyze -p "$dir/$by" -b 2 2>/dev/null | sed 1d >"$dir/$by.txt"
done
word=ok
grep -q 'VALU' "$dir/aqlprofile.txt" && cmp -s "$dir/service.txt" "$dir/aqlprofile.txt" || word=FAILED failed=1
printf '  %-16s %-14s %5d ms  %s\n' "$gpu-compute" "$word" $((($(date +%s%N) - begin) / 1000000)) \
	"rocprof-compute profile by aqlprofile: $(sed -n 's/.* \([0-9]* runs\) of the program took.*/\1/p' "$dir/aqlprofile.log"), the analysis of the service"
exit $failed
