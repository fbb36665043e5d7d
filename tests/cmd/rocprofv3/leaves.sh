#!/bin/sh
# exit() while other threads launch: the program ends as it wished, soon, and every kernel that it saw complete is
# written. WS_TEST_RUNS is how often each is tried.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
[ -x "$WS_BUILD/tests/cmd/leaves" ] || skip "hipcc is not installed"

limit_s=${WS_TEST_LIMIT_S:-280} run "${PYTHON:-python3}" - "$WS_BUILD/tests/cmd/leaves" "${WS_TEST_RUNS:-10}" <<'END_PYTHON'
import csv, random, shutil, struct, subprocess, sys
from concurrent.futures import ThreadPoolExecutor

MODES = { "traced": ["--kernel-trace", "--hip-trace"], "counted": ["--kernel-trace", "--pmc", "SQ_WAVES"] }


def one(job):
    mode, i = job
    name = "%s-%d" % job
    front = subprocess.run(["rocprofv3", *MODES[mode], "-f", "csv", "-d", name, "-o", "k", "--", sys.argv[1],
                            name + ".seen", str(random.Random(name).randrange(20000))],
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True, timeout=60)
    if front.returncode != 7:
        return "%s: ended with %d: %s" % (name, front.returncode, front.stdout)
    with open(name + ".seen", "rb") as file:
        seen = sum(struct.unpack("4Q", file.read()))
    with open(name + "/k_kernel_trace.csv", newline="") as file:
        n = sum(1 for row in csv.DictReader(file))
    shutil.rmtree(name)
    return None if seen and n >= seen else "%s: %d kernels were seen to complete, %d are written" % (name, seen, n)


jobs = [(mode, i) for i in range(int(sys.argv[2])) for mode in MODES]
with ThreadPoolExecutor(2) as pool:
    problems = [problem for problem in pool.map(one, jobs) if problem]
print("%d runs, %d with a problem" % (len(jobs), len(problems)))
sys.exit("\n".join(problems[:5]) if problems else 0)
END_PYTHON
rc_is 0
cat "$out"
