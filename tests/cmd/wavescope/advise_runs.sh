#!/bin/sh
# Every rule about traces fires on the run that has its problem, and not on the one that has not.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
need_sample findings-runs
runs=$WS_BUILD/samples/findings-runs
limit_s=120

record() { # FOLDER PROGRAM...
	folder=$1
	shift
	run rocprofv3 --sys-trace --keep-captures -f rocpd -d "$folder" -- "$@"
	rc_is 0
}

# Which rules fire, one per line. Times are those of a busy host, so shares may be small.
fired() {
	run wavescope advise "$1" --json --min-gain 0 --min-share 0
	rc_is 0
	"$PYTHON" -c 'import json, sys
for f in json.load(open(sys.argv[1]))["findings"]: print(f["id"])' "$out"
}

expect() { # RULE SLOW FAST
	fired "$2" | grep -qx "$1" || fail "$1 does not fire: $(wavescope advise "$2" --check "$1")"
	! fired "$3" | grep -qx "$1" || fail "$1 fires: $(wavescope advise "$3" --check "$1")"
}

export WAVESCOPE_GPU=mi210,mi210
for rule in launch_bound host_gaps sync_per_kernel copies_not_overlapped small_copies alloc_in_loop \
	serial_small_kernels gpu_imbalance; do
	record $rule.slow "$runs" $rule slow
	record $rule.fast "$runs" $rule fast
	expect $rule $rule.slow $rule.fast
done
unset WAVESCOPE_GPU

# Two processes of one program: their captures are in one folder.
record ranks.fast "$runs" rank_imbalance fast
record ranks.slow "$runs" rank_imbalance slow
record ranks.fast "$runs" rank_imbalance fast
cp -r ranks.slow/. ranks.mixed 2>/dev/null || { mkdir ranks.mixed && cp -r ranks.slow/. ranks.mixed; }
cp -r ranks.fast/.rocprofv3/* ranks.mixed/.rocprofv3/
expect rank_imbalance ranks.mixed ranks.fast

for how in slow fast; do
	record python.$how "$PYTHON" "$WS_SOURCE/samples/findings/steps.py" $how
done
expect python_host_bound python.slow python.fast

# From the database: the same rules fire as from the capture.
db=$(find sync_per_kernel.slow -name '*.db')
is "$(fired "$db" | sort)" "$(fired sync_per_kernel.slow | sort)" "findings of the database"

# A trace without calls: rules that need them are not checked.
run rocprofv3 --kernel-trace --memory-copy-trace --keep-captures -f rocpd -d plain -- "$runs" sync_per_kernel slow
run wavescope advise plain
rc_is 0
out_has "rules were not checked"
out_lacks "The host waits after nearly every kernel"
