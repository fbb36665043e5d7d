#!/usr/bin/env python3
"""Compares random HIP programs on the software GPU with the same programs on the host.

Each program is compiled for the host and for each GPU at each level of optimization, run, and
compared byte by byte. One that differs is made smaller while it still differs, and printed with
what reproduces it. See README.md.
"""
import argparse
import concurrent.futures
import itertools
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import generate
import tree

HERE = os.path.dirname(os.path.abspath(__file__))
COMMON = ["-std=c++17", "-ffp-contract=off", "-fno-strict-aliasing", "-Wno-everything", "-I" + HERE]
# LLVM 15 stores to the wrong element of an array that it keeps in registers when each lane has
# an index of its own with a constant in it (v_mov_b32 v0 for v1 after s_set_gpr_idx_on): arrays
# stay in memory, and vectors, which it indexes rightly, are what tests indexed registers.
GPU = ["-x", "hip", "-fno-crash-diagnostics", "--cuda-device-only", "-nogpulib", "-nogpuinc",
       "-mllvm", "-disable-promote-alloca-to-vector"]
WRONG_LEVELS = {"17": "0"}  # versions of LLVM, and levels at which their code is wrong: README.md
NO_END = "no end"  # of a compiler that was stopped
MODELS = {"gfx90a": "mi210", "gfx908": "mi100"}


class Compiler:
    def __init__(self, args):
        self.args = args
        self.pool = concurrent.futures.ThreadPoolExecutor(args.jobs)
        self.host = ["-x", "c++", "-O0", "-shared", "-fPIC"]
        if args.check_undefined:
            self.host += ["-fsanitize=undefined", "-fno-sanitize=alignment,vptr,function",
                          "-fsanitize-trap=undefined"]
        if args.break_host:
            self.host.append("-DFZ_BREAK")

    def start(self, programs, folder, levels, archs):
        """Begins to compile; returns what finish() waits for."""
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "programs.cpp")
        with open(path, "w") as f:
            f.write(tree.source(programs))
        jobs = [self.pool.submit(self.compile, self.host, path, os.path.join(folder, "host.so"))]
        for level in levels:
            for arch in archs:
                flags = GPU + ["--offload-arch=" + arch, "-O" + level]
                out = os.path.join(folder, "%s-O%s.co" % (arch, level))
                jobs.append(self.pool.submit(self.compile, flags, path, out))
        return folder, programs, [(a, l) for l in levels for a in archs], jobs

    def compile(self, flags, path, out):
        job = subprocess.Popen([self.args.clang] + flags + COMMON + [path, "-o", out], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True)
        try:
            said, _ = job.communicate(timeout=self.args.compile_timeout)
        except subprocess.TimeoutExpired:  # LLVM 15 loops on some programs
            os.killpg(job.pid, signal.SIGKILL)
            job.communicate()
            return "%s: %s after %g s" % (out, NO_END, self.args.compile_timeout)
        return "" if job.returncode == 0 else said or "%s: exit %d" % (out, job.returncode)


class CompileError(Exception):
    pass


