#!/bin/sh
# Which files a run writes, where, and what it says about them.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
HOME=$work
# What a run samples is the matter of another test.
ROCPROFSYS_USE_SAMPLING=false ROCPROFSYS_USE_PROCESS_SAMPLING=false
export HOME ROCPROFSYS_USE_SAMPLING ROCPROFSYS_USE_PROCESS_SAMPLING
unset ROCPROFSYS_CONFIG_FILE ROCPROFSYS_TRACE
files() { (cd "$1" && find . -type f | sort | tr '\n' ' '); }

# As typed in AMD's training material, with the names that its scripts look for.
run rocprof-sys-run --profile --trace -- "$vcopy" -n 4096
rc_is 0
dir=$(echo rocprofsys-vcopy-output/20??-??-??_??.??)
[ -d "$dir" ] || fail "no folder with the time: $(find . | head)"
pid=$(sed -n 's/^\[rocprof-sys\]\[\([0-9]*\)\]\[metadata\].*/\1/p' "$err")
for name in "perfetto-trace-$pid.proto" "wall_clock-$pid.txt" "wall_clock-$pid.json" "metadata-$pid.json" \
	"functions-$pid.json"; do
	[ -s "$dir/$name" ] || fail "no $name in $dir: $(files "$dir")"
	err_has "]> Outputting '$dir/$name'"
done
grep -q "\[perfetto\]> Outputting '$dir/perfetto-trace-$pid.proto' ([0-9.]* KB / [0-9.]* MB / [0-9.]* GB)... Done" \
	"$err" || fail "no size of the trace"
grep -q "rocprof-sys/process/$pid : [0-9.]* sec wall_clock.* \[laps: 1\]$" "$err" || fail "no summary"
# The accounts, as rocprofv3 has them.
err_has "rocprof-sys-run: process $pid (vcopy)"
err_has "    kernel dispatches                  1           1           0"
grep -q '>>> .*hipLaunchKernel' "$dir/wall_clock-$pid.txt" || fail "no HIP call in the profile"
"$PYTHON" - "$dir/metadata-$pid.json" "$dir" "$pid" <<'END' || fail "metadata"
import json, sys
one = json.load(open(sys.argv[1]))["rocprofiler-systems"]["metadata"]
assert one["settings"]["ROCPROFSYS_PROFILE"]["value"] is True
assert one["settings"]["ROCPROFSYS_SAMPLING_FREQ"]["value"] == 300
assert "perfetto-trace-%s.proto" % sys.argv[3] in json.dumps(one["output"]), one["output"]
END
# Nothing else is left.
is "$(find . -name '.rocprof*' -o -name '*.lock' -o -name '*.partial')" "" "left behind"

# Fixed names, a prefix, a trace of another name, no profile.
run rocprof-sys-run -T -o out run1 --time-output off --use-pid=off --trace-file sub/t.pftrace -- "$vcopy" -n 4096
rc_is 0
is "$(files out)" "./run1-functions.json ./run1-metadata.json ./run1-sub/t.pftrace " "files with a prefix"

# A profile alone when only that is requested; as JSON; and the database.
run rocprof-sys-run -P --profile-format json --use-rocpd -o two --time-output off --use-pid off \
	--flamegraph-output off -- "$vcopy" -n 4096
rc_is 0
is "$(files two)" "./functions.json ./metadata.json ./rocpd.db ./wall_clock.json " "files of a profile"
is "$(sqlite3 two/rocpd.db 'select count(*) from kernels')" 1 "kernels in the database"
err_has "[rocpd]> Outputting 'two/rocpd.db'"

# The tables on the terminal.
run rocprof-sys-run -F --profile-format console --file-output off -o three -- "$vcopy" -n 4096
rc_is 0
out_has "REAL-CLOCK TIMER"

# The command line is stronger than the environment, and that than a file.
printf 'trace = off\nverbose = -1\nuse_pid = off\ntime_output = off\noutput_path = from-file\n' >weak.cfg
ROCPROFSYS_OUTPUT_PATH=from-env run rocprof-sys-run -c weak.cfg -T -- "$vcopy" -n 4096
rc_is 0
err_lacks rocprof-sys
is "$(files from-env)" "./functions.json ./metadata.json ./perfetto-trace.proto " "files by origin"
# The same from JSON, and from what -G wrote.
run rocprof-sys-avail -G weak.json
ROCPROFSYS_CONFIG_FILE=weak.json:weak.cfg run rocprof-sys-run -o json -P -- "$vcopy" -n 4096
rc_is 0
[ -s json/wall_clock.txt ] || fail "no profile: $(files json)"

# Domains that are not recorded are not there; ENABLED=false records nothing at all.
run rocprof-sys-run -o four --use-pid off --time-output off --rocm-domains kernel_dispatch -- "$vcopy" -n 4096
err_has "kernel dispatches"
err_lacks "HIP calls"
run rocprof-sys-run -o five -E rocm --use-pid off --time-output off -- "$vcopy" -n 4096
rc_is 0
err_lacks "kernel dispatches"
ROCPROFSYS_ENABLED=false run rocprof-sys-run -o six -- "$vcopy" -n 4096
rc_is 0
[ ! -e six ] || fail "output of a program that was not recorded"

# A window that begins after the end of the program: everything was seen while paused.
run rocprof-sys-run -o seven --trace-wait 600 --use-pid off --time-output off -- "$vcopy" -n 4096
rc_is 0
grep -q 'kernel dispatches  *0  *0  *0  (1 while paused)' "$err" || fail "records outside the window"

# Counters of the GPU.
run rocprof-sys-run -P -G SQ_WAVES -o eight --use-pid off --time-output off -- "$vcopy" -n 4096
rc_is 0
grep -q SQ_WAVES eight/rocprof-device-0-SQ_WAVES.txt || fail "no counter table: $(files eight)"
run rocprof-sys-run -G NO_SUCH -- "$vcopy" -n 4096
rc_is 1
err_has "rocprof-sys-run: ROCPROFSYS_ROCM_EVENTS: "

# A folder that cannot be written to: the program ran, and the captures are kept for --recover.
: >file
run rocprof-sys-run -T -o file/x -- "$vcopy" -n 4096
rc_is 1
