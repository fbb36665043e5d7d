/* Opening and closing: the machine comes into being here. */
#include <pthread.h>
#include <stdlib.h>

#include "softgpu/core/companion.h"
#include "softgpu/thunk/thunk_priv.h"

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static struct thunk *machine; /* kept until exit: device threads outlive exit handlers */
static uint32_t n_opened;
static bool forked_open;              /* a parent of this process had it open */
static struct thunk *_Atomic current; /* machine while it is open */

struct thunk *thunk_get(void)
{
	return atomic_load_explicit(&current, memory_order_acquire);
}

bool thunk_in_child(void)
{
	return forked_open;
}

/* The device threads and the memory stay with the parent: every call of the child fails. */
static void in_child(void)
{
	atomic_store(&current, NULL);
	sg_machine_set_current(NULL);
	machine = NULL;
	n_opened = 0;
	forked_open = true;
	pthread_mutex_init(&open_lock, NULL);
}

static enum sg_grain grain_of(uint32_t value)
{
	HsaMemFlags flags = { .Value = value };

	if (flags.ui32.CoarseGrain)
		return SG_GRAIN_COARSE;
	return flags.ui32.Uncached ? SG_GRAIN_UNCACHED : SG_GRAIN_FINE;
}

static HSAKMT_STATUS open_machine(void)
{
	static bool watching_forks;
	struct thunk *thunk = calloc(1, sizeof(*thunk));
	uint32_t n_workers;

	if (!thunk)
		return HSAKMT_STATUS_NO_MEMORY;
	thunk->machine.grain = grain_of;
	if (!sg_machine_read_environment(&thunk->machine, &n_workers)) {
		free(thunk);
		return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
	}
	if (!sg_machine_build(&thunk->machine, n_workers)) {
		sg_machine_dismantle(&thunk->machine);
		free(thunk);
		return HSAKMT_STATUS_NO_MEMORY;
	}
	if (!watching_forks)
		watching_forks = !pthread_atfork(NULL, NULL, in_child);
	machine = thunk;
	return HSAKMT_STATUS_SUCCESS;
}

EXPORT HSAKMT_STATUS hsaKmtOpenKFD(void)
{
	HSAKMT_STATUS status = HSAKMT_STATUS_SUCCESS;

	pthread_mutex_lock(&open_lock);
	if (n_opened) {
		n_opened++;
		status = HSAKMT_STATUS_KERNEL_ALREADY_OPENED;
	} else {
		if (!machine)
			status = open_machine();
		if (!status) {
			n_opened = 1;
			atomic_store(&current, machine);
			sg_machine_set_current(&machine->machine);
		}
	}
	pthread_mutex_unlock(&open_lock);
	sg_companion_load();
	return status;
}

EXPORT HSAKMT_STATUS hsaKmtCloseKFD(void)
{
	HSAKMT_STATUS status = HSAKMT_STATUS_SUCCESS;

	pthread_mutex_lock(&open_lock);
	if (!n_opened)
		status = forked_open ? HSAKMT_STATUS_SUCCESS
				     : HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
	else if (--n_opened == 0) {
		atomic_store(&current, NULL); /* the machine itself stays for the next time */
		sg_machine_set_current(NULL);
	}
	pthread_mutex_unlock(&open_lock);
	return status;
}

EXPORT HSAKMT_STATUS hsaKmtGetVersion(HsaVersionInfo *VersionInfo)
{
	THUNK_OR_RETURN(thunk);
	(void)thunk;
	if (!VersionInfo)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	VersionInfo->KernelInterfaceMajorVersion = 1;
	VersionInfo->KernelInterfaceMinorVersion = 10;
	return HSAKMT_STATUS_SUCCESS;
}
