/*
 * l1: the look-ups of a CU's vector memory instructions: translation, L1, requests to L2.
 *
 * In order. The look-up of a line takes a little more than a cycle; a read that misses needs one of
 * `l1_misses` entries until it is answered. A page that is not in UTCL1 stops the pipeline until it is translated.
 */
#include "softgpu/timing/burst.h"
#include "softgpu/timing/model_priv.h"

#define TA(name) tcp->counts->ta[SG_C_##name]
#define TCP(name) tcp->counts->tcp[SG_C_##name]

static struct sg_line_access line_of(const struct sg_vmem_op *op, uint32_t k)
{
	return op->per_line ? sg_access_in_order(op->first, op->per_line, k) : op->lines[k];
}

/* The look-ups are stalled: the address unit stalls, too, when the queue between them is full. */
static void count_stall(struct sg_tcp *tcp, uint64_t cycles)
{
	const struct sg_hw *hw = tcp->model->hw;

	if (tcp->queue.n > hw->ta_ahead)
		TA(TA_ADDR_STALLED_BY_TC_CYCLES) += cycles;
}

/* The pipeline of the CU that has the caches: of a joint instruction, its home. */
static struct sg_tcp *home_of(struct sg_tcp *tcp, const struct sg_vmem_op *op)
{
	return op->joint ? op->joint->home : tcp;
}

/* The L1 that has the instruction's lines, and the number that a line has there; of a joint instruction that shares it, in the lines
 * of another CU. */
static struct sg_cache *l1_of(struct sg_tcp *tcp, const struct sg_vmem_op *op)
{
	return op->joint && !op->joint->shares_l1 ? &op->joint->home->tags : &tcp->tags;
}

static uint64_t tag_of(const struct sg_tcp *tcp, const struct sg_vmem_op *op, uint64_t line)
{
	if (op->joint && op->joint->shares_l1)
		line = sg_joint_line(line, -op->joint->l1_at);
	return tcp->model->hw->l1_line == 128 ? line >> 1 : line;
}

/* Counts n translations of the page that was translated last; of a joint instruction, for all that take part. */
static void count_translated(struct sg_tcp *tcp, struct sg_tcp *home, uint32_t n)
{
	uint32_t under_miss = home->under_miss < n ? home->under_miss : n;

	TCP(TCP_UTCL1_TRANSLATION_HIT) += n;
	home->under_miss -= under_miss;
	home->own.tcp[SG_C_TCP_UTCL1_TRANSLATION_HIT] -= under_miss;
}

bool sg_tcp_translate(struct sg_tcp *tcp, uint64_t page, uint64_t now)
{
	struct sg_model *m = tcp->model;

	tcp->last_page = page;
	if (sg_cache_touch(&tcp->pages, page))
		return true;
	tcp->own.tcp[SG_C_TCP_UTCL1_TRANSLATION_HIT]--;
	tcp->own.tcp[SG_C_TCP_UTCL1_TRANSLATION_MISS]++;
	tcp->under_miss = m->hw->utcl1_under_miss;
	tcp->page_ready = now + m->utcl2_cycles;
	if (!sg_cache_touch(&m->walked,
			    page >> 3)) { /* the first CU to want it waits for the walk */
		m->walk_page = page >> 3;
		m->walk_ready = now + m->walk_cycles;
	}
	if (m->walk_page == page >> 3 && m->walk_ready > tcp->page_ready)
		tcp->page_ready = m->walk_ready;
	return false;
}

/* Counts the translation of the next line; false: it takes until tcp->now. */
static bool translate(struct sg_tcp *tcp, struct sg_vmem_op *op, uint64_t line)
{
	struct sg_tcp *home = home_of(tcp, op);
	uint64_t page = line >> (tcp->model->hw->page_shift - 6), now = tcp->now >> 4;
	uint64_t cycles;

	if (tcp->translated)
		return true;
	tcp->translated = true;
	if (op->joint && !op->at)
		sg_joint_begin_look_ups(tcp, op);
	if (page == home->last_page) {
		count_translated(tcp, home, 1);
	} else {
		TCP(TCP_UTCL1_TRANSLATION_HIT)++;
		sg_tcp_translate(home, page, now);
	}
	if (home->page_ready <= now)
		return true;
	/* it missed, or did so when another CU was the home, or in its own pipeline */
	cycles = home->page_ready - now;
	TCP(TCP_UTCL1_STALL_LFIFO_NOT_RES) += cycles;
	count_stall(tcp, cycles);
	tcp->now = home->page_ready << 4;
	return false;
}

