#!/usr/bin/env python3
"""Read roofline drawings as a person does: roofline_places.py WORKLOAD PICTURE.svg TERMINAL.txt

WORKLOAD is what make_workload.py wrote. Rates, intensities, slopes and roofs are reckoned here from
its counters and peaks; where they have to be follows from the labels on the axes alone.
"""
import csv
import math
import re
import sys
import xml.etree.ElementTree as tree

from make_workload import KERNELS, PEAKS

LEVELS = {"HBM": "HBMBw", "L2": "L2Bw", "L1": "L1Bw", "LDS": "LDSBw"}
ROOFS = {"VALU": PEAKS["FP32Flops"], "MFMA": PEAKS["MFMAF32Flops"]}
LEFT, RIGHT = 0.01, 1000  # the axis of intensities
WAVE, MFMA_OP = 64, 512  # lanes; FLOPs per unit of SQ_INSTS_VALU_MFMA_MOPS_F32

wrong = []


def check(good, what):
    if not good:
        print("FAIL", what)
        wrong.append(what)


def near(a, b, slack):
    return abs(a - b) <= slack


def points(workload):
    """{letter: (GFLOP/s, {level: FLOP per byte})} of the kernels with floating-point operations, by time."""
    spent = {}
    with open(f"{workload}/pmc_perf.csv", newline="", encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            ns = int(row["End_Timestamp"]) - int(row["Start_Timestamp"])
            spent.setdefault(row["Kernel_Name"], []).append(ns)
    found = {}
    for letter, (name, times) in zip("ABC", sorted(spent.items(), key=lambda kernel: -sum(kernel[1]))):
        c = dict.fromkeys("""SQ_INSTS_VALU_FMA_F32 SQ_INSTS_VALU_MFMA_MOPS_F32 TCC_EA_RDREQ_sum
            TCC_EA_WRREQ_64B_sum TCP_TCC_READ_REQ_sum TCP_TCC_WRITE_REQ_sum TCP_TOTAL_CACHE_ACCESSES_sum
            SQ_LDS_IDX_ACTIVE SQ_LDS_BANK_CONFLICT""".split(), 0)
        c.update(KERNELS[name][1])
        flops = 2 * WAVE * c["SQ_INSTS_VALU_FMA_F32"] + MFMA_OP * c["SQ_INSTS_VALU_MFMA_MOPS_F32"]
        traffic = {
            "HBM": 64 * (c["TCC_EA_RDREQ_sum"] + c["TCC_EA_WRREQ_64B_sum"]),
            "L2": 64 * (c["TCP_TCC_READ_REQ_sum"] + c["TCP_TCC_WRITE_REQ_sum"]),
            "L1": 64 * c["TCP_TOTAL_CACHE_ACCESSES_sum"],
            "LDS": 128 * (c["SQ_LDS_IDX_ACTIVE"] - c["SQ_LDS_BANK_CONFLICT"])}
        if flops:
            found[letter] = (flops / (sum(times) / len(times)),
                             {level: flops / bytes_ for level, bytes_ in traffic.items() if bytes_})
    return found


class Axis:
    """A logarithmic axis: where its zero is, and how long a decade."""

    def __init__(self, origin, decade):
        self.origin, self.decade = origin, decade

    def __call__(self, value):
        return self.origin + self.decade * math.log10(value)


def drawn_axis(what, labels, slack=0.02):
    """From the places of its labels, [(place, value)]."""
    (p0, v0), (p1, v1) = min(labels), max(labels)
    decade = (p1 - p0) / math.log10(v1 / v0)
    axis = Axis(p0 - decade * math.log10(v0), decade)
    check(len(labels) >= 4, f"{what}: only {len(labels)} labels")
    for place, value in labels:
        check(near(axis(value), place, slack), f"{what}: {value} is at {place}, not at {axis(value)}")
    return axis


def printed_axis(what, edge, sign, labels):
    """
    From the character cells of its labels, [(cell, value)]. The smallest value is at the edge; each other
    label allows a range of lengths of a decade, and there must be one that all of them allow.
    """
    labels = sorted(labels, key=lambda label: label[1])
    low, high, smallest = 0, math.inf, labels[0][1]
    for cell, value in labels[1:]:
        decades = math.log10(value / smallest)
        ends = sorted(sign * (end - edge) / decades for end in (cell, cell + 1))
        low, high = max(low, ends[0]), min(high, ends[1])
    check(len(labels) >= 4, f"{what}: only {len(labels)} labels")
    check(low < high, f"{what}: no scale fits {labels}")
    decade = sign * (low + high) / 2
    return Axis(edge - decade * math.log10(smallest), decade)


# ---- the picture ----

def outline(path):
    """The corners of a mark: M, and relative h, v and l."""
    x = y = 0
    for command, text in re.findall(r"([Mhvl])([^Mhvlz]*)", path):
        numbers = [float(n) for n in text.split()]
        if command == "M":
            x, y = numbers
        else:
            dx, dy = {"h": (numbers[0], 0), "v": (0, numbers[0]), "l": tuple(numbers)}[command]
            x, y = x + dx, y + dy
        yield x, y


def read_svg(path, kernels):
    ns = "{http://www.w3.org/2000/svg}"
    root = tree.parse(path).getroot()

    def places(kind, begin):
        return [e for e in root.iter(ns + kind) if (e.get("class") or "").startswith(begin)]

    frame = places("rect", "frame")[0]
    bottom = float(frame.get("y")) + float(frame.get("height"))
    grid = places("line", "grid")
    ticks = [(float(t.get("x")), float(t.get("y")), t.text) for t in places("text", "tick")
             if re.match(r"[\d.]+$", t.text)]
    below = [(x, float(text)) for x, y, text in ticks if y > bottom + 8]
    beside = [(y - 4, float(text)) for x, y, text in ticks if y <= bottom + 8]  # a text stands on its baseline
    to_x, to_y = drawn_axis("svg x", below), drawn_axis("svg y", beside)
    for labels, ends in (below, ("x1", "x2")), (beside, ("y1", "y2")):
        for place, value in labels:
            check(any(all(near(float(line.get(end)), place, 0.02) for end in ends) for line in grid),
                  f"svg: no line at {value}")

    def is_line(name, x1, y1, x2, y2):
        line = [l for l in places("line", name) if l.get("class") == name]
        check(len(line) == 1, f"svg: {len(line)} lines '{name}'")
        have = [float(line[0].get(k)) for k in ("x1", "y1", "x2", "y2")]
        want = [to_x(x1), to_y(y1), to_x(x2), to_y(y2)]
        check(all(near(a, b, 0.05) for a, b in zip(have, want)), f"svg: {name} is {have}, not {want}")

    peak = max(ROOFS.values())
    for level, column in LEVELS.items():
        is_line(f"slope {level}", LEFT, LEFT * PEAKS[column], peak / PEAKS[column], peak)
    for unit, rate in ROOFS.items():  # they begin where the fastest memory's slope meets them
        is_line(f"roof {unit}", rate / PEAKS["LDSBw"], rate, RIGHT, rate)

    marks = [(m.get("class")[6:], list(outline(m.get("d")))) for m in places("path", "mark m")]
    middles = []
    for level, corners in marks:
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        middles.append((level, (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2))
    for letter, (rate, intensities) in kernels.items():
        for level, intensity in intensities.items():
            x, y = to_x(intensity), to_y(rate)
            hits = [m for m in middles if m[0] == level and near(m[1], x, 0.2) and near(m[2], y, 1.6)]
            check(len(hits) == 1, f"svg: {letter} {level}: {len(hits)} marks at {x:.1f}, {y:.1f}")
            for hit in hits:
                middles.remove(hit)
    # what is left is the legend, one mark per level
    check(sorted(level for level, _, _ in middles) == sorted(LEVELS), f"svg: other marks: {middles}")


# ---- the terminal ----

DOTS = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)]  # of a braille character's bits


