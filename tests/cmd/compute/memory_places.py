#!/usr/bin/env python3
"""Read memory charts as a person does: memory_places.py NARROW.txt CHART.svg

tests/unit/test_memchart.c draws charts whose values are all different. Here each value is looked for
by the box that it stands in, or by the boxes that its wire joins, and by the label beside it. Bars
are as long as their percentages, and wires are thicker the more they carry.
"""
import re
import sys
import xml.etree.ElementTree as tree

N_VALUES = 55


def value(metric):
    """What fill() in test_memchart.c gives the metric 3.1.<metric>; None is N/A."""
    if metric % 9 == 8:
        return None
    return 10 * metric + 1 if metric < 18 else 1048576 if metric == 21 else metric + 0.4


# Where metric 3.1.<n> belongs: ("in", box), ("left of", box), ("between", box, box), ("above", box); its label.
VL1, SL1D, IL1, L2 = "Vector L1", "Scalar L1D", "Instr L1", "L2"
READ, WRITE = "(Requests )?(Rd|Reads)", "(Requests )?(Wr|Writes)"
READ_LAT, WRITE_LAT = r"Lat \(cycles\) Rd|Read lat\.", r"Lat \(cycles\) Wr|Write lat\."
PLACES = [
    (("in", "Instr Buff"), "(Wave o|O)ccupancy"), (("in", "Instr Buff"), "Wave life"),
    (("in", "Instr Dispatch"), "SALU"), (("in", "Instr Dispatch"), "SMEM"),
    (("in", "Instr Dispatch"), "VALU"), (("in", "Instr Dispatch"), "MFMA"),
    (("in", "Instr Dispatch"), "VMEM"), (("in", "Instr Dispatch"), "LDS"),
    (("in", "Instr Dispatch"), "GWS"), (("in", "Instr Dispatch"), "(?i:branch)"),
    (("in", "Exec"), "Active CUs"), (("in", "Exec"), "Active CUs of"), (("in", "Exec"), "VGPRs"),
    (("in", "Exec"), "SGPRs"), (("in", "Exec"), "LDS alloc"), (("in", "Exec"), "Scratch( alloc)?"),
    (("in", "Exec"), "Wavefronts"), (("in", "Exec"), "Workgroups"),
    (("left of", "LDS"), "Req"), (("in", "LDS"), "Util(ization)?"), (("in", "LDS"), "Lat(ency)?"),
    (("left of", VL1), "Rd"), (("left of", VL1), "Wr"), (("left of", VL1), "Atomic"),
    (("in", VL1), "Hit"), (("in", VL1), "Lat(ency)?"), (("in", VL1), "Coales(cing)?"), (("in", VL1), "Stall"),
    (("between", VL1, L2), "Rd"), (("between", VL1, L2), "Wr"), (("between", VL1, L2), "Atomic"),
    (("left of", SL1D), "Rd"), (("in", SL1D), "Hit"), (("in", SL1D), "Lat(ency)?"),
    (("between", SL1D, L2), "Rd"), (("between", SL1D, L2), "Wr"), (("between", SL1D, L2), "Atomic"),
    (("left of", IL1), "Fetch"), (("in", IL1), "Hit"), (("in", IL1), "Lat(ency)?"), (("between", IL1, L2), "Req"),
    (("in", L2), READ), (("in", L2), WRITE), (("in", L2), "(Requests )?Atomics?"), (("in", L2), "Hit"),
    (("in", L2), READ_LAT), (("in", L2), WRITE_LAT),
    (("between", L2, "Fabric"), "Rd"), (("between", L2, "Fabric"), "Wr"), (("between", L2, "Fabric"), "Atomic"),
    (("in", "Fabric"), READ_LAT), (("in", "Fabric"), WRITE_LAT),
    (("in", "Fabric"), r"Lat \(cycles\) Atomic|Atomic lat\."),
    (("above", "HBM"), "Rd"), (("above", "HBM"), "Wr"),
]
assert len(PLACES) == N_VALUES
ON_WIRES = (VL1, SL1D, IL1, L2, "Fabric")  # boxes with wires between them

