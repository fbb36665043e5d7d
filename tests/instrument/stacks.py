#!/usr/bin/env python3
"""Checks sampled call stacks of spin.c.

    stacks.py DUMP PROGRAM

In most samples the functions inner, middle, outer and main follow each other, and no stack is
broken.
"""
import collections
import re
import subprocess
import sys

FUNCTIONS = ["inner", "middle", "outer", "main"]
BROKEN = 2


def symbols(program):
    """[(start, end, name)] of the functions above, as the file has addresses."""
    found = []
    for line in subprocess.run(["nm", "-S", program], check=True, stdout=subprocess.PIPE,
                               text=True).stdout.splitlines():
        words = line.split()
        if len(words) == 4 and words[3] in FUNCTIONS:
            start = int(words[0], 16)
            found.append((start, start + int(words[1], 16), words[3]))
    return found


def main():
    dump, program = sys.argv[1:]
    table, stacks, samples, bias = symbols(program), {}, collections.Counter(), None
    for line in open(dump, encoding="utf-8", errors="replace"):
        fields = dict(re.findall(r"(\w+)=(\S+)", line))
        if line.startswith("MODULE") and fields["path"].endswith("/" + program):
            bias = int(fields["bias"], 16)
        elif line.startswith("STACK"):
            stacks[fields["id"]] = (int(fields["flags"]),
                                    [int(f, 16) for f in fields["frames"].split(",")])
        elif line.startswith("SAMPLE "):
            samples[fields["stack"]] += 1
    whole = total = broken = 0
    for stack, n in samples.items():
        flags, frames = stacks[stack]
        names = []
        for i, frame in enumerate(frames):
            # a return address is behind its call
            at = frame - (bias or 0) - (1 if i else 0)
            names += [name for start, end, name in table if start <= at < end]
        total += n
        broken += n if flags & BROKEN else 0
        whole += n if names == FUNCTIONS else 0
        if len(set(names)) != len(names):
            print(f"stack {stack}: {names}", file=sys.stderr)
            return 1
    print(f"{total} samples, {whole} inside inner() with all its callers, {broken} broken")
    return 0 if total >= 50 and whole > total // 4 and broken <= total // 100 else 1


sys.exit(main())
