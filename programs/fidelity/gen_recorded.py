#!/usr/bin/env python3
"""Recorded values that the models are held to, as a C table: gen_recorded.py LIST RECORDINGS OUT.h

LIST has a counter per line, recorded.txt or recorded_dies.txt here; its line 'table' names the table and its
recordings. A counter that the first one lacks is an error, one that a later one lacks is not. RECORDINGS is tests/recorded, which has the values.
"""
import sys

HEAD = """/* Made by gen_recorded.py from recorded.txt and tests/recorded. */
#ifndef WS_PROGRAMS_FIDELITY_%(guard)s_H
#define WS_PROGRAMS_FIDELITY_%(guard)s_H

#define FID_NOT_RECORDED (-1)

static const struct %(tag)s {
	const char *name;
	double %(fields)s;
	double within; /* part of the recorded value; 0: equal */
} %(table)s[] = {
"""
TAIL = """};

#endif
"""


def values(sections, counter):
    """Of each dispatch; accumulated levels and durations are in files of their own."""
    if counter == "duration_ns":
        times = sections["timestamps"][1]
        return [int(end) - int(start) for start, end in zip(times["Start_Timestamp"], times["End_Timestamp"])]
    if counter.endswith("_ACCUM"):
        level = sections.get(counter[:-len("_ACCUM")], (None, {}))[1]
        return level.get("SQ_ACCUM_PREV_HIRES") or level.get(counter)
    counted = sections["pmc_perf"][1]
    return counted.get(counter) or counted.get(counter + "_sum")


def main():
    listed, recordings, out = sys.argv[1:]
    sys.path.insert(0, recordings)
    sys.dont_write_bytecode = True
    from recording import read_counters
    rows, names, chips, first = [], {}, [], None
    with open(listed, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            words = line.split()
            if not words or line.startswith("#"):
                continue
            if words[0] == "table":
                names = {"tag": words[1], "table": words[2], "guard": words[2].upper()[len("FID_"):],
                         "fields": ", ".join(word.split("=")[0] + "[3]" for word in words[3:])}
                first = words[3].split("=")[0]
                chips = [read_counters(word.split("=")[1]) for word in words[3:]]
                continue
            counter, within, *only = words
            alone = [first, "only"]
            cells = [values(chip, counter) if chip is chips[0] or only != alone else None for chip in chips]
            if not cells[0] or only not in ([], alone):
                sys.exit(f"{listed}:{number}: {counter} is not recorded, or '{' '.join(only)}' is not known")
            texts = ["{ " + ", ".join(str(v) for v in cell or ["FID_NOT_RECORDED"] * 3) + " }" for cell in cells]
            rows.append(f'\t{{ "{counter}", {", ".join(texts)}, {float(within):g} }},\n')
    with open(out, "w", encoding="utf-8") as to:
        to.write(HEAD % names + "".join(rows) + TAIL)


main()
