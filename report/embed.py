#!/usr/bin/env python3
"""Turn text files into C strings: embed.py OUT.c HEADER.h PREFIX FILE..."""
import os
import sys

to, header, prefix = sys.argv[1:4]
out = [f'#include "{header}"', ""]
for path in sys.argv[4:]:
    name = os.path.basename(path).replace(".", "_")
    with open(path, encoding="ascii") as f:
        text = f.read()
    if "</script" in text or "</style" in text:
        sys.exit(f"{path}: would end the element it is put into")
    out.append(f"const char {prefix}_{name}[] =")
    for line in text.split("\n"):
        line = line.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
        out.append(f'\t"{line}\\n"')
    out[-1] += ";"
    out.append("")
with open(to, "w", encoding="ascii") as f:
    f.write("\n".join(out))
