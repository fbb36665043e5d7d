#!/usr/bin/env python3
"""Walk the tables of two analyze reports cell by cell: cells.py REFERENCE OURS.

Differences that docs/differences.md names are allowed, and counted: a value that is
missing is N/A here and blank or nan there; units of instruction counts keep their name
where 3.3 prints "ns". Blocks that are drawn (3, 4) are not tables. Prints what differs.
"""
import re
import sys


def tables(path):
    """{"2.1": [header row, row, ...]} with cells as text; cells of several lines are joined."""
    found, name, rows, current = {}, None, None, None
    block = None
    for line in open(path, encoding="utf-8"):
        line = line.rstrip("\n")
        if re.match(r"^\d+\. ", line):
            block = line.split(".")[0]
            name = "1.1" if block == "1" else None
        title = re.match(r"^(\d+\.\d+) ", line)
        if title:
            name = title.group(1)
        if line.startswith("╒") and name:
            rows, current = [], None
        elif rows is not None and line.startswith("│"):
            cells = [cell.strip() for cell in line.strip("│").split("│")]
            if current is None:
                current = cells
            else:
                current = [(a + " " + b).strip() for a, b in zip(current, cells)]
        elif rows is not None and line[:1] in "╞├╘":
            rows.append(current)
            current = None
            if line[0] == "╘":
                found[name] = rows
                rows, name = None, None
    return found


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


def main():
    reference, ours = tables(sys.argv[1]), tables(sys.argv[2])
    wrong = cells = 0
    for name, rows in reference.items():
        if name.split(".")[0] in ("3", "4"):
            continue
        mine = ours.get(name)
        if mine is None or len(mine) != len(rows):
            print(f"table {name}: {len(rows)} rows, here {len(mine) if mine else 'none'}")
            wrong += 1
            continue
        for line, (a, b) in enumerate(zip(rows, mine)):
            for column, (x, y) in enumerate(zip(a, b)):
                cells += 1
                unit = rows[0][column] == "Unit" and x == "ns" and "ns" in y.lower()
                if len(a) != len(b) or not (same(x, y) or unit):
                    print(f"table {name} row {line} column {rows[0][column]}: '{x}', here '{y}'")
                    wrong += 1
    for name in ours:
        if name not in reference and name.split(".")[0] not in ("3", "4"):
            print(f"table {name} is not in the reference")
            wrong += 1
    print(f"{cells} cells compared, {wrong} differ")
    sys.exit(1 if wrong or cells < 2000 else 0)


main()
