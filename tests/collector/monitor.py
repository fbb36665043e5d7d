"""Metrics over time: what the collector reads, against what the program reads of itself.

	monitor.py BUILD BEHAVIOUR
"""
import collections
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

BUILD, BEHAVIOUR = sys.argv[1:3]
LIBRARY = BUILD + "/lib/libwavescope-collector.so"
PROGRAM = BUILD + "/tests/collector/monitor-program"
PROCESS_NAMES = {
    "CPU Memory Usage (S)": ("MB", "process_page_fault"),
    "CPU Virtual Memory Usage (S)": ("MB", "process_virtual_memory"),
    "CPU Peak Memory (S)": ("MB", "process_memory_hwm"),
    "CPU Context Switches (S)": ("", "process_context_switch"),
    "CPU Page Faults (S)": ("", "process_page_fault"),
    "CPU User Time (S)": ("sec", "process_user_cpu_time"),
    "CPU Kernel Time (S)": ("sec", "process_kernel_cpu_time"),
}
Value = collections.namedtuple("Value", "at name unit category device simulated value")


def fail(text):
    sys.exit("FAILED: " + text)


def skip(text):
    print("SKIP: " + text)
    sys.exit(77)


def same(a, b, what):
    if a != b:
        fail(f"{what}: {a!r} is not {b!r}")


def near(value, expected, tolerance, what):
    if abs(value - expected) > tolerance:
        fail(f"{what}: {value} is not near {expected}")


class Run:
    """One run of a program: its lines, and its values by pid and name."""

    def __init__(self, *command, what="process", period_ms=10, duration_ms=0, delay_ms=0, more="",
                 env=None, status=0):
        self.folder = tempfile.mkdtemp()
        try:
            self.collect(command, what, (period_ms, duration_ms, delay_ms), more, env or {},
                         status)
        finally:
            shutil.rmtree(self.folder)

    def collect(self, command, what, times, more, env, status):
        times = ":".join(str(ms * 1000000) for ms in times)
        text = subprocess.run(["ldd", LIBRARY], stdout=subprocess.PIPE, text=True, check=True).stdout
        preload = re.findall(r"=> (\S*lib[at]san\S*)", text) + [LIBRARY]
        request = (f"1;dir={self.folder};services=metrics,marker{more};monitor={times};"
                   f"monitor-what={what};monitor-cpus=all;monitor-gpus=all")
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, check=False, timeout=60, env={
                                 **os.environ, "WAVESCOPE_COLLECT": request,
                                 "LD_PRELOAD": ":".join(preload), **env})
        same((run.returncode, run.stderr), (status, ""), f"exit code and messages of {command}")
        self.lines = [line.split() for line in run.stdout.splitlines()]
        self.captures = sorted(os.listdir(self.folder))
        self.values = collections.defaultdict(lambda: collections.defaultdict(list))
        self.notes, self.ledger, self.processes = [], {}, {}
        if not self.captures:
            return
        dump = subprocess.run([BUILD + "/tests/collector/monitor-values",
                               *(f"{self.folder}/{name}" for name in self.captures)],
                              stdout=subprocess.PIPE, text=True, check=True).stdout
        for line in dump.splitlines():
            kind, pid, *cells = line.split("\t")
            pid = int(pid)
            if kind == "VALUE":
                at, name, unit, category, device, simulated, value = cells
                self.values[pid][name].append(Value(int(at), name, unit, category, int(device),
                                                    int(simulated), float(value)))
            elif kind == "NOTE":
                self.notes.append(cells[0])
            elif kind == "LEDGER":
                self.ledger[pid] = [int(cell) for cell in cells]
            else:
                self.processes[pid] = [int(cell) for cell in cells]

    def line(self, word):
        return next(line for line in self.lines if line[0] == word)

    def time(self, word):
        return int(self.line(word)[1])

    def of(self, name):
        same(len(self.values), 1, "processes with values")
        return next(iter(self.values.values()))[name]

    def between(self, name, first, last):
        found = [v for v in self.of(name) if self.time(first) <= v.at <= self.time(last)]
        if not found:
            fail(f"no value of {name} between {first} and {last}")
        return found


