/*
 * samples: a trace's PC samples added up per instruction.
 *
 * Memory   grows with the number of different instructions, not of samples.
 */
#ifndef WS_CODE_SAMPLES_H
#define WS_CODE_SAMPLES_H

#include "base/vec.h"
#include "trace/trace.h"

#define WS_PC_REASONS 10u /* of AMD's list, see ws_pc_reason_name() */

struct ws_pc_spot {
	uint32_t code_object;
	uint64_t offset;
	uint64_t n, n_issued; /* issued, reasons: stochastic samples only */
	uint64_t n_waiting[WS_PC_REASONS];
	uint64_t n_lanes; /* active ones, added up */
};

struct ws_pc_profile {
	WS_VEC(struct ws_pc_spot) spots; /* by code object, then offset */
	uint64_t n;                      /* samples */
	uint64_t n_lost;                 /* without a code object: they belong to no instruction */
	bool has_reasons;                /* stochastic */
};

/* Of one process. */
enum ws_status ws_pc_profile_read(const struct ws_trace *trace, const struct ws_process *process,
				  struct ws_pc_profile *out_profile, struct ws_err *err);
void ws_pc_profile_fini(struct ws_pc_profile *profile);

/* "WAITCNT"; AMD's word without its prefix. */
const char *ws_pc_reason_name(unsigned reason);

#endif
