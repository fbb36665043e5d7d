/*
 * tcp: a CU's vector memory pipeline: address unit, translation, L1, data return.
 *
 * In order. The look-up of a line takes a little more than a cycle; a read that misses needs one of
 * `l1_misses` entries until it is answered; loads return in order. A page that is not in UTCL1 stops the
 * pipeline until it is translated.
 */
#include <stdlib.h>
#include <string.h>

#include "softgpu/timing/model_priv.h"

#define TA(name) tcp->ta[SG_C_##name]
#define TD(name) tcp->td[SG_C_##name]
#define TCP(name) tcp->c[SG_C_##name]
#define FEW_LINES 16 /* what lanes in order have */
#define TA_CYCLES 20 /* address unit: 64 lanes by 16, and the way to it */
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

static struct sg_vmem_op *lookup(const struct sg_tcp *tcp, uint32_t n)
{
	return tcp->queue.at[(tcp->queue.first + n) % SG_MAX_LOOKUPS];
}

static struct sg_line_access line_of(const struct sg_vmem_op *op, uint32_t k)
{
	return op->per_line ? sg_access_in_order(op->first, op->per_line, k) : op->lines[k];
}

static bool is_atomic(uint8_t kind)
{
	return kind == SG_MEM_ATOMIC || kind == SG_MEM_ATOMIC_RTN;
}

/* Where it waits for its answers. */
static struct sg_op_queue *queue_of(struct sg_tcp *tcp, uint8_t kind)
{
	return kind == SG_MEM_STORE || kind == SG_MEM_ATOMIC ? &tcp->stores : &tcp->loads;
}

/* ---- issue ---- */

bool sg_tcp_room(struct sg_cu *cu, uint64_t t)
{
	/* at times one that follows is slower than its leader, which does not wait for it at once */
	uint32_t room = cu->model->hw->ta_queue + (cu->follows ? SG_LOOKUPS_BEHIND : 0);

	if (cu->tcp.queue.n >= room)
		sg_tcp_advance(cu, t);
	return cu->tcp.queue.n < room;
}

uint64_t sg_tcp_full_until(const struct sg_cu *cu)
{
	const struct sg_tcp *tcp = &cu->tcp;
	const struct sg_vmem_op *op = lookup(tcp, 0);
	uint64_t last = tcp->now + (op->n_lines - op->at - 1) * cu->model->hw->l1_16ths;

	/* an answer of L2 is not known before the next window */
	return tcp->blocked && last < cu->model->window_end << 4 ? cu->model->window_end - 1
								 : last >> 4;
}

static void count_address(struct sg_tcp *tcp, const struct sg_timing_insn *inst)
{
	uint64_t *kinds =
		inst->unit == SG_UNIT_FLAT ? &TA(TA_FLAT_WAVEFRONTS) : &TA(TA_BUFFER_WAVEFRONTS);

	TA(TA_TOTAL_WAVEFRONTS)++;
	kinds[0]++; /* then, in the order of the catalogue: loads, stores, atomics, loads to LDS */
	kinds[inst->mem_kind == SG_MEM_LOAD ? 1 : inst->mem_kind == SG_MEM_STORE ? 2 : 3]++;
	kinds[4] += inst->flags & SG_INSN_TO_LDS ? 1 : 0;
}

void sg_tcp_pass(struct sg_cu *cu, const struct sg_timing_insn *inst)
{
	count_address(&cu->tcp, inst);
}

