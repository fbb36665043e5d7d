#!/usr/bin/env python3
"""Every message gen_counters.py can print, provoked by wrong data: bad_data.py GENERATOR

A message in the generator that no case here provokes fails the test too.
"""
import ast
import os
import re
import subprocess
import sys
import tempfile

ARCHS = "gfx908    1    8   15  120  32    10     1502  MI100\ngfx90a    1    8   13  104  32    8      1700  MI210\n"
SQ = "block SQ  limit 8  dims xcc se one\n\nSQ_WAVES  all:4  sum  Waves launched.\nSQ_LEVEL_WAVES  all:5  level  Waves resident.\n"
TCC = "block TCC  limit 4  dims xcc channel\nspelling TCC_EA_  gfx908,gfx90a\n\nTCC_EA_RDREQ  all:38  sum  Reads.\nTCC_HIT  gfx90a:17  -  Hits.\n"
DERIVED = "[Wavefronts]\nexpr = reduce(SQ_WAVES,sum)\ntext = Waves.\n"
SOFT = ("block SQ  se  8\nSQ_WAVES  all  exact  waves\nSQ_LEVEL_WAVES  all  level  waves\n"
        "block TCC  channel  4\nTCC_EA_RDREQ  all  modelled  reads\nTCC_HIT  gfx90a  modelled  hits\n")
GOOD = {"architectures.txt": ARCHS, "sq.txt": SQ, "tcc.txt": TCC, "derived.txt": DERIVED, "soft.txt": SOFT,
        "exceptions.txt": "TCC_HIT  gfx90a  not known\n"}

CASES = [  # file, what to replace (or None: append), by what, the message
    ("architectures.txt", "1502", "fast", "architectures.txt:1: an architecture has nine columns, seven of them numbers"),
    ("sq.txt", "limit 8", "limit eight", "sq.txt:1: a block is 'block NAME  limit N  dims xcc [se] one|cu|channel|N'"),
    ("tcc.txt", "  gfx908,gfx90a", "", "tcc.txt:2: a spelling is 'spelling PREFIX  architectures'"),
    ("sq.txt", "block SQ  limit 8  dims xcc se one", "", "sq.txt:3: a counter stands before its block"),
    ("sq.txt", "  sum  Waves launched.", "  sum", "sq.txt:3: a counter has four columns: name, events, form, text"),
    ("sq.txt", "  sum  ", "  max  ", "sq.txt:3: no form 'max'"),
    ("sq.txt", "all:4", "all=4", "sq.txt:3: 'all=4' is not architectures:event"),
    ("sq.txt", "all:4", "gfx90b:4", "sq.txt:3: no architecture 'gfx90b'"),
    ("sq.txt", "all:4", "all:4 gfx90a:5", "sq.txt:3: gfx90a has two events"),
    ("sq.txt", "launched.", "launched", "sq.txt:3: the description is not a sentence"),
    ("sq.txt", None, "SQ_WAVES  all:6  -  Again.\n", "sq.txt:5: 'SQ_WAVES' is defined at sq.txt:3 already"),
    ("sq.txt", None, "SQ-WAVES  all:6  -  Again.\n", "sq.txt:5: 'SQ-WAVES' is no name"),
    ("derived.txt", "text = Waves.\n", "", "derived.txt:1: [Wavefronts] has no text"),
    ("derived.txt", "text = Waves.", "txt = Waves.", "derived.txt:3: expected [NAME], 'expr [architectures] = ...' or 'text = ...'"),
    ("derived.txt", "SQ_WAVES", "SQ_WAVE", "derived.txt:1: there is no counter 'SQ_WAVE'"),
    ("derived.txt", "reduce(SQ_WAVES,sum)", "2*Wavefronts", "derived.txt:1: 'Wavefronts' refers to itself"),
    ("derived.txt", "expr = reduce(SQ_WAVES,sum)", "expr gfx908 = TCC_HIT",
     "derived.txt:1: [Wavefronts] is to hold on gfx908, which lacks a counter of it"),
    ("derived.txt", "expr = reduce(SQ_WAVES,sum)", "expr = NOWHERE",
     "derived.txt:1: [Wavefronts] can be computed nowhere"),
    ("soft.txt", "se  8", "se  6", "soft.txt:1: block SQ counts 6 at once here, but 8 in data/counters"),
    ("soft.txt", None, "TCC_NEW  all  exact  new\n", "soft.txt:7: data/counters has no counter 'TCC_NEW' of block TCC"),
    ("soft.txt", "TCC_HIT  gfx90a", "TCC_HIT  gfx908,gfx90a", "tcc.txt:5: soft.txt has a row for gfx908, which does not have 'TCC_HIT'"),
    ("soft.txt", "SQ_WAVES  all", "SQ_WAVES  gfx90a+",
     "sq.txt:3: soft.txt has no row for gfx908: exact, modelled, or unsupported with the reason"),
    ("soft.txt", "all  level", "all  exact", "soft.txt:3: data/counters does not agree that 'SQ_LEVEL_WAVES' is a level"),
    ("exceptions.txt", "TCC_HIT", "TCC_HITS", "exceptions.txt:1: the software GPU has no counter 'TCC_HITS'"),
]


def run(generator, files):
    with tempfile.TemporaryDirectory() as tmp:
        for name, text in files.items():
            with open(os.path.join(tmp, name), "w", encoding="utf-8") as f:
                f.write(text)
        names = ["out.c", "soft.txt"] + [n for n in files if n != "soft.txt"]
        done = subprocess.run([sys.executable, "-B", generator] + names, cwd=tmp, text=True,
                              capture_output=True, check=False)
        return done.returncode, done.stderr.rstrip("\n"), os.path.exists(os.path.join(tmp, "out.c"))


def messages(path):
    """The texts given to fail(), as patterns."""
    with open(path, encoding="utf-8") as f:
        tree = ast.parse(f.read())
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "fail":
            text = node.args[1]
            text = (text.left if isinstance(text, ast.BinOp) else text).value
            yield re.sub(r"%[sd]", ".*", re.escape(text).replace(r"\%", "%"))


def main():
    generator = os.path.abspath(sys.argv[1])
    wrong, seen = [], []
    code, text, wrote = run(generator, GOOD)
    if code or text or not wrote:
        wrong.append("the good data is refused: %s" % text)
    for name, old, new, message in CASES:
        files = dict(GOOD)
        files[name] = files[name] + new if old is None else files[name].replace(old, new, 1)
        if "NOWHERE" in new:  # a counter without an architecture cannot be written, so one that needs two
            files["sq.txt"] += "SQ_OLD  gfx908:1  -  Old.\n"
            files["soft.txt"] = files["soft.txt"].replace("block TCC", "SQ_OLD  gfx908  unsupported  old\nblock TCC")
            files[name] = files[name].replace("NOWHERE", "SQ_OLD+TCC_HIT")
        code, text, wrote = run(generator, files)
        seen.append(text)
        if code != 1 or text != message or wrote:
            wrong.append("%s: '%s', not '%s'" % (name, text, message))
    for pattern in messages(generator):
        if not any(re.search(pattern, text) for text in seen):
            wrong.append("no case provokes '%s'" % pattern)
    print("\n".join(wrong) if wrong else "%d messages" % len(CASES))
    sys.exit(bool(wrong))


main()
