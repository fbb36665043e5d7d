#!/bin/sh
# Where files go, and what is said when they cannot.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
traced() { run rocprofv3 --kernel-trace -f csv "$@" -- "$vcopy" -n 4096 -b 256; }

# A name from the root stands by itself; nothing is left where we stand.
mkdir here
cd here
traced -o "$work/abs/run%arg1%"
rc_is 0
is "$(cd "$work/abs" && echo *)" "run-n_agent_info.csv run-n_kernel_trace.csv" files
is "$(ls -A)" "" "what is left here"
printf 'jobs:\n  - pmc: [SQ_WAVES]\n  - pmc: [SQ_INSTS_VALU]\n' >jobs.yaml
run rocprofv3 -i jobs.yaml -f csv -o "$work/jobs/run" -- "$vcopy" -n 4096 -b 256
rc_is 0
for n in 1 2; do
	[ -s "$work/jobs/pass_$n/run_counter_collection.csv" ] || fail "no pass_$n beside the name"
done

# An empty one is none; folders that lead nowhere are not shown.
traced -d "" -o ""
rc_is 0
err_has "Opened result file: $work/here/$(hostname)/"
traced -d ./a//b/ -o x
rc_is 0
err_has "Opened result file: $work/here/a/b/x_kernel_trace.csv"

# No room for a capture: the program runs to its end, and we say that there is nothing.
run rocprofv3 --marker-trace -d full -- "${PYTHON:-python3}" -c '
import ctypes, resource
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
ctypes.CDLL("librocprofiler-sdk-roctx.so.1").roctxMarkA(b"here")
print("done")'
out_is done
err_has "1 process could not create the capture file: ROCPROF_TMPDIR=DIR puts it elsewhere"
rc_is 1
[ -z "$(find full -type f)" ] || fail "something is left"

# A stream is no file.
traced -d stdout
rc_is 0
out_has '"Kind","Agent_Id","Queue_Id"'
err_lacks "Opened result file"