/* Puts the requests of a chunk on their way. */
static inline void send(struct sg_tcp *tcp, struct sg_vmem_op *op, enum sg_req_kind kind,
			const struct sg_burst *b, uint64_t bytes)
{
	struct sg_sender sender = { op, tcp->source, tcp->xcc, op->memory.kind };

	sg_burst_count_rams(tcp->counts, b, 1);
	op->n_pending += b->n;
	tcp->counts->n_sent += kind == SG_REQ_READ ? b->n : 0;
	tcp->counts->n_written += kind == SG_REQ_WRITE ? b->n : 0;
	tcp->last_sent = (b->now + (b->n - 1) * b->step) >> 4;
	if (op->joint)
		sg_joint_look_up(tcp, op, kind, b, bytes, true);
	else
		sg_burst_send(tcp->model, op, &sender, kind, b, bytes);
}

static void send_one(struct sg_tcp *tcp, struct sg_vmem_op *op, enum sg_req_kind kind,
		     uint64_t line, uint64_t bytes, uint32_t lines)
{
	struct sg_burst one = { line, tcp->now, 1, lines, 0, tcp->n_reads };

	send(tcp, op, kind, &one, bytes);
}

/* How many 64-byte lines there are from this one to the end of its chunk. */
static uint32_t left_of_chunk(uint64_t line)
{
	return SG_CHUNK / 64 - (uint32_t)line % (SG_CHUNK / 64);
}

/* When the n-th entry for reads in flight, from the next one on, is free. */
static const uint64_t *slot_of(const struct sg_tcp *tcp, const struct sg_hw *hw, uint32_t n)
{
	return &tcp->slot_free[(tcp->n_reads + n) & (hw->l1_misses - 1)];
}

/* Waits for an entry for a read in flight. */
static void wait_for_slot(struct sg_tcp *tcp, uint64_t until)
{
	uint64_t cycles = (until >> 4) - (tcp->now >> 4);

	TCP(TCP_LFIFO_STALL_CYCLES) += cycles;
	count_stall(tcp, cycles);
	tcp->now = until;
}

/* Whether there is an entry for a read in flight. False: none before tcp->now, or (blocked) until an answer. */
static bool find_slot(struct sg_tcp *tcp)
{
	uint64_t free_at = *slot_of(tcp, tcp->model->hw, 0);

	if (free_at == SG_NEVER) {
		tcp->blocked = true;
		return false;
	}
	if (free_at << 4 <= tcp->now)
		return true;
	wait_for_slot(tcp, free_at << 4);
	return false;
}

static void take_slot(struct sg_tcp *tcp, const struct sg_hw *hw)
{
	tcp->slot_free[tcp->n_reads++ & (hw->l1_misses - 1)] = SG_NEVER;
}

/* MI200: a read goes out together with that of the other half of 128 bytes, if that comes next, unless the way to L2 has
 * been idle: then it does not wait. */
static bool may_pair(struct sg_tcp *tcp, const struct sg_vmem_op *op, uint64_t line)
{
	const struct sg_hw *hw = tcp->model->hw;
	uint64_t now = tcp->now >> 4;

	return hw->merge_wait && !(line & 1) && now - tcp->last_sent <= hw->merge_wait &&
	       *slot_of(tcp, hw, 1) <= now &&
	       !sg_cache_has(l1_of(tcp, op), tag_of(tcp, op, line + 1));
}

static bool pair_follows(struct sg_tcp *tcp, const struct sg_vmem_op *op, uint64_t line)
{
	if (!may_pair(tcp, op, line))
		return false;
	for (uint32_t k = op->at + 1; k < op->n_lines; k++)
		if (line_of(op, k).line != line)
			return line_of(op, k).line == line + 1;
	return false;
}

/* Those that take part in the instruction look up a line that the home has. */
static void join_hit(struct sg_tcp *tcp, struct sg_vmem_op *op, uint64_t line)
{
	uint32_t lines = tcp->model->hw->l1_line / 64;
	struct sg_burst b = { line & ~(lines - 1ull), tcp->now, 1, lines, 0, 0 };

	sg_joint_look_up(tcp, op, SG_REQ_READ, &b, 0, false);
}

