#!/usr/bin/env python3
"""Write a small workload whose numbers can be reckoned by hand.

make_workload.py DIR [--slower KERNEL=FACTOR] [--more COUNTER=FACTOR] [--without COLUMN]
                     [--dispatches N] [--rename OLD=NEW] [--soft] [--no-roof]

Kernels (per dispatch, before --slower and --more):
  gemm     1 ms,   MFMA F32 20e9 FLOPs, 100 MB HBM, 400 MB L2, 800 MB L1, LDS
  saxpy    100 us, VALU F32 16.384e6 FLOPs, 98.304 MB HBM, L2 and L1
  copy     10 us,  no FLOPs
Dispatches of a kernel differ a little in time (seeded), and in nothing else.
"""
import argparse
import csv
import os
import random

KERNELS = {
    # name: (mean ns, {counter: value})
    "gemm(float const*, float const*, float*)": (1_000_000, {
        "SQ_INSTS_VALU_MFMA_MOPS_F32": 39_062_500, "SQ_INSTS_VALU": 2_000_000,
        "SQ_LDS_IDX_ACTIVE": 5_000_000, "SQ_LDS_BANK_CONFLICT": 1_000_000,
        "TCP_TOTAL_CACHE_ACCESSES_sum": 12_500_000, "TCP_TCC_READ_REQ_sum": 6_000_000,
        "TCP_TCC_WRITE_REQ_sum": 250_000, "TCC_EA_RDREQ_sum": 1_500_000,
        "TCC_EA_WRREQ_sum": 62_500, "TCC_EA_WRREQ_64B_sum": 62_500}),
    "saxpy<float>(int, float, float const*, float*)": (100_000, {
        "SQ_INSTS_VALU_FMA_F32": 128_000, "SQ_INSTS_VALU_INT32": 256_000,
        "SQ_INSTS_VALU": 512_000, "TCP_TOTAL_CACHE_ACCESSES_sum": 1_536_000,
        "TCP_TCC_READ_REQ_sum": 1_024_000, "TCP_TCC_WRITE_REQ_sum": 512_000,
        "TCC_EA_RDREQ_sum": 1_024_000, "TCC_EA_WRREQ_sum": 512_000, "TCC_EA_WRREQ_64B_sum": 512_000}),
    "copy(char*, \"a & b\", </script>)": (10_000, {
        "SQ_INSTS_VALU_INT32": 1_000, "SQ_INSTS_VALU": 2_000,
        "TCP_TOTAL_CACHE_ACCESSES_sum": 20_000, "TCP_TCC_READ_REQ_sum": 10_000,
        "TCP_TCC_WRITE_REQ_sum": 10_000, "TCC_EA_RDREQ_sum": 10_000, "TCC_EA_WRREQ_sum": 10_000,
        "TCC_EA_WRREQ_64B_sum": 10_000}),
}

COUNTERS = [f"SQ_INSTS_VALU_{op}_{t}" for t in ("F16", "F32", "F64")
            for op in ("ADD", "MUL", "FMA", "TRANS")]
COUNTERS += [f"SQ_INSTS_VALU_MFMA_MOPS_{t}" for t in ("F16", "BF16", "F32", "F64", "I8")]
COUNTERS += """SQ_INSTS_VALU SQ_INSTS_VALU_INT32 SQ_INSTS_VALU_INT64 SQ_LDS_IDX_ACTIVE
SQ_LDS_BANK_CONFLICT TCP_TOTAL_CACHE_ACCESSES_sum TCP_TCC_READ_REQ_sum TCP_TCC_WRITE_REQ_sum
TCP_TCC_ATOMIC_WITH_RET_REQ_sum TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum TCC_EA_RDREQ_sum
TCC_EA_RDREQ_32B_sum TCC_EA_WRREQ_sum TCC_EA_WRREQ_64B_sum SQ_WAVES SQ_INSTS SQ_BUSY_CU_CYCLES
GRBM_GUI_ACTIVE GRBM_COUNT SQ_ACTIVE_INST_VALU""".split()

