#!/bin/sh
# WAVESCOPE_TIMES=modelled: a traced kernel takes as long as on the modelled GPU, in every run.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_softgpu
need_sample vcopy
cd "$work"

durations() {
	rm -rf trace
	run env "$@" rocprofv3 --kernel-trace -f csv -d trace -o t -- "$WS_BUILD/samples/vcopy" -n 1048576 -b 256 -i 3
	rc_is 0
	"$PYTHON" - trace/t_kernel_trace.csv <<-'PY'
	import csv, sys
	rows = [r for r in csv.DictReader(open(sys.argv[1])) if "vecCopy" in r["Kernel_Name"]]
	print(*sorted(int(r["End_Timestamp"]) - int(r["Start_Timestamp"]) for r in rows))
	PY
}

modelled=$(durations WAVESCOPE_TIMES=modelled)
again=$(durations WAVESCOPE_TIMES=modelled WAVESCOPE_WORKERS=1)
host=$(durations WAVESCOPE_TIMES=host)
for times in "$modelled" "$host"; do
	is "$(echo "$times" | wc -w | tr -d ' ')" 3 kernels
done
[ "$modelled" = "$again" ] || fail "modelled times vary: $modelled, then $again"
for ns in $modelled; do # recorded on an MI200: 20480, then 16320
	[ "$ns" -gt 12000 ] && [ "$ns" -lt 27000 ] || fail "vcopy takes $ns ns on the modelled MI210"
done
for ns in $host; do
	[ "$ns" -gt 100000 ] || fail "the host cannot execute vcopy in $ns ns"
done
