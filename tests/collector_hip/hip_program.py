#!/usr/bin/env python3
"""A HIP program and a Python program that uses HIP through ctypes, on the software GPU.

    hip_program.py CASE PROGRAM [ARGUMENT...]
"""
import os
import subprocess
import sys

from harness import DLSYM, HIP, ROCTX, RUN, STREAMS, Run, check, done, equal

case, command = sys.argv[1], sys.argv[2:]
if command[0].endswith(".py"):
    command.insert(0, sys.executable)
ALL = "hip-runtime,hip-compiler"

bare = subprocess.run([RUN, "run", "--gpu", "mi210", "--"] + command, capture_output=True, text=True,
                      timeout=100)


def compiled():
    equal(bare.returncode, 3, f"exit code without us {bare.stdout} {bare.stderr}")
    run = Run(command, ALL, [HIP, DLSYM], gpu="mi210")
    equal((run.code, run.out), (3, bare.stdout), "exit code and output")
    equal([r.name for r in run.calls() if r["tid"] == run.one("hipGetDeviceCount")["tid"]], [
        "__hipRegisterFatBinary", "__hipRegisterFunction", "hipGetDeviceCount", "hipGetDeviceProperties",
        "hipMalloc", "hipStreamCreate", "hipEventCreate", "hipEventCreate", "hipEventRecord",
        "__hipPushCallConfiguration", "__hipPopCallConfiguration", "hipLaunchKernel", "hipGetLastError",
        "hipEventRecord", "hipMemcpyAsync", "hipStreamSynchronize", "hipEventElapsedTime", "hipSetDevice",
        "hipPeekAtLastError", "hipGetLastError", "hipGetLastError", "hipFree", "hipGetLastError",
        "hipGetErrorName", "hipGetErrorString", "hipMalloc3D", "hipMemset3D", "hipModuleLoad",
        "hipGetLastError", "hipFree", "hipFree", "hipEventDestroy", "hipEventDestroy", "hipStreamDestroy",
        "__hipUnregisterFatBinary"], "calls of the main thread, in order")
    worker = {r["tid"] for r in run.calls()} - {run.one("hipGetDeviceCount")["tid"]}
    equal(len(worker), 1, "threads besides the main one")
    equal([r.name for r in run.calls() if r["tid"] in worker], [
        "hipGetLastError", "hipStreamCreateWithFlags", "__hipPushCallConfiguration",
        "__hipPopCallConfiguration", "hipLaunchKernel", "hipGetLastError", "hipStreamSynchronize",
        "hipStreamDestroy"], "calls of the other thread")
    corr = [r["corr"] for r in run.calls()]
    equal(len(set(corr)), len(corr), "correlation ids are unique")
    launches = run.calls("hipLaunchKernel")
    equal([r["stream"] for r in launches], [1, 2], "streams of the launches")
    equal([(r.args["numBlocks"], r.args["dimBlocks"]) for r in launches], [("{2,1,1}", "{64,1,1}")] * 2,
          "grids")
    equal(len({r.args["function_address"] for r in launches}), 1, "one kernel")
    copy = run.one("hipMemcpyAsync")
    equal((copy.args["sizeBytes"], copy.args["kind"], copy.args["stream"]), ("512", "2", "stream:1"), "copy")
    equal(run.one("hipSetDevice")["ret"], 101, "the failing call's result")
    equal(run.one("hipMalloc3D").args["extent"], '"{depth=2, height=4, width=64}"', "a struct by value")
    check(run.one("hipMemset3D").args["pitchedDevPtr"].startswith('"{ysize=4, xsize=64, pitch='),
          run.one("hipMemset3D").line)
    equal(run.one("hipModuleLoad").args["fname"], '"/nowhere/at all.co"', "text")
    equal([r.line for r in run.of("stream")], ['stream 1 flags=0 priority=0 name=""',
                                               'stream 2 flags=1 priority=0 name=""'], "streams")
    equal([r.line for r in run.of("host_function")], ["host_function 1 _Z4fillPii"], "host functions")

    # each half alone
    run = Run(command, "hip-compiler", [HIP, DLSYM], gpu="mi210")
    equal({r.name[:5] for r in run.calls()}, {"__hip"}, "the compiler's functions alone")
    run = Run(command, "hip-runtime", [HIP, DLSYM], gpu="mi210")
    equal({r.name[:3] for r in run.calls()}, {"hip"}, "the runtime's functions alone")

    # GPU work carries the id of the call that caused it, and its stream
    run = Run(command, ALL + ",kernel,memory-copy", [HIP, DLSYM], gpu="mi210")
    launches = {r["corr"]: r for r in run.calls("hipLaunchKernel")}
    caused = [d for d in run.of("dispatch") if d["corr"] in launches]
    equal(sorted((d["stream"], d["grid"]) for d in caused), [(1, 128), (2, 128)], "dispatches of launches")
    for d in caused:
        equal((d["stream"], d["tid"]), (launches[d["corr"]]["stream"], launches[d["corr"]]["tid"]), d.line)
    copies = [c for c in run.of("copy") if c["corr"] == run.one("hipMemcpyAsync")["corr"]]
    equal([(c["stream"], c["bytes"]) for c in copies], [(1, 512)], "copies of hipMemcpyAsync")

    # streams and kernels without the calls
    run = Run(command, "kernel", [STREAMS, DLSYM], gpu="mi210")
    equal(sorted(d["stream"] for d in run.of("dispatch") if d["grid"] == 128), [1, 2], "streams of kernels")
    equal((run.code, run.out), (3, bare.stdout), "exit code and output with the small library")
    equal(run.calls(), [], "calls with the small library")
    equal([r.name for r in run.of("stream")], ["1", "2"], "streams with the small library")
    equal(len(run.of("host_function")), 1, "host functions with the small library")


