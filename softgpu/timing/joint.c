/*
 * joint: vector memory instructions of engines in step that are looked up together.
 *
 * Where all engines in step (lockstep.c) do the same, their memory instructions mostly have the same lines, moved by a
 * distance: workgroups stream through arrays. As long as that holds for every load and store, one pipeline for each CU of the
 * leading engine stands for those of all engines. It has the time, the queues and the entries, and looks up the lines
 * of the wave that is waited for, in the caches of its home. The other CUs look up theirs in the same cycles, each in its
 * own caches, and each sends its own requests to L2.
 *
 * So hits, misses and requests are those of every CU. What pipelines wait for is counted once and added to each CU in the
 * end. Differences are counted where they occur: a CU that hits takes back the request that has been counted for all.
 *
 * The first load, store or atomic that is different ends this for the dispatch, because two pipelines that
 * share the work of one would be too fast. Each CU continues with its own then, in the state of the joint one.
 */
#include <stdlib.h>

#include "softgpu/timing/burst.h"

/* What instructions of a set of engines have in common, on the CUs with one number. */
struct sg_joint_counts {
	uint32_t engines; /* of the die that leads, a bit for each; 0: none has counted here */
	struct sg_vmem_counts counts;
	uint64_t values[SG_N_TCP + SG_N_TA + SG_N_TD];
};

bool sg_joint_create(struct sg_model *m)
{
	uint32_t n = m->hw->cus_per_se;

	m->joint = calloc(n, sizeof(*m->joint));
	m->joint_counts = calloc((size_t)n * sg_hw_n_engines(m->hw), sizeof(*m->joint_counts));
	return m->joint && m->joint_counts && sg_joint_l1_create(m);
}

void sg_joint_destroy(struct sg_model *m)
{
	sg_joint_l1_destroy(m);
	free(m->joint);
	free(m->joint_counts);
	sg_reuse_free(&m->joint_ops);
}

void sg_joint_begin(struct sg_model *m)
{
	uint32_t n = m->hw->cus_per_se;

	m->joins = m->spi.dies[0].in_step;
	m->joint_turn = m->n_joint_sets = 0;
	m->n_joint = 0;
	sg_joint_l1_begin(m);
	for (uint32_t k = 0; k < n; k++)
		sg_tcp_begin(&m->joint[k], m, m->n_cus + k, 0);
	for (uint32_t k = 0; k < n * sg_hw_n_engines(m->hw); k++)
		m->joint_counts[k].engines = 0;
}

/* Where the wave's instructions count. */
static struct sg_vmem_counts *counts_of(struct sg_model *m, const struct sg_model_wave *w)
{
	uint32_t set = sg_lockstep_number(w->set);
	struct sg_joint_counts *joint =
		&m->joint_counts[w->cu->index * sg_hw_n_engines(m->hw) + set];

	if (set >= m->n_joint_sets)
		m->n_joint_sets = set + 1;
	if (!joint->engines) {
		memset(joint, 0, sizeof(*joint));
		joint->engines = w->set->engines;
		joint->counts.tcp = joint->values;
		joint->counts.ta = joint->counts.tcp + SG_N_TCP;
		joint->counts.td = joint->counts.ta + SG_N_TA;
	}
	return &joint->counts;
}

