/* From names as users type them to the hardware counters they are computed from. */
#include "counters/plan_priv.h"

#include "base/map.h"

#include <string.h>

static enum ws_status no_memory(struct ws_err *err)
{
	return ws_fail(err, WS_E_NOMEM, "out of memory for the plan of passes");
}

static enum ws_status refuse(struct cnt_plan_ *plan, struct cnt_request_ *q,
			     enum cnt_plan_state state, const char *why)
{
	q->pub.state = state;
	q->pub.why = why;
	return why ? WS_OK : WS_E_NOMEM;
}

static enum ws_status refuse_unknown(struct cnt_plan_ *plan, struct cnt_request_ *q)
{
	const struct cnt_catalogue *cat = plan->pub.cat;
	const char *name = q->pub.name, *arch = cnt_catalogue_arch(cat);
	const char *elsewhere = cnt_catalogue_elsewhere(cat, name);

	q->pub.nearest = cnt_catalogue_nearest(cat, name);
	if (elsewhere && q->pub.nearest)
		return refuse(
			plan, q, CNT_PLAN_UNKNOWN,
			ws_arena_printf(&plan->arena,
					"no counter '%s' on %s, only on %s: did you mean '%s'?",
					name, arch, elsewhere, q->pub.nearest));
	if (elsewhere)
		return refuse(plan, q, CNT_PLAN_UNKNOWN,
			      ws_arena_printf(&plan->arena,
					      "no counter '%s' on %s, only on %s: 'rocprofv3-avail "
					      "list' lists the counters of this GPU",
					      name, arch, elsewhere));
	if (q->pub.nearest)
		return refuse(plan, q, CNT_PLAN_UNKNOWN,
			      ws_arena_printf(&plan->arena,
					      "no counter '%s' on %s: did you mean '%s'?", name,
					      arch, q->pub.nearest));
	return refuse(
		plan, q, CNT_PLAN_UNKNOWN,
		ws_arena_printf(&plan->arena,
				"no counter '%s' on %s: 'rocprofv3-avail list' lists the counters",
				name, arch));
}

static const char *const turns[] = {
	[CNT_TURN_AS_IS] = "%s",
	[CNT_TURN_SUMMED] = "reduce(%s,sum)",
	[CNT_TURN_ACCUMULATED] = "accumulate(%s, HIGH_RES)",
	[CNT_TURN_LOW_RES] = "accumulate(%s, LOW_RES)",
};

/* Compiled once per counter and turn. */
static enum ws_status expr_of(struct cnt_plan_ *plan, const struct cnt_counter_def *def,
			      enum cnt_plan_turn turn, const struct cnt_expr **out_expr,
			      struct ws_err *err)
{
	struct cnt_expr **slot = &plan->exprs[turn][def->id - 1];
	char text[192];

	if (!*slot) {
		enum ws_status st;

		snprintf(text, sizeof(text), turns[turn], def->name);
		st = cnt_expr_compile(plan->pub.cat,
				      turn == CNT_TURN_AS_IS && def->expression ? def->expression
										: text,
				      slot, err);
		if (st)
			return ws_fail_in(err, st, "counter '%s'", def->name);
	}
	*out_expr = *slot;
	return WS_OK;
}

static bool is_accumulator(struct ws_str name)
{
	return ws_str_is(name, "SQ_ACCUM_PREV_HIRES") || ws_str_is(name, "SQ_ACCUM_PREV");
}

/* "NAME[17]": the base name and 17. */
static bool split_index(struct ws_str *name, size_t *out_index)
{
	const char *bracket = memchr(name->at, '[', name->n);
	struct ws_str number;
	uint64_t index;

	if (!bracket || !ws_str_ends(*name, "]"))
		return false;
	number = (struct ws_str){ bracket + 1, (size_t)(name->at + name->n - 1 - (bracket + 1)) };
	if (!ws_str_u64(number, &index))
		return false;
	name->n = (size_t)(bracket - name->at);
	*out_index = (size_t)index;
	return true;
}

