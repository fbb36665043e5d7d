#!/usr/bin/env python3
"""Compare the analysis of a profile on the software GPU with that of the same program on the GPU itself.

    filled.py NAME WORKLOAD REPORT FORMULAS

NAME is a recording of tests/recorded, WORKLOAD the folder of the profile, REPORT what analyze printed for it and
FORMULAS what analyze --debug did. Every cell that has a value on hardware has to have one here, unless a
counter that it needs is not supported, which the profile said. What follows from the program and not from
time has to be equal. Prints what differs, then a summary.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "recorded"))
from recording import read_tables, report_tables  # noqa: E402

EMPTY = {"", "nan", "N/A", "None"}
NOT_VALUES = {"1.1"}  # the machine
# Tables, or metrics of a table, whose values follow from the program.
SURE = {
    "6.1": {"Dispatched Workgroups", "Dispatched Wavefronts", "VGPR Writes", "SGPR Writes"},
    "7.1": {"Grid Size", "Workgroup Size", "Total Wavefronts", "Saved Wavefronts", "Restored Wavefronts", "VGPRs", "SGPRs",
            "LDS Allocation", "Scratch Allocation"},
    "7.2": {"Instructions per wavefront", "Active Cycles"},
    "10.1": None, "10.2": None, "10.3": None, "10.4": None,
    "15.2": None, "15.3": None,
    "16.3": {"Total Req", "Read Req", "Write Req", "Atomic Req", "Cache Accesses", "Cache Hits", "L1-L2 Read", "L1-L2 Write",
             "L1-L2 Atomic"},
    "16.4": None,
    "17.3": {"Write Req", "Atomic Req"},
}


def unsupported(workload):
    """The counters that the profile said it cannot collect."""
    with open(f"{workload}/log.txt", encoding="utf-8") as log:
        found = re.search(r"might not be supported by rocprof: (.*?): metrics", log.read())
    return set(found.group(1).split(", ")) if found else set()


def without_value(formulas):
    """{(metric id, column): counters that had no value} of analyze --debug."""
    found, key = {}, None
    with open(formulas, encoding="utf-8") as lines:
        for line in lines:
            title = re.match(r"(\d+\.\d+\.\d+) .*, (.+)$", line)
            term = re.match(r"\s+(\w+) = no value$", line)
            if title:
                key = title.groups()
            elif term and key:
                found.setdefault(key, set()).add(term.group(1))
    return found


def equal(a, b):
    """Both are printed with two decimals."""
    return abs(float(a) - float(b)) <= 0.0051


def compare(reference, ours, excused):
    """Prints what differs and a summary; whether nothing does."""
    filled = empty = wrong = known = same = 0
    for name, rows in reference.items():
        if name in NOT_VALUES:
            continue
        if name not in ours:
            print(f"table {name} is missing")
            wrong += 1
            continue
        head, mine = ours[name][0], {row[0]: row for row in ours[name][1:]}
        for row in rows[1:]:
            for column, want in zip(rows[0][2:], row[2:]):
                if want in EMPTY:
                    continue
                filled += 1
                what = f"{row[0]} {row[1]}, {column}: {want} on hardware"
                have = mine[row[0]][head.index(column)] if row[0] in mine and column in head else ""
                if have in EMPTY:
                    empty += 1
                    if (row[0], column) in excused:
                        known += 1
                    else:
                        print(f"{what}, nothing here")
                        wrong += 1
                elif name in SURE and column in ("Avg", "Min", "Max") and (not SURE[name] or row[1] in SURE[name]):
                    if equal(want, have):
                        same += 1
                    else:
                        print(f"{what}, {have} here")
                        wrong += 1
    print(f"{filled - empty} of {filled} cells, {same} equal, {known} need counters that are not supported")
    return wrong == 0 and same >= 200


def main():
    name, workload, report, formulas = sys.argv[1:]
    cannot = unsupported(workload)
    excused = {key for key, counters in without_value(formulas).items() if counters & cannot}
    sys.exit(0 if compare(read_tables(name)[0], report_tables(report), excused) else 1)


main()
