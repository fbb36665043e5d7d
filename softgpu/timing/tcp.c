/*
 * tcp: a CU's vector memory pipeline: address unit and data return. What is between them is in l1.c.
 *
 * In order: an instruction waits in the address unit until those before it have been looked up, and loads return in the
 * order of issue.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/timing/model_priv.h"

#define TA(name) counts->ta[SG_C_##name]
#define TD(name) counts->td[SG_C_##name]
#define TCP(name) counts->tcp[SG_C_##name]
#define FEW_LINES 16 /* what lanes in order have */
#define TA_BUSY_CYCLES 16

static void push(struct sg_op_queue *q, struct sg_vmem_op *op)
{
	op->next = NULL;
	*q->tail = op;
	q->tail = &op->next;
	q->n++;
}

static struct sg_vmem_op *pop(struct sg_op_queue *q)
{
	struct sg_vmem_op *op = q->head;

	q->head = op->next;
	if (!q->head)
		q->tail = &q->head;
	q->n--;
	return op;
}

static bool is_atomic(unsigned kind)
{
	return kind == SG_MEM_ATOMIC || kind == SG_MEM_ATOMIC_RTN;
}

/* Where it waits for its answers. */
static struct sg_op_queue *queue_of(struct sg_tcp *tcp, uint8_t kind)
{
	return kind == SG_MEM_STORE || kind == SG_MEM_ATOMIC ? &tcp->stores : &tcp->loads;
}

static void add_lookup(struct sg_lookup_queue *queue, struct sg_vmem_op *op)
{
	queue->at[(queue->first + queue->n++) % SG_MAX_LOOKUPS] = op;
}

void sg_tcp_begin(struct sg_tcp *tcp, struct sg_model *m, uint32_t source, uint32_t xcc)
{
	struct sg_cache tags = tcp->tags, pages = tcp->pages;
	bool touched = tcp->touched;

	/* most of a small dispatch's CUs see no memory instruction: they need no clearing */
	memset(tcp, 0, touched ? sizeof(*tcp) : offsetof(struct sg_tcp, slot_free));
	tcp->model = m;
	tcp->source = (uint16_t)source;
	tcp->xcc = (uint8_t)xcc;
	tcp->tags = tags;
	tcp->pages = pages;
	tcp->last_page = SG_NEVER;
	if (touched && tags.tag) /* the acquire at the start of a dispatch */
		sg_cache_clear(&tcp->tags);
	if (touched && pages.tag)
		sg_cache_clear(&tcp->pages);
	tcp->loads.tail = &tcp->loads.head;
	tcp->stores.tail = &tcp->stores.head;
}

/* ---- issue ---- */

bool sg_tcp_room(struct sg_tcp *tcp, uint64_t t)
{
	/* at times one that follows is slower than its leader, which does not wait for it at once */
	uint32_t room = tcp->model->hw->ta_queue + (tcp->follows ? SG_LOOKUPS_BEHIND : 0);

	if (tcp->queue.n >= room)
		sg_tcp_advance(tcp, t);
	return tcp->queue.n < room;
}

uint64_t sg_tcp_full_until(const struct sg_tcp *tcp)
{
	const struct sg_vmem_op *op = sg_tcp_lookup(tcp, 0);
	int64_t n_left =
		(int64_t)op->n_lines - op->at - 1; /* after the next one; -1: all are looked up */
	uint64_t last = tcp->now + (uint64_t)(n_left * tcp->model->hw->l1_16ths);

	/* an answer of L2 is not known before the next window */
	return tcp->blocked && last < tcp->model->window_end << 4 ? tcp->model->window_end - 1
								  : last >> 4;
}

/* n instructions. */
static void count_address(struct sg_vmem_counts *counts, bool flat, unsigned kind, uint64_t n)
{
	uint64_t *kinds = flat ? &TA(TA_FLAT_WAVEFRONTS) : &TA(TA_BUFFER_WAVEFRONTS);

	TA(TA_TOTAL_WAVEFRONTS) += n;
	/* then, in the order of the catalogue: loads, stores, atomics, loads to LDS */
	kinds[0] += n;
	kinds[kind == SG_MEM_LOAD ? 1 : kind == SG_MEM_STORE ? 2 : 3] += n;
}

