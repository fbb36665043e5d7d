#!/usr/bin/env python3
"""Writes library_trace.csv of a command: the name that commands of tools use for `wavescope library-trace`."""
import os
import sys

COMMAND = "wavescope"
try:
    os.execvp(COMMAND, [COMMAND, "library-trace", "--"] + sys.argv[1:])
except OSError as error:
    sys.exit("get_library_trace.py: cannot start %s: %s: put its folder on PATH" % (COMMAND, error.strerror))
