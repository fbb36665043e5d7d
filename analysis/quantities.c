#include "analysis/quantities.h"

#include "analysis/collective_waits.h"
#include "base/util.h"
#include "base/vec.h"
#include "trace/trace.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 65536u
#define LOADS_MAX (1u << 24)
/* Not COUNTER_COLLECTION: counting runs kernels one by one, so their gaps say nothing. */
#define GPU_DOMAINS (TRC_DOMAIN_BIT(KERNEL_DISPATCH) | TRC_DOMAIN_BIT(MEMORY_COPY))

const char *const ana_call_words[] = {
#define ANA_CALL_ROW(name, word) word,
	ANA_CALL_TABLE(ANA_CALL_ROW)
#undef ANA_CALL_ROW
		NULL
};

static const char *const quantity_words[] = {
#define ANA_QUANTITY_ROW(name, word) word,
	ANA_QUANTITY_TABLE(ANA_QUANTITY_ROW)
#undef ANA_QUANTITY_ROW
};

/* What a HIP call does to the thread that calls it. The first pattern that matches counts. */
/* clang-format off */
static const struct {
	const char *pattern;
	enum ana_call call;
} call_patterns[] = {
	{ "hip*Async*",            ANA_CALL_ANY },
	{ "hip*Synchronize*",      ANA_CALL_SYNC },
	{ "hipModuleLoad*",        ANA_CALL_LOAD },
	{ "hipLibraryLoad*",       ANA_CALL_LOAD },
	{ "hip*LaunchKernel*",     ANA_CALL_LAUNCH },
	{ "hip*LaunchCooperative*", ANA_CALL_LAUNCH },
	{ "hipGraphLaunch*",       ANA_CALL_LAUNCH },
	{ "hipMemcpy*",            ANA_CALL_COPY },
	{ "hipMemset*",            ANA_CALL_ANY },
	{ "hipMalloc*",            ANA_CALL_ALLOC },
	{ "hipExtMalloc*",         ANA_CALL_ALLOC },
	{ "hipHostMalloc*",        ANA_CALL_ALLOC },
	{ "hipHostAlloc*",         ANA_CALL_ALLOC },
	{ "hipHostRegister*",      ANA_CALL_ALLOC },
	{ "hipHostUnregister*",    ANA_CALL_ALLOC },
	{ "hipFree*",              ANA_CALL_ALLOC },
	{ "hipHostFree*",          ANA_CALL_ALLOC },
};
/* clang-format on */

/* The measure of a union of intervals that come in order of their starts, inside a window. */
struct cover {
	uint64_t until_ns, sum_ns;
};

static void cover_add(struct cover *cover, uint64_t start_ns, uint64_t end_ns)
{
	start_ns = WS_MAX(start_ns, cover->until_ns);
	if (end_ns <= start_ns)
		return;
	cover->sum_ns += end_ns - start_ns;
	cover->until_ns = end_ns;
}

/* What is known of a row while events are streamed. */
struct tally {
	struct ana_quantity_row row;
	double at[ANA_QUANTITY_COUNT];
	struct cover busy, kernels;
	struct cover calls[ANA_CALL_COUNT]; /* with kernels and copies: the rest is idle time */
	uint64_t n_copy_calls;              /* also of those that do not block */
	size_t first_load, n_loads;         /* of the process, in `loads` of the scan */
};
WS_VEC_TYPE(ana_tallies, struct tally);

WS_VEC_TYPE(ana_times, uint64_t);

struct scan {
	struct ana_tallies tallies; /* GPUs */
	struct ws_map calls;        /* name of an operation to its kind, +1 */
	struct ana_times loads;     /* when code was loaded; in order within a process */
};

static struct tally *tally_of(struct scan *scan, const struct trc_process *process,
			      const struct trc_agent *agent)
{
	ws_vec_each(t, &scan->tallies)
		if (t->row.process == process && t->row.agent == agent)
			return t;
	return NULL;
}