void sg_tcp_pass(struct sg_tcp *tcp, const struct sg_timing_insn *inst)
{
	count_address(&tcp->own, inst->unit == SG_UNIT_FLAT, inst->mem_kind, 1);
}

static void count_issue(struct sg_vmem_counts *counts, const struct sg_timing_insn *inst,
			const struct sg_accesses *lines)
{
	bool flat = inst->unit == SG_UNIT_FLAT;
	struct sg_vmem_tally *tally = &counts->tally[flat][inst->mem_kind];

	tally->n++;
	tally->n_requests += lines->n_requests;
	tally->n_lines += lines->n;
	tally->n_shared += lines->shared;
	if (inst->flags & SG_INSN_TO_LDS)
		(flat ? &TA(TA_FLAT_WAVEFRONTS) : &TA(TA_BUFFER_WAVEFRONTS))[4]++;
}

static void count_buffer(struct sg_vmem_counts *counts, const struct sg_vmem_tally *tally,
			 unsigned kind)
{
	TA(TA_BUFFER_COALESCEABLE_WAVEFRONTS) += tally->n_shared;
	TA(TA_BUFFER_TOTAL_CYCLES) += 16 * tally->n;
	if (kind == SG_MEM_LOAD) {
		TA(TA_BUFFER_COALESCED_READ_CYCLES) += 16 * tally->n_shared;
		TD(TD_COALESCABLE_WAVEFRONT) += tally->n_shared;
	} else if (kind == SG_MEM_STORE) {
		TA(TA_BUFFER_COALESCED_WRITE_CYCLES) += 16 * tally->n_shared;
	}
}

static void finish_kind(struct sg_vmem_counts *counts, const struct sg_vmem_tally *tally,
			unsigned kind)
{
	static const uint16_t totals[SG_N_MEM_KINDS] = {
		[SG_MEM_LOAD] = SG_C_TCP_TOTAL_READ,
		[SG_MEM_STORE] = SG_C_TCP_TOTAL_WRITE,
		[SG_MEM_ATOMIC] = SG_C_TCP_TOTAL_ATOMIC_WITHOUT_RET,
		[SG_MEM_ATOMIC_RTN] = SG_C_TCP_TOTAL_ATOMIC_WITH_RET,
	};

	/* of whatever kind: AMD's metric of loads takes the other two away */
	TD(TD_LOAD_WAVEFRONT) += tally->n;
	TD(TD_STORE_WAVEFRONT) += kind == SG_MEM_STORE ? tally->n : 0;
	TD(TD_ATOMIC_WAVEFRONT) += is_atomic(kind) ? tally->n : 0;
	TD(TD_WRITE_ACKT_WAVEFRONT) += kind == SG_MEM_STORE || kind == SG_MEM_ATOMIC ? tally->n : 0;
	TCP(TCP_TA_TCP_STATE_READ) += tally->n;
	TCP(TCP_TOTAL_ACCESSES) += tally->n_requests;
	TCP(TCP_VOLATILE) += tally->n_requests;
	TCP(TCP_TOTAL_CACHE_ACCESSES) += tally->n_lines;
	TCP(TCP_UTCL1_REQUEST) += tally->n_lines;
	counts->tcp[totals[kind]] += tally->n_requests;
}

void sg_tcp_finish(struct sg_vmem_counts *counts)
{
	for (uint32_t flat = 0; flat < 2; flat++)
		for (unsigned kind = 0; kind < SG_N_MEM_KINDS; kind++) {
			const struct sg_vmem_tally *tally = &counts->tally[flat][kind];

			if (!tally->n)
				continue;
			count_address(counts, flat, kind, tally->n);
			if (flat)
				TA(TA_FLAT_COALESCEABLE_WAVEFRONTS) += tally->n_shared;
			else
				count_buffer(counts, tally, kind);
			finish_kind(counts, tally, kind);
		}
}

