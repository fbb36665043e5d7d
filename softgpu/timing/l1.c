/*
 * l1: the look-ups of a CU's vector memory instructions: translation, L1, requests to L2.
 *
 * In order. The look-up of a line takes a little more than a cycle; a read that misses needs one of
 * `l1_misses` entries until it is answered. A page that is not in UTCL1 stops the pipeline until it is translated.
 */
#include "softgpu/timing/model_priv.h"

#define TA(name) tcp->ta[SG_C_##name]
#define TCP(name) tcp->c[SG_C_##name]

static struct sg_line_access line_of(const struct sg_vmem_op *op, uint32_t k)
{
	return op->per_line ? sg_access_in_order(op->first, op->per_line, k) : op->lines[k];
}

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

/* When the n-th entry for reads in flight, from the next one on, is free. */
static uint64_t *slot_of(struct sg_tcp *tcp, const struct sg_hw *hw, uint32_t n)
{
	return &tcp->slot_free[(tcp->n_reads + n) & (hw->l1_misses - 1)];
}

/* Takes an entry for a read in flight. False: none before tcp->now, or (blocked) until an answer. */
static bool find_slot(struct sg_cu *cu)
{
	struct sg_tcp *tcp = &cu->tcp;
	uint64_t free_at = *slot_of(tcp, cu->model->hw, 0);

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
	*slot_of(tcp, hw, 0) = SG_NEVER;
	tcp->n_reads++;
}

/* MI200: a read goes out together with that of the other half of 128 bytes, if that comes next, unless the way to L2 has
 * been idle: then it does not wait. */
static bool may_pair(struct sg_cu *cu, uint64_t line)
{
	struct sg_tcp *tcp = &cu->tcp;
	const struct sg_hw *hw = cu->model->hw;
	uint64_t now = tcp->now >> 4;

	return hw->merge_wait && !(line & 1) && now - tcp->last_sent <= hw->merge_wait &&
	       *slot_of(tcp, hw, 1) <= now && !sg_cache_has(&tcp->tags, line + 1);
}

