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
case $(hipcc --version 2>/dev/null) in
*'clang version 15.'*)
	same_files made documented "the findings of docs/findings.md"
	;;
*)
	# The table is of code by Debian 12's compiler. Another one's has other instructions and almost equal times in another order, so small
	# gains may come and go. What is worth 20 % or more is found in both.
	large='^| \([a-z]*\) | \(`[a-z_]*`\) .* \([2-9][0-9]\) %.*'
	sed -n "s/$large/\1 \2/p" made >large_made
	sed -n "s/$large/\1 \2/p" documented >large_documented
	[ "$(wc -l <large_documented)" -ge 10 ] || fail "docs/findings.md has only $(wc -l <large_documented) findings of 20 % or more"
	same_files large_made large_documented "the largest findings of docs/findings.md"
	skip_part "small gains of docs/findings.md: they are of the code that clang 15 makes, this is another compiler"
	;;
esac
