#include "counters/plan_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES (256u << 20)
#define NO_UNIT UINT32_MAX

static enum ws_status no_memory(struct ws_err *err)
{
	return ws_fail(err, WS_E_NOMEM, "out of memory for the plan of passes");
}

/* ---- from needs to passes ---- */

static unsigned block_number(const struct cnt_catalogue *cat, const struct cnt_counter_def *def)
{
	return (unsigned)(def->block - cnt_catalogue_block(cat, 0));
}

/* The units of the requests from @first to before @end, and which of them each request wants. */
static enum ws_status make_units(struct cnt_plan_ *plan, size_t first, size_t end,
				 struct cnt_pack *pack, struct ws_err *err)
{
	const struct cnt_catalogue *cat = plan->pub.cat;
	uint32_t *unit_of = ws_arena_array(&plan->arena, cnt_catalogue_n(cat), sizeof(*unit_of));
	struct cnt_unit *units = ws_arena_array(&plan->arena, cnt_catalogue_n(cat), sizeof(*units));
	struct cnt_unit_set *sets = ws_arena_array(&plan->arena, end - first, sizeof(*sets));

	if (!unit_of || !units || (end > first && !sets))
		return no_memory(err);
	memset(unit_of, 0xff, cnt_catalogue_n(cat) * sizeof(*unit_of));
	for (size_t i = first; i < end; i++) {
		struct cnt_request_ *q = &plan->requests[i];
		const struct cnt_expr_need *needs;
		uint32_t *mine;
		size_t n_mine = 0;

		if (q->pub.state || !q->expr)
			continue;
		needs = cnt_expr_needs(q->expr, &q->n_needs);
		mine = ws_arena_array(&plan->arena, 2 * q->n_needs, sizeof(*mine));
		if (q->n_needs && !mine)
			return no_memory(err);
		q->units = mine + q->n_needs;
		for (size_t k = 0; k < q->n_needs; k++) {
			const struct cnt_counter_def *c = needs[k].counter;
			uint32_t *u = &unit_of[c->id - 1];
			size_t j = 0;

			if (*u == NO_UNIT) {
				*u = (uint32_t)pack->n_units++;
				units[*u] = (struct cnt_unit){ .counter = c,
							       .block = block_number(cat, c),
							       .size = 1 };
			}
			units[*u].each |= needs[k].form == CNT_FORM_EACH;
			if (needs[k].form == CNT_FORM_ACCUMULATED) {
				units[*u].accumulated = true;
				units[*u].size = 2;
			}
			mine[q->n_needs + k] = *u;
			while (j < n_mine && mine[j] != *u)
				j++;
			if (j == n_mine)
				mine[n_mine++] = *u;
		}
		sets[pack->n_sets++] = (struct cnt_unit_set){ mine, n_mine };
	}
	pack->units = units;
	pack->sets = sets;
	pack->cat = cat;
	return WS_OK;
}

static enum ws_status add_read(struct cnt_plan_ *plan, const struct cnt_counter_def *counter,
			       enum cnt_counter_form form, struct ws_err *err)
{
	static const char *const forms[] = {
		[CNT_FORM_EACH] = "%s",
		[CNT_FORM_SUM] = "%s_sum",
		[CNT_FORM_ACCUMULATED] = "%s_ACCUM",
	};
	struct cnt_plan_read *read;

	if (plan->pub.n_reads == plan->cap_reads) {
		size_t cap = plan->cap_reads ? plan->cap_reads * 2 : 64;
		void *more = realloc(plan->reads, cap * sizeof(*plan->reads));

		if (!more)
			return no_memory(err);
		plan->reads = more;
		plan->cap_reads = cap;
	}
	read = &plan->reads[plan->pub.n_reads];
	*read = (struct cnt_plan_read){
		.spelling = ws_arena_printf(&plan->arena, forms[form], counter->name),
		.counter = counter,
		.form = form,
		.pass = (unsigned)plan->pub.n_passes,
	};
	if (!read->spelling)
		return no_memory(err);
	plan->pub.n_reads++;
	return WS_OK;
}

