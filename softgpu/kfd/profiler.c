/*
 * profiler: the request by which a profiler has the counters of a GPU for itself, and for all queues.
 *
 * A software GPU is its process's own, so there is no other process to exclude, and all its queues count
 * anyway. What is left are the driver's checks: the capability, the GPU, and who has it already.
 */
#include <errno.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "softgpu/kfd/kfd_priv.h"

#define PROFILER_VERSION 1u

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif

static bool is_capable(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct caps[2] = { { 0 }, { 0 } };

	return syscall(SYS_capget, &head, caps) == 0 &&
	       (caps[CAP_PERFMON / 32].effective >> CAP_PERFMON % 32 & 1 ||
		caps[CAP_SYS_ADMIN / 32].effective >> CAP_SYS_ADMIN % 32 & 1);
}

static int lock_gpu(struct sg_kfd *kfd, const struct sg_kfd_profiler_args *args)
{
	uint32_t node = sg_kfd_node_of(kfd, args->pmc.gpu_id);
	bool *locked;
	int error = 0;

	if (!is_capable())
		return EPERM;
	if (!node)
		return EINVAL;
	locked = &kfd->profiled[node - 1];
	pthread_mutex_lock(&kfd->lock);
	if (args->pmc.lock == 1 && *locked)
		error = EALREADY;
	else if (args->pmc.lock > 1 || (!args->pmc.lock && !*locked))
		error = EINVAL;
	else
		*locked = args->pmc.lock;
	pthread_mutex_unlock(&kfd->lock);
	return error;
}

int sg_kfd_profiler(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct sg_kfd_profiler_args *args = args_;

	switch (args->op) {
	case SG_KFD_PROFILER_PMC:
		return lock_gpu(kfd, args);
	case SG_KFD_PROFILER_VERSION:
		args->version = PROFILER_VERSION;
		return 0;
	default:
		return EINVAL;
	}
}
