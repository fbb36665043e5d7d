/*
 * samples: a trace's PC samples added up per instruction.
 *
 * Memory   grows with the number of different instructions, not of samples.
 */
#ifndef WS_CODE_SAMPLES_H
#define WS_CODE_SAMPLES_H

#include "base/vec.h"
#include "trace/trace.h"

#define CODE_PC_REASONS 10u /* of AMD's list, see code_pc_reason_name() */

struct code_pc_spot {
	uint32_t code_object;
	uint64_t offset;
	uint64_t n, n_issued; /* issued, reasons: stochastic samples only */
	uint64_t n_waiting[CODE_PC_REASONS];
	uint64_t n_lanes; /* active ones, added up */
};

struct code_pc_profile {
	WS_VEC(struct code_pc_spot) spots; /* by code object, then offset */
	uint64_t n;                        /* samples */
	uint64_t n_lost;  /* without a code object: they belong to no instruction */
	bool has_reasons; /* stochastic */
};

/* Of one process. */
enum ws_status code_pc_profile_read(const struct trc_trace *trace,
				    const struct trc_process *process,
				    struct code_pc_profile *out_profile, struct ws_err *err);
void code_pc_profile_fini(struct code_pc_profile *profile);

/* "WAITCNT"; AMD's word without its prefix. */
const char *code_pc_reason_name(unsigned reason);

#endif
