/*
 * machine: what is installed and permitted on this machine. Nothing is changed.
 *
 * A fact is yes or no, with a detail for the user; facts decide which features
 * work. Libraries are searched as files and not loaded, because AMD's run code
 * when they are. Only the software GPU is started, in a child process.
 */
#ifndef WS_LAUNCH_MACHINE_H
#define WS_LAUNCH_MACHINE_H

#include "base/error.h"
#include "gpu/agent.h"

#include <stdbool.h>

/*
 * One row per fact: name, group, label, facts without which it says nothing new,
 * why the lack of it matters, what to do. Doctor prints the rows in this order,
 * and a feature names the facts it needs.
 */
/* clang-format off */
#define LAUNCH_FACT_BIT(name) (1u << LAUNCH_FACT_##name)
#define LAUNCH_FACT_TABLE(X)                                                                      \
	X(DRIVER,    "GPU and driver", "amdgpu driver", 0,                                        \
	  "the amdgpu driver is not loaded",                                                      \
	  "on a machine with a GPU, 'modprobe amdgpu'; in a container, start it with "            \
	  "--device=/dev/kfd --device=/dev/dri")                                                  \
	X(GPU,       "GPU and driver", "AMD GPUs", LAUNCH_FACT_BIT(DRIVER),                       \
	  "the driver reports no AMD GPU",                                                        \
	  "'dmesg' shows what the driver found; without a GPU use the software GPU")              \
	X(KNOWN,     "GPU and driver", "its counters", LAUNCH_FACT_BIT(DRIVER) | LAUNCH_FACT_BIT(GPU), \
	  "wavescope has no counters for this GPU",                                               \
	  "counters exist for gfx908, gfx90a, gfx942 and gfx950; tracing works on all GPUs")      \
	X(KFD,       "GPU and driver", "/dev/kfd", LAUNCH_FACT_BIT(DRIVER) | LAUNCH_FACT_BIT(GPU), \
	  "/dev/kfd cannot be opened for reading and writing",                                    \
	  "join the group that owns it ('usermod -aG render,video $USER') and log in again; "     \
	  "in a container, pass --device=/dev/kfd")                                               \
	X(RENDER,    "GPU and driver", "/dev/dri", LAUNCH_FACT_BIT(DRIVER) | LAUNCH_FACT_BIT(GPU), \
	  "no /dev/dri/renderD* can be opened for reading and writing",                           \
	  "join the group 'render' and log in again; in a container, pass --device=/dev/dri")     \
	X(LEVEL,     "GPU and driver", "performance level", LAUNCH_FACT_BIT(DRIVER) | LAUNCH_FACT_BIT(GPU), \
	  "the GPU is held at its lowest clocks: times and rates are not those of normal use",    \
	  "as root: echo auto > /sys/class/drm/card0/device/power_dpm_force_performance_level "   \
	  "(profile_standard has steady clocks, for measurements)")                               \
	X(PROFILER,  "GPU and driver", "profiler request", LAUNCH_FACT_BIT(DRIVER) | LAUNCH_FACT_BIT(GPU) | LAUNCH_FACT_BIT(KFD), \
	  "this driver cannot switch on the counters of SQ for the queues of all processes",      \
	  "install AMD's amdgpu driver package of ROCm 7.0 or later, or a Linux whose driver "    \
	  "interface is 1.23 or later; counters of single kernels need neither")                  \
	X(HSA,       "ROCm",           "HSA runtime", 0,                                          \
	  "there is no HSA runtime (libhsa-runtime64.so.1)",                                      \
	  "install libhsa-runtime64-1 (Debian, Ubuntu) or ROCm")                                  \
	X(HIP,       "ROCm",           "HIP runtime", 0,                                          \
	  "there is no HIP runtime (libamdhip64.so)",                                             \
	  "install libamdhip64-5 (Debian, Ubuntu) or ROCm")                                       \
	X(HIPCC,     "ROCm",           "hipcc", 0,                                                \
	  "there is no HIP compiler that runs",                                                   \
	  "install hipcc (Debian, Ubuntu) or ROCm")                                               \
	X(TARGETS,   "ROCm",           "its GPU targets", LAUNCH_FACT_BIT(HIPCC),                 \
	  "hipcc cannot compile for gfx90a and gfx908",                                           \
	  "install its device libraries: rocm-device-libs, libamdhip64-dev (Debian, Ubuntu)")     \
	X(AQLPROFILE, "ROCm",          "aqlprofile", 0,                                           \
	  "AMD's library for hardware counters (libhsa-amd-aqlprofile64.so.1) is not installed",  \
	  "install ROCm's hsa-amd-aqlprofile, or libhsa-amd-aqlprofile64-1 (Debian)")             \
	X(PCSAMPLING, "ROCm",          "PC sampling", LAUNCH_FACT_BIT(DRIVER) | LAUNCH_FACT_BIT(GPU) | LAUNCH_FACT_BIT(KFD) | LAUNCH_FACT_BIT(HSA), \
	  "driver and runtime cannot sample the program counters of a GPU",                       \
	  "install AMD's amdgpu-dkms and the HSA runtime of ROCm 7.0 or later; Linux itself has no PC sampling") \
	X(SOFTGPU,   "wavescope",      "software GPU", 0,                                         \
	  "the software GPU's library was not found next to this program",                        \
	  "run 'make', or install wavescope again")                                               \
	X(SOFTRUNS,  "wavescope",      "ROCr starts on it", LAUNCH_FACT_BIT(SOFTGPU) | LAUNCH_FACT_BIT(HSA), \
	  "AMD's runtime fails to start on the software GPU",                                     \
	  "'wavescope info --gpu mi210' shows its message")                                       \
	X(COLLECTOR, "wavescope",      "collector", 0,                                            \
	  "the collector's library was not found next to this program",                           \
	  "run 'make', or install wavescope again")                                               \
	X(PERF,      "Permissions",    "perf events", 0,                                          \
	  "the kernel does not allow CPU performance events",                                     \
	  "as root: sysctl kernel.perf_event_paranoid=2")                                         \
	X(PERFMON,   "Permissions",    "GPU counters", 0,                                         \
	  "counters of SQ of a whole GPU, which all processes share, need CAP_PERFMON",           \
	  "run as root; in a container, start it with --cap-add=PERFMON; counters of single "     \
	  "kernels do not need it")                                                               \
	X(SOLE,      "Permissions",    "sole profiler", 0,                                        \
	  "the environment loads another profiler into programs, and both program the counters",  \
	  "unset HSA_TOOLS_LIB and ROCP_TOOL_LIBRARIES, and remove the profiler from LD_PRELOAD") \
	X(PTRACE,    "Permissions",    "ptrace", 0,                                               \
	  "the kernel does not allow attaching to a running process",                             \
	  "as root: sysctl kernel.yama.ptrace_scope=0")                                           \
	X(MEMLOCK,   "Permissions",    "locked memory", 0,                                        \
	  "the limit for locked memory is too small for perf buffers",                            \
	  "raise it with 'ulimit -l unlimited' or in /etc/security/limits.conf")                  \
	X(LAUNCHER,  "Cluster",        "launcher", 0,                                             \
	  "there is neither srun, mpirun, mpiexec nor flux",                                      \
	  "install an MPI (Debian, Ubuntu: openmpi-bin), or use a node of a cluster")
/* clang-format on */

enum launch_fact {
#define LAUNCH_FACT_ROW(name, group, label, after, why, fix) LAUNCH_FACT_##name,
	LAUNCH_FACT_TABLE(LAUNCH_FACT_ROW)
#undef LAUNCH_FACT_ROW
		LAUNCH_FACT_COUNT
};

struct launch_fact_found {
	bool yes;
	char detail[200];
};

struct launch_machine {
	char system[200]; /* one line: distribution, kernel, cores, memory */
	struct launch_fact_found facts[LAUNCH_FACT_COUNT];
	struct gpu_agents gpus;
};

/* Takes a second or two: the software GPU is started once. Fails for lack of memory only. */
enum ws_status launch_machine_look(struct launch_machine *out_machine, struct ws_err *err);

#endif
