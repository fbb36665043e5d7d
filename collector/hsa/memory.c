/*
 * memory: copies and allocations.
 *
 * A copy's times come from the copy engine: ROCr has it write timestamps when
 * hsa_amd_profiling_async_copy_enable() is on, which it is from OnLoad to the end.
 */
#include "collector/hsa/hsa_priv.h"
#include "collector/hsa/ranges.h"

#include <hsa/amd_hsa_signal.h>
#include <string.h>

static void count_copy(enum cap_ledger_column column)
{
	struct cap_writer *writer = col_capture_now();

	if (writer)
		cap_writer_count(writer, CAP_DOMAIN_MEMORY_COPY, column, 1);
}

void col_memory_load(void)
{
	if (!col_asked(COL_SERVICE_MEMORY_COPY))
		return;
	col_pending_start();
	if (!col_hsa.hsa_amd_profiling_async_copy_enable ||
	    !col_hsa.hsa_amd_profiling_get_async_copy_time ||
	    col_hsa.hsa_amd_profiling_async_copy_enable(true) != HSA_STATUS_SUCCESS)
		col_note("HSA: this runtime does not report times of copies: copies are not "
			 "recorded");
}

/* The program may switch its own use of the times off, but not ours. */
hsa_status_t col_hsa_hook_hsa_amd_profiling_async_copy_enable(bool enable)
{
	return col_hsa.hsa_amd_profiling_async_copy_enable(enable ||
							   col_asked(COL_SERVICE_MEMORY_COPY));
}

/* ---- copies ---- */

static enum cap_copy_op direction(uint32_t dst_agent, uint32_t src_agent)
{
	static const enum cap_copy_op ops[2][2] = {
		{ CAP_COPY_HOST_TO_HOST, CAP_COPY_HOST_TO_DEVICE },
		{ CAP_COPY_DEVICE_TO_HOST, CAP_COPY_DEVICE_TO_DEVICE },
	};

	if (!dst_agent || !src_agent)
		return CAP_COPY_NONE;
	return ops[col_agent_is_gpu(src_agent)][col_agent_is_gpu(dst_agent)];
}

struct copy {
	const void *dst, *src;
	uint64_t dst_agent, src_agent; /* hsa_agent_t */
	uint64_t n_bytes;
	/* For ranges.h: what the program submits it with. */
	const hsa_signal_t *waits_for;
	uint32_t n_waits_for;
	uint64_t signal;
	int64_t value;
	bool gated;
};

/* Kernels may be replayed: a copy into memory that is restored waits, and is remembered while it runs. */
static void gate_copy(struct copy *copy, uint32_t n_waits_for, const hsa_signal_t *waits_for,
		      hsa_signal_t signal)
{
	copy->gated = col_ranges_write_begin((uint64_t)(uintptr_t)copy->dst);
	if (!copy->gated)
		return;
	copy->waits_for = waits_for;
	copy->n_waits_for = n_waits_for;
	copy->signal = signal.handle;
	copy->value = signal.handle ? col_hsa.hsa_signal_load_relaxed(signal) : 0;
}

/*
 * A slot for this copy, already in flight: it may complete before the call returns.
 * @signal is the one to submit it with, which may come out as one of ours.
 */
static struct col_pending *begin_copy(const struct copy *copy, hsa_signal_t *signal)
{
	bool reusable = col_pending_before_reuse(signal->handle);
	amd_signal_t *at = (amd_signal_t *)(uintptr_t)signal->handle;
	struct col_pending *p;
	struct col_cause cause;
	struct col_thread *t;
	uint64_t ours;

	uint32_t dst_agent = col_agent_by_handle(copy->dst_agent);
	uint32_t src_agent = col_agent_by_handle(copy->src_agent);
	enum cap_copy_op op = direction(dst_agent, src_agent);

	if (!col_asked(COL_SERVICE_MEMORY_COPY) || col_op_off(COL_OP_COPY + op))
		return NULL;
	if (!col_on(COL_SERVICE_MEMORY_COPY)) {
		count_copy(CAP_LEDGER_PAUSED);
		return NULL;
	}
	if (!at || !col_hsa.hsa_amd_profiling_get_async_copy_time) {
		count_copy(CAP_LEDGER_FAILED); /* without a signal there are no times */
		return NULL;
	}
	t = col_thread();
	p = t ? col_pending_copy() : NULL;
	if (!p) {
		count_copy(CAP_LEDGER_DROPPED);
		return NULL;
	}
	cause = col_cause(t);
	p->copy = (struct cap_rec_copy){
		.corr_id = cause.corr_id,
		.external_id = cause.external_id,
		.n_bytes = copy->n_bytes,
		.dst_address = (uint64_t)(uintptr_t)copy->dst,
		.src_address = (uint64_t)(uintptr_t)copy->src,
		.dst_agent = dst_agent,
		.src_agent = src_agent,
		.tid = cause.tid,
		.stream = cause.stream,
	};
	p->copy.h.what = op;
	p->signal = signal->handle;
	p->value = __atomic_load_n(&at->value, __ATOMIC_RELAXED);
	/*
	 * A signal that counts down several pieces (HIP does this for boxes) has room for the
	 * times of one, and its value does not tell which.
	 */
	if (!reusable || p->value > 1 || !col_pending_mark(signal->handle, p)) {
		ours = col_pending_forward(p, signal->handle);
		if (!ours) {
			count_copy(CAP_LEDGER_FAILED);
			col_pending_cancel(p);
			return NULL;
		}
		signal->handle = ours;
	}
	col_pending_publish(NULL, p);
	return p;
}

