#!/usr/bin/env bash
# The bytes that calls of RCCL send and receive, function by function.
#
#	rccl_bytes.sh BUILD
set -euo pipefail
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAIL: $*" >&2; exit 1; }
! [[ $(ldd "$build/lib/libwavescope-collector.so") == *lib[at]san* ]] ||
	{ echo "SKIP: a sanitizer must be loaded first"; exit 77; }

# collect SERVICES: $work/text
collect() {
	local code=0
	rm -rf "$work/run"; mkdir "$work/run"
	env WAVESCOPE_COLLECT="1;dir=$work/run;services=$1" LD_PRELOAD="$build/lib/libwavescope-collector.so:$build/lib/libwavescope-rccl.so" \
		"$build/tests/collector/rccl-program" || code=$?
	[ $code = 7 ] || fail "exit code $code"
	"$build/tests/collector/capture-dump" "$work"/run/* >"$work/text"
}
# totals NAME: after each call that moved something
totals() {
	id=$(sed -n "s/^METRIC id=\([0-9]*\) category=19 unit=bytes name=$1$/\1/p" "$work/text")
	awk -v id="metric=$id" '$1 == "VALUE" && $3 == id { printf "%d ", substr($5, 7) }' "$work/text"
}
is() { [ "$1" = "$2" ] || fail "'$1' instead of '$2'"; }

collect rccl,regions
is "$(grep -c '^CALL' "$work/text")" 14
is "$(totals 'RCCL Comm Send')" '1 41 51 151 199 1199 3199 13199 113199 '
is "$(totals 'RCCL Comm Recv')" '16 56 96 196 208 2208 22208 422208 1422208 '
# rocprofv3 records calls, not regions: no metrics
collect rccl
is "$(grep -c '^CALL' "$work/text")" 14
! grep -q '^METRIC' "$work/text" || fail "metrics that were not requested"
