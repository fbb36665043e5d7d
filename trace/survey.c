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
	enum cap_rec_type type;
	uint32_t domains;
} type_domains[] = {
	{ CAP_REC_CALL,      TRC_DOMAIN_BIT(HSA_API) | TRC_DOMAIN_BIT(HIP_API) | TRC_DOMAIN_BIT(RCCL_API) |
			    TRC_DOMAIN_BIT(ROCDECODE_API) | TRC_DOMAIN_BIT(ROCJPEG_API) },
	{ CAP_REC_CALL_ARGS, TRC_DOMAIN_BIT(HSA_API) | TRC_DOMAIN_BIT(HIP_API) | TRC_DOMAIN_BIT(RCCL_API) |
			    TRC_DOMAIN_BIT(ROCDECODE_API) | TRC_DOMAIN_BIT(ROCJPEG_API) },
	{ CAP_REC_MARKER,    TRC_DOMAIN_BIT(MARKER_API) },
	{ CAP_REC_DISPATCH,  TRC_DOMAIN_BIT(KERNEL_DISPATCH) | TRC_DOMAIN_BIT(COUNTER_COLLECTION) },
	{ CAP_REC_COUNTED,   TRC_DOMAIN_BIT(COUNTER_VALUES) },
	{ CAP_REC_COPY,      TRC_DOMAIN_BIT(MEMORY_COPY) },
	{ CAP_REC_ALLOC,     TRC_DOMAIN_BIT(MEMORY_ALLOCATION) },
	{ CAP_REC_SCRATCH,   TRC_DOMAIN_BIT(SCRATCH_MEMORY) },
	{ CAP_REC_PC_SAMPLE, TRC_DOMAIN_BIT(PC_SAMPLING_HOST_TRAP) |
			    TRC_DOMAIN_BIT(PC_SAMPLING_STOCHASTIC) },
	{ CAP_REC_SAMPLE,     TRC_DOMAIN_BIT(CALL_STACK_SAMPLING) },
	{ CAP_REC_METRICS,    TRC_DOMAIN_BIT(METRICS) },
	{ CAP_REC_ENTER,      TRC_DOMAIN_BIT(REGIONS) },
	{ CAP_REC_LEAVE,      TRC_DOMAIN_BIT(REGIONS) },
	{ CAP_REC_ANNOTATION, TRC_DOMAIN_BIT(REGIONS) },
};
/* clang-format on */

uint64_t trc_domain_types(uint32_t domains)
{
	uint64_t types = 0;

	for (size_t i = 0; i < WS_ARRAY_LEN(type_domains); i++) {
		if (type_domains[i].domains & domains)
			types |= 1ull << (type_domains[i].type & 63);
	}
	return types;
}

enum cap_domain trc_rec_domain(const struct trc_capture *capture, const struct cap_rec *rec)
{
	switch (cap_rec_type(rec)) {
	case CAP_REC_CALL:
	case CAP_REC_CALL_ARGS:
		return trc_list_at(capture->pub.operations, rec->what)->domain;
	case CAP_REC_MARKER:
		return CAP_DOMAIN_MARKER_API;
	case CAP_REC_DISPATCH:
		return ((const struct cap_rec_dispatch *)rec)->flags & CAP_DISPATCH_UNASKED
			       ? CAP_DOMAIN_COUNTER_COLLECTION
			       : CAP_DOMAIN_KERNEL_DISPATCH;
	case CAP_REC_COUNTED:
		return CAP_DOMAIN_COUNTER_VALUES;
	case CAP_REC_COPY:
		return CAP_DOMAIN_MEMORY_COPY;
	case CAP_REC_ALLOC:
		return CAP_DOMAIN_MEMORY_ALLOCATION;
	case CAP_REC_SCRATCH:
		return CAP_DOMAIN_SCRATCH_MEMORY;
	case CAP_REC_PC_SAMPLE:
		return rec->what & CAP_PC_STOCHASTIC ? CAP_DOMAIN_PC_SAMPLING_STOCHASTIC
						     : CAP_DOMAIN_PC_SAMPLING_HOST_TRAP;
	case CAP_REC_SAMPLE:
		return CAP_DOMAIN_CALL_STACK_SAMPLING;
	case CAP_REC_METRICS:
		return CAP_DOMAIN_METRICS;
	case CAP_REC_ENTER:
	case CAP_REC_LEAVE:
	case CAP_REC_ANNOTATION:
		return CAP_DOMAIN_REGIONS;
	default:
		return CAP_DOMAIN_COUNT;
	}
}

