#!/usr/bin/env python3
"""Unpacks the recordings for a test of the models: recorded.py RECORDING.PY TEST"""
import subprocess
import sys
import tempfile

NAMES = ["MI100", "MI200", "MI300A_A1", "MI300X_A1", "MI350"]


def main():
    recording, test = sys.argv[1:]
    with tempfile.TemporaryDirectory() as tmp:
        for name in NAMES:
            subprocess.run([sys.executable, "-B", recording, "unpack", name, f"{tmp}/{name}"], check=True)
        sys.exit(subprocess.run([test, tmp], check=False).returncode)


main()
