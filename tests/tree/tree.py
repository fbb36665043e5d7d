#!/usr/bin/env python3
"""Checks the source tree against docs/architecture.md.

    tree.py arrows ROOT    #include lines follow the "uses" column of the module tables
    tree.py names ROOT     no tag or shared function has two definitions; prefixes as in the tables
    tree.py format ROOT    clang-format would change nothing
    tree.py packages ROOT  debian/control and all texts name the packages that scripts/setup installs

A module table is one whose header row begins with "| module | prefix |".
"""
import collections
import os
import re
import shutil
import subprocess
import sys

FORMATTER = "14"  # versions of clang-format disagree; this is Debian 12's
# Functions whose names are others' to choose: interfaces we implement, libc calls we interpose.
FOREIGN = re.compile(r"^(hsaKmt\w+|roctx\w+|hipblasLt\w+|kokkosp_\w+|rocprofsys_\w+|MPI_\w+|mpi_\w+_|ompt_start_tool|rocprofiler_configure|rocprofiler_set_api_table|__libc_start_main|ioctl|mmap(64)?|munmap|lseek(64)?|close(_range|from)?|dup[23]?|readlink(at)?|(__)?realpath(_chk)?|canonicalize_file_name|OnLoad|OnUnload\w*|main|"
                     r"dlsym|sigaction|signal|"
                     r"_exit|_Exit|abort|__cyg_profile_func_\w+|prctl|dlclose|sig\w+|"
                     r"clock_nanosleep|nanosleep|usleep|sleep|thrd_sleep|p?poll|__p?poll_chk|p?select|epoll_\w+|"
                     r"semtimedop|__recv\w*_chk|pthread_\w+)$")

ATTRIBUTE = re.compile(r"__attribute__\(\((?:[^()]|\([^()]*\))*\)\)\s*")


