#!/bin/sh
# Stochastic samples say what an arbiter of gfx9 can say: which types an issued instruction has,
# why one is not issued, and which pipes issue and stall then.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
need_sample reduction
need_sample scratch
need_sample divergence
need_sample gemm
for app in reduction scratch divergence gemm; do
	run rocprofv3 --pc-report --pc-sampling-beta-enabled --pc-sampling-method stochastic --pc-sampling-unit cycles \
		--pc-sampling-interval 512 -f json csv -d out -o $app -- "$WS_BUILD/samples/$app"
	rc_is 0
done
"${PYTHON:-python3}" "$WS_SOURCE/tests/cmd/rocprofv3/pc_rules.py" out/*_results.json || fail "a sample no hardware takes"
