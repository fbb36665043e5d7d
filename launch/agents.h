/*
 * agents: the GPUs that a program started now would see, from AMD's runtime.
 *
 * The runtime runs in a child process, because it may abort, in the environment of
 * launch_inject_gpu(), because on a machine without a GPU it has to find the software GPU. The
 * child is `wavescope _agents`, whose output has the layout of rocminfo.
 */
#ifndef WS_LAUNCH_AGENTS_H
#define WS_LAUNCH_AGENTS_H

#include "base/error.h"
#include "base/str.h"
#include "gpu/model.h"

#include <stdbool.h>
#include <stdint.h>

#define LAUNCH_AGENTS_MAX 64

struct launch_gpu_agent {
	char arch[32];   /* "gfx90a" */
	char market[64]; /* "AMD Instinct MI210" */
	uint64_t chip_id, node, bdfid;
	uint64_t l1_kib, l2_kib;
	uint64_t n_cus, n_simds, n_ses;               /* SIMDs per CU */
	uint64_t wave_size, workgroup_max, max_waves; /* waves per CU */
	uint64_t freq_mhz;
	uint64_t mem_kib;
	const struct gpu_model *model; /* NULL: not in our table */
};

struct launch_gpu_agents {
	struct launch_gpu_agent
		at[LAUNCH_AGENTS_MAX]; /* in the runtime's order: GPU number i is at[i] */
	size_t n;
	bool soft;         /* the software GPU, not hardware */
	char runtime[512]; /* its library: path, size and time, which identify the build */
};

/* No GPU at all is WS_E_NOTFOUND. Takes a few tenths of a second. */
enum ws_status launch_gpu_agents(struct launch_gpu_agents *out_agents, struct ws_err *err);

/* The same program under the collector: its capture in @dir describes all agents, CPUs too. */
enum ws_status launch_agents_record(const char *dir, struct ws_err *err);

/* The answer as text; agents that are not GPUs are skipped. Lines that it does not know too. */
void launch_gpu_agents_parse(struct ws_str text, struct launch_gpu_agents *out_agents);

#endif
