#!/bin/sh
# Output of the ranks of a job as one: which files, which rows, and what is wrong with them.
. "$WS_SOURCE/tests/cmd/lib.sh"
[ -e "$WS_BUILD/lib/libwavescope-collector.so" ] || skip "libwavescope-collector.so is not in this build"
cd "$work"
HOME=$work ROCPROFSYS_USE_ROCM=off ROCPROFSYS_USE_SAMPLING=off ROCPROFSYS_USE_PROCESS_SAMPLING=off
ROCPROFSYS_TIME_OUTPUT=off ROCPROFSYS_FLAMEGRAPH_OUTPUT=off
export HOME ROCPROFSYS_USE_ROCM ROCPROFSYS_USE_SAMPLING ROCPROFSYS_USE_PROCESS_SAMPLING ROCPROFSYS_TIME_OUTPUT
export ROCPROFSYS_FLAMEGRAPH_OUTPUT
unset ROCPROFSYS_CONFIG_FILE
# rank NUMBER FOLDER [PREFIX]: as a launcher with three ranks starts it
rank() {
	number=$1
	shift
	OMPI_COMM_WORLD_RANK=$number OMPI_COMM_WORLD_SIZE=3 run rocprof-sys-run -TP -o "$@" -- true
	rc_is 0
}
merged() { (cd "$1" && ls | grep merged | tr '\n' ' '); }

rank 0 out/one
run rocprof-sys-merge-output out/one
rc_is 0
out_is "There is output of one process only: nothing to merge."
rank 2 out/one
run rocprof-sys-merge-output out/one
rc_is 0
err_has "warning: the job had 3 ranks, and there is output of 2"
is "$(merged out/one)" "merged-wall_clock.json merged-wall_clock.txt merged.proto " "merged files"
is "$(grep -c '^| |[02]|0>>> true  *|  *1 |' out/one/merged-wall_clock.txt)" 2 "rows of ranks"
cat out/one/perfetto-trace-[02].proto | cmp -s - out/one/merged.proto || fail "the trace of both"
# What was merged is not merged again; ranks can be in several folders, and added up.
rank 1 out/two
run rocprof-sys-merge-output --collapse-processes -o all out/one out/two
rc_is 0
is "$(cat "$err")" "" "messages about a complete job"
is "$(ls all | tr '\n' ' ')" "merged-wall_clock.json merged-wall_clock.txt merged.proto " "files of all"
grep -q '^| |0>>> true  *|  *3 |' all/merged-wall_clock.txt || fail "a row of three ranks: $(cat all/merged-wall_clock.txt)"
cat out/one/perfetto-trace-[02].proto out/two/perfetto-trace-1.proto | wc -c >size
is "$(stat -c %s all/merged.proto)" "$(tr -d ' ' <size)" "size of the trace of three ranks"

# Prefixes: a table for each, and one trace.
rank 0 three a
rank 1 three a
rank 0 three b
run rocprof-sys-merge-output three
is "$(merged three)" \
	"merged-a-wall_clock.json merged-a-wall_clock.txt merged-b-wall_clock.json merged-b-wall_clock.txt merged.proto " \
	"merged files with prefixes"
is "$(stat -c %s three/merged.proto)" "$(cat three/*-perfetto-trace-*.proto | wc -c)" "size of the trace of both prefixes"

# Mistakes.
run rocprof-sys-merge-output
rc_is 2
run rocprof-sys-merge-output out
rc_is 1
err_has "'out' has no output of processes, but folders that do: the newest is 'out/two'"
run rocprof-sys-merge-output out/one out/one
rc_is 2
err_has "are of the same process"
# A rank that was killed while it wrote: the rest is merged, and that is said.
printf '{"timemory": {' >out/one/wall_clock-2.json
rm out/one/merged*
run rocprof-sys-merge-output out/one
rc_is 1
err_has "rocprof-sys-merge-output: out/one/wall_clock-2.json:1: "
is "$(merged out/one)" "merged.proto " "what could be merged"
