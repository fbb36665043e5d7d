#!/bin/sh
# Made-up workloads of every architecture: every metric, in every unit, value by value.
. "$WS_SOURCE/tests/cmd/lib.sh"

cp -r "$WS_SOURCE/tests/cmd/compute/workloads" "$work/w"
cd "$work"
for arch in gfx908 gfx90a gfx940 gfx941 gfx942 gfx950; do
	for unit in per_kernel per_wave per_cycle per_second; do
		run rocprof-compute analyze -p "w/$arch" -n $unit --output-format json --output-name $arch-$unit
		rc_is 0
		err_is_empty
		"$PYTHON" "$WS_SOURCE/tests/cmd/compute/values.py" $unit $arch-$unit.json "w/$arch/expected.tsv" ||
			fail "$arch $unit: values differ"
	done
done
