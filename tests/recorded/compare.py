#!/usr/bin/env python3
"""Compare what analyze printed for a recording with what the reference tool printed for it.

    compare.py cells NAME REPORT   every cell of every table
    compare.py lines NAME REPORT   every line, also of the memory chart: for analyze --like-3.3

Cells may differ where docs/differences.md says so: a missing value is N/A here and blank or nan
there; units of instruction counts keep their name where 3.3 prints "ns". Prints what differs, then
how much was compared.
"""
import sys

from recording import digest, read_tables, report_lines, report_tables

DRAWN = ("3", "4")  # blocks that are drawings, not tables


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def same(reference, ours):
    if reference == ours:
        return True
    if reference in ("", "nan") and ours == "N/A":
        return True
    a, b = number(reference), number(ours)
    # Both are printed with two decimals, so half of the last one is rounding.
    return a is not None and b is not None and (a == b or abs(a - b) <= 1e-3 * abs(a) + 0.0051)


def compare_cells(reference, ours):
    """Prints what differs; how many cells were compared and how many of them differ."""
    wrong = cells = 0
    for name, rows in reference.items():
        mine = ours.get(name)
        if mine is None or [len(row) for row in mine] != [len(row) for row in rows]:
            print(f"table {name}: {len(rows)} rows of {len(rows[0])} cells, here {mine and len(mine)}")
            wrong += 1
            continue
        for line, (a, b) in enumerate(zip(rows, mine)):
            for column, x, y in zip(rows[0], a, b):
                cells += 1
                unit = column == "Unit" and x == "ns" and "ns" in y.lower()
                if not same(x, y) and not unit:
                    print(f"table {name} row {line} column {column}: '{x}', here '{y}'")
                    wrong += 1
    for name in ours:
        if name not in reference and name.split(".")[0] not in DRAWN:
            print(f"table {name} is not in the reference")
            wrong += 1
    return cells, wrong


def compare_lines(reference, ours):
    lines = wrong = 0
    for part, want in reference.items():
        have = digest(ours.get(part, []))
        lines += int(want[0])
        if have != want:
            print(f"{part}: {want[0]} lines with hash {want[1]}, here {have[0]} with {have[1]}")
            wrong += 1
    for part in ours:
        if part not in reference and not part.startswith("4."):
            print(f"{part} is not in the reference")
            wrong += 1
    return lines, wrong


def main():
    what, name, report = sys.argv[1:]
    tables, digests = read_tables(name)
    if what == "cells":
        compared, wrong = compare_cells(tables, report_tables(report))
    else:
        compared, wrong = compare_lines(digests, report_lines(report))
    print(f"{compared} {what} compared, {wrong} differ")
    sys.exit(1 if wrong or not compared else 0)


main()
