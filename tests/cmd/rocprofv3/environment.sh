#!/bin/sh
# ROCPROF_ variables preset options; what is typed wins.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
export ROCPROF_KERNEL_TRACE=1 ROCPROF_OUTPUT_PATH=env ROCPROF_OUTPUT_FILE_NAME=e ROCPROF_OUTPUT_FORMAT="csv;json"
run rocprofv3 -- "$vcopy" -n 65536 -b 256
rc_is 0
is "$(ls env | tr '\n' ' ')" "e_agent_info.csv e_kernel_trace.csv e_results.json " files
run rocprofv3 -o typed -f pftrace -- "$vcopy" -n 65536 -b 256
rc_is 0
is "$(cd env && echo typed*)" "typed_agent_info.csv typed_kernel_trace.csv typed_results.json typed_results.pftrace" files
run rocprofv3 --kernel-trace=no --memory-copy-trace -o copies -f csv -- "$vcopy" -n 65536 -b 256
rc_is 0
[ ! -e env/copies_kernel_trace.csv ] || fail "a typed no lost against the environment"
ROCPROF_KERNEL_TRACE= run rocprofv3 -- true
rc_is 2
err_has "ROCPROF_KERNEL_TRACE is empty"
ROCPROF_OUTPUT_FORMAT=xml run rocprofv3 -- true
rc_is 2
err_has "no choice 'xml'"
# The program's environment has no trace of them, but for what injects.
unset ROCPROF_KERNEL_TRACE ROCPROF_OUTPUT_PATH ROCPROF_OUTPUT_FILE_NAME ROCPROF_OUTPUT_FORMAT
env | grep -v '^_=' | sort >before
rocprofv3 --kernel-trace -- env 2>"$err" | grep -v '^_=' | sort >after
# (a sanitized build adds the sanitizer's options, and the thunk interface a folder of libraries)
is "$(comm -13 before after | cut -d= -f1 | grep -v -e SAN_OPTIONS -e LD_LIBRARY_PATH | tr '\n' ' ')" \
	"HSA_TOOLS_LIB LD_PRELOAD WAVESCOPE_COLLECT WAVESCOPE_GPU " "changed variables"
# Settings on request.
run rocprofv3 --log-level config --kernel-trace -- true
err_has "kernel_trace"
err_has "WAVESCOPE_COLLECT=1;dir="
