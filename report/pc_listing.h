/*
 * pc_listing: where a program's kernels spend their time: source, instructions, samples
 * and what waves were waiting for, for a terminal.
 *
 * Functions come in the order of their samples. A long function is shown around the
 * instructions that were sampled; what is left out is said.
 */
#ifndef WS_REPORT_PC_LISTING_H
#define WS_REPORT_PC_LISTING_H

#include "code/objects.h"
#include "code/samples.h"

#include <stdbool.h>
#include <stdio.h>

struct rpt_pc_listing_opts {
	unsigned n_columns;
	bool color;
	unsigned max_functions; /* 0: all */
};

enum ws_status rpt_pc_listing(FILE *to, const struct trc_process *process,
			      const struct code_pc_profile *profile, struct code_objects *objects,
			      const struct rpt_pc_listing_opts *opts, struct ws_err *err);

#endif
