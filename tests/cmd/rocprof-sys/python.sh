#!/bin/sh
# rocprof-sys-python and python3 -m rocprofsys: what AMD's tests check, and how scripts end.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_program python3
python3 -c 'import ctypes, sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null || skip "no Python 3.9 with ctypes"
ROCPROFSYS_OUTPUT_PATH=$work/out ROCPROFSYS_TIME_OUTPUT=no ROCPROFSYS_USE_PID=no ROCPROFSYS_PROFILE=yes \
	ROCPROFSYS_TRACE=yes ROCPROFSYS_USE_PROCESS_SAMPLING=no ROCPROFSYS_USE_ROCM=no ROCPROFSYS_TIMEMORY_COMPONENTS=trip_count
export ROCPROFSYS_OUTPUT_PATH ROCPROFSYS_TIME_OUTPUT ROCPROFSYS_USE_PID ROCPROFSYS_PROFILE ROCPROFSYS_TRACE \
	ROCPROFSYS_USE_PROCESS_SAMPLING ROCPROFSYS_USE_ROCM ROCPROFSYS_TIMEMORY_COMPONENTS
cd "$work"

cat >fill.py <<-'PY'
	import sys
	def fib(n):
	    return n if n < 2 else fib(n - 1) + fib(n - 2)
	def busy(n):
	    return sum(i * j for i in range(n) for j in range(n))
	@profile
	def run(n):
	    return fib(n) + busy(n)
	for i in range(5):
	    print(i, run(int(sys.argv[1])))
	sys.exit(3)
PY
cat >source.py <<-'PY'
	import rocprofsys
	from rocprofsys.user import region
	def fib(n):
	    return n if n < 2 else fib(n - 1) + fib(n - 2)
	@rocprofsys.profile()
	def run(n):
	    return fib(n)
	for i in range(5):
	    with region("main_loop"):
	        if i == 3:
	            rocprofsys.user.stop_trace()
	        run(5)
PY
cat >check.py <<-'PY'
	import json, sys
	rows = [(row["prefix"].split(">>> ")[1].lstrip("|_ "), row["depth"], row["entry"]["laps"])
	        for rank in json.load(open(sys.argv[1]))["timemory"]["trip_count"]["ranks"] for row in rank["graph"]]
	want = [(w.split(",")[0], int(w.split(",")[1]), int(w.split(",")[2])) for w in sys.argv[2:]]
	if rows != want:
	    sys.exit("%s instead of %s" % (rows, want))
PY
rows_are() { run python3 check.py out/trip_count.json "$@"; rc_is 0; }

# decorated functions only, with file and line: how often at each depth
run rocprof-sys-python -b --label file line -- fill.py 10
rc_is 3
out_has '4 2080'
f='[fib][fill.py:2]'
rows_are '[run][fill.py:6],0,5' "$f,1,5" "$f,2,10" "$f,3,20" "$f,4,40" "$f,5,80" "$f,6,160" "$f,7,260" "$f,8,220" \
	"$f,9,80" "$f,10,10" '[busy][fill.py:4],1,5'
rm -rf out
# all but one function; options of two letters
run rocprof-sys-python -E '^fib$' -MR 'fill\.py$' -- fill.py 4
rc_is 3
rows_are run,0,5 busy,1,5
rm -rf out

# a script that imports the package: regions of the user; the fourth turn begins, and nothing after it
run rocprof-sys-run -- python3 -c 'print("without the package on its path")'
rc_is 0
rm -rf out
PYTHONPATH=$WS_BUILD/python ROCPROFSYS_USE_SAMPLING=no run rocprof-sys-run -- "$(python3 -c 'import sys; print(sys.executable)')" source.py
rc_is 0
grep -q '>>> |_main_loop  *|  *4 |  *1 ' out/trip_count.txt || fail "main_loop: $(cat out/trip_count.txt)"
grep -q '>>>   |_run  *|  *3 |  *2 ' out/trip_count.txt || fail "run: $(cat out/trip_count.txt)"
rm -rf out
# and it runs as it is without the profiler
PYTHONPATH=$WS_BUILD/python run python3 source.py
rc_is 0
[ ! -s "$err" ] || fail "a message without the profiler"

# the module itself, modules and texts as scripts, options of the interpreter
PYTHONPATH=$WS_BUILD/python WAVESCOPE_BIN=$WS_BUILD/bin run python3 -X utf8 -m rocprofsys -MI '^<string>$' -- -c 'import sys
def main(): print(sys.flags.utf8_mode, sys.argv)
main()' word
rc_is 0
out_has "1 ['-c', 'word']"
rows_are main,0,1
rm -rf out
mkdir -p package && echo 'def main(): print(__name__, __package__)
main()' >package/__main__.py
run rocprof-sys-python -- -m package
rc_is 0
out_has '__main__ package'
grep -q '|0>>> .*main' out/trip_count.txt || fail "no function of the module"

# mistakes
run rocprof-sys-python -b
rc_is 2
err_has "rocprof-sys-python: no script: give it after '--'"
run rocprof-sys-python -- no-such-script.py
rc_is 127
err_has "rocprof-sys-python: no script 'no-such-script.py'"
run rocprof-sys-python --label word -- fill.py
rc_is 2
PYTHON_EXECUTABLE=/no/such/python run rocprof-sys-python -- fill.py
rc_is 127
# switched off: the script runs, nothing is written
rm -rf out
ROCPROFSYS_ENABLED=false run rocprof-sys-python -- fill.py 3
rc_is 3
[ ! -e out ] || fail "output of what is off"
