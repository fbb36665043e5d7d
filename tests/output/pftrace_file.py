"""pftrace read back, by a decoder of the wire format and of nothing else."""
import collections
import re
import struct

from harness import CATEGORY, fail, of, same, same_rows, shown_name, sums


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


def read_pftrace(path):
    with open(path, "rb") as f:
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
            names[kind][one(entry, 1)] = one(entry, 2).decode("utf-8")
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
                name.decode("utf-8")
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
    tracks, packets = read_pftrace(f"{where}/host/4711_results.pftrace")
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
            # strings of a protobuf are UTF-8: a byte that is none is '?'
            name = re.sub("[\udc80-\udcff]", "?", shown_name(e, rename))
            row = [e["pid"], category, name, start, end, e["corr"], e["kind"]]
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