static void count_issue(struct sg_tcp *tcp, const struct sg_timing_insn *inst,
			const struct sg_vmem_op *op, const struct sg_accesses *lines)
{
	bool load = op->kind == SG_MEM_LOAD;
	uint64_t n = lines->n_requests;

	count_address(tcp, inst);
	if (inst->unit == SG_UNIT_FLAT) {
		TA(TA_FLAT_COALESCEABLE_WAVEFRONTS) += lines->shared;
	} else {
		TA(TA_BUFFER_COALESCEABLE_WAVEFRONTS) += lines->shared;
		TA(TA_BUFFER_TOTAL_CYCLES) += 16;
		if (lines->shared && load)
			TA(TA_BUFFER_COALESCED_READ_CYCLES) += 16;
		if (lines->shared && op->kind == SG_MEM_STORE)
			TA(TA_BUFFER_COALESCED_WRITE_CYCLES) += 16;
	}
	TD(TD_LOAD_WAVEFRONT)
	++; /* of whatever kind: AMD's metric of loads takes the other two away */
	TD(TD_STORE_WAVEFRONT) += op->kind == SG_MEM_STORE;
	TD(TD_ATOMIC_WAVEFRONT) += is_atomic(op->kind);
	TD(TD_WRITE_ACKT_WAVEFRONT) += op->kind == SG_MEM_STORE || op->kind == SG_MEM_ATOMIC;
	if (load && lines->shared && inst->unit == SG_UNIT_VMEM)
		TD(TD_COALESCABLE_WAVEFRONT)++;
	TCP(TCP_TA_TCP_STATE_READ)++;
	TCP(TCP_TOTAL_ACCESSES) += n;
	TCP(TCP_VOLATILE) += n;
	TCP(TCP_TOTAL_CACHE_ACCESSES) += lines->n;
	TCP(TCP_UTCL1_REQUEST) += lines->n;
	if (load)
		TCP(TCP_TOTAL_READ) += n;
	else if (op->kind == SG_MEM_STORE)
		TCP(TCP_TOTAL_WRITE) += n;
	else if (op->kind == SG_MEM_ATOMIC_RTN)
		TCP(TCP_TOTAL_ATOMIC_WITH_RET) += n;
	else
		TCP(TCP_TOTAL_ATOMIC_WITHOUT_RET) += n;
}

/* Two sizes, because nearly all have few lines, and full-size ones would not fit the host's caches. */
static struct sg_vmem_op *new_op(struct sg_model *m, const struct sg_accesses *lines)
{
	bool large = lines->n > FEW_LINES;
	struct sg_vmem_op *op = sg_pool_take(&m->ops[large]);

	if (!op) {
		uint32_t room = large ? SG_MAX_ACCESSES : FEW_LINES;

		op = malloc(sizeof(*op) + room * sizeof(op->lines[0]));
		if (!op) {
			m->failed = true;
			return NULL;
		}
		op->room = room;
	}
	op->n_lines = lines->n;
	op->per_line = lines->per_line;
	op->first = lines->first;
	if (!op->per_line)
		memcpy(op->lines, lines->at, lines->n * sizeof(lines->at[0]));
	return op;
}

static void free_op(struct sg_model *m, struct sg_vmem_op *op)
{
	sg_pool_put(&m->ops[op->room > FEW_LINES], op);
}

void sg_tcp_control(struct sg_cu *cu, struct sg_model_wave *w, const struct sg_timing_insn *inst,
		    uint64_t t)
{
	struct sg_tcp *tcp = &cu->tcp;

	tcp->touched = true;
	if (!(inst->flags & SG_INSN_KEEPS_L1)) { /* buffer_wbinvl1: later accesses miss */
		sg_cache_clear(&tcp->tags);
		TCP(TCP_TOTAL_WRITEBACK_INVALIDATES)++;
		TCP(TCP_SQ_TCP_INVALIDATE_VOL)++;
	}
	if (!cu->follows)
		w->vm_done[sg_push_vm(w)] = t + cu->model->hw->l1_hit;
}

void sg_tcp_issue(struct sg_cu *cu, struct sg_model_wave *w, const struct sg_timing_insn *inst,
		  const struct sg_accesses *lines, uint32_t n_lanes, bool is_scratch, uint64_t t)
{
	struct sg_tcp *tcp = &cu->tcp;
	struct sg_vmem_op *op = new_op(cu->model, lines);

	tcp->touched = true;
	if (!op)
		return;
	op->wave = w;
	/* a leader has issued its own before */
	op->vm_slot = cu->follows ? (w->vm.n_issued - 1) % SG_MAX_VM : sg_push_vm(w);
	cu->model->n_behind += cu->follows;
	op->kind = inst->mem_kind;
	op->slc = inst->slc;
	op->glc = inst->glc;
	op->issued = t;
	op->arrived = t + TA_CYCLES;
	op->done = op->arrived;
	op->n_pending = op->at = 0;
	op->written = 0;
	op->last_lines = 0;
	op->bytes = n_lanes * inst->bytes;
	/* scratch is device memory; others are classified at the first look-up */
	op->memory = (struct sg_model_range){ .size = is_scratch ? UINT64_MAX : 0 };
	count_issue(tcp, inst, op, lines);
	tcp->queue.at[(tcp->queue.first + tcp->queue.n++) % SG_MAX_LOOKUPS] = op;
}

