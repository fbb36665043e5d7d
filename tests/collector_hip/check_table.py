#!/usr/bin/env python3
"""The table against every HIP that is here: its headers, checked by the compiler, and its exports.

    check_table.py TABLE ABI VERSIONS LIBRARY_OF_WRAPPERS [ROOT...]

A ROOT is the folder of a system: "/" or a root of scripts/stack. Without one, "/" and all roots that
are set up. Skipped (77) where none of them has HIP.
"""
import glob
import re
import sys

import installed

table, abi, versions, wrappers = sys.argv[1:5]
SIZES = {"ptr": 8, "stream": 8, "enum": 4, "i32": 4, "u32": 4, "u64": 8, "u8": 1, "u16": 2, "bool": 1,
         "f32": 4, "dim3": 12}
INCLUDE = ("#define __HIP_PLATFORM_AMD__ 1\n#include <stdbool.h>\n#include <hip/hip_runtime_api.h>\n"
           "#include <hip/hiprtc.h>\n"
           # C++ needs no typedef to use these without their tag, and the table is in C++'s terms
           "typedef struct hipResourceViewDesc hipResourceViewDesc;\n"
           "typedef enum hipLimit_t hipLimit_t;\n"
           "typedef enum hipTextureAddressMode hipTextureAddressMode;\n"
           "typedef enum hipTextureFilterMode hipTextureFilterMode;\n")


def read_rows():
    rows = {}
    for line in open(table):
        m = re.match(r"^\w+\s+\d+\s+(\S.*?)\s+(\w+)\((.*)\)$", line.split("#")[0].rstrip())
        if m:
            types = [a.rsplit(" ", 1)[0] for a in m.group(3).split(", ")] if m.group(3) != "void" else []
            rows[m.group(2)] = (m.group(1), types)
    return rows


def exports_are_wrapped(root, wrapped, unwrapped):
    ok = True
    libraries = [f for lib in ("libamdhip64", "libhiprtc")
                 for f in (glob.glob(f"{root}/usr/lib/*/{lib}.so.?") +
                           glob.glob(f"{root}/opt/rocm/lib/{lib}.so.?"))]
    for library in libraries:
        exported = {s for s in installed.symbols(library, "TW") if not re.fullmatch("|".join(unwrapped), s)}
        missing = exported - wrapped
        if missing:
            print(f"{library}: exported and not wrapped:", *sorted(missing))
            ok = False
        print(f"{library}: {len(exported - missing)} of {len(exported)} functions are wrapped")
    return ok


def headers_agree(root, rows, was):
    text = installed.preprocess(root, INCLUDE)
    declared = set(re.findall(r"\b((?:__)?hip\w+)\s*\(", text))
    known = set(re.findall(r"\b\w+\b", text))
    lines, n = [INCLUDE], 0
    for name, (ret, types) in sorted(rows.items()):
        if name not in declared or name.endswith("_spt"):  # those are declared under another macro
            continue
        if any(w not in known for t in [ret] + types for w in re.findall(r"\w+", t)):
            continue  # a newer HIP's
        n += 1
        lines.append(installed.same_type(name, [f"{ret} (*)({', '.join(types) or 'void'})"] + was.get(name, [])))
    for line in open(abi):
        m = re.match(r"(type|struct|bytes)\s+(.*)", line)
        if not m:
            continue
        if m.group(1) == "type":
            name, how = m.group(2).rsplit(None, 1)
            size = SIZES[how]
        else:
            name, rest = m.group(2).split(None, 1)
            size = int(rest) if m.group(1) == "bytes" else sum(SIZES[f.split()[0]] for f in rest.split(","))
        if all(w in known for w in name.split()):
            lines.append(f'_Static_assert(sizeof({name.strip()}) == {size}, "{name.strip()}");')
    print(f"{installed.name(root)}: {n} prototypes compared with the headers")
    if n < 300:
        print("too few: the headers were not understood")
    return installed.compiles(root, "\n".join(lines) + "\n") and n >= 300


def main():
    roots = installed.roots(sys.argv[5:], "usr/include/hip/hip_runtime_api.h")
    if not roots:
        print("SKIP: HIP is not installed")
        return 77
    wrapped, rows = installed.symbols(wrappers, "T"), read_rows()
    unwrapped, was = installed.read_versions(versions)
    unknown = set(was) - set(rows)
    if unknown:
        print(f"{versions}: not in the table:", *sorted(unknown))
    results = [check for root in roots
               for check in (exports_are_wrapped(root, wrapped, unwrapped), headers_agree(root, rows, was))]
    return 0 if all(results) and not unknown else 1


if __name__ == "__main__":
    sys.exit(main())