/*
 * What the name is a form of, and which; *@out_def stays NULL when nothing is known by it. @before
 * is the request just before, for the accumulator.
 */
static void split(const struct cnt_catalogue *cat, struct cnt_request_ *q,
		  const struct cnt_request_ *before, const struct cnt_counter_def **out_def,
		  enum cnt_plan_turn *out_turn)
{
	struct ws_str name = ws_str_from(q->pub.name);

	*out_turn = CNT_TURN_AS_IS;
	*out_def = NULL;
	if (is_accumulator(name)) {
		*out_turn = ws_str_ends(name, "_HIRES") ? CNT_TURN_ACCUMULATED : CNT_TURN_LOW_RES;
		if (before && before->pub.counter && before->pub.counter->is_level &&
		    strcmp(before->pub.name, before->pub.counter->name) == 0)
			*out_def = before->pub.counter;
		return;
	}
	*out_def = cnt_catalogue_find_n(cat, name);
	if (*out_def)
		return;
	if (split_index(&name, &q->index)) {
		*out_def = cnt_catalogue_find_n(cat, name);
	} else if (ws_str_ends(name, "_sum")) {
		name.n -= 4;
		*out_def = cnt_catalogue_find_n(cat, name);
		*out_turn = CNT_TURN_SUMMED;
	} else if (ws_str_ends(name, "_ACCUM")) {
		name.n -= 6;
		*out_def = cnt_catalogue_find_n(cat, name);
		*out_turn = CNT_TURN_ACCUMULATED;
	}
}

static enum ws_status check_needs(struct cnt_plan_ *plan, struct cnt_request_ *q)
{
	const struct cnt_expr_need *needs = cnt_expr_needs(q->expr, &q->n_needs);

	q->pub.fidelity = CNT_FIDELITY_EXACT;
	for (size_t k = 0; k < q->n_needs; k++) {
		const struct cnt_counter_def *c = needs[k].counter;
		bool no_level = needs[k].form == CNT_FORM_ACCUMULATED && !c->is_level;

		if (c->fidelity > q->pub.fidelity)
			q->pub.fidelity = c->fidelity;
		if (!cnt_catalogue_is_soft(plan->pub.cat) || q->pub.state)
			continue;
		if (c->fidelity != CNT_FIDELITY_UNSUPPORTED && !no_level)
			continue;
		q->pub.fidelity = CNT_FIDELITY_UNSUPPORTED;
		if (refuse(plan, q, CNT_PLAN_UNSUPPORTED,
			   ws_arena_printf(
				   &plan->arena,
				   "counter '%s' is not supported by the software GPU: %s%s%s",
				   q->pub.name, strcmp(c->name, q->pub.name) ? c->name : "",
				   strcmp(c->name, q->pub.name) ? ": " : "",
				   no_level ? "only level counters can be accumulated"
					    : c->fidelity_text)))
			return WS_E_NOMEM;
	}
	return WS_OK;
}