struct sg_joint_op *sg_joint_gather(struct sg_model *m, struct sg_model_wave *w,
				    const struct sg_trace_records *home)
{
	int32_t by[SG_MAX_SE], lowest = 0, highest = 0;
	struct sg_follower *f = w->followers;
	struct sg_joint_op *joint;
	size_t ends[SG_MAX_SE];

	if (!sg_joint_distances(m, w, home, by, ends))
		return NULL;
	joint = sg_reuse_take(&m->joint_ops);
	if (!joint)
		joint = malloc(sizeof(*joint) +
			       (sg_hw_n_engines(m->hw) - 1) * sizeof(joint->members[0]));
	if (!joint) {
		m->failed = true;
		return NULL;
	}
	joint->home = &w->home->tcp;
	joint->home->touched = true;
	joint->counts = counts_of(m, w);
	joint->n = w->n_followers;
	joint->engine = (uint8_t)w->home->se;
	joint->is_alike = joint->shares_l1 = false;
	for (uint32_t k = 0; k < joint->n; k++) {
		joint->members[k] = (struct sg_spread_to){ f[k].cu, f[k].engine, f[k].xcc, by[k] };
		lowest = by[k] < lowest ? by[k] : lowest;
		highest = by[k] > highest ? by[k] : highest;
		f[k].records.at = ends[k];
		sg_trace_prefetch(&f[k].records);
	}
	joint->lowest = lowest;
	joint->highest = highest;
	m->n_joint++;
	return joint;
}

void sg_joint_end(struct sg_model *m)
{
	uint32_t n = m->hw->cus_per_se;

	if (!m->joins)
		return;
	m->joins = false;
	for (uint32_t k = 0; k < n; k++)
		sg_joint_l1_part(m, k);
	for (uint32_t k = 0; k < m->n_cus; k++)
		if (m->joint[k % n].touched && !m->cus[k].missing)
			sg_tcp_part(&m->joint[k % n], &m->cus[k].tcp);
	for (uint32_t k = 0; k < n; k++)
		sg_tcp_end_joint(&m->joint[k]);
}

/* ---- look-ups ---- */

/* Of a member: these pages, of n lines. The joint pipeline counts hits for all. */
static void translate(struct sg_tcp *at, uint64_t first, uint64_t last, uint32_t n_lines,
		      uint64_t t)
{
	uint32_t left = n_lines, n;
	uint64_t *hits = &at->own.tcp[SG_C_TCP_UTCL1_TRANSLATION_HIT];

	for (uint64_t page = first; page <= last; page++) {
		if (page == at->last_page)
			continue;
		left -= !sg_tcp_translate(at, page, t);
	}
	n = at->under_miss < left ? at->under_miss : left;
	at->under_miss -= n;
	*hits -= n;
}

/* All lines of all that take part are in one allocation. */
static bool is_in_one_place(struct sg_model *m, struct sg_vmem_op *op)
{
	const struct sg_joint_op *joint = op->joint;
	uint64_t n_bytes = (uint64_t)op->span << 6, from, room;

	if ((op->first << 6) - op->memory.from >= op->memory.size)
		op->memory = sg_model_memory(m, op->first << 6);
	if (op->memory.size < n_bytes)
		return false;
	from = op->memory.from;
	room = op->memory.size - n_bytes;
	return (sg_joint_line(op->first, joint->lowest) << 6) - from <= room &&
	       (sg_joint_line(op->first, joint->highest) << 6) - from <= room;
}

void sg_joint_begin_look_ups(struct sg_tcp *tcp, struct sg_vmem_op *op)
{
	struct sg_joint_op *joint = op->joint;
	uint32_t n = op->span, shift = tcp->model->hw->page_shift - 6;

	joint->is_alike = is_in_one_place(tcp->model, op);
	if (op->kind == SG_MEM_LOAD) {
		sg_joint_l1_load(tcp->model, tcp->source - tcp->model->n_cus, op);
		joint->is_alike = joint->shares_l1;
	}
	for (uint32_t k = 0; k < joint->n; k++) {
		struct sg_tcp *at = &tcp->model->cus[joint->members[k].cu].tcp;
		uint64_t line = sg_joint_line(op->first, joint->members[k].by);
		uint64_t first = line >> shift, last = (line + n - 1) >> shift;

		if (first != at->last_page || last != first || at->under_miss)
			translate(at, first, last, op->n_lines, tcp->now >> 4);
	}
}

#define N_RAMS SG_BURST_RAMS

