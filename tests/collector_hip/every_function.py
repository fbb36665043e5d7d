#!/usr/bin/env python3
"""Every function of a table, called once through its wrapper: nothing changed on the way, all recorded.

    every_function.py DRIVER EXPECTED SERVICES WRAPPERS
"""
import re
import sys

from harness import DLSYM, Run, check, done, equal

driver, expected, services, wrappers = sys.argv[1:]
want = open(expected).read().splitlines()
run = Run([driver], services, [wrappers, DLSYM])
equal(run.code, 0, "the program's exit code")
check(f"{len(want)} calls, 0 arguments wrong, 0 results wrong" in run.out, f"the program said: {run.out}")
got = run.calls()
equal(len(got), len(want), "records")
equal([r["corr"] for r in got], list(range(1, len(want) + 1)), "correlation ids")
for r, w in zip(got, want):
    line = re.sub(r"^call (\S+) kind=\d+ (id=\d+) .*? (stream=\d+ ret=)", r"\1 \2 \3", r.line)
    if "ret=*" in w:
        line = re.sub(r" ret=\d+", " ret=*", line)
    equal(line, w, "record")

# switched off: the same program, nothing recorded, nothing changed
run = Run([driver], "scratch-memory", [wrappers, DLSYM])
equal(run.code, 0, "exit code with the service off")
equal(len(run.calls()), 0, "records with the service off")
done()
