#!/usr/bin/env python3
"""Turns data/counters/*.txt into C tables: gen_counters.py OUT SOFTGPU_CATALOGUE DATA_FILE...

What the software GPU makes of a counter is taken from its own catalogue and, among the files, its exceptions.txt, so
that it stands in one place.
"""
import os
import re
import sys

CLASSES = {"exact": "CNT_FIDELITY_EXACT", "modelled": "CNT_FIDELITY_MODELLED",
           "unsupported": "CNT_FIDELITY_UNSUPPORTED", "level": "CNT_FIDELITY_MODELLED"}
FORMS = {"-": 0, "sum": 1, "level": 2}
# What stands in expressions without being a counter.
WORDS = {"reduce", "select", "accumulate", "sum", "min", "max", "avr", "NONE", "LOW_RES", "HIGH_RES"}
# In which order passes list their blocks: the one of AMD's own pass files.
BLOCK_ORDER = ["SQ", "TA", "TD", "TCP", "TCC", "CPC", "CPF", "SPI", "GRBM", "TCA"]


SOFT_TARGETS = ["gfx908", "gfx90a", "gfx942", "gfx950"]  # of the software GPU, in the order of the generations


def soft_targets(text):
    """'all', 'gfx90a', 'gfx90a+' (and later), 'gfx908,gfx950', as softgpu/counters/gen_catalogue.py reads them."""
    found = []
    for word in ["gfx908+"] if text == "all" else text.split(","):
        first = SOFT_TARGETS.index(word.rstrip("+"))
        found += SOFT_TARGETS[first:] if word.endswith("+") else [SOFT_TARGETS[first]]
    return found


def fail(place, text):
    sys.exit("%s:%d: %s" % (place[0], place[1], text))


def lines(path):
    for n, line in enumerate(open(path), 1):
        line = line.rstrip("\n")
        if line.strip() and not line.startswith("#"):
            yield (path, n), line


def columns(line):
    return re.split(r" {2,}", line.strip())


