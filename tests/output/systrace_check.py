"""What systrace_convert writes, checked one by one.

	systrace_check.py BEHAVIOUR CONVERT
"""
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

from harness import fail, same
from systrace_file import Trace

BASE = 1000000000000
APP = (4711, 4711, "app")
WORKER = (4711, 4712, "worker")


def us(n):
    return BASE + n * 1000


def convert(where, *options, status=0):
    run = subprocess.run([sys.argv[2], where, *options], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, check=False, text=True)
    same(run.returncode, status, f"exit status with {options}: {run.stderr}")
    if status:
        return None, {}, run.stderr
    line, lost = run.stdout.split("\n")[:2]
    counts = {k: int(v) for k, v in (word.split("=") for word in line.split())}
    trace = Trace(where + "/out/perfetto-trace.proto")
    same(counts["bytes"], trace.size_bytes, "bytes in the result")
    same(counts["slices"], len(trace.slices), "slices in the result")
    same(counts["samples"], len(trace.samples), "samples in the result")
    same(counts["values"], sum(len(v) for v in trace.values.values()), "values in the result")
    return trace, counts, lost


def slice_is(trace, name, track, start, end, category, above=None, notes=None, nth=0):
    found = sorted(trace.named(name), key=lambda s: s["start"])
    if len(found) <= nth:
        fail(f"there is no slice {nth} called {name}")
    s = found[nth]
    same((s["track"], s["start"], s["end"], s["category"]),
         (track, us(start), us(end), category), name)
    if above is not None:
        same(s["above"], above, f"{name}: what is around it")
    if notes is not None:
        same(s["notes"], notes, f"{name}: annotations")
    return s


def times(start, end, **more):
    return {"begin_ns": us(start), "end_ns": us(end), **more}


KERNEL = {"stream_id": 2, "queue": 1, "dispatch_id": 1, "kernel_id": 4, "private_segment_size": 16,
          "group_segment_size": 32, "workgroup_size": "(64,2,1)", "grid_size": "(1024,4,1)"}


