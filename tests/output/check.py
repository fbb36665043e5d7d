#!/usr/bin/env python3
"""Read each output format back with a reader of its own and compare it with the trace.

check.py TEST CONVERT: `convert` makes captures, writes the formats, and prints what the
trace model holds, one JSON object per line; that is what the files must say.
"""
import collections
import csv
import json
import os
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile

API = ["HSA_API", "HIP_API", "MARKER_API", "RCCL_API", "ROCDECODE_API", "ROCJPEG_API"]
CATEGORY = {d: d.lower() for d in API + ["KERNEL_DISPATCH", "MEMORY_COPY"]}
COPY_OPS = ["NONE", "HOST_TO_HOST", "HOST_TO_DEVICE", "DEVICE_TO_HOST", "DEVICE_TO_DEVICE"]
COUNTERS = {11: "SQ_WAVES", 12: "GRBM_COUNT"}
# node id to (logical, type, per type), as synth.c makes them
AGENTS = {0: (0, "CPU", 0), 2: (1, "GPU", 0), 3: (2, "GPU", 1)}


def fail(text):
    sys.exit("FAILED: " + text)


def same(a, b, what):
    if a != b:
        fail(f"{what}: {a!r} is not {b!r}")


def same_rows(a, b, what):
    """Equal as multisets; the first difference is shown."""
    a, b = collections.Counter(a), collections.Counter(b)
    for row in (a - b):
        fail(f"{what}: the file has, and the trace has not: {row!r}")
    for row in (b - a):
        fail(f"{what}: the trace has, and the file has not: {row!r}")


def convert(program, where, formats, *options, status=0, env=None):
    run = subprocess.run([program, where, formats, *options], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, env=env, check=False)
    if run.returncode != status:
        fail(f"convert {formats} {options} exited with {run.returncode}: {run.stderr.decode()}")
    events = [json.loads(line) for line in run.stdout.decode().splitlines()]
    for ev in events:
        ev["raw"] = bytes.fromhex(ev["name"])
        ev["name"] = ev["raw"].decode("utf-8", "surrogateescape")
    return events, run.stderr.decode("utf-8", "replace")


def of(events, domain):
    if domain == "COUNTER_COLLECTION":
        return [ev for ev in events if ev.get("values")]
    return [ev for ev in events if ev["domain"] == domain]


def sums(ev):
    total = collections.OrderedDict()
    for counter, value in sorted(ev["values"], key=lambda v: v[0]):
        total[counter] = total.get(counter, 0.0) + value
    return total


def shown_name(ev, rename):
    if "dispatch" in ev and not rename:
        return ev["formatted"]
    return ev["name"]


# ---- csv ----

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


# ---- json ----

