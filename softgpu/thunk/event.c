/* Events: created here, set by the device or the host, waited for by the host. */
#include "softgpu/device/event.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/thunk/thunk_priv.h"

#define FEW_EVENTS 64

static const HSAKMT_STATUS event_statuses[] = {
	[SG_EVENT_OK] = HSAKMT_STATUS_SUCCESS,
	[SG_EVENT_TIMEOUT] = HSAKMT_STATUS_WAIT_TIMEOUT,
	[SG_EVENT_GONE] = HSAKMT_STATUS_INVALID_HANDLE,
	[SG_EVENT_NO_MEMORY] = HSAKMT_STATUS_NO_MEMORY,
};

/*
 * Structs of destroyed events are kept for the next ones and never given back: while hsa_shut_down()
 * runs, ROCr's own thread still sets events that another thread has destroyed.
 */
static struct spare_event {
	HsaEvent event;
	struct spare_event *next;
} * spare_events;
static pthread_mutex_t spare_lock = PTHREAD_MUTEX_INITIALIZER;

static HsaEvent *take_event(void)
{
	struct spare_event *spare;

	pthread_mutex_lock(&spare_lock);
	spare = spare_events;
	if (spare)
		spare_events = spare->next;
	pthread_mutex_unlock(&spare_lock);
	if (!spare)
		spare = calloc(1, sizeof(*spare));
	return spare ? &spare->event : NULL;
}

static void keep_event(HsaEvent *event)
{
	struct spare_event *spare = (struct spare_event *)event;

	memset(event, 0, sizeof(*event)); /* id 0 is no event */
	pthread_mutex_lock(&spare_lock);
	spare->next = spare_events;
	spare_events = spare;
	pthread_mutex_unlock(&spare_lock);
}

EXPORT HSAKMT_STATUS hsaKmtCreateEvent(HsaEventDescriptor *EventDesc, bool ManualReset,
				       bool IsSignaled, HsaEvent **Event)
{
	enum sg_event_kind kind;
	enum sg_event_status status;
	HsaEvent *event;
	uint64_t mailbox;
	uint32_t id;

	THUNK_OR_RETURN(thunk);
	if (!EventDesc || !Event || EventDesc->EventType >= HSA_EVENTTYPE_MAXID)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	event = take_event();
	if (!event)
		return HSAKMT_STATUS_NO_MEMORY;
	kind = EventDesc->EventType == HSA_EVENTTYPE_MEMORY ? SG_EVENT_MEMORY_FAULT
							    : SG_EVENT_SIGNAL;
	status = sg_event_create(thunk->machine.events, kind, ManualReset, IsSignaled, &id,
				 &mailbox);
	if (status) {
		keep_event(event);
		return event_statuses[status];
	}
	event->EventId = id;
	event->EventData.EventType = EventDesc->EventType;
	event->EventData.EventData.SyncVar = EventDesc->SyncVar;
	event->EventData.HWData1 = id;
	event->EventData.HWData2 = mailbox;
	event->EventData.HWData3 = id;
	*Event = event;
	return HSAKMT_STATUS_SUCCESS;
}

EXPORT HSAKMT_STATUS hsaKmtDestroyEvent(HsaEvent *Event)
{
	enum sg_event_status status;

	THUNK_OR_RELEASED(thunk);
	if (!Event)
		return HSAKMT_STATUS_INVALID_HANDLE;
	status = sg_event_destroy(thunk->machine.events, Event->EventId);
	if (!status)
		keep_event(Event);
	return event_statuses[status];
}

EXPORT HSAKMT_STATUS hsaKmtSetEvent(HsaEvent *Event)
{
	THUNK_OR_RETURN(thunk);
	if (!Event)
		return HSAKMT_STATUS_INVALID_HANDLE;
	/* The host changed a signal that has waiters: a queue may wait for it, too. */
	sg_cp_kick(thunk->machine.cp);
	return event_statuses[sg_event_set(thunk->machine.events, Event->EventId)];
}

EXPORT HSAKMT_STATUS hsaKmtResetEvent(HsaEvent *Event)
{
	THUNK_OR_RETURN(thunk);
	if (!Event)
		return HSAKMT_STATUS_INVALID_HANDLE;
	return event_statuses[sg_event_reset(thunk->machine.events, Event->EventId)];
}

EXPORT HSAKMT_STATUS hsaKmtQueryEventState(HsaEvent *Event)
{
	enum sg_event_status status;
	bool set = false;

	THUNK_OR_RETURN(thunk);
	if (!Event)
		return HSAKMT_STATUS_INVALID_HANDLE;
	status = sg_event_is_set(thunk->machine.events, Event->EventId, &set);
	if (status)
		return event_statuses[status];
	return set ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_WAIT_TIMEOUT;
}

/* What a memory event has to tell is in the event itself after the wait. */
static void copy_fault(struct thunk *thunk, HsaEvent *event)
{
	HsaMemoryAccessFault *out = &event->EventData.EventData.MemoryAccessFault;
	struct sg_memory_fault fault;

	if (event->EventData.EventType != HSA_EVENTTYPE_MEMORY ||
	    !sg_events_last_fault(thunk->machine.events, &fault))
		return;
	memset(out, 0, sizeof(*out));
	out->NodeId = fault.node;
	out->VirtualAddress = fault.address;
	out->Failure.NotPresent = !fault.hang;
	out->Failure.ErrorType = fault.hang ? 3 : 0;
	out->Flags = HSA_EVENTID_MEMORY_FATAL_PROCESS;
}

EXPORT HSAKMT_STATUS hsaKmtWaitOnMultipleEvents(HsaEvent *Events[], HSAuint32 NumEvents,
						bool WaitOnAll, HSAuint32 Milliseconds)
{
	uint32_t few[FEW_EVENTS], *ids = few;
	enum sg_event_status status;

	THUNK_OR_RETURN(thunk);
	if (!Events || !NumEvents)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	if (NumEvents > FEW_EVENTS && !(ids = malloc(NumEvents * sizeof(*ids))))
		return HSAKMT_STATUS_NO_MEMORY;
	for (HSAuint32 i = 0; i < NumEvents; i++)
		ids[i] = Events[i] ? Events[i]->EventId : 0;
	/* Who waits has probably just rung a doorbell. */
	sg_cp_kick(thunk->machine.cp);
	status = sg_event_wait(thunk->machine.events, ids, NumEvents, WaitOnAll, Milliseconds);
	if (!status) {
		for (HSAuint32 i = 0; i < NumEvents; i++)
			copy_fault(thunk, Events[i]);
	}
	if (ids != few)
		free(ids);
	return event_statuses[status];
}

EXPORT HSAKMT_STATUS hsaKmtWaitOnEvent(HsaEvent *Event, HSAuint32 Milliseconds)
{
	if (!Event)
		return HSAKMT_STATUS_INVALID_HANDLE;
	return hsaKmtWaitOnMultipleEvents(&Event, 1, true, Milliseconds);
}
