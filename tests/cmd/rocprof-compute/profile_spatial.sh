#!/bin/sh
# Spatial multiplexing: nodes and their GPUs share the passes, analyze puts them together.
. "$WS_SOURCE/tests/cmd/rocprof-compute/lib.sh"
need_tracing
need_sample peer
peer=$WS_BUILD/samples/peer
WAVESCOPE_GPU=mi210,mi210
export WAVESCOPE_GPU

spatial() { # ARGUMENTS...
	run rocprof-compute --experimental profile --no-roof --spatial-multiplexing "$@"
}

# Two nodes, one after the other, of two GPUs each; five passes.
for node in 0 1; do
	spatial $node 2 2 --output-directory all/node$node -b 10 12 -- "$peer" -n 4096
	rc_is 0
	out_has "are for node $node"
	out_has "analyze --spatial-multiplexing -p $work/all)"
	out_lacks "have no values"
done
out_has "passes 5 to 5 of 5 are for node 1"
# No counter is counted on both, none is missing.
profile --output-directory whole -b 10 12 -- "$peer" -n 4096
rc_is 0
for dir in all/node0 all/node1 whole; do
	counters_of $dir | cut -d' ' -f1 | grep -E '^(SQ|TA|GRBM)' | sort -u >"$(basename $dir).names"
done
is "$(comm -12 node0.names node1.names | tr '\n' ' ')" "" "counted twice"
sort -u node0.names node1.names >both
same_files both whole.names "counters"
# Together they say what one GPU that counts everything says.
run rocprof-compute analyze --spatial-multiplexing -p all -b 10.1
rc_is 0
grep '│ 10.1' "$out" >merged
run rocprof-compute analyze -p whole -b 10.1
rc_is 0
grep '│ 10.1' "$out" >alone
[ -s alone ] || fail "no table"
same_files merged alone "merged"

# With application replay a run counts as many passes as there are GPUs.
spatial 0 1 2 --output-directory runs/n --replay application -b 12 10 -- "$peer" -n 4096
rc_is 0
out_has "5 passes: 3 runs of the program"
spatial 0 1 2 --output-directory once/n -b 12 10 -- "$peer" -n 4096
rc_is 0
out_has "5 passes: 1 run of the program"
for how in runs once; do
	run rocprof-compute analyze --spatial-multiplexing -p $how -b 10.1
	rc_is 0
	grep '│ 10.1' "$out" >merged
	same_files merged alone "$how"
done
spatial 0 1 2 --output-directory long/n -b 12 --format-rocprof-output rocpd -- "$peer" -n 4096
rc_is 0
run rocprof-compute analyze --spatial-multiplexing -p long -b 12.2
rc_is 0

# A program that uses one of the GPUs leaves the other's share uncounted, which is said.
spatial 0 1 2 --output-directory idle/n -b 12 10 -- "$vcopy" -n 4096
rc_is 0
out_has "passes have no values: no kernel ran on the GPUs that should count them"

says() { # CODE TEXT ARGUMENTS...
	code=$1 text=$2
	shift 2
	spatial "$@" -n w -- "$peer" -n 4096
	rc_is "$code"
	err_has "$text"
	[ ! -e workloads ] || fail "a folder was made"
}
says 2 "takes three numbers" 0 1
says 2 "'x' is not a number" 0 x 1
says 2 "nodes are counted from 0" 2 2 1
says 2 "at least one node and one GPU" 0 1 0
says 1 "this machine has 2 GPUs" 0 1 3
says 1 "no passes for node 8: 2 passes are too few for 9 nodes of 2 GPUs" 8 9 2 -b 12
says 2 "--spatial-multiplexing are exclusive" 0 1 2 --iteration-multiplexing

# GPUs of different architectures: one is profiled, and the other named.
WAVESCOPE_GPU=mi210,mi100
run rocprof-compute profile --no-roof --output-directory mixed -b 12 -- "$peer" -n 4096
rc_is 0
out_has "GPU 1 is a gfx908, but the counters are planned for gfx90a"
ROCR_VISIBLE_DEVICES=1
export ROCR_VISIBLE_DEVICES
run rocprof-compute profile --no-roof --output-directory second -b 12 -- "$peer" -n 4096
rc_is 0
out_lacks "planned for"
is "$(cell second/sysinfo.csv gpu_arch 1)" gfx908 "the second GPU"
