#!/bin/sh
# rocprofv3_avail_module: what rocprofv3-avail prints, as objects.
. "$WS_SOURCE/tests/python/lib.sh"
need_softgpu
WAVESCOPE_GPU=mi100,mi210
export WAVESCOPE_GPU
cd "$work"
run_tests avail_test.py
