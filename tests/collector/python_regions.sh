#!/usr/bin/env bash
# Python functions as regions, with every Python that is here: numbers of calls, path by path.
#
#	python_regions.sh SOURCE BUILD BEHAVIOUR
set -euo pipefail
source=$1 build=$2 behaviour=$3 here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAIL: $python: $*" >&2; [ ! -e "$work/paths" ] || head -50 "$work/paths" >&2; exit 1; }
! [[ $(ldd "$build/lib/libwavescope-collector.so") == *lib[at]san* ]] ||
	{ echo "SKIP: a sanitizer must be loaded before the interpreter"; exit 77; }
script=$here/python_script.py

# profile CODE OPTION... -- WORD: what the script does as paths
profile() {
	local want=$1 code=0
	shift
	rm -rf "$work/run"; mkdir "$work/run"
	timeout 60 env WAVESCOPE_COLLECT="1;dir=$work/run;services=regions" WAVESCOPE_PYTHON=1 \
		PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore::DeprecationWarning PYTHONPATH="$source/python" \
		LD_PRELOAD="$build/lib/libwavescope-collector.so" \
		"$python" -m rocprofsys "${@:1:$#-1}" "$script" "${@: -1}" >"$work/out" 2>"$work/err" || code=$?
	[ $code = $want ] || fail "exit code $code instead of $want: $(cat "$work/err")"
	: >"$work/text"
	for file in $(ls -v "$work"/run/*); do "$build/tests/collector/capture-dump" "$file" >>"$work/text"; done
	! grep -q 'DAMAGE any=1' "$work/text" || fail "the capture is damaged"
	python3 "$here/regions.py" "$work/text" >"$work/all" || fail "the records are wrong"
	# the standard library's own functions differ between versions
	grep -Ev '/(add|_remove|__init__|__exit__|__enter__|_[a-z_]*|__[a-z]*__)($|/)| [0-9]+ (_remove|_[a-z]+)$' \
		"$work/all" >"$work/paths" || :
}
is() { grep -qxF -- "$1" "$work/paths" || fail "no line '$1'"; }
lacks() { ! grep -q -- "$1" "$work/paths" || fail "there is $(grep -- "$1" "$work/paths")"; }
quiet() { [ ! -s "$work/err" ] || fail "stderr: $(cat "$work/err")"; }

calls() {
	profile 0 -- everything; quiet
	p='0 0 python'
	is "$p 1 everything"; is "$p 1 everything/fib"; is "$p 2 everything/fib/fib"
	is "$p 4 everything/fib/fib/fib"; is "$p 2 everything/fib/fib/fib/fib"
	is "$p 4 everything/numbers" # each time that it goes on
	is "$p 1 everything/closes"; is "$p $([ "$version" = 3.13 ] && echo 1 || echo 2) everything/closes/numbers" # 3.13 does not resume it to close it
	is "$p 1 everything/raises"; is "$p 1 everything/raises/raises"; is "$p 1 everything/raises/raises/raises"
	for thread in 1 2 3; do is "0 $thread python 1 worker"; is "0 $thread python 2 worker/fib/fib"; done
	lacks 'open$'; lacks stray; lacks lambda; lacks module
}
ends() {
	profile 5 -- leaves; quiet; is '0 0 python 1 leaves'; lacks 'open$'
	# an exception that nobody catches: Python's own message, without frames of ours
	profile 1 -- fails
	grep -q '^ValueError: at the bottom' "$work/err" || fail "no message: $(cat "$work/err")"
	! grep -q rocprofsys "$work/err" || fail "frames of ours: $(cat "$work/err")"
	is '0 0 python 1 fails/raises/raises'
	profile 0 -- forks; quiet
	is '0 0 python 1 forks'; is '0 0 python 1 forks/worker/fib'; is '1 0 python 1 fib'; is '1 0 python 2 fib/fib'
	lacks stray
	profile 0 -- deep; quiet
	[ "$(grep -c 'deep$' "$work/paths")" = 601 ] || fail "$(grep -c 'deep$' "$work/paths") levels"
}
options() {
	profile 0 --label file line -- filters; quiet
	is "0 0 python 1 [filters][python_script.py:$(grep -n 'def filters' "$script" | cut -d: -f1)]/[hidden][python_script.py:$(grep -n 'def hidden' "$script" | cut -d: -f1)]/[fib][python_script.py:$(grep -n 'def fib' "$script" | cut -d: -f1)]"
	profile 0 --label args -- filters; is '0 0 python 1 filters()/worker()/fib(n=3)/fib(n=2)/fib(n=1)'
	profile 0 -F yes --label file -- filters; is "0 0 python 1 [filters][$script]"
	profile 0 -E '^hidden$' -- filters; is '0 0 python 1 filters/worker/fib'; lacks hidden; lacks 'filters/fib'
	profile 0 -v 1 -E '^hidden$' -- filters
	grep -q "^rocprof-sys-python: not recorded: hidden (.*python_script.py:" "$work/err" || fail "$(cat "$work/err")"
	profile 0 -R '^fib$' -- filters; is '0 0 python 2 fib'; lacks filters
	profile 0 -ME python_script -- filters; lacks filters
	profile 0 -ME python_script -MI 'script\.py$' -- filters; is '0 0 python 1 filters/worker'
	profile 0 -MR nowhere -I '^hidden$' -- filters; is '0 0 python 1 hidden'; lacks worker
	profile 0 --trace-c -- sleeps; is '0 0 python 1 sleeps/sleep'; is '0 0 python 1 sleeps/len'; lacks 'open$'
	profile 0 -a -- filters
	line=$(grep -n 'def filters' "$script" | cut -d: -f1)
	is "0 annotation filters kind=12 0 file text=$script"
	is "0 annotation filters kind=4 $(printf '0x%x' "$line") line text="
	is '0 annotation filters/hidden/fib kind=4 0x1 argcount text='
	profile 0 -b -- marked; quiet
	is '0 0 python 1 fib'; is '0 0 python 2 fib/fib'; is '0 0 python 1 decorated'; is '0 0 python 1 decorated/fib'
	lacks worker; lacks marked; lacks unseen
	profile 0 -- marked; is '0 0 python 1 marked/decorated/fib'; lacks worker
	profile 0 -- user_regions; quiet
	is '0 0 user 1 user_regions/outer/inner'; is '0 0 python 1 user_regions/outer/inner/fib'; lacks paused; lacks 'open$'
	profile 2 -E '(' -- filters; grep -q 'function-exclude: ' "$work/err" || fail "$(cat "$work/err")"
	# the same script without the profiler
	PYTHONPATH=$source/python WAVESCOPE_PYTHON=1 "$python" -m rocprofsys -b -- "$script" marked 2>"$work/err" || fail "without the profiler"
	quiet
}
api() {
	profile 0 -b -- api; quiet
	p='0 0 python'
	is "$p 1 bare_decorator"; is "$p 1 bare_decorator/fib"; is "$p 1 decorator"; is "$p 1 closes"
	is "$p 3 fib" # of runcall, runctx, and the last block
	is "$p 2 fib/fib"; is "$p 1 hidden"; is "$p 1 hidden/fib"
	lacks worker; lacks 'open$'; lacks stray; lacks api
}

n=0 seen=
for python in "${PYTHON:-python3}" /usr/bin/python3 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python3; do
	version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
	python=$("$python" -c 'import sys; print(sys.executable)') # the name may be that of a script
	case " $seen " in *" $version "*) continue ;; esac
	case $version in 3.9 | 3.[1-9][0-9]) ;; *) continue ;; esac
	"$python" -c 'import ctypes' 2>/dev/null || continue
	seen="$seen $version"
	n=$((n + 1))
	$behaviour
	[ $behaviour != options ] || break # the package is the same for all
done
echo "Python$seen"
[ $n -gt 0 ] || { echo "SKIP: no Python 3.9 or later"; exit 77; }
