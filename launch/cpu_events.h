/*
 * cpu_events: CPU counters by name, as perf_event_open(2) takes them.
 *
 * Names are libpfm's ("perf::INSTRUCTIONS", "amd64_fam17h_zen2::RETIRED_UOPS") and some of
 * PAPI's presets ("PAPI_TOT_INS").
 *
 * Threads  one at a time: libpfm has state.
 */
#ifndef WS_LAUNCH_CPU_EVENTS_H
#define WS_LAUNCH_CPU_EVENTS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct launch_cpu_event {
	const char *name, *text;
	uint32_t type;   /* perf_event_attr.type */
	uint64_t config; /* perf_event_attr.config */
	bool available;  /* it can be opened now, by this user */
};

/* Every event of this machine; what is passed is valid during the call. Stops at a failure. */
enum ws_status launch_cpu_events_each(enum ws_status (*visit)(void *ctx,
							      const struct launch_cpu_event *event,
							      struct ws_err *err),
				      void *ctx, struct ws_err *err);

/*
 * WS_E_NOTFOUND: no such event here. WS_E_UNSUPPORTED: it counts in the kernel, or needs more than
 * type and config, which are filled besides `available`.
 */
enum ws_status launch_cpu_event_find(const char *name, struct launch_cpu_event *out_event,
				     struct ws_err *err);

#endif