static bool pair_follows(struct sg_cu *cu, const struct sg_vmem_op *op, uint64_t line)
{
	if (!may_pair(cu, line))
		return false;
	for (uint32_t k = op->at + 1; k < op->n_lines; k++)
		if (line_of(op, k).line != line)
			return line_of(op, k).line == line + 1;
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
	n = sg_tcp_requests(hw, lines);
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

/* What memory the line is. */
static void classify(const struct sg_cu *cu, struct sg_vmem_op *op, uint64_t line)
{
	if ((line << 6) - op->memory.from >= op->memory.size)
		op->memory = sg_model_memory(cu->model, line << 6);
}

/* The next line of the instruction. False: not now; tcp->now or tcp->blocked says when. */
static bool look_up(struct sg_cu *cu, struct sg_vmem_op *op, uint64_t end)
{
	struct sg_tcp *tcp = &cu->tcp;
	uint64_t line = line_of(op, op->at).line;
	uint32_t cycles = cu->model->hw->l1_16ths;

	if (!translate(cu, line))
		return false;
	classify(cu, op, line);
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

/* ---- lanes in order: what look_up() would do, many lines at a time ---- */

/* n, if the next n lines need no translation and are memory of one kind; else 0. */
static uint32_t n_alike(struct sg_cu *cu, struct sg_vmem_op *op, uint64_t line, uint64_t n)
{
	uint32_t page_lines = cu->model->hw->page_shift - 6;
	uint64_t last = line + n - 1;

	if (!n || cu->tcp.translated || line >> page_lines != cu->tcp.last_page ||
	    last >> page_lines != cu->tcp.last_page)
		return 0;
	classify(cu, op, line);
	return (last << 6) - op->memory.from < op->memory.size ? (uint32_t)n : 0;
}

/* Writes whole lines, as many as are looked up before `end`. False: none. */
static bool write_lines(struct sg_cu *cu, struct sg_vmem_op *op, uint64_t end)
{
	struct sg_tcp *tcp = &cu->tcp;
	uint32_t cycles = cu->model->hw->l1_16ths, cost = op->per_line * cycles;
	uint32_t left = (op->n_lines - op->at) / op->per_line, n;
	uint64_t line = op->first + op->at / op->per_line,
		 room = (end - tcp->now + cycles - 1) / cost;
	/* a line is sent when its last part has been looked up */
	uint64_t now = tcp->now + cost - cycles;

	if (op->at % op->per_line || op->written)
		return false;
	n = n_alike(cu, op, line, room < left ? room : left);
	if (!n)
		return false;
	for (uint32_t k = 0; k < n; k++, line++, now += cost)
		post(cu, op, SG_REQ_WRITE, now, line, ~0ull, 1);
	count_sent(tcp, op, SG_REQ_WRITE, now - cost, n);
	TCP(TCP_TCC_WRITE_REQ) += n;
	count_type(tcp, op, SG_REQ_WRITE, n);
	count_translated(tcp, n * op->per_line);
	op->at += n * op->per_line;
	tcp->now += (uint64_t)n * cost;
	return true;
}

/*
 * Requests 128 bytes, if they miss and need not wait: a line, or two of 64 bytes that go out together. False: not now, nothing
 * was done.
 */
static bool read_pair(struct sg_cu *cu, struct sg_vmem_op *op, uint64_t line, bool wide)
{
	struct sg_tcp *tcp = &cu->tcp;
	const struct sg_hw *hw = cu->model->hw;
	uint64_t tag = wide ? line >> 1 : line;

	if (*slot_of(tcp, hw, 0) > tcp->now >> 4 || sg_cache_has(&tcp->tags, tag) ||
	    !(wide || may_pair(cu, line)))
		return false;
	sg_cache_touch(&tcp->tags, tag);
	send(cu, op, SG_REQ_READ, line, 0, 2);
	take_slot(tcp, hw);
	if (!wide) {
		sg_cache_touch(&tcp->tags, tag + 1);
		take_slot(tcp, hw);
	}
	return true;
}

/* Reads 128 bytes after the other, as long as all of them are looked up before `end`. False: none. */
static bool read_lines(struct sg_cu *cu, struct sg_vmem_op *op, uint64_t end)
{
	struct sg_tcp *tcp = &cu->tcp;
	const struct sg_hw *hw = cu->model->hw;
	bool wide = hw->l1_line == 128;
	uint32_t accesses = 2 * op->per_line, cost = accesses * hw->l1_16ths;
	uint32_t left = (op->n_lines - op->at) / accesses, n, n_done = 0;
	uint64_t line = op->first + op->at / op->per_line, room = (end - tcp->now) / cost;

	if (op->at % op->per_line || line & 1 || op->glc)
		return false;
	n = n_alike(cu, op, line, 2 * (room < left ? room : left)) / 2;
	if (!n || op->memory.kind.mtype == SG_MTYPE_UC)
		return false;
	for (; n_done < n && read_pair(cu, op, line, wide); n_done++, line += 2)
		tcp->now += cost;
	if (!n_done)
		return false;
	op->last_line = line - 2;
	op->last_lines = 2;
	op->at += n_done * accesses;
	TCP(TCP_TCC_READ_REQ) += n_done * sg_tcp_requests(hw, 2);
	count_type(tcp, op, SG_REQ_READ, n_done * sg_tcp_requests(hw, 2));
	count_translated(tcp, n_done * accesses);
	return true;
}

static bool look_up_many(struct sg_cu *cu, struct sg_vmem_op *op, uint64_t end)
{
	if (op->kind == SG_MEM_STORE)
		return write_lines(cu, op, end);
	return op->kind == SG_MEM_LOAD && read_lines(cu, op, end);
}

void sg_tcp_advance(struct sg_cu *cu, uint64_t until)
{
	struct sg_tcp *tcp = &cu->tcp;
	uint64_t end = until << 4;

	tcp->blocked = false;
	while (tcp->queue.n) {
		struct sg_vmem_op *op = sg_tcp_lookup(tcp, 0);

		if (tcp->queue.n > 1)
			__builtin_prefetch(sg_tcp_lookup(tcp, 1), 1);
		if (tcp->now < op->arrived << 4)
			tcp->now = op->arrived << 4;
		while (op->at < op->n_lines) {
			if (tcp->now >= end)
				return;
			if (op->per_line && look_up_many(cu, op, end))
				continue;
			if (!look_up(cu, op, end) && tcp->blocked)
				return;
		}
		sg_tcp_sent(cu, op);
	}
}
