/* Reading the rules of findings; docs/findings.md describes the language. */
#include "analysis/diff.h"
#include "analysis/metric_priv.h"

#include <string.h>

#define LEVEL_SUM "SQ_ACCUM_PREV_HIRES" /* means something only in the pass of a level */
#define SHARE_DEFAULT 5                 /* percent */

const char *const ana_finding_subjects[] = {
#define ANA_FINDING_ROW(name, word) word,
	ANA_FINDING_SUBJECT_TABLE(ANA_FINDING_ROW)
#undef ANA_FINDING_ROW
		NULL
};

static struct ws_arena *arena_of(struct ana_reader *r)
{
	return &r->into->arena;
}

enum ws_status ana_reader_finding(struct ana_reader *r, struct ws_str rest)
{
	struct ws_str id = ana_reader_word(&rest);
	enum ws_status st = ana_reader_end_finding(r);

	if (!st)
		st = ana_reader_end_block(r);
	if (st)
		return st;
	ws_vec_each(other, &r->rules)
		if (ws_str_is(id, other->id))
			return ANA_READER_FAIL(r, "finding %.*s is defined twice", WS_STR_ARGS(id));
	r->rule = (struct ana_rule){ .id = ana_reader_kept(r, id).at,
				     .file = r->file,
				     .min_share = SHARE_DEFAULT,
				     .min_dispatches = 1 };
	r->rule.file = ws_arena_strdup(arena_of(r), r->file);
	if (!r->rule.id || !r->rule.file)
		return ANA_READER_NOMEM(r);
	r->in_rule = true;
	r->rule_line = r->line;
	return ana_reader_quoted(r, rest, &r->rule.title);
}

/* ---- citing a metric ---- */

/* @expr with the level's sum by a name that any formula can use. NULL: no memory. */
static const struct ana_expr *name_level(struct ana_reader *r, const struct ana_expr *expr,
					 const char *level)
{
	struct ana_expr_pool *pool = &r->into->pool;
	const struct ana_expr *args[16];

	if (expr->kind == ANA_EXPR_COUNTER && strcmp(expr->text, LEVEL_SUM) == 0) {
		const char *sum = ws_arena_printf(arena_of(r), "%s_ACCUM", level);

		return sum ? ana_expr_counter(pool, ws_str_from(sum)) : NULL;
	}
	if (!expr->n_args || expr->n_args > WS_ARRAY_LEN(args))
		return expr;
	for (uint32_t i = 0; i < expr->n_args; i++) {
		args[i] = name_level(r, expr->args[i], level);
		if (!args[i])
			return NULL;
	}
	switch (expr->kind) {
	case ANA_EXPR_NEGATE:
		return ana_expr_negate(pool, args[0]);
	case ANA_EXPR_BINARY:
		return ana_expr_binary(pool, expr->op, args[0], args[1]);
	case ANA_EXPR_SELECT:
		return ana_expr_select(pool, args[0], args[1], args[2]);
	default:
		return ana_expr_call(pool, expr->fn, args, expr->n_args);
	}
}

/* "Name" and what follows; *@rest moves past it. */
static enum ws_status take_quoted(struct ana_reader *r, struct ws_str *rest, const char **out_text)
{
	const char *end = rest->n ? memchr(rest->at + 1, '"', rest->n - 1) : NULL;
	struct ws_str text = { rest->at, end ? (size_t)(end - rest->at) + 1 : rest->n };
	enum ws_status st = ana_reader_quoted(r, text, out_text);

	if (!st)
		*rest = ws_str_trim((struct ws_str){ rest->at + text.n, rest->n - text.n });
	return st;
}

static enum ws_status cell_of(struct ana_reader *r, const struct ana_table *table,
			      const struct ana_metric *metric, const char *column,
			      const struct ana_expr **out_expr)
{
	int header = column ? ana_header_index(table, column) : ana_metric_main_header(table);
	const struct ana_expr *expr = header < 0 ? NULL : metric->cells[header].expr;

	if (!expr)
		return ANA_READER_FAIL(r, "table %u.%u has no values in a column '%s'",
				       table->block, table->index, column ? column : "Avg");
	if (metric->coll_level)
		expr = name_level(r, expr, metric->coll_level);
	*out_expr = expr;
	return expr ? WS_OK : ANA_READER_NOMEM(r);
}

