/*
 * fallback_agents: the agents of this machine for a process that never started the HSA runtime.
 *
 * The collector describes agents when the runtime starts. So the capture of a program that only
 * sets markers has none, although readers of the output expect those of the machine. They are
 * then recorded with a child of ours that starts the runtime under the same collector.
 *
 *	struct launch_fallback_agents fallback = { .dir = dir->path };
 *	launch_fallback_agents_add(&fallback, trace, i);
 *	trc_close(trace);
 *	launch_fallback_agents_fini(&fallback);
 */
#ifndef WS_LAUNCH_FALLBACK_AGENTS_H
#define WS_LAUNCH_FALLBACK_AGENTS_H

#include "trace/trace.h"

#include <stdbool.h>

struct launch_fallback_agents {
	const char *dir;         /* where the child's capture is kept meanwhile; NULL: add none */
	struct trc_trace *trace; /* NULL: not asked yet, or no runtime here */
	bool asked;
};

/* Does nothing for a process that has agents. Starts the child when it is first needed. */
void launch_fallback_agents_add(struct launch_fallback_agents *fallback, struct trc_trace *trace,
				size_t process);
/* After the traces that agents were added to. */
void launch_fallback_agents_fini(struct launch_fallback_agents *fallback);

#endif