def check_calls(where):
    trace, counts, lost = convert(where)
    same((counts["lost"], lost), (0, ""), "loss")
    process = [t for t in trace.tracks.values() if t["process"]]
    same(process[0]["process"], (4711, "app", ["GPU metrics: simulated"]), "the process")
    app = slice_is(trace, "app", APP, 0, 1000, "host", [], times(0, 1000))
    slice_is(trace, "step", APP, 50, 240, "user", ["app"],
             times(50, 240, file="train.c", line=12, loss=0.5, delta=-3, phase="warm"))
    launch = slice_is(trace, "hipLaunchKernel", APP, 100, 200, "rocm_hip_api", ["app", "step"],
                      times(100, 200, corr_id=1, stream_id=2, count="77", queue="0xabc"))
    slice_is(trace, "MEMORY_ALLOCATION_ALLOCATE", APP, 120, 130, "rocm_memory_allocation",
             ["app", "step", "hipLaunchKernel"],
             times(120, 130, corr_id=1, allocation_size=4096, address=0x7000))
    copy = slice_is(trace, "hipMemcpyAsync", APP, 210, 230, "rocm_hip_api", ["app", "step"],
                    times(210, 230, corr_id=2))
    slice_is(trace, "hsa_signal_create", APP, 260, 270, "rocm_hsa_api", ["app"])
    slice_is(trace, "forward", APP, 60, 70, "rocm_marker_api", ["app", "step"],
             times(60, 70, corr_id=11))
    # a range of the process, where there are regions: it may overlap with them
    slice_is(trace, "epoch", "Thread 0 Ranges 4711", 80, 600, "rocm_marker_api", [])
    slice_is(trace, "function", APP, 610, 620, "host", ["app"])
    slice_is(trace, "fib", APP, 700, 730, "python", ["app"])
    slice_is(trace, "fib", APP, 710, 720, "python", ["app", "fib"], nth=1)
    same(len(trace.named("step")), 1, "an end of what is not open is ignored")
    # open when the thread ended
    slice_is(trace, "pthread_join", WORKER, 40000, 45000, "pthread", [], times(40000, 45000))
    same(app["flow"], None, "a region has no flow")
    kernel = slice_is(trace, "add(float*, int)", "HIP Activity Stream 2", 250, 400,
                      "rocm_hip_stream", [], times(250, 400, corr_id=1, **KERNEL))
    same(launch["flow"], kernel["flow"], "flow from the call to its kernel")
    moved = slice_is(trace, "MEMORY_COPY_HOST_TO_DEVICE", "HIP Activity Stream 2 (overlap 1)", 300,
                     500, "rocm_hip_stream", [],
                     times(300, 500, corr_id=2, stream_id=2, dst_agent=1, src_agent=0))
    same(copy["flow"], moved["flow"], "flow from the call to its copy")
    if copy["flow"] == launch["flow"] or not copy["flow"]:
        fail("calls share a flow, or have none")
    # work without a stream
    slice_is(trace, "add(float*, int)", "GPU Kernel Dispatch [0] Queue 1", 420, 450,
             "rocm_kernel_dispatch", nth=1)
    slice_is(trace, "MEMORY_COPY_DEVICE_TO_HOST", "GPU Memory Copy to Agent [0] Thread 0", 460, 470,
             "rocm_memory_copy", [], times(460, 470, corr_id=4, stream_id=0, dst_agent=0,
                                           src_agent=1))
    slice_is(trace, "SCRATCH_MEMORY_ALLOC", "GPU Scratch Memory [0] Queue 1", 410, 415,
             "rocm_scratch_memory", [],
             times(410, 415, corr_id=3, stream_id=0, queue=1, allocation_size=8192))
    same(trace.values["GPU SQ_WAVES [0]"], [(us(420), 30.0), (us(450), 0.0)], "counter")
    same(trace.track_named("GPU SQ_WAVES [0]")["category"], "rocm_counter_collection",
         "category of a counter")
    trace, _, _ = convert(where, "queues")
    slice_is(trace, "add(float*, int)", "GPU Kernel Dispatch [0] Queue 1", 250, 400,
             "rocm_kernel_dispatch")
    slice_is(trace, "MEMORY_COPY_HOST_TO_DEVICE", "GPU Memory Copy to Agent [1] Thread 0", 300,
             500, "rocm_memory_copy")


def check_samples(where):
    trace, _, _ = convert(where)
    track, overflow = "Thread 1 (S) 4712", "Thread 1 Overflow (S) 4712"
    outer = "samples [rocprof-sys]"
    # from a period before the first sample, but not from before the thread
    slice_is(trace, outer, track, 5000, 35000, "timer_sampling", [], times(5000, 35000))
    slice_is(trace, "main", track, 5000, 10000, "timer_sampling", [outer],
             times(5000, 10000, file="/bin/app", pc="0x401000", line_address="0x1000"))
    slice_is(trace, "work(int)", track, 5000, 10000, "timer_sampling", [outer, "main"],
             {"file": "/bin/app", "pc": "0x402000", "line_address": "0x2000",
              "lineinfo-0": "work(int)@w.cpp:7"})
    slice_is(trace, "leaf", track, 5000, 10000, "timer_sampling", [outer, "main", "work(int)"],
             times(5000, 10000, file="/bin/app", pc="0x402000", line_address="0x2000",
                   inlined=1, **{"lineinfo-0": "leaf@w.h:3"}))
    slice_is(trace, "train.forward", track, 10000, 20000, "timer_sampling", [outer, "main"],
             times(10000, 20000, file="train.py", **{"lineinfo-0": "train.forward@train.py:20"}),
             nth=0)
    slice_is(trace, "work(int)", track, 20000, 35000, "timer_sampling", [outer, "main"], nth=1)
    same(sorted((s["start"], s["end"]) for s in trace.named("main") if s["track"] == track),
         [(us(5000), us(10000)), (us(10000), us(20000)), (us(20000), us(35000))], "main")
    slice_is(trace, "HW_CPU_CYCLES " + outer, overflow, 15000, 15000, "overflow_sampling", [])
    # the same as profiler samples, outermost frame first
    main = ("main", "/bin/app", 0x1000, "", 0)
    native = [main, ("work(int)", "/bin/app", 0x2000, "w.cpp", 7),
              ("leaf", "/bin/app", 0x2000, "w.h", 3)]
    python = [main, ("train.forward", "[python]", 0, "train.py", 20)]
    same([(s["at"], s["tid"], s["frames"], s["count"]) for s in trace.samples],
         [(us(10000), 4712, native, 1), (us(15000), 4712, python, 1),
          (us(20000), 4712, python, 2), (us(35000), 4712, native, 3)], "profiler samples")
    same({s["pid"] for s in trace.samples}, {4711}, "pid of samples")
    # 0 at the end of the thread; differences in the middle of each interval
    middle, end = (us(15000), us(27500)), us(45000)
    for name, unit, category, values in (
            ("CPU time", "sec", "thread_cpu_time", (0.01, 0.01)),
            ("Peak Memory Usage", "MB", "thread_peak_memory", (3.072, 4.096)),
            ("Context Switches", "", "thread_context_switch", (2, 2)),
            ("Page Faults", "", "thread_page_fault", (1, 3)),
            ("PAPI_TOT_CYC", "", "thread_hardware_counter", (150, 150)),
            ("PAPI_TOT_INS", "", "thread_hardware_counter", (7, 7))):
        name = f"Thread {name} [1] (S)"
        same(trace.values[name], [*zip(middle, values), (end, 0)], name)
        same((trace.track_named(name)["unit"], trace.track_named(name)["category"]),
             (unit, category), name)
    trace, counts, _ = convert(where, "nameless")
    same((counts["samples"], trace.named("main")), (0, []), "samples without names")
    slice_is(trace, "0x1234", APP, 610, 620, "host")


