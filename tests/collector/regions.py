#!/usr/bin/env python3
"""Regions of captures, read from capture-dump's text, as call paths.

    regions.py TEXT [CATEGORY...]

One line per path and capture: the number of the capture, of the thread (in the order of their
first record), the category, how often, and the names from the outermost: "0 0 user 3 main/step".
With categories, regions of others are left out of the paths. "open" ends the line when some
were not left. Fails when a region ends before it begins.
"""
import sys

NAMES = ("host", "user", "python", "pthread", "mpi", "ompt", "kokkos", "rccl", "causal")
wanted = sys.argv[2:] or NAMES

captures = []
for line in open(sys.argv[1], errors="replace"):
    kind, _, rest = line.rstrip("\n").partition(" ")
    if kind == "FILE":
        captures.append(({}, []))
    elif kind == "REGION":
        name = rest.partition(" name=")[2]
        fields = dict(word.split("=", 1) for word in rest.split(" name=")[0].split(" file=")[0].split())
        captures[-1][0][int(fields["id"])] = (NAMES[int(fields["category"])], name)
    elif kind in ("ENTER", "LEAVE", "ANNOTATION"):
        captures[-1][1].append((kind, rest))

for n, (regions, events) in enumerate(captures):
    stacks, counts, still_open, last = {}, {}, {}, {}
    for kind, rest in events:
        fields = dict(w.split("=", 1) for w in rest.split() if "=" in w)
        thread = stacks.setdefault(fields["tid"], [])
        if kind == "ANNOTATION":
            name = rest.partition(" name=")[2]
            print("%d annotation %s kind=%s %s %s" % (n, "/".join(regions[i][1] for i in thread),
                                                      fields["kind"], fields["bits"], name))
            continue
        region, ticks = int(fields["region"]), int(fields["ticks"])
        if region not in regions:
            sys.exit("region %d was not described" % region)
        if ticks < last.get(fields["tid"], 0):
            sys.exit("time goes back: %s" % rest)
        last[fields["tid"]] = ticks
        if kind == "ENTER":
            thread.append(region)
            if regions[region][0] in wanted:
                path = "/".join(regions[i][1] for i in thread if regions[i][0] in wanted)
                key = (list(stacks).index(fields["tid"]), regions[region][0], path)
                counts[key] = counts.get(key, 0) + 1
        elif region in thread:
            while thread.pop() != region:
                pass
        else:
            print("%d stray %s" % (n, regions[region][1]))
    for tid, thread in stacks.items():
        for i in range(len(thread)):
            path = "/".join(regions[r][1] for r in thread[:i + 1] if regions[r][0] in wanted)
            still_open[(list(stacks).index(tid), regions[thread[i]][0], path)] = 1
    for (tid, category, path), count in counts.items():
        print(n, tid, category, count, path, *["open"] * ((tid, category, path) in still_open))
