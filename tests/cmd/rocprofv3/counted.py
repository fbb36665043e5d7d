#!/usr/bin/env python3
"""What tests of counting ask about files that rocprofv3 wrote; an oracle of its own.

counted.py values DIR/PREFIX          dispatch, kernel, counter and value from the CSV, sorted
counted.py same A B                   the two have the same values, dispatch by dispatch
counted.py subset A B                 what A has, B has with the same value
counted.py formats DIR/PREFIX         CSV, JSON, database and timeline say the same
"""
import collections
import csv
import json
import os
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../output"))
import pftrace_file  # the reader of timelines


def fail(text):
    sys.exit("FAIL: " + text)


def rows(prefix):
    with open(prefix + "_counter_collection.csv", newline="") as f:
        return list(csv.DictReader(f))


def values(prefix):
    """(dispatch, kernel, agent, counter) -> value"""
    found = {}
    for r in rows(prefix):
        key = int(r["Dispatch_Id"]), r["Kernel_Name"], r["Agent_Id"], r["Counter_Name"]
        if key in found:
            fail(f"{prefix}: {key} twice")
        found[key] = float(r["Counter_Value"])
    if not found:
        fail(prefix + ": no values")
    return found


def compare(a, b, whole):
    left, right = values(a), values(b)
    if whole and left.keys() != right.keys():
        fail(f"{a} and {b} differ in {sorted(left.keys() ^ right.keys())[:3]} ...")
    for key, value in left.items():
        if key not in right:
            fail(f"{b} has no {key}")
        if right[key] != value:
            fail(f"{key}: {value} in {a}, {right[key]} in {b}")
    print(len(left))


def from_json(prefix):
    with open(prefix + "_results.json") as f:
        tool = json.load(f)["rocprofiler-sdk-tool"][0]
    names = {c["id"]["handle"]: c for c in tool["counters"]}
    found = collections.defaultdict(float)
    instances = collections.Counter()
    for record in tool["callback_records"]["counter_collection"]:
        info = record["dispatch_data"]["dispatch_info"]
        for value in record["records"]:
            counter = names[value["counter_id"]["handle"]]
            found[info["dispatch_id"], counter["name"]] += value["value"]
            instances[info["dispatch_id"], counter["name"]] += 1
    for (dispatch, name), n in instances.items():
        counter = next(c for c in names.values() if c["name"] == name)
        places = 1
        for dim in counter["dimensions"]:
            places *= dim["instance_size"]
        if n > places or len(counter["instances"]) != places:
            fail(f"JSON: {name} has {n} values in {places} places")
        if not counter.get("fidelity"):
            fail(f"JSON: nothing is said of {name}")
    return found, max(instances.values())


def from_database(prefix):
    db = sqlite3.connect(prefix + "_results.db")
    found = collections.defaultdict(float)
    for dispatch, name, value in db.execute(
            "SELECT K.dispatch_id, P.symbol, E.value FROM rocpd_pmc_event E "
            "JOIN rocpd_info_pmc P ON P.id = E.pmc_id AND P.guid = E.guid "
            "JOIN rocpd_kernel_dispatch K ON K.event_id = E.event_id AND K.guid = E.guid"):
        found[dispatch, name] += value
    said = [text for text, in db.execute("SELECT long_description FROM rocpd_info_pmc")]
    if not said or not all(said):
        fail("database: a counter of which nothing is said")
    return found


def from_timeline(prefix):
    """counter -> the values its track goes through, zeros left out"""
    tracks, packets = pftrace_file.read_pftrace(prefix + "_results.pftrace")
    found = collections.defaultdict(set)
    for p in packets:
        if p["type"] == 4:
            name = pftrace_file.one(tracks[p["track"]], 2).decode()
            if " PMC " in name and p["value"]:
                found[name.split(" PMC ")[1]].add(p["value"])
    return found


def formats(prefix):
    table = {(key[0], key[3]): value for key, value in values(prefix).items()}
    in_json, most = from_json(prefix)
    in_database = from_database(prefix)
    timeline = from_timeline(prefix)
    if most < 8:
        fail("JSON: no counter has instances")
    for other, what in ((in_json, "JSON"), (in_database, "database")):
        if other.keys() != table.keys():
            fail(f"{what}: {sorted(other.keys() ^ table.keys())[:4]}")
        for key, value in table.items():
            if abs(other[key] - value) > 1e-6 * max(1, abs(value)):
                fail(f"{what}: {key} is {other[key]}, in CSV {value}")
    for name in {name for _, name in table}:
        wanted = {int(v) for (_, n), v in table.items() if n == name and int(v)}
        if timeline.get(name, set()) != wanted:
            fail(f"timeline: {name} is {timeline.get(name)}, in CSV {wanted}")
    print(len(table))


def main():
    what, *args = sys.argv[1:]
    if what == "values":
        for (dispatch, kernel, _, counter), value in sorted(values(args[0]).items()):
            print(dispatch, kernel.split("(")[0], counter, f"{value:g}")
    elif what == "formats":
        formats(args[0])
    else:
        compare(args[0], args[1], what == "same")


if __name__ == "__main__":
    main()
