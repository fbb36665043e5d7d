# A program that runs already, for the tests of --pid and --attach-pid: $resident, or resident.
need_tracing
resident=$WS_BUILD/tests/cmd/${resident:-resident}
[ -x "$resident" ] || skip "${resident##*/} is not in this build (no hipcc?)"
ldd "$WS_BUILD/lib/libwavescope-collector.so" | grep -q 'lib[a-z]*san' &&
	skip "a sanitizer's runtime cannot be loaded into a program that runs already"

# Wait for a file, 30 s at most.
wait_for() {
	i=0
	while [ ! -e "$1" ] && [ $i -lt 300 ]; do
		i=$((i + 1))
		sleep 0.1
	done
	[ -e "$1" ] || fail "no $1: $(cat resident.err)"
}

# Start it, and wait until it has used the GPU.
start() {
	rm -f ready
	wavescope run -- "$resident" ready >resident.out 2>resident.err &
	pid=$!
	wait_for ready
}

# It was never harmed: every turn computed what it should, and the end is its own.
end() {
	kill -TERM "$pid"
	code=0
	wait "$pid" || code=$?
	is "$code" 0 "exit code of the program ($(cat resident.err))"
	is "$(cat resident.err)" "" "what the program said"
}
cleanup() { kill -KILL "${pid:-}" 2>/dev/null; }