def check_json(where, events, rename=False):
    with open(f"{where}/host/4711_results.json", encoding="utf-8") as f:
        text = f.read()
    same(text.count("\n"), 1, "lines of the JSON file")
    processes = json.loads(text)["rocprofiler-sdk-tool"]
    first = processes[0]
    same(list(first), ["metadata", "agents", "counters", "strings", "code_objects",
                       "kernel_symbols", "host_functions", "summary", "callback_records",
                       "buffer_records"], "keys")
    same(list(first["strings"]),
         ["callback_records", "buffer_records", "marker_api", "correlation_id", "counters",
          "pc_sample_instructions", "pc_sample_comments", "att_filenames",
          "code_object_snapshot_filenames"], "strings")
    handles = {a["id"]["handle"]: a["node_id"] for a in first["agents"]}
    same(sorted(handles.values()), sorted(AGENTS), "agents")
    capability = first["agents"][0]["capability"]
    same((capability["WatchPointsTotalBits"], capability["DoorbellType"],
          capability["ASICRevision"]), (0x9, 2, 0x7), "capability bits")
    for domain in API + ["KERNEL_DISPATCH", "MEMORY_COPY", "MEMORY_ALLOCATION", "SCRATCH_MEMORY"]:
        got, expected = [], []
        for p in processes:
            kinds = p["strings"]["buffer_records"]
            messages = {m["key"]: m["value"] for m in p["strings"]["marker_api"]}
            external = {m["key"]: m["value"] for m in p["strings"]["correlation_id"]["external"]}
            for r in p["buffer_records"][domain.lower()]:
                name = kinds[r["kind"]]["operations"][r["operation"]]
                internal = r["correlation_id"]["internal"]
                if domain == "MARKER_API":
                    name = messages.get(internal, name)
                if domain == "KERNEL_DISPATCH":
                    info = r["dispatch_info"]
                    name = p["kernel_symbols"][info["kernel_id"]]["formatted_kernel_name"]
                    same(p["kernel_symbols"][info["kernel_id"]]["kernel_id"], info["kernel_id"],
                         "kernel index")
                    if rename:
                        name = external.get(r["correlation_id"]["external"], name)
                row = [p["metadata"]["pid"], r["thread_id"], name, r["kind"], r["operation"],
                       internal, r["correlation_id"]["external"], r["start_timestamp"],
                       r["end_timestamp"]]
                if domain == "KERNEL_DISPATCH":
                    row += [info["dispatch_id"], info["queue_id"]["handle"],
                            handles[info["agent_id"]["handle"]], *info["grid_size"].values(),
                            *info["workgroup_size"].values(), info["group_segment_size"],
                            info["private_segment_size"], r["stream_id"]["handle"]]
                elif domain == "MEMORY_COPY":
                    row += [r["bytes"], handles[r["dst_agent_id"]["handle"]],
                            handles[r["src_agent_id"]["handle"]]]
                elif domain == "MEMORY_ALLOCATION":
                    row += [r["allocation_size"], int(r["address"], 16)]
                elif domain == "SCRATCH_MEMORY":
                    row += [r["allocation_size"], r["flags"]]
                elif domain in ("HIP_API", "ROCDECODE_API"):
                    row += [tuple((a["type"], a["name"], a["value"]) for a in r["args"]),
                            r["retval"]["uint64_t_retval"]]
                if domain in API:
                    row.append(r["correlation_id"]["ancestor"])
                got.append(tuple(row))
        for e in of(events, domain):
            # what is not UTF-8 cannot be in JSON: each bad byte is one U+FFFD
            name = re.sub("[\udc80-\udcff]", "\ufffd", shown_name(e, rename))
            row = [e["pid"], e["tid"], name, e["kind"], e["op"], e["corr"], e["external"],
                   e["start"], e["end"]]
            if domain == "KERNEL_DISPATCH":
                row += [e["dispatch"], e["queue"], e["agent"], *e["grid"], *e["workgroup"],
                        e["lds"], e["scratch"], e["stream"]]
            elif domain == "MEMORY_COPY":
                row += [e["bytes"], e["dst"], e["src"]]
            elif domain == "MEMORY_ALLOCATION":
                row += [e["bytes"], e["address"]]
            elif domain == "SCRATCH_MEMORY":
                row += [e["bytes"], e["flags"]]
            elif domain in ("HIP_API", "ROCDECODE_API"):
                row += [tuple((t, n, bytes.fromhex(v).decode()) for t, n, v in e["args"]),
                        e["retval"]]
            if domain in API:
                row.append(e["ancestor"])
            expected.append(tuple(row))
        same(got, expected, "json " + domain)
    got = [(r["dispatch_data"]["dispatch_info"]["dispatch_id"],
            [(v["counter_id"]["handle"], v["value"]) for v in r["records"]])
           for p in processes for r in p["callback_records"]["counter_collection"]]
    same(got, [(e["dispatch"], [tuple(v) for v in e["values"]])
               for e in of(events, "COUNTER_COLLECTION")], "json counters")
    instructions = first["strings"]["pc_sample_instructions"]
    for r in first["buffer_records"]["pc_sample_stochastic"]:
        offset, index = r["record"]["pc"]["code_object_offset"], r["inst_index"]
        same("" if index < 0 else instructions[index],
             "" if offset == 0x1004 or not instructions else f'v_add_f32 "{offset:x}"',
             "instruction")
    assert "workgroup_id " in first["buffer_records"]["pc_sample_host_trap"][0]["record"]["hw_id"]
    for entry in first["summary"]:
        if entry["domain"] == "HIP_API":
            same(entry["stats"]["sum"],
                 sum(e["end"] - e["start"] for e in of(events, "HIP_API")), "json summary")
            same(sum(o["value"]["count"] for o in entry["stats"]["operations"]),
                 entry["stats"]["count"], "json summary operations")
    return processes


