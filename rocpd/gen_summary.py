#!/usr/bin/env python3
"""Turn summary.sql into C tables: gen_summary.py OUT.c summary.sql"""
import sys


def sections(path):
    """(words after the @, text) of each section, in the order of the file."""
    found = []
    with open(path, encoding="ascii") as file:
        for line in file:
            if line.startswith("-- @"):
                found.append((line[4:].split(), []))
            elif found and line.strip():
                found[-1][1].append(line.rstrip())
    return found


def literal(lines):
    return "\n".join('\t"%s\\n"' % line.replace("\\", "\\\\").replace('"', '\\"')
                     .replace("\t", "\\t") for line in lines)


def main(out, path):
    rows = [(words[1:], text) for words, text in sections(path) if words[0] == "rows"]
    named = {words[0]: text for words, text in sections(path) if words[0] != "rows"}
    if set(named) != {"by_name", "by_rank"} or not rows:
        sys.exit(f"{path}: needs @rows sections, @by_name and @by_rank, has {sorted(named)}")
    for name, text in named.items():
        if "{{rows}}" not in "".join(text):
            sys.exit(f"{path}: @{name} has no {{{{rows}}}}")
    with open(out, "w", encoding="ascii") as file:
        file.write('#include "rocpd/rocpd_priv.h"\n\n')
        for name, text in sorted(named.items()):
            file.write(f"const char rpd_summary_{name}[] =\n{literal(text)};\n\n")
        file.write("const struct rpd_summary_rows rpd_summary_rows[] = {\n")
        for words, text in rows:
            category = f'"{words[1]}"' if len(words) > 1 else "NULL"
            file.write(f'\t{{ "{words[0]}", {category},\n{literal(text)} }},\n')
        file.write(f"}};\nconst size_t rpd_n_summaries = {len(rows)};\n\n")
        names = "".join(f'"{words[1]}", ' for words, _ in rows if len(words) > 1)
        file.write(f'const char *const rpd_summary_categories[] = {{ {names}"NONE", NULL }};\n')


if __name__ == "__main__":
    main(*sys.argv[1:])
