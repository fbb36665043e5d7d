/*
 * samples: writes the PC samples of a dispatch, from the software GPU's service.
 *
 * The service keeps them with the dispatch's result; count.c calls this when it reads one.
 * The GPU samples in cycles of its own clock; the time of a record is the dispatch's start
 * plus the time of the cycle.
 *
 * Threads  start: while the runtime loads.  write: who reads results, one at a time.
 */
#ifndef WS_COLLECTOR_COUNT_SAMPLES_H
#define WS_COLLECTOR_COUNT_SAMPLES_H

#include "capture/record.h"

#include <stdbool.h>
#include <stdint.h>

struct softgpu_result;

bool col_samples_asked(void);
void col_samples_find(void *library); /* the driver library, which may have the service */
void col_samples_start(uint32_t node, uint32_t agent); /* writes a note if it cannot */
void col_samples_stop(uint32_t node);
void col_samples_write(uint32_t node, const struct softgpu_result *result,
		       const struct cap_rec_dispatch *dispatch);

#endif
