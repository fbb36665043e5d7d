"""What every reader of a format needs: the files, the events they must say, comparing."""
import collections
import json
import shutil
import subprocess
import sys

API = ["HSA_API", "HIP_API", "MARKER_API", "RCCL_API", "ROCDECODE_API", "ROCJPEG_API"]
CATEGORY = {d: d.lower() for d in API + ["KERNEL_DISPATCH", "MEMORY_COPY"]}
COPY_OPS = ["NONE", "HOST_TO_HOST", "HOST_TO_DEVICE", "DEVICE_TO_HOST", "DEVICE_TO_DEVICE"]
COUNTERS = {11: "SQ_WAVES", 12: "GRBM_COUNT"}
# node id to (logical, type, per type), as synth.c makes them
AGENTS = {0: (0, "CPU", 0), 2: (1, "GPU", 0), 3: (2, "GPU", 1)}


skipped_parts = []  # a test with one counts as skipped


def can_run(program):
    """Whether the part of the test that needs a program can run."""
    if not shutil.which(program) and program not in skipped_parts:
        skipped_parts.append(program)
        print(f"SKIP: {program} is not installed")
    return program not in skipped_parts


def fail(text):
    sys.exit("FAILED: " + text)


def same(a, b, what):
    if a != b:
        fail(f"{what}: {a!r} is not {b!r}")


def same_rows(a, b, what):
    """Equal as multisets; the first difference is shown."""
    a, b = collections.Counter(a), collections.Counter(b)
    for row in (a - b):
        fail(f"{what}: the file has, and the trace has not: {row!r}")
    for row in (b - a):
        fail(f"{what}: the trace has, and the file has not: {row!r}")


def convert(program, where, formats, *options, status=0, env=None):
    run = subprocess.run([program, where, formats, *options], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, env=env, check=False)
    if run.returncode != status:
        fail(f"convert {formats} {options} exited with {run.returncode}: {run.stderr.decode()}")
    events = [json.loads(line) for line in run.stdout.decode().splitlines()]
    if not events and "quiet" not in options:
        fail(f"convert {formats} {options} says nothing that could be compared")
    for ev in events:
        ev["raw"] = bytes.fromhex(ev["name"])
        ev["name"] = ev["raw"].decode("utf-8", "surrogateescape")
    return events, run.stderr.decode("utf-8", "replace")


def of(events, domain):
    if domain == "COUNTER_COLLECTION":
        return [ev for ev in events if ev.get("values")]
    return [ev for ev in events if ev["domain"] == domain]


def sums(ev):
    total = collections.OrderedDict()
    for counter, value in sorted(ev["values"], key=lambda v: v[0]):
        total[counter] = total.get(counter, 0.0) + value
    return total


def shown_name(ev, rename):
    if "dispatch" in ev and not rename:
        return ev["formatted"]
    return ev["name"]
