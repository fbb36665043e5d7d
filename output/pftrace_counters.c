/*
 * The counter tracks of a Perfetto trace: bytes being copied, bytes allocated, scratch,
 * and hardware counters.
 *
 * Events come by start. A point whose value depends on what else is going on at its
 * time waits until no earlier one can come. A time that was used keeps its first value.
 */
#include "output/pftrace_priv.h"

#include <stdlib.h>

#define EDGE_NS 1000u  /* zero so long before and after */
#define BOUND_NS 5000u /* and before the first and after the last of a kind */

enum kind { COPIES, ALLOCATIONS, SCRATCH, COUNTERS, INTERVALS, N_KINDS };

static const struct {
	const char *format; /* label, number, type; of counters: label, number, counter */
	enum cap_domain category;
	bool bytes;
} kinds[N_KINDS] = {
	[COPIES] = { "COPY BYTES to %s [%u] (%s)", CAP_DOMAIN_MEMORY_COPY, true },
	[ALLOCATIONS] = { "ALLOCATE BYTES on %s [%u] (%s)", CAP_DOMAIN_MEMORY_ALLOCATION, true },
	[SCRATCH] = { "SCRATCH MEMORY on %s [%u] (%s)", CAP_DOMAIN_SCRATCH_MEMORY, true },
	[COUNTERS] = { "%s [%u] PMC %s", CAP_DOMAIN_COUNTER_COLLECTION, false },
	[INTERVALS] = { "%s [%u] PMC %s", CAP_DOMAIN_COUNTER_COLLECTION, false },
};

struct span {
	uint64_t start_ns, end_ns, n_bytes;
};

struct series {
	uint64_t uuid;
	enum kind kind;
	uint64_t recent[8]; /* times of the last points */
	unsigned n_points;
	uint64_t total_bytes; /* ALLOCATIONS: what is allocated now */
	uint64_t end_ns;      /* INTERVALS: of the last one */
	/* what waits: times, smallest first, and the copies under way */
	uint64_t *times;
	size_t n_times, cap_times;
	struct span *spans;
	size_t n_spans, cap_spans;
};

struct allocation {
	uint64_t n_bytes;
	struct series *series;
	struct allocation *next_free;
};

struct output_pf_counters {
	struct output_pf *pf;
	struct ws_map series; /* (kind, agent, counter) to struct series */
	struct ws_map live;   /* address to struct allocation */
	struct ws_arena arena;
	struct allocation *free;
	uint64_t first_ns[N_KINDS], last_ns[N_KINDS];
	struct output_counter_sum *sums;
	size_t n_sums;
};

struct output_pf_counters *output_pf_counters_create(struct output_pf *pf)
{
	struct output_pf_counters *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->pf = pf;
	ws_map_init(&c->series, WS_MAP_U64, 1u << 24);
	ws_map_init(&c->live, WS_MAP_U64, 1u << 28);
	ws_arena_init(&c->arena, (size_t)1 << 30);
	return c;
}

void output_pf_counters_destroy(struct output_pf_counters *c)
{
	if (!c)
		return;
	ws_map_each(entry, &c->series) {
		struct series *series = entry->value;

		free(series->times);
		free(series->spans);
	}
	ws_map_fini(&c->series);
	ws_map_fini(&c->live);
	ws_arena_fini(&c->arena);
	free(c->sums);
	free(c);
}

static enum ws_status no_memory(struct output_pf_counters *c)
{
	return ws_fail(c->pf->file.err, WS_E_NOMEM, "no memory for counter tracks");
}

/* ---- points ---- */

static void put_point(struct output_pf_counters *c, struct series *series, uint64_t at_ns,
		      uint64_t v)
{
	for (unsigned i = 0; i < WS_MIN(series->n_points, WS_ARRAY_LEN(series->recent)); i++)
		if (series->recent[i] == at_ns)
			return;
	series->recent[series->n_points++ % WS_ARRAY_LEN(series->recent)] = at_ns;
	output_pf_put_count(&c->pf->file, series->uuid, at_ns, v);
}

