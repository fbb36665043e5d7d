#!/bin/sh
# Options that madengine's tools and guides pass, and AMD's rocprofv3 rejects.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing

# A trace with a name of its own; a second process gets its pid into it.
run rocprofv3 --kernel-trace --perfetto-trace-filename model_trace.pftrace -d out -- \
	sh -c "$vcopy -n 65536 -b 256 && $vcopy -n 65536 -b 256"
rc_is 0
[ -s out/model_trace.pftrace ] || fail "there is no out/model_trace.pftrace"
is "$(find out -name 'model_trace_[0-9]*.pftrace' | wc -l)" 1 "the second process"
is "$(find out | wc -l)" 3 "nothing else is in the folder"

# Beside other formats, and with a suffix that was left out.
run rocprofv3 --counter-collection --pmc SQ_WAVES --kernel-trace --perfetto-trace-filename m -f csv -d both -o r -- \
	"$vcopy" -n 65536 -b 256
rc_is 0
for file in m.pftrace r_counter_collection.csv; do
	[ -s "both/$file" ] || fail "there is no both/$file"
done
[ ! -e both/r_results.pftrace ] || fail "the trace has two names"

# 1000 microseconds of an MI300X are about 2^21 cycles of 2100 MHz; 64 cycles are the least.
export WAVESCOPE_GPU=mi300x
for pair in 1000:2097152 1:2048 620:1048576; do
	run rocprofv3 --pc-sampling-beta-enabled --pc-sampling-method stochastic --pc-sampling-unit time \
		--pc-sampling-interval ${pair%:*} --echo -- true
	rc_is 0
	err_has "--pc-sampling-interval ${pair%:*} with --pc-sampling-unit time is ${pair#*:} cycles"
done
# An MI210 has no stochastic sampling; a time is what host traps take.
WAVESCOPE_GPU=mi210
run rocprofv3 --pc-sampling-beta-enabled --pc-sampling-method stochastic --pc-sampling-unit time \
	--pc-sampling-interval 1000 --echo -- true
rc_is 0
err_has "gfx90a has no stochastic PC sampling: samples are taken by host traps, every 1000 microseconds"
run rocprofv3 --pc-sampling-beta-enabled --pc-sampling-method stochastic --pc-sampling-unit time \
	--pc-sampling-interval 1000 -f csv -d time -- "$vcopy" -n 4096 -b 256
rc_is 0
err_has "requested, but never observed: PC samples (host trap)"
run rocprofv3 --pc-sampling-beta-enabled --pc-sampling-method host_trap --pc-sampling-unit cycles \
	--pc-sampling-interval 1024 --echo -- true
rc_is 2
err_has "use --pc-sampling-unit time"
