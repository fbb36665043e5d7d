/*
 * gpu_lock: the driver's request by which a profiler has the counters of a GPU for all its queues.
 *
 * The counters of a GPU count for all processes. Those of SQ count the waves of a queue only if the queue has
 * COMPUTE_PERFCOUNT_ENABLE. Packets set it for the queue that they are in. For the queues of all processes the
 * driver does it: AMDKFD_IOC_PROFILER, operation PMC, for a process with CAP_PERFMON or CAP_SYS_ADMIN, and for one
 * process at a time. perf_event_paranoid does not matter. The lock is released when the process ends.
 *
 * The request has number 0x86 in AMD's own driver packages (ROCm 7.0 and later), and 0x28 in Linux. Its operands
 * are at one of two places, as the driver was built with PC sampling or not: its answer to the operation
 * VERSION shows where.
 *
 * Threads  any.
 */
#ifndef WS_COLLECTOR_COUNT_GPU_LOCK_H
#define WS_COLLECTOR_COUNT_GPU_LOCK_H

#include <stdbool.h>
#include <stdint.h>

struct col_gpu_lock_way {
	unsigned long request;
	uint32_t first_word; /* of the operands */
	uint32_t version;
};

/* @kfd: /dev/kfd. False: this driver has no such request. */
bool col_gpu_lock_find(int kfd, struct col_gpu_lock_way *out_way);
/*
 * @gpu_id: of the driver's topology. 0, or an errno value: EPERM: no capability, EBUSY: another process has it,
 * EINVAL: the process does not use this GPU.
 */
int col_gpu_lock_set(int kfd, const struct col_gpu_lock_way *way, uint32_t gpu_id, bool locked);

/*
 * Without the driver, among wavescope's own processes: a name that one process at a time can have, until it ends.
 * @domain, @location: of PCI. False: another one counts kernels of this GPU.
 */
bool col_gpu_claim(uint32_t domain, uint32_t location);

#endif