def read_text(path, kernels):
    with open(path, encoding="utf-8") as text:
        lines = [line.rstrip("\n") for line in text]
    top = next(n for n, line in enumerate(lines) if "┌" in line and "Performance (GFLOP/s)" in lines[n - 1])
    end = next(n for n in range(top, len(lines)) if "└" in lines[n])
    left, right = lines[top].index("┌"), lines[top].index("┐")
    marks = [m.start() for m in re.finditer("┬", lines[end])]
    names = [float(text) for text in lines[end + 1].split()]
    check(len(marks) == len(names) and (names[0], names[-1]) == (LEFT, RIGHT), f"text: {marks} for {names}")
    # The last label stands in the last cell, whose right edge is its value.
    to_x = printed_axis("text x", left + 1, 1, list(zip(marks, names))[:-1])
    to_y = printed_axis("text y", end, -1,
                        [(n, float(lines[n].split("┤")[0])) for n in range(top, end) if "┤" in lines[n]])

    for letter, (rate, intensities) in kernels.items():
        want = sorted({math.floor(to_x(intensity)) for intensity in intensities.values()})
        rows = {math.floor(to_y(rate) + k) for k in (-0.3, 0.3)}
        have = sorted(m.start() for row in rows for m in re.finditer(f"(?<!\\w){letter}(?!\\w)", lines[row]))
        check(have and all(any(near(a, b, 1) for b in have) for a in want) and
              all(any(near(a, b, 1) for b in want) for a in have), f"text: {letter} at {have}, not {want}")

    # Every dot of the plot belongs to a slope or a roof, and every slope and roof has its dots.
    peak = max(ROOFS.values())
    dots, hidden = set(), set()
    for n in range(top + 1, end):
        for column in range(left + 1, right):
            char = lines[n][column]
            if "⠀" <= char <= "⣿":
                bits = ord(char) - 0x2800
                dots |= {(2 * column + dx, 4 * n + dy) for bit, (dx, dy) in enumerate(DOTS) if bits >> bit & 1}
            elif char != " ":
                hidden.add((column, n))
    expected = {}
    for x2 in range(2 * left + 2, 2 * right):
        intensity = 10 ** (((x2 + 0.5) / 2 - to_x.origin) / to_x.decade)
        for name, column in LEVELS.items():
            if LEFT <= intensity <= peak / PEAKS[column]:
                expected.setdefault(name, []).append((x2, 4 * to_y(PEAKS[column] * intensity) - 0.5))
        for name, rate in ROOFS.items():
            if rate / PEAKS["LDSBw"] <= intensity <= RIGHT:
                expected.setdefault(name, []).append((x2, 4 * to_y(rate) - 0.5))
    # The scale is known to a part of a character: three dots up or down.
    for name, line in expected.items():
        seen = [any(near(y, dy, 3.5) for dx, dy in dots if abs(dx - x) <= 1) for x, y in line
                if not any((x // 2 + k, round(y) // 4 + m) in hidden for k in (-1, 0, 1) for m in (-1, 0, 1))]
        check(len(seen) > 10 and sum(seen) >= 0.95 * len(seen), f"text: {name}: {sum(seen)} of {len(seen)} dots")
    strays = [(x, y) for x, y in dots
              if not any(abs(x - ex) <= 2 and near(y, ey, 3.5) for line in expected.values() for ex, ey in line)]
    check(len(dots) > 200 and not strays, f"text: {len(strays)} of {len(dots)} dots belong to nothing: {strays[:5]}")


def main():
    workload, svg, text = sys.argv[1:]
    kernels = points(workload)
    check(list(kernels) == ["A", "B"] and len(kernels["A"][1]) == 4 and len(kernels["B"][1]) == 3,
          f"kernels: {kernels}")
    read_svg(svg, kernels)
    read_text(text, kernels)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
