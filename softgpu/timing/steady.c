/*
 * steady: windows of a SIMD that repeat an earlier one.
 *
 * In a loop of arithmetic, hundreds of SIMDs do the same, window after window. What one does in a window follows
 * from its state relative to the start of the window, as long as its waves issue only instructions that concern
 * themselves and the SIMD: vector and scalar arithmetic, branches, s_nop. So the first of such windows is simulated
 * and kept with the state it began in; for the others the changes are applied.
 *
 * The values are the same, bit for bit. What depends on other SIMDs is excluded:
 *   - memory, LDS, barriers, s_waitcnt and ends of waves: a window with one of them is simulated;
 *   - waves that another SIMD may wake within the window;
 *   - instruction fetches that change the cache: every line is the most recent one of its set, none is in flight, and the
 *     code of the dispatch is so short that no two of its lines share a set.
 *
 * New state of a wave or a SIMD that these instructions read belongs into the key, and what they change into end_state;
 * new counters of SQ are found by comparison. tests/softgpu/test_steady.c simulates both ways.
 */
#include <stdlib.h>

#include "softgpu/timing/model_priv.h"
#include "softgpu/trace/trace_digest.h"

#define N_BUCKETS 1024
#define MAX_KEPT 4096 /* windows: a few megabytes */
#define MAX_PAGES 4   /* of code */
#define MAX_LINES 128 /* of code, in one window */
/* windows in which a SIMD is not tried again: after one that could not repeat, after one that turned out so */
#define PAUSE 3
#define LONG_PAUSE 30
#define WAVE_WORDS (4 + 2 + 2 * SG_MAX_LATE)
#define KEY_WORDS (2 + SG_MAX_SIMD_WAVES * WAVE_WORDS)

/* The state that a window begins in, as words. */
struct key {
	uint32_t n;
	uint64_t words[KEY_WORDS];
};

/* Times of what follows are relative to the start of the window. */
struct late_result {
	uint64_t issued;
	const struct sg_timing_insn *writer;
};

/* A wave that took part, after the window. */
struct end_state {
	struct sg_map_page *page;
	uint64_t ready_at, issued_at, ready; /* ready: of sg_simd */
	uint64_t late_until, late_vector_until;
	struct late_result late[SG_MAX_LATE]; /* added in the window */
	uint32_t n_late, slot, run;
	uint32_t n_turns; /* of the loop */
	uint8_t stall;
	bool waits;
};

struct executed {
	struct sg_map_page *page;
	uint32_t slot;
	uint64_t n;
};

struct counted {
	uint32_t place;
	uint64_t n;
};

struct sg_steady_window {
	struct sg_steady_window *next;
	uint64_t digest;
	uint64_t *key;
	uint64_t n_issued, valu_free, matrix_free, fetch_free;
	uint32_t n_key, n_waves, n_executed, n_counted, n_levels, n_lines;
	struct end_state *waves; /* those that took part, the oldest first */
	struct executed *executed;
	struct counted *counted, *levels; /* of SQ: counters, accumulations */
	uint64_t *lines;                  /* of code */
};

struct sg_steady {
	struct sg_steady_window *buckets[N_BUCKETS];
	uint32_t n_kept;
	/* while a window is simulated to be kept: what was there before */
	uint64_t sq[SG_N_SQ], level[SG_N_SQ], count[MAX_PAGES][SG_MAP_SLOTS];
	uint32_t again[SG_MAX_SIMD_WAVES], n_late[SG_MAX_SIMD_WAVES];
	bool takes_part[SG_MAX_SIMD_WAVES];
	struct executed executed[MAX_PAGES * SG_MAP_SLOTS];
	struct counted counted[SG_N_SQ], levels[SG_N_SQ];
	uint64_t lines[MAX_LINES];
	struct end_state waves[SG_MAX_SIMD_WAVES];
};

struct sg_steady *sg_steady_create(void)
{
	return calloc(1, sizeof(struct sg_steady));
}

