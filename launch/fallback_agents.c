#include "launch/fallback_agents.h"

#include "base/log.h"
#include "launch/agents.h"

void launch_fallback_agents_add(struct launch_fallback_agents *fallback, struct trc_trace *trace,
				size_t process)
{
	struct ws_err err;

	if (trc_process_at(trace, process)->agents.n || !fallback->dir)
		return;
	if (!fallback->asked && launch_agents_trace(fallback->dir, &fallback->trace, &err))
		ws_log_debug("the agents of this machine are not listed: %s", err.text);
	fallback->asked = true;
	if (fallback->trace && trc_n_processes(fallback->trace))
		trc_borrow_agents(trace, process, trc_process_at(fallback->trace, 0));
}

void launch_fallback_agents_fini(struct launch_fallback_agents *fallback)
{
	trc_close(fallback->trace);
	*fallback = (struct launch_fallback_agents){ .dir = NULL };
}