wrong = []


def check(good, what):
    if not good:
        print("FAIL", what)
        wrong.append(what)


class Box:
    def __init__(self, title, left, top, right, bottom):
        self.title, self.left, self.top, self.right, self.bottom = title, left, top, right, bottom


def place(boxes, x, y, slack=0):
    """Where a label that begins at x, y stands; slack is how far above its wire it may be."""
    for box in boxes:
        if box.left < x < box.right and box.top < y < box.bottom:
            return "in", box.title
    level = [box for box in boxes if box.top - slack < y < box.bottom + slack]
    before = [box for box in level if box.right <= x]
    behind = [box for box in level if box.left >= x]
    if not behind:
        below = [box for box in boxes if box.left <= x <= box.right and box.top > y]
        return "above", min(below, key=lambda box: box.top).title
    right = min(behind, key=lambda box: box.left).title
    left = max(before, key=lambda box: box.right).title if before else ""
    if left.startswith(ON_WIRES) and right.startswith(ON_WIRES):
        return "between", left, right
    return "left of", right


def number(text):
    if text == "N/A":
        return None
    scale = {"k": 1e3, "M": 1e6, "G": 1e9}.get(text[-1], 1)
    return float(text.rstrip("kMG")) * scale


def same_place(want, have):
    return want[0] == have[0] and len(want) == len(have) and all(
        title.startswith(begin) for begin, title in zip(want[1:], have[1:]))


def check_values(form, found):
    """found: [(place, label, value)]; each metric is there once, with its value."""
    for metric, (where, label) in enumerate(PLACES):
        here = [v for p, l, v in found if same_place(where, p) and re.fullmatch(label, l)]
        want = value(metric)
        near = len(here) == 1 and (here[0] is None if want is None else
                                   here[0] is not None and abs(here[0] - want) <= 0.005 * want)
        check(near, f"{form}: 3.1.{metric} {where} {label}: {here}, not {want}")
    check(len(found) == N_VALUES, f"{form}: {len(found)} values, not {N_VALUES}")


# ---- the narrow chart: boxes of characters ----

# "Active CUs  101 of 111"; "Wave 0 .. N-1" is none
PAIR = re.compile(r"([A-Z][A-Za-z0-9]*(?: [A-Za-z]+)*) +(N/A|[\d.]+[kMG]?)(?! \.\.)(?: of +(\d+))?")


def narrow_boxes(lines):
    boxes = []
    for top, line in enumerate(lines):
        for corner in re.finditer("┌[^┐]*┐", line):
            left, right = corner.start(), corner.end() - 1
            bottom = next(n for n in range(top, len(lines)) if lines[n][left:left + 1] == "└")
            inside = " ".join(text[left + 1:right] for text in lines[top + 1:bottom])
            title = corner.group().strip("┌┐─ ") or inside.split()[0]
            boxes.append(Box(title, left, top, right, bottom))
    return boxes


def read_narrow(path):
    with open(path, encoding="utf-8") as text:
        lines = text.read().split("\n")
    boxes, found, headings = narrow_boxes(lines), [], {}
    for y, line in enumerate(lines):
        for part in re.finditer(r"[^│]+", line):
            pairs = list(PAIR.finditer(part.group()))
            for pair in pairs:
                where = place(boxes, part.start() + pair.start(), y + 0.5)
                label = pair.group(1)
                if where in headings:
                    label = f"{headings[where]} {label}"
                found.append((where, label, number(pair.group(2))))
                if pair.group(3):
                    found.append((where, label + " of", number(pair.group(3))))
            if not pairs and re.match(r" (Requests|Lat \(cycles\)) *$", part.group()):
                headings[place(boxes, part.start() + 1, y + 0.5)] = part.group().strip()
    return found


