/*
 * survey: one reading of all events when a trace is opened.
 *
 * Finds what no fact says: how much was written per service, which threads wrote,
 * when a killed process was last heard of, and which references lead nowhere.
 */
#include "trace/trace_priv.h"

#include <stdlib.h>
#include <string.h>

#define THREADS_MAX (1u << 22)

/* clang-format off */
static const struct {
	enum ws_rec_type type;
	uint32_t domains;
} type_domains[] = {
	{ WS_REC_CALL,      WS_DOMAIN_BIT(HSA_API) | WS_DOMAIN_BIT(HIP_API) | WS_DOMAIN_BIT(RCCL_API) |
			    WS_DOMAIN_BIT(ROCDECODE_API) | WS_DOMAIN_BIT(ROCJPEG_API) },
	{ WS_REC_CALL_ARGS, WS_DOMAIN_BIT(HSA_API) | WS_DOMAIN_BIT(HIP_API) | WS_DOMAIN_BIT(RCCL_API) |
			    WS_DOMAIN_BIT(ROCDECODE_API) | WS_DOMAIN_BIT(ROCJPEG_API) },
	{ WS_REC_MARKER,    WS_DOMAIN_BIT(MARKER_API) },
	{ WS_REC_DISPATCH,  WS_DOMAIN_BIT(KERNEL_DISPATCH) | WS_DOMAIN_BIT(COUNTER_COLLECTION) },
	{ WS_REC_COUNTED,   WS_DOMAIN_BIT(COUNTER_VALUES) },
	{ WS_REC_COPY,      WS_DOMAIN_BIT(MEMORY_COPY) },
	{ WS_REC_ALLOC,     WS_DOMAIN_BIT(MEMORY_ALLOCATION) },
	{ WS_REC_SCRATCH,   WS_DOMAIN_BIT(SCRATCH_MEMORY) },
	{ WS_REC_PC_SAMPLE, WS_DOMAIN_BIT(PC_SAMPLING_HOST_TRAP) |
			    WS_DOMAIN_BIT(PC_SAMPLING_STOCHASTIC) },
};
/* clang-format on */

uint64_t ws_domain_types(uint32_t domains)
{
	uint64_t types = 0;

	for (size_t i = 0; i < WS_ARRAY_LEN(type_domains); i++) {
		if (type_domains[i].domains & domains)
			types |= 1ull << (type_domains[i].type & 63);
	}
	return types;
}

enum ws_domain ws_rec_domain(const struct ws_capture *capture, const struct ws_rec *rec)
{
	switch (ws_rec_type(rec)) {
	case WS_REC_CALL:
	case WS_REC_CALL_ARGS:
		return ws_list_at(capture->pub.operations, rec->what)->domain;
	case WS_REC_MARKER:
		return WS_DOMAIN_MARKER_API;
	case WS_REC_DISPATCH:
		return ((const struct ws_rec_dispatch *)rec)->flags & WS_DISPATCH_UNASKED
			       ? WS_DOMAIN_COUNTER_COLLECTION
			       : WS_DOMAIN_KERNEL_DISPATCH;
	case WS_REC_COUNTED:
		return WS_DOMAIN_COUNTER_VALUES;
	case WS_REC_COPY:
		return WS_DOMAIN_MEMORY_COPY;
	case WS_REC_ALLOC:
		return WS_DOMAIN_MEMORY_ALLOCATION;
	case WS_REC_SCRATCH:
		return WS_DOMAIN_SCRATCH_MEMORY;
	case WS_REC_PC_SAMPLE:
		return rec->what & WS_PC_STOCHASTIC ? WS_DOMAIN_PC_SAMPLING_STOCHASTIC
						    : WS_DOMAIN_PC_SAMPLING_HOST_TRAP;
	default:
		return WS_DOMAIN_COUNT;
	}
}

/* When a record's event ended, and in which clock; false for records that are no events. */
static bool end_of(const struct ws_rec *rec, uint64_t *out_end, bool *out_ticks)
{
	*out_ticks = true;
	switch (ws_rec_type(rec)) {
	case WS_REC_CALL:
	case WS_REC_CALL_ARGS:
		*out_end = ((const struct ws_rec_call *)rec)->end_ticks;
		return true;
	case WS_REC_MARKER:
		*out_end = ((const struct ws_rec_marker *)rec)->end_ticks;
		return true;
	case WS_REC_ALLOC:
		*out_end = ((const struct ws_rec_alloc *)rec)->end_ticks;
		return true;
	case WS_REC_SCRATCH:
		*out_end = ((const struct ws_rec_scratch *)rec)->end_ticks;
		return true;
	}
	*out_ticks = false;
	switch (ws_rec_type(rec)) {
	case WS_REC_DISPATCH:
		*out_end = ((const struct ws_rec_dispatch *)rec)->end_ns;
		return true;
	case WS_REC_COPY:
		*out_end = ((const struct ws_rec_copy *)rec)->end_ns;
		return true;
	case WS_REC_PC_SAMPLE:
	case WS_REC_COUNTED:
		*out_end = rec->time;
		return true;
	}
	return false;
}