# ---- pftrace: a decoder of the wire format, and of nothing else ----

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data):
    at, out = 0, []
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value = data[at:at + 8]
            at += 8
        elif kind == 2:
            n, at = varint(data, at)
            value = data[at:at + n]
            if len(value) != n:
                fail("pftrace: a field is cut off")
            at += n
        else:
            fail(f"pftrace: wire type {kind}")
        out.append((tag >> 3, value))
    return out


def one(message, field, default=None):
    for number, value in message:
        if number == field:
            return value
    return default


def read_pftrace(where):
    with open(f"{where}/host/4711_results.pftrace", "rb") as f:
        data = f.read()
    names = {1: {}, 2: {}, 3: {}}
    tracks, events = {}, []
    for number, packet in fields(data):
        same(number, 1, "field of Trace")
        packet = fields(packet)
        same(one(packet, 10), 1, "sequence")
        interned = one(packet, 12)
        for kind, entry in fields(interned) if interned else []:
            entry = fields(entry)
            names[kind][one(entry, 1)] = one(entry, 2).decode("utf-8", "surrogateescape")
        track = one(packet, 60)
        if track is not None:
            track = fields(track)
            if one(track, 1) in tracks:
                fail("pftrace: a track is described twice")
            tracks[one(track, 1)] = track
        event = one(packet, 11)
        if event is not None:
            event = fields(event)
            notes = []
            for field, note in event:
                if field != 4:
                    continue
                note = fields(note)
                value = one(note, 3)
                if value is None and one(note, 5) is not None:
                    value = struct.unpack("<d", one(note, 5))[0]
                if value is None:
                    value = one(note, 6).decode()
                notes.append((names[3][one(note, 1)], value))
            name = one(event, 23)
            name = names[2].get(one(event, 10)) if name is None else \
                name.decode("utf-8", "surrogateescape")
            flow = one(event, 47)
            events.append({"at": one(packet, 8), "type": one(event, 9), "track": one(event, 11),
                           "name": name, "category": names[1].get(one(event, 3)),
                           "notes": dict(notes), "order": [n for n, _ in notes],
                           "value": one(event, 30),
                           "flow": struct.unpack("<Q", flow)[0] if flow else None})
    return tracks, events


def nest(tracks, events):
    """As Perfetto does it: sort by time, keep the order of the file, END closes the newest."""
    stacks, slices = collections.defaultdict(list), []
    for ev in sorted(events, key=lambda e: e["at"]):
        if ev["track"] not in tracks:
            fail("pftrace: an event on a track that is not described")
        if ev["type"] == 1:
            stacks[ev["track"]].append(ev)
        elif ev["type"] == 2:
            if not stacks[ev["track"]]:
                fail("pftrace: END without BEGIN")
            begun = stacks[ev["track"]].pop()
            notes = begun["notes"]
            same((begun["at"], ev["at"]), (notes["begin_ns"], notes["end_ns"]),
                 f"pftrace: nesting of {begun['name']}")
            if ev["at"] < begun["at"]:
                fail("pftrace: negative duration")
            slices.append(begun)
    if any(stacks.values()):
        fail("pftrace: a slice without end")
    return slices


def part_kernels(events):
    """The overlap rule of section 11.3, kernel by kernel; gives the changed times."""
    times = {}
    queues = collections.defaultdict(list)
    for e in sorted(of(events, "KERNEL_DISPATCH"), key=lambda e: (e["start"], -e["end"])):
        queues[e["pid"], e["queue"]].append(e)
    for kernels in queues.values():
        spans = [[e["start"], e["end"]] for e in kernels]
        for cur, nxt in zip(spans, spans[1:]):
            if nxt[0] < cur[1]:
                nxt[0] = max(nxt[0], cur[0])
                nxt[1] = max(nxt[1], nxt[0])
                middle = nxt[0] + (min(cur[1], nxt[1]) - nxt[0]) // 2
                cur[1] = nxt[0] = middle
        for e, span in zip(kernels, spans):
            times[e["pid"], e["dispatch"]] = tuple(span)
    return times


