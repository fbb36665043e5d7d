#!/usr/bin/env python3
"""Checks that Meson builds what a test needs before it runs it.

    prerequisites.py BUILD

`meson test NAME` builds what the test depends on and, since Meson 1.7, nothing else. A script that is
given the build folder starts commands by name, so it depends on the target "all-installed"; and on every
program of another test that its text names.
"""
import collections
import json
import os
import re
import subprocess
import sys

EVERYTHING = "all-installed"
# "$WS_BUILD/tests/...", "$build/tests/...", BUILD + "/tests/..."
NAMED = re.compile(r"(?:WS_BUILD|build|BUILD)\b[^/\n]{0,6}/((?:tests|programs)/[\w./+-]*\w)")


def read_json(build, name):
    with open(os.path.join(build, "meson-info", name + ".json"), encoding="utf-8") as f:
        return json.load(f)


def built_before(build, outputs):
    """The files that Ninja makes before and with these."""
    done = subprocess.run(["ninja", "-C", build, "-t", "inputs"] + sorted(os.path.relpath(o, build) for o in outputs),
                          check=True, stdout=subprocess.PIPE, text=True).stdout
    return {os.path.join(build, line) for line in done.splitlines()} | outputs


def scripts(test):
    for word in test["cmd"]:
        if word.endswith((".sh", ".py")) and os.path.isfile(word):
            with open(word, encoding="utf-8") as f:
                yield f.read()


def main():
    build = os.path.realpath(sys.argv[1])
    targets = {t["id"]: t for t in read_json(build, "intro-targets")}
    made = {name for t in targets.values() for name in t["filename"]}
    closures, bad, n_scripts = {}, [], 0
    for test in read_json(build, "intro-tests"):
        if build not in test["cmd"] and test["env"].get("WS_BUILD") != build:
            continue
        n_scripts += 1
        if not any(targets[i]["name"] == EVERYTHING for i in test["depends"]):
            bad.append("%s: does not depend on %s" % (test["name"], EVERYTHING))
        key = tuple(sorted(test["depends"]))
        if key not in closures:
            closures[key] = built_before(build, {n for i in key for n in targets[i]["filename"]})
        for text in scripts(test):
            for path in sorted(set(NAMED.findall(text))):
                name = os.path.join(build, path)
                if name in made and name not in closures[key]:
                    bad.append("%s: starts %s, and does not depend on it" % (test["name"], path))
    for line, n in collections.Counter(bad).items():
        print("prerequisites: " + line + (" (%d times)" % n if n > 1 else ""))
    print("prerequisites: %d tests of scripts checked, %d wrong" % (n_scripts, len(bad)))
    sys.exit(1 if bad or n_scripts < 100 else 0)


if __name__ == "__main__":
    main()
