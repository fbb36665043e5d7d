#!/usr/bin/env python3
"""The wrappers around a small HIP 6 and RCCL of our own: lookup, nesting, threads, streams, absence.

    behaviour.py CASE PROGRAM [ARGUMENT...]
"""
import collections
import sys

from harness import DLSYM, HIP, RCCL, STREAMS, Run, check, done, equal

case, command = sys.argv[1], sys.argv[2:]
ALL = "hip-runtime,hip-compiler"


def lookup():
    run = Run(command, ALL, [HIP, DLSYM])
    equal(run.out, "good\n", "output")
    # each round: by handle, and through hipGetProcAddress
    equal(len(run.calls("hipGetDevice")), 6, "calls of hipGetDevice found by name")
    equal([r["ret"] for r in run.calls("hipSetDevice")], [101] * 3, "results of hipSetDevice")
    equal([r.args["symbol"] for r in run.calls("hipGetProcAddress")], ['"hipGetDevice"'] * 3, "text")
    equal([r.line for r in run.of("runtime")], ["runtime 2 version=60000000"], "the runtime")
    # the library's own interface, without the wrappers: the same program, the same output
    equal(Run(command, ALL, []).out, "good\n", "output without wrappers")


def rccl():
    run = Run(command, ALL + ",rccl", [HIP, RCCL, DLSYM])
    equal(run.code, 0, "exit code")
    equal(run.out, "ncclMemFree 2\n", "a function the library does not have")
    names = [r.name for r in run.calls() if r.name.startswith("nccl")]
    equal(names, ["ncclGetVersion", "ncclGetUniqueId", "ncclCommInitRank", "ncclCommInitRank",
                  "ncclCommCount", "ncclGroupStart", "ncclAllReduce", "ncclGroupEnd",
                  "ncclGetErrorString", "ncclCommDestroy"], "RCCL calls")
    reduce, copy = run.one("ncclAllReduce"), run.one("hipMemcpyAsync")
    equal(copy["ancestor"], reduce["corr"], "the copy's ancestor")
    equal(reduce["ancestor"], 0, "the collective's ancestor")
    equal(copy.args["stream"], "stream:1", "the copy's stream")
    equal(reduce.args["stream"], "stream:1", "the collective's stream")
    equal(reduce.args["count"], "4", "count")
    equal([r["ret"] for r in run.calls("ncclCommInitRank")], [4, 0], "results")
    equal(run.calls("ncclCommInitRank")[0].args["commId"], '"' + "ab" * 128 + '"', "the id by value")
    equal({r.field["kind"] for r in run.calls() if r.name.startswith("nccl")}, {"14"}, "kind")
    # asked for alone, HIP is not recorded
    run = Run(command, "rccl", [RCCL, DLSYM])
    equal({r.name[:4] for r in run.calls()}, {"nccl"}, "calls with RCCL alone")


def threads():
    run = Run(command, ALL, [HIP, DLSYM])
    equal(run.out, "good\n", "output")
    n = 32 * 64
    count = collections.Counter(r.name for r in run.calls())
    made = sum(r["ret"] == 0 for r in run.calls("hipStreamCreate"))
    check(made > 0, "streams were made")
    equal(count, {"hipSetDevice": 4 * n, "hipPeekAtLastError": 4 * n, "hipGetLastError": 12 * n,
                  "hipMemcpy": 4 * n, "hipMemcpyAsync": 4 * n, "hipStreamQuery": 4 * n,
                  "hipStreamCreate": 4 * n, "hipStreamCreateWithPriority": 4 * n,
                  "hipStreamSynchronize": made, "hipStreamDestroy": made}, "calls")
    # a handle that comes back is another stream
    used = [r["stream"] for r in run.calls("hipStreamSynchronize")]
    equal(len(set(used)), made, "numbers of streams")
    equal(sorted(r["stream"] for r in run.calls("hipStreamDestroy")), sorted(used), "and of their ends")
    ids = collections.Counter(r["corr"] for r in run.calls())
    check(max(ids.values()) == 1 and min(ids) >= 1, "correlation ids are unique")
    outer = {r["corr"]: r for r in run.calls("hipMemcpy")}
    for r in run.calls("hipMemcpyAsync"):
        if r["ancestor"] not in outer or outer[r["ancestor"]]["tid"] != r["tid"]:
            check(False, f"ancestor of {r.line}")
            break
    # hipStreamPerThread is one stream per thread, however often it is used
    equal(len({r["stream"] for r in run.calls("hipStreamQuery")}), n, "streams of threads")


def streams():
    run = Run(command, ALL + ",kernel", [HIP, DLSYM])
    equal(run.out, "good\n", "output")
    equal([r.line for r in run.of("stream")],
          ['stream 1 flags=0 priority=0 name=""', 'stream 2 flags=1 priority=-1 name=""',
           'stream 3 flags=0 priority=0 name=""', 'stream 4 flags=0 priority=0 name=""',
           'stream 2 flags=1 priority=-1 name="copies"',
           'stream 5 flags=1 priority=-2 name=""'], "streams")
    # 1 is destroyed, its handle comes back as 3; a handle never seen before gets a number, too
    equal([r["stream"] for r in run.calls("hipStreamQuery")], [0, 1, 2, 3, 2, 0, 5], "stream ids")
    equal([(r["stream"], r["ret"]) for r in run.calls("hipStreamDestroy")],
          [(1, 0), (4, 1), (5, 0), (3, 0), (2, 0)], "destruction")
    # only streams wanted: nothing is recorded of HIP, and they are numbered all the same
    run = Run(command, "kernel", [STREAMS, DLSYM])
    equal(run.out, "good\n", "output with the small library")
    equal(len(run.calls()), 0, "calls with the small library")
    equal([r.name for r in run.of("stream")][:3], ["1", "2", "3"], "streams with the small library")
    run = Run(command, ALL, [HIP, DLSYM], flags="group-by-queue")
    equal({r["stream"] for r in run.calls()}, {0}, "stream ids with --group-by-queue")


def forks():
    run = Run(command, ALL + ",kernel", [HIP, DLSYM])
    equal(run.out, "good\n", "output")
    parent = run.one("hipSetDevice")["tid"]
    of = {True: [], False: []}
    for r in run.calls():
        of[r["tid"] == parent].append((r.name, r["stream"]))
    equal(of[True], [("hipStreamCreateWithPriority", 0), ("hipStreamCreate", 0), ("hipStreamQuery", 1),
                     ("hipSetDevice", 0), ("hipGetLastError", 0)], "the parent's calls")
    equal(of[False], [("hipStreamQuery", 1), ("hipStreamCreateWithPriority", 0), ("hipStreamCreate", 0),
                      ("hipStreamQuery", 2)], "the child's calls")
    # each of the two files says what it refers to
    equal(sorted(r.name for r in run.of("stream")), ["1", "1", "2"], "streams of both files")
    equal(len(run.of("runtime")), 2, "both used HIP")


{"lookup": lookup, "forks": forks, "rccl": rccl, "threads": threads, "streams": streams}[case]()
done()