def check_metrics(where):
    trace, _, _ = convert(where)
    same(trace.values["CPU Memory Usage (S)"],
         [(us(5000), 100.5), (us(15000), 200.25), (us(50000), 0.0)], "values of the process")
    same(trace.values["GPU GFX Busy [0] (S)"],
         [(us(5000), 50.0), (us(15000), 12.5), (us(50000), 0.0)], "values of the GPU")
    track = trace.track_named("CPU Memory Usage (S)")
    same((track["unit"], track["category"]), ("MB", "process_page_fault"), "memory")
    track = trace.track_named("GPU GFX Busy [0] (S)")
    same((track["unit"], track["category"]), ("%", "device_busy_gfx"), "busy")


def check_choices(where):
    trace, _, _ = convert(where, "enable=rocm_hip_api,thread_cpu_time,nonsense")
    same({s["category"] for s in trace.slices}, {"rocm_hip_api"}, "enabled slices")
    same(set(trace.values), {"Thread CPU time [1] (S)"}, "enabled values")
    same(trace.samples, [], "samples are not enabled")
    trace, _, _ = convert(where, "disable=rocm_hip_api,timer_sampling,user,process_page_fault,"
                                 "rocm_counter_collection")
    same(trace.named("hipLaunchKernel") + trace.named("step"), [], "disabled slices")
    same([s["at"] for s in trace.samples], [us(15000)], "disabled samples")
    if {"CPU Memory Usage (S)", "GPU SQ_WAVES [0]"} & set(trace.values):
        fail("disabled values are there")
    # what was inside a region that is not there is not lost, nor are its annotations another's
    slice_is(trace, "forward", APP, 60, 70, "rocm_marker_api", ["app"])
    same("loss" in trace.named("app")[0]["notes"], False, "annotations of another region")
    trace, _, _ = convert(where, "plain")
    same([s["name"] for s in trace.slices if s["notes"]], [], "slices with annotations")
    slice_is(trace, "step", APP, 50, 240, "user", ["app"], {})
    trace, _, _ = convert(where, "from=205", "until=715")
    same(trace.named("hipLaunchKernel") + trace.named("app"), [], "what began before")
    slice_is(trace, "hipMemcpyAsync", APP, 210, 230, "rocm_hip_api", [])
    # both begin inside; the inner one ends outside
    slice_is(trace, "fib", APP, 700, 730, "python", [])
    slice_is(trace, "fib", APP, 710, 720, "python", ["fib"], nth=1)


