#!/usr/bin/env python3
"""Write an assembly file with many small kernels: a code object like those of large libraries.

    many_symbols.py N >many.s
"""
import sys

n = int(sys.argv[1])
print('\t.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"\n\t.text')
for i in range(n):
    print(f"""\t.globl k{i}
\t.p2align 8
\t.type k{i},@function
k{i}:
\ts_endpgm
\t.size k{i}, .-k{i}
\t.section .rodata
\t.p2align 6
\t.amdhsa_kernel k{i}
\t\t.amdhsa_next_free_vgpr 1
\t\t.amdhsa_next_free_sgpr 1
\t\t.amdhsa_accum_offset 4
\t.end_amdhsa_kernel
\t.text""")
print(".amdgpu_metadata\namdhsa.version: [1, 1]\namdhsa.target: amdgcn-amd-amdhsa--gfx90a\namdhsa.kernels:")
for i in range(n):
    print(f"""  - .name: k{i}
    .symbol: k{i}.kd
    .kernarg_segment_size: 0
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 1
    .vgpr_count: 1
    .max_flat_workgroup_size: 64""")
print(".end_amdgpu_metadata")
