"""CSV read back: one row per event, and the statistics."""
import collections
import csv
import re

from harness import AGENTS, API, COPY_OPS, COUNTERS, fail, same, shown_name, sums
from harness import of as recorded


def of(events, domain):
    """In the order of the rows: process after process, by start, what encloses first."""
    pids = list(dict.fromkeys(e["pid"] for e in events))
    return sorted(recorded(events, domain), key=lambda e: (pids.index(e["pid"]), e["start"], -e["end"]))


def read_csv(where, stem):
    path = f"{where}/host/4711_{stem}.csv"
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as f:
        text = f.read()
    header = text.split("\n", 1)[0]
    if not all(re.fullmatch(r'"\w+"', cell) for cell in header.split(",")):
        fail(f"{stem}: header {header}")
    rows = list(csv.DictReader(text.splitlines(keepends=True), strict=True))
    for row in rows:
        if None in row or None in row.values():
            fail(f"{stem}: a row of the wrong length: {row}")
    return rows


def agent_text(node, mode):
    logical, kind, typed = AGENTS[node]
    return {"relative": f"Agent {logical}", "absolute": f"Agent {node}",
            "type-relative": f"{kind} {typed}"}[mode]


KINDS = {1: "HSA_CORE_API", 2: "HSA_AMD_EXT_API", 21: "HIP_RUNTIME_API_EXT", 14: "RCCL_API",
         23: "ROCDECODE_API_EXT", 19: "ROCJPEG_API", 32: "MARKER_CORE_RANGE_API",
         8: "MARKER_CONTROL_API", 10: "MEMORY_COPY", 11: "KERNEL_DISPATCH",
         12: "SCRATCH_MEMORY", 16: "MEMORY_ALLOCATION"}
KERNELS = {1: (512, 65, 4, 32), 2: (512, 66, 4, 32), 3: (512, 67, 4, 32)}


def check_csv(where, events, rename=False, mode="relative", queues=False):
    for domain in API:
        rows = read_csv(where, domain.lower() + "_trace")
        same([(r["Domain"], r["Function"], int(r["Process_Id"]), int(r["Thread_Id"]),
               int(r["Correlation_Id"]), int(r["Start_Timestamp"]), int(r["End_Timestamp"]))
              for r in rows],
             [(KINDS[e["kind"]], e["name"], e["pid"], e["tid"], e["corr"], e["start"], e["end"])
              for e in of(events, domain)], domain)
    rows = read_csv(where, "kernel_trace")
    same([(r["Kind"], r["Agent_Id"], r["Kernel_Name"]) + tuple(int(r[c]) for c in
          "Queue_Id Stream_Id Thread_Id Dispatch_Id Kernel_Id Correlation_Id Start_Timestamp "
          "End_Timestamp LDS_Block_Size Scratch_Size VGPR_Count Accum_VGPR_Count SGPR_Count "
          "Workgroup_Size_X Workgroup_Size_Y Workgroup_Size_Z Grid_Size_X Grid_Size_Y "
          "Grid_Size_Z".split()) for r in rows],
         [("KERNEL_DISPATCH", agent_text(e["agent"], mode), shown_name(e, rename), e["queue"],
           0 if queues else e["stream"], e["tid"], e["dispatch"], e["kernel"], e["corr"],
           e["start"], e["end"], KERNELS[e["kernel"]][0], e["scratch"], *KERNELS[e["kernel"]][1:],
           *e["workgroup"], *e["grid"]) for e in of(events, "KERNEL_DISPATCH")], "kernels")
    rows = read_csv(where, "memory_copy_trace")
    same([(r["Kind"], r["Direction"], int(r["Stream_Id"]), r["Source_Agent_Id"],
           r["Destination_Agent_Id"], int(r["Correlation_Id"]), int(r["Start_Timestamp"]),
           int(r["End_Timestamp"])) for r in rows],
         [("MEMORY_COPY", "MEMORY_COPY_" + COPY_OPS[e["op"]], 0 if queues else e["stream"],
           agent_text(e["src"], mode), agent_text(e["dst"], mode), e["corr"], e["start"],
           e["end"]) for e in of(events, "MEMORY_COPY")], "copies")
    rows = read_csv(where, "memory_allocation_trace")
    same([(r["Operation"], r["Agent_Id"], int(r["Allocation_Size"]), r["Address"],
           int(r["Correlation_Id"]), int(r["Start_Timestamp"]), int(r["End_Timestamp"]))
          for r in rows],
         [(e["name"], agent_text(2, mode) if e["bytes"] else "", e["bytes"],
           f"0x{e['address']:016x}", e["corr"], e["start"], e["end"])
          for e in of(events, "MEMORY_ALLOCATION")], "allocations")
    rows = read_csv(where, "scratch_memory_trace")
    same([(r["Operation"], int(r["Alloc_Flags"]), int(r["Start_Timestamp"]),
           int(r["End_Timestamp"]), int(r["Allocation_Size"])) for r in rows],
         [(e["name"], e["flags"], e["start"], e["end"], e["bytes"])
          for e in of(events, "SCRATCH_MEMORY")], "scratch")
    rows = read_csv(where, "counter_collection")
    expected = []
    for e in of(events, "COUNTER_COLLECTION"):
        for counter, value in sums(e).items():
            text = f"{value:.6f}" if value >= 1 else f"{value:.8e}"
            expected.append((e["corr"], e["dispatch"], e["pid"], shown_name(e, rename),
                             COUNTERS[counter], text, e["start"], e["end"],
                             e["grid"][0] * e["grid"][1] * e["grid"][2],
                             e["workgroup"][0] * e["workgroup"][1] * e["workgroup"][2]))
    same([(int(r["Correlation_Id"]), int(r["Dispatch_Id"]), int(r["Process_Id"]),
           r["Kernel_Name"], r["Counter_Name"], r["Counter_Value"], int(r["Start_Timestamp"]),
           int(r["End_Timestamp"]), int(r["Grid_Size"]), int(r["Workgroup_Size"]))
          for r in rows], expected, "counters")
    same(len(read_csv(where, "pc_sampling_host_trap")),
         len(of(events, "PC_SAMPLING_HOST_TRAP")), "samples")
    row = read_csv(where, "pc_sampling_stochastic")[0]
    same(row["Stall_Reason"], "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_WAITCNT",
         "stall reason")
    agents = read_csv(where, "agent_info")
    same(len(agents[0]), 53, "columns of agent_info")
    same([int(a["Node_Id"]) for a in agents][:3], [0, 2, 3], "agents")
    same(agents[0]["Product_Name"], 'Product, "quoted"', "a quoted cell")


