/*
 * memory: copies and allocations.
 *
 * A copy's times come from whoever copies: ROCr has the copy engines stamp them when
 * hsa_amd_profiling_async_copy_enable() is on, which it is from OnLoad to the end.
 */
#include "collector/hsa/hsa_priv.h"

#include <hsa/amd_hsa_signal.h>
#include <string.h>

static void count_copy(enum ws_ledger_column column)
{
	struct ws_writer *writer = ws_capture_now();

	if (writer)
		ws_writer_count(writer, WS_DOMAIN_MEMORY_COPY, column, 1);
}

void ws_memory_load(void)
{
	if (!ws_asked(WS_SERVICE_MEMORY_COPY))
		return;
	ws_pending_start();
	if (!ws_hsa.hsa_amd_profiling_async_copy_enable ||
	    !ws_hsa.hsa_amd_profiling_get_async_copy_time ||
	    ws_hsa.hsa_amd_profiling_async_copy_enable(true) != HSA_STATUS_SUCCESS)
		ws_note("HSA: this runtime gives no times of copies: they are not recorded");
}

/* The program may switch its own use of the times off, but not ours. */
hsa_status_t ws_hsa_hook_hsa_amd_profiling_async_copy_enable(bool enable)
{
	return ws_hsa.hsa_amd_profiling_async_copy_enable(
		enable || ws_asked(WS_SERVICE_MEMORY_COPY));
}

/* ---- copies ---- */

static enum ws_copy_op direction(uint32_t dst_agent, uint32_t src_agent)
{
	static const enum ws_copy_op ops[2][2] = {
		{ WS_COPY_HOST_TO_HOST, WS_COPY_HOST_TO_DEVICE },
		{ WS_COPY_DEVICE_TO_HOST, WS_COPY_DEVICE_TO_DEVICE },
	};

	if (!dst_agent || !src_agent)
		return WS_COPY_NONE;
	return ops[ws_agent_is_gpu(src_agent)][ws_agent_is_gpu(dst_agent)];
}

struct copy {
	const void *dst, *src;
	uint64_t dst_agent, src_agent; /* hsa_agent_t */
	uint64_t n_bytes;
};

/*
 * A place for this copy, in the air already: it may be over before the call returns.
 * @signal is the one to submit it with, which may come out as one of ours.
 */
static struct ws_pending *begin_copy(const struct copy *copy, hsa_signal_t *signal)
{
	bool reusable = ws_pending_before_reuse(signal->handle);
	amd_signal_t *at = (amd_signal_t *)(uintptr_t)signal->handle;
	struct ws_pending *p;
	struct ws_cause cause;
	struct ws_thread *t;
	uint64_t ours;

	if (!ws_asked(WS_SERVICE_MEMORY_COPY))
		return NULL;
	if (!ws_on(WS_SERVICE_MEMORY_COPY)) {
		count_copy(WS_LEDGER_PAUSED);
		return NULL;
	}
	if (!at || !ws_hsa.hsa_amd_profiling_get_async_copy_time) {
		count_copy(WS_LEDGER_FAILED); /* without a signal there are no times */
		return NULL;
	}
	t = ws_thread();
	p = t ? ws_pending_copy() : NULL;
	if (!p) {
		count_copy(WS_LEDGER_DROPPED);
		return NULL;
	}
	cause = ws_cause(t);
	p->copy = (struct ws_rec_copy){
		.corr_id = cause.corr_id,
		.external_id = cause.external_id,
		.n_bytes = copy->n_bytes,
		.dst_address = (uint64_t)(uintptr_t)copy->dst,
		.src_address = (uint64_t)(uintptr_t)copy->src,
		.dst_agent = ws_agent_by_handle(copy->dst_agent),
		.src_agent = ws_agent_by_handle(copy->src_agent),
		.tid = cause.tid,
		.stream = cause.stream,
	};
	p->copy.h.what = direction(p->copy.dst_agent, p->copy.src_agent);
	p->signal = signal->handle;
	p->value = __atomic_load_n(&at->value, __ATOMIC_RELAXED);
	/*
	 * A signal that counts down several pieces (HIP does this for boxes) has room for the
	 * times of one, and its value does not tell which.
	 */
	if (!reusable || p->value > 1 || !ws_pending_mark(signal->handle, p)) {
		ours = ws_pending_forward(p, signal->handle);
		if (!ours) {
			count_copy(WS_LEDGER_FAILED);
			ws_pending_cancel(p);
			return NULL;
		}
		signal->handle = ours;
	}
	ws_pending_publish(NULL, p);
	return p;
}

static void end_copy(struct ws_pending *p, hsa_status_t status)
{
	if (p && status != HSA_STATUS_SUCCESS)
		ws_pending_cancel(p);
}

