#!/bin/sh
# Runs a program under rocm-trace-lite, a separate project. RTL_MODE is its mode; the trace is
# ${RTL_WRAPPER_OUTPUT_DIR:-rocm_trace_lite_output}/trace.db, or RTL_WRAPPER_TRACE_DB.
#
#   rtl_trace_wrapper.sh PROGRAM [ARG...]

folder=${RTL_WRAPPER_OUTPUT_DIR:-rocm_trace_lite_output}
trace=${RTL_WRAPPER_TRACE_DB:-$folder/trace.db}
mkdir -p "$folder" "$(dirname "$trace")" || exit 1
if command -v rtl >/dev/null; then
	exec rtl trace ${RTL_MODE:+--mode "$RTL_MODE"} -o "$trace" "$@"
elif python3 -c 'import rocm_trace_lite.cli' 2>/dev/null; then
	exec python3 -m rocm_trace_lite.cli trace ${RTL_MODE:+--mode "$RTL_MODE"} -o "$trace" "$@"
fi
echo "rtl_trace_wrapper.sh: rocm-trace-lite is not installed: 'pip install' its wheel, or use the tool" \
	"rocprofv3_lightweight" >&2
exit 127