def missing(whole, part):
    """Events that one trace has and the other has not. Frames are of samples, values of readings."""
    def n_events(trace):
        return len([s for s in trace.slices if "sampling" not in s["category"]]) + \
            len(trace.samples) + len(trace.values.get("CPU Memory Usage (S)", [0])) - 1
    return n_events(whole) - n_events(part)


def check_limit(where):
    whole, counts, _ = convert(where, "many")
    same(counts["lost"], 0, "loss without a limit")
    calls = len(whole.named("hsa_signal_create"))
    same(calls, 4001, "calls")
    limit = counts["bytes"] // 4
    trace, less, lost = convert(where, "many", f"max={limit}")
    if not re.fullmatch(rf"the buffer of {limit >> 10} KB is full: the last {less['lost']} events "
                        r"are not in the trace: raise ROCPROFSYS_PERFETTO_BUFFER_SIZE_KB or limit "
                        r"what is collected", lost):
        fail(f"message: {lost}")
    if not limit <= less["bytes"] < limit + 4096:
        fail(f"a limit of {limit} gives {less}")
    same(less["lost"], missing(whole, trace), "lost events")
    # the first ones are there, without a gap
    starts = sorted(s["start"] for s in trace.named("hsa_signal_create"))
    same(starts, sorted(s["start"] for s in whole.named("hsa_signal_create"))[:len(starts)],
         "the first calls")
    trace, less, lost = convert(where, "many", f"max={limit}", "ring")
    if "the first" not in lost or not limit * 3 // 4 < less["bytes"] <= limit:
        fail(f"a ring of {limit} gives {less}: {lost}")
    same(less["lost"], missing(whole, trace), "lost events of a ring")
    starts = sorted(s["start"] for s in trace.named("hsa_signal_create"))
    same(starts, sorted(s["start"] for s in whole.named("hsa_signal_create"))[-len(starts):],
         "the last calls")
    same(len(trace.samples), 2, "samples at the end")
    # what is not wanted is not lost
    some, _, _ = convert(where, "many", "disable=python")
    trace, less, _ = convert(where, "many", "disable=python", f"max={some.size_bytes // 2}")
    same(less["lost"], missing(some, trace), "lost events of some categories")
    trace, less, lost = convert(where, "many", f"max={counts['bytes'] + 1}", "ring")
    same((less["lost"], lost, less["bytes"]), (0, "", counts["bytes"]), "a ring that fits")


def check_failures(where):
    _, _, text = convert(where, "many", "no-space", status=1)
    if "File too large" not in text:
        fail(f"message of a full disk: {text}")
    same(os.listdir(where + "/out"), [], "files that are left")
    os.rmdir(where + "/out")
    with open(where + "/out", "w", encoding="ascii"):
        pass
    _, _, text = convert(where, status=1)
    if "is not a folder" not in text:
        fail(f"message of a path that is none: {text}")


NATIVE = [("main", {"pc": "0x401000", "file": "/bin/app"}, {"line_address": "0x1000", "name": "main"}),
          ("work(int)", {"pc": "0x402000", "file": "/bin/app"},
           {"line_address": "0x2000", "name": "work(int)",
            "inlined": {"name": "work(int)", "location": "w.cpp", "line": "7"}}),
          ("leaf", {"location": "w.h", "line": "3", "inlined": "true"}, {})]
PYTHON = [NATIVE[0],
          ("train.forward", {"file": "train.py"},
           {"name": "train.forward",
            "inlined": {"name": "train.forward", "location": "train.py", "line": "20"}})]