def sources(root, *patterns):
    out = subprocess.run(["git", "-C", root, "ls-files", "-z", *patterns], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    return [f for f in out.split("\0") if f and os.path.isfile(os.path.join(root, f))]


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as f:
        return f.read()


class Module:
    def __init__(self, name, prefix, uses):
        self.name, self.prefix, self.uses = name, prefix, uses


def modules(root):
    """The rows of the module tables, by folder."""
    found, inside = {}, False
    for line in read(root, "docs/architecture.md").splitlines():
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if line.startswith("| module | prefix |"):
            inside = True
        elif inside and line.startswith("|") and not line.startswith("|-"):
            name, prefix, _, uses = cells
            folder = name.strip("`").rstrip("/")
            found[folder] = Module(folder, prefix.strip("`"), re.findall(r"`([^`]+)`", uses))
        elif inside and not line.startswith("|"):
            inside = False
    if len(found) < 10:
        sys.exit("tree: docs/architecture.md has no module table that this test can read")
    return found


def module_of(path, table):
    folder = os.path.dirname(path)
    while folder and folder not in table:
        folder = os.path.dirname(folder)
    return table.get(folder)


def may_include(module, header, table):
    target = module_of(header, table)
    if target is module or header in module.uses:
        return True
    return target is not None and target.name in (u.rstrip("/") for u in module.uses)


def cycle(table):
    """A chain of modules that ends where it began, or None. Single headers are not arrows."""
    done = set()

    def visit(name, chain):
        if name in chain:
            return chain[chain.index(name):] + [name]
        if name in done:
            return None
        for use in (u.rstrip("/") for u in table[name].uses):
            if use in table:
                found = visit(use, chain + [name])
                if found:
                    return found
        done.add(name)
        return None
    return next((c for c in (visit(n, []) for n in table) if c), None)


def check_arrows(root):
    table, bad, seen = modules(root), [], collections.defaultdict(set)
    for path in sources(root, "*.c", "*.h"):
        module = module_of(path, table)
        if not module:
            if not path.startswith(("tests/", "bench/", "samples/")):
                bad.append("%s: its folder has no row in docs/architecture.md" % path)
            continue
        for header in re.findall(r'^#include "([^"]+)"', read(root, path), re.M):
            if "/" not in header or not module_of(header, table):
                continue  # generated, or of another project
            target = module_of(header, table)
            seen[module.name] |= {target.name, header}
            if not may_include(module, header, table):
                bad.append("%s includes %s, but %s may not use %s"
                           % (path, header, module.name, target.name))
    for module in table.values():
        bad += ["%s does not use %s; its row in docs/architecture.md says so" % (module.name, use)
                for use in module.uses if use.rstrip("/") not in seen[module.name]]
    chain = cycle(table)
    if chain:
        bad.append("modules use each other: " + " -> ".join(chain))
    return bad, "%d modules" % len(table)


def definitions(text, header):
    """(kind, name) of tags and shared functions that a formatted file defines."""
    for kind, name in re.findall(r"^(struct|union|enum) (\w+) \{$", text, re.M):
        yield kind, name
    for found in re.finditer(r"^((?!static\b(?! inline))[A-Za-z_][^\n;{}#]*\([^;{}]*\))\n\{$", text, re.M):
        head = ATTRIBUTE.sub("", found.group(1))
        if head.startswith("static") and not header:
            continue
        name = re.search(r"(\w+)\(", head).group(1)
        if name != name.upper():  # macros that define functions name them elsewhere
            yield "function", name


def check_names(root):
    table, bad, places = modules(root), [], collections.defaultdict(set)
    for path in sources(root, "*.c", "*.h"):
        module = module_of(path, table)
        if not module:
            continue
        for kind, name in definitions(read(root, path), path.endswith(".h")):
            shared = kind == "function" or path.endswith(".h")
            prefixed = any(name.startswith(m.prefix) for m in table.values() if m.prefix)
            if (shared or prefixed) and name != "main":
                places["function" if kind == "function" else "tag", name].add(path)
            if shared and module.prefix and not FOREIGN.match(name):
                if not any(name.startswith(p.strip()) for p in module.prefix.split()):
                    bad.append("%s: %s %s does not begin with %s" % (path, kind, name, module.prefix))
    for (kind, name), paths in sorted(places.items()):
        if len(paths) > 1:
            bad.append("%s %s is defined in %s" % (kind, name, " and in ".join(sorted(paths))))
    return bad, "%d names" % len(places)


def check_format(root):
    tool = shutil.which("clang-format-" + FORMATTER) or shutil.which("clang-format")
    version = tool and subprocess.run([tool, "--version"], stdout=subprocess.PIPE, text=True).stdout
    if not version or not re.search(r"version %s\b" % FORMATTER, version):
        print("SKIP: clang-format %s is not installed" % FORMATTER)
        sys.exit(77)
    files = sources(root, "*.c", "*.h")
    done = subprocess.run([tool, "--dry-run"] + files, cwd=root, stderr=subprocess.PIPE, text=True)
    bad = sorted(set(re.findall(r"^([^:\n]+):\d+:\d+: warning", done.stderr, re.M)))
    return ["%s: run make format" % f for f in bad], "%d files" % len(files)


def setup_packages(root):
    """The table of scripts/setup: names ("a", or "a|b") and purposes."""
    table = re.search(r"^packages='\n(.*?)^'", read(root, "scripts/setup"), re.M | re.S).group(1)
    return dict(line.split(None, 1) for line in table.splitlines())


def check_packages(root):
    purposes, bad = setup_packages(root), []
    # dpkg-buildpackage has build-essential, and a package is built without tests
    needed = {name for name, why in purposes.items()
              if name != "build-essential" and not re.match(r"(unit )?tests\b|make ", why)}
    control = re.search(r"^Build-Depends:(.*?)^(?=\S)", read(root, "debian/control"), re.M | re.S).group(1)
    depends = {re.sub(r"\s*\(.*?\)", "", entry).replace(" ", "") for entry in control.replace("\n", "").split(",")}
    depends.discard("debhelper-compat")
    for name in sorted(needed ^ depends):
        bad.append("%s is only in %s" % (name, "scripts/setup" if name in needed else "debian/control"))
    known = {word for names in purposes for word in names.split("|")}
    hint = re.compile(r"\(Debian[^:()]*: (?:apt install )?`?([a-z][^()]*)\)|apt(?:-get)? install (?:-\S+ )*([a-z0-9][\w.+-]*)")
    n_hints = 0
    for path in sources(root, "*meson.build", "*.md", "*.c", "*.h", "scripts/*"):
        for found in hint.findall(read(root, path)):
            for name in re.split(r",? +", (found[0] or found[1]).strip()):
                n_hints += 1
                if name.rstrip("`.,") not in known:
                    bad.append("%s names the package %s, which scripts/setup does not install" % (path, name))
    return bad, "%d packages, %d mentions" % (len(purposes), n_hints)


CHECKS = {"arrows": check_arrows, "names": check_names, "format": check_format, "packages": check_packages}


def main():
    what, root = sys.argv[1:]
    if not os.path.exists(os.path.join(root, ".git")):
        print("SKIP: not a git checkout, so there is no list of source files")
        sys.exit(77)
    bad, checked = CHECKS[what](root)
    for line in bad:
        print("tree: " + line)
    print("%s: %s checked, %d wrong" % (what, checked, len(bad)))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
