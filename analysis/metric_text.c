/* Reading metric definitions; docs/metrics.md describes the language. */
#include "analysis/metric_priv.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *const ana_metric_archs[] = { "gfx908", "gfx90a", "gfx940", "gfx941",
					 "gfx942", "gfx950", NULL };

static struct ws_arena *arena_of(struct ana_reader *r)
{
	return &r->into->arena;
}

struct ws_str ana_reader_kept(struct ana_reader *r, struct ws_str text)
{
	return (struct ws_str){ ws_arena_strndup(arena_of(r), text.at, text.n), text.n };
}

struct ws_str ana_reader_word(struct ws_str *rest)
{
	struct ws_str word = { rest->at, 0 };

	while (word.n < rest->n && !isspace((unsigned char)rest->at[word.n]))
		word.n++;
	*rest = ws_str_trim((struct ws_str){ rest->at + word.n, rest->n - word.n });
	return word;
}

/* "gfx90a", "gfx94x" (any last letter), "gfx90a+" (it and those after it). */
static enum ws_status arch_matches(struct ana_reader *r, struct ws_str word, bool *out_matches)
{
	bool later = word.n && word.at[word.n - 1] == '+', known = false;
	struct ws_str base = { word.at, word.n - later };

	for (unsigned i = 0; ana_metric_archs[i]; i++) {
		struct ws_str arch = ws_str_from(ana_metric_archs[i]);
		bool any = base.n == arch.n && base.n && base.at[base.n - 1] == 'x' &&
			   memcmp(base.at, arch.at, base.n - 1) == 0;

		if (!any && !ws_str_eq(base, arch))
			continue;
		known = true;
		if (i == r->arch || (later && i < r->arch))
			*out_matches = true;
	}
	return known ? WS_OK
		     : ANA_READER_FAIL(r, "unknown architecture '%.*s' after 'when'",
				       WS_STR_ARGS(word));
}

enum ws_status ana_reader_guard(struct ana_reader *r, struct ws_str *head, bool *out_applies)
{
	static const char word[] = " when ";
	const char *at = memmem(head->at, head->n, word, sizeof(word) - 1);
	struct ws_str archs;

	*out_applies = true;
	if (!at)
		return WS_OK;
	archs = ws_str_trim((struct ws_str){ at + 6, head->n - (size_t)(at - head->at) - 6 });
	head->n = (size_t)(at - head->at);
	*head = ws_str_trim(*head);
	*out_applies = false;
	while (archs.n) {
		enum ws_status st = arch_matches(r, ana_reader_word(&archs), out_applies);

		if (st)
			return st;
	}
	return WS_OK;
}

static enum ws_status scope_name(void *of, struct ws_str word, const struct ana_expr **out_expr,
				 struct ws_err *err)
{
	struct ana_reader *r = of;
	struct ws_map_entry *let = ws_map_find(&r->rule_lets, word);
	char name[128];

	if (!let)
		let = ws_map_find(&r->lets, word);
	if (let) {
		*out_expr = let->value;
		return WS_OK;
	}
	for (size_t i = r->renames.n; i-- > 0;) {
		const struct ana_reader_rename *re = &r->renames.at[i];

		if (word.n < re->from.n || memcmp(word.at, re->from.at, re->from.n) != 0)
			continue;
		if (re->to.n + word.n - re->from.n >= sizeof(name))
			return ws_fail(err, WS_E_LIMIT, "name too long: '%.*s'", WS_STR_ARGS(word));
		memcpy(name, re->to.at, re->to.n);
		memcpy(name + re->to.n, word.at + re->from.n, word.n - re->from.n);
		*out_expr =
			ana_expr_counter(&r->into->pool,
					 (struct ws_str){ name, re->to.n + word.n - re->from.n });
		return *out_expr ? WS_OK : ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	/* Counters begin with a capital; a small letter is a 'let' that is not there. */
	if (word.n && islower((unsigned char)word.at[0]))
		return ws_fail(err, WS_E_FORMAT, "unknown name '%.*s': no 'let' defines it",
			       WS_STR_ARGS(word));
	return WS_OK;
}

enum ws_status ana_reader_formula(struct ana_reader *r, struct ws_str text,
				  const struct ana_expr **out)
{
	struct ana_expr_scope scope = { .of = r, .name = scope_name };
	enum ws_status st = ana_expr_parse(&r->into->pool, text, &scope, out, r->err);

	return st ? ws_fail_in(r->err, st, "%s:%u", r->file, r->line) : WS_OK;
}

static enum ws_status end_table(struct ana_reader *r)
{
	enum ws_status st = ana_reader_end_metric(r);

