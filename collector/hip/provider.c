#include "collector/hip/hip.h"
#include "collector/hip/hooks.h"
#include "collector/hip/streams.h"
#include "collector/interpose/ops.h"

static void state(struct ws_writer *writer)
{
	if (ws_asked(WS_SERVICE_HIP_RUNTIME) || ws_asked(WS_SERVICE_HIP_COMPILER)) {
		ws_ops_state(writer, WS_OP_HIP, ws_hip_ops, ws_hip_n_ops);
		ws_enum_names_state(writer, ws_hip_names, ws_hip_n_names);
	}
	ws_hip_streams_state(writer);
	ws_hip_host_functions_state(writer);
}

static void forked(void)
{
	ws_hip_streams_forked();
	ws_hip_host_functions_forked();
}

const struct ws_provider ws_provider_hip = { "hip", state, forked, NULL };
