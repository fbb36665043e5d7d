#!/usr/bin/env python3
"""The table against the installed HIP: its headers, checked by the compiler, and its exports.

    check_table.py TABLE ABI LIBRARY_OF_WRAPPERS

Skipped (77) where HIP's headers or library are not installed.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

table, abi, wrappers = sys.argv[1:]
library = sorted(glob.glob("/usr/lib/*/libamdhip64.so.?") + glob.glob("/opt/rocm/lib/libamdhip64.so.?"))
if not os.path.exists("/usr/include/hip/hip_runtime_api.h") or not library:
    print("SKIP: HIP is not installed")
    sys.exit(77)


def symbols(path, defined):
    out = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True,
                         check=True).stdout
    return {line.split()[2].split("@")[0] for line in out.splitlines() if line.split()[1] in defined}


failed = False
# what the library exports besides HIP: half-float helpers of the compiler, the debugger's interface
exported = {s for s in symbols(library[0], "TW") if not re.match(r"__gnu_|amd_dbgapi_|_fini|_init", s)}
missing = exported - symbols(wrappers, "T")
if missing:
    print("exported by HIP and not wrapped:", *sorted(missing))
    failed = True
print(len(exported), "functions of", library[0], "are wrapped")

rows = {}
for line in open(table):
    m = re.match(r"^\w+\s+\d+\s+(\S.*?)\s+(\w+)\((.*)\)$", line.split("#")[0].rstrip())
    if m:
        types = [a.rsplit(" ", 1)[0] for a in m.group(3).split(", ")] if m.group(3) != "void" else []
        rows[m.group(2)] = (m.group(1), types)
ways = [re.match(r"type\s+(.*?)\s+(\w+)$", line) for line in open(abi)]
sizes = {"ptr": 8, "stream": 8, "enum": 4, "i32": 4, "u32": 4, "u64": 8, "u8": 1, "u16": 2, "bool": 1,
         "f32": 4, "dim3": 12}

with tempfile.TemporaryDirectory() as folder:
    source = os.path.join(folder, "t.c")
    include = ("#define __HIP_PLATFORM_AMD__ 1\n#include <stdbool.h>\n#include <hip/hip_runtime_api.h>\n"
               "#include <hip/hiprtc.h>\n"
               # C++ needs no typedef to use these without their tag, and the table is in C++'s terms
               "typedef struct hipResourceViewDesc hipResourceViewDesc;\n"
               "typedef enum hipLimit_t hipLimit_t;\n"
               "typedef enum hipTextureAddressMode hipTextureAddressMode;\n"
               "typedef enum hipTextureFilterMode hipTextureFilterMode;\n")
    open(source, "w").write(include)
    text = subprocess.run(["clang", "-E", "-P", source], capture_output=True, text=True).stdout
    if not text:
        print("SKIP: clang cannot read HIP's headers")
        sys.exit(77)
    declared = set(re.findall(r"\b((?:__)?hip\w+)\s*\(", text))
    known_types = set(re.findall(r"\b\w+\b", text))
    lines = [include]
    n = 0
    for name, (ret, types) in sorted(rows.items()):
        if name not in declared or name.endswith("_spt"):  # those are declared under another macro
            continue
        if any(w not in known_types for t in [ret] + types for w in re.findall(r"\w+", t)):
            continue  # a newer HIP's
        n += 1
        args = ", ".join(types) or "void"
        lines.append(f'#define same_{name} __builtin_types_compatible_p(__typeof__(&{name}), {ret} (*)({args}))')
        lines.append(f'_Static_assert(same_{name}, "{name}");')
    for w in ways:
        if w and all(x in known_types for x in w.group(1).split()):
            lines.append(f'_Static_assert(sizeof({w.group(1)}) == {sizes[w.group(2)]}, "{w.group(1)}");')
    for line in open(abi):
        m = re.match(r"(struct|bytes)\s+(\w+)\s+(.*)", line)
        if m and m.group(2) in known_types:
            size = int(m.group(3)) if m.group(1) == "bytes" else sum(
                sizes[f.split()[0]] for f in m.group(3).split(","))
            lines.append(f'_Static_assert(sizeof({m.group(2)}) == {size}, "{m.group(2)}");')
    open(source, "w").write("\n".join(lines) + "\n")
    p = subprocess.run(["clang", "-x", "c", "-fsyntax-only", "-Wno-everything", "-ferror-limit=0", source],
                       capture_output=True, text=True)
    wrong = re.findall(r"static.assertion failed.*?: (\S+)", p.stderr) or re.findall(r"error: .*", p.stderr)
    print(n, "prototypes compared with the headers")
    if n < 300:
        print("too few: the headers were not understood")
        failed = True
    if p.returncode:
        print("they differ:", *wrong)
        failed = True
sys.exit(1 if failed else 0)