class Runner:
    """The process that runs batches, started again when one of them ends it."""

    def __init__(self, args):
        self.args, self.process = args, None

    def start(self):
        models = ",".join(MODELS[a] for a in self.args.archs)
        self.process = subprocess.Popen(
            [self.args.wavescope, "run", "--gpu", models, "--", self.args.runner],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.lines = queue.Queue()

        def read(stream, lines):
            for line in stream:
                lines.put(line.rstrip("\n"))
            lines.put(None)
        threading.Thread(target=read, args=(self.process.stdout, self.lines), daemon=True).start()

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def run(self, compiled):
        """Failures of a batch as (program, (arch, level), sentence), and how many were compared."""
        folder, programs, configs, jobs = compiled
        errors = [e for e in (j.result() for j in jobs) if e]
        if errors:
            raise CompileError(errors[0])
        if not self.process:
            self.start()
        named = {p.name: p for p in programs}
        objects = {"%s:%s/%s-O%s.co" % (a, folder, a, l): (a, l) for a, l in configs}
        self.process.stdin.write("batch %s/host.so %s\n" % (folder, " ".join(objects)))
        self.process.stdin.flush()
        failures, at, said = [], None, []
        while True:
            try:
                line = self.lines.get(timeout=self.args.timeout)
                words = line.split() if line is not None else ["died"]
            except queue.Empty:
                words = ["hangs"]
            if words[:1] == ["at"]:
                at = words[1:]
            elif words[:1] == ["bad"]:
                failures.append((named[words[1]], objects[words[2]],
                                 "%s: expected %s, got %s (%s differ)" % tuple(words[3:])))
            elif words[:1] == ["done"]:
                return failures, int(words[1])
            elif words[:1] in (["died"], ["hangs"], ["error"]):
                self.stop()
                if not at:
                    sys.exit("fuzz: the runner does not start: " + "\n".join(said + [line or ""]))
                what = words[0] if words[0] != "error" else line
                failures.append((named[at[0]], objects.get(at[1]),
                                 "%s %s" % (what, " / ".join(said[-3:]))))
                return failures, None
            else:
                said.append(line)


def shrink(args, compiler, runner, program, config, say):
    """The smallest program found that still fails with that one configuration."""
    arch, level = config
    folder = os.path.join(args.work, "shrink")
    best, sentence, n_tried, end = tree.clean(program), None, 0, time.time() + args.shrink_seconds

    def failing(candidates):
        """Those that fail. A batch that dies is tried again in halves."""
        batch = [c.renamed("fz%d_%d" % (c.seed, i)) for i, c in enumerate(candidates)]
        try:
            failures, n = runner.run(compiler.start(batch, folder, level, [arch]))
        except CompileError as e:
            if len(candidates) == 1:
                say("a smaller program does not compile: %s" % str(e)[:300])
            failures, n = [], None
        found = [(candidates[batch.index(p)], text) for p, c, text in failures if c == config]
        if n is not None or len(candidates) == 1:
            return found
        half = len(candidates) // 2
        return failing(candidates[:half]) + failing(candidates[half:])

    first = failing([best])
    if not first:
        return program, None
    sentence = first[0][1]
    smaller = True
    while smaller:
        smaller = False
        for how in tree.SHRINKS:
            again = True
            while again and time.time() < end:
                again = False
                candidates = how(best)
                while time.time() < end:
                    some = [tree.clean(c) for c in itertools.islice(candidates, args.shrink_batch)]
                    if not some:
                        break
                    some = [c for c in some if c.size() < best.size()]
                    n_tried += len(some)
                    found = failing(some) if some else []
                    if found:
                        best, sentence = min(found, key=lambda f: f[0].size())
                        again = smaller = True
                        break
    say("shrunk from %d to %d characters in %d programs" % (program.size(), best.size(), n_tried))
    return best, sentence


def report(args, program, config, sentence, small, small_sentence):
    arch, level = config
    text = "seed %d, %s -O%s: %s\n" % (program.seed, arch, level, sentence)
    text += "reproduce: fuzz.py --seeds %d --levels %s --archs %s\n" % (program.seed, level, arch)
    if small_sentence is None:
        text += "it does not fail alone; the whole program:\n"
    else:
        text += "shrunk, %s:\n" % small_sentence
    text += tree.source([small])
    print(text, flush=True)
    if args.out:
        os.makedirs(args.out, exist_ok=True)
        name = "%d-%s-O%s.cpp" % (program.seed, arch, level)
        with open(os.path.join(args.out, name), "w") as f:
            f.write("/*\n" + text.split("#include")[0] + "*/\n" + tree.source([small]))


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--seeds", default="1-50", help="FIRST-LAST or one; default 1-50")
    p.add_argument("--levels", default="0123", help="levels of optimization; default 0123")
    p.add_argument("--archs", default="gfx90a,gfx908")
    p.add_argument("--sample", action="store_true",
                   help="two configurations for each batch, in turn, instead of all")
    p.add_argument("--batch", type=int, default=25, help="programs compiled together")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--out", help="folder for shrunk programs")
    p.add_argument("--max-failures", type=int, default=5, help="stop after so many; default 5")
    p.add_argument("--no-shrink", action="store_true")
    p.add_argument("--shrink-seconds", type=float, default=300)
    p.add_argument("--shrink-batch", type=int, default=12)
    p.add_argument("--timeout", type=float, default=120, help="seconds until a kernel hangs")
    p.add_argument("--compile-timeout", type=float, default=300,
                   help="seconds until the compiler hangs, which refuses the program")
    p.add_argument("--check-undefined", action="store_true",
                   help="build the host's half so that undefined behaviour ends it")
    p.add_argument("--break-host", action="store_true", help="make the host wrong on purpose")
    p.add_argument("--self-test", action="store_true",
                   help="succeed only if a wrong host is found and shrunk to a few lines")
    p.add_argument("--print", action="store_true", help="print the programs and end")
    p.add_argument("--clang", default="clang++-15")
    p.add_argument("--runner", default=os.path.join(HERE, "../../build/tests/compiled/runner"))
    p.add_argument("--wavescope", default=os.path.join(HERE, "../../build/bin/wavescope"))
    args = p.parse_args()
    args.archs = args.archs.split(",")
    first, _, last = args.seeds.partition("-")
    args.seeds = range(int(first), int(last or first) + 1)
    args.break_host |= args.self_test
    return args


def leave_out_wrong_levels(args):
    """The levels that were asked for and that the compiler gets wrong; the others stay."""
    said = subprocess.run([args.clang, "--version"], stdout=subprocess.PIPE, text=True).stdout
    version = said.partition(" version ")[2].partition(".")[0]
    wrong = [l for l in args.levels if l in WRONG_LEVELS.get(version, "")]
    args.levels = "".join(l for l in args.levels if l not in wrong)
    return ["SKIP: LLVM %s makes wrong code at -O%s (tests/compiled/README.md)" % (version, l) for l in wrong]


def configurations(args, i):
    if not args.sample:
        return args.levels, args.archs
    level = args.levels[i % len(args.levels)]
    return level, args.archs


def fuzz(args):
    compiler, runner = Compiler(args), Runner(args)
    started, n_clean, n_compared, n_refused, failed = time.time(), 0, 0, 0, []
    args.n_refused = 0
    seeds = list(args.seeds)
    batches = [seeds[i:i + args.batch] for i in range(0, len(seeds), args.batch)]

    def begin(i):
        if i >= len(batches):
            return None
        levels, archs = configurations(args, i)
        programs = [generate.program(s) for s in batches[i]]
        return compiler.start(programs, os.path.join(args.work, "batch%d" % (i % 2)), levels, archs)

    ahead = begin(0)
    for i, batch in enumerate(batches):
        compiled = ahead
        for j in compiled[3]:
            j.result()
        ahead = begin(i + 1)
        failures, n = run_all(args, compiler, runner, compiled)
        n_compared += n
        bad = {p.seed for p, _, _ in failures}
        n_clean += len(batch) - len(bad) - args.n_refused
        n_refused, args.n_refused = n_refused + args.n_refused, 0
        for seed in sorted(bad)[:1 if args.self_test else None]:
            program, config, sentence = next(f for f in failures if f[0].seed == seed)
            others = " ".join("%s-O%s" % c for p, c, _ in failures if p.seed == seed and c)
            print("seed %d fails on %s" % (seed, others), flush=True)
            small, small_sentence = program, None
            if not args.no_shrink and config:
                small, small_sentence = shrink(args, compiler, runner, program, config,
                                               lambda text: print(text, flush=True))
            failed.append(small)
            report(args, program, config or ("host", "0"), sentence, small, small_sentence)
        print("%d programs clean, %d failed, %d refused by the compiler, %d comparisons, %.0f s" % (
            n_clean, len(failed), n_refused, n_compared, time.time() - started), flush=True)
        if len(failed) >= args.max_failures or (args.self_test and failed):
            break
    runner.stop()
    return failed


def run_all(args, compiler, runner, compiled):
    """Runs a batch. One that ends the runner or the compiler is left out of a second try."""
    folder, programs, configs, _ = compiled
    levels, archs = "".join(sorted({l for _, l in configs})), sorted({a for a, _ in configs})

    def again(some):
        rest = compiler.start(some, folder + "-rest", levels, archs)
        return run_all(args, compiler, runner, rest)

    try:
        failures, n = runner.run(compiled)
    except CompileError as e:
        if len(programs) == 1:  # LLVM 15 cannot spill everywhere with few registers, or loops
            refused = any(w in str(e) for w in ("error in backend", "frontend command failed",
                                                NO_END))
            print("seed %d: the compiler gives up: %s" % (programs[0].seed, str(e)[:300]),
                  flush=True)
            args.n_refused += refused
            return ([] if refused else [(programs[0], None, "does not compile")]), 0
        half = len(programs) // 2
        first, second = again(programs[:half]), again(programs[half:])
        return first[0] + second[0], first[1] + second[1]
    if n is not None:
        return failures, n
    rest = [p for p in programs if p is not failures[-1][0]]
    more = again(rest) if rest else ([], 0)
    return failures + more[0], more[1]


def main():
    args = arguments()
    if args.print:
        print(tree.source([generate.program(s) for s in args.seeds]))
        return 0
    for tool in (args.clang, args.runner, args.wavescope):
        if not shutil.which(tool):
            print("SKIP: %s is not installed" % tool)
            return 77
    skipped = leave_out_wrong_levels(args)
    print("\n".join(skipped), end="\n" if skipped else "", flush=True)
    if not args.levels:
        return 77
    with tempfile.TemporaryDirectory(prefix="ws-fuzz-") as args.work:
        failed = fuzz(args)
    if args.self_test:
        small = [p for p in failed if "load_at" in str(p) and len(list(tree.exprs_of(p))) < 20]
        print("the wrong host was %s" % ("found" if small else "not found, or not shrunk"))
        return 0 if small else 1
    return 1 if failed else 77 if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