static bool read_line(struct sg_tcp *tcp, struct sg_vmem_op *op, uint64_t line)
{
	struct sg_cache *l1 = l1_of(tcp, op);
	const struct sg_hw *hw = tcp->model->hw;
	bool uncached = op->memory.kind.mtype == SG_MTYPE_UC, wide = hw->l1_line == 128;
	uint64_t tag = tag_of(tcp, op, line);
	uint32_t n;
	uint8_t lines;

	/* what is not cached is fetched once for lanes that are looked up one after the other */
	if (uncached && line - op->last_line < op->last_lines)
		return true;
	if (!uncached && !op->glc && sg_cache_use(l1, tag)) {
		if (op->joint)
			join_hit(tcp, op, line);
		return true;
	}
	if (!find_slot(tcp))
		return false;
	if (wide)
		line &= ~1ull;
	lines = wide || pair_follows(tcp, op, line) ? 2 : 1;
	n = sg_tcp_requests(hw, lines);
	for (uint32_t k = 0; k < n && !uncached; k++)
		sg_cache_touch(l1, tag + k);
	op->last_line = line;
	op->last_lines = lines;
	send_one(tcp, op, SG_REQ_READ, line, 0, lines);
	for (uint32_t k = 0; k < n; k++)
		take_slot(tcp, hw);
	TCP(TCP_TCC_READ_REQ) += n;
	sg_burst_count_type(tcp->counts, op->memory.kind, SG_REQ_READ, n);
	return true;
}

/* Of lanes in order: the next access is to the first half of a line. */
static bool is_first_half(const struct sg_vmem_op *op)
{
	return op->per_line == 2 && !(op->at & 1);
}

static void write_line(struct sg_tcp *tcp, struct sg_vmem_op *op, uint64_t line)
{
	uint64_t bytes = line_of(op, op->at).bytes | op->written;

	/* what follows for the same line goes along */
	op->written = bytes;
	if (op->at + 1 < op->n_lines && line_of(op, op->at + 1).line == line)
		return;
	op->written = 0;
	send_one(tcp, op, SG_REQ_WRITE, line, bytes, 1);
	TCP(TCP_TCC_WRITE_REQ)++;
	sg_burst_count_type(tcp->counts, op->memory.kind, SG_REQ_WRITE, 1);
}

static void atomic_line(struct sg_tcp *tcp, struct sg_vmem_op *op, uint64_t line)
{
	send_one(tcp, op, SG_REQ_ATOMIC, line, line_of(op, op->at).bytes, 1);
	if (op->kind == SG_MEM_ATOMIC_RTN)
		TCP(TCP_TCC_ATOMIC_WITH_RET_REQ)++;
	else
		TCP(TCP_TCC_ATOMIC_WITHOUT_RET_REQ)++;
	sg_burst_count_type(tcp->counts, op->memory.kind, SG_REQ_ATOMIC, 1);
}

/*
 * The accesses that follow the one just looked up, of lanes in order, to lines that it found or has requested: they
 * hit and change nothing. Counts those, if all of them are looked up before `end`.
 */
static void pass_hits(struct sg_tcp *tcp, struct sg_vmem_op *op, uint64_t line, uint64_t end)
{
	const struct sg_hw *hw = tcp->model->hw;
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
	count_translated(tcp, home_of(tcp, op), n);
	op->at += n;
	tcp->now += n * hw->l1_16ths;
}

/* What memory the line is. */
static void classify(const struct sg_tcp *tcp, struct sg_vmem_op *op, uint64_t line)
{
	if ((line << 6) - op->memory.from >= op->memory.size)
		op->memory = sg_model_memory(tcp->model, line << 6);
}

/* The next line of the instruction. False: not now; tcp->now or tcp->blocked says when. */
static bool look_up(struct sg_tcp *tcp, struct sg_vmem_op *op, uint64_t end)
{
	uint64_t line = line_of(op, op->at).line;
	uint32_t cycles = tcp->model->hw->l1_16ths;

	if (!translate(tcp, op, line))
		return false;
	classify(tcp, op, line);
	if (op->kind == SG_MEM_LOAD) {
		if (!read_line(tcp, op, line))
			return false;
	} else if (op->kind == SG_MEM_STORE) {
		if (is_first_half(op) && tcp->now + cycles < end) { /* the other one, too */
			count_translated(tcp, home_of(tcp, op), 1);
			op->written = line_of(op, op->at++).bytes;
			tcp->now += cycles;
		}
		write_line(tcp, op, line);
	} else {
		atomic_line(tcp, op, line);
	}
	op->at++;
	tcp->translated = false;
	tcp->now += cycles;
	if (op->per_line && op->kind == SG_MEM_LOAD)
		pass_hits(tcp, op, line, end);
	return true;
}

