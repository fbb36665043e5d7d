#include "screen/activity.h"

#include "base/util.h"
#include "capture/chunk.h"
#include "trace/trace.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#define GPUS_MAX 65536u
#define KERNELS_MAX (1u << 20)
#define DOMAINS                                                                                    \
	(TRC_DOMAIN_BIT(KERNEL_DISPATCH) | TRC_DOMAIN_BIT(COUNTER_COLLECTION) |                    \
	 TRC_DOMAIN_BIT(MEMORY_COPY) | TRC_DOMAIN_BIT(MEMORY_ALLOCATION))

bool scr_process_runs(const struct trc_process *process)
{
	uint8_t here[16] = { 0 }; /* cap_boot_id() adds to it */

	if (process->ended || !process->pid)
		return false;
	cap_boot_id(here);
	return !memcmp(here, process->boot_id, sizeof(here)) &&
	       (kill((pid_t)process->pid, 0) == 0 || errno == EPERM);
}

/* ---- allocations ---- */

struct allocation {
	uint64_t n_bytes;
	size_t gpu;
};

struct reading {
	struct scr_activity *to;
	struct ws_err *err;
};

/* ---- rows ---- */

static struct scr_gpu_activity *gpu_of(struct reading *r, const struct trc_event *ev,
				       const struct trc_agent *agent)
{
	struct scr_activity *a = r->to;
	struct scr_gpu_activity gpu = {
		.pid = ev->process->pid,
		.agent = agent->info->h.what,
		.node = agent->info->node_id,
		/* A database does not say what was requested. */
		.memory_known = ev->process->ledger[CAP_DOMAIN_MEMORY_ALLOCATION].asked ||
				ev->process->ledger[CAP_DOMAIN_MEMORY_ALLOCATION].written,
	};

	/* Linear: a job has a few dozen at most. */
	ws_vec_each(known, &a->gpus)
		if (known->pid == gpu.pid && known->agent == gpu.agent)
			return known;
	gpu.program = ws_arena_strdup(&a->arena, trc_process_program(ev->process));
	gpu.name = ws_arena_strdup(&a->arena, agent->name);
	if (!gpu.program || !gpu.name || ws_vec_push(&a->gpus, gpu, r->err))
		return NULL;
	return &a->gpus.at[a->gpus.n - 1];
}

static struct scr_kernel_activity *kernel_of(struct reading *r, const char *name)
{
	struct scr_activity *a = r->to;
	uintptr_t known = (uintptr_t)ws_map_get(&a->kernel_of, name);
	struct scr_kernel_activity kernel = { .min_ns = UINT64_MAX };

	if (known)
		return &a->kernels.at[known - 1];
	kernel.name = ws_arena_strdup(&a->arena, name);
	if (!kernel.name || ws_vec_push(&a->kernels, kernel, r->err) ||
	    ws_map_put(&a->kernel_of, ws_str_from(kernel.name), (void *)(uintptr_t)a->kernels.n,
		       r->err))
		return NULL;
	return &a->kernels.at[a->kernels.n - 1];
}

/* ---- events, in order of their starts ---- */

static uint64_t overlap(uint64_t a0, uint64_t a1, uint64_t b0, uint64_t b1)
{
	uint64_t from = WS_MAX(a0, b0), to = WS_MIN(a1, b1);

	return to > from ? to - from : 0;
}

/* The bucket of a time; NULL: a later one has its place. */
static struct scr_bucket *bucket_at(struct scr_bucket buckets[SCR_BUCKETS], uint64_t number)
{
	struct scr_bucket *bucket = &buckets[number % SCR_BUCKETS];

	if (bucket->number > number)
		return NULL;
	if (bucket->number < number)
		*bucket = (struct scr_bucket){ .number = number };
	return bucket;
}