/* When a record's event ended, and in which clock; false for records that are no events. */
static bool end_of(const struct cap_rec *rec, uint64_t *out_end, bool *out_ticks)
{
	*out_ticks = true;
	switch (cap_rec_type(rec)) {
	case CAP_REC_CALL:
	case CAP_REC_CALL_ARGS:
		*out_end = ((const struct cap_rec_call *)rec)->end_ticks;
		return true;
	case CAP_REC_MARKER:
		*out_end = ((const struct cap_rec_marker *)rec)->end_ticks;
		return true;
	case CAP_REC_ALLOC:
		*out_end = ((const struct cap_rec_alloc *)rec)->end_ticks;
		return true;
	case CAP_REC_SCRATCH:
		*out_end = ((const struct cap_rec_scratch *)rec)->end_ticks;
		return true;
	case CAP_REC_COLLECTIVE:
		*out_end = ((const struct cap_rec_collective *)rec)->end_ticks;
		return true;
	case CAP_REC_SAMPLE:
	case CAP_REC_METRICS:
	case CAP_REC_ENTER:
	case CAP_REC_LEAVE:
	case CAP_REC_ANNOTATION:
		*out_end = rec->time;
		return true;
	}
	*out_ticks = false;
	switch (cap_rec_type(rec)) {
	case CAP_REC_DISPATCH:
		*out_end = ((const struct cap_rec_dispatch *)rec)->end_ns;
		return true;
	case CAP_REC_COPY:
		*out_end = ((const struct cap_rec_copy *)rec)->end_ns;
		return true;
	case CAP_REC_PC_SAMPLE:
	case CAP_REC_COUNTED:
		*out_end = rec->time;
		return true;
	}
	return false;
}

/* Without an extent in time. */
static bool is_instant(const struct cap_rec *rec)
{
	switch (cap_rec_type(rec)) {
	case CAP_REC_MARKER:
		return rec->what != CAP_MARKER_THREAD_RANGE &&
		       rec->what != CAP_MARKER_PROCESS_RANGE;
	case CAP_REC_SAMPLE:
	case CAP_REC_METRICS:
	case CAP_REC_ENTER:
	case CAP_REC_LEAVE:
	case CAP_REC_ANNOTATION:
		return true;
	default:
		return false;
	}
}

bool trc_rec_times(const struct trc_capture *capture, const struct cap_rec *rec, size_t *hint,
		   uint64_t *out_start, uint64_t *out_end)
{
	uint64_t start = rec->time, end;
	bool ticks;

	if (!end_of(rec, &end, &ticks))
		return false;
	if (ticks) {
		start = trc_clock_ns(&capture->clock, rec->time, hint);
		end = end <= rec->time ? start : trc_clock_ns(&capture->clock, end, hint);
		/*
		 * A call takes time: one that ends in the nanosecond of its start would be
		 * an instant in the formats that tell the two apart.
		 */
		if (end <= start && !is_instant(rec))
			end = start + 1;
	}
	start = trc_capture_shift(capture, start);
	end = trc_capture_shift(capture, end);
	/* Nothing ends before it begins, nor lies where the formats' signed numbers end. */
	*out_start = WS_MIN(start, (uint64_t)INT64_MAX - 1);
	*out_end = WS_MIN(WS_MAX(end, *out_start), (uint64_t)INT64_MAX);
	return true;
}

struct survey {
	struct trc_capture *capture;
	struct ws_map tids;    /* tid -> non-NULL */
	struct ws_map helpers; /* the same: who wrote down what others did */
	uint32_t last_tid, last_helper;
	size_t hint;
	uint64_t last_ns;
	struct trc_launch_block *launch_hint;
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

static void count(struct survey *s, enum cap_domain domain, const struct cap_rec *rec,
		  uint64_t start, uint64_t end)
{
	struct trc_ledger_sum *sum = &s->capture->pub.ledger[domain];

	sum->first_ns = sum->written ? WS_MIN(sum->first_ns, start) : start;
	sum->last_ns = WS_MAX(sum->last_ns, end);
	sum->written++;
	sum->record_bytes += cap_rec_bytes(rec);
}

static uint32_t thread_field(const struct cap_rec *rec)
{
	switch (cap_rec_type(rec)) {
	case CAP_REC_DISPATCH:
		return ((const struct cap_rec_dispatch *)rec)->tid;
	case CAP_REC_COPY:
		return ((const struct cap_rec_copy *)rec)->tid;
	case CAP_REC_SCRATCH:
		return ((const struct cap_rec_scratch *)rec)->tid;
	default:
		return 0;
	}
}

static bool dangles(const struct trc_process *p, const struct cap_rec *rec)
{
	const struct cap_rec_dispatch *d = (const struct cap_rec_dispatch *)rec;
	const struct cap_rec_copy *c = (const struct cap_rec_copy *)rec;

	switch (cap_rec_type(rec)) {
	case CAP_REC_DISPATCH:
		return !trc_list_at(p->kernels, d->h.what)->info ||
		       !trc_list_at(p->queues, d->queue)->info || !trc_process_agent(p, d->agent);
	case CAP_REC_COPY:
		return !trc_process_agent(p, c->dst_agent) || !trc_process_agent(p, c->src_agent);
	case CAP_REC_CALL:
	case CAP_REC_CALL_ARGS:
		return !trc_list_at(p->operations, rec->what)->name[0];
	case CAP_REC_ENTER:
	case CAP_REC_LEAVE:
		return !trc_list_at(p->regions, rec->what)->id;
	default:
		return false;
	}
}

static enum ws_status see_launch(struct survey *s, const struct cap_rec_dispatch *d)
{
	return d->flags & CAP_DISPATCH_ORDERED
		       ? trc_launches_add(&s->capture->launches, &s->capture->arena, d->dispatch_id,
					  &s->launch_hint, s->err)
		       : WS_OK;
}

static enum ws_status see(struct survey *s, const struct cap_rec *rec, uint32_t owner)
{
	enum ws_status st = WS_OK;

