#!/usr/bin/env python3
"""Runs a fixed part of a package's tests, inside a stack; scripts/test-packages calls it.

A package consists of googletest programs, or of programs that are one test each: exit status 0 is success, and the
test's name is WHOLE. Selected is every test for which crc32("PROGRAM:SUITE.TEST") is a multiple of ONE_IN: the same
tests on every machine and in every release that has them. Tests share a process as long as it lives. One that uses
more CPU time than its limit is stopped and counted as too slow; one that waits without using the CPU has failed, as
has one during which the process ends. The tests behind it go on in a new process.
"""
import argparse
import collections
import fnmatch
import glob
import os
import re
import resource
import select
import signal
import subprocess
import sys
import time
import zlib

IDLE_SECONDS = 60       # no thread wanted the CPU for so long: the test hangs
START_SECONDS = 300     # CPU time before the first test: rocSPARSE's program creates 281,000 of them
WALL_FACTOR = 60        # on a busy machine a CPU second takes longer, but not for ever
FILTER_BYTES = 100_000  # the kernel takes at most 128 KiB in one argument
LIST_SECONDS = 1200     # to list the tests, on a busy machine
WHOLE = 'program.whole'  # the one test of a program without googletest
START = '(no test)'     # what fails when a program does not start, or fails after its last test

MARK = re.compile(r'\[ +(RUN|OK|SKIPPED|FAILED) +\] ([^\s,]+)')


def listed(program, args, env):
    """The names of all tests of a program that it would run by default; none if it lists none in time."""
    try:
        out = subprocess.run([program, *args, '--gtest_list_tests'], env=env, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, timeout=LIST_SECONDS, check=False).stdout
    except subprocess.TimeoutExpired:
        out = b''
    out = out.decode('utf-8', 'replace')
    names, suite = [], None
    for line in out.splitlines():
        text = line.split('#')[0].rstrip()
        if line.startswith('  ') and suite:
            names.append(suite + text.strip())
        elif re.fullmatch(r'\S+\.', text):
            suite = text
    return [name for name in names if 'DISABLED_' not in name]


def stat_fields(path):
    """A process's or thread's stat file from the state on, which is behind the name; empty if it is gone."""
    try:
        with open(path, encoding='ascii', errors='replace') as stat:
            return stat.read().rsplit(')', 1)[1].split()
    except OSError:
        return []


def session(pid):
    """The test's process and those it started, by id: RCCL has one per GPU, MIOpen calls a compiler."""
    found = {}
    for path in glob.glob('/proc/[0-9]*/stat'):
        fields = stat_fields(path)
        if len(fields) > 12 and fields[3] == str(pid):
            found[path.split('/')[2]] = fields
    return found


def wants_cpu(pid):
    """Whether a thread runs or waits for a processor: on a busy machine it may get none for seconds."""
    return any(stat_fields(path)[:1] == ['R'] for member in session(pid)
               for path in glob.glob(f'/proc/{member}/task/*/stat'))


def batches(names):
    """The names in groups that fit into one filter."""
    group, size = [], 0
    for name in names:
        if group and size + len(name) + 1 > FILTER_BYTES:
            yield group
            group, size = [], 0
        group.append(name)
        size += len(name) + 1
    if group:
        yield group