/* What members do with the requests of the home. */
struct look_up {
	struct sg_model *m;
	const struct sg_vmem_op *op;
	enum sg_req_kind kind;
	const struct sg_burst *b;
	bool sends; /* the home does, and that has been counted for all */
	bool in_l1; /* ...: what L1 may have */
	uint32_t tag_shift, n_tags;
	uint64_t *latencies; /* of the first CU */
	uint64_t other_rams[N_RAMS];
	struct sg_request template; /* of a member whose lines are like the home's: all but address and owner */
};

/* n times the requests: -1 takes back what was counted for the home. */
static void count(const struct look_up *l, struct sg_tcp *at, struct sg_memory_kind memory,
		  const struct sg_burst *b, uint64_t n)
{
	uint64_t n_requests = b->n;

	if (l->kind == SG_REQ_READ)
		n_requests *= sg_tcp_requests(l->m->hw, b->lines);
	sg_burst_count_rams(&at->own, b, n);
	sg_burst_count_type(&at->own, memory, l->kind, n * n_requests);
	if (l->kind == SG_REQ_READ) {
		at->own.n_sent += n * b->n;
		at->own.tcp[SG_C_TCP_TCC_READ_REQ] += n * n_requests;
	} else {
		at->own.n_written += n * b->n;
		at->own.tcp[SG_C_TCP_TCC_WRITE_REQ] += n * n_requests;
	}
}

/* As many as the home's, and the same but for these. Of the member's CU nothing is read: it is seldom in the host's caches. */
static inline void send_like(const struct look_up *l, const struct sg_spread_to *member,
			     uint64_t line)
{
	struct sg_request *slot = sg_tcc_slot(&l->m->tcc, member->xcc, line << 6);

	if (!slot)
		return;
	*slot = l->template;
	slot->addr = line << 6;
	slot->owner = l->latencies + (size_t)member->cu * SG_N_TCP;
}

static void send(const struct look_up *l, struct sg_tcp *at, struct sg_memory_kind memory,
		 const struct sg_burst *b)
{
	struct sg_sender sender = { l->latencies + (size_t)at->source * SG_N_TCP, SG_SOURCE_NONE,
				    at->xcc, memory };

	l->m->n_behind += b->n;
	sg_burst_send(l->m, l->op, &sender, l->kind, b, l->template.bytes);
}

/* Where the home has other lines in L1, or its memory is of another kind. missing: of its lines in L1, a bit for each. */
static __attribute__((noinline)) void send_unlike(const struct look_up *l, struct sg_tcp *at,
						  struct sg_memory_kind memory, uint64_t line,
						  uint32_t missing)
{
	struct sg_burst b = *l->b;

	if (l->sends)
		count(l, at, l->op->memory.kind, &b, -1ull);
	b.line = line;
	if (missing == (1u << l->n_tags) - 1) {
		count(l, at, memory, &b, 1);
		send(l, at, memory, &b);
		return;
	}
	b.n = 1;
	b.lines = 1u << l->tag_shift;
	for (uint32_t k = 0; k < l->n_tags; k++) {
		if (!(missing >> k & 1))
			continue;
		b.line = ((line >> l->tag_shift) + k) << l->tag_shift;
		b.now = l->b->now + k * l->b->n / l->n_tags * b.step;
		count(l, at, memory, &b, 1);
		send(l, at, memory, &b);
	}
}

/* The member's line is half of the tag RAMs away from the home's. */
static inline void count_other_rams(const struct sg_model *m, uint32_t cu,
				    const uint64_t other_rams[N_RAMS])
{
	uint64_t *rams = m->r->values[SG_BLOCK_TCP] + (size_t)cu * SG_N_TCP + SG_C_TCP_TAGRAM0_REQ;

	for (unsigned k = 0; k < N_RAMS; k++)
		rams[k] += other_rams[k];
}

