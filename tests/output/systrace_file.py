"""rocprof-sys's Perfetto trace read back: tracks, slices, values, flows and samples."""
import struct

from harness import fail, same
from pftrace_file import fields, one

INTERNED_TEXTS = (1, 2, 3, 5, 17, 18)


def texts(message, field):
    return [value.decode() for number, value in message if number == field]


def note_value(note):
    for field in (3, 4):
        if one(note, field) is not None:
            value = one(note, field)
            return value - (1 << 64) if field == 4 and value >> 63 else value
    if one(note, 5) is not None:
        return struct.unpack("<d", one(note, 5))[0]
    return one(note, 6).decode()


class Trace:
    """Every packet is decoded; what is not known fails."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.size_bytes = f.seek(0, 2)
            f.seek(0)
            data = f.read()
        self.interned = {}  # (kind, iid) to text or fields
        self.tracks, self.slices, self.values, self.samples = {}, [], {}, []
        self.defaults = []
        events = []
        for number, packet in fields(data):
            same(number, 1, "field of Trace")
            packet = fields(packet)
            same(one(packet, 10), 1, "sequence")
            self.take_interned(packet)
            if one(packet, 59) is not None:
                self.defaults.append(fields(one(packet, 59)))
            if one(packet, 60) is not None:
                self.take_track(fields(one(packet, 60)))
            if one(packet, 11) is not None:
                events.append((one(packet, 8), fields(one(packet, 11))))
            if one(packet, 66) is not None:
                self.take_sample(one(packet, 8), fields(one(packet, 66)))
        self.take_events(events)

    def take_interned(self, packet):
        data = one(packet, 12)
        for kind, entry in fields(data) if data else []:
            entry = fields(entry)
            key = kind, one(entry, 1)
            if key in self.interned:
                fail(f"number {key} is interned twice")
            self.interned[key] = one(entry, 2).decode() if kind in INTERNED_TEXTS else entry

    def take_track(self, track):
        uuid = one(track, 1)
        if uuid in self.tracks:
            fail("a track is described twice")
        counter = fields(one(track, 8)) if one(track, 8) is not None else None
        thread = fields(one(track, 4)) if one(track, 4) is not None else None
        process = fields(one(track, 3)) if one(track, 3) is not None else None
        self.tracks[uuid] = {
            "name": texts(track, 2)[0] if texts(track, 2) else None,
            "parent": one(track, 5),
            "thread": (one(thread, 1), one(thread, 2), texts(thread, 5)[0]) if thread else None,
            "process": (one(process, 1), texts(process, 6)[0], texts(process, 8))
            if process else None,
            "unit": texts(counter, 6)[0] if counter and texts(counter, 6) else "",
            "category": texts(counter, 2)[0] if counter else None,
        }

    def take_sample(self, at, sample):
        stack = self.interned[7, one(sample, 4)]
        frames = []
        for number, frame in stack:
            if number != 2:
                continue
            frame = self.interned[6, frame]
            mapping = self.interned[19, one(frame, 3)]
            source = one(frame, 5)
            frames.append((self.interned[5, one(frame, 2)], self.interned[17, one(mapping, 7)],
                           one(frame, 4), self.interned[18, source] if source else "",
                           one(frame, 6, 0)))
        self.samples.append({"at": at, "pid": one(sample, 2), "tid": one(sample, 3),
                             "frames": frames, "count": one(sample, 6)})

    def take_events(self, events):
        """As Perfetto does it: by time, in the order of the file, END closes the newest."""
        stacks = {}
        for at, ev in sorted(events, key=lambda e: e[0]):
            uuid, kind = one(ev, 11), one(ev, 9)
            if uuid not in self.tracks:
                fail("an event on a track that is not described")
            track = self.tracks[uuid]
            notes = {}
            for field, note in ev:
                if field == 4:
                    note = fields(note)
                    notes[self.interned[3, one(note, 1)]] = note_value(note)
            stack = stacks.setdefault(uuid, [])
            if kind == 1:
                name = one(ev, 23)
                flow = one(ev, 47)
                stack.append({
                    "track": track["name"] or track["thread"], "start": at,
                    "name": name.decode() if name is not None else self.interned[2, one(ev, 10)],
                    "category": self.interned[1, one(ev, 3)], "notes": notes,
                    "flow": struct.unpack("<Q", flow)[0] if flow else None,
                    "above": [s["name"] for s in stack]})
            elif kind == 2:
                if not stack:
                    fail("END without BEGIN")
                ended = stack.pop()
                ended["end"] = at
                ended["notes"].update(notes)
                if at < ended["start"]:
                    fail("a slice ends before it begins")
                self.slices.append(ended)
            elif kind == 4:
                value = one(ev, 44)
                value = struct.unpack("<d", value)[0]
                self.values.setdefault(track["name"], []).append((at, value))
            else:
                fail(f"an event of type {kind}")
        if any(stacks.values()):
            fail("a slice without end")

    def named(self, name):
        return [s for s in self.slices if s["name"] == name]

    def track_named(self, name):
        found = [t for t in self.tracks.values() if t["name"] == name]
        same(len(found), 1, f"tracks called {name}")
        return found[0]
