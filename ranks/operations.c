#include "ranks/operations.h"

#include "base/map.h"
#include "base/pattern.h"
#include "base/util.h"
#include "trace/collectives.h"

#include <stdlib.h>
#include <string.h>

/* clang-format off */
/*
 * Operations that make ranks wait for each other whatever their arguments are. Those with a count per
 * rank do not: a rank from which nothing comes need not be waited for. Nonblocking ones of MPI return
 * before they are done. What RCCL's kernels do has the times of the kernels.
 */
static const struct {
	const char *name;
	enum rnk_waits waits;
} waiting[] = {
	{ CAP_CLOCK_EXCHANGE,         RNK_WAITS_ALL },
	{ "MPI_Barrier",              RNK_WAITS_ALL },
	{ "MPI_Allreduce",            RNK_WAITS_ALL },
	{ "MPI_Allgather",            RNK_WAITS_ALL },
	{ "MPI_Alltoall",             RNK_WAITS_ALL },
	{ "MPI_Reduce_scatter_block", RNK_WAITS_ALL },
	{ "MPI_Bcast",                RNK_WAITS_FOR_ROOT },
	{ "MPI_Scatter",              RNK_WAITS_FOR_ROOT },
	{ "MPI_Gather",               RNK_WAITS_OF_ROOT },
	{ "MPI_Reduce",               RNK_WAITS_OF_ROOT },
	{ "ncclCommInitRank",         RNK_WAITS_ALL },
	{ "ncclCommInitRankConfig",   RNK_WAITS_ALL },
	{ "ncclCommInitRankScalable", RNK_WAITS_ALL },
	{ "ncclCommSplit",            RNK_WAITS_ALL },
	{ "ncclAllReduce",            RNK_WAITS_ALL },
	{ "ncclAllReduceWithBias",    RNK_WAITS_ALL },
	{ "ncclAllGather",            RNK_WAITS_ALL },
	{ "ncclReduceScatter",        RNK_WAITS_ALL },
	{ "ncclAllToAll",             RNK_WAITS_ALL },
	{ "ncclBroadcast",            RNK_WAITS_FOR_ROOT },
	{ "ncclBcast",                RNK_WAITS_FOR_ROOT },
	{ "ncclScatter",              RNK_WAITS_FOR_ROOT },
	{ "ncclGather",               RNK_WAITS_OF_ROOT },
	{ "ncclReduce",               RNK_WAITS_OF_ROOT },
};
/* clang-format on */

/* Both are spread before they meet: the second counts from 0, and so may the first. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t hash = (a + 1) * 0xff51afd7ed558ccdu;

	hash = ((hash ^ hash >> 32) + b) * 0xc4ceb9fe1a85ec53u;
	hash = (hash ^ hash >> 29) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

struct walk {
	const struct trc_process *process;
	rnk_operation_fn *fn;
	void *ctx;
	const char *last_name; /* names are interned: the same pointer is the same name */
	enum rnk_waits last_waits;
};

static enum rnk_waits waits_of(struct walk *walk, const char *name)
{
	if (name == walk->last_name)
		return walk->last_waits;
	walk->last_name = name;
	walk->last_waits = RNK_WAITS_NONE;
	for (size_t i = 0; i < WS_ARRAY_LEN(waiting); i++)
		if (strcmp(waiting[i].name, name) == 0)
			walk->last_waits = waiting[i].waits;
	return walk->last_waits;
}

static enum ws_status take_collective(void *ctx, const struct trc_collective *collective,
				      struct ws_err *err)
{
	struct walk *walk = ctx;
	struct rnk_operation operation = {
		.key = mix(collective->comm, collective->seq),
		.name = collective->name,
		.start_ns = collective->start_ns,
		.end_ns = collective->end_ns,
		.waits = waits_of(walk, collective->name),
		.is_root = collective->root >= 0 && (uint32_t)collective->root == collective->rank,
		.n_ranks = collective->n_ranks,
		.launch = collective->launch,
	};

