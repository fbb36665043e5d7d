#!/usr/bin/env python3
"""roctx from C and Python, with the collector and without.

    roctx_test.py CASE PROGRAM [ARGUMENT...]
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "collector_hip"))
from harness import DLSYM, FIRST, ROCTX, Run, check, done, equal  # noqa: E402

case, command = sys.argv[1], sys.argv[2:]
if command[0].endswith(".py"):
    command.insert(0, sys.executable)
MARK, THREAD, PROCESS, THREAD_ID = "0", "1", "2", "3"
PAUSE, RESUME = str(0x100), str(0x101)


def bare():
    """without the collector: the same output as with it"""
    env = dict(os.environ, **({"LD_PRELOAD": FIRST, "ASAN_OPTIONS": "detect_leaks=0"} if FIRST else {}))
    p = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
    equal(p.returncode, 0, "exit code without the collector")
    return p.stdout


def c():
    want = bare()
    equal(want, "push 0 1\nstart 1\nworker push 0\nworker pop 0\npop 1 0 1\ntid 0 1\npause 0\nresume 0\n"
                "names 0 0 0\nversion 4.1\n", "output")
    for preload in ([], [ROCTX], [ROCTX, DLSYM]):
        run = Run(command, "marker", preload)
        equal(run.code, 0, "exit code")
        equal(run.out, want, f"output with {preload}")
        marks = [(r.name, r.text) for r in run.of("marker")]
        for expected in ((MARK, "a mark"), (THREAD, 'inner "quoted", with comma'), (THREAD, "outer"),
                         (PROCESS, "across"), (THREAD, "worker"), (MARK, "recorded again")):
            equal(marks.count(expected), 1, f"{expected} in {marks}")
        check(not [t for _, t in marks if t and t.startswith("not recorded")], f"paused: {marks}")
        equal([n for n, _ in marks if n in (PAUSE, RESUME)], [PAUSE, RESUME], "control calls")
        equal([t for n, t in marks if n == THREAD_ID], [""], "roctxGetThreadId")
        corr = [r["corr"] for r in run.of("marker")]
        equal(len(set(corr)), len(corr), "one id per range")
        tids = {r.text: r["tid"] for r in run.of("marker")}
        check(tids["worker"] != tids["outer"], "threads are told apart")
    # asked for something else: nothing of markers
    equal(Run(command, "hip-runtime", [ROCTX]).of("marker"), [], "markers that nobody asked for")


def python():
    equal(bare(), "good\n", "output")
    run = Run(command, "marker", [ROCTX, DLSYM])
    equal(run.code, 0, f"exit code ({run.err})")
    equal(run.out, "good\n", "output")
    marks = [(r.name, r.text) for r in run.of("marker") if r.name in (MARK, THREAD, PROCESS)]
    equal(sorted(marks), sorted([
        (MARK, "marked"), (THREAD, "outer"), (THREAD, "inner ü"), (MARK, "inside"), (THREAD, "decorated"),
        (MARK, "inside block"), (THREAD, "block"), (THREAD, "raises"), (PROCESS, "started"),
        (MARK, "recorded")]), "markers")
    # and with the library not preloaded: the module finds it
    equal(Run(command, "marker", []).out, "good\n", "output, not preloaded")
    equal(len(Run(command, "marker", []).of("marker")), len(run.of("marker")), "markers, not preloaded")


{"c": c, "python": python}[case]()
done()