# ---- the picture ----

def read_svg(path):
    ns = "{http://www.w3.org/2000/svg}"
    root = tree.parse(path).getroot()

    def all_of(kind, *classes):
        return [e for e in root.iter(ns + kind) if e.get("class") in classes]

    def at(element, *names):
        return [float(element.get(name)) for name in names]

    boxes = []
    for rect in all_of("rect", "box"):
        x, y, w, h = at(rect, "x", "y", "width", "height")
        title = [t.text for t in all_of("text", "head")
                 if x < at(t, "x")[0] < x + w and y < at(t, "y")[0] < y + h]
        check(len(title) == 1, f"svg: titles of a box: {title}")
        boxes.append(Box(title[0], x, y, x + w, y + h))
    found, percents = [], []
    values = all_of("text", "num", "none")
    for key in all_of("text", "key"):
        x, y = at(key, "x", "y")
        beside = min((v for v in values if at(v, "y")[0] == y and at(v, "x")[0] > x), key=lambda v: at(v, "x")[0])
        values.remove(beside)
        text = re.fullmatch(r"(N/A|[\d.]+)(?: (%|B|cycles|cyc\.?|of (\d+)))?", beside.text)
        check(text, f"svg: '{beside.text}' is no value")
        if text:
            found.append((place(boxes, x, y, 8), key.text, number(text.group(1))))
            if text.group(3):
                found.append((place(boxes, x, y, 8), key.text + " of", number(text.group(3))))
                percents.append((y, x, 100 * number(text.group(1)) / number(text.group(3))))
            if text.group(2) == "%":
                percents.append((y, x, number(text.group(1))))
    for alone in values:  # key and value in one text
        key, text = alone.text.split(" ", 1)
        found.append((place(boxes, *at(alone, "x", "y"), 8), key, number(text)))

    bars = {(at(bar, "x")[0], at(bar, "y")[0]): at(bar, "width")[0] for bar in all_of("rect", "bar")}
    tracks = {(at(track, "x")[0], at(track, "y")[0]): at(track, "width")[0] for track in all_of("rect", "track")}
    for y, x, percent in percents:
        whole, part = tracks.get((x, y + 5)), bars.get((x, y + 5))
        check(whole and part and abs(part - min(whole, whole * percent / 100)) < 0.02 * whole,
              f"svg: the bar of {percent} % at {x}, {y} is {part} of {whole}")
    check(len(percents) >= 6, f"svg: only {len(percents)} percentages")
    return found, root, ns


def check_wires(root, ns):
    """The wire under a value: its label stands just above it."""
    wires = []
    for line in root.iter(ns + "line"):
        if line.get("class") in ("read", "write", "atomic"):
            wires.append([float(line.get(name)) for name in ("x1", "x2", "y1", "stroke-width")])
    carried = []
    for text in root.iter(ns + "text"):
        if text.get("class") != "num":
            continue
        x, y = float(text.get("x")), float(text.get("y"))
        under = [w for w in wires if min(w[0], w[1]) < x < max(w[0], w[1]) + 12 and 0 < w[2] - y < 16]
        if under:
            carried.append((float(text.text), min(under, key=lambda w: w[2])[3]))
    check(len(carried) >= 6, f"svg: only {len(carried)} wires with a value")
    carried.sort()
    for (less, thin), (more, thick) in zip(carried, carried[1:]):
        check(thin <= thick, f"svg: {less} is carried by a wire of {thin}, {more} by one of {thick}")
    check(carried and carried[-1][1] > 2 * carried[0][1], f"svg: wires do not differ: {carried}")


def main():
    check_values("narrow", read_narrow(sys.argv[1]))
    found, root, ns = read_svg(sys.argv[2])
    check_values("svg", found)
    check_wires(root, ns)
    sys.exit(1 if wrong else 0)


main()
