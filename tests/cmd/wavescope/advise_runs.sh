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
	rm -rf "$folder"
	run rocprofv3 --sys-trace --keep-captures -f rocpd -d "$folder" -- "$@"
	rc_is 0
}

# Which rules fire, one per line, also those that could gain little.
fired() { # FOLDER
	run wavescope advise "$1" --json --min-gain 0 --min-share 0
	rc_is 0
	"$PYTHON" -c 'import json, sys
for f in json.load(open(sys.argv[1]))["findings"]: print(f["id"])' "$out"
}
fires() { # RULE FOLDER
	fired "$2" >ids
	grep -qx "$1" ids
}

# Times are those of this host: when it is busy with something else, a run is repeated.
expect() { # RULE PROGRAM...
	rule=$1
	shift
	for attempt in 1 2 3 4; do
		record $rule.slow "$@" slow
		record $rule.fast "$@" fast
		! fires $rule $rule.slow || fires $rule $rule.fast || return 0
	done
	fires $rule $rule.slow || fail "$rule does not fire: $(wavescope advise $rule.slow --check $rule)"
	fail "$rule fires: $(wavescope advise $rule.fast --check $rule)"
}

export WAVESCOPE_GPU=mi210,mi210
for rule in host_gaps sync_per_kernel copies_not_overlapped small_copies alloc_in_loop \
	serial_small_kernels collective_waits code_loaded_late; do
	expect $rule "$runs" $rule
done
expect python_host_bound "$PYTHON" "$WS_SOURCE/samples/findings/steps.py"

# Where times of kernels are compared with each other or with launches: those of the model.
export WAVESCOPE_GPU_TIME=simulated
expect gpu_imbalance "$runs" gpu_imbalance
unset WAVESCOPE_GPU
expect launch_bound "$runs" launch_bound

# Two processes of one program: their captures are in one folder.
for attempt in 1 2 3 4; do
	record ranks.slow "$runs" rank_imbalance slow
	record ranks.fast "$runs" rank_imbalance fast
	mkdir -p ranks.mixed ranks.even
	rm -rf ranks.mixed/* ranks.even/*
	cp $(find ranks.slow ranks.fast -name '*.wcap') ranks.mixed
	record ranks.other "$runs" rank_imbalance fast
	cp $(find ranks.other ranks.fast -name '*.wcap') ranks.even
	! fires rank_imbalance ranks.mixed || fires rank_imbalance ranks.even || break
done
fires rank_imbalance ranks.mixed || fail "rank_imbalance does not fire"
! fires rank_imbalance ranks.even || fail "rank_imbalance fires on equal ranks"
unset WAVESCOPE_GPU_TIME

# From the database: the same rules fire as from the capture.
db=$(find sync_per_kernel.slow -name '*.db')
is "$(fired "$db" | sort)" "$(fired sync_per_kernel.slow | sort)" "findings of the database"

# A trace without calls: rules that need them are not checked.
run rocprofv3 --kernel-trace --memory-copy-trace --keep-captures -f rocpd -d plain -- "$runs" sync_per_kernel slow
run wavescope advise plain
rc_is 0
out_has "rules were not checked"
out_lacks "The host waits after nearly every kernel"