/* ---- answers ---- */

static void retire(struct sg_cu *cu, struct sg_op_queue *q)
{
	struct sg_tcp *tcp = &cu->tcp;
	struct sg_model *m = cu->model;

	while (q->head && !q->head->n_pending) {
		struct sg_vmem_op *op = pop(q);
		struct sg_model_wave *w = op->wave;
		uint64_t ready = op->done << 4, done;

		if (op->kind == SG_MEM_LOAD || op->kind == SG_MEM_ATOMIC_RTN) {
			ready = ready > tcp->data_free ? ready : tcp->data_free;
			tcp->data_free = ready + op->bytes * m->hw->l1_16ths / 64;
			tcp->n_returned += op->bytes;
			ready = tcp->data_free;
		}
		done = (ready >> 4) + m->hw->td_latency;
		TCP(TCP_TCP_LATENCY) += (ready >> 4) - op->arrived;
		cu->level[SG_C_SQ_INST_LEVEL_VMEM] += done - op->issued;
		sg_busy_add(&tcp->td_busy, op->looked_up, ready >> 4);
		if (w && !cu->follows) {
			w->vm_done[op->vm_slot] = done;
			sg_wave_answered(w, done);
		} else { /* its wave ends, or has ended, when the leader does */
			m->n_behind--;
			m->last_end = done > m->last_end ? done : m->last_end;
		}
		free_op(m, op);
	}
}

/* What a read of so many 64-byte lines counts as: from MI300 on, a line of 128 bytes is one request. */
static uint32_t n_requests(const struct sg_hw *hw, uint32_t lines)
{
	return hw->l1_line == 128 ? 1 : lines;
}

void sg_tcp_answer(struct sg_cu *cu, const struct sg_request *r, uint64_t time)
{
	struct sg_tcp *tcp = &cu->tcp;
	struct sg_vmem_op *op = r->owner;
	uint64_t latency = time - (r->time - cu->model->hw->request);

	if (r->kind == SG_REQ_READ) {
		uint32_t n = n_requests(cu->model->hw, r->lines);

		for (uint32_t k = 0; k < n; k++)
			tcp->slot_free[(r->slot + k) & (cu->model->hw->l1_misses - 1)] = time;
		TCP(TCP_TCC_READ_REQ_LATENCY) += n * latency;
	} else if (r->kind == SG_REQ_WRITE) {
		TCP(TCP_TCC_WRITE_REQ_LATENCY) += latency;
	}
	op->done = time > op->done ? time : op->done;
	if (!--op->n_pending)
		retire(cu, queue_of(tcp, op->kind));
}

/* ---- look-ups ---- */

/* The look-ups are stalled: the address unit stalls, too, when the queue between them is full. */
static void count_stall(struct sg_cu *cu, uint64_t cycles)
{
	const struct sg_hw *hw = cu->model->hw;
	struct sg_tcp *tcp = &cu->tcp;

	if (tcp->queue.n > hw->ta_ahead)
		TA(TA_ADDR_STALLED_BY_TC_CYCLES) += cycles;
}

/* Counts n translations of the page that was translated last. */
static void count_translated(struct sg_tcp *tcp, uint32_t n)
{
	uint32_t under_miss = tcp->under_miss < n ? tcp->under_miss : n;

	tcp->under_miss -= under_miss;
	TCP(TCP_UTCL1_TRANSLATION_HIT) += n - under_miss;
}

/* Counts the translation of the next line; false: it takes until tcp->now. */
static bool translate(struct sg_cu *cu, uint64_t line)
{
	struct sg_tcp *tcp = &cu->tcp;
	struct sg_model *m = cu->model;
	uint64_t page = line >> (m->hw->page_shift - 6), now = tcp->now >> 4, ready;

	if (tcp->translated)
		return true;
	tcp->translated = true;
	if (page == tcp->last_page) {
		count_translated(tcp, 1);
		return true;
	}
	tcp->last_page = page;
	if (sg_cache_touch(&tcp->pages, page)) {
		TCP(TCP_UTCL1_TRANSLATION_HIT)++;
		return true;
	}
	TCP(TCP_UTCL1_TRANSLATION_MISS)++;
	tcp->under_miss = m->hw->utcl1_under_miss;
	ready = now + m->utcl2_cycles;
	if (!sg_cache_touch(&m->walked,
			    page >> 3)) { /* the first CU to want it waits for the walk */
		m->walk_page = page >> 3;
		m->walk_ready = now + m->walk_cycles;
	}
	if (m->walk_page == page >> 3 && m->walk_ready > ready)
		ready = m->walk_ready;
	TCP(TCP_UTCL1_STALL_LFIFO_NOT_RES) += ready - now;
	count_stall(cu, ready - now);
	tcp->now = ready << 4;
	return false;
}