void sg_steady_clear(struct sg_steady *s)
{
	for (uint32_t k = 0; s && s->n_kept && k < N_BUCKETS; k++)
		while (s->buckets[k]) {
			struct sg_steady_window *kept = s->buckets[k];

			s->buckets[k] = kept->next;
			free(kept);
		}
	if (s)
		s->n_kept = 0;
}

void sg_steady_destroy(struct sg_steady *s)
{
	sg_steady_clear(s);
	free(s);
}

/* ---- what may repeat ---- */

static uint64_t line_of(const struct sg_cu *cu, uint64_t pc)
{
	return (pc - cu->model->d->origin) >> 6;
}

static bool is_recent(const struct sg_cu *cu, uint64_t line)
{
	return sg_cache_set(&cu->group->inst.tags, line)[0] == line + 1;
}

/* The wave's next instruction concerns itself and the SIMD only, and so does the fetch of the one after it. */
static bool is_local(const struct sg_cu *cu, const struct sg_model_wave *w)
{
	const struct sg_timing_insn *inst = sg_wave_inst(w);
	uint64_t pc = sg_model_pc(w) + 4ull * inst->dwords;
	bool jumps = w->trace.reader.run == 1;

	if (inst->unit != SG_UNIT_VALU && inst->unit != SG_UNIT_SALU &&
	    !(inst->unit == SG_UNIT_MISC && inst->flags == SG_INSN_BRANCH) &&
	    !(inst->unit == SG_UNIT_NONE && inst->wait_vm == SG_NO_WAIT &&
	      inst->wait_lgkm == SG_NO_WAIT))
		return false;
	if (jumps) {
		if (w->trace.reader.op != SG_TRACE_JUMP || !w->trace.reader.again)
			return false;
		pc += 4 * (uint64_t)w->trace.reader.jump;
	}
	return (!jumps && pc >> 5 == w->fetch_block) || is_recent(cu, line_of(cu, pc));
}

/* Another SIMD's instructions may wake it within the window. */
static bool may_be_woken(const struct sg_cu *cu, const struct sg_model_wave *w)
{
	const struct sg_tcp *joint = sg_joint_of(cu);

	return w->ready_at == SG_NEVER &&
	       (w->stall == SG_STALL_BARRIER ||
		(w->waiting && (cu->tcp.queue.n || (joint && joint->queue.n))));
}

/* No two lines of the code that has been executed, or of what is fetched ahead of it, share a set. */
static bool is_short(const struct sg_cu *cu)
{
	const struct sg_code_map *code = &cu->model->code;

	return code->n_pages <= MAX_PAGES &&
	       code->end - code->start + 64ull * code->hw->icache_ahead <=
		       64ull * cu->group->inst.tags.n_sets;
}

/* ---- the key ---- */

static uint64_t after(uint64_t time, uint64_t start)
{
	return time > start ? time - start : 0;
}

static void add(struct key *key, uint64_t word)
{
	key->words[key->n++] = word;
}

/* By place in the ring, the newest first: the next one replaces the oldest, whether it still matters or not. */
static void add_late(struct key *key, const struct sg_scoreboard *s, uint64_t start)
{
	add(key, after(s->until, start));
	if (s->until <= start)
		return;
	add(key, after(s->vector_until, start));
	for (uint32_t k = 1; k <= SG_MAX_LATE; k++) {
		uint32_t at = (s->n_added - k) % SG_MAX_LATE;
		bool matters = k <= s->n_added &&
			       s->issued[at] + SG_QUAD * s->writer[at]->late_most > start;

		add(key, matters ? s->issued[at] - start : 0);
		add(key, matters ? (uintptr_t)s->writer[at] : 0);
	}
}

static void add_wave(struct key *key, const struct sg_simd *simd, const struct sg_model_wave *w,
		     uint64_t start)
{
	const struct sg_trace_reader *r = &w->trace.reader;

	add(key, (uintptr_t)w->page + 2 * w->slot + w->waits); /* a page has more bytes than that */
	add(key, (uint64_t)r->run << 32 | r->jump_run);
	add(key,
	    (uint64_t)r->jump << 32 ^ (uint64_t)w->lanes << 16 ^ after(simd->ready[w->age], start));
	add(key, (start - w->ready_at) << 32 ^ (start - w->issued_at));
	add_late(key, &w->late, start);
}

