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
	struct ws_map *allocated; /* per process, by address */
	struct ws_arena scratch;
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

/* What of [@start, @end) is not busy yet. */
static void add_busy(const struct scr_activity *a, struct scr_gpu_activity *gpu, uint64_t start,
		     uint64_t end)
{
	start = WS_MAX(start, gpu->busy_until_ns);
	if (end <= start)
		return;
	gpu->busy_until_ns = end;
	gpu->busy_ns += end - start;
	gpu->recent_busy_ns += overlap(start, end, a->from_ns, a->to_ns);
	start = WS_MAX(start, a->slots_from_ns);
	for (size_t i = start > a->slots_from_ns ? (start - a->slots_from_ns) / a->slot_ns : 0;
	     i < SCR_SLOTS && start < end; i++) {
		uint64_t from = a->slots_from_ns + i * a->slot_ns;

		if (from >= end)
			break;
		gpu->slots[i] += overlap(start, end, from, from + a->slot_ns);
	}
}

static bool is_recent(const struct scr_activity *a, const struct trc_event *ev)
{
	return ev->end_ns > a->from_ns && ev->end_ns <= a->to_ns;
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
	kernel->n_recent += is_recent(a, ev);
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
	gpu->n_recent += is_recent(a, ev);
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
		if (is_recent(r->to, ev))
			gpu->recent_copied_bytes += ev->copy.info->n_bytes;
		add_busy(r->to, gpu, ev->start_ns, ev->end_ns);
	}
	return WS_OK;
}

static enum ws_status see_allocation(struct reading *r, const struct trc_event *ev)
{
	const struct cap_rec_alloc *info = ev->alloc.info;
	struct ws_map *allocated = &r->allocated[ev->process->index];
	struct allocation *known = ws_map_get_u64(allocated, info->address);
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
		known = ws_arena_new(&r->scratch, struct allocation);
		if (known && ws_map_put_u64(allocated, info->address, known, r->err))
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

	a->first_ns = UINT64_MAX;
	a->n_processes = trc_n_processes(trace);
	for (size_t i = 0; i < a->n_processes; i++) {
		const struct trc_process *p = trc_process_at(trace, i);

		a->n_running += scr_process_runs(p);
		for (size_t d = 0; d < CAP_DOMAIN_COUNT; d++)
			a->n_dropped += p->ledger[d].dropped;
		for (size_t d = 0; d < WS_ARRAY_LEN(gpu_domains); d++) {
			const struct trc_ledger_sum *sum = &p->ledger[gpu_domains[d]];

			if (!sum->written)
				continue;
			a->first_ns = WS_MIN(a->first_ns, sum->first_ns);
			a->last_ns = WS_MAX(a->last_ns, sum->last_ns);
		}
	}
	if (a->first_ns > a->last_ns)
		a->first_ns = a->last_ns;
}

static void choose_times(struct scr_activity *a, uint64_t now_ns)
{
	a->from_ns = a->first_ns;
	a->to_ns = a->last_ns;
	if (a->n_running) {
		a->to_ns = WS_MAX(now_ns, a->last_ns);
		a->from_ns = WS_MAX(a->first_ns, a->to_ns - WS_MIN(a->to_ns, SCR_RECENT_NS));
	}
	a->slots_from_ns = a->first_ns;
	a->slot_ns = WS_MAX((a->to_ns - a->first_ns) / SCR_SLOTS + 1, (uint64_t)1);
}

enum ws_status scr_activity_read(const struct trc_trace *trace, uint64_t now_ns,
				 struct scr_activity *out, struct ws_err *err)
{
	struct reading r = { .to = out, .err = err };
	struct trc_event_query query = { .domains = DOMAINS, .order = TRC_ORDER_START };
	const struct trc_process *first = trc_process_at(trace, 0);
	const struct trc_event *ev;
	struct trc_events *events;
	enum ws_status st, closed;

	*out = (struct scr_activity){ .pid = first->pid,
				      .times = trc_gpu_times_word(trc_process_gpu_times(first)) };
	ws_arena_init(&out->arena, SIZE_MAX);
	ws_arena_init(&r.scratch, SIZE_MAX);
	ws_vec_init(&out->gpus, GPUS_MAX);
	ws_vec_init(&out->kernels, KERNELS_MAX);
	ws_map_init(&out->kernel_of, WS_MAP_STR, KERNELS_MAX);
	see_processes(out, trace);
	choose_times(out, now_ns);
	out->program = ws_arena_strdup(&out->arena, trc_process_program(first));
	r.allocated = ws_arena_array(&r.scratch, out->n_processes, sizeof(*r.allocated));
	if (!out->program || !r.allocated) {
		st = ws_fail(err, WS_E_NOMEM, "out of memory");
		goto out;
	}
	for (size_t i = 0; i < out->n_processes; i++)
		ws_map_init(&r.allocated[i], WS_MAP_U64, INT32_MAX);
	st = trc_events_open(trace, &query, &events, err);
	if (st)
		goto out;
	while (!st && (ev = trc_events_next(events)))
		st = see(&r, ev);
	closed = trc_events_close(events, st ? NULL : err);
	st = st ? st : closed;
out:
	for (size_t i = 0; r.allocated && i < out->n_processes; i++)
		ws_map_fini(&r.allocated[i]);
	ws_arena_fini(&r.scratch);
	if (st)
		scr_activity_fini(out);
	return st;
}

void scr_activity_fini(struct scr_activity *activity)
{
	ws_vec_fini(&activity->gpus);
	ws_vec_fini(&activity->kernels);
	ws_map_fini(&activity->kernel_of);
	ws_arena_fini(&activity->arena);
}