class Data:
    def __init__(self):
        self.archs, self.blocks, self.rows, self.derived = [], [], {}, {}
        self.spellings = []           # (prefix, architectures), the first as in the rows
        self.names = {}               # name: place of its definition

    def arch_set(self, word, place):
        known = [a[0] for a in self.archs]
        out = []
        for part in word.split(","):
            if part == "all":
                out += known
            elif part == "gfx94x":
                out += [a for a in known if a.startswith("gfx94")]
            elif part in known:
                out.append(part)
            else:
                fail(place, "no architecture '%s'" % part)
        return out

    def define(self, name, place):
        if name in self.names:
            fail(place, "'%s' is defined at %s:%d already" % ((name,) + self.names[name]))
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
            fail(place, "'%s' is no name" % name)
        self.names[name] = place

    def read_archs(self, path):
        for place, line in lines(path):
            cols = columns(line)
            if len(cols) != 9 or not all(c.isdigit() for c in cols[1:8]):
                fail(place, "an architecture has nine columns, seven of them numbers")
            self.archs.append((cols[0],) + tuple(int(c) for c in cols[1:8]))

    def read_block(self, path):
        block = None
        for place, line in lines(path):
            cols = columns(line)
            if cols[0].startswith("block "):
                match = re.fullmatch(r"block (\w+)  +limit (\d+)  +dims (xcc)( se)? (one|cu|channel|\d+)", line)
                if not match or match[1] not in BLOCK_ORDER:
                    fail(place, "a block is 'block NAME  limit N  dims xcc [se] one|cu|channel|N'")
                block = match[1]
                self.blocks.append((block, int(match[2]), bool(match[4]), match[5], place))
            elif cols[0].startswith("spelling "):
                if len(cols) != 2:
                    fail(place, "a spelling is 'spelling PREFIX  architectures'")
                self.spellings.append((cols[0].split()[1], self.arch_set(cols[1], place)))
            else:
                self.read_row(place, block, cols)

    def read_row(self, place, block, cols):
        if not block:
            fail(place, "a counter stands before its block")
        if len(cols) != 4:
            fail(place, "a counter has four columns: name, events, form, text")
        name, events, form, text = cols
        self.define(name, place)
        if form not in FORMS:
            fail(place, "no form '%s'" % form)
        numbers = {}
        for group in events.split():
            match = re.fullmatch(r"([a-z0-9,]+):(\d+)", group)
            if not match:
                fail(place, "'%s' is not architectures:event" % group)
            for arch in self.arch_set(match[1], place):
                if arch in numbers:
                    fail(place, "%s has two events" % arch)
                numbers[arch] = int(match[2])
        if not text.endswith("."):
            fail(place, "the description is not a sentence")
        self.rows[name] = (block, numbers, form, text)
        if form == "sum":
            self.derive(name + "_sum", {None: "reduce(%s,sum)" % name}, text + " Summed over all instances.", place)
        if form == "level":
            self.derive(name + "_ACCUM", {None: "accumulate(%s, HIGH_RES)" % name},
                        "%s, added up over all cycles." % name, place)

    def derive(self, name, exprs, text, place):
        self.define(name, place)
        self.derived[name] = (exprs, text, place)

    def read_derived(self, path):
        name, exprs, text, start = None, {}, None, None

        def flush():
            if name:
                if not exprs or not text:
                    fail(start, "[%s] has no %s" % (name, "expr" if not exprs else "text"))
                self.derive(name, exprs, text, start)

        for place, line in lines(path):
            head = re.fullmatch(r"\[(\w+)\]", line)
            expr = re.fullmatch(r"expr(?: ([a-z0-9,]+))? = (.+)", line)
            words = re.fullmatch(r"text = (.+\.)", line)
            if head:
                flush()
                name, exprs, text, start = head[1], {}, None, place
            elif expr and name:
                for arch in self.arch_set(expr[1], place) if expr[1] else [None]:
                    exprs[arch] = expr[2]
            elif words and name:
                text = words[1]
            else:
                fail(place, "expected [NAME], 'expr [architectures] = ...' or 'text = ...'")
        flush()

    def spelled(self, text, arch):
        """Names of the rows, as they are listed on this architecture."""
        if not self.spellings:
            return text
        wanted = [p for p, archs in self.spellings if arch in archs][0]
        return re.sub(r"\b%s" % self.spellings[0][0], wanted, text)

    def exists(self, name, arch, seen=()):
        """Whether all that a name stands for is there."""
        if name in self.rows:
            return arch in self.rows[name][1]
        if name not in self.derived:
            return name.islower()     # a constant; counters.c knows which there are
        exprs, _, place = self.derived[name]
        if name in seen:
            fail(place, "'%s' refers to itself" % name)
        expr = exprs.get(arch, exprs.get(None))
        return expr is not None and all(self.exists(w, arch, seen + (name,)) for w in self.used(expr, place))

    def used(self, expr, place):
        words = set(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", expr)) - WORDS
        for word in words:
            if word not in self.names and not word.islower():
                fail(place, "there is no counter '%s'" % word)
        return words


def read_softgpu(path, data):
    """Name: (class, architectures, text). Refuses what contradicts the data."""
    out, block = {}, None
    limits = {b[0]: b[1] for b in data.blocks}
    for place, line in lines(path):
        cols = columns(line)
        if cols[0].startswith("block "):
            block = cols[0].split()[1]
            if limits.get(block) != int(cols[2]):
                fail(place, "block %s counts %s at once here, but %s in data/counters" %
                     (block, cols[2], limits.get(block)))
            continue
        name, targets, kind, text = cols
        if name not in data.rows or data.rows[name][0] != block:
            fail(place, "data/counters has no counter '%s' of block %s" % (name, block))
        if (kind == "level") != (data.rows[name][2] == "level"):
            fail(place, "data/counters does not agree that '%s' is a level" % name)
        archs = soft_targets(targets)
        out[name] = (CLASSES[kind], archs, text)
    for name, (_, numbers, _, _) in data.rows.items():
        for arch in [a[0] for a in data.archs if a[0] in SOFT_TARGETS]:
            if arch in numbers and arch not in out.get(name, (None, []))[1]:
                fail(data.names[name], "%s has no row for %s: exact, modelled, or unsupported with the reason" %
                     (os.path.basename(path), arch))
            if arch not in numbers and arch in out.get(name, (None, []))[1]:
                fail(data.names[name], "%s has a row for %s, which does not have '%s'" %
                     (os.path.basename(path), arch, name))
    return out


def read_exceptions(path, soft):
    """Name: (architectures, reason), of counters that the software GPU does not support there."""
    out = {}
    for place, line in lines(path):
        cols = columns(line)
        if cols[0] not in soft:
            fail(place, "the software GPU has no counter '%s'" % cols[0])
        out[cols[0]] = (soft_targets(cols[1]), cols[2])
    return out


def quoted(text):
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"')


def emit(data, soft, exceptions):
    archs = [a[0] for a in data.archs]
    order = sorted(data.blocks, key=lambda b: BLOCK_ORDER.index(b[0]))
    out = ["/* made by gen_counters.py from data/counters and softgpu/counters/catalogue.txt */",
           '#include "counters/counters_priv.h"', "",
           "_Static_assert(CNT_N_ARCHS == %d, \"counters_priv.h and architectures.txt\");" % len(archs), "",
           "const struct cnt_arch_row cnt_arch_rows[] = {"]
    out += ["\t{ %s }," % ", ".join([quoted(a[0])] + [str(n) for n in a[1:]]) for a in data.archs]
    out += ["};", "", "const struct cnt_block_row cnt_block_rows[] = {"]
    sizes = {"one": "1, 0", "cu": "0, 'u'", "channel": "0, 'c'"}
    for name, limit, per_se, size, _ in order:
        out.append('\t{ "%s", %d, %s, %s },' % (name, limit, "true" if per_se else "false",
                                                sizes.get(size, "%s, 0" % size)))
    out += ["};", "const size_t cnt_n_block_rows = %d;" % len(order), "",
            "const struct cnt_hardware_row cnt_hardware_rows[] = {"]
    prefix = data.spellings[0][0] if data.spellings else "\0"
    for block, _, _, _, _ in order:
        index = [b[0] for b in order].index(block)
        for name, (where, numbers, form, text) in data.rows.items():
            if where != block:
                continue
            kind, targets, why = soft.get(name, ("CNT_FIDELITY_UNSUPPORTED", [], ""))
            mask = sum(1 << archs.index(a) for a in targets if a in archs)
            without, reason = exceptions.get(name, ([], ""))
            events = ", ".join(str(numbers.get(a, -1)) for a in archs)
            out.append("\t{ %s, %s, %d, { %s }, %s, %s, %d, %s, %d, %s, %s }," %
                       (quoted(name), quoted(text), index, events, "true" if form == "level" else "false",
                        kind, mask, quoted(why), sum(1 << archs.index(a) for a in without if a in archs),
                        quoted(reason), "true" if name.startswith(prefix) else "false"))
    out += ["};", "const size_t cnt_n_hardware_rows = %d;" % len(data.rows), "",
            "const struct cnt_derived_row cnt_derived_rows[] = {"]
    for name, (exprs, text, place) in data.derived.items():
        texts = []
        for expr in exprs.values():
            data.used(expr, place)
        for arch in archs:
            expr = exprs.get(arch, exprs.get(None))
            if not data.exists(name, arch):
                if arch in exprs:
                    fail(place, "[%s] is to hold on %s, which lacks a counter of it" % (name, arch))
                expr = None
            texts.append(quoted(data.spelled(expr, arch)) if expr else "NULL")
        if all(t == "NULL" for t in texts):
            fail(place, "[%s] can be computed nowhere" % name)
        out.append("\t{ %s, %s, { %s }, %s }," % (quoted(name), quoted(text), ", ".join(texts),
                                                  "true" if name.startswith(prefix) else "false"))
    out += ["};", "const size_t cnt_n_derived_rows = %d;" % len(data.derived), "",
            "const struct cnt_spelling_row cnt_spelling_rows[] = {"]
    for spelling, where in data.spellings:
        out.append("\t{ %s, %d }," % (quoted(spelling), sum(1 << archs.index(a) for a in where)))
    out += ["};", "const size_t cnt_n_spelling_rows = %d;" % len(data.spellings)]
    return out


def main():
    out, softgpu, paths = sys.argv[1], sys.argv[2], sys.argv[3:]
    data = Data()
    named = {os.path.basename(p): p for p in paths}
    data.read_archs(named.pop("architectures.txt"))
    derived = named.pop("derived.txt")
    exceptions = named.pop("exceptions.txt")
    for path in named.values():
        data.read_block(path)
    data.read_derived(derived)
    soft = read_softgpu(softgpu, data)
    text = emit(data, soft, read_exceptions(exceptions, soft))
    with open(out, "w") as f:
        f.write("\n".join(text) + "\n")


main()
