#!/usr/bin/env python3
"""What must hold in every capture, read from capture-dump's text.

    check.py [--killed] TEXT
"""
import sys

killed = sys.argv[1] == "--killed"
problems = []


def check(what, message):
    if not what:
        problems.append(message)


def words(line):
    out = {}
    for word in line.split():
        key, eq, value = word.partition("=")
        if eq and key not in out:
            out[key] = int(value) if value.lstrip("-").isdigit() else value
    return out


captures = []
for line in open(sys.argv[-1]):
    kind, _, rest = line.rstrip("\n").partition(" ")
    if kind == "FILE":
        captures.append({})
    captures[-1].setdefault(kind, []).append(words(rest))

check(captures, "no capture")
for c in captures:
    calls, dispatches, copies = c.get("CALL", []), c.get("DISPATCH", []), c.get("COPY", [])
    kernels = {k["id"] for k in c.get("KERNEL", [])}
    queues = {q["id"] for q in c.get("QUEUE", [])}
    agents = {a["id"]: a for a in c.get("AGENT", [])}
    ops = {o["op"] for o in c.get("OPERATION", [])}
    clocks = sorted((k["ticks"], k["boottime"]) for k in c.get("CLOCK", []))

    check(c["DAMAGE"][0]["any"] == 0, "damage")
    check(killed or c["FILE"][0]["closed"] == 1, "not closed")
    for line in c.get("LEDGER", []):
        check(line["dropped"] == line["failed"] == 0, "ledger: %s" % line)

    by_id = {}
    for call in calls:
        check(call["corr"] not in by_id, "correlation id twice: %s" % call)
        check(call["start"] <= call["end"], "call ends before it begins: %s" % call)
        check(call["op"] in ops, "unknown operation: %s" % call)
        by_id[call["corr"]] = call
    for call in calls:
        outer = by_id.get(call["ancestor"])
        check(outer or not call["ancestor"] or killed, "ancestor of %s is not there" % call)
        if outer:
            check(outer["tid"] == call["tid"] and outer["start"] <= call["start"] and
                  call["end"] <= outer["end"], "%s is not inside %s" % (call, outer))

    ids = sorted(d["id"] for d in dispatches)
    ordered = any(d["ordered"] for d in dispatches)
    check(killed or ordered or ids == list(range(1, len(ids) + 1)), "dispatch ids have holes")
    check(len(set(ids)) == len(ids), "a dispatch twice")
    for queue in queues if ordered else ():
        starts = [d["start"] for d in sorted(dispatches, key=lambda d: d["id"]) if d["queue"] == queue]
        check(starts == sorted(starts), "queue %d: not in the order of submission" % queue)

    def boottime(ticks):
        (t0, b0), (t1, b1) = clocks[0], clocks[-1]
        return b0 + (ticks - t0) * (b1 - b0) / (t1 - t0)

    for d in dispatches:
        check(d["start"] <= d["end"], "dispatch ends before it begins: %s" % d)
        check(d["kernel"] in kernels, "unknown kernel: %s" % d)
        check(d["queue"] in queues, "unknown queue: %s" % d)
        check(agents.get(d["agent"], {}).get("type") == 2, "not a GPU: %s" % d)
        check(d["corr"] > 0, "no cause: %s" % d)
        cause = by_id.get(d["corr"])
        if cause and len(clocks) > 1:
            # nothing runs before the call that submitted it; 1 ms for two clocks' differences
            check(d["start"] > boottime(cause["start"]) - 1e6, "%s is before %s" % (d, cause))
    for p in copies:
        check(p["start"] <= p["end"], "copy ends before it begins: %s" % p)
        check(p["op"] in (1, 2, 3, 4), "copy from or to nobody: %s" % p)
        check(p["dst"] in agents and p["src"] in agents, "unknown agent: %s" % p)

for p in problems[:10]:
    print("check: " + p, file=sys.stderr)
if len(problems) > 10:
    print("check: and %d more" % (len(problems) - 10), file=sys.stderr)
sys.exit(1 if problems else 0)