class Process:
    """One run of a program over some tests, until it ends or a test is stopped."""

    all_spent = 0.0  # CPU seconds of all runs

    def __init__(self, command, names, env, limit, log):
        self.command, self.whole = command, names == [WHOLE]
        if not self.whole:
            # '-' begins the list of tests to leave out, so it cannot be part of a name here
            self.command = [*command, '--gtest_filter=' + ':'.join(name.replace('-', '?') for name in names)]
        self.env, self.limit, self.log = env, limit, log
        self.results = collections.OrderedDict()
        self.current, self.rest, self.ended = WHOLE if self.whole else None, b'', False
        self.spent = {}  # CPU seconds by process: RCCL's ranks are waited for by nobody, and leave no trace

    def feed(self, data):
        self.log.write(data)
        self.log.flush()
        *lines, self.rest = (self.rest + data).split(b'\n')
        for line in lines:
            match = MARK.search(line.decode('utf-8', 'replace'))
            if not match:
                self.ended = self.ended or b' ran. (' in line
                continue
            word, name = match.groups()
            if word == 'RUN':
                self.current = name
                self.started()
            elif name == self.current:
                self.results[name] = {'OK': 'passed', 'SKIPPED': 'skipped', 'FAILED': 'failed'}[word]
                self.current = None

    def cpu_seconds(self):
        for member, fields in session(self.child.pid).items():
            self.spent[member] = (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')
        return sum(self.spent.values())

    def started(self):
        self.begin_cpu, self.begin_wall = self.cpu_seconds(), time.monotonic()
        self.busy_cpu, self.busy_wall = self.begin_cpu, self.begin_wall

    def overdue(self):
        """What is wrong with the current test's time, or None."""
        cpu, now = self.cpu_seconds(), time.monotonic()
        if cpu > self.busy_cpu + 0.05 or wants_cpu(self.child.pid):
            self.busy_cpu, self.busy_wall = cpu, now
        limit = self.limit if self.current else START_SECONDS
        if cpu - self.begin_cpu > limit:
            return 'too slow'
        if now - self.busy_wall > IDLE_SECONDS or now - self.begin_wall > WALL_FACTOR * limit:
            return 'hangs'
        return None

    def run(self):
        """Returns the process's exit status, None if it was stopped."""
        with subprocess.Popen(self.command, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, start_new_session=True) as self.child:
            self.started()
            while True:
                ready, _, _ = select.select([self.child.stdout], [], [], 0.5)
                data = os.read(self.child.stdout.fileno(), 65536) if ready else b''
                if ready and not data:
                    break
                self.feed(data)
                why = self.overdue()
                if why:
                    os.killpg(self.child.pid, signal.SIGKILL)
                    self.results[self.current or START] = why
                    self.child.wait()
                    return None
            return self.child.wait()


def run_program(path, names, args, env, limit, log):
    """The result of each test of one program; START stands for the program itself."""
    results = {}
    for group in batches(names):
        left = group
        while left:
            process = Process([path, *args], left, env, limit, log)
            status = process.run()
            Process.all_spent += sum(process.spent.values())
            if process.whole and status == 0:
                process.results[WHOLE] = 'passed'
            elif status is not None and process.current:
                process.results[process.current] = f'ends with status {status}'
            results.update(process.results)
            if process.whole:
                break
            if not process.results or START in process.results or process.ended:
                if not process.ended:
                    results.setdefault(START, f'ends with status {status} before the first test')
                elif status not in (0, 1, None):
                    results.setdefault(START, f'ends with status {status} after the last test')
                break
            left = [name for name in left if name not in process.results]
    return results


def divide(args):
    """The arguments of a program, and its environment: those of the form NAME=VALUE."""
    settings = dict(arg.split('=', 1) for arg in args if re.match(r'[A-Z_]+=', arg))
    return [arg for arg in args if not re.match(r'[A-Z_]+=', arg)], settings


def read_known(path, stack, package):
    """The rows of known.txt for this package: (pattern, reason)."""
    rows = []
    with open(path, encoding='utf-8') as file:
        for line in file:
            fields = line.split(None, 3)
            if len(fields) == 4 and fields[0] in (stack, '*') and fields[1] == package:
                rows.append((fields[2], fields[3].strip()))
    return rows


def main():
    parser = argparse.ArgumentParser()
    for name in ('stack', 'package', 'programs', 'library', 'known', 'log'):
        parser.add_argument('--' + name, required=True)
    parser.add_argument('--folder', help='default: the folder of the package in /usr/libexec/rocm')
    parser.add_argument('--kind', choices=('gtest', 'program'), default='gtest')
    parser.add_argument('--one-in', type=int, default=1)
    parser.add_argument('--limit', type=float, default=60)
    parser.add_argument('--match', default='*', help='only tests PROGRAM:SUITE.TEST of this pattern')
    parser.add_argument('args', nargs='*', help='of the programs; NAME=VALUE is for their environment')
    opt = parser.parse_args()
    folder = opt.folder or '/usr/libexec/rocm/' + opt.package
    opt.args, settings = divide(opt.args)
    env = {**os.environ, 'LD_PRELOAD': opt.library, 'WAVESCOPE_GPU': 'mi210', **settings}
    known = read_known(opt.known, opt.stack, opt.package)
    counts = collections.Counter()
    os.chdir(folder)
    with open(opt.log, 'wb') as log:
        for program in sorted(fnmatch.filter(os.listdir('.'), opt.programs)):
            path = os.path.join(folder, program)
            names = listed(path, opt.args, env) if opt.kind == 'gtest' else [WHOLE]
            counts['all'] += len(names)
            selected = [name for name in names if zlib.crc32(f'{program}:{name}'.encode()) % opt.one_in == 0 and
                        fnmatch.fnmatchcase(f'{program}:{name}', opt.match)]
            results = run_program(path, selected, opt.args, env, opt.limit, log)
            if not names:
                results[START] = 'lists no tests'
            for name in selected:
                results.setdefault(name, 'not run')
            for name, result in results.items():
                full = f'{program}:{name}'
                if result not in ('passed', 'skipped', 'too slow'):
                    reason = next((why for pattern, why in known if fnmatch.fnmatchcase(full, pattern)), None)
                    print(f'    {full}: {result}' + (f' (known: {reason})' if reason else ''), file=sys.stderr)
                    result = 'known' if reason else 'failed'
                elif result == 'too slow':
                    print(f'    {full}: {result}', file=sys.stderr)
                counts[result] += 1
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = max(used.ru_utime + used.ru_stime, Process.all_spent)
    print(f'  {opt.package:<20} {counts["all"]:>6} {opt.one_in:>8} {counts["passed"]:>7} {counts["failed"]:>7} '
          f'{counts["known"]:>6} {counts["skipped"]:>8} {counts["too slow"]:>9} '
          f'{used:>6.0f} s')
    return 1 if counts['failed'] or not counts['passed'] else 0


if __name__ == '__main__':
    sys.exit(main())
