#!/usr/bin/env python3
"""Checks call-stack samples: the text that capture-dump prints, with names from the symbol tables.

    samples.py TEXT CHECK...

Each CHECK is one of
    share NAME PERCENT POINTS   samples whose innermost known function is NAME
    inside NAME PERCENT POINTS  samples with NAME anywhere on the stack
    depth NAME N                every complete stack with NAME has it N times
    order NAME,NAME,...         some stack has these functions, innermost first, others between
    least N, most N             so many samples
    threads N                   so many threads have samples
    total COUNT LEAST MOST      what the last sample of each thread has counted, all together
    uncounted N                 so many threads have samples without counts
    whole PERCENT               so many of the stacks are not broken
    steady PERIOD_NS PERCENT    each thread has as many samples, with what they missed, as there are periods between
                                its first and its last one
    outermost NAME              the end of every stack that is neither broken nor cut
    python NAME,NAME,...        as order, of Python functions
    entries PERCENT             so many stacks have a Python frame that is marked as the beginning of a call of
                                the interpreter for each native frame of that call
Weights are the samples and what they missed.
"""
import bisect
import collections
import functools
import subprocess
import sys


def words(line):
    out = {}
    for word in line.split():
        key, _, value = word.partition("=")
        out[key] = value
    return out


@functools.lru_cache(None)
def symbols(path):
    rows = []
    for table in (["nm", "-n", path], ["nm", "-D", "-n", path]):
        text = subprocess.run(table, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        for line in text.splitlines():
            cells = line.split()
            if len(cells) == 3 and cells[1] in "tTwWi":
                rows.append((int(cells[0], 16), cells[2].split("@")[0]))
    return sorted(set(rows))


class Capture:
    def __init__(self, path):
        self.modules, self.stacks, self.samples, self.codes = collections.defaultdict(list), {}, [], {}
        self.clocks = []
        for line in open(path, errors="replace"):
            kind, _, rest = line.partition(" ")
            if kind == "MODULE":
                w = words(rest.split(" path=")[0])
                self.modules[int(w["gen"])].append((int(w["start"], 16), int(w["end"], 16),
                                                    int(w["bias"], 16), rest.split(" path=")[1].rstrip("\n")))
            elif kind == "STACK":
                w = words(rest)
                frames = [int(f, 16) for f in w["frames"].split(",") if f]
                self.stacks[int(w["id"])] = (int(w["gen"]), int(w["flags"]), int(w["native"]), frames)
            elif kind == "SAMPLE":
                self.samples.append({k: int(v) for k, v in words(rest).items()})
            elif kind == "CLOCK":
                self.clocks.append(tuple(int(v) for v in words(rest).values()))
            elif kind == "PYTHON":
                self.codes[int(words(rest)["id"])] = rest.split(" name=")[1].split(" file=")[0]

    def name(self, gen, address):
        for start, end, bias, path in self.modules[gen]:
            if start <= address < end:
                table = symbols(path)
                at = bisect.bisect_right(table, (address - bias, "\x7f")) - 1
                return table[at][1] if at >= 0 else path
        return hex(address)

    @functools.lru_cache(None)
    def names(self, stack):
        """Innermost first; return addresses are looked up one byte before."""
        if stack not in self.stacks:
            return ()
        gen, _, native, frames = self.stacks[stack]
        return tuple(self.name(gen, f if i == 0 else f - 1) for i, f in enumerate(frames[:native]))

    def entries(self, stack):
        """Calls of the interpreter on the stack: native frames, and marks of Python frames."""
        _, _, native, frames = self.stacks[stack]
        return (sum(1 for name in self.names(stack) if name == "_PyEval_EvalFrameDefault"),
                sum(1 for f in frames[native:] if f >> 62 & 1))

    def python(self, stack):
        _, _, native, frames = self.stacks[stack]
        return [self.codes.get(f >> 32 & 0x3fffffff, "?") for f in frames[native:]]


def weight(samples):
    return sum(1 + s["missed"] for s in samples)


def near(what, part, samples, percent, points):
    got = 100.0 * weight(part) / max(1, weight(samples))
    if abs(got - float(percent)) > float(points):
        sys.exit("%s: %.1f %% instead of %s +- %s" % (what, got, percent, points))


def in_order(names, wanted):
    rest = iter(names)
    return all(any(name == w for name in rest) for w in wanted)


def check(capture, word, args):
    samples = capture.samples
    known = [s for s in samples if s["stack"]]
    if word == "share":
        near(args[0], [s for s in known if args[0] in capture.names(s["stack"])[:3]], samples, args[1], args[2])
    elif word == "inside":
        near(args[0], [s for s in known if args[0] in capture.names(s["stack"])], samples, args[1], args[2])
    elif word == "depth":
        stacks = [s for s in capture.stacks if args[0] in capture.names(s) and not capture.stacks[s][1] & 3]
        depths = {capture.names(s).count(args[0]) for s in stacks}
        if not depths or max(depths) != int(args[1]):
            sys.exit("%s: depths %s instead of %s" % (args[0], sorted(depths), args[1]))
    elif word == "order":
        if not any(in_order(capture.names(s), args[0].split(",")) for s in capture.stacks):
            sys.exit("no stack has %s" % args[0])
    elif word == "total":
        last = {s["tid"]: s for s in samples if "count0" in s}
        got = sum(s["count" + args[0]] for s in last.values())
        if not int(args[1]) <= got <= int(args[2]):
            sys.exit("count %s: %d instead of %s to %s" % (args[0], got, args[1], args[2]))
    elif word == "uncounted":
        got = len({s["tid"] for s in samples if "count0" not in s})
        if got != int(args[0]):
            sys.exit("%d threads without counts instead of %s" % (got, args[0]))
    elif word == "python":
        if not any(in_order(capture.python(s), args[0].split(",")) for s in capture.stacks):
            sys.exit("no stack has the Python functions %s" % args[0])
    elif word == "entries":
        both = [capture.entries(s["stack"]) for s in known]
        inside = [b for b in both if b[0] or b[1]]
        equal = [b for b in inside if b[0] == b[1]]
        if not inside or len(equal) < float(args[0]) / 100 * len(inside):
            sys.exit("%d of %d stacks with Python code have all marks" % (len(equal), len(inside)))
    elif word == "least":
        if weight(samples) < int(args[0]):
            sys.exit("%d samples, not %s" % (weight(samples), args[0]))
    elif word == "most":
        if weight(samples) > int(args[0]):
            sys.exit("%d samples, not %s" % (weight(samples), args[0]))
    elif word == "threads":
        n = len({s["tid"] for s in samples})
        if n != int(args[0]):
            sys.exit("%d threads have samples instead of %s" % (n, args[0]))
    elif word == "whole":
        whole = [s for s in known if not capture.stacks[s["stack"]][1] & 2]
        # by number: the periods that one sample of a busy machine stands for say nothing of its stack
        if len(whole) < float(args[0]) / 100 * len(samples):
            sys.exit("%.1f %% of the stacks are whole" % (100.0 * len(whole) / max(1, len(samples))))
    elif word == "steady":
        (ticks, ns), (last_ticks, last_ns) = capture.clocks[0], capture.clocks[-1]
        ns_per_tick = (last_ns - ns) / (last_ticks - ticks)
        for tid in {s["tid"] for s in samples}:
            mine = [s for s in samples if s["tid"] == tid]
            want = (mine[-1]["time"] - mine[0]["time"]) * ns_per_tick / float(args[0])
            got = weight(mine[1:])
            if abs(got - want) > 5 + float(args[1]) / 100 * want:
                sys.exit("thread %s has %d samples in %.1f periods" % (tid, got, want))
    elif word == "outermost":
        for s in capture.stacks:
            if not capture.stacks[s][1] & 3 and capture.names(s)[-1] not in args[0].split(","):
                sys.exit("a stack ends with %s" % " ".join(capture.names(s)[-3:]))
    else:
        sys.exit("no such check: " + word)


COUNTS = {"share": 3, "inside": 3, "depth": 2, "order": 1, "least": 1, "most": 1, "threads": 1, "total": 3, "uncounted": 1,
          "whole": 1, "steady": 2, "outermost": 1, "python": 1, "entries": 1, "show": 0}


def main():
    capture, args = Capture(sys.argv[1]), sys.argv[2:]
    while args:
        n = COUNTS[args[0]]
        if args[0] == "show":
            for s in capture.samples:
                print(s, " < ".join(capture.names(s["stack"])), capture.python(s["stack"]) if s["stack"] else "")
        else:
            check(capture, args[0], args[1:1 + n])
        args = args[1 + n:]


if __name__ == "__main__":
    main()