/* Sizes: most have no list of lines, nearly all others a short one, and full-size ones would not fit the host's caches. */
static struct sg_reuse *pool_of(struct sg_model *m, uint32_t room)
{
	return &m->ops[!room ? 0 : room <= FEW_LINES ? 1 : 2];
}

static struct sg_vmem_op *new_op(struct sg_model *m, uint32_t room)
{
	struct sg_vmem_op *op = sg_reuse_take(pool_of(m, room));

	if (!op) {
		op = aligned_alloc(_Alignof(struct sg_vmem_op),
				   sizeof(*op) + room * sizeof(op->lines[0]));
		if (!op) {
			m->failed = true;
			return NULL;
		}
		op->room = room;
	}
	return op;
}

static void free_op(struct sg_model *m, struct sg_vmem_op *op)
{
	if (op->joint)
		sg_reuse_put(&m->joint_ops, op->joint);
	sg_reuse_put(pool_of(m, op->room), op);
}

void sg_tcp_control(struct sg_tcp *tcp, struct sg_model_wave *w, const struct sg_timing_insn *inst,
		    uint64_t t)
{
	tcp->touched = true;
	if (!(inst->flags & SG_INSN_KEEPS_L1)) { /* buffer_wbinvl1: later accesses miss */
		sg_cache_clear(&tcp->tags);
		tcp->own.tcp[SG_C_TCP_TOTAL_WRITEBACK_INVALIDATES]++;
		tcp->own.tcp[SG_C_TCP_SQ_TCP_INVALIDATE_VOL]++;
	}
	if (tcp == &w->home->tcp)
		w->vm_done[sg_push_vm(w)] = t + tcp->model->hw->l1_hit;
}

/* Of a joint instruction. */
static void find_span(struct sg_vmem_op *op)
{
	uint64_t lowest = SG_NEVER, highest = 0;

	if (op->per_line) {
		op->span = (uint16_t)(op->n_lines / op->per_line);
		return;
	}
	for (uint32_t k = 0; k < op->n_lines; k++) {
		uint64_t line = op->lines[k].line;

		lowest = line < lowest ? line : lowest;
		highest = line > highest ? line : highest;
	}
	op->first = lowest;
	op->span = (uint16_t)(highest - lowest + 1);
}

void sg_tcp_issue(struct sg_tcp *tcp, struct sg_model_wave *w, const struct sg_timing_insn *inst,
		  const struct sg_accesses *lines, struct sg_joint_op *joint, uint32_t n_lanes,
		  bool is_scratch, uint64_t t)
{
	uint32_t room = lines->per_line ? 0 : lines->n <= FEW_LINES ? FEW_LINES : SG_MAX_ACCESSES;
	struct sg_vmem_op *op = new_op(tcp->model, room);

	tcp->touched = true;
	if (!op) {
		free(joint);
		return;
	}
	op->n_lines = lines->n;
	op->per_line = lines->per_line;
	op->first = lines->first;
	if (!op->per_line)
		memcpy(op->lines, lines->at, lines->n * sizeof(lines->at[0]));
	op->wave = w;
	op->joint = joint;
	if (joint)
		find_span(op);
	op->follows = !joint && tcp != &w->home->tcp;
	/* a leader has issued its own before */
	op->vm_slot = op->follows ? (w->vm.n_issued - 1) % SG_MAX_VM : sg_push_vm(w);
	tcp->model->n_behind += op->follows;
	op->kind = inst->mem_kind;
	op->slc = inst->slc;
	op->glc = inst->glc;
	op->issued = t;
	op->done = sg_op_arrived(op);
	op->n_pending = op->at = 0;
	op->written = 0;
	op->last_lines = 0;
	op->bytes = n_lanes * inst->bytes;
	/* scratch is device memory; others are classified at the first look-up */
	op->memory = (struct sg_model_range){ .size = is_scratch ? UINT64_MAX : 0 };
	count_issue(sg_counts_of(tcp, op), inst, lines);
	add_lookup(&tcp->queue, op);
}