static bool is_gpu(const struct trc_agent *agent)
{
	return agent && agent->info && agent->info->type == CAP_AGENT_GPU;
}

/* The GPUs of a kernel or a copy: none, one or two. */
static size_t gpus_of(const struct trc_event *ev, const struct trc_agent *out_gpus[2])
{
	size_t n = 0;

	if (ev->domain != CAP_DOMAIN_MEMORY_COPY) {
		if (is_gpu(ev->dispatch.agent))
			out_gpus[n++] = ev->dispatch.agent;
		return n;
	}
	if (is_gpu(ev->copy.dst))
		out_gpus[n++] = ev->copy.dst;
	if (is_gpu(ev->copy.src) && ev->copy.src != ev->copy.dst)
		out_gpus[n++] = ev->copy.src;
	return n;
}

static void keep_longest(struct ana_longest *longest, const char *what,
			 const struct trc_process *process, uint64_t start_ns, uint64_t end_ns)
{
	size_t at = longest->n;

	while (at && longest->at[at - 1].end_ns - longest->at[at - 1].start_ns < end_ns - start_ns)
		at--;
	if (at == ANA_FINDING_RECORDS_MAX)
		return;
	longest->n = WS_MIN(longest->n + 1, (size_t)ANA_FINDING_RECORDS_MAX);
	memmove(longest->at + at + 1, longest->at + at,
		(longest->n - at - 1) * sizeof(*longest->at));
	longest->at[at] = (struct ana_finding_record){ what, process, start_ns, end_ns };
}

/* ---- first pass: rows and their windows ---- */

static enum ws_status find_rows(struct scan *scan, const struct trc_trace *trace,
				struct ws_err *err)
{
	struct trc_event_query query = { .domains = GPU_DOMAINS, .order = TRC_ORDER_RECORDED };
	const struct trc_event *ev;
	struct trc_events *events;
	enum ws_status st = trc_events_open(trace, &query, &events, err), closed;

	if (st)
		return st;
	while (!st && (ev = trc_events_next(events))) {
		const struct trc_agent *gpus[2];
		size_t n = gpus_of(ev, gpus);

		for (size_t i = 0; !st && i < n; i++) {
			struct tally *t = tally_of(scan, ev->process, gpus[i]);
			struct tally fresh = { .row = { ev->process, gpus[i], ev->start_ns,
							ev->end_ns } };

			if (!t)
				st = ws_vec_push(&scan->tallies, fresh, err);
			if (!t)
				continue;
			t->row.first_ns = WS_MIN(t->row.first_ns, ev->start_ns);
			t->row.last_ns = WS_MAX(t->row.last_ns, ev->end_ns);
		}
	}
	closed = trc_events_close(events, st ? NULL : err);
	return st ? st : closed;
}

/* ---- second pass: in order of start ---- */

static void add_gpu_event(struct tally *t, const struct trc_event *ev)
{
	bool kernel = ev->domain != CAP_DOMAIN_MEMORY_COPY;
	double ns = (double)(ev->end_ns - ev->start_ns);

	if (ev->start_ns > t->busy.until_ns) {
		uint64_t gap = ev->start_ns - t->busy.until_ns;

		t->at[ANA_QUANTITY_GAPS]++;
		if (gap <= ANA_SHORT_GAP_NS)
			t->at[ANA_QUANTITY_SHORT_GAPS] += (double)gap;
		keep_longest(&t->row.idle, "idle", ev->process, t->busy.until_ns, ev->start_ns);
	}
	cover_add(&t->busy, ev->start_ns, ev->end_ns);
	for (unsigned c = 0; c < ANA_CALL_COUNT; c++)
		cover_add(&t->calls[c], ev->start_ns, ev->end_ns);
	if (kernel) {
		const struct cap_rec_dispatch *info = ev->dispatch.info;
		double groups = 1;

		for (unsigned d = 0; d < 3; d++)
			groups *= info->workgroup[d]
					  ? ceil((double)info->grid[d] / info->workgroup[d])
					  : 1;
		cover_add(&t->kernels, ev->start_ns, ev->end_ns);
		t->at[ANA_QUANTITY_KERNELS]++;
		t->at[ANA_QUANTITY_KERNEL_SUM] += ns;
		if (groups * 2 < t->at[ANA_QUANTITY_CUS] &&
		    !ana_is_collective_kernel(ev->dispatch.kernel->truncated)) {
			t->at[ANA_QUANTITY_SMALL_KERNELS]++;
			t->at[ANA_QUANTITY_SMALL_SUM] += ns;
			t->at[ANA_QUANTITY_SMALL_GROUPS] += groups;
		}
		return;
	}
	t->at[ANA_QUANTITY_COPIES]++;
	t->at[ANA_QUANTITY_COPY_SUM] += ns;
	t->at[ANA_QUANTITY_COPY_BYTES] += (double)ev->copy.info->n_bytes;
	keep_longest(&t->row.copies, ev->name, ev->process, ev->start_ns, ev->end_ns);
}

