/*
 * count_events: hardware's names of the counters of a request, for a provider that programs registers.
 *
 * The software GPU's service takes counters by name. AMD's aqlprofile takes a block and the number of an event,
 * which the catalogue has; the collector gets them with the request.
 */
#ifndef WS_LAUNCH_COUNT_EVENTS_H
#define WS_LAUNCH_COUNT_EVENTS_H

#include "base/arena.h"
#include "base/error.h"
#include "collector/count/request.h"
#include "counters/catalogue.h"

/*
 * Who counts on the software GPU: "service", which is the default, or "aqlprofile". "aqlprofile-1" is the first
 * interface of that library, also on hardware. "compare" is both at once, for tests.
 */
#define LAUNCH_COUNTERS_ENV "WAVESCOPE_COUNTERS"

/* Whether counters are programmed by packets: on hardware always. WS_E_USAGE: no such provider. */
enum ws_status launch_counts_by_packets(bool soft, bool *out_packets, struct ws_err *err);

/* AMD's library can be found; if not, the message says what to install. */
enum ws_status launch_check_aqlprofile(struct ws_err *err);

/*
 * The events of all names in gpu->sets, and that of the counter which shows that counting was on at all
 * (COL_COUNT_WITNESS). They live as long as the arena and the catalogue.
 */
enum ws_status launch_count_events(struct ws_arena *arena, const struct cnt_catalogue *cat,
				   struct col_count_gpu *gpu, struct ws_err *err);

#endif
