#!/bin/sh
# Runs a program under the ROCm profiler that is installed: rocprofv3, else rocprof.
#
#   rocprof_wrapper.sh OPTION... -- PROGRAM [ARG...]
#
# The first -- ends the options; later ones belong to the program. The exit status is that of the profiler,
# which is that of the program.

complain() { echo "rocprof_wrapper.sh: $*" >&2; }

rocm_version() {
	version=$(rocm-smi --version 2>/dev/null | sed -n 's/.*ROCm version: *\([0-9][0-9.]*\).*/\1/p' | head -n 1)
	for file in /opt/rocm/.info/version "${ROCM_PATH:-/opt/rocm}/.info/version"; do
		[ -n "$version" ] || version=$(sed -n '1s/^\([0-9][0-9.]*\).*/\1/p' "$file" 2>/dev/null)
	done
	echo "$version"
}

# filtered PATTERN COMMAND...: without the lines of stderr that contain the pattern. The filter reads a FIFO
# and not a pipe: a process that the program leaves running keeps us for a second and no longer.
filtered() {
	pattern=$1
	shift
	folder=$(mktemp -d "${TMPDIR:-/tmp}/rocprof_wrapper.XXXXXX") || exec "$@"
	mkfifo "$folder/stderr" || exec "$@"
	{
		grep --line-buffered -v -e "$pattern" >&2
		: >"$folder/done"
	} <"$folder/stderr" &
	"$@" 2>"$folder/stderr"
	status=$?
	tries=0
	while [ ! -e "$folder/done" ] && [ $tries -lt 20 ]; do
		sleep 0.05
		tries=$((tries + 1))
	done
	rm -rf "$folder"
	exit $status
}

separated=
for word; do
	[ "$word" != -- ] || separated=yes
done

if profiler=$(command -v rocprofv3); then
	if [ -z "$separated" ]; then
		complain "no '--' between the options and the program: end 'cmd' with ' --', as in" \
			"'bash ../scripts/common/tools/rocprof_wrapper.sh --sys-trace --'"
		exit 2
	fi
	case $(readlink -f "$profiler") in
	*/wavescope) exec rocprofv3 "$@" ;;
	esac
	filtered 'sql text value for value is empty. Using NULL instead' rocprofv3 "$@"
elif command -v rocprof >/dev/null; then
	version=$(rocm_version)
	case ${version:-0} in
	[0-6] | [0-6].*) ;;
	*) complain "warning: ROCm $version has rocprofv3, but it is not on PATH: rocprof is used" ;;
	esac
	# rocprof has no separator: the first -- is left out
	n=$#
	while [ "$n" -gt 0 ]; do
		word=$1
		shift
		n=$((n - 1))
		if [ "$word" = -- ] && [ -n "$separated" ]; then
			separated=
		else
			set -- "$@" "$word"
		fi
	done
	filtered 'WARNING: We are phasing out\|roctracer/rocprofiler\|rocprofv2 in favor' rocprof "$@"
else
	complain "neither rocprofv3 nor rocprof is on PATH: install wavescope or ROCm's profiler"
	exit 1
fi
