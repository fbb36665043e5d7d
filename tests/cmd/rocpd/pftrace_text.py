#!/usr/bin/env python3
"""What is in a Perfetto trace, by the tests' own decoder: pftrace_text.py slices|counters FILE

slices      category, name, begin and end of each slice, sorted
counters    per counter track its name and largest value; per kernel slice the counters on it
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../output"))
from pftrace_file import nest, one, read_pftrace  # noqa: E402


def main():
    what, path = sys.argv[1:]
    tracks, events = read_pftrace(path)
    slices = nest(tracks, [event for event in events if event["type"] in (1, 2)])
    lines = []
    if what == "slices":
        for s in slices:
            lines.append(f"{s['category']} {s['name']} {s['notes']['begin_ns']} {s['notes']['end_ns']}")
    else:
        values = {}
        for event in events:
            if event["type"] == 4:
                values.setdefault(one(tracks[event["track"]], 2).decode(), []).append(event["value"])
        for name, of in values.items():
            lines.append(f"track '{name}' {max(of)}")
        for s in slices:
            for note, value in s["notes"].items():
                if s["category"] == "kernel_dispatch" and note in ("SQ_WAVES", "GRBM_COUNT"):
                    lines.append(f"slice '{s['name']}' {note} {value:g}")
    print("\n".join(sorted(lines)))


main()
