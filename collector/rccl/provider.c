#include "collector/rccl/rccl.h"

#include "base/util.h"
#include "collector/interpose/ops.h"

static bool met;

WS_PUBLIC void col_rccl_found(const char *path)
{
	/* In this order: it may open the capture, and state() is not to say it as well. */
	col_runtime_used(CAP_RUNTIME_RCCL, 0);
	__atomic_store_n(&met, true, __ATOMIC_RELAXED);
}

static void state(struct cap_writer *writer)
{
	if (!col_asked(COL_SERVICE_RCCL))
		return;
	col_ops_state(writer, COL_OP_RCCL, col_rccl_ops, col_rccl_n_ops);
	col_enum_names_state(writer, col_rccl_names, col_rccl_n_names);
	if (__atomic_load_n(&met, __ATOMIC_RELAXED))
		col_runtime_state(writer, CAP_RUNTIME_RCCL, 0);
}

static void choose(void)
{
	col_ops_choose(COL_OP_RCCL, col_rccl_ops, col_rccl_n_ops);
}

const struct col_provider col_provider_rccl = { .name = "rccl", .choose = choose, .state = state };
