#!/bin/sh
# Processes that go on when the program has ended: waited for, and converted later when that takes too long.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
resident=$WS_BUILD/tests/cmd/resident
[ -x "$resident" ] || skip "hipcc is not installed"
# It starts its GPU work after the program's end, and is waited for. The exit code is the program's.
run rocprofv3 --kernel-trace -f csv -d a -o k -- sh -c '(sleep 1.5; "$0" -n 65536 -b 256) >/dev/null 2>&1 & exit 3' "$vcopy"
rc_is 3
is "$(rows a/k_kernel_trace.csv)" 1 "kernels of a background process"
err_has "rocprofv3: the program has ended, but process"
err_has "still running: waiting up to 60 s, Ctrl-C stops waiting"
[ ! -e a/.rocprofv3 ] || fail "captures are left"
# The same while counting.
run rocprofv3 --pmc SQ_WAVES -f csv -d p -o k -- sh -c '(sleep 0.5; "$0" -n 65536 -b 256) >/dev/null 2>&1 &' "$vcopy"
rc_is 0
grep -q '"SQ_WAVES",1024.0' p/k_counter_collection.csv || fail "not counted"

# Too long: its folder stays, the message has the command, and nothing invites to remove anything.
mkfifo go
run rocprofv3 --wait-seconds 0 --kernel-trace -f csv -d b -o k -- \
	sh -c '(read line <go; "$0" -n 65536 -b 256; : >done) >/dev/null 2>&1 &' "$vcopy"
rc_is 0
dir=$(echo "$work"/b/.rocprofv3/*)
err_has "(sh) is still running: "
err_has "when it has ended, 'rocprofv3 --recover $dir' writes all of them"
err_has "no process of the program has used a GPU runtime yet"
err_lacks "that could be traced"
run rocprofv3 --recover "$dir"
rc_is 0
err_has "(sh) is still running"
err_lacks removed
echo >go
while [ ! -e done ]; do sleep 0.05; done
sleep 0.3
run rocprofv3 --recover "$dir"
rc_is 0
is "$(rows b/k_kernel_trace.csv)" 1 "kernels, later"
err_lacks running
err_has "$dir can be removed now"

cat >more.py <<'P'
import ctypes, glob, os, signal, subprocess, sys, time
resident = sys.argv[1]
def until(what):
    for i in range(600):
        if what(): return
        time.sleep(0.05)
    raise SystemExit("it takes too long")
def start(out, *program):
    return subprocess.Popen(["rocprofv3", "--kernel-trace", "-f", "csv", "-d", out, "-o", "k", "--",
                             *program], stderr=open(out + ".err", "w"))
def recover(out):
    return subprocess.run(["rocprofv3", "--recover", *glob.glob(out + "/.rocprofv3/*")],
                          stderr=subprocess.PIPE, text=True)
def rows(out): return len(open(out + "/k_kernel_trace.csv").readlines()) - 1

# Ctrl-C while it waits: it goes on at once, and what there is becomes output.
p = start("c", "sh", "-c", '"$0" c.ready >/dev/null 2>&1 & echo $! >c.pid; while [ ! -e c.ready ]; do sleep 0.05; done; exit 5', resident)
until(lambda: "waiting up to" in open("c.err").read())
p.send_signal(signal.SIGINT)
assert p.wait(30) == 5, p.returncode
text = open("c.err").read()
pid = int(open("c.pid").read())
assert "process %d (resident) is still running: the output has the records so far" % pid in text, text
assert "process %d (resident), on the software GPU" % pid in text and ", which is still running" in text, text
assert "was killed: its records are complete" not in text, text
before = rows("c")
assert before > 0
# Recovered while it runs: more than before, no contradiction, no invitation to remove anything.
time.sleep(0.3)
r = recover("c")
assert r.returncode == 0 and rows("c") > before, (r, rows("c"), before)
assert "process %d (resident) is still running" % pid in r.stderr and "removed" not in r.stderr, r.stderr
assert "was killed" not in r.stderr, r.stderr
os.kill(pid, signal.SIGTERM)
until(lambda: not os.path.exists("/proc/%d" % pid))
r = recover("c")
assert r.returncode == 0 and "running" not in r.stderr and "can be removed now" in r.stderr, r

# A zombie does not run. Ours is the next parent, and does not ask for its end.
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
p = start("z", "sh", "-c", 'echo $$ >z.pid; exec "$0" z.ready', resident)
until(lambda: os.path.exists("z.ready"))
p.kill()
p.wait()
pid = int(open("z.pid").read())
os.kill(pid, signal.SIGKILL)
until(lambda: open("/proc/%d/stat" % pid).read().split(")")[1].split()[0] == "Z")
r = recover("z")
assert r.returncode == 0 and "running" not in r.stderr, r.stderr
assert "was killed: its records are complete" in r.stderr and "can be removed now" in r.stderr, r.stderr
P
run "${PYTHON:-python3}" more.py "$resident"
rc_is 0
