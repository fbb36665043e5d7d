#!/usr/bin/env python3
"""Compare analyze's JSON with expected values: values.py UNIT REPORT.json EXPECTED.tsv

The expected values were computed by another program, from AMD's formulas alone.
"""
import json
import sys

TEXT = {"Metric_ID", "Metric", "Channel", "Unit", "Units", "Xfer", "Coherency", "Type", "Transaction"}


def close(a, b):
    if a == b:
        return True
    if abs(a) == float("inf") or abs(b) == float("inf"):
        return False
    return abs(a - b) <= 2e-6 * max(abs(a), abs(b))


def main():
    unit, report, expected = sys.argv[1:4]
    rows = {}
    for table in json.load(open(report))["tables"]:
        if table["columns"][0] != "Metric_ID":
            continue
        keep = [i for i, name in enumerate(table["columns"]) if name not in TEXT]
        for row in table["rows"]:
            rows[row[0]] = [row[i] for i in keep]
    wrong = values = 0
    for line in open(expected):
        if line.startswith("#"):
            continue
        norm, metric, *want = line.rstrip("\n").split("\t")
        if norm != unit:
            continue
        have = rows.get(metric)
        if have is None or len(have) != len(want):
            print(f"{metric}: {have}, not {want}")
            wrong += 1
            continue
        for a, b in zip(want, have):
            values += 1
            same = b is None if a == "-" else b is not None and close(float(a), float(b))
            if not same:
                print(f"{metric}: {b}, not {a} ({have}, not {want})")
                wrong += 1
    print(f"{unit}: {values} values, {wrong} wrong")
    sys.exit(1 if wrong or values < 20 else 0)


main()
