#!/bin/sh
# What is wrong with the input is said in one line, with a way out, and ends with 1 or 2.
. "$WS_SOURCE/tests/cmd/lib.sh"

cp -r "$WS_SOURCE/tests/cmd/compute/workloads" "$work/w"
cd "$work"

bad() { # code, complaint, arguments
	code=$1 text=$2
	shift 2
	run rocprof-compute analyze "$@"
	rc_is "$code"
	err_has "$text"
	[ "$(wc -l <"$err")" -eq 1 ] || fail "more than one line of complaint"
	out_is_empty
}

bad 2 "required: -p/--path"
bad 1 "invalid directory 'nowhere'" -p nowhere
bad 1 "did you mean 'w/gfx908'" -p w
mkdir empty
bad 1 "it has no sysinfo.csv: use the directory" -p empty
cp w/gfx90a/sysinfo.csv empty
bad 1 "contains no profiling data" -p empty
bad 2 "same path twice" -p w/gfx90a -p w/gfx90a
bad 2 "it is a file" -p w/gfx90a/sysinfo.csv
bad 2 "unexpected 'w/gfx942'" w/gfx942
bad 2 "'--block" -p w/gfx90a --blok 2

bad 1 "2 is an invalid kernel id. Please enter an id between 0-1" -p w/gfx90a -k 2
bad 1 "x is an invalid kernel id" -p w/gfx90a -k x
bad 1 "5 is an invalid dispatch id" -p w/gfx90a -d 5
bad 1 "is excluded by the other filters" -p w/gfx90a -k 0 -d 0 1
bad 1 "9 is an invalid gpu-id" -p w/gfx90a --gpu-id 9
bad 1 "no dispatch left after filtering" -p w/gfx90a -d '>77'
bad 2 "2 times -k for 1 workloads" -p w/gfx90a -k 0 -k 1
bad 2 "--specs-correction: 'no_field' is not a field" -p w/gfx90a --specs-correction no_field:3
bad 2 "letters, digits" -p w/gfx90a --output-format txt --output-name a/b
bad 1 "unknown architecture 'gfx1100'" --list-metrics gfx1100
bad 2 "experimental feature" -p w/gfx90a --list-torch-operators
bad 1 "profiled without --torch-trace" --experimental -p w/gfx90a --list-torch-operators

copy() { rm -rf c && cp -r w/gfx90a c; }

copy && sed -i 's/gfx90a/gfx1100/' c/sysinfo.csv
bad 1 "c: unknown architecture 'gfx1100'" -p c
copy && sed -i '2d' c/sysinfo.csv
bad 1 "sysinfo.csv' is truncated" -p c
copy && sed -i 's/,gpu_arch,/,arch,/' c/sysinfo.csv
bad 1 "does not name the architecture" -p c
copy && : >c/pmc_perf.csv
bad 1 "pmc_perf.csv' is empty" -p c
copy && sed -i '2,$d' c/pmc_perf.csv
bad 1 "contains no dispatch" -p c
copy && sed -i '1s/Kernel_Name/Name/' c/pmc_perf.csv
bad 1 "no column Kernel_Name" -p c
copy && sed -i '2,$s/^\([^,]*\),4,/\1,,/' c/pmc_perf.csv
bad 1 "has empty cells" -p c
copy && "$PYTHON" - <<'PY'
import csv
rows = list(csv.reader(open("c/pmc_perf.csv")))
at = rows[0].index("GRBM_GUI_ACTIVE")
rows[3][at] = "0"
csv.writer(open("c/pmc_perf.csv", "w"), lineterminator="\n").writerows(rows)
PY
bad 1 "GRBM_GUI_ACTIVE == 0 in dispatch 2" -p c
copy && printf 'filter_blocks: [\n' >c/profiling_config.yaml
bad 1 "profiling_config.yaml" -p c

# A file that was cut off: what is whole is shown, and that it is partial.
copy && head -c -300 w/gfx90a/pmc_perf.csv >c/pmc_perf.csv
run rocprof-compute analyze -p c -b 2
rc_is 0
err_has "pmc_perf.csv:6: truncated or damaged: 1 rows were skipped"
out_has "partial report: 1 rows"
out_has "2.1.1"

# A counter that is not there: its metrics have no value, the others do.
copy && sed -i '1s/SQ_INSTS_VALU_INT32/SQ_OTHER/' c/pmc_perf.csv
run rocprof-compute analyze -p c -b 2.1.1 2.1.7 --like-3.3
rc_is 0
run rocprof-compute analyze -p c -g -b 2.1.1
out_has "= no value: SQ_INSTS_VALU_INT32 was not collected"

# Architectures that differ: what both have is compared, and that is said.
run rocprof-compute analyze -p w/gfx90a -p w/gfx942 -b 2
rc_is 0
err_has "w/gfx942 is gfx942, the baseline gfx90a"

# Metric definitions of one's own.
mkdir none && bad 1 "'none' has no .metrics or .finding files" -p w/gfx90a --config-dir none
mkdir own
sed 's/^expr = 100 \* SQ_LDS_IDX_ACTIVE.*/expr = 100 * SQ_LDS_IDX_ACTIVE \/\/ 2/' \
	"$WS_SOURCE/data/metrics/lds.metrics" >own/lds.metrics
bad 1 "own/lds.metrics:10: a value is expected at column 26: '/'" -p w/gfx90a --config-dir own
