#!/usr/bin/env python3
"""Fails while the result column of any instruction is '?': nobody has said what it does.

usage: rows_written.py SOURCE_DIR
"""
import os
import sys

sys.path.insert(0, sys.argv[1])
import isa_table  # noqa: E402

rows = isa_table.handler_rows([os.path.join(sys.argv[1], t + ".isa") for t in isa_table.TABLES])
missing = [row for row in rows if row.result == "?"]
for row in missing:
    print(f"{row.path}:{row.line}: {row.mnemonic} has no result")
print(f"{len(rows)} rows, {len(missing)} not written")
sys.exit(bool(missing))
