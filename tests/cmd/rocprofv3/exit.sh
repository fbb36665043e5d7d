#!/bin/sh
# The program's exit code, signals, input and output are its own.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing

for code in 0 1 42 255; do
	run rocprofv3 --kernel-trace -- sh -c "exit $code"
	rc_is "$code"
	out_is_empty
done
run "${PYTHON:-python3}" -c '
import subprocess
for sig in "TERM", "KILL", "INT", "ABRT":
    print(subprocess.run(["rocprofv3", "--kernel-trace", "--", "sh", "-c", "kill -%s $$" % sig]).returncode)'
is "$(tr '\n' ' ' <"$out")" "-15 -9 -2 -6 " "ends by signals"

echo "hello input" >in
rocprofv3 --kernel-trace -- cat <in >"$out" 2>"$err"
out_is "hello input"

# A signal to us alone goes to the program, which may have its own mind about it.
run "${PYTHON:-python3}" -c '
import signal, subprocess, time
p = subprocess.Popen(["rocprofv3", "--kernel-trace", "--", "sh", "-c",
    "trap \"echo caught; exit 5\" TERM; echo ready; while :; do sleep 0.05; done"], stdout=subprocess.PIPE)
p.stdout.readline()
p.send_signal(signal.SIGTERM)
print(p.stdout.read().decode().strip(), p.wait())'
out_is "caught 5"
# Nothing is left behind.
[ ! -e .rocprofv3 ] || fail "captures were left"