static uint64_t minus(uint64_t at_ns, uint64_t ns)
{
	return at_ns > ns ? at_ns - ns : 0;
}

static void put_series(struct output_pf_counters *c, struct series *series, const char *name)
{
	bool bytes = kinds[series->kind].bytes;
	struct output_pf_counter_track track = {
		.uuid = series->uuid,
		.name = name,
		.category = output_domain_infos[kinds[series->kind].category].category,
		.unit = bytes ? NULL : "",
		.multiplier = bytes ? 1024 : 1,
	};

	output_pf_put_counter_track(&c->pf->file, &track);
	if (series->kind != INTERVALS)
		put_point(c, series, minus(c->first_ns[series->kind], BOUND_NS), 0);
}

static struct series *find_series(struct output_pf_counters *c, enum kind kind,
				  const struct trc_agent *agent, uint32_t counter,
				  const char *counter_name)
{
	uint64_t key =
		(uint64_t)kind << 60 | (uint64_t)(agent ? agent->info->h.what : 0) << 32 | counter;
	struct series *series = ws_map_get_u64(&c->series, key);
	uint32_t number;
	const char *label;
	char name[OUTPUT_PF_NAME_MAX];

	if (series)
		return series;
	series = ws_arena_new(&c->arena, struct series);
	if (!series || ws_map_put_u64(&c->series, key, series, NULL))
		return NULL;
	series->kind = kind;
	label = output_agent_label(agent, c->pf->run->cfg->agent_index, &number);
	snprintf(name, sizeof(name), kinds[kind].format, label, number,
		 kind >= COUNTERS ? counter_name : output_agent_type_text(agent));
	output_pf_call_it(c->pf, name, sizeof(name), agent ? agent->given_name : "");
	series->uuid = output_pf_name_uuid(&c->pf->file, name);
	put_series(c, series, name);
	return series;
}

/* ---- waiting times ---- */

static bool add_time(struct series *series, uint64_t at_ns)
{
	size_t at = series->n_times;

	if (series->n_times == series->cap_times) {
		size_t cap = series->cap_times ? series->cap_times * 2 : 32;
		uint64_t *more = realloc(series->times, cap * sizeof(*more));

		if (!more)
			return false;
		series->times = more;
		series->cap_times = cap;
	}
	series->n_times++;
	for (; at && at_ns < series->times[(at - 1) / 2]; at = (at - 1) / 2)
		series->times[at] = series->times[(at - 1) / 2];
	series->times[at] = at_ns;
	return true;
}

static uint64_t pop_time(struct series *series)
{
	uint64_t top = series->times[0], last = series->times[--series->n_times];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < series->n_times) {
		if (child + 1 < series->n_times && series->times[child + 1] < series->times[child])
			child++;
		if (series->times[child] >= last)
			break;
		series->times[at] = series->times[child];
		at = child;
	}
	series->times[at] = last;
	return top;
}

/* Points before @before_ns get what was being copied at their time. */
static void settle_copies(struct output_pf_counters *c, struct series *series, uint64_t before_ns)
{
	while (series->n_times && series->times[0] < before_ns) {
		uint64_t at_ns = pop_time(series), n_bytes = 0;
		size_t n = 0;

		for (size_t i = 0; i < series->n_spans; i++) {
			struct span span = series->spans[i];

			if (span.start_ns <= at_ns && at_ns <= span.end_ns)
				n_bytes += span.n_bytes;
			if (span.end_ns >= at_ns)
				series->spans[n++] = span;
		}
		series->n_spans = n;
		put_point(c, series, at_ns, n_bytes / 1024);
	}
}