	if (st || !r->table)
		return st;
	r->table->n_metrics = r->metrics.n;
	r->table->metrics = ws_arena_array(arena_of(r), WS_MAX(r->metrics.n, (size_t)1),
					   sizeof(*r->metrics.at));
	if (!r->table->metrics)
		return ANA_READER_NOMEM(r);
	if (r->metrics.n)
		memcpy(r->table->metrics, r->metrics.at, r->metrics.n * sizeof(*r->metrics.at));
	ws_vec_clear(&r->metrics);
	r->table = NULL;
	return WS_OK;
}

enum ws_status ana_reader_end_block(struct ana_reader *r)
{
	enum ws_status st = end_table(r);

	if (st || !r->block)
		return st;
	r->block->n_tables = r->tables.n;
	r->block->tables =
		ws_arena_array(arena_of(r), WS_MAX(r->tables.n, (size_t)1), sizeof(*r->tables.at));
	if (!r->block->tables)
		return ANA_READER_NOMEM(r);
	if (r->tables.n)
		memcpy(r->block->tables, r->tables.at, r->tables.n * sizeof(*r->tables.at));
	ws_vec_clear(&r->tables);
	r->block = NULL;
	return WS_OK;
}

/* Lines */

enum ws_status ana_reader_quoted(struct ana_reader *r, struct ws_str rest, const char **out_text)
{
	if (rest.n < 2 || rest.at[0] != '"' || rest.at[rest.n - 1] != '"')
		return ANA_READER_FAIL(r, "a title in double quotes is expected: '%.*s'",
				       (int)WS_MIN(rest.n, (size_t)60), rest.at);
	*out_text = ana_reader_kept(r, (struct ws_str){ rest.at + 1, rest.n - 2 }).at;
	return *out_text ? WS_OK : ANA_READER_NOMEM(r);
}

static enum ws_status line_block(struct ana_reader *r, struct ws_str rest)
{
	enum ws_status st = ana_reader_end_block(r);
	struct ws_str id = ana_reader_word(&rest), alias = ana_reader_word(&rest);
	struct ana_block *block = ws_arena_new(arena_of(r), struct ana_block);
	uint64_t number;

	if (st)
		return st;
	if (!block)
		return ANA_READER_NOMEM(r);
	if (!ws_str_u64(id, &number) || number > 99)
		return ANA_READER_FAIL(r, "not a block number: '%.*s'", WS_STR_ARGS(id));
	ws_vec_each(b, &r->blocks)
		if ((*b)->id == number)
			return ANA_READER_FAIL(r, "block %u is defined twice", (unsigned)number);
	block->id = (unsigned)number;
	block->alias = ana_reader_kept(r, alias).at;
	st = ana_reader_quoted(r, rest, &block->title);
	if (!st)
		st = ws_vec_push(&r->blocks, block, r->err);
	r->block = block;
	return st;
}

static enum ws_status line_table(struct ana_reader *r, struct ws_str rest)
{
	enum ws_status st = end_table(r);
	struct ws_str id = ana_reader_word(&rest), part = id, block;
	struct ana_table *table = ws_arena_new(arena_of(r), struct ana_table);
	uint64_t b, t;

