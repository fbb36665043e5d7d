"""What the tests of the function tables ask of an installed ROCm: a system's root, or one of scripts/stack."""
import glob
import os
import re
import subprocess
import sys
import tempfile


def roots(argv, header):
    """the folders of `argv`, or / and all stacks that are set up, which have this header"""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    stacks = os.environ.get("WAVESCOPE_STACKS") or os.path.join(cache, "wavescope/stacks")
    found = sorted(os.path.dirname(f) for f in glob.glob(os.path.join(stacks, "*", ".complete")))
    return [r.rstrip("/") for r in argv or ["/"] + found if os.path.exists(os.path.join(r, header))]


def name(root):
    return root or "/"


def symbols(path, kinds):
    out = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True,
                         check=True).stdout
    return {line.split()[2].split("@")[0] for line in out.splitlines() if line.split()[1] in kinds}


def read_versions(path):
    """patterns of functions that are not wrapped, and name -> other types of a function"""
    unwrapped, was = [], {}
    for line in open(path):
        line = line.split("#")[0].rstrip()
        m = re.match(r"unwrapped (\S+)\s+\S", line)
        if m:
            unwrapped.append(m.group(1))
            continue
        m = re.match(r"was (\w+): (.*)$", line)
        if m:
            was.setdefault(m.group(1), []).append(m.group(2))
        elif line:
            sys.exit(f"{path}: '{line}' is neither 'unwrapped' nor 'was'")
    return unwrapped, was


def same_type(function, types):
    """C that does not compile unless the function is declared with one of these types"""
    same = " || ".join(f"__builtin_types_compatible_p(__typeof__(&{function}), {t})" for t in types)
    return f'_Static_assert({same}, "{function}");'


def preprocess(root, include):
    p = subprocess.run(["clang", f"--sysroot={root}/", "-x", "c", "-E", "-P", "-"], input=include,
                       capture_output=True, text=True)
    return p.stdout


def compiles(root, source):
    """True, or the differences are printed"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.c")
        with open(path, "w") as f:
            f.write(source)
        p = subprocess.run(["clang", f"--sysroot={root}/", "-fsyntax-only", "-Wno-everything", "-ferror-limit=0",
                            path], capture_output=True, text=True)
    for wrong in re.findall(r"error: (.*)", p.stderr):
        print(f"{name(root)}: differs:", wrong)
    return p.returncode == 0
