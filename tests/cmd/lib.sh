# What the command tests share. A test types what a user types, and ends with 0,
# or says what is wrong and ends with 1, or says why it cannot run and ends with 77.
# One that ran in part ends with 77 too: what did not run never counts as passed.
#
#   . "$WS_SOURCE/tests/cmd/lib.sh"
#   run wavescope run -- ./app        fills $rc, $out and $err (files)
#   rc_is 3; out_has text; err_is text; ...
#
# Meson sets WS_SOURCE and WS_BUILD. $work is a fresh folder, removed at the end.
set -eu

PATH=$WS_BUILD/bin:$PATH
export PATH
unset WAVESCOPE_GPU WAVESCOPE_LOG WAVESCOPE_WORKERS
# On a busy machine any kernel may take so long that the software GPU says so.
WAVESCOPE_PROGRESS=off
export WAVESCOPE_PROGRESS
# ROCr 6.1 (Debian 13) uses memory that it has freed while it shuts down: Meson shall not overwrite it there.
[ -e "$WS_BUILD/lib/libhsakmt.so.1" ] || unset MALLOC_PERTURB_
# Meson adds the folders of the libraries that it built for the test. A user has none of them there, and
# the software GPU would be found without being asked for.
libraries=
for folder in $(IFS=:; echo ${LD_LIBRARY_PATH-}); do
	case $folder in "$WS_BUILD"*) ;; *) libraries=${libraries:+$libraries:}$folder ;; esac
done
unset LD_LIBRARY_PATH
[ -z "$libraries" ] || export LD_LIBRARY_PATH="$libraries"
# Complaints and help are compared as text.
LC_ALL=C NO_COLOR=1 COLUMNS=80
# The source tree stays as it is.
PYTHONDONTWRITEBYTECODE=1
export LC_ALL NO_COLOR COLUMNS PYTHONDONTWRITEBYTECODE

work=$(mktemp -d "${TMPDIR:-/tmp}/ws-test.XXXXXX")
skipped_part=
cleanup() { :; } # tests that leave something behind replace it
at_end() {
	ended=$?
	cleanup || :
	rm -rf "$work"
	[ $ended -ne 0 ] || [ -z "$skipped_part" ] || exit 77
}
trap at_end EXIT
trap 'exit 1' INT TERM
# Peaks that were measured in an earlier test, or by a user, are not this test's.
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
out=$work/stdout
err=$work/stderr
rc=none

fail() {
	echo "FAIL: $*"
	for file in "$out" "$err"; do
		[ -s "$file" ] && sed "s|^|  ${file##*/}: |" "$file" | tail -40
	done
	exit 1
}

skip() {
	echo "SKIP: $*"
	exit 77
}

# A part of the test cannot run; the rest does, and the test counts as skipped unless it fails.
skip_part() {
	echo "SKIP: $*"
	skipped_part=yes
}

# if part_needs PROGRAM; then ...; fi
part_needs() {
	command -v "$1" >/dev/null 2>&1 || {
		skip_part "$1 is not installed"
		return 1
	}
}

# Run a command with a time limit; its exit code becomes $rc, and never ends the test.
run() {
	shown="$*"
	rc=0
	timeout "${limit_s:-60}" "$@" >"$out" 2>"$err" || rc=$?
	[ "$rc" -ne 124 ] || fail "'$shown' hangs"
}

rc_is() { [ "$rc" -eq "$1" ] || fail "'$shown' ended with $rc, not $1"; }
out_has() { grep -qF -e "$1" "$out" || fail "'$shown' does not print '$1'"; }
out_lacks() { ! grep -qF -e "$1" "$out" || fail "'$shown' prints '$1'"; }
err_has() { grep -qF -e "$1" "$err" || fail "'$shown' does not complain '$1'"; }
out_is() { printf '%s\n' "$1" | cmp -s - "$out" || fail "'$shown' does not print just '$1'"; }
err_is() { printf '%s\n' "$1" | cmp -s - "$err" || fail "'$shown' does not complain just '$1'"; }
out_is_empty() { [ ! -s "$out" ] || fail "'$shown' prints something"; }
err_is_empty() { [ ! -s "$err" ] || fail "'$shown' complains"; }

# No line of the last output is wider than a terminal.
out_fits() {
	awk 'length > 80 { print FILENAME ": " $0; bad = 1 } END { exit bad }' "$out" ||
		fail "'$shown' prints lines longer than 80 columns"
}

# An installation in $work/prefix, with an empty file for the software GPU: enough
# for tests of how programs are started, and needs no GPU of any kind.
fake_install() {
	mkdir -p "$work/prefix/bin" "$work/prefix/lib/wavescope"
	cp "$WS_BUILD/bin/wavescope" "$work/prefix/bin/"
	: >"$work/prefix/lib/wavescope/libhsakmt.so.1"
	unset WAVESCOPE_DRIVER # there is no other
	PATH=$work/prefix/bin:$PATH
}

need_softgpu() {
	[ -e "$WS_BUILD/lib/libwavescope-kfd.so" ] || skip "the software GPU is not in this build"
}

need_sample() {
	[ -x "$WS_BUILD/samples/$1" ] || skip "sample $1 is not in this build (no hipcc?)"
}

need_program() {
	command -v "$1" >/dev/null 2>&1 || skip "$1 is not installed"
}

# The collector and its wrappers, the software GPU and a program to trace: all that
# rocprofv3 needs to record something.
need_tracing() {
	need_softgpu
	for lib in libwavescope-collector.so libwavescope-hip.so librocprofiler-sdk-roctx.so.1; do
		[ -e "$WS_BUILD/lib/$lib" ] || skip "$lib is not in this build"
	done
	need_sample vcopy
	vcopy=$WS_BUILD/samples/vcopy
	unset ROCPROF_OUTPUT_PATH ROCPROF_OUTPUT_FILE_NAME ROCPROF_OUTPUT_FORMAT ROCPROF_TMPDIR
	cd "$work"
}

# The workload folder of a recording of tests/recorded, in $work.
unpack_recording() { "$PYTHON" "$WS_SOURCE/tests/recorded/recording.py" unpack "$1" "$work/$2"; }

# Rows of a CSV file without its header.
rows() { sed 1d "$1" | wc -l; }
err_lacks() { ! grep -qF -e "$1" "$err" || fail "'$shown' complains '$1'"; }
is() { [ "$1" = "$2" ] || fail "${3:-value}: '$1' is not '$2'"; }
# What two commands print, and what two files hold, is the same, and not because there is nothing.
same() {
	[ -n "$1" ] || fail "${3:-value}: nothing to compare"
	is "$@"
}
same_files() { # FILE FILE COMPLAINT
	[ -s "$1" ] || fail "$3: $1 is empty"
	cmp -s "$1" "$2" || fail "$3: $(diff "$1" "$2" | head -5)"
}