static enum ana_call kind_of_call(struct scan *scan, const char *name)
{
	struct ws_map_entry *known = ws_map_find(&scan->calls, ws_str_from(name));
	struct ws_err ignored;
	size_t i = 0;

	if (known)
		return (enum ana_call)((uintptr_t)known->value - 1);
	while (i < WS_ARRAY_LEN(call_patterns) && fnmatch(call_patterns[i].pattern, name, 0) != 0)
		i++;
	i = i < WS_ARRAY_LEN(call_patterns) ? call_patterns[i].call : ANA_CALL_ANY;
	/* Only a memory of it: without one, the patterns are matched again. */
	(void)ws_map_put(&scan->calls, ws_str_from(name), (void *)(uintptr_t)(i + 1), &ignored);
	return (enum ana_call)i;
}

static int by_time(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static enum ws_status list_loads(struct scan *scan, struct tally *t, struct ws_err *err)
{
	const struct trc_process *process = t->row.process;
	enum ws_status st = WS_OK;

	t->first_load = scan->loads.n;
	for (uint32_t i = 0; !st && i < process->code_objects.n; i++)
		if (process->code_objects.at[i].load_ns)
			st = ws_vec_push(&scan->loads, process->code_objects.at[i].load_ns, err);
	t->n_loads = scan->loads.n - t->first_load;
	if (t->n_loads)
		qsort(scan->loads.at + t->first_load, t->n_loads, sizeof(*scan->loads.at), by_time);
	return st;
}

/* Whether code was loaded during a call. */
static bool has_load(const struct scan *scan, const struct tally *t, const struct trc_event *ev)
{
	const uint64_t *loads = scan->loads.at + t->first_load;
	size_t low = 0, high = t->n_loads;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (loads[middle] < ev->start_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->n_loads && loads[low] <= ev->end_ns;
}

/* Another thread may load while this one waits or allocates; a launch loads its own code. */
static enum ana_call kind_for(const struct scan *scan, const struct tally *t,
			      const struct trc_event *ev, enum ana_call kind)
{
	if ((kind == ANA_CALL_LAUNCH || kind == ANA_CALL_ANY) && has_load(scan, t, ev))
		kind = ANA_CALL_LOAD;
	if (kind == ANA_CALL_LOAD && t->at[ANA_QUANTITY_KERNELS] < ANA_FIRST_KERNELS)
		kind = ANA_CALL_ANY;
	return kind;
}

static void add_call_of(struct tally *t, enum ana_call kind, const struct trc_event *ev,
			uint64_t start_ns, uint64_t end_ns)
{
	double *at = &t->at[ANA_QUANTITY_CALLS + 3 * kind];

	at[0]++;
	at[1] += (double)(end_ns - start_ns);
	cover_add(&t->calls[kind], start_ns, end_ns);
	keep_longest(&t->row.calls[kind], ev->name, ev->process, start_ns, end_ns);
}

static void add_call(struct scan *scan, const struct trc_event *ev)
{
	enum ana_call named = kind_of_call(scan, ev->name);

	ws_vec_each(t, &scan->tallies) {
		uint64_t start_ns = WS_MAX(ev->start_ns, t->row.first_ns);
		uint64_t end_ns = WS_MIN(ev->end_ns, t->row.last_ns);
		enum ana_call kind;

		if (t->row.process != ev->process || start_ns >= end_ns)
			continue;
		kind = kind_for(scan, t, ev, named);
		t->n_copy_calls += strncmp(ev->name, "hipMemcpy", 9) == 0;
		add_call_of(t, kind, ev, start_ns, end_ns);
		if (kind != ANA_CALL_ANY)
			add_call_of(t, ANA_CALL_ANY, ev, start_ns, end_ns);
	}
}

static enum ws_status sum_events(struct scan *scan, const struct trc_trace *trace,
				 struct ws_err *err)
{
	struct trc_event_query query = { .domains = GPU_DOMAINS | TRC_DOMAIN_BIT(HIP_API),
					 .order = TRC_ORDER_START };
	const struct trc_event *ev;
	struct trc_events *events;
	enum ws_status st = trc_events_open(trace, &query, &events, err);

	if (st)
		return st;
	while ((ev = trc_events_next(events))) {
		const struct trc_agent *gpus[2];
		size_t n;

		if (ev->domain == CAP_DOMAIN_HIP_API) {
			add_call(scan, ev);
			continue;
		}
		n = gpus_of(ev, gpus);
		for (size_t i = 0; i < n; i++)
			add_gpu_event(tally_of(scan, ev->process, gpus[i]), ev);
	}
	return trc_events_close(events, err);
}

/* Each GPU of a process is a rank. */
static enum ws_status sum_collectives(struct scan *scan, const struct trc_trace *trace,
				      struct ws_err *err)
{
	struct ana_tallies *tallies = &scan->tallies;
	struct ana_collective_rank *ranks = calloc(tallies->n + 1, sizeof(*ranks));
	enum ws_status st;

	if (!ranks)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t i = 0; i < tallies->n; i++) {
		ranks[i].process = tallies->at[i].row.process;
		ranks[i].agent = tallies->at[i].row.agent;
	}
	st = ana_collective_waits(trace, ranks, tallies->n, err);
	for (size_t i = 0; !st && i < tallies->n; i++) {
		tallies->at[i].at[ANA_QUANTITY_COLLECTIVES] = (double)ranks[i].n;
		tallies->at[i].at[ANA_QUANTITY_COLLECTIVE_SUM] = (double)ranks[i].time_ns;
		tallies->at[i].at[ANA_QUANTITY_COLLECTIVE_WAIT] = (double)ranks[i].wait_ns;
	}
	free(ranks);
	return st;
}

/* ---- tables ---- */

static bool was_recorded(const struct trc_process *process, enum cap_domain domain)
{
	return process->ledger[domain].asked || process->ledger[domain].written;
}

static void begin_row(struct tally *t)
{
	const char *program = trc_process_program(t->row.process);

	t->busy.until_ns = t->kernels.until_ns = t->row.first_ns;
	for (unsigned c = 0; c < ANA_CALL_COUNT; c++)
		t->calls[c].until_ns = t->row.first_ns;
	t->at[ANA_QUANTITY_CUS] = t->row.agent->info->cu_count;
	t->at[ANA_QUANTITY_PYTHON] = ws_str_starts(ws_str_from(program), "python");
}

static void end_row(struct tally *t)
{
	bool hip = was_recorded(t->row.process, CAP_DOMAIN_HIP_API);
	/* A database does not say what was requested; without calls that copy there are no copies. */
	bool copies =
		was_recorded(t->row.process, CAP_DOMAIN_MEMORY_COPY) || (hip && !t->n_copy_calls);
	double span = (double)(t->row.last_ns - t->row.first_ns);

	t->at[ANA_QUANTITY_SPAN] = span;
	t->at[ANA_QUANTITY_KERNEL_BUSY] = (double)t->kernels.sum_ns;
	t->at[ANA_QUANTITY_BUSY] = (double)t->busy.sum_ns;
	t->at[ANA_QUANTITY_IDLE] = span - (double)t->busy.sum_ns;
	t->at[ANA_QUANTITY_COPY_ALONE] = (double)(t->busy.sum_ns - t->kernels.sum_ns);
	t->at[ANA_QUANTITY_GPUS] = 1;
	for (unsigned q = ANA_QUANTITY_COPIES; !copies && q <= ANA_QUANTITY_COPY_ALONE; q++)
		t->at[q] = NAN;
	/* Without copies, what looks idle may be one. */
	if (!copies)
		t->at[ANA_QUANTITY_IDLE] = t->at[ANA_QUANTITY_SHORT_GAPS] = NAN;
	for (unsigned c = 0; c < ANA_CALL_COUNT; c++) {
		double *at = &t->at[ANA_QUANTITY_CALLS + 3 * c];

		at[2] = (double)(t->calls[c].sum_ns - t->busy.sum_ns);
		if (!copies)
			at[2] = NAN;
		for (unsigned i = 0; !hip && i < 3; i++)
			at[i] = NAN;
	}
}

/* A process's row: its GPUs together. */
static enum ws_status add_processes(struct scan *scan, struct ana_tallies *out, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	ws_vec_each(gpu, &scan->tallies) {
		struct tally *own = NULL;

		if (gpu->at[ANA_QUANTITY_KERNELS] == 0)
			continue;
		ws_vec_each(p, out)
			if (p->row.process == gpu->row.process)
				own = p;
		if (!own) {
			st = ws_vec_push(out, *gpu, err);
			if (st)
				return st;
			out->at[out->n - 1].row.agent = NULL;
			continue;
		}
		for (unsigned q = 0; q < ANA_QUANTITY_COUNT; q++)
			own->at[q] += gpu->at[q];
		own->at[ANA_QUANTITY_PYTHON] = gpu->at[ANA_QUANTITY_PYTHON];
		own->row.first_ns = WS_MIN(own->row.first_ns, gpu->row.first_ns);
		own->row.last_ns = WS_MAX(own->row.last_ns, gpu->row.last_ns);
		own->at[ANA_QUANTITY_SPAN] = (double)(own->row.last_ns - own->row.first_ns);
	}
	ws_vec_each(p, out) {
		p->at[ANA_QUANTITY_SIBLINGS] = 0;
		ws_vec_each(other, out)
			p->at[ANA_QUANTITY_SIBLINGS] +=
				strcmp(trc_process_program(p->row.process),
				       trc_process_program(other->row.process)) == 0;
	}
	return st;
}

static const char *column_name(struct ws_arena *arena, unsigned quantity)
{
	static const char *const forms[] = { "%s_Calls", "%s_Ns", "Idle_%s_Ns" };
	unsigned call = quantity - ANA_QUANTITY_CALLS;
	struct ws_buf text;
	const char *made;

	if (quantity < ANA_QUANTITY_CALLS)
		return quantity_words[quantity];
	ws_buf_init(&text, 256);
	for (const char *c = forms[call % 3]; *c; c++)
		if (*c == '%')
			ws_buf_add(&text, ana_call_words[call / 3]), c++;
		else
			ws_buf_add_n(&text, c, 1);
	made = text.failed ? NULL : ws_arena_strdup(arena, text.at);
	ws_buf_fini(&text);
	return made;
}

/* A table as an evaluation reads it: columns over rows. */
static enum ws_status make_table(struct ws_arena *arena, const struct ana_tallies *tallies,
				 struct wl_workload *out, struct ana_quantity_row **out_rows,
				 struct ws_err *err)
{
	struct wl_frame *frame = ws_arena_new(arena, struct wl_frame);
	struct wl_frame **frames = ws_arena_array(arena, 1, sizeof(*frames));
	struct ana_quantity_row *rows = ws_arena_array(arena, tallies->n + 1, sizeof(*rows));
	double *at =
		ws_arena_array(arena, (tallies->n + 1) * (size_t)ANA_QUANTITY_COUNT, sizeof(*at));
	enum ws_status st = WS_OK;

	if (!frame || !frames || !rows || !at)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	frame->columns = ws_arena_array(arena, ANA_QUANTITY_COUNT, sizeof(*frame->columns));
	if (!frame->columns)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	frame->name = "trace";
	frame->n_rows = tallies->n;
	frame->n_columns = ANA_QUANTITY_COUNT;
	ws_map_init(&frame->by_name, WS_MAP_STR, ANA_QUANTITY_COUNT);
	frames[0] = frame;
	*out = (struct wl_workload){
		.path = "", .arch = "", .n_rows = tallies->n, .frames = frames, .n_frames = 1
	};
	*out_rows = rows;
	for (unsigned q = 0; !st && q < ANA_QUANTITY_COUNT; q++) {
		struct wl_column *column = &frame->columns[q];
		double *values = at + (size_t)q * tallies->n;

		for (size_t i = 0; i < tallies->n; i++)
			values[i] = tallies->at[i].at[q];
		*column = (struct wl_column){ .name = column_name(arena, q), .at = values };
		if (!column->name)
			return ws_fail(err, WS_E_NOMEM, "out of memory");
		st = ws_map_put(&frame->by_name, ws_str_from(column->name), column, err);
	}
	for (size_t i = 0; i < tallies->n; i++)
		rows[i] = tallies->at[i].row;
	return st;
}

static enum ws_status fill(struct ana_quantities *q, struct scan *scan,
			   const struct trc_trace *trace, struct ws_err *err)
{
	struct ana_tallies processes;
	enum ws_status st = find_rows(scan, trace, err);

	if (st)
		return st;
	ws_vec_each(t, &scan->tallies) {
		begin_row(t);
		q->first_ns = q->first_ns ? WS_MIN(q->first_ns, t->row.first_ns) : t->row.first_ns;
		q->last_ns = WS_MAX(q->last_ns, t->row.last_ns);
	}
	for (size_t i = 0; !st && i < scan->tallies.n; i++)
		st = list_loads(scan, &scan->tallies.at[i], err);
	if (!st)
		st = sum_events(scan, trace, err);
	if (!st)
		st = sum_collectives(scan, trace, err);
	ws_vec_each(t, &scan->tallies)
		end_row(t);
	ws_vec_init(&processes, ROWS_MAX);
	if (!st)
		st = add_processes(scan, &processes, err);
	if (!st)
		st = make_table(&q->arena, &scan->tallies, &q->gpus, &q->gpu_rows, err);
	if (!st)
		st = make_table(&q->arena, &processes, &q->processes, &q->process_rows, err);
	ws_vec_fini(&processes);
	return st;
}

enum ws_status ana_quantities_create(const struct trc_trace *trace,
				     struct ana_quantities **out_quantities, struct ws_err *err)
{
	struct ana_quantities *q = calloc(1, sizeof(*q));
	struct scan scan = { .tallies = { .n = 0 } };
	enum ws_status st;

	if (!q)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	ws_arena_init(&q->arena, SIZE_MAX);
	ws_vec_init(&scan.tallies, ROWS_MAX);
	ws_map_init(&scan.calls, WS_MAP_STR, 100000);
	ws_vec_init(&scan.loads, LOADS_MAX);
	st = fill(q, &scan, trace, err);
	ws_vec_fini(&scan.tallies);
	ws_map_fini(&scan.calls);
	ws_vec_fini(&scan.loads);
	if (st)
		ana_quantities_destroy(q);
	else
		*out_quantities = q;
	return st;
}

void ana_quantities_destroy(struct ana_quantities *quantities)
{
	if (!quantities)
		return;
	if (quantities->gpus.n_frames)
		ws_map_fini(&quantities->gpus.frames[0]->by_name);
	if (quantities->processes.n_frames)
		ws_map_fini(&quantities->processes.frames[0]->by_name);
	ws_arena_fini(&quantities->arena);
	free(quantities);
}
