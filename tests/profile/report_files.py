#!/usr/bin/env python3
"""Read the files of a report with other readers than ours: report_files.py MADE_REPORT"""
import json
import math
import os
import subprocess
import sys
import tempfile

wrong = []


def check(what, have, want):
    good = have == want or (isinstance(want, float) and isinstance(have, (int, float)) and
                            math.isclose(have, want, rel_tol=1e-12, abs_tol=1e-15))
    print(("ok   " if good else "FAIL ") + what + ("" if good else f": {have!r}, not {want!r}"))
    if not good:
        wrong.append(what)


def validate(data, metric, rows):
    """What AMD's validator compares: labels after '>>> ', counts, depths."""
    graph = [row for rank in data["timemory"][metric]["ranks"] for row in rank["graph"]]
    for row, (label, count, depth) in zip(graph, rows):
        prefix = row["prefix"][row["prefix"].find(">>>") + 4:]
        indented = "  " * (depth - 1) + "|_" + label if depth else label
        check(f"{metric} {label}", (prefix, row["entry"]["laps"], row["depth"]), (indented, count, depth))


def walk(node, depth=0):
    yield node, depth
    for child in node["children"]:
        yield from walk(child, depth + 1)


def wall_clock(folder):
    with open(f"{folder}/wall_clock.json", encoding="utf-8") as f:
        data = json.load(f)
    metric = data["timemory"]["wall_clock"]
    check("type", metric["type"], "wall_clock")
    check("description", metric["description"], "Real-clock timer (i.e. wall-clock timer)")
    check("unit", (metric["unit_value"], metric["unit_repr"]), (1000000000, "sec"))
    check("properties", metric["properties"],
          {"value": 0, "enum": "WALL_CLOCK", "id": "wall_clock", "ids": ["wall_clock"]})
    for key, value in [("thread_scope_only", False), ("thread_count", 2), ("mpi_size", 1), ("upcxx_size", 1),
                       ("process_count", 1), ("num_ranks", 1), ("concurrency", 2)]:
        check(key, metric[key], value)
    validate(data, "wall_clock", [
        ("python3", 1, 0), ("train_epoch", 4, 1), ("hipLaunchKernel", 4, 2), ("gemm(float*, float*, float*, int)", 4, 3),
        ("</script><script>document.title='x'</script>", 1, 1), ("\"'`${1}&amp;<!--", 1, 1),
        ("a\tb\nc\x01\x7f", 1, 1), ("\ufffd\ufffd not UTF-8", 1, 1), ("<img src=x onerror=alert(1)>", 1, 1)])
    ranks = metric["ranks"]
    check("one rank", [r["rank"] for r in ranks], [0])
    check("graph_size", ranks[0]["graph_size"], len(ranks[0]["graph"]))
    row = ranks[0]["graph"][1]
    check("entry", row["entry"], {"laps": 4, "value": 400000000, "accum": 400000000,
                                  "repr_data": 0.4, "repr_display": 0.4})
    for key, value in {"sum": 0.4, "count": 4, "min": 0.1, "max": 0.1, "sqr": 0.04, "mean": 0.1,
                       "stddev": 0.0}.items():
        check("stats " + key, row["stats"][key], value)
    check("hashes are of the name", len({r["hash"] for r in ranks[0]["graph"]}), 9)
    check("rolling hashes are of the path", len({r["rolling_hash"] for r in ranks[0]["graph"]}), 9)
    tree(metric)


def tree(metric):
    root = metric["graph"][0][0]
    check("the root", (root["node"]["prefix"], root["node"]["is_dummy"], root["node"]["depth"]),
          ("unknown-hash=0", True, 0))
    nodes = list(walk(root))[1:]
    check("the tree has the rows of the list", [(n["node"]["prefix"], n["node"]["inclusive"]["entry"]["laps"],
                                                 depth - 1) for n, depth in nodes],
          [(r["prefix"].split(">>> ", 1)[1].lstrip(" ").removeprefix("|_"), r["entry"]["laps"], r["depth"])
           for r in metric["ranks"][0]["graph"]])
    check("depths grow", all(n["node"]["depth"] == depth for n, depth in nodes), True)
    main = nodes[0][0]["node"]
    check("inclusive", main["inclusive"]["entry"]["value"], 1000000000)
    check("exclusive: without 4 epochs and 5 regions", main["exclusive"]["entry"]["value"],
          1000000000 - 400000000 - 25000000)
    launch = nodes[2][0]["node"]
    check("a kernel is not part of its call's time", launch["exclusive"]["entry"]["value"], 40000000)
    check("thread and process", (main["tid"], main["pid"]), ([0], [4711]))


