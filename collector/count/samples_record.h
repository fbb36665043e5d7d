/*
 * samples_record: the record of a PC sample, from the registers in which hardware of gfx9 describes the wave.
 *
 * The software GPU's service and ROCr both give registers, so that there is one decoder of them.
 *
 * Threads  any.
 */
#ifndef WS_COLLECTOR_COUNT_SAMPLES_RECORD_H
#define WS_COLLECTOR_COUNT_SAMPLES_RECORD_H

#include "capture/record.h"

#include <stdbool.h>
#include <stdint.h>

struct col_sample {
	uint64_t pc; /* GPU address */
	uint64_t exec, time_ns;
	uint32_t workgroup[3];
	uint32_t wave; /* in the workgroup */
	uint32_t hw_id, xcc_id;
	uint32_t snapshot,
		snapshot1; /* SQ_PERF_SNAPSHOT_DATA and DATA1; stochastic sampling only */
};

enum cap_domain col_samples_domain(void); /* of the requested method */

/* False: hardware marks a stochastic sample as not valid. */
bool col_sample_is_valid(const struct col_sample *sample);
/* All of the record but its tag. */
void col_sample_fill(struct cap_rec_pc_sample *out_rec, const struct col_sample *sample,
		     const struct cap_rec_dispatch *dispatch,
		     const struct cap_rec_code_object *code);
/*
 * Of @dispatch only the kernel, the ids and the agent are read; @code is the kernel's code object, or NULL. False:
 * there was no room, and nothing is written.
 */
bool col_sample_write(const struct col_sample *sample, const struct cap_rec_dispatch *dispatch,
		      const struct cap_rec_code_object *code);

#endif