	enum cap_domain domain = trc_rec_domain(s->capture, rec);
	uint32_t tid = thread_field(rec);
	uint64_t start, end;

	/* How a dispatch was counted is no event of its own. */
	if (domain == CAP_DOMAIN_COUNTER_VALUES ||
	    !trc_rec_times(s->capture, rec, &s->hint, &start, &end))
		return WS_OK;
	s->capture->pub.n_dangling += dangles(&s->capture->pub, rec);
	s->last_ns = WS_MAX(s->last_ns, end);
	if (domain < CAP_DOMAIN_COUNT)
		count(s, domain, rec, start, end);
	if (domain == CAP_DOMAIN_KERNEL_DISPATCH &&
	    ((const struct cap_rec_dispatch *)rec)->n_values)
		count(s, CAP_DOMAIN_COUNTER_COLLECTION, rec, start, end);
	if (cap_rec_type(rec) == CAP_REC_DISPATCH)
		st = see_launch(s, (const struct cap_rec_dispatch *)rec);
	/* Who launched it, not the helper that wrote it down: that one is no thread of the program.
	 */
	if (!st && tid && tid != owner)
		st = see_helper(s, owner);
	if (cap_rec_type(rec) == CAP_REC_METRICS) /* by the thread that reads them, likewise */
		return st ? st : see_helper(s, owner);
	return st ? st : see_thread(s, tid ? tid : owner);
}

static int by_tid(const void *a, const void *b)
{
	const struct trc_thread *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static enum ws_status make_threads(struct survey *s)
{
	struct trc_capture *c = s->capture;
	struct trc_process *p = &c->pub;
	struct trc_thread *threads;
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
		threads[n++] = (struct trc_thread){ .tid = (uint32_t)entry->num,
						    .name = "",
						    .process = p };
	qsort(threads, n, sizeof(*threads), by_tid);
	p->threads.at = threads;
	p->threads.n = n;
	for (size_t i = 0; i < c->named_threads.n; i++) {
		struct trc_thread *named = &c->named_threads.at[i];
		struct trc_thread *thread = bsearch(named, threads, n, sizeof(*threads), by_tid);

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

enum ws_status trc_capture_survey(struct trc_capture *capture, struct ws_err *err)
{
	struct survey s = { .capture = capture, .err = err };
	struct cap_view view = { 0 };
	const struct trc_ledger_sum *kernels;
	uint64_t n_known, n_submitted;
	enum ws_status st = WS_OK;

	ws_map_init(&s.tids, WS_MAP_U64, THREADS_MAX);
	ws_map_init(&s.helpers, WS_MAP_U64, THREADS_MAX);
	for (size_t i = 0; !st && i < cap_reader_n_chunks(capture->reader); i++) {
		const struct cap_rec *rec;

		if (cap_reader_chunk(capture->reader, i)->kind != CAP_CHUNK_EVENT)
			continue;
		st = cap_reader_load(capture->reader, i, &view, err);
		while (!st && (rec = cap_view_next(&view)))
			st = see(&s, rec, view.tid);
	}
	cap_damage_add(&capture->pub.damage, &view.damage);
	cap_damage_add(&capture->pub.damage, cap_reader_damage(capture->reader));
	cap_view_fini(&view);
	kernels = &capture->pub.ledger[CAP_DOMAIN_KERNEL_DISPATCH];
	n_known = kernels->written + kernels->dropped + kernels->failed;
	n_submitted = cap_reader_head(capture->reader)->n_submitted;
	capture->pub.n_unended = n_submitted > n_known ? n_submitted - n_known : 0;
	if (!st)
		st = make_threads(&s);
	if (!st)
		st = trc_launches_count(&capture->launches, err);
	if (!capture->pub.ended)
		capture->pub.fini_ns = WS_MAX(s.last_ns, capture->pub.init_ns);
	ws_map_fini(&s.tids);
	ws_map_fini(&s.helpers);
	return st;
}
