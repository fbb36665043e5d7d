#!/usr/bin/env python3
"""Compares recorded calls with the calls that a program counted itself.

    check.py DUMP OUTPUT    OUTPUT has lines "count FUNCTION N"

Every count must be equal, every LEAVE must be of the innermost open call of its thread.
"""
import collections
import re
import sys

FIELD = re.compile(r"(\w+)=(\S+)")


def main():
    names, enters, stacks, wrong = {}, collections.Counter(), {}, []
    process = 0
    for line in open(sys.argv[1], encoding="utf-8", errors="replace"):
        kind = line.split(" ", 1)[0]
        fields = dict(FIELD.findall(line))
        if kind == "FILE":
            process += 1
        elif kind == "REGION":
            # ids are of one process; dumps of several follow each other
            names[process, fields["id"]] = line.rstrip("\n").split(" name=", 1)[1].split("(")[0]
        elif kind in ("ENTER", "LEAVE"):
            name = names.get((process, fields["region"]))
            stack = stacks.setdefault((process, fields["tid"]), [])
            if kind == "ENTER":
                enters[name] += 1
                stack.append(name)
            elif name in stack:
                if stack[-1] != name:
                    wrong.append(f"{name} ends inside {stack[-1]}")
                while stack.pop() != name:
                    pass
            else:
                wrong.append(f"{name} ends and was not open")
    n = 0
    for line in open(sys.argv[2], encoding="utf-8", errors="replace"):
        word, *rest = line.split()
        if word != "count":
            continue
        n += 1
        if enters[rest[0]] != int(rest[1]):
            wrong.append(f"{rest[0]} was called {rest[1]} times, recorded {enters[rest[0]]}")
    if not n:
        wrong.append("the program counted nothing")
    for text in wrong[:20]:
        print(text, file=sys.stderr)
    return 1 if wrong else 0


sys.exit(main())
