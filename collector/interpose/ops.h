/*
 * ops: what the tables say about functions, as the capture stores it. Generated code
 * defines one set per library; the library's provider writes it when a capture opens.
 *
 * Threads  constant data.
 */
#ifndef WS_COLLECTOR_INTERPOSE_OPS_H
#define WS_COLLECTOR_INTERPOSE_OPS_H

#include "collector/provider.h"

#include <stddef.h>
#include <stdint.h>

/* What AMD's tools print instead of a number, for arguments of this type. */
struct col_enum_name {
	const char *type, *text;
	int64_t value;
};

extern const struct col_op_def col_hip_ops[], col_rccl_ops[];
extern const size_t col_hip_n_ops, col_rccl_n_ops;
extern const struct col_enum_name col_hip_names[], col_rccl_names[];
extern const size_t col_hip_n_names, col_rccl_n_names;

void col_enum_names_state(struct cap_writer *writer, const struct col_enum_name *names,
			  size_t n_names);

/* The RUNTIME record once more, in a capture that was opened after the runtime was met. */
void col_runtime_state(struct cap_writer *writer, enum cap_runtime runtime, uint32_t version);

#endif
