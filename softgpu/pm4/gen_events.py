#!/usr/bin/env python3
"""The hardware events of the software GPU's counters: gen_events.py OUT CATALOGUE DATA_FILE...

CATALOGUE is softgpu/counters/catalogue.txt, whose order is that of sg_counters; the event numbers are those
of data/counters. A counter without a number on a target that has the counter is an error.
"""
import os
import re
import sys

sys.dont_write_bytecode = True  # beside the sources
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "counters"))
from gen_catalogue import targets_of  # noqa: E402

# Those whose counter registers are in registers.c.
TARGETS = {"gfx908": "SG_ISA_GFX908", "gfx90a": "SG_ISA_GFX90A", "gfx942": "SG_ISA_GFX942",
           "gfx950": "SG_ISA_GFX950"}
FAMILIES = {"gfx942": "gfx94x"}
ACCUMULATE = "SQ_ACCUM_PREV_HIRES"


def rows(path):
    for n, line in enumerate(open(path), 1):
        if line.strip() and not line.startswith(("#", "block ", "spelling ")):
            yield n, re.split(r" {2,}", line.strip())


def read_events(paths):
    events = {}
    for path in paths:
        for _, cols in rows(path):
            for group in cols[1].split():
                archs, number = group.split(":")
                for arch in archs.split(","):
                    events[cols[0], arch] = int(number)
    return events


def event_of(events, name, target):
    for arch in (target, FAMILIES.get(target), "all"):
        if (name, arch) in events:
            return events[name, arch]
    return None


def main():
    out, catalogue, *data = sys.argv[1:]
    events = read_events(data)
    text = ["/* made by gen_events.py from catalogue.txt and data/counters */",
            '#include "softgpu/pm4/registers.h"']
    table = []
    for target, symbol in TARGETS.items():
        lines = []
        for k, (n, cols) in enumerate(rows(catalogue)):
            if target not in targets_of(cols[1]):
                continue
            event = event_of(events, cols[0], target)
            if event is None:
                sys.exit("%s:%d: data/counters has no event of '%s' for %s" % (catalogue, n, cols[0], target))
            lines.append("\t{ %d, %d }, /* %s */" % (k, event, cols[0]))
        text += ["", "static const struct sg_pm4_event %s[] = {" % target] + lines + ["};"]
        table.append("\t{ %s, %d, %d, %s }," % (symbol, event_of(events, ACCUMULATE, target), len(lines), target))
    text += ["", "const struct sg_pm4_events sg_pm4_events[] = {"] + table + ["};",
             "const size_t sg_pm4_n_events = %d;" % len(table)]
    with open(out, "w") as f:
        f.write("\n".join(text) + "\n")


main()
