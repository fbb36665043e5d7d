#include "collector/rccl/rccl.h"

#include "base/util.h"
#include "collector/interpose/ops.h"

static bool met;

WS_PUBLIC void ws_rccl_found(const char *path)
{
	/* In this order: it may open the capture, and state() is not to say it as well. */
	ws_runtime_used(WS_RUNTIME_RCCL, 0);
	__atomic_store_n(&met, true, __ATOMIC_RELAXED);
}

static void state(struct ws_writer *writer)
{
	if (!ws_asked(WS_SERVICE_RCCL))
		return;
	ws_ops_state(writer, WS_OP_RCCL, ws_rccl_ops, ws_rccl_n_ops);
	ws_enum_names_state(writer, ws_rccl_names, ws_rccl_n_names);
	if (__atomic_load_n(&met, __ATOMIC_RELAXED))
		ws_runtime_state(writer, WS_RUNTIME_RCCL, 0);
}

const struct ws_provider ws_provider_rccl = { .name = "rccl", .state = state };