/* 12.1 "Bank Conflict Rate" column "Avg": a name for it, and evidence. */
static enum ws_status cite_metric(struct ana_reader *r, struct ws_str name, struct ws_str rest)
{
	struct ws_str id = ana_reader_word(&rest), part = id, block;
	const char *metric_name, *column = NULL;
	const struct ana_table *table = NULL;
	const struct ana_metric *metric;
	const struct ana_expr *expr;
	enum ws_status st;
	uint64_t b, t;

	if (!ws_str_next(&part, '.', &block) || !ws_str_u64(block, &b) || !ws_str_u64(part, &t))
		return ANA_READER_FAIL(r, "not a table number: '%.*s'", WS_STR_ARGS(id));
	st = take_quoted(r, &rest, &metric_name);
	if (!st && rest.n) {
		if (!ws_str_is(ana_reader_word(&rest), "column"))
			return ANA_READER_FAIL(r, "only 'column \"NAME\"' may follow a metric");
		st = take_quoted(r, &rest, &column);
	}
	if (st)
		return st;
	ws_vec_each(each, &r->blocks)
		for (size_t i = 0; (*each)->id == b && i < (*each)->n_tables; i++)
			if ((*each)->tables[i]->index == t)
				table = (*each)->tables[i];
	if (!table)
		return ANA_READER_FAIL(r, "there is no table %.*s", WS_STR_ARGS(id));
	metric = ana_metric_named(table, metric_name);
	if (!metric) { /* not on this architecture: the rule has no value there */
		expr = ana_expr_none(&r->into->pool);
		if (!expr)
			return ANA_READER_NOMEM(r);
		return ws_map_put(&r->rule_lets, ana_reader_kept(r, name), (void *)(uintptr_t)expr,
				  r->err);
	}
	st = cell_of(r, table, metric, column, &expr);
	if (!st)
		st = ws_map_put(&r->rule_lets, ana_reader_kept(r, name), (void *)(uintptr_t)expr,
				r->err);
	if (!st)
		st = ws_vec_push(
			&r->values,
			((struct ana_rule_value){
				.metric = ws_arena_printf(arena_of(r), "%u.%u.%u", table->block,
							  table->index, metric->index),
				.name = metric->name,
				.unit = column && strcmp(column, "Pct of Peak") == 0 ? "pct of peak"
										     : metric->unit,
				.expr = expr }),
			r->err);
	return st;
}

/* ---- lines ---- */

/* "Name" unit = formula */
static enum ws_status add_evidence(struct ana_reader *r, struct ws_str rest, struct ws_str formula)
{
	struct ana_rule_value value = { .unit = "" };
	enum ws_status st = take_quoted(r, &rest, &value.name);

	if (!st)
		st = ana_reader_formula(r, formula, &value.expr);
	if (st)
		return st;
	if (rest.n)
		value.unit = ana_reader_kept(r, rest).at;
	return value.unit ? ws_vec_push(&r->values, value, r->err) : ANA_READER_NOMEM(r);
}

static enum ws_status add_need(struct ana_reader *r, struct ws_str formula)
{
	struct ana_rule_need need = { .text = ana_reader_kept(r, formula).at };
	enum ws_status st = ana_reader_formula(r, formula, &need.expr);

	if (st)
		return st;
	return need.text ? ws_vec_push(&r->needs, need, r->err) : ANA_READER_NOMEM(r);
}

static enum ws_status set_subject(struct ana_reader *r, struct ws_str word)
{
	for (unsigned i = 0; ana_finding_subjects[i]; i++)
		if (ws_str_is(word, ana_finding_subjects[i])) {
			r->rule.subject = (enum ana_finding_subject)i;
			return WS_OK;
		}
	return ANA_READER_FAIL(
		r, "unknown subject '%.*s': kernel, gpu, process, gpus and processes are known",
		WS_STR_ARGS(word));
}

static enum ws_status set_key(struct ana_reader *r, struct ws_str key, struct ws_str value)
{
	const struct {
		const char *key;
		const char **text;
		double *number;
	} keys[] = {
		{ "means", &r->rule.means, NULL },
		{ "advice", &r->rule.advice, NULL },
		{ "basis", &r->rule.basis, NULL },
		{ "next", &r->rule.next, NULL },
		{ "records", &r->rule.records, NULL },
		{ "share", NULL, &r->rule.min_share },
		{ "dispatches", NULL, &r->rule.min_dispatches },
	};

