#!/usr/bin/env python3
"""Makes a C file of code objects: NAME, a table for gpu/runner.h.

    embed.py OUT.c NAME TARGET=FILE ...

LLVM 15 assembles for gfx940 at most. What our kernels use is encoded in the same way on its
successors (LLVM 19 makes the same bytes for them), so their code object differs in the machine number of
the ELF header alone, and that is set here.
"""
import struct
import sys

# EF_AMDGPU_MACH_* of LLVM's AMDGPU ABI; what only gfx950 has is written as words in the sources
MACHINES = {"gfx908": 0x30, "gfx90a": 0x3F, "gfx940": 0x40, "gfx941": 0x4B, "gfx942": 0x4C, "gfx950": 0x4F}
EM_AMDGPU, FLAGS_AT = 224, 48


def code_of(target, path):
    data = bytearray(open(path, "rb").read())
    if data[:5] != b"\x7fELF\x02" or struct.unpack_from("<H", data, 18)[0] != EM_AMDGPU:
        sys.exit(f"embed.py: {path} is not a code object of an AMD GPU")
    flags = struct.unpack_from("<I", data, FLAGS_AT)[0]
    struct.pack_into("<I", data, FLAGS_AT, (flags & ~0xFF) | MACHINES[target])
    return data


def main():
    out, name, pairs = sys.argv[1], sys.argv[2], [arg.split("=", 1) for arg in sys.argv[3:]]
    with open(out, "w") as f:
        f.write('/* made by gpu/embed.py */\n#include "gpu/runner.h"\n')
        for target, path in pairs:
            data = code_of(target, path)
            f.write(f"\nstatic const unsigned char {target}[] __attribute__((aligned(4096))) = {{\n")
            for at in range(0, len(data), 24):
                f.write("\t" + " ".join(f"{b}," for b in data[at : at + 24]) + "\n")
            f.write("};\n")
        f.write(f"\nextern const struct gpu_runner_code {name}[];\nconst struct gpu_runner_code {name}[] = {{\n")
        for target, _ in pairs:
            f.write(f'\t{{ "{target}", {target}, sizeof({target}) }},\n')
        f.write("\t{ 0 },\n};\n")


main()