static bool is_mark(const struct ws_rec *rec)
{
	return ws_rec_type(rec) == WS_REC_MARKER && rec->what != WS_MARKER_THREAD_RANGE &&
	       rec->what != WS_MARKER_PROCESS_RANGE;
}

bool ws_rec_times(const struct ws_capture *capture, const struct ws_rec *rec, size_t *hint,
		  uint64_t *out_start, uint64_t *out_end)
{
	uint64_t start = rec->time, end;
	bool ticks;

	if (!end_of(rec, &end, &ticks))
		return false;
	if (ticks) {
		start = ws_clock_ns(&capture->clock, rec->time, hint);
		end = end <= rec->time ? start : ws_clock_ns(&capture->clock, end, hint);
		/*
		 * A call takes time: one that ends in the nanosecond of its start would be
		 * an instant in the formats that tell the two apart.
		 */
		if (end <= start && !is_mark(rec))
			end = start + 1;
	}
	start = ws_capture_shift(capture, start);
	end = ws_capture_shift(capture, end);
	/* Nothing ends before it begins, nor lies where the formats' signed numbers end. */
	*out_start = WS_MIN(start, (uint64_t)INT64_MAX - 1);
	*out_end = WS_MIN(WS_MAX(end, *out_start), (uint64_t)INT64_MAX);
	return true;
}

struct survey {
	struct ws_capture *capture;
	struct ws_map tids;    /* tid -> non-NULL */
	struct ws_map helpers; /* the same: who wrote down what others did */
	uint32_t last_tid, last_helper;
	size_t hint;
	uint64_t last_ns;
	struct ws_launch_block *launch_hint;
	struct ws_err *err;
};

static enum ws_status see_thread(struct survey *s, uint32_t tid)
{
	if (!tid || tid == s->last_tid)
		return WS_OK;
	s->last_tid = tid;
	return ws_map_put_u64(&s->tids, tid, s, s->err);
}

static enum ws_status see_helper(struct survey *s, uint32_t tid)
{
	if (tid == s->last_helper)
		return WS_OK;
	s->last_helper = tid;
	return ws_map_put_u64(&s->helpers, tid, s, s->err);
}

static void count(struct survey *s, enum ws_domain domain, const struct ws_rec *rec, uint64_t start,
		  uint64_t end)
{
	struct ws_ledger_sum *sum = &s->capture->pub.ledger[domain];

	sum->first_ns = sum->written ? WS_MIN(sum->first_ns, start) : start;
	sum->last_ns = WS_MAX(sum->last_ns, end);
	sum->written++;
	sum->record_bytes += ws_rec_bytes(rec);
}

static uint32_t thread_field(const struct ws_rec *rec)
{
	switch (ws_rec_type(rec)) {
	case WS_REC_DISPATCH:
		return ((const struct ws_rec_dispatch *)rec)->tid;
	case WS_REC_COPY:
		return ((const struct ws_rec_copy *)rec)->tid;
	case WS_REC_SCRATCH:
		return ((const struct ws_rec_scratch *)rec)->tid;
	default:
		return 0;
	}
}

static bool dangles(const struct ws_process *p, const struct ws_rec *rec)
{
	const struct ws_rec_dispatch *d = (const struct ws_rec_dispatch *)rec;
	const struct ws_rec_copy *c = (const struct ws_rec_copy *)rec;

	switch (ws_rec_type(rec)) {
	case WS_REC_DISPATCH:
		return !ws_list_at(p->kernels, d->h.what)->info ||
		       !ws_list_at(p->queues, d->queue)->info || !ws_process_agent(p, d->agent);
	case WS_REC_COPY:
		return !ws_process_agent(p, c->dst_agent) || !ws_process_agent(p, c->src_agent);
	case WS_REC_CALL:
	case WS_REC_CALL_ARGS:
		return !ws_list_at(p->operations, rec->what)->name[0];
	default:
		return false;
	}
}

static enum ws_status see_launch(struct survey *s, const struct ws_rec_dispatch *d)
{
	return d->flags & WS_DISPATCH_ORDERED
		       ? ws_launches_add(&s->capture->launches, &s->capture->arena, d->dispatch_id,
					 &s->launch_hint, s->err)
		       : WS_OK;
}

static enum ws_status see(struct survey *s, const struct ws_rec *rec, uint32_t owner)
{
	enum ws_status st = WS_OK;

