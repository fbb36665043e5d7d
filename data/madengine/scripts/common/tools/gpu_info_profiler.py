#!/usr/bin/env python3
"""Samples power or VRAM while a command runs: MODE, DEVICE, SAMPLING_RATE, OUTPUT_FILE and DUAL_GCD in the
environment become the options of `wavescope gpu-info`."""
import os
import sys

COMMAND = "wavescope"
OPTIONS = (("MODE", "--mode"), ("DEVICE", "--device"), ("SAMPLING_RATE", "--interval"), ("OUTPUT_FILE", "--output"))

words = [COMMAND, "gpu-info"]
for variable, option in OPTIONS:
    if variable in os.environ:
        words += [option, os.environ[variable]]
if os.environ.get("DUAL_GCD", "").lower() == "true":
    words.append("--dual-gcd")
try:
    os.execvp(COMMAND, words + ["--"] + sys.argv[1:])
except OSError as error:
    sys.exit("gpu_info_profiler.py: cannot start %s: %s: put its folder on PATH" % (COMMAND, error.strerror))