/* False: the window cannot repeat one. */
static bool make_key(const struct sg_cu *cu, const struct sg_simd *simd, struct key *key)
{
	const struct sg_model *m = cu->model;
	uint64_t start = m->window_start;

	key->n = 0;
	add(key, after(simd->valu_free, start) << 32 | after(simd->matrix_free, start));
	add(key, after(simd->fetch_free, start << 4));
	for (uint32_t n = 0; n < simd->n_waves; n++) {
		const struct sg_model_wave *w = simd->waves[n];

		if (simd->ready[n] >= m->window_end) {
			if (may_be_woken(cu, w))
				return false;
			add(key, SG_NEVER);
			continue;
		}
		/* times have 32 bits in the key, and its windows one set of counters */
		if (w->set != cu->set || !w->trace.reader.again || w->ending ||
		    start - w->issued_at + m->hw->request > INT32_MAX ||
		    w->trace.reader.jump != (int32_t)w->trace.reader.jump || !is_local(cu, w))
			return false;
		add_wave(key, simd, w, start);
	}
	return true;
}

/* ---- repeating ---- */

static bool has_turns(const struct sg_simd *simd, const struct sg_steady_window *kept, uint64_t end)
{
	const struct end_state *e = kept->waves;

	for (uint32_t n = 0; n < simd->n_waves; n++)
		if (simd->ready[n] < end && simd->waves[n]->trace.reader.again < e++->n_turns)
			return false;
	return true;
}

static void continue_from(struct sg_simd *simd, struct sg_model_wave *w, const struct end_state *e,
			  uint64_t start)
{
	w->page = e->page;
	w->slot = e->slot;
	w->fetch_block = sg_model_pc(w) >> 5;
	w->ready_at = e->ready_at + start;
	w->issued_at = e->issued_at + start;
	w->stall = e->stall;
	w->waits = e->waits;
	w->trace.reader.run = e->run;
	w->trace.reader.again -= e->n_turns;
	for (uint32_t k = 0; k < e->n_late; k++)
		sg_scoreboard_add(&w->late, e->late[k].writer, e->late[k].issued + start);
	if (e->late_until && e->late_until + start > w->late.until)
		w->late.until = e->late_until + start;
	if (e->late_vector_until && e->late_vector_until + start > w->late.vector_until)
		w->late.vector_until = e->late_vector_until + start;
	simd->ready[w->age] = e->ready + start;
	simd->unit[w->age] = sg_wave_inst(w)->unit;
}

static bool repeat(struct sg_cu *cu, struct sg_simd *simd, const struct sg_steady_window *kept)
{
	struct sg_model *m = cu->model;
	uint64_t start = m->window_start;
	const struct end_state *e = kept->waves;

	for (uint32_t k = 0; k < kept->n_lines; k++)
		if (!is_recent(cu, kept->lines[k]))
			return false;
	if (!has_turns(simd, kept, m->window_end))
		return false;
	for (uint32_t n = 0; n < simd->n_waves; n++)
		if (simd->ready[n] < m->window_end)
			continue_from(simd, simd->waves[n], e++, start);
	simd->valu_free = kept->valu_free + start;
	simd->matrix_free = kept->matrix_free + start;
	simd->fetch_free = kept->fetch_free + (start << 4);
	m->n_issued += kept->n_issued;
	m->n_repeated++;
	for (uint32_t k = 0; k < kept->n_executed; k++)
		kept->executed[k].page->count[cu->set->count_at][kept->executed[k].slot] +=
			kept->executed[k].n;
	for (uint32_t k = 0; k < kept->n_counted; k++)
		cu->set->sq[kept->counted[k].place] += kept->counted[k].n;
	for (uint32_t k = 0; k < kept->n_levels; k++)
		cu->set->level[kept->levels[k].place] += kept->levels[k].n;
	return true;
}

/* ---- keeping ---- */

