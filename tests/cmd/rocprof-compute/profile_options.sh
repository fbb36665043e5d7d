#!/bin/sh
# Options of profile: what does not go together, what is missing, and the listings.
. "$WS_SOURCE/tests/cmd/rocprof-compute/lib.sh"
need_tracing

says() { # CODE TEXT ARGUMENTS...
	code=$1 text=$2
	shift 2
	run rocprof-compute "$@"
	rc_is "$code"
	err_has "$text"
	for made in workloads none; do
		[ ! -e $made ] || fail "'$shown' made a folder"
	done
}

says 2 "Either --output-directory or --name is required" profile -- "$vcopy"
says 2 "Profiling command required. Pass application executable after --" profile -n a
says 1 "Your command ./nothere doesn't point to a executable" profile -n a -- ./nothere
says 2 "'/' is not allowed" profile -n a/b -- "$vcopy"
says 2 "--block and --set are exclusive options." profile -n a -b 12 --set launch_stats -- "$vcopy"
says 2 "--roof-only are exclusive" profile -n a -b 12 --roof-only -- "$vcopy"
says 2 "--set and --roof-only are exclusive" profile -n a --set x --roof-only -- "$vcopy"
says 2 "--no-roof excludes --roof-only" profile -n a --no-roof --roof-only -- "$vcopy"
says 2 "remove --no-roof" profile -n a --no-roof --kernel-names -- "$vcopy"
says 2 "argument --set: invalid choice: 'x' (choose from 'compute_thruput_util'" \
	profile -n a --set x -- "$vcopy"
says 2 "Invalid metric id: 1.2.3.4" profile -n a -b 1.2.3.4 -- "$vcopy"
says 2 "Invalid metric id: SQ" profile -n a -b SQ -- "$vcopy"
says 2 "argument --iteration-multiplexing: invalid choice: 'x'" \
	profile -n a --iteration-multiplexing x -- "$vcopy"
says 2 "--iteration-multiplexing and --no-native-tool" \
	profile -n a --iteration-multiplexing --no-native-tool -- "$vcopy"
says 2 "--iteration-multiplexing and --attach-pid" \
	profile -n a --iteration-multiplexing kernel --attach-pid 1
says 2 "Torch trace is an experimental feature. Use --experimental to enable it." \
	profile -n a --torch-trace -- python3 x.py
says 2 "Spatial multiplexing is an experimental feature" \
	profile -n a --spatial-multiplexing 0 1 1 -- "$vcopy"
says 2 "not supported in the current version" profile -n a --kokkos-trace -- "$vcopy"
says 2 "a power of two" profile -n a -b 21 --pc-sampling-method stochastic --pc-sampling-interval 70000 -- "$vcopy"
says 2 "'x' is neither a number nor FIRST:END" profile -n a -d x -- "$vcopy"
says 2 "unrecognized arguments: stray" profile -n a stray -- "$vcopy"
says 2 "did you mean" profile --nmae a -- "$vcopy"
says 2 "must be in front of rocprof-compute" profile -n a -- mpirun -n 4 "$vcopy"
says 1 "there is no profile" profile --resume --output-directory none -- "$vcopy"
says 1 "--resume: there is no profile in" profile --resume -n none
says 1 "these counters need" profile --replay none --output-directory none -- "$vcopy"
says 1 "these counters need" profile --replay none -n none -- "$vcopy"
for name in "" . ..; do
	says 2 "is not a valid folder name" profile -n "$name" -- "$vcopy"
done
says 2 "--device 1: there is 1 GPU, counted from 0" profile -n a --device 1 -- "$vcopy"
says 2 "--device -2: there is 1 GPU" profile -n a --device -2 -- "$vcopy"
# What is not there is skipped; when nothing is left, it is a mistake.
says 2 "No performance counters to collect" profile -n a -b 99 11.99 2.1.99 -- "$vcopy"
out_has "Skipping 99: block not found"
out_has "Skipping 11.99: table not found"
out_has "Skipping 2.1.99: metric not found"
says 2 "--subpath: no choice 'x'" profile -p none --subpath x -- "$vcopy"
says 2 "--subpath applies to --path only" profile -n a --subpath gpu_model -- "$vcopy"
WAVESCOPE_GPU=mi100 says 1 "gfx908 does not support roofline" profile -n a --bench-only
says 1 "blocks 17 and 18 have the traffic" --experimental profile -n a --membw-analysis -- "$vcopy"
WAVESCOPE_GPU=mi100 says 1 "gfx908 does not support roofline" profile -n a --roof-only -- "$vcopy"
for launcher in mpiexec srun orterun; do
	ln -s "$vcopy" $launcher
	says 2 "'$launcher' must be in front" profile -n a -- ./$launcher
done
mkdir other
: >other/precious.txt
says 1 "not empty (precious.txt) and not a workload" profile --output-directory other -- "$vcopy"
[ -e other/precious.txt ] || fail "a foreign file is gone"
ROCPROFCOMPUTE_COLOR=7 says 2 "ROCPROFCOMPUTE_COLOR is '7'" profile -n a -- "$vcopy"
ROCPROFCOMPUTE_LOGLEVEL=loud says 2 "ROCPROFCOMPUTE_LOGLEVEL is 'loud'" profile -n a -- "$vcopy"

# Listings; nothing is made.
run rocprof-compute profile --list-sets
rc_is 0
out_has "Available Sets:"
grep -q '^compute_thruput_util  *Compute Throughput Utilization  *VALU Utilization  *11.2.3 *$' \
	"$out" || fail "a set"
out_has "rocprof-compute profile --set compute_thruput_util  # Profile this set"
run rocprof-compute profile --list-available-metrics
rc_is 0
out_has "2 -> System Speed-of-Light"
grep -q "$(printf '^\t\t2.1.0 -> VALU FLOPs$')" "$out" || fail "a metric"
run rocprof-compute --list-blocks gfx90a
rc_is 0
out_has "BLOCK ALIAS"
run rocprof-compute profile --list-metrics gfx942
rc_is 0
out_has "2.1.2 -> MFMA FLOPs (F8)"
for how in "profile -s" "-s"; do
	# shellcheck disable=SC2086 # words
	run rocprof-compute $how
	rc_is 0
	out_has "Output version: 3"
	out_has "gfx90a"
	out_has "software GPU"
done
[ ! -e workloads ] || fail "a listing made a folder"
