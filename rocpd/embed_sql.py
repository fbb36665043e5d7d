#!/usr/bin/env python3
"""Turn the .sql files into one C table: embed.py OUT.c NAME.sql..."""
import os
import sys

out = ['#include "rocpd/sql.h"', '', '#include <string.h>', '']
names = []
for path in sys.argv[2:]:
    name = os.path.basename(path).rsplit(".", 1)[0]
    names.append(name)
    out.append(f"static const char sql_{name}[] =")
    with open(path, encoding="ascii") as f:
        lines = f.read().split("\n")
    for line in lines:
        text = line.replace("\\", "\\\\").replace('"', '\\"')
        out.append(f'\t"{text}\\n"')
    out[-1] += ";"
    out.append("")
out.append("const char *rpd_sql(const char *name)\n{")
for name in names:
    out.append(f'\tif (!strcmp(name, "{name}"))\n\t\treturn sql_{name};')
out.append("\treturn NULL;\n}")
with open(sys.argv[1], "w", encoding="ascii") as f:
    f.write("\n".join(out) + "\n")
