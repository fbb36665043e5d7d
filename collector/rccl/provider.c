#include "collector/rccl/rccl.h"

#include "collector/interpose/ops.h"

static void state(struct ws_writer *writer)
{
	if (!ws_asked(WS_SERVICE_RCCL))
		return;
	ws_ops_state(writer, WS_OP_RCCL, ws_rccl_ops, ws_rccl_n_ops);
	ws_enum_names_state(writer, ws_rccl_names, ws_rccl_n_names);
}

const struct ws_provider ws_provider_rccl = { "rccl", state, NULL, NULL };
