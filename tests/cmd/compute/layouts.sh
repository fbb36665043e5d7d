#!/bin/sh
# The same profile in every layout that was ever written gives the same metrics.
. "$WS_SOURCE/tests/cmd/lib.sh"

here=$WS_SOURCE/tests/cmd/compute
cd "$work"
for arch in gfx90a gfx942; do
	for layout in passes long results v1; do
		"$PYTHON" "$here/layouts.py" "$here/workloads/$arch" $arch-$layout $layout
		run rocprof-compute analyze -p $arch-$layout --output-format json --output-name $arch-$layout-out
		rc_is 0
		err_is_empty
		"$PYTHON" "$here/values.py" per_kernel $arch-$layout-out.json "$here/workloads/$arch/expected.tsv" ||
			fail "$arch as $layout: values differ"
	done
done

# A pass that ran one kernel less: the rest is compared, and that is said.
sed -i '$d' gfx90a-passes/pmc_perf_1.csv
run rocprof-compute analyze -p gfx90a-passes -b 2
rc_is 0
err_has "1 of 5 dispatches are not in every pass"
out_has "partial report"

# Passes that did not run the same thing.
sed -i '2,$s/,256,/,128,/' gfx90a-passes/pmc_perf_2.csv
run rocprof-compute analyze -p gfx90a-passes -b 2
rc_is 0
err_has "Workgroup_Size differs between passes"

# Iteration multiplexing: each dispatch ran twice and counted one half of the counters each time.
cp -r "$here/workloads/gfx90a" whole
mkdir multiplexed
cp whole/sysinfo.csv multiplexed
printf 'iteration_multiplexing: kernel_launch_params\n' >multiplexed/profiling_config.yaml
"$PYTHON" - <<'PY'
import csv
rows = list(csv.reader(open("whole/pmc_perf.csv")))
kept = rows[0].index("Kernel_Name")
with open("multiplexed/pmc_perf.csv", "w") as to:
    out = csv.writer(to, lineterminator="\n")
    out.writerow(rows[0])
    for row in rows[1:]:
        for half in 0, 1:
            out.writerow([cell if i <= kept or i % 2 == half or "Timestamp" in rows[0][i] else ""
                          for i, cell in enumerate(row)])
PY
for w in whole multiplexed; do
	run rocprof-compute analyze -p $w -b 10 11.3 15.2 --output-format json --output-name $w-out
	rc_is 0
	err_is_empty
done
"$PYTHON" - <<'PY' || fail "filled counters give other values"
import json
a, b = ([t for t in json.load(open(f"{w}-out.json"))["tables"] if t["id"] > "1."] for w in ("whole", "multiplexed"))
assert sum(len(t["rows"]) for t in a) > 40
assert a == b
PY
# Too few launches for all counters: said, and without a value.
sed -i '3,$d' multiplexed/pmc_perf.csv
run rocprof-compute analyze -p multiplexed -b 10
rc_is 0
err_has "was launched too few times for all counters"