	/* RCCL's call only launches it: without its kernels it has no times. */
	if (!collective->timed)
		return WS_OK;
	return walk->fn(walk->ctx, &operation, err);
}

/* ---- kernels ---- */

enum chosen { UNDECIDED, CHOSEN, NOT_CHOSEN };

struct kernel {
	enum chosen chosen;
	uint64_t hash;
	uint64_t *n_before; /* of kernels of this name: several kernels may share one */
};

static enum ws_status decide(struct kernel *kernel, const char *name,
			     const struct ws_pattern *pattern, struct ws_map *counts,
			     struct ws_err *err)
{
	struct ws_map_entry *entry;
	bool matches = false;
	enum ws_status st = ws_pattern_match(pattern, name, &matches, err);

	kernel->chosen = matches ? CHOSEN : NOT_CHOSEN;
	if (st || !matches)
		return st;
	kernel->hash = ws_hash_bytes(name, strlen(name));
	entry = ws_map_find(counts, ws_str_from(name));
	if (!entry) {
		uint64_t *count = calloc(1, sizeof(*count));

		if (!count)
			return ws_fail(err, WS_E_NOMEM, "names of kernels");
		st = ws_map_put(counts, ws_str_from(name), count, err);
		if (st) {
			free(count);
			return st;
		}
		entry = ws_map_find(counts, ws_str_from(name));
	}
	kernel->n_before = entry->value;
	return WS_OK;
}

static enum ws_status each_kernel(const struct trc_trace *trace, struct walk *walk,
				  const struct ws_pattern *pattern, struct ws_err *err)
{
	struct trc_event_query query = { .domains = TRC_DOMAIN_BIT(KERNEL_DISPATCH),
					 .order = TRC_ORDER_START,
					 .process = walk->process };
	struct kernel *kernels = calloc(walk->process->kernels.n + 1, sizeof(*kernels));
	struct trc_events *events = NULL;
	const struct trc_event *ev;
	enum ws_status st, closing;
	struct ws_map counts;

	ws_map_init(&counts, WS_MAP_STR, 1u << 20);
	st = kernels ? trc_events_open(trace, &query, &events, err)
		     : ws_fail(err, WS_E_NOMEM, "kernels");
	while (!st && (ev = trc_events_next(events))) {
		const char *name = ev->dispatch.kernel->formatted;
		struct kernel *kernel = &kernels[ev->dispatch.kernel->id];
		struct rnk_operation operation = { .name = name,
						   .start_ns = ev->start_ns,
						   .end_ns = ev->end_ns,
						   .waits = RNK_WAITS_ALL,
						   .kernel = true };

		if (kernel->chosen == UNDECIDED)
			st = decide(kernel, name, pattern, &counts, err);
		if (st || kernel->chosen == NOT_CHOSEN)
			continue;
		operation.key = mix(kernel->hash, (*kernel->n_before)++);
		st = walk->fn(walk->ctx, &operation, err);
	}
	closing = trc_events_close(events, st ? NULL : err);
	ws_map_each(entry, &counts)
		free(entry->value);
	ws_map_fini(&counts);
	free(kernels);
	return st ? st : closing;
}

enum ws_status rnk_operations_each(const struct trc_trace *trace, const struct trc_process *process,
				   const struct ws_pattern *kernels, rnk_operation_fn *fn,
				   void *ctx, struct ws_err *err)
{
	struct walk walk = { .process = process, .fn = fn, .ctx = ctx };
	enum ws_status st = WS_OK;

	/* Recorded from the middle of the run: ranks began to count at different operations. */
	if (!(process->flags & CAP_PROCESS_ATTACHED))
		st = trc_collectives_each(process, take_collective, &walk, err);
	if (!st && kernels)
		st = each_kernel(trace, &walk, kernels, err);
	return st;
}