FACTS = {
    "workload_name": "synthetic", "command": "./synthetic", "ip_blocks": "SQ|TCP|TCC|roofline",
    "timestamp": "Sun Nov 15 2026", "version": "3", "hostname": "host", "gpu_series": "MI200",
    "gpu_model": "MI210", "gpu_arch": "gfx90a", "vbios": "113", "gpu_l1": "16", "gpu_l2": "8192",
    "cu_per_gpu": "104", "simd_per_cu": "4", "se_per_gpu": "8", "wave_size": "64",
    "workgroup_max_size": "1024", "max_waves_per_cu": "32", "max_sclk": "1700", "max_mclk": "1600",
    "cur_sclk": "1700", "cur_mclk": "1600", "total_l2_chan": "32", "lds_banks_per_cu": "32",
    "sqc_per_gpu": "56", "pipes_per_gpu": "4", "hbm_bw": "1638.4", "num_xcd": "1",
    "num_hbm_channels": "32",
}

PEAKS = {
    "HBMBw": 1400, "L2Bw": 5000, "L1Bw": 9200, "LDSBw": 17700, "FP16Flops": 0, "FP32Flops": 21000,
    "FP64Flops": 20500, "I8Ops": 10000, "I32Ops": 10500, "I64Ops": 5000, "MFMAF16Flops": 165000,
    "MFMABF16Flops": 170000, "MFMAF32Flops": 41500, "MFMAF64Flops": 41000, "MFMAI8Ops": 166000,
}


def pairs(texts):
    return [(t.rsplit("=", 1)[0], float(t.rsplit("=", 1)[1])) for t in texts]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dir")
    parser.add_argument("--slower", action="append", default=[])
    parser.add_argument("--more", action="append", default=[])
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--rename", action="append", default=[])
    parser.add_argument("--dispatches", type=int, default=6)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--soft", action="store_true")
    parser.add_argument("--no-roof", action="store_true")
    args = parser.parse_args()

    os.makedirs(args.dir)
    rows, clock = [], 1_000_000
    columns = [c for c in COUNTERS if c not in args.without]
    for n in range(args.dispatches):
        for kernel, (ns, counters) in KERNELS.items():
            for name, factor in pairs(args.slower):
                ns = ns * factor if name in kernel else ns
            spread = random.Random(f"{args.seed} {n} {kernel}").uniform(0.99, 1.01)
            end = clock + round(ns * spread)
            cycles = round((end - clock) * 1.7)
            values = dict.fromkeys(COUNTERS, 0)
            values.update(SQ_WAVES=16384, SQ_INSTS=4 * counters["SQ_INSTS_VALU"],
                          SQ_BUSY_CU_CYCLES=50 * cycles, GRBM_GUI_ACTIVE=cycles, GRBM_COUNT=cycles,
                          SQ_ACTIVE_INST_VALU=counters["SQ_INSTS_VALU"])
            values.update(counters)
            for name, factor in pairs(args.more):
                values[name] = round(values[name] * factor)
            shown = kernel
            for old_new in args.rename:
                shown = shown.replace(*old_new.split("=", 1))
            rows.append([len(rows), shown, 0, 1048576, 256, 0, 0, 8, 0, 16, clock, end]
                        + [values[c] for c in columns])
            clock = end + 5_000
    with open(f"{args.dir}/pmc_perf.csv", "w", newline="") as f:
        out = csv.writer(f)
        out.writerow("Dispatch_ID Kernel_Name GPU_ID Grid_Size Workgroup_Size LDS_Per_Workgroup "
                     "Scratch_Per_Workitem Arch_VGPR Accum_VGPR SGPR Start_Timestamp "
                     "End_Timestamp".split() + columns)
        out.writerows(rows)
    facts = dict(FACTS, vbios="software GPU (wavescope)") if args.soft else FACTS
    with open(f"{args.dir}/sysinfo.csv", "w", newline="") as f:
        csv.writer(f).writerows([facts.keys(), facts.values()])
    if not args.no_roof:
        header, row = ["device"], [0]
        for name, value in PEAKS.items():
            header += [name, name + "Low", name + "High"]
            row += [value, value * 0.99, value * 1.01]
        with open(f"{args.dir}/roofline.csv", "w", newline="") as f:
            csv.writer(f).writerows([header, row])


if __name__ == "__main__":
    main()
