#!/bin/sh
# What fires on the samples is what docs/findings.md says, where it was reviewed.
. "$WS_SOURCE/tests/cmd/rocprof-compute/lib.sh"
need_tracing
cd "$work"

places=
# Times of kernels are those of the model, so the table does not depend on this machine.
while read -r name options; do
	need_sample "$name"
	profile --output-directory "$name" -- "$WS_BUILD/samples/$name" $options
	rc_is 0
	places="$places $name=$name"
done <<'S'
reduction
histogram
divergence
transpose
occupancy -i 1 -n 65536
scan
scratch
nbody
gemm
vcopy
S
"$PYTHON" "$WS_SOURCE/tests/cmd/wavescope/findings_table.py" fired $places >made
sed -n "/<!-- samples -->/,/<!-- end -->/p" "$WS_SOURCE/docs/findings.md" | grep '^|' >documented
same_files made documented "the findings of docs/findings.md"