/* ---- the end of a joint pipeline ---- */

/* An instruction of a joint pipeline becomes one of a member. */
static void issue_apart(struct sg_tcp *tcp, const struct sg_vmem_op *joint, int32_t by)
{
	struct sg_vmem_op *op = new_op(tcp->model, joint->room);

	if (!op)
		return;
	*op = *joint;
	for (uint32_t k = 0; !op->per_line && k < op->n_lines; k++)
		op->lines[k] = (struct sg_line_access){ sg_joint_line(joint->lines[k].line, by),
							joint->lines[k].bytes };
	op->joint = NULL;
	op->first = sg_joint_line(joint->first, by);
	op->follows = true;
	tcp->model->n_behind++;
	add_lookup(&tcp->queue, op);
}

/* The instruction whose look-ups have begun, or NULL. */
static const struct sg_vmem_op *begun(const struct sg_tcp *joint)
{
	const struct sg_vmem_op *first = joint->queue.n ? sg_tcp_lookup(joint, 0) : NULL;

	return first && (first->at || joint->translated) ? first : NULL;
}

/* What waits for look-ups waits in the pipelines of those that take part; one that has begun ends here. */
static void part_lookups(struct sg_tcp *joint)
{
	struct sg_model *m = joint->model;
	uint32_t n_begun = begun(joint) ? 1 : 0;
	struct sg_lookup_queue queue = joint->queue;

	joint->queue.n = n_begun;
	queue.first += n_begun;
	queue.n -= n_begun;
	for (uint32_t k = 0; k < queue.n; k++) {
		struct sg_vmem_op *op = queue.at[(queue.first + k) % SG_MAX_LOOKUPS];
		struct sg_joint_op *parts = op->joint;

		for (uint32_t n = 0; n < parts->n; n++)
			issue_apart(&m->cus[parts->members[n].cu].tcp, op, parts->members[n].by);
		op->joint = NULL;
		add_lookup(&parts->home->queue, op);
		sg_reuse_put(&m->joint_ops, parts);
	}
}

/* What waits for answers waits among the other instructions of its home. */
static void part_answers(struct sg_tcp *joint, struct sg_op_queue *q)
{
	while (q->head) {
		struct sg_vmem_op *op = pop(q);

		push(queue_of(op->joint->home, op->kind), op);
	}
}

void sg_tcp_part(struct sg_tcp *joint, struct sg_tcp *tcp)
{
	const struct sg_vmem_op *first = begun(joint);
	uint32_t n_left = first ? first->n_lines - first->at : 0;

	tcp->touched = true;
	tcp->now = joint->now + n_left * tcp->model->hw->l1_16ths;
	tcp->n_reads = joint->n_reads;
	tcp->last_sent = joint->last_sent;
	tcp->data_free = joint->data_free;
	memcpy(tcp->slot_free, joint->slot_free, sizeof(tcp->slot_free));
}

void sg_tcp_end_joint(struct sg_tcp *joint)
{
	part_lookups(joint);
	part_answers(joint, &joint->loads);
	part_answers(joint, &joint->stores);
}

/* ---- answers ---- */

/* Where its data return. The joint pipeline of engines that are no longer in step has none. */
static struct sg_tcp *returns_to(struct sg_tcp *tcp, const struct sg_vmem_op *op)
{
	return op->joint && !tcp->model->joins ? op->joint->home : tcp;
}

static void take_entries(struct sg_tcp *tcp, const struct sg_request *r, const struct sg_answers *a)
{
	const struct sg_hw *hw = tcp->model->hw;
	uint32_t n = sg_tcp_requests(hw, r->lines), slot = r->slot;

	for (uint32_t k = 0; k <= r->n_more; k++)
		for (uint32_t i = 0; i < n; i++)
			tcp->slot_free[slot++ & (hw->l1_misses - 1)] = a->times[k];
}

