#include "softgpu/device/event.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "softgpu/device/vm.h"

#define CHUNK 4096u     /* events that come into being at once */
#define MAX_CHUNKS 256u /* a million events */
#define FEW 64u         /* waits this wide need no heap */
#define AUDIENCE 4u     /* threads that an event knows to have seen it */

struct waiter {
	pthread_t thread;
	pthread_cond_t wake;
	uint32_t n_missing; /* events still to come */
	bool gone;
};

struct wait_link {
	struct waiter *waiter;
	struct wait_link *next, **back;
	bool seen;
};

struct event {
	bool used, set, manual_reset;
	enum sg_event_kind kind;
	uint32_t next_free;
	uint64_t age;
	struct wait_link *links;
	pthread_t audience[AUDIENCE]; /* threads that have seen it since it was set last */
	uint32_t n_audience; /* more than AUDIENCE: every thread counts as having seen it */
};

struct chunk {
	struct event events[CHUNK];
	uint64_t mailboxes;
};

struct sg_events {
	pthread_mutex_t lock;
	struct sg_vm *vm;
	struct chunk *chunks[MAX_CHUNKS];
	uint32_t n_chunks;
	uint32_t first_free; /* 0: none */
	uint32_t last_free;  /* ids go to the back, so that a stale one is noticed */
	struct sg_memory_fault fault;
	bool has_fault;
};

static struct event *find(struct sg_events *events, uint32_t id)
{
	struct event *event;

	if (!id || id / CHUNK >= events->n_chunks)
		return NULL;
	event = &events->chunks[id / CHUNK]->events[id % CHUNK];
	return event->used ? event : NULL;
}

static struct event *slot(struct sg_events *events, uint32_t id)
{
	return &events->chunks[id / CHUNK]->events[id % CHUNK];
}

static void put_free(struct sg_events *events, uint32_t id)
{
	slot(events, id)->next_free = 0;
	if (events->first_free)
		slot(events, events->last_free)->next_free = id;
	else
		events->first_free = id;
	events->last_free = id;
}

/*
 * Locked on entry and return, but not while it allocates: who frees memory waits for the command
 * processor, which may just be setting an event.
 */
static bool grow(struct sg_events *events)
{
	struct chunk *chunk;

	pthread_mutex_unlock(&events->lock);
	chunk = calloc(1, sizeof(*chunk));
	if (chunk &&
	    sg_vm_alloc(events->vm, SG_VM_HOST, 0, CHUNK * 8, 0, false, &chunk->mailboxes)) {
		free(chunk);
		chunk = NULL;
	}
	pthread_mutex_lock(&events->lock);
	if (!chunk)
		return events->first_free != 0;
	if (events->n_chunks == MAX_CHUNKS) {
		sg_vm_free(events->vm, chunk->mailboxes);
		free(chunk);
		return events->first_free != 0;
	}
	events->chunks[events->n_chunks++] = chunk;
	/* Id 0 means "no event" to everybody. */
	for (uint32_t i = events->n_chunks == 1; i < CHUNK; i++)
		put_free(events, (events->n_chunks - 1) * CHUNK + i);
	return true;
}

struct sg_events *sg_events_create(struct sg_vm *vm)
{
	struct sg_events *events = calloc(1, sizeof(*events));

	if (!events)
		return NULL;
	pthread_mutex_init(&events->lock, NULL);
	events->vm = vm;
	return events;
}

void sg_events_destroy(struct sg_events *events)
{
	if (!events)
		return;
	for (uint32_t i = 0; i < events->n_chunks; i++) {
		sg_vm_free(events->vm, events->chunks[i]->mailboxes);
		free(events->chunks[i]);
	}
	pthread_mutex_destroy(&events->lock);
	free(events);
}

enum sg_event_status sg_event_create(struct sg_events *events, enum sg_event_kind kind,
				     bool manual_reset, bool set, uint32_t *out_id,
				     uint64_t *out_mailbox)
{
	enum sg_event_status status = SG_EVENT_NO_MEMORY;
	uint32_t id;

	pthread_mutex_lock(&events->lock);
	if (events->first_free || grow(events)) {
		id = events->first_free;
		events->first_free = slot(events, id)->next_free;
		*slot(events, id) = (struct event){ .used = true,
						    .set = set,
						    .kind = kind,
						    .age = 1,
						    .manual_reset = manual_reset,
						    .n_audience = AUDIENCE + 1 };
		*out_id = id;
		*out_mailbox = events->chunks[id / CHUNK]->mailboxes + id % CHUNK * 8;
		status = SG_EVENT_OK;
	}
	pthread_mutex_unlock(&events->lock);
	return status;
}

