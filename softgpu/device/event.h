/*
 * event: what the host sleeps on until the device has something to say.
 *
 * Setting an event wakes everybody who waits for it; if nobody does, it stays set until the next
 * wait (or, with manual reset, until it is reset). That is the kernel driver's rule: with "the first
 * waiter takes it" two threads that wait for one signal would lose a wake-up. They still may with that
 * rule, when one waits already and the other is about to: ROCr 5.2 looks at the signal first and
 * then sleeps, for ever. So a thread that did not see an event since it was set sees it when it
 * comes to wait, once; ROCr looks at the signal again and is none the wiser.
 *
 * Each event has a mailbox, eight bytes of device memory into which the device writes the event's
 * id before it interrupts.
 *
 * Threads  any, for all functions. Destroying an event wakes its waiters with WS_EVENT_GONE.
 * Time     monotonic clock; WS_EVENT_FOREVER and the value below it mean no limit.
 */
#ifndef WS_SOFTGPU_DEVICE_EVENT_H
#define WS_SOFTGPU_DEVICE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

struct ws_vm;
struct ws_events;

#define WS_EVENT_FOREVER 0xffffffffu

enum ws_event_status {
	WS_EVENT_OK,
	WS_EVENT_TIMEOUT,
	WS_EVENT_GONE,           /* no such event, or destroyed meanwhile */
	WS_EVENT_NO_MEMORY,
};

enum ws_event_kind { WS_EVENT_SIGNAL, WS_EVENT_MEMORY_FAULT };

struct ws_memory_fault {
	uint32_t node;
	uint64_t address;
	bool write;
	bool hang;               /* not an access but a device that cannot go on */
};

struct ws_events *ws_events_create(struct ws_vm *vm);
void ws_events_destroy(struct ws_events *events);

/* Ids are never 0. *out_mailbox is an address in device memory, never 0. */
enum ws_event_status ws_event_create(struct ws_events *events, enum ws_event_kind kind,
				     bool manual_reset, bool set, uint32_t *out_id,
				     uint64_t *out_mailbox);
enum ws_event_status ws_event_destroy(struct ws_events *events, uint32_t id);
enum ws_event_status ws_event_set(struct ws_events *events, uint32_t id);
enum ws_event_status ws_event_reset(struct ws_events *events, uint32_t id);
enum ws_event_status ws_event_is_set(struct ws_events *events, uint32_t id, bool *out_set);

/* Wait for one of them, or for all. */
enum ws_event_status ws_event_wait(struct ws_events *events, const uint32_t *ids, uint32_t n,
				   bool all, uint32_t timeout_ms);

/* Hand the fault to every event of kind WS_EVENT_MEMORY_FAULT and set it. */
void ws_events_report_fault(struct ws_events *events, const struct ws_memory_fault *fault);
/* The last fault; false: there was none. */
bool ws_events_last_fault(struct ws_events *events, struct ws_memory_fault *out_fault);

#endif