def check_memory():
    run = Run(PROGRAM, "memory")
    for name, (unit, category) in PROCESS_NAMES.items():
        same({(v.unit, v.category, v.device, v.simulated) for v in run.of(name)},
             {(unit, category, -1, 0)}, name)
    columns = ("CPU Memory Usage (S)", 2, 1e6), ("CPU Virtual Memory Usage (S)", 3, 1e6), \
        ("CPU Peak Memory (S)", 4, 1e6)
    for name, column, unit in columns:
        for value in run.between(name, "full", "still-full"):
            near(value.value, int(run.line("full")[column]) / unit, 1, f"{name}, 300 MB in use")
    freed = int(run.line("freed")[2]) / 1e6
    for value in run.between("CPU Memory Usage (S)", "freed", "end"):
        near(value.value, freed, 2, "resident memory after the release")
    same(run.of("CPU Peak Memory (S)")[-1].value > freed + 300, True, "the peak stays")
    faults = run.between("CPU Page Faults (S)", "full", "still-full")[0].value
    near(faults, int(run.line("full")[6]), 60, "page faults")
    if faults < 76800 and int(run.line("full")[6]) > 76800:
        fail(f"{faults} faults for 76800 pages")
    # one thread: ours is none of the program's
    same(next(iter(run.processes.values())), [1, 1], "threads of the process, and its end")


def check_switches():
    run = Run(PROGRAM, "switches", what="process,io")
    done = run.line("done")
    for name, column, unit, tolerance in (("CPU Context Switches (S)", 5, 1, 60),
                                          ("CPU User Time (S)", 7, 1e6, 0.05),
                                          ("CPU Kernel Time (S)", 8, 1e6, 0.05),
                                          ("CPU I/O Read (S)", 9, 1e6, 0.3)):
        near(run.between(name, "done", "stop")[0].value, int(done[column]) / unit, tolerance, name)
    near(run.of("CPU I/O Read (S)")[-1].value - run.of("CPU I/O Read (S)")[0].value, 67.1, 0.5,
         "64 blocks that were read")
    same({(v.unit, v.category) for v in run.of("CPU Storage Written (S)")}, {("MB", "process_io")},
         "written to storage")
    for name, values in next(iter(run.values.values())).items():
        if name not in ("CPU Memory Usage (S)", "CPU Virtual Memory Usage (S)") and \
                [v.value for v in values] != sorted(v.value for v in values):
            fail(f"{name} is a total, and falls")


