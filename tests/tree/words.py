#!/usr/bin/env python3
"""Finds idioms in text that users and new developers read.

    words.py ROOT

Checks the pages in docs/, READMEs and NEWS, the string literals of all C sources outside tests/,
and the comments of the headers of the folders in HEADERS. Each row of IDIOMS is a pattern, the
words to use instead, and a text that the pattern must find, so that a broken pattern fails, too.
"""
import re
import sys

from tree import read, sources

IDIOMS = [
    (r"how-manieth", "ordinal", "the how-manieth dispatch"),
    (r"\b(is|are|was|were|not|can|none) (to )?be had\b", "available, supported", "is not to be had here"),
    (r"\bhad by\b", "collected by", "counters had by replay"),
    (r"\b(told|tells?|telling) of\b", "reported, reports", "told of the kernel"),
    (r"\bmend(s|ed|ing)?\b", "fix", "mended"),
    (r"\bthe house\b|\bground floor\b", "architecture, common code", "The house"),
    (r"\b(of|this|every|each|the) rooms?\b(?! (for|to|in|on|it|they))", "module, space", "every room may"),
    (r"\bruns already\b", "running process", "a program that runs already"),
    (r"\basked for\b", "requested", "was asked for"),
    (r"\bcomes? to pass\b", "happens", "comes to pass"),
    (r"\bsomebody else's\b", "the profiled program's", "somebody else's process"),
    (r"\bin the air\b", "in flight", "kernels in the air"),
    (r"\bfor want of\b", "for lack of", "for want of room"),
    (r"\bits own, not hardware's\b", "simulated", "its own, not hardware's"),
    (r"\bsaid goodbye\b", "closed", "said goodbye"),
    (r"\b(goes|gone|go) on with(out)?\b", "continues", "goes on without"),
    (r"\banew\b", "again", "measures anew"),
    (r"\bmay tell why\b", "checks why", "may tell why"),
    (r"\bis no (number|option|level|name|pass|workload|metric|field|dimension|link)\b", "is not a", "is no number"),
]

HEADERS = ["base", "capture", "trace", "launch", "collector", "counters", "code", "profile", "output", "gpu", "rocpd",
           "workload", "analysis", "report", "cmd", "programs", "softgpu"]
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
MIN_STRINGS, MIN_PAGES, MIN_COMMENTS = 3000, 20, 500


def literals(text):
    """(line, text) of string literals; adjacent ones are one."""
    found, end = [], None
    for m in TOKEN.finditer(text):
        if not m.group().startswith('"'):
            continue
        if end is not None and not text[end:m.start()].strip():
            found[-1][1] += m.group()[1:-1]
        else:
            found.append([text.count("\n", 0, m.start()) + 1, m.group()[1:-1]])
        end = m.end()
    return found


def comments(text):
    """(line, text) of comments, without the stars at the beginnings of lines."""
    return [(text.count("\n", 0, m.start()) + 1, re.sub(r"\s*\n\s*\*?\s*", " ", m.group()))
            for m in TOKEN.finditer(text) if m.group().startswith("/")]


def main(root):
    patterns = [(re.compile(p, re.I), better, sample) for p, better, sample in IDIOMS]
    for pattern, _, sample in patterns:
        if not pattern.search(sample):
            sys.exit(f"words: '{pattern.pattern}' does not find '{sample}'")

    texts, n = [], {"strings": 0, "pages": 0, "comments": 0}
    for path in sources(root, "docs/*.md", "docs/*/*.md", "*README.md", "CONTRIBUTING.md", "NEWS"):
        n["pages"] += 1
        for number, line in enumerate(read(root, path).splitlines(), 1):
            texts.append((path, number, re.sub(r"`[^`]*`", "", line)))
    for path in sources(root, "*.c", "*.h"):
        if path.startswith("tests/"):
            continue
        text = read(root, path)
        for number, line in literals(text):
            n["strings"] += 1
            texts.append((path, number, line))
        if path.endswith(".h") and path.split("/")[0] in HEADERS:
            for number, line in comments(text):
                n["comments"] += 1
                texts.append((path, number, line))
    if n["strings"] < MIN_STRINGS or n["pages"] < MIN_PAGES or n["comments"] < MIN_COMMENTS:
        sys.exit(f"words: too little text was found to check: {n}")

    n_bad = 0
    for path, number, line in texts:
        for pattern, better, _ in patterns:
            m = pattern.search(line)
            if m:
                print(f"{path}:{number}: '{m.group()}': use: {better}")
                n_bad += 1
    print(f"words: {n_bad} idioms in {n['pages']} pages, {n['strings']} strings, "
          f"{n['comments']} comments")
    return n_bad != 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