/* What that one adds to, and takes back from, the requests of each RAM. */
static inline void find_other_rams(const struct sg_burst *b, uint64_t other_rams[N_RAMS])
{
	uint32_t ram = sg_burst_ram(b), of_ram = sg_burst_n_of_ram(b);

	other_rams[ram] = -(uint64_t)of_ram;
	other_rams[(ram + 1) % N_RAMS] = of_ram - (uint64_t)b->n;
	other_rams[(ram + 2) % N_RAMS] = of_ram;
	other_rams[(ram + 3) % N_RAMS] = b->n - of_ram;
}

static inline void look_up_at(const struct look_up *l, const struct sg_spread_to *member)
{
	struct sg_tcp *at = &l->m->cus[member->cu].tcp;
	const struct sg_model_range *near = &l->op->memory;
	uint64_t line = sg_joint_line(l->b->line, member->by);
	uint32_t all = (1u << l->n_tags) - 1, missing = all;
	struct sg_memory_kind memory = near->kind;
	bool in_l1 = l->in_l1, is_like = true;

	if (__builtin_expect((line << 6) - near->from >= near->size, 0)) {
		memory = sg_model_memory(l->m, line << 6).kind;
		is_like = !memcmp(&memory, &near->kind, sizeof(memory));
		in_l1 = l->kind == SG_REQ_READ && !l->op->glc && memory.mtype != SG_MTYPE_UC;
	}
	if (in_l1)
		missing = sg_cache_touch_all(&at->tags, line >> l->tag_shift, l->n_tags);
	if (missing != all || !l->sends || !is_like) {
		send_unlike(l, at, memory, line, missing);
		return;
	}
	if (member->by & 1)
		count_other_rams(l->m, member->cu, l->other_rams);
	l->m->n_behind += l->b->n;
	send_like(l, member, line);
}

static inline void send_of_home(const struct look_up *l, const struct sg_tcp *joint,
				struct sg_vmem_op *op)
{
	uint64_t addr = l->b->line << 6;
	struct sg_request *slot = sg_tcc_slot(&l->m->tcc, op->joint->home->xcc, addr);

	if (!slot)
		return;
	*slot = l->template;
	slot->addr = addr;
	slot->owner = op;
	slot->source = joint->source;
}

static void look_up_members(const struct look_up *l, uint32_t from, uint32_t to)
{
	for (uint32_t k = from; k < to; k++)
		look_up_at(l, &l->op->joint->members[k]);
}

/* The counter of the latency of these requests, of the first CU. */
static uint64_t *latencies_of(const struct sg_model *m, enum sg_req_kind kind)
{
	return m->r->values[SG_BLOCK_TCP] + (kind == SG_REQ_READ ? SG_C_TCP_TCC_READ_REQ_LATENCY
								 : SG_C_TCP_TCC_WRITE_REQ_LATENCY);
}

/* Of an instruction whose members do what the home does. */
static void send_all(const struct sg_tcp *tcp, struct sg_vmem_op *op, enum sg_req_kind kind,
		     const struct sg_burst *b, uint64_t bytes, uint32_t home_at)
{
	const struct sg_joint_op *joint = op->joint;
	const struct sg_sender home = { op, tcp->source, 0, op->memory.kind };
	struct sg_model *m = tcp->model;
	struct sg_spread *s = sg_tcc_new_spread(&m->tcc);
	uint64_t other_rams[N_RAMS];

	if (!s)
		return;
	s->r = sg_burst_request(m, op, &home, kind, b, bytes);
	s->r.shape = (uint8_t)sg_burst_shape_of(&s->r);
	s->to = joint->members;
	s->latency = latencies_of(m, kind);
	s->n = (uint8_t)joint->n;
	s->home_at = (uint8_t)home_at;
	s->home_xcc = joint->home->xcc;
	sg_tcc_send_spread(&m->tcc, s);
	m->n_behind += (uint64_t)joint->n * b->n;
	find_other_rams(b, other_rams);
	for (uint32_t k = 0; k < joint->n; k++)
		if (joint->members[k].by & 1)
			count_other_rams(m, joint->members[k].cu, other_rams);
}

