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
err_has "there is no process 999999999"
want=2 try --pid nonsense
err_has "'nonsense' is not a process"
want=2 try --pid 1 -- true
err_has "leave out the one after '--'"
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
fi

# somebody else's, and one that a debugger has
if [ "$(id -u)" -eq 0 ]; then
	sleep 60 &
	pid=$!
	chmod 777 .
	bin=$WS_BUILD/bin/rocprofv3
	if setpriv --reuid 65534 --clear-groups test -x "$bin" 2>/dev/null; then
		run setpriv --reuid 65534 --clear-groups "$bin" --hip-trace --pid $pid
		rc_is 1
		err_has "belongs to another user"
	fi
	kill $pid
fi
