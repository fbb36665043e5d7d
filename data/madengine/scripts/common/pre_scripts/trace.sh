#!/bin/sh
# Prepares a tracer that is a separate project: rpd or rocm_trace_lite. Run in the model's folder.
set -e

complain() {
	echo "pre_scripts/trace.sh: $*" >&2
	exit 1
}

case ${1:-} in
rpd)
	# the command of the tool is ./rocmProfileData/rpd_tracer/runTracer.sh
	[ ! -x rocmProfileData/rpd_tracer/runTracer.sh ] || exit 0
	installed=${RPD_PATH:+$RPD_PATH/rpd_tracer/runTracer.sh}
	[ -n "$installed" ] || installed=$(command -v runTracer.sh) || installed=
	[ -x "$installed" ] ||
		complain "rpd is not installed: build https://github.com/ROCm/rocmProfileData and set RPD_PATH to" \
			"its folder, or use the tool rocprofv3_lightweight"
	mkdir -p rocmProfileData/rpd_tracer
	ln -sf "$(readlink -f "$installed")" rocmProfileData/rpd_tracer/runTracer.sh
	[ -z "${RPD_PATH:-}" ] || ln -sfn "$(readlink -f "$RPD_PATH")/tools" rocmProfileData/tools
	;;
rocm_trace_lite)
	! command -v rtl >/dev/null || exit 0
	! python3 -c 'import rocm_trace_lite.cli' 2>/dev/null || exit 0
	[ -n "${ROCM_TRACE_LITE_WHEEL_URL:-}" ] ||
		complain "rocm-trace-lite is not installed: 'pip install' its wheel, set" \
			"ROCM_TRACE_LITE_WHEEL_URL to it, or use the tool rocprofv3_lightweight"
	python3 -m pip install "$ROCM_TRACE_LITE_WHEEL_URL" ||
		complain "cannot install $ROCM_TRACE_LITE_WHEEL_URL"
	;;
*)
	complain "no tracer '${1:-}': rpd or rocm_trace_lite"
	;;
esac