/* Puts a request on its way at `now` (1/16 cycles); count_sent() has to follow. */
static inline void post(struct sg_cu *cu, struct sg_vmem_op *op, enum sg_req_kind kind,
			uint64_t now, uint64_t line, uint64_t bytes, uint8_t lines)
{
	struct sg_tcp *tcp = &cu->tcp;
	struct sg_request r = { .time = (now >> 4) + cu->model->hw->request,
				.addr = line << 6,
				.bytes = bytes,
				.owner = op,
				.slot = tcp->n_reads,
				.source = (uint16_t)cu->index,
				.kind = (uint8_t)kind,
				.lines = lines,
				.xcc = (uint8_t)cu->xcc,
				.memory = op->memory.kind,
				.slc = op->slc };

	tcp->c[SG_C_TCP_TAGRAM0_REQ + (line >> 1 & 3)]++;
	sg_tcc_send(&cu->model->tcc, &r);
}

/* So many requests have been sent, the last one at `now`. */
static inline void count_sent(struct sg_tcp *tcp, struct sg_vmem_op *op, enum sg_req_kind kind,
			      uint64_t now, uint32_t n)
{
	op->n_pending += n;
	tcp->n_sent += kind == SG_REQ_READ ? n : 0;
	tcp->n_written += kind == SG_REQ_WRITE ? n : 0;
	tcp->last_sent = now >> 4;
}

static void send(struct sg_cu *cu, struct sg_vmem_op *op, enum sg_req_kind kind, uint64_t line,
		 uint64_t bytes, uint8_t lines)
{
	post(cu, op, kind, cu->tcp.now, line, bytes, lines);
	count_sent(&cu->tcp, op, kind, cu->tcp.now, 1);
}

/* Takes an entry for a read in flight. False: none before tcp->now, or (blocked) until an answer. */
static bool find_slot(struct sg_cu *cu)
{
	struct sg_tcp *tcp = &cu->tcp;
	uint64_t free_at = tcp->slot_free[tcp->n_reads & (cu->model->hw->l1_misses - 1)];

	if (free_at == SG_NEVER) {
		tcp->blocked = true;
		return false;
	}
	if (free_at << 4 <= tcp->now)
		return true;
	TCP(TCP_LFIFO_STALL_CYCLES) += free_at - (tcp->now >> 4);
	count_stall(cu, free_at - (tcp->now >> 4));
	tcp->now = free_at << 4;
	return false;
}

static void take_slot(struct sg_tcp *tcp, const struct sg_hw *hw)
{
	tcp->slot_free[tcp->n_reads++ & (hw->l1_misses - 1)] = SG_NEVER;
}

/* MI200: a read whose other half of 128 bytes comes next goes out together with it, unless the way to L2
 * has been idle: then it does not wait. */
static bool pair_follows(const struct sg_cu *cu, const struct sg_vmem_op *op, uint64_t line)
{
	const struct sg_tcp *tcp = &cu->tcp;
	const struct sg_hw *hw = cu->model->hw;

	if (!hw->merge_wait || line & 1 || (tcp->now >> 4) - tcp->last_sent > hw->merge_wait)
		return false;
	if (tcp->slot_free[(tcp->n_reads + 1) & (hw->l1_misses - 1)] > tcp->now >> 4)
		return false;
	for (uint32_t k = op->at + 1; k < op->n_lines; k++)
		if (line_of(op, k).line != line)
			return line_of(op, k).line == line + 1 &&
			       !sg_cache_has(&tcp->tags, line + 1);
	return false;
}