static void end_copy(const struct copy *copy, struct col_pending *p, hsa_status_t status)
{
	bool submitted = status == HSA_STATUS_SUCCESS;

	if (copy->gated)
		col_ranges_write_end(submitted ? copy->signal : 0, copy->value,
				     (const uint64_t *)copy->waits_for, copy->n_waits_for);
	if (p && !submitted)
		col_pending_cancel(p);
}

hsa_status_t col_hsa_hook_hsa_amd_memory_async_copy(void *dst, hsa_agent_t dst_agent,
						    const void *src, hsa_agent_t src_agent,
						    size_t size, uint32_t num_dep_signals,
						    const hsa_signal_t *dep_signals,
						    hsa_signal_t completion_signal)
{
	struct copy copy = { .dst = dst,
			     .src = src,
			     .dst_agent = dst_agent.handle,
			     .src_agent = src_agent.handle,
			     .n_bytes = size };
	struct col_pending *p = begin_copy(&copy, &completion_signal);
	hsa_status_t status;

	gate_copy(&copy, num_dep_signals, dep_signals, completion_signal);
	status = col_hsa.hsa_amd_memory_async_copy(dst, dst_agent, src, src_agent, size,
						   num_dep_signals, dep_signals, completion_signal);
	end_copy(&copy, p, status);
	return status;
}

hsa_status_t col_hsa_hook_hsa_amd_memory_async_copy_on_engine(
	void *dst, hsa_agent_t dst_agent, const void *src, hsa_agent_t src_agent, size_t size,
	uint32_t num_dep_signals, const hsa_signal_t *dep_signals, hsa_signal_t completion_signal,
	uint32_t engine_id, bool force_copy_on_sdma)
{
	struct copy copy = { .dst = dst,
			     .src = src,
			     .dst_agent = dst_agent.handle,
			     .src_agent = src_agent.handle,
			     .n_bytes = size };
	struct col_pending *p = begin_copy(&copy, &completion_signal);
	hsa_status_t status;

	gate_copy(&copy, num_dep_signals, dep_signals, completion_signal);
	status = col_hsa.hsa_amd_memory_async_copy_on_engine(dst, dst_agent, src, src_agent, size,
							     num_dep_signals, dep_signals,
							     completion_signal, engine_id,
							     force_copy_on_sdma);
	end_copy(&copy, p, status);
	return status;
}

/* A box between two pitched images. It says its direction and one agent; the other is a CPU's. */
hsa_status_t col_hsa_hook_hsa_amd_memory_async_copy_rect(
	const hsa_pitched_ptr_t *dst, const hsa_dim3_t *dst_offset, const hsa_pitched_ptr_t *src,
	const hsa_dim3_t *src_offset, const hsa_dim3_t *range, hsa_agent_t copy_agent,
	hsa_amd_copy_direction_t dir, uint32_t num_dep_signals, const hsa_signal_t *dep_signals,
	hsa_signal_t completion_signal)
{
	uint64_t gpu = copy_agent.handle, cpu = col_agent_first_cpu();
	struct copy copy = {
		.dst = dst->base,
		.src = src->base,
		.dst_agent = dir == hsaDeviceToHost || dir == hsaHostToHost ? cpu : gpu,
		.src_agent = dir == hsaHostToDevice || dir == hsaHostToHost ? cpu : gpu,
		.n_bytes = (uint64_t)range->x * range->y * range->z,
	};
	struct col_pending *p = begin_copy(&copy, &completion_signal);
	hsa_status_t status;

	gate_copy(&copy, num_dep_signals, dep_signals, completion_signal);
	status = col_hsa.hsa_amd_memory_async_copy_rect(dst, dst_offset, src, src_offset, range,
							copy_agent, dir, num_dep_signals,
							dep_signals, completion_signal);
	end_copy(&copy, p, status);
	return status;
}

/* ---- allocations: the hooks themselves are made from functions.tab ---- */

/*
 * An allocation carries the id of the call that made it, and as its ancestor the same:
 * it is the call's work, not a call of its own. Outside of traced calls it has its own.
 */
struct col_thread *col_alloc_begin(struct col_call *call)
{
	struct col_thread *t;

	if (!col_on(COL_SERVICE_MEMORY_ALLOCATION))
		return NULL;
	t = col_thread();
	if (!t) {
		col_call_lost_(NULL, CAP_DOMAIN_MEMORY_ALLOCATION);
		return NULL;
	}
	call->ancestor_id = t->corr_id;
	call->corr_id = col_cause(t).corr_id;
	call->start_ticks = cap_ticks();
	return t;
}

void col_alloc_end(struct col_thread *t, const struct col_call *call, enum cap_alloc_op op,
		   uint64_t address, uint64_t n_bytes, uint32_t agent)
{
	uint64_t end_ticks = cap_ticks();
	struct cap_lane *lane = col_thread_lane(t);
	struct cap_rec_alloc *rec;

	if (col_op_off(COL_OP_ALLOC + op))
		return;
	rec = lane ? cap_lane_reserve(&lane, sizeof(*rec)) : NULL;
	if (!rec) {
		col_call_lost_(t, CAP_DOMAIN_MEMORY_ALLOCATION);
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
	cap_lane_commit(lane, &rec->h, CAP_REC_FIXED_TAG(ALLOC, struct cap_rec_alloc));
}