def samples(folder):
    with open(f"{folder}/sampling_cpu_clock.json", encoding="utf-8") as f:
        data = json.load(f)
    validate(data, "sampling_cpu_clock", [
        ("_start", 100, 0), ("main", 100, 1), ("<module>", 100, 2), ("train_epoch", 80, 3),
        ("at::native::conv2d(at::Tensor)", 50, 4), ("at::native::relu(at::Tensor)", 30, 4), ("load", 20, 3),
        ("hipMemcpy", 20, 4), ("clone", 20, 0), ("start_thread", 20, 1), ("worker", 20, 2), ("worker", 20, 3),
        ("decode", 20, 4)])
    with open(f"{folder}/sampling_percent.json", encoding="utf-8") as f:
        metric = json.load(f)["timemory"]["sampling_percent"]
    shares = {r["prefix"]: r["entry"]["value"] for r in metric["ranks"][0]["graph"]}
    for name, share in {"at::native::conv2d(at::Tensor)": 50.0, "at::native::relu(at::Tensor)": 30.0,
                        "hipMemcpy": 20.0, "main": 100.0}.items():
        check("share of " + name, shares["|0>>> " + name], share)
    check("recursion counts once", shares["|1>>> worker"], 100.0)


def metadata(folder):
    with open(f"{folder}/metadata.json", encoding="utf-8") as f:
        meta = json.load(f)["rocprofiler-systems"]["metadata"]
    check("sections", sorted(meta), ["command_line", "environment", "info", "output", "settings"])
    check("PWD", meta["info"]["PWD"], "/work \"here\"")
    check("version", meta["info"]["ROCPROFSYS_VERSION"], "1.2.0")
    check("settings", meta["settings"], {"ROCPROFSYS_PROFILE": {"value": True}})
    check("environment", meta["environment"], [{"key": "HOME", "value": "/home/x"}])
    check("HOME", meta["info"]["HOME"], "/home/x")
    check("command line", meta["command_line"], ["./app"])
    check("modules", (meta["info"]["memory_maps_files"], meta["info"]["memory_maps"]),
          (["/opt/app"], [{"load_address": "400000", "last_address": "500000", "offset": "0",
                           "pathname": "/opt/app"}]))
    listed = [path for files in meta["output"].values() for entry in files for path in entry["value"]]
    written = [f"{folder}/{name}" for name in os.listdir(folder) if name != "metadata.json"]
    check("every file is listed", sorted(listed), sorted(written + ["/x/perfetto-trace.proto"]))
    check("the trace", meta["output"]["protobuf"],
          [{"key": "perfetto", "value": ["/x/perfetto-trace.proto"]}])
    with open(f"{folder}/functions.json", encoding="utf-8") as f:
        functions = json.load(f)["rocprofiler-systems"]["functions"]
    with open(f"{folder}/wall_clock.json", encoding="utf-8") as f:
        rows = json.load(f)["timemory"]["wall_clock"]["ranks"][0]["graph"]
    check("functions have their hashes", functions["train_epoch"], [rows[1]["hash"]])
    check("functions of samples are there", "at::native::relu(at::Tensor)" in functions, True)


with tempfile.TemporaryDirectory() as folder:
    printed = subprocess.run([sys.argv[1], folder], check=True, stdout=subprocess.PIPE).stdout
    wall_clock(folder)
    samples(folder)
    metadata(folder)
    tables = [name for name in os.listdir(folder) if name.endswith(".txt")]
    check("tables", sorted(tables), ["sampling_cpu_clock.txt", "sampling_percent.txt", "sampling_wall_clock.txt",
                                     "trip_count.txt", "wall_clock.txt"])
    for name in tables:
        with open(f"{folder}/{name}", "rb") as f:
            text = f.read()
        check(f"{name} is printed, too", text in printed, True)
    with open(f"{folder}/wall_clock.txt", "rb") as f:
        text = f.read()
    check("the text has no controls", any(c < 32 and c != 10 for c in text), False)
    check("all lines are of one width", len({len(line) for line in text.decode().splitlines()}), 1)
sys.exit(f"{len(wrong)} wrong" if wrong else 0)
