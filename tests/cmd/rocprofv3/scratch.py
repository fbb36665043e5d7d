"""What the rows of scratch memory must be, worked out by hand from the kernels.

    scratch.py PREFIX DEVICE     reads PREFIX_kernel_trace.csv, ..., prints "N allocations, M frees"

ROCr 5.2: a queue keeps scratch for the largest kernel so far, for every wave slot of the GPU.
When that would be more than 140 MiB it gets just what the dispatch needs, spread evenly over the
shader engines, and gives it back afterwards.
"""
import csv
import json
import sqlite3
import sys

KEEP_MAX = 146800640
SLACK_NS = 100000  # host and GPU times meet in one clock, by interpolation

prefix, device = sys.argv[1], int(sys.argv[2])


def rows(stem):
    return list(csv.DictReader(open("%s_%s.csv" % (prefix, stem))))


def up(value, to):
    return -(-value // to) * to


def check(what, got, want):
    if got != want:
        sys.exit("%s: %s, not %s" % (what, got, want))


gpus = [a for a in rows("agent_info") if a["Agent_Type"] == "GPU"]
gpu = gpus[device]
n_engines = int(gpu["Num_Shader_Banks"])
n_slots = up(int(gpu["Cu_Count"]), n_engines) * int(gpu["Max_Slots_Scratch_Cu"])


def size_of(d):
    """Bytes and flags of the scratch for one dispatch."""
    lane = up(int(d["Scratch_Size"]), 16)
    if up(lane * 64 * n_slots, 4096) <= KEEP_MAX:
        return up(lane * 64 * n_slots, 4096), 0
    groups = up(int(d["Grid_Size_X"]) // int(d["Workgroup_Size_X"]), n_engines)
    waves = min(groups * up(int(d["Workgroup_Size_X"]), 64) // 64, n_slots)
    return up(lane * 64 * waves, 4096), 1


kernels = sorted(rows("kernel_trace"), key=lambda d: int(d["Dispatch_Id"]))
want = {}
for queue in {d["Queue_Id"] for d in kernels}:
    has = 0
    for d in (d for d in kernels if d["Queue_Id"] == queue):
        lane = up(int(d["Scratch_Size"]), 16)
        if lane <= has:
            continue
        n_bytes, flags = size_of(d)
        want.setdefault(queue, []).append(("ALLOC", n_bytes, flags, d))
        has = lane
        if flags:
            want[queue].append(("FREE", 0, flags, d))
            has = 0

scratch = rows("scratch_memory_trace")
check("queues", sorted({r["Queue_Id"] for r in scratch}), sorted(want))
for queue, expected in want.items():
    got = sorted((r for r in scratch if r["Queue_Id"] == queue),
                 key=lambda r: int(r["Start_Timestamp"]))
    check("rows of queue " + queue,
          [(r["Operation"], int(r["Allocation_Size"]), int(r["Alloc_Flags"])) for r in got],
          [("SCRATCH_MEMORY_" + op, n, flags) for op, n, flags, _ in expected])
    for r, (op, _, _, d) in zip(got, expected):
        start, end = int(r["Start_Timestamp"]), int(r["End_Timestamp"])
        check("kind", r["Kind"], "SCRATCH_MEMORY")
        check("agent", r["Agent_Id"], d["Agent_Id"])
        check("order of times", start <= end, True)
        if op == "ALLOC":
            check("given before the kernel starts", end < int(d["Start_Timestamp"]) + SLACK_NS, True)
        else:
            check("given back after it ended", start > int(d["End_Timestamp"]) - SLACK_NS, True)
check("agent", {r["Agent_Id"] for r in scratch}, {"Agent %s" % gpu["Logical_Node_Id"]})
check("threads", len({r["Thread_Id"] for r in scratch}), 1)

# The other formats have the same.
key = lambda r: (int(r["Start_Timestamp"]), int(r["End_Timestamp"]), int(r["Allocation_Size"]),
                 int(r["Alloc_Flags"]), int(r["Queue_Id"]), int(r["Thread_Id"]))
from_csv = sorted(map(key, scratch))
p = json.load(open(prefix + "_results.json"))["rocprofiler-sdk-tool"][0]
records = p["buffer_records"]["scratch_memory"]
names = p["strings"]["buffer_records"]
check("json", sorted((r["start_timestamp"], r["end_timestamp"], r["allocation_size"], r["flags"],
                      r["queue_id"]["handle"], r["thread_id"]) for r in records), from_csv)
check("names in json", sorted(names[r["kind"]]["operations"][r["operation"]] for r in records),
      sorted(r["Operation"] for r in scratch))
check("json's agent", {r["agent_id"]["handle"] for r in records},
      {a["id"]["handle"] for a in p["agents"] if a["node_id"] == int(gpu["Node_Id"])})
db = sqlite3.connect(prefix + "_results.db")
check("database", sorted(db.execute(
    "SELECT start, end, size, CAST(alloc_flags AS INTEGER), queue_id, tid FROM scratch_memory")),
      from_csv)
check("operations in the database", sorted("SCRATCH_MEMORY_" + r[0] for r in db.execute(
    "SELECT operation FROM scratch_memory")), sorted(r["Operation"] for r in scratch))
for r in rows("scratch_memory_stats"):
    times = [int(s["End_Timestamp"]) - int(s["Start_Timestamp"]) for s in scratch
             if s["Operation"] == r["Name"]]
    check("statistics of " + r["Name"], (int(r["Calls"]), int(r["TotalDurationNs"])),
          (len(times), sum(times)))
print("%d allocations, %d frees" % tuple(
    sum(r["Operation"] == "SCRATCH_MEMORY_" + op for r in scratch) for op in ("ALLOC", "FREE")))
