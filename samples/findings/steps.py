#!/usr/bin/env python3
"""A loop of GPU work driven by Python: `slow` computes on the host between steps, `fast` before them.

    rocprofv3 --sys-trace --keep-captures -d DIR -- python3 steps.py slow
    wavescope advise DIR
"""
import ctypes
import sys

STEPS = 16
BYTES = 64 << 10


def check(status):
    if status:
        sys.exit("steps.py: a HIP call failed with %d" % status)


def prepare():
    """What a data loader does to a batch."""
    return sum(i * i % 7 for i in range(60000))


def main():
    slow = sys.argv[1:] == ["slow"]
    if not slow and sys.argv[1:] != ["fast"]:
        sys.exit("usage: steps.py slow|fast")
    hip = ctypes.CDLL(find_hip())
    data = ctypes.c_void_p()
    check(hip.hipMalloc(ctypes.byref(data), ctypes.c_size_t(BYTES)))
    batches = [prepare() for _ in range(STEPS)] if not slow else []
    for step in range(STEPS):
        if slow:
            batches.append(prepare())
        check(hip.hipMemsetAsync(data, step, ctypes.c_size_t(BYTES), None))
        if slow:
            check(hip.hipDeviceSynchronize())
    check(hip.hipDeviceSynchronize())
    check(hip.hipFree(data))
    print("PASS", sum(batches))


def find_hip():
    import ctypes.util
    return ctypes.util.find_library("amdhip64") or "libamdhip64.so"


if __name__ == "__main__":
    main()