hsa_status_t ws_hsa_hook_hsa_amd_memory_async_copy(void *dst, hsa_agent_t dst_agent,
						   const void *src, hsa_agent_t src_agent,
						   size_t size, uint32_t num_dep_signals,
						   const hsa_signal_t *dep_signals,
						   hsa_signal_t completion_signal)
{
	struct copy copy = { dst, src, dst_agent.handle, src_agent.handle, size };
	struct ws_pending *p = begin_copy(&copy, &completion_signal);
	hsa_status_t status =
		ws_hsa.hsa_amd_memory_async_copy(dst, dst_agent, src, src_agent, size,
						 num_dep_signals, dep_signals, completion_signal);

	end_copy(p, status);
	return status;
}

hsa_status_t ws_hsa_hook_hsa_amd_memory_async_copy_on_engine(
	void *dst, hsa_agent_t dst_agent, const void *src, hsa_agent_t src_agent, size_t size,
	uint32_t num_dep_signals, const hsa_signal_t *dep_signals, hsa_signal_t completion_signal,
	uint32_t engine_id, bool force_copy_on_sdma)
{
	struct copy copy = { dst, src, dst_agent.handle, src_agent.handle, size };
	struct ws_pending *p = begin_copy(&copy, &completion_signal);
	hsa_status_t status = ws_hsa.hsa_amd_memory_async_copy_on_engine(
		dst, dst_agent, src, src_agent, size, num_dep_signals, dep_signals,
		completion_signal, engine_id, force_copy_on_sdma);

	end_copy(p, status);
	return status;
}

/* A box between two pitched images. It says its direction and one agent; the other is a CPU's. */
hsa_status_t ws_hsa_hook_hsa_amd_memory_async_copy_rect(
	const hsa_pitched_ptr_t *dst, const hsa_dim3_t *dst_offset, const hsa_pitched_ptr_t *src,
	const hsa_dim3_t *src_offset, const hsa_dim3_t *range, hsa_agent_t copy_agent,
	hsa_amd_copy_direction_t dir, uint32_t num_dep_signals, const hsa_signal_t *dep_signals,
	hsa_signal_t completion_signal)
{
	uint64_t gpu = copy_agent.handle, cpu = ws_agent_first_cpu();
	struct copy copy = {
		.dst = dst->base,
		.src = src->base,
		.dst_agent = dir == hsaDeviceToHost || dir == hsaHostToHost ? cpu : gpu,
		.src_agent = dir == hsaHostToDevice || dir == hsaHostToHost ? cpu : gpu,
		.n_bytes = (uint64_t)range->x * range->y * range->z,
	};
	struct ws_pending *p = begin_copy(&copy, &completion_signal);
	hsa_status_t status = ws_hsa.hsa_amd_memory_async_copy_rect(
		dst, dst_offset, src, src_offset, range, copy_agent, dir, num_dep_signals,
		dep_signals, completion_signal);

	end_copy(p, status);
	return status;
}

/* ---- allocations: the hooks themselves are made from functions.tab ---- */

/*
 * An allocation carries the id of the call that made it, and as its ancestor the same:
 * it is the call's work, not a call of its own. Outside of traced calls it has its own.
 */
struct ws_thread *ws_alloc_begin(struct ws_call *call)
{
	struct ws_thread *t;

	if (!ws_on(WS_SERVICE_MEMORY_ALLOCATION))
		return NULL;
	t = ws_thread();
	if (!t) {
		ws_call_lost_(NULL, WS_DOMAIN_MEMORY_ALLOCATION);
		return NULL;
	}
	call->ancestor_id = t->corr_id;
	call->corr_id = ws_cause(t).corr_id;
	call->start_ticks = ws_ticks();
	return t;
}

void ws_alloc_end(struct ws_thread *t, const struct ws_call *call, enum ws_alloc_op op,
		  uint64_t address, uint64_t n_bytes, uint32_t agent)
{
	uint64_t end_ticks = ws_ticks();
	struct ws_lane *lane = ws_thread_lane(t);
	struct ws_rec_alloc *rec = lane ? ws_lane_reserve(&lane, sizeof(*rec)) : NULL;

	if (!rec) {
		ws_call_lost_(t, WS_DOMAIN_MEMORY_ALLOCATION);
		return;
	}
	rec->h.what = op;
	rec->h.time = call->start_ticks;
	rec->end_ticks = end_ticks;
	rec->corr_id = call->corr_id;
	rec->ancestor_id = call->ancestor_id;
	rec->external_id = t->external_id;
	rec->address = address;
	rec->n_bytes = n_bytes;
	rec->agent = agent;
	rec->stream = t->stream;
	ws_lane_commit(lane, &rec->h, WS_REC_FIXED_TAG(ALLOC, struct ws_rec_alloc));
}
