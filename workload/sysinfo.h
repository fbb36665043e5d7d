/*
 * sysinfo: the machine a profile was made on, as one row of sysinfo.csv.
 *
 * Fields and their order are those of AMD's tool, so that its analyze reads them. What
 * cannot be found out here is an empty cell; nothing is made up. On the software GPU the
 * field vbios says so.
 */
#ifndef WS_WORKLOAD_SYSINFO_H
#define WS_WORKLOAD_SYSINFO_H

#include "base/arena.h"
#include "base/error.h"
#include "gpu/agent.h"

#include <stdbool.h>
#include <stddef.h>

/* clang-format off */
/* id, what --specs calls it, its unit, what it means */
#define WL_SYSINFO_TABLE(X)                                                                                     \
X(workload_name,          "Workload Name",          "",     "name of the workload, as given with --name")       \
X(command,                "Command",                "",     "the program that was profiled, and its arguments") \
X(ip_blocks,              "IP Blocks",              "",     "parts of the GPU that were counted")               \
X(timestamp,              "Timestamp",              "",     "when profiling began, in local time")              \
X(version,                "",                       "",     "")                                                 \
X(hostname,               "Hostname",               "",     "name of the machine")                              \
X(cpu_model,              "CPU Model",              "",     "model of the host processor")                      \
X(sbios,                  "SBIOS",                  "",     "vendor and version of the machine's firmware")     \
X(linux_distro,           "Linux Distribution",     "",     "the operating system")                             \
X(linux_kernel_version,   "Linux Kernel Version",   "",     "the kernel that is running")                       \
X(amd_gpu_kernel_version, "AMD GPU Kernel Version", "",     "version of the amdgpu driver")                     \
X(cpu_memory,             "CPU Memory",             "KB",   "memory of the host")                               \
X(gpu_memory,             "GPU Memory",             "KB",   "memory of one GPU agent")                          \
X(rocm_version,           "ROCm Version",           "",     "version of the ROCm runtime")                      \
X(vbios,                  "VBIOS",                  "",     "version of the GPU's firmware")                    \
X(compute_partition,      "Compute Partition",      "",     "how the GPU's dies are divided into agents")       \
X(memory_partition,       "Memory Partition",       "",     "how the GPU's memory is divided")                  \
X(gpu_series,             "GPU Series",             "",     "product family of the GPU")                        \
X(gpu_model,              "GPU Model",              "",     "model of the GPU, as paths name it")               \
X(gpu_arch,               "GPU Arch",               "",     "instruction set of the GPU")                       \
X(gpu_chip_id,            "Chip ID",                "",     "PCI device id of the GPU, in decimal")             \
X(gpu_l1,                 "GPU L1",                 "KiB",  "vector L1 data cache of one compute unit")         \
X(gpu_l2,                 "GPU L2",                 "KiB",  "L2 cache of one die")                              \
X(cu_per_gpu,             "CU per GPU",             "CUs",  "compute units of one agent")                       \
X(simd_per_cu,            "SIMD per CU",            "SIMDs", "vector units of one compute unit")                \
X(se_per_gpu,             "SE per GPU",             "Shader Engines", "shader engines of one agent")            \
X(wave_size,              "Wave Size",              "work-items", "work-items of one wave")                     \
X(workgroup_max_size,     "Workgroup Max Size",     "work-items", "largest workgroup")                          \
X(max_waves_per_cu,       "Max Waves per CU",       "Waves", "waves that one compute unit can hold")            \
X(max_sclk,               "Max SCLK",               "MHz",  "highest clock of the compute units")               \
X(max_mclk,               "Max MCLK",               "MHz",  "highest clock of the memory")                      \
X(cur_sclk,               "Cur SCLK",               "MHz",  "clock that is assumed for the compute units")      \
X(cur_mclk,               "Cur MCLK",               "MHz",  "clock that is assumed for the memory")             \
X(total_l2_chan,          "Total L2 Channels",      "channels", "L2 channels of all dies of one agent")         \
X(lds_banks_per_cu,       "LDS Banks per CU",       "banks", "banks of the local data share")                   \
X(sqc_per_gpu,            "SQC per GPU",            "SQCs", "scalar and instruction caches of one agent")       \
X(pipes_per_gpu,          "Pipes per GPU",          "pipes", "dispatch pipes of one agent")                     \
X(num_xcd,                "Num XCDs",               "XCDs", "dies of one agent")                                \
X(num_hbm_channels,       "HBM channels",           "channels", "memory channels of one agent")
/* clang-format on */

enum wl_sysinfo_id {
#define WL_SYSINFO_ROW(id, shown, unit, text) WL_SYSINFO_##id,
	WL_SYSINFO_TABLE(WL_SYSINFO_ROW)
#undef WL_SYSINFO_ROW
		WL_SYSINFO_COUNT
};

struct wl_sysinfo {
	const char *at[WL_SYSINFO_COUNT]; /* never NULL; in the arena */
};

struct wl_sysinfo_row {
	const char *name, *shown, *unit, *text;
};
extern const struct wl_sysinfo_row wl_sysinfo_rows[WL_SYSINFO_COUNT];

/* What only the profile knows; NULL for --specs. */
struct wl_sysinfo_run {
	const char *name;    /* --name, or the last part of the folder */
	const char *command; /* words joined by blanks */
	bool roofline;
};

/*
 * Look at the machine. @root is "" or a tree that looks like one, for the files under
 * /proc, /sys and /etc.
 */
enum ws_status wl_sysinfo_look(const char *root, const struct gpu_agent *gpu,
			       const struct wl_sysinfo_run *run, struct ws_arena *arena,
			       struct wl_sysinfo *out_info, struct ws_err *err);

/*
 * dir/sysinfo.csv, whole or not at all. @with_hbm_bw adds the memory's bandwidth in GB/s, which
 * AMD's analyze reads up to 3.1 and computes from the other fields since.
 */
enum ws_status wl_sysinfo_write(const struct wl_sysinfo *info, bool with_hbm_bw, const char *dir,
				struct ws_err *err);

#endif