/* What of [@start, @end) is not busy yet. */
static void add_busy(const struct scr_activity *a, struct scr_gpu_activity *gpu, uint64_t start,
		     uint64_t end)
{
	uint64_t last;

	start = WS_MAX(start, gpu->busy_until_ns);
	if (end <= start)
		return;
	gpu->busy_until_ns = end;
	gpu->busy_ns += end - start;
	last = end / SCR_BUCKET_NS;
	for (uint64_t b = WS_MAX(start / SCR_BUCKET_NS, last - WS_MIN(last, SCR_BUCKETS - 1));
	     b <= last; b++) {
		struct scr_bucket *bucket = bucket_at(gpu->buckets, b);

		if (bucket)
			bucket->busy_ns +=
				overlap(start, end, b * SCR_BUCKET_NS, (b + 1) * SCR_BUCKET_NS);
	}
	start = WS_MAX(start, a->slots_from_ns);
	for (size_t i = start > a->slots_from_ns ? (start - a->slots_from_ns) / a->slot_ns : 0;
	     i < SCR_SLOTS && start < end; i++) {
		uint64_t from = a->slots_from_ns + i * a->slot_ns;

		if (from >= end)
			break;
		gpu->slots[i] += overlap(start, end, from, from + a->slot_ns);
	}
}

static void count_recent(struct scr_bucket buckets[SCR_BUCKETS], const struct trc_event *ev,
			 uint64_t n, uint64_t n_bytes)
{
	struct scr_bucket *bucket = bucket_at(buckets, ev->end_ns / SCR_BUCKET_NS);

	if (!bucket)
		return;
	bucket->n += n;
	bucket->copied_bytes += n_bytes;
}

static enum ws_status see_kernel(struct reading *r, const struct trc_event *ev)
{
	struct scr_activity *a = r->to;
	struct scr_kernel_activity *kernel = kernel_of(r, ev->name);
	uint64_t ns = ev->end_ns - ev->start_ns;
	struct scr_gpu_activity *gpu;

	if (!kernel)
		return ws_fail(r->err, WS_E_NOMEM, "out of memory");
	kernel->n++;
	count_recent(kernel->buckets, ev, 1, 0);
	kernel->sum_ns += ns;
	kernel->min_ns = WS_MIN(kernel->min_ns, ns);
	kernel->max_ns = WS_MAX(kernel->max_ns, ns);
	a->kernels_ns += ns;
	if (!ev->dispatch.agent)
		return WS_OK;
	gpu = gpu_of(r, ev, ev->dispatch.agent);
	if (!gpu)
		return ws_fail(r->err, WS_E_NOMEM, "out of memory");
	gpu->n_kernels++;
	count_recent(gpu->buckets, ev, 1, 0);
	add_busy(a, gpu, ev->start_ns, ev->end_ns);
	return WS_OK;
}

/* A copy between two GPUs keeps both busy. */
static enum ws_status see_copy(struct reading *r, const struct trc_event *ev)
{
	const struct trc_agent *ends[] = { ev->copy.src, ev->copy.dst };

	for (size_t i = 0; i < WS_ARRAY_LEN(ends); i++) {
		struct scr_gpu_activity *gpu;

		if (!ends[i] || ends[i]->info->type != CAP_AGENT_GPU || (i && ends[0] == ends[1]))
			continue;
		gpu = gpu_of(r, ev, ends[i]);
		if (!gpu)
			return ws_fail(r->err, WS_E_NOMEM, "out of memory");
		gpu->n_copies++;
		gpu->copied_bytes += ev->copy.info->n_bytes;
		count_recent(gpu->buckets, ev, 0, ev->copy.info->n_bytes);
		add_busy(r->to, gpu, ev->start_ns, ev->end_ns);
	}
	return WS_OK;
}

static enum ws_status see_allocation(struct reading *r, const struct trc_event *ev)
{
	const struct cap_rec_alloc *info = ev->alloc.info;
	const uint64_t place[] = { ev->process->pid, info->address };
	uint64_t key = ws_hash_bytes(place, sizeof(place));
	struct allocation *known = ws_map_get_u64(&r->to->allocated, key);
	struct scr_gpu_activity *gpu;

