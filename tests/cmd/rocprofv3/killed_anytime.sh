#!/bin/sh
# SIGKILL at 200 random moments: each time the capture converts, and every record that a
# thread had completed is in the output.
. "$WS_SOURCE/tests/cmd/lib.sh"
[ -x "$WS_BUILD/tests/cmd/killable" ] || skip "killable is not in this build"
cd "$work"

limit_s=280 run "${PYTHON:-python3}" - "$WS_BUILD/tests/cmd/killable" <<'END_PYTHON'
import csv, os, random, shutil, signal, struct, subprocess, sys, time
from concurrent.futures import ThreadPoolExecutor

KILLS, AT_ONCE = 200, 2


def progress(path):
    """Thread id and finished marks, of each thread that has begun."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return {}
    pairs = list(struct.iter_unpack("QQ", data))
    return {tid: n for tid, n in pairs if tid}


def child_of(pid):
    """The program, whose parent rocprofv3 is."""
    with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
        words = file.read().split()
    return int(words[0]) if words else None


def one(i):
    dice = random.Random(i)
    marks, out = "marks%d" % i, "out%d" % i
    front = subprocess.Popen(["rocprofv3", "--marker-trace", "-f", "csv", "-d", out, "-o", "k", "--",
                              sys.argv[1], marks], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
    deadline = time.monotonic() + 30
    # mostly while it records, sometimes while it starts
    recording = dice.random() < 0.9
    while recording and not progress(marks) and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(dice.random() * 0.06)
    child = child_of(front.pid)
    while child is None and time.monotonic() < deadline:
        child = child_of(front.pid)
    os.kill(child, signal.SIGKILL)
    said, _ = front.communicate(timeout=60)
    if front.returncode != -signal.SIGKILL:
        return "%d: rocprofv3 ended with %d: %s" % (i, front.returncode, said), 0
    done, seen = progress(marks), {}
    path = out + "/k_marker_api_trace.csv"
    if os.path.exists(path):
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                seen.setdefault(int(row["Thread_Id"]), []).append(int(row["Function"]))
    for tid, n in done.items():
        got = sorted(seen.get(tid, []))
        # all that were finished, and at most the one that was under way
        if got != list(range(len(got))) or not n <= len(got) <= n + 1:
            return "%d: thread %d finished %d marks, %d are written: %s" % (i, tid, n, len(got), said), 0
    if os.path.exists(out + "/.rocprofv3"):
        return "%d: captures are left behind: %s" % (i, said), 0
    shutil.rmtree(out, ignore_errors=True)
    return None, sum(done.values())


with ThreadPoolExecutor(AT_ONCE) as pool:
    results = list(pool.map(one, range(KILLS)))
for problem, _ in results:
    if problem:
        sys.exit(problem)
print(len(results), "kills,", sum(n for _, n in results), "records, none lost")
if sum(1 for _, n in results if n) < KILLS / 2:
    sys.exit("hardly any had recorded something")
END_PYTHON
rc_is 0
cat "$out"
