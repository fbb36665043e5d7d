/* Events: created by the runtime, set by the device or the host, waited for by the host. */
#include "softgpu/device/event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/kfd/kfd_priv.h"

#define EVENT_PAGE (2ull << 62)
#define MAX_WAIT 65536u /* more events than a process can have */

int sg_kfd_create_event(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct kfd_ioctl_create_event_args *args = args_;
	enum sg_event_kind kind =
		args->event_type == KFD_IOC_EVENT_MEMORY ? SG_EVENT_MEMORY_FAULT : SG_EVENT_SIGNAL;
	uint64_t mailbox;
	uint32_t id;

	if (args->event_type > KFD_IOC_EVENT_MEMORY)
		return EINVAL;
	if (sg_event_create(kfd->machine.events, kind, !args->auto_reset, false, &id, &mailbox))
		return ENOMEM;
	/* The runtime's page has so many slots; signals without one poll. */
	if (id >= KFD_SIGNAL_EVENT_LIMIT) {
		sg_event_destroy(kfd->machine.events, id);
		return ENOSPC;
	}
	args->event_id = id;
	/* Signals have slots in a page. The runtime has allocated it, and wants to hear of it
	 * each time. */
	if (args->event_type == KFD_IOC_EVENT_SIGNAL ||
	    args->event_type == KFD_IOC_EVENT_DEBUG_EVENT) {
		args->event_page_offset = EVENT_PAGE;
		args->event_trigger_data = id;
		args->event_slot_index = id;
	}
	return 0;
}

static int status_errno(enum sg_event_status status)
{
	return status ? EINVAL : 0;
}

int sg_kfd_destroy_event(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct kfd_ioctl_destroy_event_args *args = args_;

	return status_errno(sg_event_destroy(kfd->machine.events, args->event_id));
}

int sg_kfd_set_event(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct kfd_ioctl_set_event_args *args = args_;

	/* The host changed a signal that has waiters: a queue may wait for it, too. */
	sg_cp_kick(kfd->machine.cp);
	return status_errno(sg_event_set(kfd->machine.events, args->event_id));
}

int sg_kfd_reset_event(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct kfd_ioctl_reset_event_args *args = args_;

	return status_errno(sg_event_reset(kfd->machine.events, args->event_id));
}

/* What a memory event has to tell is in the caller's array after the wait. */
static bool report_fault(struct sg_kfd *kfd, uint32_t id, struct kfd_event_data *data)
{
	struct kfd_hsa_memory_exception_data *out = &data->memory_exception_data;
	struct sg_memory_fault fault;

	if (!sg_event_is_memory_fault(kfd->machine.events, id) ||
	    !sg_events_last_fault(kfd->machine.events, &fault))
		return false;
	memset(out, 0, sizeof(*out));
	out->failure.NotPresent = !fault.hang;
	out->va = fault.address;
	out->gpu_id = sg_kfd_gpu_id(&kfd->machine.topology, fault.node);
	out->ErrorType = fault.hang ? KFD_MEM_ERR_GPU_HANG : KFD_MEM_ERR_NO_RAS;
	return true;
}

/* What is at the same place in the caller's array for signals since 1.14. */
static uint64_t *age_of(struct kfd_event_data *data)
{
	_Static_assert(offsetof(struct kfd_event_data, memory_exception_data) == 0,
		       "first of the union");
	return (uint64_t *)data;
}

static bool write_back(struct sg_kfd *kfd, uint64_t to, struct kfd_event_data *data, uint64_t age)
{
	if (report_fault(kfd, data->event_id, data))
		return sg_kfd_write(to, data, sizeof(*data));
	if (age == *age_of(data))
		return true;
	return sg_kfd_write(to, &age, sizeof(age));
}

static int wait(struct sg_kfd *kfd, struct kfd_ioctl_wait_events_args *args,
		struct kfd_event_data *data, uint64_t *ages, uint32_t *ids)
{
	struct sg_events *events = kfd->machine.events;
	enum sg_event_status status;

	if (!sg_kfd_read(args->events_ptr, data, args->num_events * sizeof(*data)))
		return EFAULT;
	for (uint32_t i = 0; i < args->num_events; i++) {
		ids[i] = data[i].event_id;
		ages[i] = sg_event_is_memory_fault(events, ids[i]) ? 0 : *age_of(&data[i]);
	}
	/* Who waits has probably just rung a doorbell. */
	sg_cp_kick(kfd->machine.cp);
	status = sg_event_wait_aged(events, ids, ages, args->num_events, args->wait_for_all,
				    args->timeout);
	if (status == SG_EVENT_NO_MEMORY)
		return ENOMEM;
	if (status == SG_EVENT_GONE)
		return EINVAL;
	args->wait_result = status == SG_EVENT_TIMEOUT ? KFD_IOC_WAIT_RESULT_TIMEOUT
						       : KFD_IOC_WAIT_RESULT_COMPLETE;
	for (uint32_t i = 0; !status && i < args->num_events; i++)
		if (!write_back(kfd, args->events_ptr + i * sizeof(*data), &data[i], ages[i]))
			return EFAULT;
	return 0;
}

int sg_kfd_wait_events(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct kfd_ioctl_wait_events_args *args = args_;
	struct kfd_event_data *data;
	uint64_t *ages;
	int error = ENOMEM;

	args->wait_result = KFD_IOC_WAIT_RESULT_FAIL;
	if (!args->num_events || args->num_events > MAX_WAIT)
		return EINVAL;
	data = malloc(args->num_events * (sizeof(*data) + sizeof(uint64_t) + sizeof(uint32_t)));
	ages = (uint64_t *)(data + args->num_events);
	if (data)
		error = wait(kfd, args, data, ages, (uint32_t *)(ages + args->num_events));
	free(data);
	return error;
}