def python():
    equal(bare.returncode, 0, f"exit code without us {bare.stdout} {bare.stderr}")
    run = Run(command, ALL, [HIP, DLSYM], gpu="mi210")
    equal((run.code, run.out), (0, bare.stdout), f"exit code and output {run.err}")
    equal([r.name for r in run.calls()], [
        "hipGetDeviceCount", "hipMalloc", "hipStreamCreate", "hipMemsetAsync", "hipStreamSynchronize",
        "hipMemcpy", "hipSetDevice", "hipGetLastError", "hipGetLastError", "hipStreamDestroy", "hipFree"],
        "calls")
    fill = run.one("hipMemsetAsync")
    equal((fill["stream"], fill.args["value"], fill.args["sizeBytes"]), (1, "7", "4096"), "arguments")
    equal([r["ret"] for r in run.calls("hipGetLastError")], [101, 0], "last errors")
    # opened by its plain name as well, and in a private scope
    for how in ("libamdhip64.so.5", "global"):
        run = Run(command + [how], ALL, [HIP, DLSYM], gpu="mi210")
        equal(len(run.calls()), 11, f"calls, opened as {how}")


def renamed():
    run = Run(command, ALL + ",kernel,marker", [HIP, ROCTX, DLSYM], flags="kernel-rename", gpu="mi210")
    equal(run.code, 0, f"exit code {run.err}")
    names = {r.name: r.text for r in run.of("external")}
    work = sorted(run.of("dispatch"), key=lambda d: int(d.name))
    by_call = {r["corr"]: r.args["value"] for r in run.calls("hipMemset")}
    equal([(by_call[d["corr"]], names.get(d.field["external"])) for d in work],
          [("1", None), ("2", "fill"), ("3", "step"), ("6", "phase"), ("7", "inner"), ("8", "phase"),
           ("5", None), ("9", "rest")], "kernels and the ranges or marks they are named by")
    equal(sorted(by_call.values()), ["1", "2", "3", "5", "6", "7", "8", "9"], "calls, without the paused one")


{"renamed": renamed, "compiled": compiled, "python": python}[case]()
done()
