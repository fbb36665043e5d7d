#!/usr/bin/env python3
"""Turns catalogue.txt into the list of counters and their places: gen_catalogue.py header|source OUT IN EXCEPTIONS

EXCEPTIONS is exceptions.txt: counters that some targets do not support.
"""
import re
import sys

TARGETS = ["gfx908", "gfx90a", "gfx942", "gfx950"]  # in the order of the generations
CLASSES = {"exact": "SG_EXACT", "modelled": "SG_MODELLED", "unsupported": "SG_UNSUPPORTED", "level": "SG_LEVEL_COUNTER"}
INSTANCES = {"one": "SG_PER_DEVICE", "se": "SG_PER_SE", "cu": "SG_PER_CU", "channel": "SG_PER_CHANNEL",
             "arbiter": "SG_PER_ARBITER"}


def fail(path, line, text):
    sys.exit("%s:%d: %s" % (path, line, text))


def targets_of(text):
    """'all', 'gfx90a', 'gfx90a+' (and later), 'gfx908,gfx950': a list of targets; None: not one."""
    found = set(TARGETS) if text == "all" else set()
    for word in text.split(",") if text != "all" else []:
        if word.rstrip("+") not in TARGETS:
            return None
        first = TARGETS.index(word.rstrip("+"))
        found.update(TARGETS[first:] if word.endswith("+") else TARGETS[first:first + 1])
    return [t for t in TARGETS if t in found]


def read(path):
    blocks, rows, names = [], [], set()
    for n, line in enumerate(open(path), 1):
        line = line.rstrip("\n")
        if not line.strip() or line.startswith("#"):
            continue
        cols = re.split(r" {2,}", line.strip())
        if cols[0].startswith("block "):
            if len(cols) != 3 or cols[1] not in INSTANCES:
                fail(path, n, "a block is 'block NAME  instances  limit'")
            blocks.append((cols[0].split()[1], cols[1], int(cols[2])))
            continue
        if len(cols) != 4:
            fail(path, n, "a counter has four columns: name, targets, class, text")
        name, targets, kind, text = cols
        if not blocks:
            fail(path, n, "counter '%s' stands before the first block" % name)
        if name in names:
            fail(path, n, "counter '%s' stands here twice" % name)
        if not targets_of(targets):
            fail(path, n, "no target '%s'" % targets)
        if kind not in CLASSES:
            fail(path, n, "no class '%s'" % kind)
        names.add(name)
        rows.append((blocks[-1][0], name, targets, kind, text))
    return blocks, rows


def read_exceptions(path, rows):
    """{name: (targets, reason)}"""
    classes = {row[1]: (targets_of(row[2]), row[3]) for row in rows}
    out = {}
    for n, line in enumerate(open(path), 1):
        if not line.strip() or line.startswith("#"):
            continue
        cols = re.split(r" {2,}", line.strip())
        if len(cols) != 3:
            fail(path, n, "an exception has three columns: name, targets, reason")
        name, targets, reason = cols
        if name not in classes or classes[name][1] == "unsupported":
            fail(path, n, "catalogue.txt supports no counter '%s'" % name)
        if name in out:
            fail(path, n, "counter '%s' stands here twice" % name)
        if not set(targets_of(targets) or [""]) < set(classes[name][0]):
            fail(path, n, "'%s' are not some of the targets of '%s'" % (targets, name))
        out[name] = (targets_of(targets), reason)
    return out


def header(blocks, rows):
    out = ["/* made by gen_catalogue.py from catalogue.txt */", "enum sg_block {"]
    out += ["\tSG_BLOCK_%s," % b[0] for b in blocks] + ["\tSG_N_BLOCKS", "};"]
    for b in blocks:
        mine = [r[1] for r in rows if r[0] == b[0]]
        out += ["enum {"] + ["\tSG_C_%s," % c for c in mine] + ["\tSG_N_%s" % b[0], "};"]
    return out


def bits(targets):
    return " | ".join("SG_ISA_" + t.upper() for t in targets) or "0"


def quoted(text):
    return '"%s"' % text.replace('"', '\\"')


def source(blocks, rows, exceptions):
    out = ["/* made by gen_catalogue.py from catalogue.txt */",
           '#include "softgpu/counters/catalogue.h"', "",
           "const struct sg_block_info sg_blocks[SG_N_BLOCKS] = {"]
    first = 0
    for b in blocks:
        n = sum(r[0] == b[0] for r in rows)
        out.append('\t{ "%s", %s, %d, %d, %d },' % (b[0], INSTANCES[b[1]], b[2], first, n))
        first += n
    out += ["};", "", "const struct sg_counter_info sg_counters[] = {"]
    for block, name, targets, kind, text in rows:
        without, reason = exceptions.get(name, ([], ""))
        out.append('\t{ "%s", %s, SG_BLOCK_%s, %s, %s, SG_C_%s, %s, %s },' %
                   (name, quoted(text), block, bits(targets_of(targets)), CLASSES[kind], name, bits(without),
                    quoted(reason)))
    out += ["};", "const size_t sg_n_counters = sizeof(sg_counters) / sizeof(sg_counters[0]);"]
    return out


def main():
    kind, out, path, exceptions = sys.argv[1:]
    blocks, rows = read(path)
    text = header(blocks, rows) if kind == "header" else source(blocks, rows, read_exceptions(exceptions, rows))
    with open(out, "w") as f:
        f.write("\n".join(text) + "\n")


if __name__ == "__main__":
    main()
