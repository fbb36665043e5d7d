#!/usr/bin/env python3
"""Recorded values that the models are held to, as a C table: gen_recorded.py LIST RECORDINGS OUT.h

LIST has a counter per line, recorded.txt here; RECORDINGS is tests/recorded, which has the values.
"""
import sys

HEAD = """/* Made by gen_recorded.py from recorded.txt and tests/recorded. */
#ifndef WS_PROGRAMS_FIDELITY_RECORDED_VCOPY_H
#define WS_PROGRAMS_FIDELITY_RECORDED_VCOPY_H

#define FID_NOT_RECORDED (-1)

static const struct fid_recorded {
	const char *name;
	double mi200[3], mi100[3];
	double within; /* part of the recorded value; 0: equal */
} fid_recorded_vcopy[] = {
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
        return sections[counter[:-len("_ACCUM")]][1]["SQ_ACCUM_PREV_HIRES"]
    return sections["pmc_perf"][1].get(counter)


def main():
    listed, recordings, out = sys.argv[1:]
    sys.path.insert(0, recordings)
    sys.dont_write_bytecode = True
    from recording import read_counters
    sections = {chip: read_counters(chip) for chip in ("MI200", "MI100")}
    rows = []
    with open(listed, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            words = line.split()
            if not words or line.startswith("#"):
                continue
            counter, within, *only = words
            cells = [values(sections["MI200"], counter),
                     values(sections["MI100"], counter) if only != ["mi200", "only"] else None]
            if not cells[0] or only not in ([], ["mi200", "only"]):
                sys.exit(f"{listed}:{number}: {counter} is not recorded, or '{' '.join(only)}' is not known")
            texts = ["{ " + ", ".join(str(v) for v in cell or ["FID_NOT_RECORDED"] * 3) + " }" for cell in cells]
            rows.append(f'\t{{ "{counter}", {texts[0]}, {texts[1]}, {float(within):g} }},\n')
    with open(out, "w", encoding="utf-8") as to:
        to.write(HEAD + "".join(rows) + TAIL)


main()