/* False: it has come to an instruction that concerns others. What was done so far is independent of them. */
static bool run_ahead(struct sg_cu *cu, struct sg_simd *simd)
{
	const struct sg_model *m = cu->model;
	const uint8_t *due = &cu->group->due[simd->in_group];

	while (*due != SG_DUE_LATER) {
		uint32_t waves = sg_due_until(simd->due, *due);

		for (; waves; waves &= waves - 1)
			if (!is_local(cu, simd->waves[__builtin_ctz(waves)]))
				return false;
		sg_simd_quad(cu, simd, m->window_start + SG_QUAD * *due);
		if (m->failed)
			return false;
	}
	return true;
}

static void look_before(struct sg_steady *s, const struct sg_cu *cu, const struct sg_simd *simd)
{
	const struct sg_map_page *page = cu->model->code.pages;

	memcpy(s->sq, cu->set->sq, sizeof(s->sq));
	memcpy(s->level, cu->set->level, sizeof(s->level));
	for (uint32_t k = 0; page; page = page->next)
		memcpy(s->count[k++], page->count[cu->set->count_at], sizeof(s->count[0]));
	for (uint32_t n = 0; n < simd->n_waves; n++) {
		s->takes_part[n] = simd->ready[n] < cu->model->window_end;
		s->again[n] = simd->waves[n]->trace.reader.again;
		s->n_late[n] = simd->waves[n]->late.n_added;
	}
}

static uint32_t differences(const uint64_t *before, const uint64_t *now, struct counted *out)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < SG_N_SQ; k++)
		if (now[k] != before[k])
			out[n++] = (struct counted){ k, now[k] - before[k] };
	return n;
}

/* False: too many. */
static bool add_line(uint64_t *lines, uint32_t *n, uint64_t line)
{
	for (uint32_t k = *n; k; k--)
		if (lines[k - 1] == line)
			return true;
	if (*n == MAX_LINES)
		return false;
	lines[(*n)++] = line;
	return true;
}

static bool find_executed(struct sg_steady *s, const struct sg_cu *cu, struct sg_steady_window *out)
{
	uint32_t k = 0;

	for (struct sg_map_page *page = cu->model->code.pages; page; page = page->next, k++)
		for (uint32_t slot = 0; slot < SG_MAP_SLOTS; slot++) {
			uint64_t n = page->count[cu->set->count_at][slot] - s->count[k][slot];

			if (!n)
				continue;
			s->executed[out->n_executed++] = (struct executed){ page, slot, n };
			if (!add_line(s->lines, &out->n_lines,
				      line_of(cu, page->base + 4ull * slot)))
				return false;
		}
	return true;
}

static void end_of(struct end_state *e, const struct sg_simd *simd, const struct sg_model_wave *w,
		   uint32_t again, uint32_t n_late, uint64_t start)
{
	uint32_t n_new = w->late.n_added - n_late;

	*e = (struct end_state){ .page = w->page,
				 .slot = w->slot,
				 .ready_at = w->ready_at - start,
				 .issued_at = w->issued_at - start,
				 .ready = after(simd->ready[w->age], start),
				 .late_until = after(w->late.until, start),
				 .late_vector_until = after(w->late.vector_until, start),
				 .run = w->trace.reader.run,
				 .n_turns = again - w->trace.reader.again,
				 .stall = w->stall,
				 .waits = w->waits };
	for (uint32_t k = n_new < SG_MAX_LATE ? n_new : SG_MAX_LATE; k; k--) {
		uint32_t at = (w->late.n_added - k) % SG_MAX_LATE;

		e->late[e->n_late++] =
			(struct late_result){ w->late.issued[at] - start, w->late.writer[at] };
	}
}

/* What the window has changed. False: it cannot be kept. */
static bool look_after(struct sg_steady *s, const struct sg_cu *cu, const struct sg_simd *simd,
		       struct sg_steady_window *out)
{
	uint64_t start = cu->model->window_start;

