/*
 * event: what host threads wait for until the device signals them.
 *
 * Setting an event wakes everybody who waits for it; if nobody does, it stays set until the next
 * wait (or, with manual reset, until it is reset). This is the kernel driver's rule; if only the first
 * waiter were woken, two threads that wait for one signal would lose a wake-up. With ROCr 5.2 they can
 * still lose one, when one thread waits already and the other is about to: it checks the signal first
 * and then sleeps forever. So a thread that has not seen an event since it was set sees it once when it
 * starts to wait. ROCr then checks the signal again, which is harmless.
 *
 * Each event has a mailbox, eight bytes of device memory into which the device writes the event's
 * id before it interrupts.
 *
 * Threads  any, for all functions. Destroying an event wakes its waiters with SG_EVENT_GONE.
 * Time     monotonic clock; SG_EVENT_FOREVER and the value below it mean no limit.
 */
#ifndef WS_SOFTGPU_DEVICE_EVENT_H
#define WS_SOFTGPU_DEVICE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

struct sg_vm;
struct sg_events;

#define SG_EVENT_FOREVER 0xffffffffu

enum sg_event_status {
	SG_EVENT_OK,
	SG_EVENT_TIMEOUT,
	SG_EVENT_GONE, /* no such event, or destroyed meanwhile */
	SG_EVENT_NO_MEMORY,
};

enum sg_event_kind { SG_EVENT_SIGNAL, SG_EVENT_MEMORY_FAULT };

struct sg_memory_fault {
	uint32_t node;
	uint64_t address;
	bool write;
	bool hang; /* not an access: the device cannot continue */
};

struct sg_events *sg_events_create(struct sg_vm *vm);
void sg_events_destroy(struct sg_events *events);

/* Ids are never 0. *out_mailbox is an address in device memory, never 0. */
enum sg_event_status sg_event_create(struct sg_events *events, enum sg_event_kind kind,
				     bool manual_reset, bool set, uint32_t *out_id,
				     uint64_t *out_mailbox);
enum sg_event_status sg_event_destroy(struct sg_events *events, uint32_t id);
enum sg_event_status sg_event_set(struct sg_events *events, uint32_t id);
enum sg_event_status sg_event_reset(struct sg_events *events, uint32_t id);
enum sg_event_status sg_event_is_set(struct sg_events *events, uint32_t id, bool *out_set);

/* Wait for one of them, or for all. */
enum sg_event_status sg_event_wait(struct sg_events *events, const uint32_t *ids, uint32_t n,
				   bool all, uint32_t timeout_ms);
/*
 * The same for callers who know the age of each event: how often it was set, from 1 on. A wait for an event of
 * another age than ages[i] ends at once, so nothing is lost between two waits, whoever else waits. Ages of events
 * that ended the wait are updated. An age of 0 is unknown: the rule at the top applies.
 */
enum sg_event_status sg_event_wait_aged(struct sg_events *events, const uint32_t *ids,
					uint64_t *ages, uint32_t n, bool all, uint32_t timeout_ms);

bool sg_event_is_memory_fault(struct sg_events *events,
			      uint32_t id); /* false also: no such event */
/* Hand the fault to every event of kind SG_EVENT_MEMORY_FAULT and set it. */
void sg_events_report_fault(struct sg_events *events, const struct sg_memory_fault *fault);
/* The last fault; false: there was none. */
bool sg_events_last_fault(struct sg_events *events, struct sg_memory_fault *out_fault);

#endif