/* Locked. False: this thread has seen it since it was set, or it never was. */
static bool may_see(const struct event *event, pthread_t thread)
{
	for (uint32_t i = 0; i < event->n_audience && i < AUDIENCE; i++) {
		if (pthread_equal(event->audience[i], thread))
			return false;
	}
	return event->n_audience <= AUDIENCE;
}

static void mark_seen(struct event *event, pthread_t thread)
{
	if (!may_see(event, thread))
		return;
	if (event->n_audience < AUDIENCE)
		event->audience[event->n_audience] = thread;
	event->n_audience++;
}

/*
 * Locked. All threads that still wait have now seen this event. A waiter that was already satisfied but has
 * not run yet does not count: if there is no other one, the event stays set.
 */
static void set_event(struct event *event)
{
	bool delivered = false;

	event->n_audience = 0;
	event->age++;
	for (struct wait_link *link = event->links; link; link = link->next) {
		if (link->seen || !link->waiter->n_missing)
			continue;
		link->seen = true;
		delivered = true;
		mark_seen(event, link->waiter->thread);
		if (--link->waiter->n_missing == 0)
			pthread_cond_signal(&link->waiter->wake);
	}
	event->set = event->manual_reset || !delivered;
}

enum sg_event_status sg_event_destroy(struct sg_events *events, uint32_t id)
{
	struct event *event;

	pthread_mutex_lock(&events->lock);
	event = find(events, id);
	if (event) {
		struct wait_link *next;

		for (struct wait_link *link = event->links; link; link = next) {
			next = link->next;
			link->waiter->gone = true;
			link->back = NULL;
			pthread_cond_signal(&link->waiter->wake);
		}
		event->links = NULL;
		event->used = false;
		put_free(events, id);
	}
	pthread_mutex_unlock(&events->lock);
	return event ? SG_EVENT_OK : SG_EVENT_GONE;
}

enum sg_event_status sg_event_set(struct sg_events *events, uint32_t id)
{
	struct event *event;

	pthread_mutex_lock(&events->lock);
	event = find(events, id);
	if (event)
		set_event(event);
	pthread_mutex_unlock(&events->lock);
	return event ? SG_EVENT_OK : SG_EVENT_GONE;
}

enum sg_event_status sg_event_reset(struct sg_events *events, uint32_t id)
{
	struct event *event;

	pthread_mutex_lock(&events->lock);
	event = find(events, id);
	if (event) {
		event->set = false;
		event->n_audience = AUDIENCE + 1;
	}
	pthread_mutex_unlock(&events->lock);
	return event ? SG_EVENT_OK : SG_EVENT_GONE;
}

enum sg_event_status sg_event_is_set(struct sg_events *events, uint32_t id, bool *out_set)
{
	struct event *event;

	pthread_mutex_lock(&events->lock);
	event = find(events, id);
	if (event)
		*out_set = event->set;
	pthread_mutex_unlock(&events->lock);
	return event ? SG_EVENT_OK : SG_EVENT_GONE;
}

static void deadline_after(struct timespec *ts, uint32_t timeout_ms)
{
	clock_gettime(CLOCK_MONOTONIC, ts);
	ts->tv_sec += timeout_ms / 1000;
	ts->tv_nsec += (long)(timeout_ms % 1000) * 1000000;
	if (ts->tv_nsec >= 1000000000) {
		ts->tv_sec++;
		ts->tv_nsec -= 1000000000;
	}
}

static bool was_missed(const struct event *event, uint64_t age, const struct waiter *waiter)
{
	return age ? event->age != age : may_see(event, waiter->thread);
}

/* Locked. Put a link on each event's list; what is set already, or was missed, is taken. */
static void join(struct sg_events *events, const uint32_t *ids, const uint64_t *ages, uint32_t n,
		 struct waiter *waiter, struct wait_link *links)
{
	for (uint32_t i = 0; i < n; i++) {
		struct event *event = find(events, ids[i]);

		links[i] = (struct wait_link){ .waiter = waiter };
		if (!event) {
			waiter->gone = true;
			continue;
		}
		links[i].next = event->links;
		links[i].back = &event->links;
		if (event->links)
			event->links->back = &links[i].next;
		event->links = &links[i];
		if (waiter->n_missing &&
		    (event->set || was_missed(event, ages ? ages[i] : 0, waiter))) {
			links[i].seen = true;
			waiter->n_missing--;
			event->set = event->manual_reset && event->set;
			mark_seen(event, waiter->thread);
		}
	}
}

