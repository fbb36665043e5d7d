"""The page read back: what its tiles hold, by a decoder of its own."""
import base64
import json
import re
import zlib

from harness import API, fail, of, same, same_rows

ROW, CORRELATION, CALLER, DETAIL, MERGED, BYTES, WHOLE = (1 << i for i in range(7))


class Numbers:
    def __init__(self, data):
        self.data, self.at = data, 0

    def one(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def column(self, n, present=True):
        return [self.one() for _ in range(n)] if present else [0] * n

    def differences(self, n, present=True):
        total, values = 0, []
        for _ in range(n):
            folded = self.one() if present else 0
            total += folded >> 1 ^ -(folded & 1)
            values.append(total)
        return values


class Page:
    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            self.text = f.read()
        self.head = json.loads(re.search(r'<script type="application/json" id="head">(.*?)</script>',
                                         self.text, re.S).group(1))
        self.blocks = dict(re.findall(r'<script type="text/plain" id="(\w+)">([A-Za-z0-9+/=]*)</script>',
                                      self.text))
        self.tables = json.loads(self.block("tables"))
        paths = self.tables["paths"]
        self.paths = [paths[i:i + 3] for i in range(0, len(paths), 3)]

    def block(self, name):
        return zlib.decompress(base64.b64decode(self.blocks[name], validate=True))

    def name(self, path):
        return self.tables["names"][self.paths[path][1]]

    def tiles(self, level):
        return [self.block(f"b{level['block'] + i}") for i in range(len(level["tiles"]) // 3)]

    def slices(self, track, level=0):
        """(start, end, path, row, correlation id, caller, detail, bytes, events) of each."""
        made, zero = [], int(self.head["start"])
        for data in self.tiles(track["levels"][level]):
            numbers = Numbers(data)
            columns, n = numbers.one(), numbers.one()
            ends, lengths, paths = numbers.differences(n), numbers.column(n), numbers.column(n)
            rows = numbers.column(n, columns & ROW)
            ids = numbers.differences(n, columns & CORRELATION)
            callers = numbers.column(n, columns & CALLER)
            details = numbers.column(n, columns & DETAIL)
            n_bytes = numbers.column(n, columns & BYTES)
            events = numbers.column(n) if columns & MERGED else [1] * n
            numbers.column(n, columns & MERGED)
            same(numbers.at, len(data), "bytes of a tile that were read")
            made += [(zero + e - l, zero + e, *rest) for e, l, *rest in
                     zip(ends, lengths, paths, rows, ids, callers, details, n_bytes, events)]
        return made

    def sums(self, track):
        """By path: events, sum, smallest and largest length; from the summaries of the tiles."""
        numbers, made = Numbers(self.block(f"s{track['number']}")), {}
        for _ in range(len(track["levels"][0]["tiles"]) // 3):
            for _ in range(numbers.one()):
                path, n, total, least, more = numbers.column(5)
                old = made.get(path, (0, 0, least, least + more))
                made[path] = (old[0] + n, old[1] + total, min(old[2], least), max(old[3], least + more))
        same(numbers.at, len(numbers.data), "bytes of summaries that were read")
        return made


def shown(name):
    """Bytes that are no UTF-8 are replaced, each by one character."""
    return re.sub("[\udc80-\udcff]", "\ufffd", name)


def check_sums(page, track, slices):
    expected = {}
    for start, end, path, *_ in slices:
        old = expected.get(path, (0, 0, end - start, end - start))
        expected[path] = (old[0] + 1, old[1] + end - start, min(old[2], end - start), max(old[3], end - start))
    same(page.sums(track), expected, f"summaries of {track['name']}")


def check_rows(track, slices):
    """No two slices of a row overlap, and a track has as many rows as it says."""
    until = {}
    for start, end, _, row, *_ in sorted(slices):
        if until.get(row, 0) > start and row < 63:
            fail(f"{track['name']}: slices overlap in row {row}")
        until[row] = max(end, until.get(row, 0))
    same(track["rows"], max(until, default=0) + 1, f"rows of {track['name']}")


def check_html(where, events, rename=False, queues=False):
    page = Page(f"{where}/host/4711_results.html")
    got, calls, launched = [], {}, []
    for number, track in enumerate(page.head["tracks"]):
        track["number"] = number
        if track["kind"] == "counter":
            continue
        slices = page.slices(track)
        same(len(slices), track["events"], f"events of {track['name']}")
        check_sums(page, track, slices)
        check_rows(track, slices)
        on_gpu = track["kind"] in ("stream", "queue", "copies")
        got += [(track["pid"], start, end, page.name(path), n_bytes)
                for start, end, path, _, _, _, _, n_bytes, _ in slices]
        for one in slices:
            if on_gpu:
                launched.append((track["pid"], *one))
            else:
                calls[track["pid"], number + 1, one[4]] = one
    expected = [(ev["pid"], ev["start"], ev["end"], shown(ev["name"]), 0)
                for domain in API for ev in of(events, domain)]
    expected += [(ev["pid"], ev["start"], ev["end"], ev["name"] if rename else ev["formatted"], 0)
                 for ev in events if "formatted" in ev]
    expected += [(ev["pid"], ev["start"], ev["end"], ev["name"], ev["bytes"]) for ev in of(events, "MEMORY_COPY")]
    same_rows(got, expected, "html")
    for pid, start, _, path, _, corr, caller, *_ in launched:
        if not caller:
            fail(f"no call launched {page.name(path)} with correlation id {corr}")
        call = calls[pid, caller, corr]
        same(page.paths[path][0], call[2], "the path that a kernel is inside of")
        if call[0] > start:
            fail("a kernel began before its call")
    kinds = {track["kind"] for track in page.head["tracks"] if track["pid"] == 4711}
    same("queue" in kinds, queues, "tracks of queues")
    same("stream" in kinds, not queues, "tracks of streams")
    if re.search(r'(src|href)="(?!data:,")', page.text):
        fail("the page refers to another file")
    return page
