#!/bin/sh
# Exit codes and signals of the program, several processes, ranks, killed programs, killed front ends.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
HOME=$work
# What a run samples is the matter of another test.
ROCPROFSYS_USE_SAMPLING=false ROCPROFSYS_USE_PROCESS_SAMPLING=false
export HOME ROCPROFSYS_USE_SAMPLING ROCPROFSYS_USE_PROCESS_SAMPLING
plain="--time-output off"
names() { (cd "$1" && ls | tr '\n' ' '); }

run rocprof-sys-run -v -1 -- sh -c 'exit 7'
rc_is 7
run rocprof-sys-run -v -1 -- sh -c 'kill -TERM $$'
rc_is 143
run rocprof-sys-sample -v -1 -- sh -c 'exit 8'
rc_is 8

# Two programs of one command have their own files, also where their names would be the same.
run rocprof-sys-run -T -o two $plain -- sh -c "$vcopy -n 4096; $vcopy -n 4096"
rc_is 0
# The shell has one, too.
with_kernels() { grep -l vecCopy "$1"/perfetto-trace* | wc -l | tr -d ' '; }
is "$(with_kernels two)" 2 "traces of two processes"
run rocprof-sys-run -T -o same $plain --use-pid off -- sh -c "$vcopy -n 4096; $vcopy -n 4096"
is "$(with_kernels same)" 2 "traces of two processes of one name"
[ -e same/perfetto-trace.proto ] || fail "no plain name: $(names same)"
run rocprof-sys-run -T -o merged $plain --perfetto-combine-traces -- sh -c "$vcopy -n 4096; $vcopy -n 4096"
is "$(stat -c %s merged/merged.proto)" "$(cat merged/perfetto-trace-*.proto | wc -c)" "size of the merged trace"
run rocprof-sys-run -P -o collapsed $plain --collapse-processes --use-pid off -- sh -c "$vcopy -n 4096; $vcopy -n 4096"
rc_is 0
is "$(ls collapsed | grep -c '^wall_clock.*txt$')" 1 "profiles of two processes"
grep -q '_hipLaunchKernel *|  *2 |\|hipLaunchKernel *|  *2 |' collapsed/wall_clock.txt ||
	fail "calls of two processes are not summed: $(grep hipLaunch collapsed/wall_clock.txt)"
run rocprof-sys-run -T -o alone $plain --follow-children off -- sh -c "$vcopy -n 4096; true"
[ ! -e alone ] || is "$(with_kernels alone)" 0 "traces without children"

# Ranks: one set of files each, named by rank, without pids.
for rank in 0 1; do
	OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=2 run rocprof-sys-run -PT -o ranks $plain --use-pid off -- \
		"$vcopy" -n 4096
	rc_is 0
done
for name in perfetto-trace-0.proto perfetto-trace-1.proto wall_clock-0.txt wall_clock-1.txt metadata-0.json; do
	[ -s "ranks/$name" ] || fail "no $name: $(names ranks)"
done
! ls ranks | grep -q -- '-[0-9][0-9]' || fail "pids in names: $(names ranks)"

# Under a launcher that is not profiled itself.
cat >launcher <<'END'
#!/bin/sh
shift 2
for rank in 0 1; do OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=2 "$@"; done
END
chmod +x launcher
run rocprof-sys-run -T -o launched $plain -l vcopy -- ./launcher -n 2 "$vcopy" -n 4096
rc_is 0
is "$(ls launched | grep -c '^perfetto-trace-[01].proto$')" 2 "traces of launched ranks"
run rocprof-sys-run -l nothing -- ./launcher -n 2 "$vcopy"
rc_is 2
err_is "rocprof-sys-run: option '--launcher': no word of the command after './launcher' matches 'nothing'"

# A program that is killed has its records in the output.
run rocprof-sys-run -T -o killed $plain --use-pid off -- sh -c "$vcopy -n 4096; kill -KILL \$\$"
rc_is 137
is "$(with_kernels killed)" 1 "traces of a killed program"

# A front end that is killed leaves captures that --recover converts.
mkdir later
(
	cd later
	rocprof-sys-run -T -o lost $plain --use-pid off -- sh -c "$vcopy -n 4096; exec sleep 30" >/dev/null 2>&1 &
	front=$!
	# Until the program has ended and sleeps in its place.
	for i in $(seq 100); do
		sleep 0.2
		[ "$(ps -o comm= --ppid $front)" != sleep ] || break
	done
	child=$(ps -o pid= --ppid $front)
	kill -KILL $front
	# shellcheck disable=SC2086 # a list of pids
	kill $child
)
left=$(dirname "$(find later -name '*.wcap' | head -1)")
[ -d "$left" ] || fail "no captures are left"
case $left in later/lost/.rocprof-sys/*) ;; *) fail "captures are in $left" ;; esac
run rocprof-sys-run --recover "$left"
rc_is 0
is "$(with_kernels later/lost)" 1 "recovered traces"
err_has "can be removed now"
run rocprof-sys-run --recover later/lost
rc_is 1

# No space for the captures of a script's programs: said once, counted, and nothing is left behind.
run rocprof-sys-run -P -o nowhere --use-sampling off --use-process-sampling off -E rocm -- \
	sh -c 'ulimit -f 8; for i in 1 2 3; do env true; done'
rc_is 1
is "$(grep -c 'wavescope: nothing is recorded: no space for the capture' "$err")" 1 "messages of the programs"
err_has "3 processes could not create the capture file"
is "$(find nowhere -name '.rocprof*' -o -name complained)" "" "left behind"
