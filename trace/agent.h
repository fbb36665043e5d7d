/*
 * agent: a recorded agent as the one description of agents (gpu/agent.h).
 *
 * The record keeps more than that: what AMD's output formats print stays in trc_agent.info.
 */
#ifndef WS_TRACE_AGENT_H
#define WS_TRACE_AGENT_H

#include "gpu/agent.h"
#include "trace/trace.h"

void trc_agent_describe(const struct trc_agent *agent, struct gpu_agent *out_agent);

#endif
