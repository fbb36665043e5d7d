/*
 * What runtimes, debuggers and checkpoints ask for. A runtime can enable the reports of exceptions
 * that debuggers are based on; the rest is not supported, which the driver says in several ways,
 * depending on what is asked first.
 */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "softgpu/device/symbols.h"
#include "softgpu/kfd/kfd_priv.h"

int sg_kfd_runtime_enable(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct sg_kfd_runtime_enable_args *args = args_;
	bool enable = args->mode_mask & SG_KFD_RUNTIME_ENABLE;
	int error = 0;

	pthread_mutex_lock(&kfd->lock);
	if (enable && kfd->reports_exceptions)
		error = EBUSY;
	else if (enable && kfd->n_queues)
		error = EEXIST; /* it holds for queues that are created later */
	else
		kfd->reports_exceptions = enable;
	pthread_mutex_unlock(&kfd->lock);
	/* The code objects that are loaded: faults are reported with their names. */
	if (enable && !error)
		sg_symbols_set_list((void *)args->r_debug);
	args->capabilities_mask = 0;
	return error;
}

int sg_kfd_dbg_trap(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct sg_kfd_dbg_trap_args *args = args_;

	if (kill((pid_t)args->pid, 0) && errno == ESRCH)
		return ESRCH;
	/* Only the first step is possible before it was enabled, and these GPUs do not have the
	 * capability. */
	return args->op == SG_KFD_DBG_TRAP_ENABLE ? EPERM : EINVAL;
}

int sg_kfd_queue_wave_state(struct sg_kfd *kfd, void *args_, size_t size)
{
	return EINVAL; /* of queues that a debugger has suspended */
}

int sg_kfd_criu(struct sg_kfd *kfd, void *args_, size_t size)
{
	/* The driver asks for CAP_CHECKPOINT_RESTORE before it looks at the request. */
	return geteuid() ? EACCES : EINVAL;
}
