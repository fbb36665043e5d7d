#!/usr/bin/env python3
"""The generator refuses each wrong table in bad/ with the message in the file's first line."""
import glob
import os
import subprocess
import sys
import tempfile

generator, folder = sys.argv[1:]
good = {e: os.path.join(folder, "good." + e) for e in ("abi", "tbl")}
wrong = sorted(set(glob.glob(os.path.join(folder, "*.abi")) + glob.glob(os.path.join(folder, "*.tbl")))
               - set(good.values()))
failed = len(wrong) < 8
with tempfile.TemporaryDirectory() as tmp:
    for path in [None] + wrong:
        use = dict(good)
        message = ""
        if path:
            use[path.rsplit(".", 1)[1]] = path
            message = open(path).readline().lstrip("# ").strip()
        p = subprocess.run([sys.executable, generator, "wrap", "--name", "x", "--base", "0", use["abi"],
                            use["tbl"], os.path.join(tmp, "out.c")], capture_output=True, text=True)
        if (p.returncode != 0) != bool(path) or message not in p.stderr:
            print(f"{path}: exit {p.returncode}, {p.stderr!r}, expected {message!r}")
            failed = True
sys.exit(1 if failed else 0)
