#!/usr/bin/env python3
"""Rewrite a merged workload in another layout: layouts.py FROM TO passes|long|results|v1"""
import csv
import os
import shutil
import sys

FIXED = ["Dispatch_ID", "GPU_ID", "Grid_Size", "Workgroup_Size", "LDS_Per_Workgroup",
         "Scratch_Per_Workitem", "Arch_VGPR", "Accum_VGPR", "SGPR", "Kernel_Name"]
TIMES = ["Start_Timestamp", "End_Timestamp"]


def read(path):
    return list(csv.DictReader(open(path, newline="")))


def write(path, names, rows):
    with open(path, "w", newline="") as to:
        out = csv.writer(to, lineterminator="\n")
        out.writerow(names)
        out.writerows([[row[name] for name in names] for row in rows])


def passes(source, target, rows, levels):
    """Counters dealt to three files; a pass runs the kernels of its own in another order."""
    counters = [name for name in rows[0] if name not in FIXED + TIMES]
    for n in range(3):
        mine = counters[n::3]
        order = rows if n == 0 else sorted(rows, key=lambda row: row["Kernel_Name"])
        write(f"{target}/pmc_perf_{n}.csv", FIXED + mine + TIMES, order)
    for level in levels:
        shutil.copy(f"{source}/{level}", target)


def long_rows(source, rows, levels):
    out = []
    for row in rows:
        base = {name: row[name] for name in FIXED + TIMES}
        for name in row:
            if name not in base:
                out.append({**base, "Kernel_ID": 1, "Counter_Name": name, "Counter_Value": row[name]})
    for level in levels:
        for row in read(f"{source}/{level}"):
            base = {name: row[name] for name in FIXED + TIMES}
            out.append({**base, "Kernel_ID": 1, "Counter_Name": level[:-4] + "_ACCUM",
                        "Counter_Value": row["SQ_ACCUM_PREV_HIRES"]})
    return out


def main():
    source, target, layout = sys.argv[1:4]
    os.makedirs(target)
    shutil.copy(f"{source}/sysinfo.csv", target)
    rows = read(f"{source}/pmc_perf.csv")
    levels = sorted(name for name in os.listdir(source) if name.startswith("SQ") and name.endswith(".csv"))
    names = FIXED + TIMES + ["Kernel_ID", "Counter_Name", "Counter_Value"]
    if layout == "passes":
        passes(source, target, rows, levels)
    elif layout == "long":
        write(f"{target}/pmc_perf.csv", names, long_rows(source, rows, levels))
    elif layout == "results":
        every = long_rows(source, rows, levels)
        for n in range(3):
            write(f"{target}/results_pmc_perf_{n}.csv", names, every[n::3])
    elif layout == "v1":
        # What rocprof v1 called its columns.
        old = {"Dispatch_ID": "Index", "Kernel_Name": "KernelName", "GPU_ID": "gpu-id", "Grid_Size": "grd",
               "Workgroup_Size": "wgr", "LDS_Per_Workgroup": "lds", "Scratch_Per_Workitem": "scr",
               "Arch_VGPR": "arch_vgpr", "Accum_VGPR": "accum_vgpr", "SGPR": "sgpr",
               "Start_Timestamp": "BeginNs", "End_Timestamp": "EndNs"}
        for name in ["pmc_perf.csv"] + levels:
            table = read(f"{source}/{name}")
            with open(f"{target}/{name}", "w", newline="") as to:
                out = csv.writer(to, lineterminator="\r\n")
                out.writerow([old.get(column, column) for column in table[0]])
                out.writerows([list(row.values()) for row in table])


main()
