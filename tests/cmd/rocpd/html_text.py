#!/usr/bin/env python3
"""The kernels of a trace page, or of a kernel_trace.csv, as text: start, end and name of each."""
import csv
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "output"))
from html_file import Page  # noqa: E402

if sys.argv[1].endswith(".csv"):
    with open(sys.argv[1], newline="", encoding="utf-8") as f:
        rows = [(row["Start_Timestamp"], row["End_Timestamp"], row["Kernel_Name"]) for row in csv.DictReader(f)]
else:
    page = Page(sys.argv[1])
    kernel = page.head["kinds"].index("kernel")
    rows = [(start, end, page.name(path)) for track in page.head["tracks"] if track["kind"] in ("stream", "queue")
            for start, end, path, *_ in page.slices(track) if page.paths[path][2] == kernel]
for row in sorted((str(a), str(b), name) for a, b, name in rows):
    print(*row)