	if (st)
		return st;
	if (!table)
		return ANA_READER_NOMEM(r);
	if (!ws_str_next(&part, '.', &block) || !ws_str_u64(block, &b) || !ws_str_u64(part, &t) ||
	    t > 99)
		return ANA_READER_FAIL(r, "not a table number: '%.*s'", WS_STR_ARGS(id));
	if (!r->block || r->block->id != b)
		return ANA_READER_FAIL(r, "table %.*s stands outside its block", WS_STR_ARGS(id));
	table->block = (unsigned)b;
	table->index = (unsigned)t;
	table->style = "";
	table->key = "Metric";
	r->table = table;
	r->table_help = "";
	st = ana_reader_quoted(r, rest, &table->title);
	return st ? st : ws_vec_push(&r->tables, table, r->err);
}

#define SET_METRICS_MAX 64u

static enum ws_status line_set(struct ana_reader *r, struct ws_str rest)
{
	struct ws_str name = ana_reader_word(&rest);
	struct ana_set set = { .name = ana_reader_kept(r, name).at };
	enum ws_status st;

	ws_vec_each(other, &r->sets)
		if (ws_str_is(name, other->name))
			return ANA_READER_FAIL(r, "set %.*s is defined twice", WS_STR_ARGS(name));
	set.metrics = ws_arena_array(arena_of(r), SET_METRICS_MAX, sizeof(*set.metrics));
	if (!set.name || !set.metrics)
		return ANA_READER_NOMEM(r);
	st = ana_reader_quoted(r, rest, &set.title);
	return st ? st : ws_vec_push(&r->sets, set, r->err);
}

/* metric 11.2 "VALU Utilization" when gfx90a: one of the set above it. */
static enum ws_status line_set_metric(struct ana_reader *r, struct ws_str rest)
{
	struct ana_set *set = r->sets.n ? &r->sets.at[r->sets.n - 1] : NULL;
	struct ws_str id, part, block;
	struct ana_set_metric metric;
	uint64_t b, t;
	bool applies;
	enum ws_status st = ana_reader_guard(r, &rest, &applies);

	if (st)
		return st;
	id = part = ana_reader_word(&rest);
	if (!ws_str_next(&part, '.', &block) || !ws_str_u64(block, &b) || !ws_str_u64(part, &t))
		return ANA_READER_FAIL(r, "not a table number: '%.*s'", WS_STR_ARGS(id));
	if (!set || set->n_metrics == SET_METRICS_MAX)
		return ANA_READER_FAIL(r, set ? "a set has at most 64 metrics"
					      : "'metric' without a set before it");
	metric = (struct ana_set_metric){ .block = (unsigned)b, .table = (unsigned)t };
	st = ana_reader_quoted(r, rest, &metric.name);
	if (!st && applies)
		set->metrics[set->n_metrics++] = metric;
	return st;
}

static enum ws_status line_metric(struct ana_reader *r, struct ws_str line)
{
	const char *close = memrchr(line.at, ']', line.n);
	enum ws_status st = ana_reader_end_metric(r);
	struct ws_str guard;

	if (st)
		return st;
	if (!close)
		return ANA_READER_FAIL(r, "']' is missing: '%.*s'", (int)WS_MIN(line.n, (size_t)60),
				       line.at);
	if (!r->table || (!r->table->n_headers))
		return ANA_READER_FAIL(r, "a metric outside a table with columns: '%.*s'",
				       (int)WS_MIN(line.n, (size_t)60), line.at);
	r->name = (struct ws_str){ line.at + 1, (size_t)(close - line.at) - 1 };
	guard = (struct ws_str){ close + 1, line.n - (size_t)(close - line.at) - 1 };
	st = ana_reader_guard(r, &guard, &r->present);
	if (!st && ws_str_trim(guard).n)
		st = ANA_READER_FAIL(r, "only 'when ARCH...' may follow ']': '%.*s'",
				     WS_STR_ARGS(guard));
	r->in_metric = true;
	r->metric_line = r->line;
	ws_vec_clear(&r->pairs);
	return st;
}

static enum ws_status set_columns(struct ana_reader *r, struct ws_str value)
{
	static const char *const texts[] = { "Unit",      "Units", "Xfer",
					     "Coherency", "Type",  "Transaction" };
	struct ws_str part;
	size_t n = 1;

