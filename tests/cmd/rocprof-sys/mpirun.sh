#!/bin/sh
# Ranks of real MPI launchers: one set of files per rank, however the command is written.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
HOME=$work
ROCPROFSYS_USE_SAMPLING=false ROCPROFSYS_USE_PROCESS_SAMPLING=false ROCPROFSYS_TIME_OUTPUT=off
export HOME ROCPROFSYS_USE_SAMPLING ROCPROFSYS_USE_PROCESS_SAMPLING ROCPROFSYS_TIME_OUTPUT
printf 'profile = on\n' >my.cfg

# files_of FOLDER: those of three ranks, and no others.
files_of() {
	rc_is 0
	for rank in 0 1 2; do
		for name in perfetto-trace-$rank.proto wall_clock-$rank.txt metadata-$rank.json; do
			[ -s "$1/$name" ] || fail "no $name: $(ls "$1")"
		done
		grep -q hipLaunchKernel "$1/wall_clock-$rank.txt" || fail "no call of rank $rank"
	done
	is "$(ls "$1" | grep -c '^perfetto-trace-[0-9].proto')" 3 "traces of ranks in $1"
}

# merged_of FOLDER: the traces of all ranks, one after the other.
merged_of() {
	cat "$1"/perfetto-trace-[0-9].proto | cmp -s - "$1/merged.proto" || fail "the merged trace in $1"
	for rank in 0 1 2; do
		is "$(grep -ac "Rank $rank" "$1/perfetto-trace-$rank.proto")" 1 "label of rank $rank"
	done
}

every_way() { # LAUNCHER NAME
	run $1 -n 3 rocprof-sys-run -c my.cfg -T -o "$2-%tag%" --perfetto-combine-traces --collapse-processes -- \
		"$vcopy" -n 4096
	files_of "$2-vcopy"
	# The rank that ended last has merged them.
	merged_of "$2-vcopy"
	grep -q '^| |0>>> .*|_hipLaunchKernel  *|  *3 |' "$2-vcopy/merged-wall_clock.txt" || fail "calls of all ranks"
	run rocprof-sys-run -c my.cfg -T -o "$2-launcher" -l vcopy -- $1 -n 3 "$vcopy" -n 4096
	files_of "$2-launcher"
	# Later, by a command; and by AMD's name for it.
	run rocprof-sys-merge-output "$2-launcher"
	rc_is 0
	out_has "$2-launcher/merged-wall_clock.txt"
	merged_of "$2-launcher"
	for rank in 0 1 2; do
		is "$(grep -c "^| |$rank|0>>> .*hipLaunchKernel  *|  *1 |" "$2-launcher/merged-wall_clock.txt")" 1 \
			"calls of rank $rank"
	done
	rm "$2-launcher"/merged* "$2-launcher"/*-1.*
	run "$WS_SOURCE/bin/rocprof-sys-merge-output.sh" "$2-launcher"
	rc_is 0
	err_has "the job had 3 ranks, and there is output of 2"
	cat "$2"-launcher/perfetto-trace-[02].proto | cmp -s - "$2-launcher/merged.proto" || fail "a trace of two ranks"
	# One front end for all: it follows them.
	run rocprof-sys-run -c my.cfg -T -o "$2-outside" --perfetto-combine-traces -- $1 -n 3 "$vcopy" -n 4096
	files_of "$2-outside"
	is "$(stat -c %s "$2-outside/merged.proto")" "$(cat "$2"-outside/perfetto-trace-*.proto | wc -c)" "merged trace"
}

if part_needs mpirun.openmpi; then
	every_way "mpirun.openmpi --allow-run-as-root --oversubscribe" openmpi
fi
if part_needs mpiexec.mpich; then
	every_way mpiexec.mpich mpich
fi
