"""The summary tables, to the character."""
import re

from csv_files import stats_by_name
from harness import fail, same


def in_words(name):
    """What a terminal would obey, and bytes that are no UTF-8, as \\x1b."""
    return "".join(c if c.isprintable() else "".join(
        f"\\x{b:02x}" for b in c.encode("utf-8", "surrogateescape")) for c in name)


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
        widths = [max([40] + [len(in_words(n)) for n in rows]),
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
            pad = widths[0] - len(in_words(name))
            cells = [f"{n:>15}", f"{time(whole):>15}", f"{mean / scale:.3e}".rjust(15),
                     f"{100 * whole / total if total else 0:.6f}".rjust(13), f"{time(low):>15}",
                     f"{time(high):>15}", f"{deviation / scale:.3e}".rjust(15)]
            expected_text += f"| {in_words(name)}{' ' * pad} | {d:<{widths[1]}} | " + " | ".join(cells) + " |\n"
        expected_text += "\n"
    if text != expected_text:
        for a, b in zip(text.split("\n"), expected_text.split("\n")):
            same(a, b, "summary line")
        fail("summary: lengths differ")