/* Block by block; @first_read receives where each unit's first read of this pass is. */
static enum ws_status add_pass(struct cnt_plan_ *plan, const struct cnt_pack *pack, size_t pass,
			       unsigned group, uint32_t *first_read, struct ws_err *err)
{
	size_t first = plan->pub.n_reads;
	enum ws_status st = WS_OK;

	if (plan->pub.n_passes == plan->cap_passes) {
		size_t cap = plan->cap_passes ? plan->cap_passes * 2 : 16;
		void *more = realloc(plan->passes, cap * sizeof(*plan->passes));

		if (!more)
			return no_memory(err);
		plan->passes = more;
		plan->cap_passes = cap;
	}
	for (unsigned b = 0; b < cnt_catalogue_n_blocks(pack->cat); b++)
		for (size_t u = 0; u < pack->n_units && !st; u++) {
			const struct cnt_unit *unit = &pack->units[u];
			bool each = unit->each || unit->accumulated;

			if (unit->block != b || !pack->in[pass * pack->n_units + u])
				continue;
			first_read[pass * pack->n_units + u] = (uint32_t)plan->pub.n_reads;
			st = add_read(plan, unit->counter, each ? CNT_FORM_EACH : CNT_FORM_SUM,
				      err);
			if (!st && unit->accumulated)
				st = add_read(plan, unit->counter, CNT_FORM_ACCUMULATED, err);
		}
	if (st)
		return st;
	plan->passes[plan->pub.n_passes++] = (struct cnt_plan_pass){
		.group = group,
		.first_read = (uint32_t)first,
		.n_reads = (uint32_t)(plan->pub.n_reads - first),
	};
	return WS_OK;
}

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The pass that has all the request wants, or else for each need the first that has it. */
static enum ws_status bind(struct cnt_plan_ *plan, struct cnt_request_ *q,
			   const struct cnt_pack *pack, const uint32_t *first_read,
			   struct ws_err *err)
{
	const struct cnt_expr_need *needs = cnt_expr_needs(q->expr, &q->n_needs);
	uint32_t *need_reads =
		ws_arena_array(&plan->arena, 2 * q->n_needs + 1, sizeof(*need_reads));
	uint32_t *reads = need_reads + q->n_needs;
	size_t home = SIZE_MAX, n = 0;

	if (!need_reads)
		return no_memory(err);
	for (size_t pass = 0; pass < pack->n_passes && home == SIZE_MAX; pass++) {
		size_t k = 0;

		while (k < q->n_needs && pack->in[pass * pack->n_units + q->units[k]])
			k++;
		if (k == q->n_needs)
			home = pass;
	}
	for (size_t k = 0; k < q->n_needs; k++) {
		size_t pass = home == SIZE_MAX ? 0 : home;

		while (!pack->in[pass * pack->n_units + q->units[k]])
			pass++;
		need_reads[k] = first_read[pass * pack->n_units + q->units[k]] +
				(needs[k].form == CNT_FORM_ACCUMULATED);
	}
	memcpy(reads, need_reads, q->n_needs * sizeof(*reads));
	qsort(reads, q->n_needs, sizeof(*reads), compare_u32);
	for (size_t k = 0; k < q->n_needs; k++)
		if (!k || reads[k] != reads[n - 1])
			reads[n++] = reads[k];
	q->need_reads = need_reads;
	q->pub.reads = reads;
	q->pub.n_reads = n;
	q->pub.one_pass = home != SIZE_MAX;
	return WS_OK;
}

static enum ws_status too_many(const struct cnt_plan_ *plan, const struct cnt_pack *pack,
			       const struct cnt_counter_block *block, unsigned group,
			       struct ws_err *err)
{
	bool alone = plan->requests[plan->pub.n_requests - 1].pub.group == 0;
	unsigned places = 0;
	char which[32] = "";

	for (size_t i = 0; i < pack->n_units; i++)
		if (cnt_catalogue_block(pack->cat, pack->units[i].block) == block)
			places += pack->units[i].size;
	if (!alone)
		snprintf(which, sizeof(which), "group %u: ", group + 1);
	return ws_fail(err, WS_E_LIMIT,
		       "%snot in one pass: block %s counts %u at once on %s, but %u are requested: "
		       "remove some",
		       which, block->name, block->limit, cnt_catalogue_arch(pack->cat), places);
}

static enum ws_status plan_part(struct cnt_plan_ *plan, size_t first, size_t end, unsigned group,
				unsigned mode, struct ws_err *err)
{
	const struct cnt_counter_block *tightest = NULL;
	struct cnt_pack pack = { 0 };
	uint32_t *first_read;
	enum ws_status st = make_units(plan, first, end, &pack, err);

	if (st)
		return st;
	if (mode == CNT_PLAN_FIXED && cnt_pack_bound(&pack, &tightest) > 1)
		return too_many(plan, &pack, tightest, group, err);
	st = cnt_pack_run(&pack, &plan->arena, err);
	if (st || !pack.n_passes)
		return st;
	first_read =
		ws_arena_array(&plan->arena, pack.n_passes * pack.n_units, sizeof(*first_read));
	if (!first_read)
		return no_memory(err);
	for (size_t pass = 0; pass < pack.n_passes && !st; pass++)
		st = add_pass(plan, &pack, pass, group, first_read, err);
	for (size_t i = first; i < end && !st; i++)
		if (!plan->requests[i].pub.state && plan->requests[i].expr)
			st = bind(plan, &plan->requests[i], &pack, first_read, err);
	return st;
}

static enum ws_status plan_all(struct cnt_plan_ *plan, unsigned mode, struct ws_err *err)
{
	size_t first = 0, end;
	enum ws_status st = WS_OK;