/* Locked. Take the links off; what a wait took that came to nothing is put back. */
static void leave(struct sg_events *events, const uint32_t *ids, uint64_t *ages, uint32_t n,
		  struct wait_link *links, bool satisfied)
{
	for (uint32_t i = 0; i < n; i++) {
		struct event *event = links[i].back ? find(events, ids[i]) : NULL;

		if (links[i].back) {
			*links[i].back = links[i].next;
			if (links[i].next)
				links[i].next->back = links[i].back;
		}
		if (event && links[i].seen && !satisfied)
			event->set = true;
		if (event && links[i].seen && satisfied && ages && ages[i])
			ages[i] = event->age;
	}
}

static enum sg_event_status wait_with(struct sg_events *events, const uint32_t *ids, uint64_t *ages,
				      uint32_t n, bool all, uint32_t timeout_ms,
				      struct wait_link *links)
{
	bool forever = timeout_ms >= SG_EVENT_FOREVER - 1;
	struct waiter waiter = { .thread = pthread_self(), .n_missing = all ? n : 1 };
	struct timespec deadline;
	pthread_condattr_t attr;
	bool satisfied;
	int error = 0;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&waiter.wake, &attr);
	pthread_condattr_destroy(&attr);
	if (!forever)
		deadline_after(&deadline, timeout_ms);

	pthread_mutex_lock(&events->lock);
	join(events, ids, ages, n, &waiter, links);
	while (waiter.n_missing && !waiter.gone && !error)
		error = forever ? pthread_cond_wait(&waiter.wake, &events->lock)
				: pthread_cond_timedwait(&waiter.wake, &events->lock, &deadline);
	satisfied = !waiter.n_missing;
	leave(events, ids, ages, n, links, satisfied);
	pthread_mutex_unlock(&events->lock);
	pthread_cond_destroy(&waiter.wake);
	if (satisfied)
		return SG_EVENT_OK;
	return waiter.gone ? SG_EVENT_GONE : SG_EVENT_TIMEOUT;
}

enum sg_event_status sg_event_wait(struct sg_events *events, const uint32_t *ids, uint32_t n,
				   bool all, uint32_t timeout_ms)
{
	return sg_event_wait_aged(events, ids, NULL, n, all, timeout_ms);
}

enum sg_event_status sg_event_wait_aged(struct sg_events *events, const uint32_t *ids,
					uint64_t *ages, uint32_t n, bool all, uint32_t timeout_ms)
{
	struct wait_link few[FEW], *links = few;
	enum sg_event_status status;

	if (n > FEW) {
		links = malloc(n * sizeof(*links));
		if (!links)
			return SG_EVENT_NO_MEMORY;
	}
	status = wait_with(events, ids, ages, n, all, timeout_ms, links);
	if (links != few)
		free(links);
	return status;
}

bool sg_event_is_memory_fault(struct sg_events *events, uint32_t id)
{
	struct event *event;
	bool is;

	pthread_mutex_lock(&events->lock);
	event = find(events, id);
	is = event && event->kind == SG_EVENT_MEMORY_FAULT;
	pthread_mutex_unlock(&events->lock);
	return is;
}

void sg_events_report_fault(struct sg_events *events, const struct sg_memory_fault *fault)
{
	pthread_mutex_lock(&events->lock);
	events->fault = *fault;
	events->has_fault = true;
	for (uint32_t i = 1; i < events->n_chunks * CHUNK; i++) {
		struct event *event = find(events, i);

		if (event && event->kind == SG_EVENT_MEMORY_FAULT)
			set_event(event);
	}
	pthread_mutex_unlock(&events->lock);
}

bool sg_events_last_fault(struct sg_events *events, struct sg_memory_fault *out_fault)
{
	bool has;

	pthread_mutex_lock(&events->lock);
	has = events->has_fault;
	*out_fault = events->fault;
	pthread_mutex_unlock(&events->lock);
	return has;
}