/* By the type of the memory, and the kind of request: they are in the same order for each type. */
static void count_type(struct sg_tcp *tcp, const struct sg_vmem_op *op, enum sg_req_kind kind,
		       uint32_t n)
{
	static const uint16_t first[] = {
		[SG_MTYPE_RW] = SG_C_TCP_TCC_RW_READ_REQ,
		[SG_MTYPE_CC] = SG_C_TCP_TCC_CC_READ_REQ,
		[SG_MTYPE_NC] = SG_C_TCP_TCC_NC_READ_REQ,
		[SG_MTYPE_UC] = SG_C_TCP_TCC_UC_READ_REQ,
	};

	tcp->c[first[op->memory.kind.mtype] + kind - SG_REQ_READ] += n;
}

static bool read_line(struct sg_cu *cu, struct sg_vmem_op *op, uint64_t line)
{
	struct sg_tcp *tcp = &cu->tcp;
	const struct sg_hw *hw = cu->model->hw;
	bool uncached = op->memory.kind.mtype == SG_MTYPE_UC, wide = hw->l1_line == 128;
	uint64_t tag = wide ? line >> 1 : line;
	uint32_t n;
	uint8_t lines;

	/* what is not cached is fetched once for lanes that are looked up one after the other */
	if (uncached ? line - op->last_line < op->last_lines
		     : !op->glc && sg_cache_use(&tcp->tags, tag))
		return true;
	if (!find_slot(cu))
		return false;
	if (wide)
		line &= ~1ull;
	lines = wide || pair_follows(cu, op, line) ? 2 : 1;
	n = n_requests(hw, lines);
	for (uint32_t k = 0; k < n && !uncached; k++)
		sg_cache_touch(&tcp->tags, tag + k);
	op->last_line = line;
	op->last_lines = lines;
	send(cu, op, SG_REQ_READ, line, 0, lines);
	for (uint32_t k = 0; k < n; k++)
		take_slot(tcp, hw);
	TCP(TCP_TCC_READ_REQ) += n;
	count_type(tcp, op, SG_REQ_READ, n);
	return true;
}

/* Of lanes in order: the next access is to the first half of a line. */
static bool is_first_half(const struct sg_vmem_op *op)
{
	return op->per_line == 2 && !(op->at & 1);
}

static void write_line(struct sg_cu *cu, struct sg_vmem_op *op, uint64_t line)
{
	struct sg_tcp *tcp = &cu->tcp;
	uint64_t bytes = line_of(op, op->at).bytes | op->written;

	/* what follows for the same line goes along */
	op->written = bytes;
	if (op->at + 1 < op->n_lines && line_of(op, op->at + 1).line == line)
		return;
	op->written = 0;
	send(cu, op, SG_REQ_WRITE, line, bytes, 1);
	TCP(TCP_TCC_WRITE_REQ)++;
	count_type(tcp, op, SG_REQ_WRITE, 1);
}

static void atomic_line(struct sg_cu *cu, struct sg_vmem_op *op, uint64_t line)
{
	struct sg_tcp *tcp = &cu->tcp;

	send(cu, op, SG_REQ_ATOMIC, line, line_of(op, op->at).bytes, 1);
	if (op->kind == SG_MEM_ATOMIC_RTN)
		TCP(TCP_TCC_ATOMIC_WITH_RET_REQ)++;
	else
		TCP(TCP_TCC_ATOMIC_WITHOUT_RET_REQ)++;
	count_type(tcp, op, SG_REQ_ATOMIC, 1);
}

/*
 * The accesses that follow the one just looked up, of lanes in order, to lines that it found or has requested: they
 * hit and change nothing. Counts those, if all of them are looked up before `end`.
 */
static void pass_hits(struct sg_cu *cu, struct sg_vmem_op *op, uint64_t line, uint64_t end)
{
	struct sg_tcp *tcp = &cu->tcp;
	const struct sg_hw *hw = cu->model->hw;
	uint64_t next = line + 1;
	uint32_t n;

	if (op->glc) /* they miss */
		return;
	if (line - op->last_line < op->last_lines)
		next = op->last_line + op->last_lines;
	else if (hw->l1_line == 128)
		next = (line | 1) + 1;
	n = (uint32_t)(next - op->first) * op->per_line;
	n = (n < op->n_lines ? n : op->n_lines) - op->at;
	if (tcp->now + n * hw->l1_16ths > end ||
	    ((next - 1) << 6) - op->memory.from >= op->memory.size)
		return;
	count_translated(tcp, n);
	op->at += n;
	tcp->now += n * hw->l1_16ths;
}

