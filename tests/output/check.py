#!/usr/bin/env python3
"""Read each output format back with a reader of its own and compare it with the trace.

check.py TEST CONVERT: `convert` makes captures, writes the formats, and prints what the
trace model holds, one JSON object per line; that is what the files must say.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from csv_files import check_csv, check_stats
from harness import can_run, convert, fail, same, skipped_parts
from html_file import check_html
from json_file import check_json
from otf2_file import check_otf2
from pftrace_file import check_pftrace
from rocpd_file import check_rocpd
from summary_file import check_summary


def test_csv(program, where):
    events, _ = convert(program, where, "csv", "stats")
    check_csv(where, events)
    check_stats(where, events)
    for mode in ("absolute", "type-relative"):
        events, _ = convert(program, where, "csv", mode, "rename", "queues", "stats", "two")
        check_csv(where, events, rename=True, mode=mode, queues=True)
        check_stats(where, events, rename=True)


def test_json(program, where):
    events, _ = convert(program, where, "json", "stats")
    check_json(where, events)
    events, _ = convert(program, where, "json", "rename", "decode", "two")
    processes = check_json(where, events, rename=True)
    same(len(processes), 2, "processes")


def test_pftrace(program, where):
    events, _ = convert(program, where, "pftrace")
    check_pftrace(where, events)
    if can_run("protoc"):
        with open(f"{where}/host/4711_results.pftrace", "rb") as f:
            subprocess.run(["protoc", "--decode_raw"], stdin=f, stdout=subprocess.DEVNULL,
                           check=True)
    events, _ = convert(program, where, "pftrace", "rename", "queues", "two")
    check_pftrace(where, events, rename=True, queues=True)


def test_rocpd(program, where):
    events, stderr = convert(program, where, "rocpd")
    check_rocpd(where, events)
    if not re.search(r"Opened result file: .*_results\.db \(UUID=", stderr):
        fail("the database's UUID is not announced")
    events, _ = convert(program, where, "rocpd", "rename", "queues", "two")
    check_rocpd(where, events, rename=True, queues=True)


def test_otf2(program, where):
    events, _ = convert(program, where, "otf2")
    check_otf2(where, events)
    events, _ = convert(program, where, "otf2", "two", "rename") # replaces the first
    check_otf2(where, events, rename=True)


def test_html(program, where):
    events, _ = convert(program, where, "html")
    check_html(where, events)
    events, _ = convert(program, where, "html", "rename", "queues", "two")
    check_html(where, events, rename=True, queues=True)


def test_summary(program, where):
    for unit in ("nsec", "usec"):
        events, _ = convert(program, where, "csv", "summary", "domains", "groups", unit, "rename")
        check_summary(where, events, True, unit)


def test_all(program, where):
    """Every number in every format is the number of the trace, so they agree."""
    events, _ = convert(program, where, "csv,json,pftrace,rocpd,otf2,html", "two", "stats", "rename")
    check_csv(where, events, rename=True)
    check_stats(where, events, rename=True)
    check_json(where, events, rename=True)
    check_pftrace(where, events, rename=True)
    check_rocpd(where, events, rename=True)
    check_otf2(where, events, rename=True)
    check_html(where, events, rename=True)
    left = [n for n in os.listdir(where + "/host") if "partial" in n]
    same(left, [], "files left behind")


def test_failures(program, where):
    # nothing recorded, or less than was asked for: no files, and no failure
    convert(program, where, "csv,json,pftrace,rocpd,otf2,html", "empty", "stats", "summary", "quiet")
    convert(program, where, "csv,json,pftrace,rocpd,otf2,html", "minimum", "quiet")
    same(os.path.exists(where + "/host"), False, "files of an empty trace")
    # a file where the folder should be
    with open(where + "/host", "w", encoding="ascii"):
        pass
    _, stderr = convert(program, where, "csv,json,pftrace,rocpd,otf2,html", "quiet", status=3)
    for word in ("csv", "json", "pftrace", "rocpd", "otf2", "html"):
        if not re.search(rf"^file {word} .*(not a folder|Not a directory)", stderr, re.M):
            fail(f"{word}: no sentence about the file in the way:\n{stderr}")
    os.remove(where + "/host")
    # one format cannot be written, the others are
    os.makedirs(where + "/host/4711_results.json.partial")
    _, stderr = convert(program, where, "csv,json,pftrace,rocpd,otf2,html", "quiet", status=3)
    os.rmdir(where + "/host/4711_results.json.partial")
    names = set(os.listdir(where + "/host"))
    for name in ("kernel_trace.csv", "results.pftrace", "results.db", "results.otf2",
                 "results.html"):
        if "4711_" + name not in names:
            fail(f"{name} is missing after JSON failed")
    if "4711_results.json" in names:
        fail("a JSON file that could not be written is there")
    # the disk is full: a file size limit stands for it
    shutil.rmtree(where + "/host")
    _, stderr = convert(program, where, "csv,json,pftrace,rocpd,otf2,html", "quiet", "two", "limit",
                        status=3)
    for word in ("json", "pftrace", "rocpd"):
        if not re.search(rf"^file {word} .*: .*(cannot write|disk)", stderr, re.M):
            fail(f"{word}: no sentence about the full disk:\n{stderr}")
    names = set(os.listdir(where + "/host"))
    if [n for n in names if "partial" in n] or "4711_results.db" in names:
        fail(f"left behind: {sorted(names)}")
    if "4711_kernel_trace.csv" not in names:
        fail("the small files are missing")


def main():
    where = tempfile.mkdtemp(prefix="ws-output-")
    try:
        globals()["test_" + sys.argv[1]](os.path.abspath(sys.argv[2]), where)
    finally:
        shutil.rmtree(where, ignore_errors=True)
    sys.exit(77 if skipped_parts else 0)


if __name__ == "__main__":
    main()