	if (r->table->n_headers)
		return ANA_READER_FAIL(r, "the columns of table %u.%u are given twice",
				       r->table->block, r->table->index);
	for (size_t i = 0; i < value.n; i++)
		n += value.at[i] == ',';
	r->table->headers = ws_arena_array(arena_of(r), n, sizeof(*r->table->headers));
	if (!r->table->headers)
		return ANA_READER_NOMEM(r);
	while (r->table->n_headers < n && ws_str_next(&value, ',', &part)) {
		struct ana_header *h = &r->table->headers[r->table->n_headers++];

		h->name = ana_reader_kept(r, ws_str_trim(part)).at;
		if (!h->name || !h->name[0])
			return ANA_READER_FAIL(r, "a column without a name");
		for (size_t i = 0; i < WS_ARRAY_LEN(texts); i++)
			if (strcmp(texts[i], h->name) == 0)
				h->kind = ANA_HEADER_TEXT;
	}
	return WS_OK;
}

static enum ws_status table_key(struct ana_reader *r, struct ws_str key, struct ws_str value)
{
	static const char *const kinds[] = { "metrics", "channels", "top_kernels", "dispatches",
					     "sysinfo", "roofline", "pc_sampling" };

	if (ws_str_is(key, "columns"))
		return set_columns(r, value);
	if (ws_str_is(key, "style")) {
		r->table->style = ana_reader_kept(r, value).at;
		return WS_OK;
	}
	if (ws_str_is(key, "help")) {
		r->table_help = ana_reader_kept(r, value).at;
		return r->table_help ? WS_OK : ANA_READER_NOMEM(r);
	}
	if (!ws_str_is(key, "kind"))
		return ANA_READER_FAIL(
			r, "unknown key '%.*s' of a table: columns, style, kind and help are known",
			WS_STR_ARGS(key));
	for (size_t i = 0; i < WS_ARRAY_LEN(kinds); i++)
		if (ws_str_is(value, kinds[i])) {
			r->table->kind = (enum ana_table_kind)i;
			if (r->table->kind == ANA_TABLE_CHANNELS)
				r->table->key = "Channel";
			return WS_OK;
		}
	return ANA_READER_FAIL(r, "unknown kind '%.*s' of a table", WS_STR_ARGS(value));
}

/* let, var and rename: @what has been taken off. */
static enum ws_status line_name(struct ana_reader *r, const char *what, struct ws_str key,
				struct ws_str value)
{
	const struct ana_expr *expr;
	enum ws_status st;
	char *name;

	if (!key.n || memchr(key.at, ' ', key.n))
		return ANA_READER_FAIL(r, "'%s' requires one name: '%.*s'", what, WS_STR_ARGS(key));
	if (strcmp(what, "rename") == 0)
		return ws_vec_push(&r->renames,
				   ((struct ana_reader_rename){ ana_reader_kept(r, key),
								ana_reader_kept(r, value) }),
				   r->err);
	st = ana_reader_formula(r, value, &expr);
	name = ws_arena_strndup(arena_of(r), key.at, key.n);
	if (st)
		return st;
	if (!name)
		return ANA_READER_NOMEM(r);
	if (strcmp(what, "let") == 0)
		return ws_map_put(&r->lets, ws_str_from(name), (void *)(uintptr_t)expr, r->err);
	ws_vec_each(v, &r->vars)
		if (strcmp(v->name, name) == 0) {
			v->expr = expr;
			return WS_OK;
		}
	return ws_vec_push(&r->vars, ((struct ana_variable){ name, expr }), r->err);
}

static enum ws_status line_pair(struct ana_reader *r, struct ws_str line)
{
	static const char *const names[] = { "let", "var", "rename" };
	const char *eq = memchr(line.at, '=', line.n);
	struct ws_str key, value, word, rest;
	enum ws_status st;
	bool applies;

