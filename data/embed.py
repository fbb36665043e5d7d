#!/usr/bin/env python3
"""Turn text files into a C table of names and texts: embed.py OUT FILE..."""
import os
import sys


def c_string(line):
    out = []
    for byte in line.encode():
        char = chr(byte)
        if char in '"\\':
            out.append("\\" + char)
        elif char == "\t":
            out.append("\\t")
        elif 32 <= byte < 127:
            out.append(char)
        else:
            out.append("\\%03o" % byte)
    return '"' + "".join(out) + '\\n"'


def main():
    out, files = sys.argv[1], sys.argv[2:]
    # common.metrics and common.finding first: the others use their names.
    files.sort(key=lambda path: (not os.path.basename(path).startswith("common."), os.path.basename(path)))
    with open(out, "w") as to:
        to.write('/* Made by data/embed.py. */\n#include "analysis/metric.h"\n\n')
        to.write("const struct ana_metric_file ana_metric_files[] = {\n")
        for path in files:
            to.write('\t{ "%s",\n' % os.path.basename(path))
            with open(path, encoding="utf-8") as text:
                for line in text:
                    to.write("\t  %s\n" % c_string(line.rstrip("\n")))
            to.write("\t},\n")
        to.write("\t{ NULL, NULL },\n};\n")


main()