	enum ws_domain domain = ws_rec_domain(s->capture, rec);
	uint32_t tid = thread_field(rec);
	uint64_t start, end;

	/* How a dispatch was counted is no event of its own. */
	if (domain == WS_DOMAIN_COUNTER_VALUES ||
	    !ws_rec_times(s->capture, rec, &s->hint, &start, &end))
		return WS_OK;
	s->capture->pub.n_dangling += dangles(&s->capture->pub, rec);
	s->last_ns = WS_MAX(s->last_ns, end);
	if (domain < WS_DOMAIN_COUNT)
		count(s, domain, rec, start, end);
	if (domain == WS_DOMAIN_KERNEL_DISPATCH && ((const struct ws_rec_dispatch *)rec)->n_values)
		count(s, WS_DOMAIN_COUNTER_COLLECTION, rec, start, end);
	if (ws_rec_type(rec) == WS_REC_DISPATCH)
		st = see_launch(s, (const struct ws_rec_dispatch *)rec);
	/* Who launched it, not the helper that wrote it down: that one is no thread of the program.
	 */
	if (!st && tid && tid != owner)
		st = see_helper(s, owner);
	return st ? st : see_thread(s, tid ? tid : owner);
}

static int by_tid(const void *a, const void *b)
{
	const struct ws_thread *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static enum ws_status make_threads(struct survey *s)
{
	struct ws_capture *c = s->capture;
	struct ws_process *p = &c->pub;
	struct ws_thread *threads;
	enum ws_status st = ws_map_put_u64(&s->tids, p->main_tid, s, s->err); /* even a damaged 0 */
	uint32_t index = 0;
	size_t n = 0;

	for (size_t i = 0; !st && i < c->named_threads.n; i++)
		if (!ws_map_get_u64(&s->helpers, c->named_threads.at[i].tid))
			st = see_thread(s, c->named_threads.at[i].tid);
	if (st)
		return st;
	threads = ws_arena_array(&c->arena, s->tids.n + 1, sizeof(*threads));
	if (!threads)
		return ws_fail(s->err, WS_E_NOMEM, "capture '%s': too many threads", p->path);
	ws_map_each(entry, &s->tids)
		threads[n++] =
			(struct ws_thread){ .tid = (uint32_t)entry->num, .name = "", .process = p };
	qsort(threads, n, sizeof(*threads), by_tid);
	p->threads.at = threads;
	p->threads.n = n;
	for (size_t i = 0; i < c->named_threads.n; i++) {
		struct ws_thread *named = &c->named_threads.at[i];
		struct ws_thread *thread = bsearch(named, threads, n, sizeof(*threads), by_tid);

		if (thread)
			*thread = *named;
	}
	for (size_t i = 0; i < n; i++) {
		if (threads[i].tid == p->main_tid)
			p->main_thread = &threads[i];
		else
			threads[i].index = ++index;
	}
	return WS_OK;
}

enum ws_status ws_capture_survey(struct ws_capture *capture, struct ws_err *err)
{
	struct survey s = { .capture = capture, .err = err };
	struct ws_view view = { 0 };
	const struct ws_ledger_sum *kernels;
	uint64_t n_known, n_submitted;
	enum ws_status st = WS_OK;

	ws_map_init(&s.tids, WS_MAP_U64, THREADS_MAX);
	ws_map_init(&s.helpers, WS_MAP_U64, THREADS_MAX);
	for (size_t i = 0; !st && i < ws_reader_n_chunks(capture->reader); i++) {
		const struct ws_rec *rec;

		if (ws_reader_chunk(capture->reader, i)->kind != WS_CHUNK_EVENT)
			continue;
		st = ws_reader_load(capture->reader, i, &view, err);
		while (!st && (rec = ws_view_next(&view)))
			st = see(&s, rec, view.tid);
	}
	ws_damage_add(&capture->pub.damage, &view.damage);
	ws_damage_add(&capture->pub.damage, ws_reader_damage(capture->reader));
	ws_view_fini(&view);
	kernels = &capture->pub.ledger[WS_DOMAIN_KERNEL_DISPATCH];
	n_known = kernels->written + kernels->dropped + kernels->failed;
	n_submitted = ws_reader_head(capture->reader)->n_submitted;
	capture->pub.n_unended = n_submitted > n_known ? n_submitted - n_known : 0;
	if (!st)
		st = make_threads(&s);
	if (!st)
		st = ws_launches_count(&capture->launches, err);
	if (!capture->pub.ended)
		capture->pub.fini_ns = WS_MAX(s.last_ns, capture->pub.init_ns);
	ws_map_fini(&s.tids);
	ws_map_fini(&s.helpers);
	return st;
}