	if (known && known->n_bytes) {
		gpu = &r->to->gpus.at[known->gpu];
		gpu->memory_bytes -= WS_MIN(gpu->memory_bytes, known->n_bytes);
		known->n_bytes = 0;
	}
	if (!info->n_bytes || !ev->alloc.agent || ev->alloc.agent->info->type != CAP_AGENT_GPU)
		return WS_OK;
	gpu = gpu_of(r, ev, ev->alloc.agent);
	if (gpu && !known) {
		known = ws_arena_new(&r->to->arena, struct allocation);
		if (known && ws_map_put_u64(&r->to->allocated, key, known, r->err))
			known = NULL;
	}
	if (!gpu || !known)
		return ws_fail(r->err, WS_E_NOMEM, "out of memory");
	*known = (struct allocation){ info->n_bytes, (size_t)(gpu - r->to->gpus.at) };
	gpu->memory_bytes += info->n_bytes;
	gpu->memory_peak_bytes = WS_MAX(gpu->memory_peak_bytes, gpu->memory_bytes);
	return WS_OK;
}

static enum ws_status see(struct reading *r, const struct trc_event *ev)
{
	switch (ev->domain) {
	case CAP_DOMAIN_KERNEL_DISPATCH:
	case CAP_DOMAIN_COUNTER_COLLECTION:
		return see_kernel(r, ev);
	case CAP_DOMAIN_MEMORY_COPY:
		return see_copy(r, ev);
	case CAP_DOMAIN_MEMORY_ALLOCATION:
		return see_allocation(r, ev);
	default:
		return WS_OK;
	}
}

/* ---- all of it ---- */

static void see_processes(struct scr_activity *a, const struct trc_trace *trace)
{
	static const enum cap_domain gpu_domains[] = { CAP_DOMAIN_KERNEL_DISPATCH,
						       CAP_DOMAIN_COUNTER_COLLECTION,
						       CAP_DOMAIN_MEMORY_COPY };

	a->n_processes = trc_n_processes(trace);
	a->n_running = 0;
	a->n_dropped = 0;
	for (size_t i = 0; i < a->n_processes; i++) {
		const struct trc_process *p = trc_process_at(trace, i);

		a->n_running += scr_process_runs(p);
		for (size_t d = 0; d < CAP_DOMAIN_COUNT; d++)
			a->n_dropped += p->ledger[d].dropped;
		for (size_t d = 0; d < WS_ARRAY_LEN(gpu_domains); d++) {
			const struct trc_ledger_sum *sum = &p->ledger[gpu_domains[d]];

			if (!sum->written)
				continue;
			a->first_ns =
				a->last_ns ? WS_MIN(a->first_ns, sum->first_ns) : sum->first_ns;
			a->last_ns = WS_MAX(a->last_ns, sum->last_ns);
		}
	}
}

static void choose_times(struct scr_activity *a, uint64_t now_ns)
{
	a->from_ns = a->first_ns;
	a->to_ns = a->last_ns;
	if (!a->n_running)
		return;
	a->to_ns = WS_MAX(now_ns, a->last_ns);
	/* Whole buckets. */
	a->from_ns = (a->to_ns - WS_MIN(a->to_ns, SCR_RECENT_NS)) / SCR_BUCKET_NS * SCR_BUCKET_NS;
	a->from_ns = WS_MAX(a->first_ns, a->from_ns);
}

/* So that all of the time fits: the first time exactly, later by making pairs of slots one. */
static void choose_slots(struct scr_activity *a)
{
	if (!a->slot_ns && a->last_ns) {
		a->slots_from_ns = a->first_ns;
		a->slot_ns = (a->to_ns - a->first_ns) / SCR_SLOTS + 1;
	}
	while (a->slot_ns && a->to_ns > a->slots_from_ns &&
	       (a->to_ns - a->slots_from_ns) / SCR_SLOTS >= a->slot_ns) {
		ws_vec_each(gpu, &a->gpus) {
			for (size_t i = 0; i < SCR_SLOTS / 2; i++)
				gpu->slots[i] = gpu->slots[2 * i] + gpu->slots[2 * i + 1];
			memset(gpu->slots + SCR_SLOTS / 2, 0, sizeof(gpu->slots) / 2);
		}
		a->slot_ns *= 2;
	}
}