	if (ws_str_is(key, "per"))
		return set_subject(r, value);
	if (ws_str_is(key, "require"))
		return add_need(r, value);
	if (ws_str_is(key, "gain"))
		return ana_reader_formula(r, value, &r->rule.gain);
	for (size_t i = 0; i < WS_ARRAY_LEN(keys); i++) {
		if (!ws_str_is(key, keys[i].key))
			continue;
		if (keys[i].number)
			return ws_str_f64(value, keys[i].number)
				       ? WS_OK
				       : ANA_READER_FAIL(r, "'%s' requires a number: '%.*s'",
							 keys[i].key, WS_STR_ARGS(value));
		*keys[i].text = ana_reader_kept(r, value).at;
		return *keys[i].text ? WS_OK : ANA_READER_NOMEM(r);
	}
	return ANA_READER_FAIL(r, "unknown key '%.*s' of a finding", WS_STR_ARGS(key));
}

enum ws_status ana_reader_finding_line(struct ana_reader *r, struct ws_str line)
{
	const char *eq = memchr(line.at, '=', line.n);
	const struct ana_expr *expr;
	struct ws_str key, value, word, rest;
	enum ws_status st;
	bool applies;

	if (!eq)
		return ANA_READER_FAIL(r, "not a line of a finding: '%.*s'",
				       (int)WS_MIN(line.n, (size_t)60), line.at);
	key = ws_str_trim((struct ws_str){ line.at, (size_t)(eq - line.at) });
	value = ws_str_trim((struct ws_str){ eq + 1, line.n - (size_t)(eq - line.at) - 1 });
	st = ana_reader_guard(r, &key, &applies);
	if (st || !applies)
		return st;
	rest = key;
	word = ana_reader_word(&rest);
	if (ws_str_is(word, "evidence"))
		return add_evidence(r, rest, value);
	if (!rest.n)
		return set_key(r, key, value);
	if (memchr(rest.at, ' ', rest.n))
		return ANA_READER_FAIL(r, "one name is expected: '%.*s'", WS_STR_ARGS(rest));
	if (ws_str_is(word, "metric"))
		return cite_metric(r, rest, value);
	if (!ws_str_is(word, "let"))
		return ANA_READER_FAIL(r, "unknown key '%.*s' of a finding", WS_STR_ARGS(word));
	st = ana_reader_formula(r, value, &expr);
	return st ? st
		  : ws_map_put(&r->rule_lets, ana_reader_kept(r, rest), (void *)(uintptr_t)expr,
			       r->err);
}

static enum ws_status check_complete(struct ana_reader *r)
{
	const struct {
		const char *key;
		bool there;
	} keys[] = {
		{ "require", r->needs.n != 0 },     { "evidence", r->values.n != 0 },
		{ "gain", r->rule.gain != NULL },   { "basis", r->rule.basis != NULL },
		{ "means", r->rule.means != NULL }, { "advice", r->rule.advice != NULL },
		{ "next", r->rule.next != NULL },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(keys); i++)
		if (!keys[i].there)
			return ANA_READER_FAIL(r, "finding %s has no '%s'", r->rule.id,
					       keys[i].key);
	return WS_OK;
}

enum ws_status ana_reader_end_finding(struct ana_reader *r)
{
	struct ana_rule_need *needs;
	struct ana_rule_value *values;
	enum ws_status st = WS_OK;

	if (!r->in_rule)
		return WS_OK;
	r->in_rule = false;
	r->line = r->rule_line;
	/* A metric that this architecture lacks was the only evidence: nothing can be said there. */
	if (r->values.n)
		st = check_complete(r);
	needs = ws_arena_array(arena_of(r), r->needs.n + 1, sizeof(*needs));
	values = ws_arena_array(arena_of(r), r->values.n + 1, sizeof(*values));
	if (!st && (!needs || !values))
		st = ANA_READER_NOMEM(r);
	if (!st && r->values.n) {
		memcpy(needs, r->needs.at, r->needs.n * sizeof(*needs));
		memcpy(values, r->values.at, r->values.n * sizeof(*values));
		r->rule.needs = needs;
		r->rule.n_needs = r->needs.n;
		r->rule.values = values;
		r->rule.n_values = r->values.n;
		st = ws_vec_push(&r->rules, r->rule, r->err);
	}
	ws_vec_clear(&r->needs);
	ws_vec_clear(&r->values);
	ws_map_clear(&r->rule_lets);
	return st;
}
