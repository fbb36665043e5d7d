#!/bin/sh
# Counted, replayed or sampled: a kernel that the program has seen complete is in the capture, with its values
# or samples, however and whenever the program dies. WS_TEST_DEATHS is how often each way is tried.
. "$WS_SOURCE/tests/cmd/lib.sh"
need_tracing
[ -x "$WS_BUILD/tests/cmd/deadly" ] || skip "hipcc is not installed"

limit_s=${WS_TEST_LIMIT_S:-280} run "${PYTHON:-python3}" - "$WS_BUILD/tests/cmd/deadly" "${WS_TEST_DEATHS:-1}" <<'END_PYTHON'
import csv, os, random, re, shutil, signal, struct, subprocess, sys
from concurrent.futures import ThreadPoolExecutor

DEATHS = int(sys.argv[2])
ENDS = {"kill": -signal.SIGKILL, "term": -signal.SIGTERM, "segv": -signal.SIGSEGV, "exit": 7}
# what is asked for, and the file whose dispatches are counted
MODES = {
    "counters": (["--kernel-trace", "--pmc", "SQ_WAVES"], "counter_collection"),
    "replay": (["--kernel-trace", "--pmc", "SQ_WAVES", "SQ_INSTS_VALU", "SQ_INSTS_SALU", "SQ_INSTS_SMEM", "SQ_INSTS_VMEM_RD",
                "SQ_INSTS_VMEM_WR", "SQ_INSTS_LDS", "SQ_INSTS_FLAT", "SQ_BUSY_CYCLES", "SQ_WAVE_CYCLES"],
               "counter_collection"),
    "filtered": (["--kernel-trace", "--pmc", "SQ_WAVES", "--kernel-include-regex", "seldom"], "kernel_trace"),
    "samples": (["--kernel-trace", "--pc-report", "--pc-sampling-beta-enabled", "--pc-sampling-method", "stochastic",
                 "--pc-sampling-unit", "cycles", "--pc-sampling-interval", "256"], "pc_sampling_stochastic"),
    # as on a real GPU, which tells nobody: what is missing is in the account
    "intercepted": (["--kernel-trace"], "kernel_trace"),
}

# a sanitizer would turn SIGSEGV into an exit code
ASAN_OPTIONS = os.environ.get("ASAN_OPTIONS", "detect_leaks=0") + ":handle_segv=0"


def one(job):
    mode, how, i = job
    options, table = MODES[mode]
    name = "%s-%s-%d" % job
    moment = random.Random(name).randrange(60000)
    front = subprocess.run(["rocprofv3", *options, "-f", "csv", "-d", name, "-o", "k", "--", sys.argv[1],
                            name + ".seen", how, str(moment)], stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           env=dict(os.environ, WAVESCOPE_INTERCEPT="1" if mode == "intercepted" else "0",
                                    ASAN_OPTIONS=ASAN_OPTIONS))
    if front.returncode != ENDS[how]:
        return "%s: rocprofv3 ended with %d: %s" % (name, front.returncode, front.stdout), 0
    with open(name + ".seen", "rb") as file:
        seen = sum(struct.unpack("2Q", file.read()))
    got = {}
    for kind in {table, "kernel_trace"}:
        path = "%s/k_%s.csv" % (name, kind)
        got[kind] = 0
        if os.path.exists(path):
            with open(path, newline="") as file:
                got[kind] = len({row["Dispatch_Id"] for row in csv.DictReader(file)})
    if mode == "intercepted":
        unended = re.search(r"(\d+) kernels? (?:was|were) submitted but did not complete", front.stdout)
        got[table] += int(unended.group(1)) if unended else 0
    if seen < 2 or min(got[table], got["kernel_trace"]) < seen:
        return "%s: %d kernels were seen to complete, %s are written: %s" % (name, seen, got, front.stdout), seen
    shutil.rmtree(name)
    return None, seen


jobs = [(mode, how, i) for i in range(DEATHS) for mode in MODES for how in ENDS]
with ThreadPoolExecutor(2) as pool:
    results = list(pool.map(one, jobs))
problems = [problem for problem, _ in results if problem]
print("%d deaths, %d kernels seen to complete, %d with a loss" %
      (len(results), sum(n for _, n in results), len(problems)))
sys.exit("\n".join(problems[:5]) if problems else 0)
END_PYTHON
rc_is 0
cat "$out"
