#!/usr/bin/env python3
"""Counters of rocprofv3 in the wide layout of rocprof v1: a row per dispatch, a column per counter.

    convert-counters-collection-format.py -i pmc_1/*_counter_collection.csv pmc_2 -o wide.csv

Inputs are files, or folders that are searched for *counter_collection.csv. What several passes counted of a
dispatch becomes one row; of a counter that several passes counted the first value is taken. Files of one folder
that counted the same are processes of one run: the first of one folder goes with the first of the next.
"""
import argparse
import csv
import os
import sys

SAME = ["Dispatch_Id", "Agent_Id", "Grid_Size", "Kernel_Name", "LDS_Block_Size", "Queue_Id", "SGPR_Count",
        "Scratch_Size", "VGPR_Count", "Workgroup_Size"]
TRUE = ("y", "yes", "t", "true", "on", "1")
FALSE = ("n", "no", "f", "false", "off", "0")


class Mistake(Exception):
    """What went wrong, and what to do."""


def boolean(text):
    if text.lower() not in TRUE + FALSE:
        raise argparse.ArgumentTypeError("'%s' is not yes or no" % text)
    return text.lower() in TRUE


def find_files(inputs):
    files = []
    for name in inputs:
        if os.path.isfile(name):
            files.append(name)
        elif os.path.isdir(name):
            for folder, folders, names in os.walk(name):
                folders.sort()
                files += sorted(os.path.join(folder, n) for n in names if n.endswith("counter_collection.csv"))
        else:
            raise Mistake("no '%s': name files or folders of rocprofv3 --pmc -f csv" % name)
    if not files:
        raise Mistake("no *counter_collection.csv in %s: rocprofv3 --pmc ... -f csv writes them" % " ".join(inputs))
    return files


def order(cell):
    """Numbers by their size, texts behind them."""
    try:
        return (0, float(cell), "")
    except ValueError:
        return (1, 0.0, cell)


def read_file(path):
    with open(path, newline="", encoding="utf-8", errors="surrogateescape") as file:
        table = csv.DictReader(file)
        lacking = [c for c in SAME + ["Counter_Name", "Counter_Value"] if c not in (table.fieldnames or [])]
        if lacking:
            raise Mistake("'%s' has no column %s: it is not a counter_collection.csv" % (path, lacking[0]))
        return [(tuple(row[c] for c in SAME), row["Counter_Name"], float(row["Counter_Value"])) for row in table]


def read(files, verbose):
    rows, counters, processes = {}, set(), {}
    for path in files:
        if verbose:
            print("reading", path, file=sys.stderr)
        values = read_file(path)
        names = {name for _, name, _ in values}
        # Files of a folder that counted the same are processes; others are passes of one.
        beside = processes.setdefault(os.path.dirname(path), [])
        process = next((i for i, known in enumerate(beside) if not known & names), len(beside))
        beside[process:process + 1] = [(beside[process] if process < len(beside) else set()) | names]
        for key, name, value in values:
            rows.setdefault((process,) + key, {}).setdefault(name, value)
        counters |= names
    return rows, sorted(counters)


def write(path, rows, counters, keep_prefix):
    if os.path.dirname(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8", errors="surrogateescape") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(SAME + counters)
        for key in sorted(rows, key=lambda k: (k[0], [order(cell) for cell in k[1:]])):
            cells = list(key[1:])
            if not keep_prefix:
                cells[1] = cells[1].split(" ")[-1]
            out.writerow(cells + [rows[key].get(name, "") for name in counters])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-i", "--input", nargs="+", required=True, help="counter_collection.csv files, or folders")
    parser.add_argument("-o", "--output", required=True, help="the wide CSV file")
    parser.add_argument("--retain-agent-prefix", nargs="?", const=True, default=False, type=boolean, metavar="BOOL",
                        help="'Agent 1' instead of 1")
    parser.add_argument("-d", "--debug", action="store_true", help="say what is read")
    parser.add_argument("-v", "--verbose", action="store_true", help="likewise")
    args = parser.parse_args()
    try:
        rows, counters = read(find_files(args.input), args.debug or args.verbose)
        write(args.output, rows, counters, args.retain_agent_prefix)
    except (Mistake, OSError, ValueError) as why:
        sys.exit("convert-counters-collection-format.py: %s" % why)


if __name__ == "__main__":
    main()