/* All send at the same time, and L2 serves them in the order in which they are sent: they take turns to be the first. */
void sg_joint_look_up(struct sg_tcp *tcp, struct sg_vmem_op *op, enum sg_req_kind kind,
		      const struct sg_burst *b, uint64_t bytes, bool sends)
{
	const struct sg_joint_op *joint = op->joint;
	struct sg_model *m = tcp->model;
	const struct sg_sender member = { NULL, SG_SOURCE_NONE, 0, op->memory.kind };
	bool reads = kind == SG_REQ_READ;
	uint32_t first = m->joint_turn++ % (joint->n + 1);
	struct look_up l;

	if (joint->shares_l1 && !sends) /* they all hit */
		return;
	if (joint->is_alike) {
		send_all(tcp, op, kind, b, bytes, first);
		return;
	}
	l = (struct look_up){
		.m = m,
		.op = op,
		.kind = kind,
		.b = b,
		.sends = sends,
		.in_l1 = reads && !op->glc && op->memory.kind.mtype != SG_MTYPE_UC,
		.tag_shift = m->hw->l1_line == 128,
		.n_tags = b->n * sg_tcp_requests(m->hw, b->lines),
		.latencies = latencies_of(m, kind),
		.template = sg_burst_request(m, op, &member, kind, b, bytes),
	};
	l.template.shape = (uint8_t)sg_burst_shape_of(&l.template);
	find_other_rams(b, l.other_rams);
	look_up_members(&l, 0, first);
	if (sends)
		send_of_home(&l, tcp, op);
	look_up_members(&l, first, joint->n);
}

/* ---- counters ---- */

static void add(uint64_t *to, const uint64_t *from, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		to[k] += from[k];
}

static void add_counts(struct sg_vmem_counts *to, const struct sg_vmem_counts *from)
{
	struct sg_vmem_tally *sum = to->tally[0];
	const struct sg_vmem_tally *more = from->tally[0];

	add(to->tcp, from->tcp, SG_N_TCP);
	add(to->ta, from->ta, SG_N_TA);
	add(to->td, from->td, SG_N_TD);
	for (unsigned k = 0; k < 2 * SG_N_MEM_KINDS; k++) {
		sum[k].n += more[k].n;
		sum[k].n_requests += more[k].n_requests;
		sum[k].n_lines += more[k].n_lines;
		sum[k].n_shared += more[k].n_shared;
	}
	to->n_returned += from->n_returned;
	to->n_sent += from->n_sent;
	to->n_written += from->n_written;
	to->in_flight += from->in_flight;
	to->ta_busy.cycles += from->ta_busy.cycles;
	to->td_busy.cycles += from->td_busy.cycles;
}

/* From all sets that the engine is one of. Parts of two sets may be busy at the same time, which is that of the pipeline then. */
static void share(const struct sg_joint_counts *sets, uint32_t n_sets, const struct sg_tcp *joint,
		  uint32_t engine, struct sg_vmem_counts *to)
{
	uint64_t ta_most = to->ta_busy.cycles + joint->ta_busy.cycles;
	uint64_t td_most = to->td_busy.cycles + joint->td_busy.cycles;

	for (uint32_t k = 0; k < n_sets; k++)
		if (sets[k].engines >> engine & 1)
			add_counts(to, &sets[k].counts);
	if (to->ta_busy.cycles > ta_most)
		to->ta_busy.cycles = ta_most;
	if (to->td_busy.cycles > td_most)
		to->td_busy.cycles = td_most;
}

void sg_joint_finish(struct sg_model *m)
{
	uint32_t n = m->hw->cus_per_se, n_engines = sg_hw_n_engines(m->hw);

	for (uint32_t number = 0; number < n; number++)
		for (uint32_t engine = 0; m->joint[number].touched && engine < n_engines; engine++)
			share(&m->joint_counts[number * n_engines], m->n_joint_sets,
			      &m->joint[number], engine, &m->cus[engine * n + number].tcp.own);
}
