#!/bin/sh
# SIGKILL at 50 random moments while kernels are counted by packets: between start and stop, too. What the program has
# seen to end is in the output with its value, no queue of another process waits, and the next process counts right.
. "$WS_SOURCE/tests/cmd/lib.sh"
[ -x "$WS_BUILD/tests/cmd/launches" ] && [ -e "$WS_BUILD/tests/collector/aqlprofile/libhsa-amd-aqlprofile64.so.1" ] ||
	skip "no HSA headers, so no stand-in for aqlprofile"
need_softgpu
LD_LIBRARY_PATH=$WS_BUILD/tests/collector/aqlprofile${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
WAVESCOPE_COUNTERS=aqlprofile WAVESCOPE_GPU=mi210
export LD_LIBRARY_PATH WAVESCOPE_COUNTERS WAVESCOPE_GPU
cd "$work"

limit_s=200 run "${PYTHON:-python3}" - "$WS_BUILD/tests/cmd/launches" <<'END_PYTHON'
import csv, os, random, shutil, signal, struct, subprocess, sys, time
from concurrent.futures import ThreadPoolExecutor

KILLS, AT_ONCE = 50, 2


def start(out, *words):
    return subprocess.Popen(["rocprofv3", "--pmc", "SQ_WAVES", "GRBM_COUNT", "-f", "csv", "-d", out, "-o", "k", "--",
                             sys.argv[1], *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def waves(out):
    """SQ_WAVES of each dispatch."""
    try:
        with open(out + "/k_counter_collection.csv", newline="") as file:
            return [float(row["Counter_Value"]) for row in csv.DictReader(file) if row["Counter_Name"] == "SQ_WAVES"]
    except FileNotFoundError:
        return []


def ended(path):
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return 0
    return struct.unpack("Q", data)[0] if len(data) == 8 else 0


def child_of(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
        words = file.read().split()
    return int(words[0]) if words else None


def kill_one(i):
    dice = random.Random(i)
    progress, out = "progress%d" % i, "out%d" % i
    front = start(out, "1000000", "0", progress)
    deadline = time.monotonic() + 60
    while not ended(progress) and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(dice.random() * 0.03)
    os.kill(child_of(front.pid), signal.SIGKILL)
    said, _ = front.communicate(timeout=60)
    n, values = ended(progress), waves(out)
    if front.returncode != -signal.SIGKILL:
        return "%d: rocprofv3 ended with %d: %s" % (i, front.returncode, said), 0
    if not n or not n <= len(values) <= n + 1 or set(values) != {1.0}:
        return "%d: %d kernels had ended, %d are written, with %s waves: %s" % (i, n, len(values), set(values), said), 0
    shutil.rmtree(out, ignore_errors=True)
    if i % 10 == 9:
        front = start(out, "20")
        said, _ = front.communicate(timeout=60)
        if front.returncode or waves(out) != [1.0] * 20:
            return "%d: the next process: %s: %s" % (i, waves(out), said), 0
    return None, n


with ThreadPoolExecutor(AT_ONCE) as pool:
    results = list(pool.map(kill_one, range(KILLS)))
for problem, _ in results:
    if problem:
        sys.exit(problem)
print(len(results), "kills,", sum(n for _, n in results), "counted kernels, none lost")
END_PYTHON
rc_is 0
cat "$out"
