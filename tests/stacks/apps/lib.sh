# Sourced by the tests of applications: where they run, and how they count. Each test is a script
#
#   tests/stacks/apps/NAME BUILD
#
# that prints a line per check and a summary, and exits with 1 if a check failed. It runs an application from a
# Debian package in a stack (scripts/stack), on software GPUs; packages that are missing there are installed.
#
#   app_begin NAME STACK PACKAGE...   sets $out, a folder that the stack sees, too
#   inside COMMAND...                 in the stack, without a GPU
#   on_gpus GPUS COMMAND...           in the stack, on software GPUs; $limit seconds at most
#   check WHAT COMMAND...             counts; the output is in $out/WHAT.log, its end is printed on failure
#   app_end                           the summary and the exit code
# shellcheck shell=sh
set -eu

tree=$(cd "$(dirname "$0")/../../.." && pwd)
build=$(cd "${1:?"usage: ${0##*/} BUILD"}" && pwd)
library=$build/lib/libwavescope-kfd.so
limit=600
n_passed=0
n_failed=0

app_begin() {
	app=$1 stack=$2
	shift 2
	[ -e "$library" ] || { echo "$app: no $library: build it first (ninja -C $build)" >&2; exit 2; }
	# shellcheck disable=SC2016
	"$tree/scripts/stack" "$stack" sh -c '
		from=$1
		shift
		dpkg-query -W "$@" >/dev/null 2>&1 && exit
		apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends -t "$from" "$@"
		rc=$?
		apt-get clean
		exit $rc' - "$stack" "$@" >"/tmp/wavescope-$app-install.log" 2>&1 ||
		{ echo "$app: cannot install $*: see /tmp/wavescope-$app-install.log" >&2; exit 2; }
	rm -f "/tmp/wavescope-$app-install.log"
	out=$(mktemp -d "/tmp/wavescope-$app.XXXXXX")
}

inside() {
	"$tree/scripts/stack" "$stack" "$@"
}

on_gpus() {
	gpus=$1
	shift
	inside env LD_PRELOAD="$library" WAVESCOPE_GPU="$gpus" timeout "$limit" "$@"
}

check() {
	what=$1
	shift
	log=$out/$(echo "$what" | tr -c 'a-zA-Z0-9\n' _).log
	begin=$(date +%s)
	if "$@" </dev/null >"$log" 2>&1; then
		word=ok
		n_passed=$((n_passed + 1))
	else
		word=FAILED
		n_failed=$((n_failed + 1))
	fi
	printf '  %-44s %-6s %4d s\n' "$what" "$word" $(($(date +%s) - begin))
	[ "$word" = ok ] || tail -n 8 "$log" | cut -c 1-160 | sed 's/^/    | /'
}

app_end() {
	echo "$app: $n_passed passed, $n_failed failed"
	if [ "$n_failed" -gt 0 ]; then
		echo "$app: the output is in $out" >&2
		exit 1
	fi
	rm -rf "$out"
}