def check_database(where):
    """The CPU side in the rocpd database, row by row."""
    run = subprocess.run([sys.argv[2], where, "database"], stdout=subprocess.PIPE, check=True,
                         text=True)
    for line in run.stdout.splitlines():
        label, seen, written = line.rsplit(" ", 2)
        same(written, seen, f"{label} in the database")
    db = sqlite3.connect(where + "/out/rocpd_results.db")
    same(db.execute("PRAGMA foreign_key_check").fetchall(), [], "foreign keys")
    rows = db.execute("SELECT category, name, tid, start, end, line_info FROM host_regions "
                      "ORDER BY start, end DESC").fetchall()
    line = {"inlined": {"name": "step", "location": "train.c", "line": "12"}}
    same([(*row[:5], json.loads(row[5])) for row in rows],
         [("host", "app", 4711, us(0), us(1000), {}), ("user", "step", 4711, us(50), us(240), line),
          ("host", "function", 4711, us(610), us(620), {}),
          ("python", "fib", 4711, us(700), us(730), {}), ("python", "fib", 4711, us(710), us(720), {}),
          ("pthread", "pthread_join", 4712, us(40000), us(45000), {})], "regions")
    rows = db.execute("SELECT A.name, A.type, A.value FROM host_regions R JOIN rocpd_arg A ON "
                      "A.event_id = R.event_id ORDER BY A.position").fetchall()
    same(rows, [("loss", "double", "0.5"), ("delta", "int64_t", "-3"),
                ("phase", "const char*", "warm")], "annotations")
    # Each frame is an event, a region and a row of the sampling track.
    rows = db.execute("SELECT R.category, T.string, R.tid, R.start, R.end, S.timestamp, R.name, "
                      "R.call_stack, R.line_info FROM regions R JOIN rocpd_sample S ON "
                      "S.event_id = R.event_id JOIN rocpd_track K ON K.id = S.track_id "
                      "JOIN rocpd_string T ON T.id = K.name_id ORDER BY R.event_id").fetchall()
    want = []
    timer, event = "Thread 1 (S) 4712", "Thread 1 Overflow (S) 4712"
    for kind, track, start, end, stack in (
            ("timer_sampling", timer, 5000, 10000, NATIVE),
            ("overflow_sampling", event, 15000, 15000, PYTHON),
            ("timer_sampling", timer, 10000, 20000, PYTHON),
            ("timer_sampling", timer, 20000, 35000, NATIVE)):
        for name, call_stack, lines in stack:
            want.append((kind, track, 4712, us(start), us(end), us(start), name,
                         {"name": name, **call_stack}, lines))
    outer = "samples [rocprof-sys]"
    want.append(("timer_sampling", timer, 4712, us(5000), us(35000), us(5000), outer, {}, {}))
    want.append(("overflow_sampling", event, 4712, us(15000), us(15000), us(15000),
                 "HW_CPU_CYCLES " + outer, {}, {}))
    same([(*row[:7], json.loads(row[7]), json.loads(row[8])) for row in rows], want, "samples")
    rows = db.execute("SELECT category, name, target_arch, agent_type_index, timestamp, value, "
                      "units, quality FROM metrics ORDER BY timestamp, id").fetchall()
    page = "process_page_fault", "CPU Memory Usage (S)", "CPU", 0
    busy = "device_busy_gfx", "GPU GFX Busy [0] (S)", "GPU", 0
    want = [(*page, us(5000), 100.5, "MB", ""), (*busy, us(5000), 50.0, "%", "simulated"),
            (*page, us(15000), 200.25, "MB", ""), (*busy, us(15000), 12.5, "%", "simulated")]
    for at, values in ((15000, (0.01, 3.072, 2, 1, 150, 7)), (27500, (0.01, 4.096, 2, 3, 150, 7))):
        for (name, unit, category), value in zip((
                ("CPU time", "sec", "thread_cpu_time"),
                ("Peak Memory Usage", "MB", "thread_peak_memory"),
                ("Context Switches", "", "thread_context_switch"),
                ("Page Faults", "", "thread_page_fault"),
                ("PAPI_TOT_CYC", "", "thread_hardware_counter"),
                ("PAPI_TOT_INS", "", "thread_hardware_counter")), values):
            want.append((category, f"Thread {name} [1] (S)", "CPU", 0, us(at), value, unit, ""))
    same(rows, want, "metrics")
    # A sampled frame is no call.
    same([row for row in db.execute("SELECT name FROM top") if row[0] in ("main", "leaf", outer)], [],
         "frames among the calls")
    db.close()
    run = subprocess.run([sys.argv[2], where, "database", "nameless"], stdout=subprocess.PIPE,
                         check=True, text=True)
    if "call-stack samples 4 0\n" not in run.stdout:
        fail("samples without names are not written, and that is not counted")


with tempfile.TemporaryDirectory() as folder:
    globals()["check_" + sys.argv[1]](folder)