	if (mode == CNT_PLAN_POOL)
		return plan_part(plan, 0, plan->pub.n_requests, 0, mode, err);
	for (; first < plan->pub.n_requests && !st; first = end) {
		unsigned group = plan->requests[first].pub.group;

		end = first;
		while (end < plan->pub.n_requests && plan->requests[end].pub.group == group)
			end++;
		st = plan_part(plan, first, end, group, mode, err);
	}
	return st;
}

enum ws_status cnt_plan_make(const struct cnt_catalogue *cat, const struct cnt_plan_group *groups,
			     size_t n_groups, unsigned mode, struct cnt_plan **out_plan,
			     struct ws_err *err)
{
	struct cnt_plan_ *plan = calloc(1, sizeof(*plan));
	struct cnt_plan_request *shown;
	enum ws_status st = WS_OK;

	if (!plan)
		return no_memory(err);
	ws_arena_init(&plan->arena, MAX_BYTES);
	plan->pub.cat = cat;
	for (unsigned turn = 0; turn < CNT_N_TURNS && !st; turn++) {
		plan->exprs[turn] =
			ws_arena_array(&plan->arena, cnt_catalogue_n(cat), sizeof(**plan->exprs));
		if (!plan->exprs[turn])
			st = no_memory(err);
	}
	if (!st)
		st = cnt_plan_collect_(plan, groups, n_groups, mode, err);
	if (!st)
		st = plan_all(plan, mode & 0xff, err);
	if (!st) {
		shown = ws_arena_array(&plan->arena, plan->pub.n_requests, sizeof(*shown));
		if (!shown && plan->pub.n_requests)
			st = no_memory(err);
		for (size_t i = 0; !st && i < plan->pub.n_requests; i++)
			shown[i] = plan->requests[i].pub;
		plan->pub.requests = shown;
		plan->pub.reads = plan->reads;
		plan->pub.passes = plan->passes;
	}
	if (st) {
		cnt_plan_destroy(&plan->pub);
		return st;
	}
	*out_plan = &plan->pub;
	return WS_OK;
}

void cnt_plan_destroy(struct cnt_plan *pub)
{
	struct cnt_plan_ *plan = (struct cnt_plan_ *)pub;

	if (!plan)
		return;
	for (unsigned turn = 0; turn < CNT_N_TURNS; turn++)
		for (size_t i = 0; plan->exprs[turn] && i < cnt_catalogue_n(pub->cat); i++)
			cnt_expr_destroy(plan->exprs[turn][i]);
	free(plan->reads);
	free(plan->passes);
	ws_arena_fini(&plan->arena);
	free(plan);
}

size_t cnt_plan_find(const struct cnt_plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->n_requests; i++)
		if (strcmp(plan->requests[i].name, name) == 0)
			return i;
	return SIZE_MAX;
}

/* ---- from what was counted to values ---- */

enum ws_status cnt_plan_value(const struct cnt_plan *pub, size_t request,
			      const struct cnt_plan_sample *samples, struct ws_arena *arena,
			      struct cnt_values *out_values, struct ws_err *err)
{
	const struct cnt_plan_ *plan = (const struct cnt_plan_ *)pub;
	const struct cnt_request_ *q = &plan->requests[request];
	const struct cnt_expr_need *needs;
	struct cnt_values *inputs;
	enum ws_status st;

	*out_values = (struct cnt_values){ 0 };
	if (q->pub.state)
		return WS_OK;
	if (!q->expr) {
		*out_values =
			(struct cnt_values){ &q->pub.counter->constant, 1, cnt_shape_scalar_() };
		return WS_OK;
	}
	needs = cnt_expr_needs(q->expr, &(size_t){ 0 });
	inputs = ws_arena_array(arena, q->n_needs, sizeof(*inputs));
	if (q->n_needs && !inputs)
		return no_memory(err);
	for (size_t k = 0; k < q->n_needs; k++) {
		const struct cnt_plan_sample *s = &samples[q->need_reads[k]];

		inputs[k] = (struct cnt_values){ s->at, s->n, needs[k].counter->shape };
		if (needs[k].form == CNT_FORM_SUM && s->n > 1) {
			double *total = ws_arena_array(arena, 1, sizeof(*total));

			if (!total)
				return no_memory(err);
			inputs[k].at = total;
			inputs[k].n =
				cnt_values_total(&(struct cnt_values){ s->at, s->n, { 0 } }, total);
		}
	}
	st = cnt_expr_eval(q->expr, inputs, arena, out_values, err);
	if (st)
		return ws_fail_in(err, st, "counter '%s'", q->pub.name);
	if (q->index != SIZE_MAX) {
		/* One number for all instances is not that of one of them. */
		bool known = out_values->n == cnt_shape_size(cnt_expr_shape(q->expr));

		*out_values = (struct cnt_values){ .at = known ? out_values->at + q->index : NULL,
						   .n = known,
						   .shape = cnt_shape_scalar_() };
	}
	return WS_OK;
}
