#!/usr/bin/env python3
"""Every message the table reader and gen_isa.py can print, provoked by a table in bad/.

The first line of each table is the message it must produce, naming the file it pretends to be.
A message in the sources that no table provokes fails the test too.

usage: bad_tables.py SOURCE_DIR BAD_DIR
"""
import ast
import os
import re
import subprocess
import sys
import tempfile


def run(generator, case):
    """The message of one table, and the one it promises."""
    with open(case, encoding="utf-8") as f:
        text = f.read()
    expected = text.split("\n", 1)[0].removeprefix("# ")
    with tempfile.TemporaryDirectory() as tmp:
        name = expected.split(":", 1)[0]
        with open(os.path.join(tmp, name), "w", encoding="utf-8") as f:
            f.write(text)
        done = subprocess.run([sys.executable, "-B", generator, "out.c", name], cwd=tmp, text=True,
                              capture_output=True, check=False)
        wrote = os.path.exists(os.path.join(tmp, "out.c"))
    got = done.stderr.rstrip("\n")
    if done.returncode != 1 or wrote:
        got += f" (exit {done.returncode}, {'with' if wrote else 'without'} output)"
    return got, expected


def messages(path):
    """The texts given to fail() and TableError() in a source file, as patterns."""
    with open(path, encoding="utf-8") as f:
        tree = ast.parse(f.read())
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(
            node.func, "id", "")
        if name not in ("fail", "TableError"):
            continue
        text = node.args[0]
        parts = text.values if isinstance(text, ast.JoinedStr) else [text]
        pattern = "".join(re.escape(p.value) if isinstance(p, ast.Constant) else ".*"
                          for p in parts)
        if re.sub(r"\.\*|\\|:| ", "", pattern):  # not just FILE:LINE: MESSAGE passed on
            yield node.lineno, pattern


def main():
    source, bad = map(os.path.abspath, sys.argv[1:])
    generator = os.path.join(source, "gen_isa.py")
    failures, seen = 0, []
    for name in sorted(os.listdir(bad)):
        got, expected = run(generator, os.path.join(bad, name))
        seen.append(expected)
        if got != expected:
            failures += 1
            print(f"{name}: expected '{expected}'\n  got '{got}'")
    for file in ("isa_table.py", "gen_isa.py"):
        for line, pattern in messages(os.path.join(source, file)):
            if not any(re.search(pattern, message) for message in seen):
                failures += 1
                print(f"{file}:{line}: no table in bad/ provokes '{pattern}'")
    print(f"{len(seen)} tables, {failures} failures")
    sys.exit(failures > 0 or not seen)


if __name__ == "__main__":
    main()