def check_pftrace(where, events, rename=False, queues=False):
    tracks, packets = read_pftrace(where)
    slices = nest(tracks, packets)
    process_of = {}
    for uuid, track in tracks.items():
        if one(track, 3):
            process_of[uuid] = one(fields(one(track, 3)), 1)
    track_names = {}
    for uuid, track in tracks.items():
        if not one(track, 3):
            if one(track, 5) not in process_of:
                fail("pftrace: a track without process")
            track_names[uuid] = (one(track, 2) or b"thread").decode()
    got, expected = [], []
    times = part_kernels(events)
    for s in slices:
        n = s["notes"]
        pid = process_of[one(tracks[s["track"]], 5)]
        same(n["delta_ns"], n["end_ns"] - n["begin_ns"], "delta_ns")
        same(s["flow"], n["corr_id"] ^ one(tracks[s["track"]], 5), "flow id")
        name = track_names[s["track"]]
        row = [pid, s["category"], s["name"], n["begin_ns"], n["end_ns"], n["corr_id"], n["kind"]]
        if s["category"] == "kernel_dispatch":
            row += [n["tid"], n["kernel_id"], n["queue"] + 1, n["grid_size"], n["workgroup_size"],
                    n["LDS_Block_Size"], n["Scratch_Size"], n["stream_ID"],
                    n.get("SQ_WAVES"), n.get("GRBM_COUNT")]
            same(s["order"][:6], ["begin_ns", "end_ns", "delta_ns", "kind", "agent",
                                  "agent_type"], "order of annotations")
            same(n["agent"], "Agent-1" if n["queue"] < 2 else "Agent-2", "agent")
            prefix = "COMPUTE Agent [" if queues or pid != 4711 else \
                f'STREAM [" {n["stream_ID"]} "] '
            if not name.startswith(prefix):
                fail(f"pftrace: a kernel on track '{name}'")
        elif s["category"] == "memory_copy":
            row += [n["tid"], n["operation"], n["copy_bytes"]]
            prefix = "COPY to AGENT [" if queues or pid != 4711 else 'STREAM [" 1 "] '
            if not name.startswith(prefix):
                fail(f"pftrace: a copy on track '{name}'")
        else:
            row += [n["tid"], n["operation"], n["ancestor_id"]]
            same(s["order"][:8], ["begin_ns", "end_ns", "delta_ns", "tid", "kind", "operation",
                                  "corr_id", "ancestor_id"], "order of annotations")
        got.append(tuple(row))
    for domain, category in CATEGORY.items():
        for e in of(events, domain):
            start, end = e["start"], e["end"]
            if domain == "KERNEL_DISPATCH":
                start, end = times[e["pid"], e["dispatch"]]
            row = [e["pid"], category, shown_name(e, rename), start, end, e["corr"], e["kind"]]
            if domain == "KERNEL_DISPATCH":
                total = sums(e)
                row += [e["tid"], e["kernel"], e["queue"],
                        e["grid"][0] * e["grid"][1] * e["grid"][2],
                        e["workgroup"][0] * e["workgroup"][1] * e["workgroup"][2], e["lds"],
                        e["scratch"], 0 if queues else e["stream"], total.get(11), total.get(12)]
            elif domain == "MEMORY_COPY":
                row += [e["tid"], e["op"], e["bytes"]]
            else:
                row += [e["tid"], e["op"], e["ancestor"]]
            expected.append(tuple(row))
    same_rows(got, expected, "pftrace")
    check_pf_counters(tracks, packets, events)