/* Entries of a joint pipeline are those of all that take part, when these have their own again. */
static void take_parts(const struct sg_joint_op *joint, const struct sg_request *r,
		       const struct sg_answers *a)
{
	struct sg_model *m = joint->home->model;

	take_entries(joint->home, r, a);
	for (uint32_t k = 0; k < joint->n; k++)
		take_entries(&m->cus[joint->members[k].cu].tcp, r, a);
}

static void retire(struct sg_tcp *tcp, struct sg_op_queue *q)
{
	struct sg_model *m = tcp->model;

	while (q->head && !q->head->n_pending) {
		struct sg_vmem_op *op = pop(q);
		struct sg_model_wave *w = op->wave;
		struct sg_vmem_counts *counts = sg_counts_of(tcp, op);
		uint64_t ready = op->done << 4, done;

		if (op->kind == SG_MEM_LOAD || op->kind == SG_MEM_ATOMIC_RTN) {
			ready = ready > tcp->data_free ? ready : tcp->data_free;
			tcp->data_free = ready + op->bytes * m->hw->l1_16ths / 64;
			counts->n_returned += op->bytes;
			ready = tcp->data_free;
		}
		done = (ready >> 4) + m->hw->td_latency;
		TCP(TCP_TCP_LATENCY) += (ready >> 4) - sg_op_arrived(op);
		counts->in_flight += done - op->issued;
		sg_busy_add(&counts->td_busy, op->looked_up, ready >> 4);
		if (op->joint)
			sg_busy_add(&tcp->td_busy, op->looked_up, ready >> 4);
		if (!op->follows) {
			w->vm_done[op->vm_slot] = done;
			sg_wave_answered(w, done);
		} else { /* its wave ends, or has ended, when the leader does */
			m->n_behind--;
			m->last_end = done > m->last_end ? done : m->last_end;
		}
		free_op(m, op);
	}
}

void sg_tcp_answer(struct sg_tcp *tcp, const struct sg_request *r, const struct sg_answers *a)
{
	const struct sg_hw *hw = tcp->model->hw;
	struct sg_vmem_op *op = r->owner;
	uint64_t *counters = (op->joint ? op->joint->home : tcp)->own.tcp;

	if (r->kind == SG_REQ_READ) {
		uint32_t n = sg_tcp_requests(hw, r->lines);

		take_entries(tcp, r, a);
		if (op->joint && !tcp->model->joins)
			take_parts(op->joint, r, a);
		counters[SG_C_TCP_TCC_READ_REQ_LATENCY] +=
			n * sg_request_latency(r, a, r->n_more + 1u, hw->request);
	} else if (r->kind == SG_REQ_WRITE) {
		counters[SG_C_TCP_TCC_WRITE_REQ_LATENCY] +=
			sg_request_latency(r, a, r->n_more + 1u, hw->request);
	}
	op->done = a->last > op->done ? a->last : op->done;
	op->n_pending -= r->n_more + 1u;
	if (!op->n_pending) {
		tcp = returns_to(tcp, op);
		retire(tcp, queue_of(tcp, op->kind));
	}
}

void sg_tcp_sent(struct sg_tcp *tcp, struct sg_vmem_op *op)
{
	struct sg_tcp *returns = returns_to(tcp, op);
	struct sg_op_queue *queue = queue_of(returns, op->kind);
	uint64_t now = tcp->now >> 4, from = sg_op_arrived(op) - TA_BUSY_CYCLES;

	tcp->queue.first++;
	tcp->queue.n--;
	op->looked_up = now;
	sg_busy_add(&sg_counts_of(tcp, op)->ta_busy, from, now);
	if (op->joint)
		sg_busy_add(&tcp->ta_busy, from, now);
	if (now + tcp->model->hw->l1_hit > op->done)
		op->done = now + tcp->model->hw->l1_hit;
	push(queue, op);
	retire(returns, queue);
}
