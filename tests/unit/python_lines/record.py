#!/usr/bin/env python3
"""Prints line tables of this interpreter, and the lines that it finds in them itself.

    record.py SAMPLE              print (recorded.txt is the output of 3.9 to 3.13)
    record.py SAMPLE PROGRAM      check that PROGRAM finds the same lines

    code VERSION FIRST_LINE TABLE
    INSTRUCTION LINE              one for each; the line is that of the code object if it has none
"""
import dis
import subprocess
import sys
import types


def lines(code):
    """Of every instruction, found by the interpreter."""
    n = len(code.co_code)
    found = [code.co_firstlineno] * (n // 2)
    if sys.version_info >= (3, 10):
        for start, end, line in code.co_lines():
            for at in range(start, min(end, n), 2):
                found[at // 2] = line if line is not None else code.co_firstlineno
    else:
        starts = list(dis.findlinestarts(code))
        for i, (start, line) in enumerate(starts):
            end = starts[i + 1][0] if i + 1 < len(starts) else n
            for at in range(start, end, 2):
                found[at // 2] = line
    return found


def record(code, out):
    table = code.co_linetable if sys.version_info >= (3, 10) else code.co_lnotab
    out.append("code 0x%02x%02x %d %s" % (*sys.version_info[:2], code.co_firstlineno, table.hex()))
    out.extend("%d %d" % (i * 2, line) for i, line in enumerate(lines(code)))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            record(constant, out)


def main(sample, program=None):
    out = []
    with open(sample, encoding="utf-8") as f:
        record(compile(f.read(), "sample.py", "exec"), out)
    text = "\n".join(out) + "\n"
    if not program:
        sys.stdout.write(text)
        return 0
    if sys.version_info < (3, 9):
        print("SKIP: Python 3.9 or later is needed")
        return 77
    return subprocess.run([program, "/dev/stdin"], input=text, text=True).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