static struct scr_bucket sum_buckets(const struct scr_activity *a,
				     const struct scr_bucket buckets[SCR_BUCKETS])
{
	struct scr_bucket sum = { 0 };

	for (size_t i = 0; i < SCR_BUCKETS; i++) {
		if (buckets[i].number < a->from_ns / SCR_BUCKET_NS)
			continue;
		sum.n += buckets[i].n;
		sum.busy_ns += buckets[i].busy_ns;
		sum.copied_bytes += buckets[i].copied_bytes;
	}
	return sum;
}

/* What rates are made of: the recent past, or all of it. */
static void sum_recent(struct scr_activity *a)
{
	bool running = a->n_running > 0;

	ws_vec_each(gpu, &a->gpus) {
		struct scr_bucket recent = sum_buckets(a, gpu->buckets);

		gpu->n_recent = running ? recent.n : gpu->n_kernels;
		gpu->recent_busy_ns = running ? recent.busy_ns : gpu->busy_ns;
		gpu->recent_copied_bytes = running ? recent.copied_bytes : gpu->copied_bytes;
	}
	ws_vec_each(kernel, &a->kernels)
		kernel->n_recent = running ? sum_buckets(a, kernel->buckets).n : kernel->n;
}

void scr_activity_init(struct scr_activity *activity)
{
	*activity = (struct scr_activity){ .program = "", .times = "hardware" };
	ws_arena_init(&activity->arena, SIZE_MAX);
	ws_vec_init(&activity->gpus, GPUS_MAX);
	ws_vec_init(&activity->kernels, KERNELS_MAX);
	ws_map_init(&activity->kernel_of, WS_MAP_STR, KERNELS_MAX);
	ws_map_init(&activity->allocated, WS_MAP_U64, INT32_MAX);
}

enum ws_status scr_activity_add(struct scr_activity *activity, const struct trc_trace *trace,
				uint64_t now_ns, struct ws_err *err)
{
	struct reading r = { .to = activity, .err = err };
	struct trc_event_query query = { .domains = DOMAINS, .order = TRC_ORDER_START };
	const struct trc_process *first = trc_process_at(trace, 0);
	const struct trc_event *ev;
	struct trc_events *events;
	enum ws_status st, closed;

	if (!activity->program[0]) {
		const char *program = ws_arena_strdup(&activity->arena, trc_process_program(first));

		if (!program)
			return ws_fail(err, WS_E_NOMEM, "out of memory");
		activity->program = program;
	}
	activity->pid = first->pid;
	activity->times = trc_gpu_times_word(trc_process_gpu_times(first));
	see_processes(activity, trace);
	choose_times(activity, now_ns);
	choose_slots(activity);
	st = trc_events_open(trace, &query, &events, err);
	if (st)
		return st;
	while (!st && (ev = trc_events_next(events)))
		st = see(&r, ev);
	closed = trc_events_close(events, st ? NULL : err);
	sum_recent(activity);
	return st ? st : closed;
}

enum ws_status scr_activity_read(const struct trc_trace *trace, uint64_t now_ns,
				 struct scr_activity *out, struct ws_err *err)
{
	enum ws_status st;

	scr_activity_init(out);
	st = scr_activity_add(out, trace, now_ns, err);
	if (st)
		scr_activity_fini(out);
	return st;
}

void scr_activity_fini(struct scr_activity *activity)
{
	ws_vec_fini(&activity->gpus);
	ws_vec_fini(&activity->kernels);
	ws_map_fini(&activity->kernel_of);
	ws_map_fini(&activity->allocated);
	ws_arena_fini(&activity->arena);
}