	if (!eq)
		return ANA_READER_FAIL(r,
				       "neither 'key = value', [metric], table nor block: '%.*s'",
				       (int)WS_MIN(line.n, (size_t)60), line.at);
	key = ws_str_trim((struct ws_str){ line.at, (size_t)(eq - line.at) });
	value = ws_str_trim((struct ws_str){ eq + 1, line.n - (size_t)(eq - line.at) - 1 });
	st = ana_reader_guard(r, &key, &applies);
	if (st)
		return st;
	rest = key;
	word = ana_reader_word(&rest);
	for (size_t i = 0; i < WS_ARRAY_LEN(names); i++)
		if (ws_str_is(word, names[i]))
			return applies ? line_name(r, names[i], rest, value) : WS_OK;
	if (r->in_metric)
		return applies ? ws_vec_push(&r->pairs,
					     ((struct ana_reader_pair){ key, value, r->line }),
					     r->err)
			       : WS_OK;
	if (r->table)
		return applies ? table_key(r, key, value) : WS_OK;
	return ANA_READER_FAIL(r, "'%.*s' belongs to a table or metric", WS_STR_ARGS(key));
}

static enum ws_status read_line(struct ana_reader *r, struct ws_str line)
{
	struct ws_str rest = line, word = ana_reader_word(&rest);

	if (ws_str_is(word, "finding"))
		return ana_reader_finding(r, rest);
	if (r->in_rule)
		return ana_reader_finding_line(r, line);
	if (line.at[0] == '[')
		return line_metric(r, line);
	if (!memchr(line.at, '=', WS_MIN(line.n, (size_t)8))) {
		if (ws_str_is(word, "block"))
			return line_block(r, rest);
		if (ws_str_is(word, "table"))
			return line_table(r, rest);
		if (ws_str_is(word, "set"))
			return line_set(r, rest);
		if (ws_str_is(word, "metric"))
			return line_set_metric(r, rest);
	}
	return line_pair(r, line);
}

/* Logical lines: what begins with white space continues the line before. */
static enum ws_status read_text(struct ana_reader *r, const char *text)
{
	struct ws_str rest = ws_str_from(text), part;
	struct ws_buf joined;
	enum ws_status st = WS_OK;
	unsigned number = 0;
	bool more = true;

	ws_buf_init(&joined, 1 << 20);
	while (!st && more) {
		more = ws_str_next(&rest, '\n', &part);
		number++;
		if (more && part.n && isspace((unsigned char)part.at[0]) && ws_str_trim(part).n &&
		    joined.n) {
			part = ws_str_trim(part);
			ws_buf_add(&joined, " ");
			ws_buf_add_n(&joined, part.at, part.n);
			continue;
		}
		if (joined.n) {
			/* Pairs keep pointing into the line until their metric ends. */
			struct ws_str line = ana_reader_kept(r, ws_buf_view(&joined));

			st = line.at ? read_line(r, line) : ANA_READER_NOMEM(r);
			ws_buf_clear(&joined);
		}
		part = ws_str_trim(part);
		if (more && part.n && part.at[0] != '#') {
			r->line = number;
			ws_buf_add_n(&joined, part.at, part.n);
		}
	}
	if (!st)
		st = ws_buf_status(&joined, r->err);
	ws_buf_fini(&joined);
	return st;
}

static int by_id(const void *a, const void *b)
{
	const struct ana_block *const *x = a, *const *y = b;

	return (int)(*x)->id - (int)(*y)->id;
}

static enum ws_status finish(struct ana_reader *r)
{
	struct ana_metrics *into = r->into;
	enum ws_status st = ana_reader_end_block(r);