/* ---- lanes in order: what look_up() would do, chunk by chunk ---- */

/*
 * A chunk is looked up as a whole if its first line is before the end of a window: its requests are one burst then, which L2
 * serves as one. So tcp->now may be later than that end.
 */
#define MAX_GAP (16 << 4) /* 1/16 cycles: a burst does not wait longer for an entry, but ends */

/*
 * How many of the next n lines are memory of one kind, whose page is translated; 0: none, or translation takes until
 * tcp->now.
 */
static uint32_t n_alike(struct sg_tcp *tcp, struct sg_vmem_op *op, uint64_t line, uint64_t n)
{
	uint32_t page_lines = 1u << (tcp->model->hw->page_shift - 6);
	uint32_t left = page_lines - (uint32_t)line % page_lines;
	uint64_t before, of_kind;

	if (!translate(tcp, op, line))
		return 0;
	n = n < left ? n : left;
	classify(tcp, op, line);
	before = (line << 6) - op->memory.from;
	of_kind = (op->memory.size - before) >> 6;
	return n < of_kind ? (uint32_t)n : (uint32_t)of_kind;
}

/* Counts n lines, which translate() and look_up() have not. */
static void count_lines(struct sg_tcp *tcp, struct sg_vmem_op *op, uint32_t n)
{
	uint32_t n_parts = n * op->per_line;

	count_translated(tcp, home_of(tcp, op),
			 n_parts - 1); /* translate() has counted the first one */
	tcp->translated = false;
	op->at += n_parts;
}

/* Writes whole lines. False: none. */
static bool write_lines(struct sg_tcp *tcp, struct sg_vmem_op *op, uint64_t end)
{
	uint32_t cycles = tcp->model->hw->l1_16ths, cost = op->per_line * cycles, n, done = 0;
	uint32_t part = op->per_line - 1u, left = (op->n_lines - op->at) >> part;
	uint64_t line = op->first + (op->at >> part);

	if (op->at & part || op->written || !left)
		return false;
	n = n_alike(tcp, op, line, left);
	while (done < n && tcp->now < end) {
		uint32_t room = left_of_chunk(line + done), rest = n - done;
		/* a line is sent when its last part has been looked up */
		struct sg_burst b = {
			line + done, tcp->now + cost - cycles, room < rest ? room : rest, 1, cost, 0
		};

		send(tcp, op, SG_REQ_WRITE, &b, ~0ull);
		done += b.n;
		tcp->now += b.n * cost;
	}
	if (!done)
		return false;
	TCP(TCP_TCC_WRITE_REQ) += done;
	sg_burst_count_type(tcp->counts, op->memory.kind, SG_REQ_WRITE, done);
	count_lines(tcp, op, done);
	return true;
}

/*
 * Of the next requests, for so many lines each, how many miss and can have entries without a gap between them. *delay: so
 * long the first of them has to wait. The first one need not.
 */
static uint32_t n_missing(const struct sg_tcp *tcp, const struct sg_cache *l1, uint64_t tag,
			  uint32_t most, uint32_t lines, uint32_t step, uint64_t *delay)
{
	const struct sg_hw *hw = tcp->model->hw;
	uint32_t tags = sg_tcp_requests(hw, lines), n = 0;

	for (*delay = 0; n < most; n++, tag += tags) {
		uint64_t free_at = *slot_of(tcp, hw, n * tags), at = tcp->now + n * step + *delay;

		if (sg_cache_has(l1, tag))
			break;
		if (tags == 2) {
			uint64_t other = *slot_of(tcp, hw, n * tags + 1);

			if (sg_cache_has(l1, tag + 1))
				break;
			free_at = other > free_at ? other : free_at;
		}
		if (free_at > at >> 4) {
			if (free_at == SG_NEVER || *delay + (free_at << 4) - at > MAX_GAP)
				break;
			*delay += (free_at << 4) - at;
		}
	}
	return n;
}

/*
 * Requests lines that miss, each of which takes so many 1/16 cycles: up to n of them, to the end of the chunk. There is an entry
 * for the first one. Returns how many; 0: it does not miss, or is later than `end`.
 */