def check_rate():
    run = Run(PROGRAM, "sleep", "600", period_ms=20)
    times = [v.at for v in run.of("CPU Memory Usage (S)")]
    # one for each period, the first, and one at the end; on a busy machine it takes longer, with fewer, and the
    # first may come late
    span_ms = (times[-1] - min(times[0], run.time("start"))) / 1e6
    if not 14 <= len(times) <= span_ms / 20 + 3:
        fail(f"{len(times)} readings in {span_ms} of 600 ms, one each 20 ms")
    steps = sorted(b - a for a, b in zip(times, times[1:]))
    near(steps[len(steps) // 2], 20e6, 5e6, "the usual time between two readings")
    # not before the delay, not after the duration
    run = Run(PROGRAM, "sleep", "400", period_ms=10, delay_ms=100, duration_ms=150)
    times = [v.at - run.time("start") for v in run.of("CPU Memory Usage (S)")]
    if times[0] < 90e6 or times[0] > 250e6:
        fail(f"the first reading is {times[0] / 1e6} ms after the start")
    if times[-1] - times[0] > 165e6 or times[-1] - times[0] < 50e6:
        fail(f"readings during {(times[-1] - times[0]) / 1e6} ms instead of 150")
    # a program that is shorter than a period has a first and a last value
    run = Run(PROGRAM, "sleep", "250", period_ms=10000)
    same(len(run.of("CPU Memory Usage (S)")), 2, "readings of a short program")
    # a capture is opened in time or not at all: here it is being opened when the program ends
    for _ in range(10):
        run = Run(PROGRAM, "sleep", "100", period_ms=10000)
        if run.captures and len(run.of("CPU Memory Usage (S)")) not in (1, 2):
            fail("a capture without values")
    # programs that a shell starts
    same(Run("/bin/sh", "-c", "true; /bin/true; exec /bin/true").captures, [], "captures of true")
    run = Run(PROGRAM, "mark", period_ms=1)
    same((len(run.captures), next(iter(run.ledger.values()))[0]), (1, 0),
         "readings of a program that records something else, and is short")
    same(Run(PROGRAM, "sleep", "250", what="vcn_activity", more=";flags=softgpu").captures, [],
         "captures without values")
    same(Run(PROGRAM, "sleep", "150", period_ms=0).captures, [], "captures without a period")


def check_cpus():
    run = Run(PROGRAM, "burn", "500", what="cpu_freq,cpu_load", period_ms=50)
    names = set(next(iter(run.values.values())))
    loads = {n for n in names if n.startswith("CPU Load")}
    same(loads, {f"CPU Load [{i}] (S)" for i in range(os.cpu_count())}, "loads")
    values = [v for v in run.of("CPU Load [0] (S)") if v.at < run.time("burnt")]
    same({(v.unit, v.category, v.device) for v in values}, {("%", "cpu_load", 0)}, "load")
    if not all(0 <= v.value <= 100 for v in values) or \
            sorted(v.value for v in values)[len(values) // 2] < 80:
        fail(f"load of a CPU that is busy: {[v.value for v in values]}")
    with open("/proc/cpuinfo", encoding="ascii") as f:
        clocks = [float(mhz) for mhz in re.findall(r"cpu MHz\s*: (\S+)", f.read())]
    if not clocks:
        skip("/proc/cpuinfo has no frequencies")
    same({n for n in names if n.startswith("CPU Freq")},
         {f"CPU Frequency [{i}] (S)" for i in range(len(clocks))}, "frequencies")
    value = run.of("CPU Frequency [1] (S)")[-1] if len(clocks) > 1 else \
        run.of("CPU Frequency [0] (S)")[-1]
    same((value.unit, value.category, value.device), ("MHz", "cpu_frequency", value.device),
         "frequency")
    near(value.value, clocks[value.device], 0.5 * clocks[value.device], "frequency")


def check_hurt():
    run = Run(PROGRAM, "close")
    if len(run.between("CPU Memory Usage (S)", "closed", "stop")) < 5:
        fail("readings end when the program closes all descriptors")
    if len(run.between("CPU Memory Usage (S)", "start", "closed")) < 2:
        fail("there are no readings before that")
    run = Run(PROGRAM, "sandbox")
    at = run.time("sandbox")
    times = [v.at for v in run.of("CPU Memory Usage (S)")]
    if len([t for t in times if t < at]) < 2 or max(times) > at + 20e6:
        fail(f"readings in a sandbox: {times}, from {at} on")
    same(run.notes, ["metrics: end here: the program is about to restrict its system calls"],
         "notes")
    run = Run(PROGRAM, "kill", "300", status=-signal.SIGKILL)
    if len(run.of("CPU Memory Usage (S)")) < 7:
        fail("a program that is killed loses its values")
    same(next(iter(run.processes.values()))[1], 0, "the end of a killed process")


def check_fork():
    run = Run(PROGRAM, "fork")
    same(len(run.captures), 2, "captures: the parent's and the child's, not that of true")
    child = int(run.line("child")[1])
    times = [v.at for v in run.values[child]["CPU Memory Usage (S)"]]
    if len(times) < 8 or times[0] < int(run.line("child")[2]):
        fail(f"readings of the child: {times}")
    parent = next(pid for pid in run.values if pid != child)
    if run.values[child]["CPU User Time (S)"][0].value > \
            run.values[parent]["CPU User Time (S)"][-1].value + 0.05:
        fail("the child's values are the parent's")
    same(len(Run(PROGRAM, "fork", more=";flags=no-children").captures), 1,
         "captures without children")


def check_pause():
    run = Run(PROGRAM, "pause")
    inside = [v.at for v in run.of("CPU Memory Usage (S)")
              if run.time("off") + 15e6 < v.at < run.time("on")]
    same(inside, [], "readings while recording is off")
    if len(run.between("CPU Memory Usage (S)", "on", "stop")) < 5:
        fail("readings do not go on")
    paused = next(iter(run.ledger.values()))[2]
    if not 7 <= paused <= 25:
        fail(f"{paused} readings were left out")


GPU = "busy,temp,power,mem_usage,vcn_activity,jpeg_activity,clock"


def smi(which, words=""):
    """A folder with stand-ins of AMD's libraries, and a run with it."""
    with tempfile.TemporaryDirectory() as folder:
        for name in which:
            os.symlink(f"{BUILD}/tests/collector/{name}", f"{folder}/{name}")
        return Run(PROGRAM, "sleep", "500", what=GPU, env={"LD_LIBRARY_PATH": folder,
                                                           "FAKE_SMI": words})


def figures(run):
    """The values of the last reading that has any."""
    values = next(iter(run.values.values()), {})
    return {name: (v[-1].value, v[-1].unit, v[-1].category, v[-1].device, v[-1].simulated)
            for name, v in values.items()}


def check_smi():
    amd = {}
    for gpu in 0, 1:
        amd.update({
            f"GPU GFX Busy [{gpu}] (S)": (41 + gpu, "%", "device_busy_gfx", gpu, 0),
            f"GPU UMC Busy [{gpu}] (S)": (7, "%", "device_busy_umc", gpu, 0),
            f"GPU Temperature [{gpu}] (S)": (65, "deg C", "device_temp", gpu, 0),
            f"GPU Current Power [{gpu}] (S)": (155, "watts", "device_power", gpu, 0),
            f"GPU Memory Usage [{gpu}] (S)": (2500 + gpu, "megabytes", "device_memory_usage", gpu, 0),
            f"GPU GFX Clock [{gpu}] (S)": (1700, "MHz", "device_clock", gpu, 0),
            f"GPU Memory Clock [{gpu}] (S)": (1600, "MHz", "device_clock", gpu, 0),
            f"GPU [{gpu}] VCN Activity [00] (S)": (11, "%", "device_vcn_activity", gpu, 0),
            f"GPU [{gpu}] VCN Activity [02] (S)": (13, "%", "device_vcn_activity", gpu, 0),
            f"GPU [{gpu}] JPEG Activity [05] (S)": (15, "%", "device_jpeg_activity", gpu, 0),
        })
    rocm = {
        "GPU GFX Busy [0] (S)": (93, "%", "device_busy_gfx", 0, 0),
        "GPU Temperature [0] (S)": (51.5, "deg C", "device_temp", 0, 0),
        "GPU Current Power [0] (S)": (87, "watts", "device_power", 0, 0),
        "GPU Memory Usage [0] (S)": (123, "megabytes", "device_memory_usage", 0, 0),
    }
    both = "libamd_smi.so", "librocm_smi64.so"
    run = smi(both)
    same(figures(run), amd, "both libraries")
    same(run.notes, [], "notes")
    run = smi(both[1:])
    same(figures(run), rocm, "librocm_smi64 alone")
    same(run.notes, ["GPU metrics: librocm_smi64 does not report: VCN JPEG clocks"], "notes")
    same(figures(smi(both[:1])), amd, "libamd_smi alone")
    same(figures(smi(both, "none")), rocm, "a library without GPUs")
    same(figures(smi(both, "no-init")), rocm, "a library that does not start")
    same(figures(smi(both[:1], "old"))["GPU Current Power [0] (S)"][0], 148, "older structures")
    run = smi(both[:1], "no-power,no-temp,no-busy,no-mem")
    same({n for n in figures(run) if "Activity" not in n and "Clock" not in n}, set(),
         "calls that fail")
    same(run.notes, ["GPU metrics: libamd_smi does not report: busy temperature power memory"],
         "notes")
    run = smi(both[:1], "late")
    readings = next(iter(run.values.values()))
    same((len(readings["GPU GFX Busy [0] (S)"]), len(readings["GPU Temperature [0] (S)"]) > 5),
         (2, True), "readings of what fails later, and of the others")
    if os.path.exists("/sys/class/drm/card0"):
        return
    run = smi(())
    same((figures(run), run.notes),
         ({}, ["GPU metrics: not recorded: no GPU found by libamd_smi, librocm_smi64 or in "
               "/sys/class/drm"]), "no library")


def check_softgpu():
    # not by 'wavescope run', which would be recorded as well
    env = {"LD_PRELOAD": BUILD + "/lib/libwavescope-kfd.so:" + LIBRARY}
    if os.path.exists(BUILD + "/lib/libhsakmt.so.1"):
        env = {"LD_LIBRARY_PATH": BUILD + "/lib"}
    run = Run(BUILD + "/tests/collector/launch", "60000", "12", what=GPU + ",process", period_ms=20,
              more=";flags=softgpu", env=env)
    got = figures(run)
    same({n: v[1:] for n, v in got.items() if n.startswith("GPU")},
         {"GPU GFX Busy [0] (S)": ("%", "device_busy_gfx", 0, 1),
          "GPU Current Power [0] (S)": ("watts", "device_power", 0, 1),
          "GPU Memory Usage [0] (S)": ("megabytes", "device_memory_usage", 0, 1),
          "GPU GFX Clock [0] (S)": ("MHz", "device_clock", 0, 1),
          "GPU Memory Clock [0] (S)": ("MHz", "device_clock", 0, 1)}, "the software GPU")
    same(run.notes, ["GPU metrics: the software GPU does not report: temperature VCN JPEG"],
         "notes")
    busy = [v.value for v in run.of("GPU GFX Busy [0] (S)")]
    if not 0 < max(busy) <= 100 or min(busy) < 0:
        fail(f"busy: {busy}")
    # an MI210 takes 42 W when idle and 300 W at its limit
    watts = [v.value for v in run.of("GPU Current Power [0] (S)")]
    same([round(w) for w in watts], [round(42 + b / 100 * (300 - 42)) for b in busy], "power")
    if max(v.value for v in run.of("GPU Memory Usage [0] (S)")) <= 0:
        fail("no memory is in use")


globals()["check_" + BEHAVIOUR]()
