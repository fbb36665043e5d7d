/*
 * A metric is put together when the next thing begins: what it says, what the table's
 * columns make of its `expr`, and that nothing is missing or unknown.
 */
#include "analysis/metric_priv.h"

#include <ctype.h>
#include <string.h>

static const struct ana_reader_pair *find_pair(struct ana_reader *r, const char *key)
{
	const struct ana_reader_pair *found = NULL;

	ws_vec_each(p, &r->pairs)
		if (ws_str_is(p->key, key))
			found = p; /* the last that applies wins */
	return found;
}

static void header_key(const char *header, char out_key[64])
{
	size_t n = 0;

	for (const char *c = header; *c && n < 62; c++)
		if (isalnum((unsigned char)*c))
			out_key[n++] = (char)tolower((unsigned char)*c);
		else if (n && out_key[n - 1] != '_')
			out_key[n++] = '_';
	while (n && out_key[n - 1] == '_')
		n--;
	out_key[n] = '\0';
}

/* What a column makes of a metric's `expr` when the metric does not say. */
/* clang-format off */
static const struct {
	const char *header;
	enum ana_fn fn;
	const char *second; /* argument */
	bool rounded;
} folds[] = {
	{ "Avg",     ANA_FN_AVG,      NULL,   false },
	{ "Min",     ANA_FN_MIN,      NULL,   false },
	{ "Max",     ANA_FN_MAX,      NULL,   false },
	{ "Std Dev", ANA_FN_STD,      NULL,   false },
	{ "Q1",      ANA_FN_QUANTILE, "0.25", false },
	{ "Median",  ANA_FN_MEDIAN,   NULL,   false },
	{ "Q3",      ANA_FN_QUANTILE, "0.75", false },
	{ "Value",   ANA_FN_AVG,      NULL,   true },
};
/* clang-format on */

static const struct ana_expr *fold(struct ana_reader *r, const char *header,
				   const struct ana_expr *expr)
{
	struct ana_expr_pool *pool = &r->into->pool;

	for (size_t i = 0; i < WS_ARRAY_LEN(folds); i++) {
		const struct ana_expr *args[2] = { expr, NULL }, *cell;

		if (strcmp(folds[i].header, header) != 0)
			continue;
		if (expr->kind == ANA_EXPR_NONE)
			return expr;
		if (folds[i].second)
			args[1] = ana_expr_number(pool, folds[i].second);
		cell = ana_expr_call(pool, folds[i].fn, args, folds[i].second ? 2 : 1);
		if (cell && folds[i].rounded) {
			args[0] = cell;
			args[1] = ana_expr_number(pool, "0");
			cell = args[1] ? ana_expr_call(pool, ANA_FN_ROUND, args, 2) : NULL;
		}
		return cell;
	}
	return NULL;
}

static const struct ana_expr *percent_of_peak(struct ana_reader *r, const struct ana_expr *value,
					      const struct ana_expr *peak)
{
	struct ana_expr_pool *pool = &r->into->pool;
	const struct ana_expr *hundred = ana_expr_number(pool, "100");

	if (!value || !peak || !hundred)
		return NULL;
	if (peak->kind == ANA_EXPR_NONE || value->kind == ANA_EXPR_NONE)
		return ana_expr_none(pool);
	if (peak == hundred)
		return value;
	value = ana_expr_binary(pool, ANA_OP_MUL, hundred, value);
	return value ? ana_expr_binary(pool, ANA_OP_DIV, value, peak) : NULL;
}

static enum ws_status value_cell(struct ana_reader *r, struct ana_metric *m, size_t h,
				 const struct ana_expr *expr)
{
	const char *header = r->table->headers[h].name;
	int peak_at = ana_header_index(r->table, "Peak"),
	    avg_at = ana_header_index(r->table, "Avg");
	const struct ana_reader_pair *own;
	char key[64];

	header_key(header, key);
	own = find_pair(r, key);
	if (own) {
		r->line = own->line;
		return ana_reader_formula(r, own->value, &m->cells[h].expr);
	}
	if (strcmp(header, "Pct of Peak") == 0 && peak_at >= 0 && avg_at >= 0)
		m->cells[h].expr =
			percent_of_peak(r, m->cells[avg_at].expr, m->cells[peak_at].expr);
	else if (expr)
		m->cells[h].expr = fold(r, header, expr);
	if (!m->cells[h].expr)
		return ANA_READER_FAIL(
			r, "metric '%s' has no value for column '%s': a line '%s = ...' is missing",
			m->name, header, key);
	return WS_OK;
}

static enum ws_status check_keys(struct ana_reader *r)
{
	static const char *const plain[] = { "unit", "expr", "help", "level" };

	ws_vec_each(p, &r->pairs) {
		bool known = false;
		char key[64];

		for (size_t i = 0; i < WS_ARRAY_LEN(plain); i++)
			known |= ws_str_is(p->key, plain[i]);
		for (size_t h = 0; h < r->table->n_headers; h++) {
			header_key(r->table->headers[h].name, key);
			known |= ws_str_is(p->key, key);
		}
		r->line = p->line;
		if (!known)
			return ANA_READER_FAIL(r,
					       "unknown key '%.*s': table %u.%u has no such column",
					       WS_STR_ARGS(p->key), r->table->block,
					       r->table->index);
	}
	return WS_OK;
}

static const char *text_of(struct ana_reader *r, const char *key, const char *otherwise)
{
	const struct ana_reader_pair *p = find_pair(r, key);

	return p ? ana_reader_kept(r, p->value).at : otherwise;
}

enum ws_status ana_reader_end_metric(struct ana_reader *r)
{
	struct ana_metric m = { .table = r->table, .index = (unsigned)r->metrics.n };
	const struct ana_expr *expr = NULL;
	const struct ana_reader_pair *p;
	enum ws_status st;

	if (!r->in_metric)
		return WS_OK;
	r->in_metric = false;
	st = check_keys(r);
	if (st || !r->present)
		return st;
	m.name = ana_reader_kept(r, r->name).at;
	m.cells = ws_arena_array(&r->into->arena, WS_MAX(r->table->n_headers, (size_t)1),
				 sizeof(*m.cells));
	m.unit = text_of(r, "unit", "");
	m.help = text_of(r, "help", r->table_help);
	m.coll_level = text_of(r, "level", NULL);
	if (!m.name || !m.cells || !m.unit || !m.help)
		return ANA_READER_NOMEM(r);
	p = find_pair(r, "expr");
	if (p) {
		r->line = p->line;
		st = ana_reader_formula(r, p->value, &expr);
	}
	r->line = r->metric_line;
	for (size_t h = 0; !st && h < r->table->n_headers; h++) {
		const struct ana_header *header = &r->table->headers[h];
		char key[64];

		header_key(header->name, key);
		if (header->kind == ANA_HEADER_VALUE)
			st = value_cell(r, &m, h, expr);
		else if (strncmp(key, "unit", 4) == 0)
			m.cells[h].text = m.unit;
		else
			m.cells[h].text = text_of(r, key, "");
		r->line = r->metric_line;
	}
	return st ? st : ws_vec_push(&r->metrics, m, r->err);
}