static uint32_t read_chunk(struct sg_tcp *tcp, struct sg_vmem_op *op, uint64_t line, uint32_t n,
			   uint32_t cost, uint64_t end)
{
	const struct sg_hw *hw = tcp->model->hw;
	bool wide = hw->l1_line == 128, merges = !wide && may_pair(tcp, op, line);
	uint32_t lines = wide || merges ? 2 : 1, room = left_of_chunk(line);
	uint32_t tags = sg_tcp_requests(hw, lines);
	struct sg_burst b = { line, 0, 0, lines, lines * cost, tcp->n_reads };
	uint64_t tag = tag_of(tcp, op, line), delay;

	if (hw->merge_wait && !merges) /* the next ones may be a pair */
		room = 2 - (line & 1);
	room = (n < room ? n : room) >> (lines - 1);
	b.n = n_missing(tcp, l1_of(tcp, op), tag, room, lines, b.step, &delay);
	if (!b.n)
		return 0;
	if (delay) {
		wait_for_slot(tcp, tcp->now + delay);
		if (tcp->now >= end)
			return 0;
	}
	b.now = tcp->now;
	sg_cache_touch_all(l1_of(tcp, op), tag, b.n * tags);
	for (uint32_t k = 0; k < b.n * tags; k++)
		take_slot(tcp, hw);
	tcp->now += b.n * b.step;
	send(tcp, op, SG_REQ_READ, &b, 0);
	op->last_line = line + (b.n - 1) * lines;
	op->last_lines = (uint8_t)lines;
	return b.n * lines;
}

/*
 * Requests lines one after the other, as long as they miss. False: did nothing; otherwise tcp->now or tcp->blocked says when
 * the next one is looked up.
 */
static bool read_lines(struct sg_tcp *tcp, struct sg_vmem_op *op, uint64_t end)
{
	const struct sg_hw *hw = tcp->model->hw;
	bool wide = hw->l1_line == 128;
	uint32_t cost = op->per_line * hw->l1_16ths, n_done = 0, n, part = op->per_line - 1u;
	uint64_t line = op->first + (op->at >> part), before = tcp->now;

	if (op->at & part || (wide && line & 1) || op->glc)
		return false;
	n = n_alike(tcp, op, line, (op->n_lines - op->at) >> part);
	if (op->memory.kind.mtype == SG_MTYPE_UC)
		return false;
	while (n_done < n && tcp->now < end) {
		uint64_t at = line + n_done;
		uint32_t done;

		if (sg_cache_has(l1_of(tcp, op), tag_of(tcp, op, at)))
			break;
		if (!find_slot(tcp)) {
			if (tcp->blocked)
				break;
			continue;
		}
		done = read_chunk(tcp, op, at, n - n_done, cost, end);
		if (!done)
			break;
		n_done += done;
	}
	if (n_done) {
		n = wide ? n_done / 2 : n_done;
		TCP(TCP_TCC_READ_REQ) += n;
		sg_burst_count_type(tcp->counts, op->memory.kind, SG_REQ_READ, n);
		count_lines(tcp, op, n_done);
	}
	return tcp->blocked || tcp->now > before;
}

static bool look_up_many(struct sg_tcp *tcp, struct sg_vmem_op *op, uint64_t end)
{
	if (op->kind == SG_MEM_STORE)
		return write_lines(tcp, op, end);
	return op->kind == SG_MEM_LOAD && read_lines(tcp, op, end);
}

void sg_tcp_advance(struct sg_tcp *tcp, uint64_t until)
{
	uint64_t end = until << 4;

	tcp->blocked = false;
	while (tcp->queue.n) {
		struct sg_vmem_op *op = sg_tcp_lookup(tcp, 0);

		if (tcp->queue.n > 1)
			__builtin_prefetch(sg_tcp_lookup(tcp, 1), 1);
		tcp->counts = sg_counts_of(tcp, op);
		if (tcp->now < sg_op_arrived(op) << 4)
			tcp->now = sg_op_arrived(op) << 4;
		while (op->at < op->n_lines) {
			if (tcp->now >= end)
				return;
			if (!(op->per_line && look_up_many(tcp, op, end)))
				look_up(tcp, op, end);
			if (tcp->blocked)
				return;
		}
		if (tcp->now - tcp->model->hw->l1_16ths >= end)
			return; /* of a chunk, the last line is looked up later */
		sg_tcp_sent(tcp, op);
	}
}
