#!/bin/sh
# Somebody truncates the capture of a program that runs: the program does not notice, and the report says what
# is lost.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
[ -x "$WS_BUILD/tests/cmd/resident" ] || skip "hipcc is not installed"

for bytes in 0 100000; do
	run "${PYTHON:-python3}" - "$WS_BUILD/tests/cmd/resident" $bytes <<'END_PYTHON'
import glob, os, signal, subprocess, sys, time
front = subprocess.Popen(["rocprofv3", "--sys-trace", "-f", "csv", "-o", "t", "-d", "out", "--",
                          "sh", "-c", "echo $$ >pid; exec \"$0\" ready", sys.argv[1]])
deadline = time.monotonic() + 40
while not os.path.exists("ready") and time.monotonic() < deadline:
    time.sleep(0.01)
time.sleep(0.1)
captures = [f for f in glob.glob("out/.rocprofv3/*/*.wcap") if os.stat(f).st_size > 65536]
assert captures, "nothing is recorded"
for capture in captures:
    os.truncate(capture, int(sys.argv[2]))
time.sleep(0.3)
os.kill(int(open("pid").read()), signal.SIGTERM)
sys.exit(front.wait())
END_PYTHON
	rc_is 0
	out_has turns
	err_lacks "used a GPU runtime"
	err_has "was truncated while process $(cat pid) was recording: its contents are lost"
	rm -r out ready pid
done
