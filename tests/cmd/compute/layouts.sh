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
