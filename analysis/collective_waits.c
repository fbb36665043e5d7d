#include "analysis/collective_waits.h"

#include "base/map.h"
#include "base/util.h"
#include "base/vec.h"
#include "trace/collectives.h"
#include "trace/trace.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 4096u

/* Of RCCL, before and after NCCL 2.19, and of its MSCCL part. */
static const char *const kernel_prefixes[] = { "ncclDevKernel", "ncclKernel", "rcclKernel",
					       "mscclKernel" };
/* Of PyTorch ("nccl:all_reduce", "c10d::allreduce_"), and as people name them. */
static const char *const range_patterns[] = {
	"nccl*",        "rccl*",       "*all_reduce*",     "*allreduce*",
	"*all_gather*", "*allgather*", "*reduce_scatter*", "*reducescatter*",
	"*all_to_all*", "*alltoall*",  "*barrier*",
};

/* One operation, on all ranks that took part. */
struct operation {
	uint64_t key, least_ns;
	uint32_t n;
};
WS_VEC_TYPE(ana_collective_ops, struct operation);

/* A name of kernels or ranges: how many the rank at hand has, and whether all had as many. */
struct name {
	uint64_t hash, n_now, n_first;
	uint32_t n_ranks;
	bool uneven;
};

struct waits {
	const struct trc_trace *trace;
	struct ana_collective_rank *ranks;
	size_t n_ranks;
	struct ana_collective_rank *rank; /* at hand */
	bool sums;                        /* second round: the least times are known */
	struct ws_map by_key, names;
	struct ana_collective_ops operations;
	WS_VEC(struct name) counted;
};

/* Reads the operations of the rank at hand and has each taken. */
typedef enum ws_status source_fn(struct waits *waits, struct ws_err *err);

static void add_to_rank(struct waits *waits, const struct operation *op, uint64_t time_ns)
{
	if (op->n < 2) /* nobody to compare with */
		return;
	waits->rank->n++;
	waits->rank->time_ns += time_ns;
	waits->rank->wait_ns += time_ns - WS_MIN(time_ns, op->least_ns);
}

static enum ws_status take(struct waits *waits, uint64_t key, uint64_t time_ns, struct ws_err *err)
{
	struct ws_map_entry *known = ws_map_find_u64(&waits->by_key, key);
	struct operation fresh = { .key = key, .least_ns = time_ns, .n = 1 };
	enum ws_status st;

	if (known) {
		struct operation *op = &waits->operations.at[(uintptr_t)known->value - 1];

		if (waits->sums) {
			add_to_rank(waits, op, time_ns);
			return WS_OK;
		}
		op->least_ns = WS_MIN(op->least_ns, time_ns);
		op->n++;
		return WS_OK;
	}
	if (waits->sums || waits->operations.n == ANA_COLLECTIVES_MAX)
		return WS_OK;
	st = ws_vec_push(&waits->operations, fresh, err);
	if (!st)
		st = ws_map_put_u64(&waits->by_key, key, (void *)(uintptr_t)waits->operations.n,
				    err);
	return st;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t both[2] = { a, b };

	return ws_hash_bytes(both, sizeof(both));
}

/* ---- collectives ---- */

static enum ws_status take_collective(void *ctx, const struct trc_collective *collective,
				      struct ws_err *err)
{
	/* RCCL's call only launches it: without its kernels it has no times. */
	if (!collective->timed || collective->n_ranks < 2)
		return WS_OK;
	return take(ctx, mix(collective->comm, collective->seq),
		    collective->end_ns - collective->start_ns, err);
}

static bool is_first_of_process(const struct waits *waits)
{
	const struct ana_collective_rank *rank = waits->ranks;

	while (rank->process != waits->rank->process)
		rank++;
	return rank == waits->rank;
}

static enum ws_status each_collective(struct waits *waits, struct ws_err *err)
{
	/* Recorded from the middle of the run: ranks began to count at different operations. */
	if (!is_first_of_process(waits) || waits->rank->process->flags & CAP_PROCESS_ATTACHED)
		return WS_OK;
	return trc_collectives_each(waits->rank->process, take_collective, waits, err);
}

/* ---- kernels and ranges, by name ---- */

/* Names are those of the trace, and live as long. NULL: too many, or no memory. */
static struct name *name_of(struct waits *waits, const char *text)
{
	struct ws_map_entry *known = ws_map_find(&waits->names, ws_str_from(text));
	struct name fresh = { .hash = ws_hash_bytes(text, strlen(text)) };
	struct ws_err ignored;

	if (known)
		return &waits->counted.at[(uintptr_t)known->value - 1];
	if (ws_vec_push(&waits->counted, fresh, &ignored) ||
	    ws_map_put(&waits->names, ws_str_from(text), (void *)(uintptr_t)waits->counted.n,
		       &ignored))
		return NULL;
	return &waits->counted.at[waits->counted.n - 1];
}

static enum ws_status take_named(struct waits *waits, const char *text, uint64_t time_ns,
				 struct ws_err *err)
{
	struct name *name = name_of(waits, text);

	if (!name || name->uneven)
		return WS_OK;
	return take(waits, mix(name->hash, name->n_now++), time_ns, err);
}

