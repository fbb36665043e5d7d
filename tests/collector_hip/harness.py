"""What the tests of the wrapper libraries share: run a program under the collector, read the capture.

Environment, set by meson: WS_LIB (build/lib), WS_DUMP (the dump program), WS_RUN (wavescope, or
empty where the test needs no GPU), WS_FIRST (a sanitizer's library, which has to come first).
"""
import os
import re
import subprocess
import sys
import tempfile

LIB, DUMP, RUN = os.environ["WS_LIB"], os.environ["WS_DUMP"], os.environ.get("WS_RUN", "")
FIRST = os.environ.get("WS_FIRST", "")
CORE, HIP, STREAMS = "libwavescope-collector.so", "libwavescope-hip.so", "libwavescope-hip-streams.so"
RCCL, DLSYM, ROCTX = "libwavescope-rccl.so", "libwavescope-dlsym.so", "librocprofiler-sdk-roctx.so.1"

failures = []
n_checks = 0


def check(ok, text):
    global n_checks
    n_checks += 1
    if not ok:
        failures.append(text)
        print(f"FAILED: {text}")


def equal(got, want, what):
    check(got == want, f"{what}: {got!r}, expected {want!r}")


def done():
    if not n_checks:
        sys.exit("FAILED: nothing was checked")
    sys.exit(1 if failures else 0)


class Record:
    """One line of the dump: word, name, and every key=value."""

    def __init__(self, line):
        self.line = line
        self.word, _, rest = line.partition(" ")
        self.name = rest.split(" ")[0]
        self.text = (re.findall(r'"(.*)"$', line) or [None])[0]
        # the fixed fields come first; an argument may be called the same
        self.field = {}
        self.args = {}
        head, _, tail = line.partition(" ret=")
        for key, value in re.findall(r"(\w+)=(\S+)", head):
            self.field[key] = value
        if tail:
            self.field["ret"] = tail.split(" ")[0]
            self.args = dict(re.findall(r'(\w+)=(".*?"|\S+)', tail))

    def __getitem__(self, key):
        return int(self.field[key])


class Run:
    def __init__(self, command, services, preload, flags="", env=None, gpu=None, stdin=None):
        with tempfile.TemporaryDirectory() as folder:
            e = dict(os.environ, **(env or {}))
            text = f"1;dir={folder};services={services}"
            if flags:
                text += f";flags={flags}"
            e["WAVESCOPE_COLLECT"] = text
            libs = ":".join(([FIRST] if FIRST else []) + [os.path.join(LIB, p) for p in [CORE] + preload])
            # leaks: Python's and the loader's are not ours to count
            e.setdefault("ASAN_OPTIONS", "detect_leaks=0")
            full = list(command)
            if gpu:  # the launcher of the software GPU is not what is recorded
                # which may be preloaded, too
                full = [RUN, "run", "--gpu", gpu, "--", "sh", "-c",
                        'exec env "LD_PRELOAD=$0${LD_PRELOAD:+:$LD_PRELOAD}" "$@"', libs,
                        "HSA_TOOLS_LIB=" + os.path.join(LIB, CORE)] + full
            else:
                e["LD_PRELOAD"] = libs
            p = subprocess.run(full, env=e, capture_output=True, text=True, timeout=100)
            self.code, self.out, self.err = p.returncode, p.stdout, p.stderr
            self.lines = []
            e.pop("LD_PRELOAD", None)
            for name in sorted(os.listdir(folder)):
                d = subprocess.run([DUMP, os.path.join(folder, name)], capture_output=True, text=True)
                check(d.returncode == 0, f"dump {name}: {d.stderr}")
                self.lines += d.stdout.splitlines()
        self.records = [Record(line) for line in self.lines]
        for bad in ("DAMAGE", "BACKWARDS", "LEFT=", "ledger", "?op", "=?"):
            found = [line for line in self.lines if bad in line]
            check(not found, f"{bad} in the capture: {found[:3]}")

    def of(self, word, name=None):
        return [r for r in self.records if r.word == word and name in (None, r.name)]

    def calls(self, name=None):
        return self.of("call", name)

    def one(self, name):
        found = self.calls(name)
        equal(len(found), 1, f"calls of {name}")
        return found[0]