	if (!find_executed(s, cu, out))
		return false;
	for (uint32_t n = 0; n < simd->n_waves; n++) {
		const struct sg_model_wave *w = simd->waves[n];

		if (!s->takes_part[n])
			continue;
		end_of(&s->waves[out->n_waves++], simd, w, s->again[n], s->n_late[n], start);
		if (!add_line(s->lines, &out->n_lines, line_of(cu, sg_model_pc(w))))
			return false;
	}
	out->valu_free = after(simd->valu_free, start);
	out->matrix_free = after(simd->matrix_free, start);
	out->fetch_free = after(simd->fetch_free, start << 4);
	out->n_counted = differences(s->sq, cu->set->sq, s->counted);
	out->n_levels = differences(s->level, cu->set->level, s->levels);
	return true;
}

/* One block of memory for all of it. */
static void keep(struct sg_steady *s, const struct key *key, const struct sg_steady_window *found)
{
	const struct {
		const void *from;
		size_t n_bytes;
	} parts[] = {
		{ key->words, key->n * sizeof(*key->words) },
		{ s->lines, found->n_lines * sizeof(*s->lines) },
		{ s->waves, found->n_waves * sizeof(*s->waves) },
		{ s->executed, found->n_executed * sizeof(*s->executed) },
		{ s->counted, found->n_counted * sizeof(*s->counted) },
		{ s->levels, found->n_levels * sizeof(*s->levels) },
	};
	size_t n_parts = sizeof(parts) / sizeof(parts[0]), n_bytes = sizeof(*found);
	struct sg_steady_window *kept;
	char *at[sizeof(parts) / sizeof(parts[0])], *to;

	for (size_t k = 0; k < n_parts; k++)
		n_bytes += parts[k].n_bytes;
	kept = malloc(n_bytes);
	if (!kept)
		return;
	*kept = *found;
	to = (char *)(kept + 1);
	for (size_t k = 0; k < n_parts; k++) {
		at[k] = memcpy(to, parts[k].from, parts[k].n_bytes);
		to += parts[k].n_bytes;
	}
	kept->key = (uint64_t *)at[0];
	kept->n_key = key->n;
	kept->lines = (uint64_t *)at[1];
	kept->waves = (struct end_state *)at[2];
	kept->executed = (struct executed *)at[3];
	kept->counted = (struct counted *)at[4];
	kept->levels = (struct counted *)at[5];
	kept->next = s->buckets[kept->digest % N_BUCKETS];
	s->buckets[kept->digest % N_BUCKETS] = kept;
	s->n_kept++;
}

/* ---- a window ---- */

static const struct sg_steady_window *find(const struct sg_steady *s, const struct key *key,
					   uint64_t digest)
{
	const struct sg_steady_window *kept = s->buckets[digest % N_BUCKETS];

	while (kept && (kept->digest != digest || kept->n_key != key->n ||
			memcmp(kept->key, key->words, key->n * sizeof(*key->words))))
		kept = kept->next;
	return kept;
}

bool sg_steady_repeat(struct sg_cu *cu, struct sg_simd *simd)
{
	struct sg_steady *s = cu->model->steady;
	const struct sg_steady_window *kept = NULL;
	struct key key;

	simd->is_new = false;
	if (simd->steady_pause) {
		simd->steady_pause--;
		return false;
	}
	if (!cu->group->inst.n_pending && is_short(cu) && make_key(cu, simd, &key)) {
		kept = find(s, &key, sg_digest(0, key.words, key.n * sizeof(*key.words)));
		simd->is_new = !kept && s->n_kept < MAX_KEPT;
		if (kept && repeat(cu, simd, kept))
			return true;
	}
	simd->steady_pause = simd->is_new ? 0 : PAUSE;
	return false;
}

void sg_steady_keep(struct sg_cu *cu, struct sg_simd *simd)
{
	struct sg_model *m = cu->model;
	struct sg_steady *s = m->steady;
	const struct sg_map_page *pages = m->code.pages;
	struct sg_steady_window found = { .n_issued = m->n_issued };
	struct key key;

	make_key(cu, simd, &key);
	look_before(s, cu, simd);
	if (!run_ahead(cu, simd)) {
		simd->steady_pause = LONG_PAUSE;
		return;
	}
	found.n_issued = m->n_issued - found.n_issued;
	found.digest = sg_digest(0, key.words, key.n * sizeof(*key.words));
	if (m->code.pages == pages && look_after(s, cu, simd, &found))
		keep(s, &key, &found);
}
