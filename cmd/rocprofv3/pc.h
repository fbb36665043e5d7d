/*
 * pc: what PC samples mean: their instructions and source lines in the files, and
 * --pc-report's listing.
 */
#ifndef WS_CMD_ROCPROFV3_PC_H
#define WS_CMD_ROCPROFV3_PC_H

#include "base/str.h"
#include "code/objects.h"
#include "output/output.h"

#define RP_PC_COMMENT_MAX 8192u

struct rp_pc {
	struct code_objects objects;
	struct output_decoder decoder; /* for output_config */
	char comment[RP_PC_COMMENT_MAX];
};

void rp_pc_init(struct rp_pc *pc);
void rp_pc_fini(struct rp_pc *pc); /* warns of code objects that could not be read */

/* The listing, on stdout; nothing when the process has no samples. */
enum ws_status rp_pc_report(struct rp_pc *pc, const struct trc_trace *trace,
			    const struct trc_process *process, struct ws_err *err);

#endif