static enum ws_status resolve(struct cnt_plan_ *plan, struct cnt_request_ *q,
			      const struct cnt_request_ *before, struct ws_err *err)
{
	const struct cnt_counter_def *def;
	enum ws_status st;
	enum cnt_plan_turn turn;

	q->index = SIZE_MAX;
	split(plan->pub.cat, q, before, &def, &turn);
	if (!def && is_accumulator(ws_str_from(q->pub.name)))
		return refuse(plan, q, CNT_PLAN_MALFORMED,
			      ws_arena_printf(
				      &plan->arena,
				      "'%s' accumulates the level counter before it, and there is "
				      "none: write NAME_ACCUM, as in SQ_LEVEL_WAVES_ACCUM",
				      q->pub.name));
	if (!def)
		return refuse_unknown(plan, q);
	q->pub.counter = def;
	if (turn >= CNT_TURN_ACCUMULATED && !def->is_level)
		return refuse(
			plan, q, CNT_PLAN_MALFORMED,
			ws_arena_printf(&plan->arena,
					"'%s': %s is not a level counter and cannot be accumulated",
					q->pub.name, def->name));
	if (def->kind == CNT_COUNTER_CONSTANT) {
		if (q->index != SIZE_MAX || turn != CNT_TURN_AS_IS)
			return refuse(plan, q, CNT_PLAN_MALFORMED,
				      ws_arena_printf(&plan->arena,
						      "'%s': %s is a constant of the agent",
						      q->pub.name, def->name));
		return WS_OK;
	}
	st = expr_of(plan, def, turn, &q->expr, err);
	if (st)
		return st;
	if (q->index != SIZE_MAX && q->index >= cnt_shape_size(cnt_expr_shape(q->expr)))
		return refuse(plan, q, CNT_PLAN_MALFORMED,
			      ws_arena_printf(&plan->arena,
					      "'%s': %s has %zu instances here, numbered from [0]",
					      q->pub.name, def->name,
					      cnt_shape_size(cnt_expr_shape(q->expr))));
	q->pub.expression = turn == CNT_TURN_AS_IS
				    ? def->expression
				    : ws_arena_printf(&plan->arena, turns[turn], def->name);
	if (turn != CNT_TURN_AS_IS && !q->pub.expression)
		return no_memory(err);
	return check_needs(plan, q);
}

static enum ws_status status_of(enum cnt_plan_state state)
{
	static const enum ws_status table[] = {
		[CNT_PLAN_AVAILABLE] = WS_OK,
		[CNT_PLAN_UNKNOWN] = WS_E_NOTFOUND,
		[CNT_PLAN_UNSUPPORTED] = WS_E_UNSUPPORTED,
		[CNT_PLAN_MALFORMED] = WS_E_FORMAT,
	};

	return table[state];
}

/* Names that come twice in a group are one request; an accumulator means another thing each time.
 */
enum ws_status cnt_plan_collect_(struct cnt_plan_ *plan, const struct cnt_plan_group *groups,
				 size_t n_groups, unsigned mode, struct ws_err *err)
{
	struct ws_map seen;
	size_t n = 0;
	enum ws_status st = WS_OK;

	for (size_t g = 0; g < n_groups; g++)
		n += groups[g].n;
	plan->requests = ws_arena_array(&plan->arena, n, sizeof(*plan->requests));
	if (n && !plan->requests)
		return no_memory(err);
	ws_map_init(&seen, WS_MAP_STR, (size_t)1 << 24);
	for (size_t g = 0; g < n_groups && !st; g++) {
		const struct cnt_request_ *before = NULL;

		if (g == 0 || (mode & 0xff) != CNT_PLAN_POOL)
			ws_map_clear(&seen);
		for (size_t i = 0; i < groups[g].n && !st; i++) {
			struct ws_str name = ws_str_from(groups[g].names[i]);
			struct cnt_request_ *q = &plan->requests[plan->pub.n_requests];

			if (!is_accumulator(name)) {
				const struct ws_map_entry *known = ws_map_find(&seen, name);

				if (known) {
					before = known->value;
					continue;
				}
			}
			q->pub.name = ws_arena_strndup(&plan->arena, name.at, name.n);
			q->pub.group = (unsigned)g;
			if (!q->pub.name) {
				st = no_memory(err);
				break;
			}
			st = ws_map_put(&seen, ws_str_from(q->pub.name), q, err);
			if (!st)
				st = resolve(plan, q, before, err);
			if (!st && q->pub.state && !(mode & CNT_PLAN_KEEP_GOING))
				st = ws_fail(err, status_of(q->pub.state), "%s", q->pub.why);
			before = q;
			plan->pub.n_requests++;
		}
	}
	ws_map_fini(&seen);
	return st == WS_E_NOMEM ? no_memory(err) : st;
}