static enum ws_status take_copy(struct output_pf_counters *c, const struct trc_event *ev,
				uint64_t start_ns, uint64_t end_ns)
{
	struct series *series = find_series(c, COPIES, ev->copy.dst, 0, NULL);
	const uint64_t times[] = { minus(start_ns, EDGE_NS), start_ns,
				   start_ns + (end_ns - start_ns) / 2, end_ns, end_ns + EDGE_NS };

	if (!series)
		return no_memory(c);
	settle_copies(c, series, minus(start_ns, EDGE_NS));
	if (series->n_spans == series->cap_spans) {
		size_t cap = series->cap_spans ? series->cap_spans * 2 : 16;
		struct span *more = realloc(series->spans, cap * sizeof(*more));

		if (!more)
			return no_memory(c);
		series->spans = more;
		series->cap_spans = cap;
	}
	series->spans[series->n_spans++] =
		(struct span){ start_ns, end_ns, ev->copy.info->n_bytes };
	for (size_t i = 0; i < WS_ARRAY_LEN(times); i++)
		if (!add_time(series, times[i]))
			return no_memory(c);
	return WS_OK;
}

static void settle_allocations(struct output_pf_counters *c, struct series *series,
			       uint64_t before_ns)
{
	while (series->n_times && series->times[0] < before_ns)
		put_point(c, series, pop_time(series), series->total_bytes / 1024);
}

/* The total as it stands from @start_ns on; it is shown again at the end of the call. */
static enum ws_status change_total(struct output_pf_counters *c, struct series *series,
				   uint64_t start_ns, uint64_t end_ns, uint64_t add, uint64_t take)
{
	settle_allocations(c, series, start_ns);
	series->total_bytes += add;
	series->total_bytes -= WS_MIN(take, series->total_bytes);
	put_point(c, series, start_ns, series->total_bytes / 1024);
	return add_time(series, end_ns) ? WS_OK : no_memory(c);
}

static enum ws_status take_alloc(struct output_pf_counters *c, const struct trc_event *ev,
				 uint64_t start_ns, uint64_t end_ns)
{
	const struct cap_rec_alloc *info = ev->alloc.info;
	struct ws_map_entry *entry = ws_map_find_u64(&c->live, info->address);
	struct allocation *allocation = entry ? entry->value : NULL;
	struct series *series;
	uint64_t taken = 0;

	if (info->h.what == CAP_ALLOC_FREE || info->h.what == CAP_ALLOC_VMEM_FREE) {
		if (!allocation || !info->address)
			return WS_OK; /* made before recording began, or nothing */
		ws_map_remove_u64(&c->live, info->address);
		allocation->next_free = c->free;
		c->free = allocation;
		return change_total(c, allocation->series, start_ns, end_ns, 0,
				    allocation->n_bytes);
	}
	series = find_series(c, ALLOCATIONS, ev->alloc.agent, 0, NULL);
	if (!series)
		return no_memory(c);
	if (allocation) { /* its free was not recorded */
		taken = allocation->series == series ? allocation->n_bytes : 0;
	} else {
		allocation = c->free;
		if (allocation)
			c->free = allocation->next_free;
		else
			allocation = ws_arena_new(&c->arena, struct allocation);
		if (!allocation || ws_map_put_u64(&c->live, info->address, allocation, NULL))
			return no_memory(c);
	}
	allocation->n_bytes = info->n_bytes;
	allocation->series = series;
	return change_total(c, series, start_ns, end_ns, info->n_bytes, taken);
}

static enum ws_status take_scratch(struct output_pf_counters *c, const struct trc_event *ev,
				   uint64_t start_ns, uint64_t end_ns)
{
	struct series *series = find_series(c, SCRATCH, ev->scratch.agent, 0, NULL);
	bool alloc = ev->scratch.info->h.what == CAP_SCRATCH_ALLOC;
	uint64_t v = alloc ? ev->scratch.info->n_bytes / 1024 : 0;

	if (!series)
		return no_memory(c);
	put_point(c, series, start_ns, v);
	put_point(c, series, end_ns, v);
	return WS_OK;
}