def check_pf_counters(tracks, packets, events):
    series = collections.defaultdict(dict)
    for p in packets:
        if p["type"] == 4:
            track = tracks[p["track"]]
            key = (one(track, 5), one(track, 2).decode())
            if p["at"] in series[key]:
                fail(f"pftrace: two values of {key[1]} at one time")
            series[key][p["at"]] = p["value"]
    names = {name for _, name in series}
    same(names, {"COPY BYTES to Agent [0] (CPU)", "COPY BYTES to Agent [1] (GPU)",
                 "ALLOCATE BYTES on Agent [1] (GPU)", "SCRATCH MEMORY on Agent [1] (GPU)",
                 "Agent [1] PMC SQ_WAVES", "Agent [1] PMC GRBM_COUNT", "Agent [2] PMC SQ_WAVES",
                 "Agent [2] PMC GRBM_COUNT"}, "counter tracks")
    for (parent, name), points in series.items():
        pid = one(fields(one(tracks[parent], 3)), 1)
        mine = [e for e in events if e["pid"] == pid]
        ordered = sorted(points)
        same((points[ordered[0]], points[ordered[-1]]), (0, 0), name + ": ends")
        if name.startswith("COPY"):
            node = 0 if "[0]" in name else 2
            copies = [e for e in of(mine, "MEMORY_COPY") if e["dst"] == node]
            for at, value in points.items():
                total = sum(e["bytes"] for e in copies if e["start"] <= at <= e["end"])
                same(value, total // 1024, name)
            for e in copies:
                for at in (e["start"] - 1000, e["start"], (e["start"] + e["end"]) // 2, e["end"],
                           e["end"] + 1000):
                    if at not in points:
                        fail(f"{name}: no point at {at}")
        if name.startswith("ALLOCATE"):
            live, allocations = {}, []
            for e in sorted(of(mine, "MEMORY_ALLOCATION"), key=lambda e: (e["start"], -e["end"])):
                if e["bytes"]:
                    live[e["address"]] = e["bytes"]
                    allocations.append((e["start"], e["bytes"]))
                elif e["address"] in live:
                    allocations.append((e["start"], -live.pop(e["address"])))
            starts = {at for at, _ in allocations}
            for at in ordered[1:-1]:
                if len([1 for a, _ in allocations if a == at]) > 1:
                    continue # a time that was used keeps its first value
                same(points[at], sum(b for a, b in allocations if a <= at) // 1024, name)
            if not starts <= set(points):
                fail(name + ": an allocation without a point")


# ---- rocpd ----

def check_rocpd(where, events, rename=False, queues=False):
    path = f"{where}/host/4711_results.db"
    shell = subprocess.run(["sqlite3", "-bail", path, "PRAGMA integrity_check; "
                            "PRAGMA foreign_key_check; SELECT value FROM rocpd_metadata "
                            "ORDER BY id;"], stdout=subprocess.PIPE, check=True)
    lines = shell.stdout.decode().split()
    same(lines[:2], ["ok", "3"], "integrity, foreign keys, version")
    db = sqlite3.connect(path)
    db.text_factory = lambda b: b.decode("utf-8", "surrogateescape")
    guid = lines[3]
    same(lines[2], "_" + guid.replace("-", "_"), "suffix")
    if not re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
                        guid):
        fail("guid " + guid)
    tables = [r[0] for r in db.execute("SELECT name FROM sqlite_master WHERE type='table' AND "
                                       "name LIKE 'rocpd%'")]
    same(len(tables), 20, "tables")
    for view, in db.execute("SELECT name FROM sqlite_master WHERE type='view'").fetchall():
        db.execute(f"SELECT * FROM {view}").fetchall() # every view can be read
    rows = db.execute("SELECT category, name, pid, tid, start, end, stack_id, parent_stack_id, "
                      "corr_id, json_extract(extdata, '$.message') FROM regions_and_samples")
    got = []
    for category, name, pid, tid, start, end, stack, parent, corr, message in rows:
        if not category.startswith("MARKER"):
            same(message, None, "message of a call")
        got.append((category, message if message is not None else name, pid, tid, start, end,
                    stack, parent, corr))
    expected = []
    for domain in API:
        for e in of(events, domain):
            name = re.sub("[\udc80-\udcff]", "\ufffd", e["name"]) \
                if domain == "MARKER_API" else e["name"]
            if e["kind"] == 32 and e["start"] == e["end"] and not name:
                name = KINDS[32]
            expected.append((KINDS[e["kind"]], name, e["pid"], e["tid"], e["start"], e["end"],
                             e["corr"], e["ancestor"], e["external"]))
    same_rows(got, expected, "rocpd regions")
    same({r[0] for r in db.execute("SELECT DISTINCT name FROM regions WHERE category = "
                                   "'MARKER_CORE_RANGE_API'")},
         {"roctxThreadRangeA", "roctxProcessRangeA"}, "names of marker regions")
    rows = db.execute("SELECT pid, tid, name, region, dispatch_id, kernel_id & 0xffffffff, "
                      "queue_id & 0xffffffff, stream_id & 0xffffffff, agent_abs_index, start, "
                      "end, grid_x, grid_y, grid_z, workgroup_x, workgroup_y, workgroup_z, "
                      "lds_size, scratch_size, stack_id, corr_id FROM kernels")
    same_rows(rows.fetchall(),
              [(e["pid"], e["tid"], e["formatted"],
                e["name"] if rename and e["renamed"] else "", e["dispatch"], e["kernel"],
                e["queue"], 0 if queues else e["stream"], e["agent"], e["start"], e["end"],
                *e["grid"], *e["workgroup"], e["lds"], e["scratch"], e["corr"], e["external"])
               for e in of(events, "KERNEL_DISPATCH")], "rocpd kernels")
    rows = db.execute("SELECT pid, tid, name, start, end, size, dst_agent_abs_index, "
                      "src_agent_abs_index, stack_id FROM memory_copies")
    same_rows(rows.fetchall(),
              [(e["pid"], e["tid"], e["name"], e["start"], e["end"], e["bytes"], e["dst"],
                e["src"], e["corr"]) for e in of(events, "MEMORY_COPY")], "rocpd copies")
    rows = db.execute("SELECT pid, tid, type, level, start, end, size, address, stack_id, "
                      "parent_stack_id FROM memory_allocations WHERE level != 'SCRATCH'")
    same_rows(rows.fetchall(),
              [(e["pid"], e["tid"], "FREE" if "FREE" in e["name"] else "ALLOC",
                "VIRTUAL" if "VMEM" in e["name"] else "REAL", e["start"], e["end"], e["bytes"],
                e["address"], e["corr"], e["ancestor"]) for e in of(events, "MEMORY_ALLOCATION")],
              "rocpd allocations")
    rows = db.execute("SELECT pid, operation, start, end, size, alloc_flags FROM scratch_memory")
    short = {"SCRATCH_MEMORY_ALLOC": "ALLOC", "SCRATCH_MEMORY_FREE": "FREE",
             "SCRATCH_MEMORY_ASYNC_RECLAIM": "RECLAIM"}
    same_rows(rows.fetchall(),
              [(e["pid"], short[e["name"]], e["start"], e["end"], e["bytes"], str(e["flags"]))
               for e in of(events, "SCRATCH_MEMORY")], "rocpd scratch")
    rows = db.execute("SELECT dispatch_id, pid, counter_name, value, start, end "
                      "FROM counters_collection")
    expected = [(e["dispatch"], e["pid"], COUNTERS[c], v, e["start"], e["end"])
                for e in of(events, "COUNTER_COLLECTION") for c, v in sums(e).items()]
    if len({e["pid"] for e in events}) == 1: # the view groups by dispatch id alone
        same_rows(rows.fetchall(), expected, "rocpd counters")
    rows = db.execute("SELECT E.stack_id, A.position, A.type, A.name, A.value FROM rocpd_arg A "
                      "JOIN rocpd_event E ON E.id = A.event_id")
    same_rows(rows.fetchall(),
              [(e["corr"], i, t, n, bytes.fromhex(v).decode())
               for d in ("HIP_API", "ROCDECODE_API") for e in of(events, d)
               for i, (t, n, v) in enumerate(e["args"])], "rocpd arguments")
    same({r[0] for r in db.execute("SELECT stream_id & 0xff FROM stream_args")},
         {0} if queues else {1, 2, 3}, "stream arguments")
    # as a user's script reads it
    total, = db.execute("SELECT SUM(total_calls) FROM top_kernels").fetchone()
    same(total, len(of(events, "KERNEL_DISPATCH")), "top_kernels")
    ledger, = db.execute("SELECT value FROM rocpd_metadata WHERE tag = 'wavescope_ledger'").fetchone()
    ledger = {row["domain"]: row for row in json.loads(ledger)["ledger"]}
    pid = events[0]["pid"]
    same(ledger["HIP_API"]["written"], len([e for e in of(events, "HIP_API") if e["pid"] == pid]),
         "ledger")
    env, = db.execute("SELECT environment FROM rocpd_info_process").fetchone()
    same(json.loads(env)["ODD"], '"quoted"\nline', "environment")
    for ext, in db.execute("SELECT extdata FROM rocpd_info_agent"):
        json.loads(ext)["capability"]["DebugSupportedFirmware"]
    db.close()


# ---- otf2 ----

def check_otf2(where, events, rename=False):
    archive = f"{where}/host/4711_results.otf2"
    if not shutil.which("otf2-print"):
        print("otf2-print is not installed: archive not read back")
        return
    text = subprocess.run(["otf2-print", "-G", archive], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=True).stdout.decode("utf-8", "replace")
    counts = {int(m.group(1)): int(m.group(2)) for m in re.finditer(
        r"^LOCATION\s+(\d+)\s.*?# Events: (\d+)", text, re.M)}
    run = subprocess.run(["otf2-print", archive], stdout=subprocess.PIPE, check=True)
    text = run.stdout.decode("utf-8", "surrogateescape")
    seen, open_regions, got = collections.Counter(), collections.defaultdict(list), []
    last = {}
    pattern = re.compile(r'^(ENTER|LEAVE)\s+(\d+)\s+(\d+)\s+Region: "(.*?)" <(\d+)>', re.M | re.S)
    attribute = re.compile(r'ADDITIONAL ATTRIBUTES: \("category" <0>; STRING; "(\w+)"')
    for m in pattern.finditer(text):
        what, location, at, name = m.group(1), int(m.group(2)), int(m.group(3)), m.group(4)
        seen[location] += 1
        if at < last.get(location, 0):
            fail("otf2: time goes backwards")
        last[location] = at
        if what == "ENTER":
            category = attribute.search(text, m.end())
            open_regions[location, m.group(5)].append((at, name, category.group(1)))
        else:
            start, name, category = open_regions[location, m.group(5)].pop()
            got.append((category, start, at))
    if any(open_regions.values()):
        fail("otf2: a region is never left")
    same(dict(seen), counts, "otf2: events per location")
    expected = []
    for domain in list(CATEGORY) + ["MEMORY_ALLOCATION"]:
        for e in of(events, domain):
            if not (domain == "MARKER_API" and e["kind"] == 32 and e["op"] == 0):
                expected.append((domain.lower(), e["start"], e["end"]))
    # which of two overlapping regions of one name is left first cannot be told
    same_rows([(c, s) for c, s, _ in got], [(c, s) for c, s, _ in expected], "otf2 starts")
    same_rows([(c, e) for c, _, e in got], [(c, e) for c, _, e in expected], "otf2 ends")


# ---- summary ----

def tables_of(text):
    out = []
    for part in re.split(r"\nROCPROFV3 ", text)[1:]:
        label, rest = part.split(":\n\n", 1)
        out.append((label, [line for line in rest.split("\n") if line.startswith("|")]))
    return out


def check_summary(where, events, rename, unit):
    with open(f"{where}/host/4711_summary.txt", encoding="utf-8", errors="surrogateescape") as f:
        text = f.read()
    tables = tables_of(text)
    domains = [d for d in ["HSA_API", "HIP_API", "MARKER_API", "KERNEL_DISPATCH", "MEMORY_COPY",
                           "SCRATCH_MEMORY", "RCCL_API", "MEMORY_ALLOCATION", "ROCDECODE_API",
                           "ROCJPEG_API"]]
    same([t[0] for t in tables], [d + " SUMMARY" for d in domains] +
         ["KERNEL_DISPATCH + MEMORY_COPY SUMMARY", "HIP_API SUMMARY", "SUMMARY"], "tables")
    scale = {"nsec": 1, "usec": 1000}[unit]
    expected_text = ""
    chosen = [[d] for d in domains] + [["KERNEL_DISPATCH", "MEMORY_COPY"], ["HIP_API"], domains]
    for (label, _), members in zip(tables, chosen):
        rows = {}
        for d in members:
            for name, stat in stats_by_name(events, d, rename).items():
                rows.setdefault(name, (d, stat))
        total = sum(s[1] for _, s in rows.values())
        ordered = sorted(rows.items(), key=lambda r: (-r[1][1][1], r[0].encode("utf-8", "surrogateescape")))
        widths = [max([40] + [len(re.sub("[\udc80-\udcbf]", "", n)) for n in rows]),
                  max([12] + [len(d) for d, _ in rows.values()]), 15, 15, 15, 13, 15, 15, 15]
        heads = ["NAME", "DOMAIN", "CALLS", f"DURATION ({unit})", f"AVERAGE ({unit})",
                 "PERCENT (INC)", f"MIN ({unit})", f"MAX ({unit})", "STDDEV"]
        expected_text += f"\nROCPROFV3 {label}:\n\n|"
        for head, width in zip(heads, widths):
            left = (width - len(head)) // 2
            expected_text += " " + " " * left + head + " " * (width - len(head) - left) + " |"
        expected_text += "\n|-" + "-|-".join("-" * w for w in widths) + "-|\n"
        def time(ns):
            return str(ns) if scale == 1 else (repr(ns / scale)[:-2]
                                               if repr(ns / scale).endswith(".0")
                                               else repr(ns / scale))
        for name, (d, (n, whole, mean, deviation, low, high)) in ordered:
            shown = re.sub("[\n\r\t]", " ", name)
            pad = widths[0] - len(re.sub("[\udc80-\udcbf]", "", shown))
            cells = [f"{n:>15}", f"{time(whole):>15}", f"{mean / scale:.3e}".rjust(15),
                     f"{100 * whole / total if total else 0:.6f}".rjust(13), f"{time(low):>15}",
                     f"{time(high):>15}", f"{deviation / scale:.3e}".rjust(15)]
            expected_text += f"| {shown}{' ' * pad} | {d:<{widths[1]}} | " + " | ".join(cells) + " |\n"
        expected_text += "\n"
    if text != expected_text:
        for a, b in zip(text.split("\n"), expected_text.split("\n")):
            same(a, b, "summary line")
        fail("summary: lengths differ")


# ---- the tests ----

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
    if shutil.which("protoc"):
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


def test_summary(program, where):
    for unit in ("nsec", "usec"):
        events, _ = convert(program, where, "csv", "summary", "domains", "groups", unit, "rename")
        check_summary(where, events, True, unit)


def test_all(program, where):
    """Every number in every format is the number of the trace, so they agree."""
    events, _ = convert(program, where, "csv,json,pftrace,rocpd,otf2", "two", "stats", "rename")
    check_csv(where, events, rename=True)
    check_stats(where, events, rename=True)
    check_json(where, events, rename=True)
    check_pftrace(where, events, rename=True)
    check_rocpd(where, events, rename=True)
    check_otf2(where, events, rename=True)
    left = [n for n in os.listdir(where + "/host") if "partial" in n]
    same(left, [], "files left behind")


def test_failures(program, where):
    # nothing recorded, or less than was asked for: no files, and no failure
    convert(program, where, "csv,json,pftrace,rocpd,otf2", "empty", "stats", "summary", "quiet")
    convert(program, where, "csv,json,pftrace,rocpd,otf2", "minimum", "quiet")
    same(os.path.exists(where + "/host"), False, "files of an empty trace")
    # a file where the folder should be
    with open(where + "/host", "w", encoding="ascii"):
        pass
    _, stderr = convert(program, where, "csv,json,pftrace,rocpd,otf2", "quiet", status=3)
    for word in ("csv", "json", "pftrace", "rocpd", "otf2"):
        if not re.search(rf"^file {word} .*(not a folder|Not a directory)", stderr, re.M):
            fail(f"{word}: no sentence about the file in the way:\n{stderr}")
    os.remove(where + "/host")
    # one format cannot be written, the others are
    os.makedirs(where + "/host/4711_results.json.partial")
    _, stderr = convert(program, where, "csv,json,pftrace,rocpd,otf2", "quiet", status=3)
    os.rmdir(where + "/host/4711_results.json.partial")
    names = set(os.listdir(where + "/host"))
    for name in ("kernel_trace.csv", "results.pftrace", "results.db", "results.otf2"):
        if "4711_" + name not in names:
            fail(f"{name} is missing after JSON failed")
    if "4711_results.json" in names:
        fail("a JSON file that could not be written is there")
    # the disk is full: a file size limit stands for it
    shutil.rmtree(where + "/host")
    _, stderr = convert(program, where, "csv,json,pftrace,rocpd,otf2", "quiet", "two", "limit",
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


if __name__ == "__main__":
    main()