	if (st)
		return st;
	into->rules = ws_arena_array(&into->arena, r->rules.n + 1, sizeof(*into->rules));
	if (!into->rules)
		return ANA_READER_NOMEM(r);
	into->n_rules = r->rules.n;
	if (r->rules.n)
		memcpy(into->rules, r->rules.at, r->rules.n * sizeof(*into->rules));
	ws_vec_sort(&r->blocks, by_id);
	into->blocks = ws_arena_array(&into->arena, r->blocks.n + 1, sizeof(*into->blocks));
	into->vars = ws_arena_array(&into->arena, r->vars.n + 1, sizeof(*into->vars));
	into->sets = ws_arena_array(&into->arena, r->sets.n + 1, sizeof(*into->sets));
	if (!into->blocks || !into->vars || !into->sets)
		return ANA_READER_NOMEM(r);
	into->n_blocks = r->blocks.n;
	into->n_vars = r->vars.n;
	into->n_sets = r->sets.n;
	if (r->sets.n)
		memcpy(into->sets, r->sets.at, r->sets.n * sizeof(*into->sets));
	if (r->blocks.n)
		memcpy(into->blocks, r->blocks.at, r->blocks.n * sizeof(*into->blocks));
	if (r->vars.n)
		memcpy(into->vars, r->vars.at, r->vars.n * sizeof(*into->vars));
	return WS_OK;
}

/* Rules cite metrics, so they are read last. */
static enum ws_status read_files(struct ana_reader *r, const struct ana_metric_file *files,
				 bool of_rules)
{
	enum ws_status st = WS_OK;

	for (; !st && files->name; files++) {
		if (ws_str_ends(ws_str_from(files->name), ".finding") != of_rules)
			continue;
		r->file = files->name;
		r->line = 1;
		st = read_text(r, files->text);
		if (!st)
			st = ana_reader_end_finding(r);
	}
	return st;
}

static enum ws_status find_arch(const char *arch, unsigned *out_index, struct ws_err *err)
{
	for (unsigned i = 0; ana_metric_archs[i]; i++)
		if (strcmp(ana_metric_archs[i], arch) == 0) {
			*out_index = i;
			return WS_OK;
		}
	return ws_fail(
		err, WS_E_UNSUPPORTED,
		"unknown architecture '%s': gfx908, gfx90a, gfx940, gfx941, gfx942 and gfx950 "
		"are known",
		arch);
}

enum ws_status ana_metrics_parse(const char *arch, const struct ana_metric_file *files,
				 struct ana_metrics **out_metrics, struct ws_err *err)
{
	struct ana_reader r = { .err = err };
	enum ws_status st = find_arch(arch, &r.arch, err);

	if (st)
		return st;
	r.into = calloc(1, sizeof(*r.into));
	if (!r.into)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	ws_arena_init(&r.into->arena, 256u << 20);
	ana_expr_pool_init(&r.into->pool, &r.into->arena);
	r.into->arch = ana_metric_archs[r.arch];
	ws_vec_init(&r.blocks, 100);
	ws_vec_init(&r.tables, 100);
	ws_vec_init(&r.metrics, 10000);
	ws_vec_init(&r.vars, 10000);
	ws_vec_init(&r.sets, 1000);
	ws_vec_init(&r.renames, 1000);
	ws_vec_init(&r.pairs, 10000);
	ws_vec_init(&r.rules, 1000);
	ws_vec_init(&r.needs, 100);
	ws_vec_init(&r.values, 100);
	ws_map_init(&r.lets, WS_MAP_STR, 100000);
	ws_map_init(&r.rule_lets, WS_MAP_STR, 1000);
	st = read_files(&r, files, false);
	if (!st)
		st = read_files(&r, files, true);
	if (!st)
		st = finish(&r);
	ws_vec_fini(&r.blocks);
	ws_vec_fini(&r.tables);
	ws_vec_fini(&r.metrics);
	ws_vec_fini(&r.vars);
	ws_vec_fini(&r.sets);
	ws_vec_fini(&r.renames);
	ws_vec_fini(&r.pairs);
	ws_vec_fini(&r.rules);
	ws_vec_fini(&r.needs);
	ws_vec_fini(&r.values);
	ws_map_fini(&r.lets);
	ws_map_fini(&r.rule_lets);
	if (st)
		ana_metrics_free(r.into);
	else
		*out_metrics = r.into;
	return st;
}