/* What a double holds as an unsigned number; converting beyond that is undefined. */
static uint64_t to_u64(double v)
{
	return v >= 18446744073709551615.0 ? UINT64_MAX : v > 0 ? (uint64_t)v : 0;
}

static enum ws_status take_counters(struct output_pf_counters *c, const struct trc_event *ev,
				    uint64_t start_ns, uint64_t end_ns)
{
	uint32_t n_values = ev->dispatch.info->n_values;
	size_t n;

	if (n_values > c->n_sums) {
		struct output_counter_sum *more = realloc(c->sums, n_values * sizeof(*more));

		if (!more)
			return no_memory(c);
		c->sums = more;
		c->n_sums = n_values;
	}
	n = output_counter_sums(ev, c->sums, c->n_sums);
	for (size_t i = 0; i < n; i++) {
		uint32_t id = c->sums[i].counter;
		const struct trc_process *process = ev->process;
		const char *name = id < process->counters.n ? process->counters.at[id].name : "";
		struct series *series = find_series(c, COUNTERS, ev->dispatch.agent, id, name);
		uint64_t v = to_u64(c->sums[i].value);

		if (!series)
			return no_memory(c);
		put_point(c, series, minus(start_ns, EDGE_NS), 0);
		put_point(c, series, start_ns, v);
		put_point(c, series, start_ns + (end_ns - start_ns) / 2, v);
		put_point(c, series, end_ns, 0);
		put_point(c, series, end_ns + EDGE_NS, 0);
	}
	return WS_OK;
}

/* What was added, from the beginning of the interval on. */
enum ws_status output_pf_counters_interval(void *ctx, const struct output_interval *interval)
{
	struct output_pf_counters *c = ctx;
	struct series *series = find_series(c, INTERVALS, interval->agent, interval->metric->id,
					    interval->metric->counter);

	if (!series)
		return no_memory(c);
	output_pf_put_value(&c->pf->file, series->uuid, interval->start_ns, interval->value);
	series->end_ns = interval->end_ns;
	return c->pf->file.sink->err.status;
}

enum ws_status output_pf_counters_event(struct output_pf_counters *c, const struct trc_event *ev)
{
	uint64_t start_ns = ev->start_ns, end_ns = WS_MAX(ev->end_ns, start_ns);
	enum kind kind;

	switch (output_domain_infos[ev->domain].shape) {
	case OUTPUT_SHAPE_COPY:
		kind = COPIES;
		break;
	case OUTPUT_SHAPE_ALLOC:
		kind = ALLOCATIONS;
		break;
	case OUTPUT_SHAPE_SCRATCH:
		kind = SCRATCH;
		break;
	default:
		kind = COUNTERS;
		break;
	}
	if (!c->last_ns[kind])
		c->first_ns[kind] = start_ns;
	c->last_ns[kind] = WS_MAX(c->last_ns[kind], end_ns);
	switch (kind) {
	case COPIES:
		return take_copy(c, ev, start_ns, end_ns);
	case ALLOCATIONS:
		return take_alloc(c, ev, start_ns, end_ns);
	case SCRATCH:
		return take_scratch(c, ev, start_ns, end_ns);
	default:
		return take_counters(c, ev, start_ns, end_ns);
	}
}

enum ws_status output_pf_counters_flush(struct output_pf_counters *c)
{
	ws_map_each(entry, &c->series) {
		struct series *series = entry->value;

		if (series->kind == COPIES)
			settle_copies(c, series, UINT64_MAX);
		else if (series->kind == ALLOCATIONS)
			settle_allocations(c, series, UINT64_MAX);
		if (series->kind == INTERVALS)
			output_pf_put_value(&c->pf->file, series->uuid, series->end_ns, 0);
		else
			put_point(c, series, c->last_ns[series->kind] + BOUND_NS, 0);
	}
	return c->pf->file.sink->err.status;
}