/* The next line of the instruction. False: not now; tcp->now or tcp->blocked says when. */
static bool look_up(struct sg_cu *cu, struct sg_vmem_op *op, uint64_t end)
{
	struct sg_tcp *tcp = &cu->tcp;
	uint64_t line = line_of(op, op->at).line;
	uint32_t cycles = cu->model->hw->l1_16ths;

	if (!translate(cu, line))
		return false;
	if ((line << 6) - op->memory.from >= op->memory.size)
		op->memory = sg_model_memory(cu->model, line << 6);
	if (op->kind == SG_MEM_LOAD) {
		if (!read_line(cu, op, line))
			return false;
	} else if (op->kind == SG_MEM_STORE) {
		if (is_first_half(op) && tcp->now + cycles < end) { /* the other one, too */
			count_translated(tcp, 1);
			op->written = line_of(op, op->at++).bytes;
			tcp->now += cycles;
		}
		write_line(cu, op, line);
	} else {
		atomic_line(cu, op, line);
	}
	op->at++;
	tcp->translated = false;
	tcp->now += cycles;
	if (op->per_line && op->kind == SG_MEM_LOAD)
		pass_hits(cu, op, line, end);
	return true;
}

/*
 * Writes the next lines of lanes in order, whole ones of the page that was translated last, as many as are looked up
 * before `end`: what look_up() would do line by line.
 */
static void write_lines(struct sg_cu *cu, struct sg_vmem_op *op, uint64_t end)
{
	struct sg_tcp *tcp = &cu->tcp;
	const struct sg_hw *hw = cu->model->hw;
	uint32_t page_lines = hw->page_shift - 6, at_line = op->at / op->per_line;
	uint32_t n = (op->n_lines - op->at) / op->per_line, cost = op->per_line * hw->l1_16ths;
	uint64_t line = op->first + at_line, room = (end - tcp->now + hw->l1_16ths - 1) / cost;
	/* a line is sent when its last part has been looked up */
	uint64_t now = tcp->now + cost - hw->l1_16ths;

	n = room < n ? (uint32_t)room : n;
	if (!n || op->at % op->per_line || op->written || tcp->translated ||
	    line >> page_lines != tcp->last_page ||
	    (line + n - 1) >> page_lines != tcp->last_page ||
	    (line << 6) - op->memory.from >= op->memory.size ||
	    ((line + n - 1) << 6) - op->memory.from >= op->memory.size)
		return;
	for (uint32_t k = 0; k < n; k++, line++, now += cost)
		post(cu, op, SG_REQ_WRITE, now, line, ~0ull, 1);
	count_sent(tcp, op, SG_REQ_WRITE, now - cost, n);
	TCP(TCP_TCC_WRITE_REQ) += n;
	count_type(tcp, op, SG_REQ_WRITE, n);
	count_translated(tcp, n * op->per_line);
	op->at += n * op->per_line;
	tcp->now += (uint64_t)n * cost;
}

static void all_sent(struct sg_cu *cu, struct sg_vmem_op *op)
{
	struct sg_tcp *tcp = &cu->tcp;
	struct sg_op_queue *queue = queue_of(tcp, op->kind);
	uint64_t now = tcp->now >> 4;

	tcp->queue.first++;
	tcp->queue.n--;
	op->looked_up = now;
	sg_busy_add(&tcp->ta_busy, op->arrived - TA_BUSY_CYCLES, now);
	if (now + cu->model->hw->l1_hit > op->done)
		op->done = now + cu->model->hw->l1_hit;
	push(queue, op);
	retire(cu, queue);
}

void sg_tcp_advance(struct sg_cu *cu, uint64_t until)
{
	struct sg_tcp *tcp = &cu->tcp;
	uint64_t end = until << 4;

	tcp->blocked = false;
	while (tcp->queue.n) {
		struct sg_vmem_op *op = lookup(tcp, 0);

		if (tcp->queue.n > 1)
			__builtin_prefetch(lookup(tcp, 1), 1);
		if (tcp->now < op->arrived << 4)
			tcp->now = op->arrived << 4;
		while (op->at < op->n_lines) {
			if (tcp->now >= end)
				return;
			if (!look_up(cu, op, end) && tcp->blocked)
				return;
			if (op->kind == SG_MEM_STORE && op->per_line && op->at < op->n_lines)
				write_lines(cu, op, end);
		}
		all_sent(cu, op);
	}
}
