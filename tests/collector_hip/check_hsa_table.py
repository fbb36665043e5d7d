#!/usr/bin/env python3
"""collector/hsa/functions.tab against every ROCr that is here: positions in its tables, and prototypes.

    check_hsa_table.py TABLE VERSIONS [ROOT...]

A wrapper in the wrong place of a table would be called for another function, so each member of each table
must be a row at that position. Roots are those of check_table.py. Skipped (77) where none has ROCr.
"""
import re
import sys

import installed

table, versions = sys.argv[1:3]
STRUCTS = {"core": "CoreApiTable", "amd": "AmdExtTable", "image": "ImageExtTable",
           "finalizer": "FinalizerExtTable"}
INCLUDE = ("#include <stdint.h>\n#include <stdbool.h>\n#include <hsa/hsa.h>\n#include <hsa/hsa_ext_amd.h>\n"
           "#include <hsa/hsa_ext_image.h>\n#include <hsa/hsa_ext_finalize.h>\n")
AMD_52_FUNCTIONS = 48  # as in load.c: a table of this size has the order of the column 5.2


def read_rows():
    rows = {}
    for line in open(table):
        m = re.match(r"(\w+)\s+(-|\d+)\s+(\d+)\s+\S+\s+(.*?)\s*\b(hsa_\w+)\((.*)\)\s*$", line)
        if m:
            rows[m.group(5)] = (m.group(1), m.group(2), m.group(3), f"{m.group(4)} (*)({m.group(6)})")
    return rows


def positions_agree(root, rows):
    header = open(f"{root}/usr/include/hsa/hsa_api_trace.h").read()
    ok = True
    for which, struct in STRUCTS.items():
        body = re.search(r"struct %s\s*\{(.*?)\n\}" % struct, header, re.S).group(1)
        members = re.findall(r"(\w+)_fn\s*;", body)
        older = which == "amd" and len(members) == AMD_52_FUNCTIONS
        for at, function in enumerate(members):
            row = rows.get(function)
            if not row or row[0] != which or (row[1] if older else row[2]) != str(at):
                print(f"{installed.name(root)}: {struct} has {function} at {at}, the table has {row and row[:3]}")
                ok = False
        print(f"{installed.name(root)}: {struct}: {len(members)} functions")
    return ok


def prototypes_agree(root, rows, was):
    text = installed.preprocess(root, INCLUDE)
    declared = set(re.findall(r"\b(hsa_\w+)\s*\(", text))
    known = set(re.findall(r"\b\w+\b", text))
    checked = [f for f in sorted(rows) if f in declared]
    lines = [installed.same_type(f, [rows[f][3]] + [t for t in was.get(f, [])
                                                    if all(w in known for w in re.findall(r"\bhsa_\w+", t))])
             for f in checked]
    print(f"{installed.name(root)}: {len(checked)} prototypes compared with the headers")
    return installed.compiles(root, INCLUDE + "\n".join(lines) + "\n") and len(checked) >= 180


def main():
    roots = installed.roots(sys.argv[3:], "usr/include/hsa/hsa_api_trace.h")
    if not roots:
        print("SKIP: ROCr's headers are not installed")
        return 77
    rows = read_rows()
    _, was = installed.read_versions(versions)
    unknown = set(was) - set(rows)
    if unknown:
        print(f"{versions}: not in the table:", *sorted(unknown))
    results = [check for root in roots
               for check in (positions_agree(root, rows), prototypes_agree(root, rows, was))]
    return 0 if all(results) and not unknown else 1


if __name__ == "__main__":
    sys.exit(main())
