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
struct ws_enum_name {
	const char *type, *text;
	int64_t value;
};

extern const struct ws_op_def ws_hip_ops[], ws_rccl_ops[];
extern const size_t ws_hip_n_ops, ws_rccl_n_ops;
extern const struct ws_enum_name ws_hip_names[], ws_rccl_names[];
extern const size_t ws_hip_n_names, ws_rccl_n_names;

void ws_enum_names_state(struct ws_writer *writer, const struct ws_enum_name *names,
			 size_t n_names);

/* The RUNTIME record once more, in a capture that was opened after the runtime was met. */
void ws_runtime_state(struct ws_writer *writer, enum ws_runtime runtime, uint32_t version);

#endif