def stat_of(durations):
    n, total = len(durations), sum(durations)
    mean = total / n
    variance = sum((d - mean) ** 2 for d in durations) / (n - 1) if n > 1 else 0.0
    return n, total, mean, variance ** 0.5, min(durations), max(durations)


STATS = [d for d in API + ["KERNEL_DISPATCH", "MEMORY_COPY", "SCRATCH_MEMORY", "MEMORY_ALLOCATION"]]


def stats_by_name(events, domain, rename):
    groups = collections.defaultdict(list)
    for e in of(events, domain):
        groups[shown_name(e, rename)].append(e["end"] - e["start"])
    return {name: stat_of(d) for name, d in groups.items()}


def check_stats(where, events, rename=False):
    totals = {}
    for domain in STATS:
        stem = {"KERNEL_DISPATCH": "kernel"}.get(domain, domain.lower())
        rows = read_csv(where, stem + "_stats")
        expected = stats_by_name(events, domain, rename)
        same({r["Name"] for r in rows}, set(expected), domain + " names")
        same([int(r["TotalDurationNs"]) for r in rows],
             sorted((e[1] for e in expected.values()), reverse=True), domain + " order")
        whole = sum(e[1] for e in expected.values())
        totals[domain] = whole
        for r in rows:
            n, total, mean, deviation, low, high = expected[r["Name"]]
            same((int(r["Calls"]), int(r["TotalDurationNs"]), int(r["MinNs"]), int(r["MaxNs"])),
                 (n, total, low, high), domain)
            same(r["AverageNs"], f"{mean:.6f}" if mean > 0.01 else f"{mean:.8e}", "average")
            if abs(float(r["StdDev"]) - deviation) > 1e-6 + 1e-9 * deviation:
                fail(f"deviation: {r['StdDev']} is not {deviation}")
            percent = 100 * total / whole if whole else 0
            same(r["Percentage"], f"{percent:.2f}" if percent >= 1 else
                 f"{percent:.4f}" if percent > 0.01 else f"{percent:.3e}", "percentage")
    rows = read_csv(where, "domain_stats")
    same({r["Name"]: int(r["TotalDurationNs"]) for r in rows}, totals, "domain_stats")
