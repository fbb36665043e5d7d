#!/bin/sh
# rocprofv3 --pid where it cannot be: one sentence that says why.
. "$WS_SOURCE/tests/cmd/lib.sh"
[ -e "$WS_BUILD/lib/libwavescope-collector.so" ] || skip "the collector is not in this build"
cd "$work"
try() {
	run rocprofv3 --hip-trace --attach-duration-msec 100 "$@"
	rc_is "${want:-1}"
	is "$(wc -l <"$err" | tr -d ' ')" 1 "sentences"
	[ ! -e .rocprofv3 ] || fail "a folder was left behind"
}

try --pid 999999999
err_has "process 999999999 does not exist"
want=2 try --pid nonsense
err_has "'nonsense' is not a process"
want=2 try --pid 1 -- true
err_has "remove the program after '--'"
want=2 try --pid 1 -P 0:1:1
err_has "excludes --collection-period"
run rocprofv3 --pid 1
rc_is 2
err_has "No tracing options were enabled"

# a program with no C library to speak of
printf '#include <unistd.h>\nint main(void) { for (;;) pause(); }\n' >static.c
if "${CC:-cc}" -static static.c -o static 2>/dev/null; then
	./static &
	pid=$!
	try --pid $pid
	kill -KILL $pid
	err_has "statically linked"
else
	skip_part "no static C library"
fi

# another user's process
as_nobody="setpriv --reuid 65534 --clear-groups"
if $as_nobody test -x "$WS_BUILD/bin/rocprofv3" 2>/dev/null; then
	sleep 60 &
	pid=$!
	chmod 777 .
	run $as_nobody "$WS_BUILD/bin/rocprofv3" --hip-trace --pid $pid
	kill $pid
	rc_is 1
	err_has "belongs to another user"
else
	skip_part "another user's process: needs root, and a build that others can read"
fi

# one that a debugger has: PTRACE_SEIZE, by the process that starts it
cat >traced.py <<'PY'
import ctypes, os, time
libc = ctypes.CDLL(None, use_errno=True)
pid = os.fork()
if not pid:
    os.execlp("sleep", "sleep", "60")
assert libc.ptrace(0x4206, pid, None, None) == 0, os.strerror(ctypes.get_errno())
with open("traced.new", "w") as to:
    to.write(str(pid))
os.rename("traced.new", "traced")
os.waitpid(pid, 0)
PY
"$PYTHON" traced.py &
tracer=$!
for i in $(seq 100); do
	[ ! -e traced ] || break
	sleep 0.1
done
pid=$(cat traced) || fail "nothing is traced"
run rocprofv3 --hip-trace --pid "$pid"
kill -KILL $tracer
kill -KILL "$pid" 2>/dev/null || :
rc_is 1
err_has "process $pid is already traced by process $tracer"