/* After a rank: what it had of each name. */
static void compare_counts(struct waits *waits)
{
	ws_vec_each(name, &waits->counted) {
		if (!waits->sums && name->n_now) {
			name->uneven |= name->n_ranks && name->n_now != name->n_first;
			name->n_first = name->n_now;
			name->n_ranks++;
		}
		name->n_now = 0;
	}
}

bool ana_is_collective_kernel(const char *name)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(kernel_prefixes); i++)
		if (ws_str_starts(ws_str_from(name), kernel_prefixes[i]))
			return true;
	return false;
}

static bool is_collective_range(const char *name)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(range_patterns); i++)
		if (fnmatch(range_patterns[i], name, FNM_CASEFOLD) == 0)
			return true;
	return false;
}

static bool has_such_kernels(const struct trc_process *process)
{
	for (uint32_t i = 0; i < process->kernels.n; i++)
		if (process->kernels.at[i].truncated &&
		    ana_is_collective_kernel(process->kernels.at[i].truncated))
			return true;
	return false;
}

static enum ws_status each_kernel(struct waits *waits, struct ws_err *err)
{
	struct trc_event_query query = { .domains = TRC_DOMAIN_BIT(KERNEL_DISPATCH),
					 .order = TRC_ORDER_START,
					 .process = waits->rank->process };
	struct trc_events *events;
	const struct trc_event *ev;
	enum ws_status st, closed;

	if (!has_such_kernels(waits->rank->process))
		return WS_OK;
	st = trc_events_open(waits->trace, &query, &events, err);
	if (st)
		return st;
	while (!st && (ev = trc_events_next(events))) {
		const char *name = ev->dispatch.kernel->truncated;

		if (ev->dispatch.agent == waits->rank->agent && ana_is_collective_kernel(name))
			st = take_named(waits, name, ev->end_ns - ev->start_ns, err);
	}
	closed = trc_events_close(events, st ? NULL : err);
	compare_counts(waits);
	return st ? st : closed;
}

static enum ws_status each_range(struct waits *waits, struct ws_err *err)
{
	struct trc_event_query query = { .domains = TRC_DOMAIN_BIT(MARKER_API),
					 .order = TRC_ORDER_START,
					 .process = waits->rank->process };
	struct trc_events *events;
	const struct trc_event *ev;
	const struct trc_ledger_sum *ledger = &waits->rank->process->ledger[CAP_DOMAIN_MARKER_API];
	uint64_t until_ns = 0; /* a range inside another one is part of it */
	enum ws_status st, closed;

	if (!is_first_of_process(waits) || !(ledger->asked || ledger->written))
		return WS_OK;
	st = trc_events_open(waits->trace, &query, &events, err);
	if (st)
		return st;
	while (!st && (ev = trc_events_next(events))) {
		if (ev->end_ns == ev->start_ns || ev->start_ns < until_ns ||
		    !is_collective_range(ev->name))
			continue;
		until_ns = ev->end_ns;
		st = take_named(waits, ev->name, ev->end_ns - ev->start_ns, err);
	}
	closed = trc_events_close(events, st ? NULL : err);
	compare_counts(waits);
	return st ? st : closed;
}

/* ---- all ranks ---- */

static enum ws_status read_all(struct waits *waits, source_fn *source, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (size_t i = 0; !st && i < waits->n_ranks; i++) {
		waits->rank = &waits->ranks[i];
		st = source(waits, err);
	}
	return st;
}

static bool has_matches(const struct waits *waits)
{
	for (size_t i = 0; i < waits->operations.n; i++)
		if (waits->operations.at[i].n >= 2)
			return true;
	return false;
}

static enum ws_status try_source(struct waits *waits, source_fn *source, bool *out_found,
				 struct ws_err *err)
{
	enum ws_status st;

	ws_map_init(&waits->by_key, WS_MAP_U64, ANA_COLLECTIVES_MAX);
	ws_map_init(&waits->names, WS_MAP_STR, NAMES_MAX);
	ws_vec_init(&waits->operations, ANA_COLLECTIVES_MAX);
	ws_vec_init(&waits->counted, NAMES_MAX);
	waits->sums = false;
	st = read_all(waits, source, err);
	*out_found = !st && has_matches(waits);
	waits->sums = true;
	if (*out_found)
		st = read_all(waits, source, err);
	ws_map_fini(&waits->by_key);
	ws_map_fini(&waits->names);
	ws_vec_fini(&waits->operations);
	ws_vec_fini(&waits->counted);
	return st;
}

enum ws_status ana_collective_waits(const struct trc_trace *trace,
				    struct ana_collective_rank *ranks, size_t n_ranks,
				    struct ws_err *err)
{
	static source_fn *const sources[] = { each_collective, each_kernel, each_range };
	struct waits waits = { .trace = trace, .ranks = ranks, .n_ranks = n_ranks };
	enum ws_status st = WS_OK;
	bool found = n_ranks < 2;

	for (size_t i = 0; !st && !found && i < WS_ARRAY_LEN(sources); i++)
		st = try_source(&waits, sources[i], &found, err);
	return st;
}
