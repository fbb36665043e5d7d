#!/bin/sh
# rocpd convert -f pftrace: names instead of numbers, and the other differences of AMD's converter.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
run rocprofv3 --hip-trace --kernel-trace --marker-trace -f rocpd pftrace -d . -o a -- \
	"$vcopy" -n 65536 -b 256
rc_is 0
run rocpd convert -i a_results.db -f pftrace -d . -o c
rc_is 0
has() { grep -aqF -e "$2" "$1" || fail "no '$2' in $1"; }
lacks() { ! grep -aqF -e "$2" "$1" || fail "'$2' in $1"; }
for text in 'STREAM [0]' stream_id '256 (x=256, y=1, z=1)' '65536 (x=65536, y=1, z=1)' \
	HIP_RUNTIME_API_EXT KERNEL_DISPATCH hipMalloc vecCopy; do
	has c_results.pftrace "$text"
done
for text in 'STREAM [" 0 "] ' stream_ID agent_type; do
	has a_results.pftrace "$text"
done
lacks c_results.pftrace 'STREAM [" '
lacks a_results.pftrace '(x=256'
# the same slices in both, with the same times
for file in a c; do
	"$PYTHON" "$WS_SOURCE/tests/cmd/rocpd/pftrace_text.py" slices ${file}_results.pftrace >$file.slices ||
		fail "${file}_results.pftrace cannot be read"
done
grep -q '^hip_api hipMalloc [0-9]* [0-9]*$' a.slices || fail "no call: $(head -5 a.slices)"
same_files a.slices c.slices "slices differ"
