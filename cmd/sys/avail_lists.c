/* The three tables, and the list of keys. */
#include "cmd/sys/avail.h"

#include "base/util.h"
#include "counters/catalogue.h"
#include "launch/cpu_events.h"
#include "launch/inject.h"

#include <stdlib.h>
#include <string.h>

#define CELLS_MAX (1u << 22)

WS_VEC_TYPE(sys_cells, const char *);

bool sys_avail_shows(const struct sys_avail *avail, enum ws_tri column)
{
	return column == WS_TRI_YES || avail->args->all == WS_TRI_YES;
}

static bool is_brief(const struct sys_avail *avail)
{
	return avail->args->brief == WS_TRI_YES;
}

static const char *joined(struct ws_arena *arena, const char *const *words)
{
	const char *all = NULL;

	for (; *words; words++)
		all = all ? ws_arena_printf(arena, "%s, %s", all, *words) : *words;
	return all ? all : "";
}

bool sys_avail_in_categories(const struct sys_avail *avail, const char *kind,
			     const char *const *names)
{
	struct ws_arena scratch;
	const char *all;
	bool found = !avail->categories.n, selected;

	ws_arena_init(&scratch, 1u << 20);
	for (size_t i = 0; i < avail->categories.n && !found; i++)
		for (const char *const *at = names; *at && !found; at++) {
			const char *full = ws_arena_printf(&scratch, "%s::%s", kind, *at);

			found = full && strcmp(full, avail->categories.at[i]) == 0;
		}
	all = joined(&scratch, names);
	selected = sys_filter_selects(avail->category_filter, all ? all : "");
	ws_arena_fini(&scratch);
	return found && selected;
}

static enum ws_status no_memory(struct ws_err *err)
{
	return ws_fail(err, WS_E_NOMEM, "out of memory");
}

static int by_first_cell(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum ws_status print_table(const struct sys_avail *avail, struct sys_table *table,
				  struct sys_cells *cells, enum ws_status st, struct ws_err *err)
{
	for (size_t i = 0; i < cells->n && !st; i++)
		if (!cells->at[i])
			st = no_memory(err);
	table->cells = cells->at;
	table->n_rows = cells->n / table->n_columns;
	if (!st && avail->args->alphabetical == WS_TRI_YES && table->n_rows)
		qsort(cells->at, table->n_rows, table->n_columns * sizeof(*cells->at),
		      by_first_cell);
	if (!st)
		st = sys_table_print(avail->to, table, &avail->style, avail->filter,
				     avail->args->highlight == WS_TRI_YES, err);
	ws_vec_fini(cells);
	return st;
}

/* ---- settings ---- */

bool sys_avail_has_setting(const struct sys_avail *avail, enum set_id id)
{
	const struct set_def *def = &set_defs[id];
	bool advanced =
		sys_avail_shows(avail, avail->args->advanced) || set_is_given(avail->values, id);

	for (size_t i = 0; i < avail->categories.n; i++)
		advanced |= strcmp(avail->categories.at[i], "settings::advanced") == 0;
	if (def->advanced && !advanced)
		return false;
	if (avail->args->available == WS_TRI_YES && def->unused)
		return false;
	return sys_avail_in_categories(avail, "settings", def->categories);
}

enum ws_status sys_avail_settings(struct sys_avail *avail, struct ws_err *err)
{
	bool details = sys_avail_shows(avail, avail->args->value);
	struct sys_table table = {
		.columns = {
			{ .label = "ENVIRONMENT VARIABLE", .shown = true },
			{ .label = "VALUE", .centered = true, .shown = !is_brief(avail) },
			{ .label = "DATA TYPE", .centered = true,
			  .shown = details && !is_brief(avail) },
			{ .label = "DESCRIPTION", .wraps = true,
			  .shown = sys_avail_shows(avail, avail->args->description) },
			{ .label = "CATEGORIES",
			  .shown = avail->args->categories.n || avail->args->all == WS_TRI_YES },
		},
		.n_columns = 5,
	};
	struct sys_cells cells = { .max_n = CELLS_MAX };
	enum ws_status st = WS_OK;

	for (unsigned id = 0; id < SET_COUNT && !st; id++) {
		const char *value = set_text(avail->values, id);
		struct ws_buf expanded;

		if (!sys_avail_has_setting(avail, id))
			continue;
		ws_buf_init(&expanded, LAUNCH_PLACE_TEXT_MAX);
		if (avail->args->expand_keys == WS_TRI_YES && id != SET_TIME_FORMAT) {
			st = set_expand(avail->values, avail->place, value, &expanded, err);
			value = ws_arena_strdup(&avail->arena, expanded.at);
		}
		ws_buf_fini(&expanded);
		if (!st)
			st = ws_vec_reserve(&cells, (size_t)5, err);
		if (st)
			break;
		cells.at[cells.n++] = set_defs[id].name;
		cells.at[cells.n++] = value;
		cells.at[cells.n++] = set_type_name(set_defs[id].type);
		cells.at[cells.n++] =
			!set_defs[id].unused
				? set_defs[id].help
				: ws_arena_printf(&avail->arena, "%s No effect here: %s.",
						  set_defs[id].help, set_defs[id].unused);
		cells.at[cells.n++] = joined(&avail->arena, set_defs[id].categories);
	}
	return print_table(avail, &table, &cells, st, err);
}

/* ---- components ---- */

enum ws_status sys_avail_components(struct sys_avail *avail, struct ws_err *err)
{
	bool only = avail->args->available == WS_TRI_YES;
	struct sys_table table = {
		.columns = {
			{ .label = "COMPONENT", .at_least = 34, .code = true, .shown = true },
			{ .label = "AVAILABLE", .at_least = 16, .centered = true,
			  .shown = !is_brief(avail) && !only },
			{ .label = "VALUE_TYPE", .at_least = 24, .centered = true, .code = true,
			  .shown = sys_avail_shows(avail, avail->args->value) },
			{ .label = "STRING_IDS", .at_least = 44,
			  .shown = sys_avail_shows(avail, avail->args->string) },
			{ .label = "FILENAME", .at_least = 24,
			  .shown = sys_avail_shows(avail, avail->args->filename) },
			{ .label = "DESCRIPTION", .at_least = 44, .wraps = true,
			  .shown = sys_avail_shows(avail, avail->args->description) },
			{ .label = "CATEGORY", .at_least = 14,
			  .shown = avail->args->categories.n || avail->args->all == WS_TRI_YES },
		},
		.n_columns = 7,
		.extra = 2,
	};
	struct sys_cells cells = { .max_n = CELLS_MAX };
	enum ws_status st = WS_OK;

	for (size_t i = 0; i < sys_n_components && !st; i++) {
		const struct sys_component *c = &sys_components[i];

		if ((only && !sys_has_component(c)) ||
		    !sys_avail_in_categories(avail, "component", c->categories))
			continue;
		st = ws_vec_reserve(&cells, (size_t)7, err);
		if (st)
			break;
		cells.at[cells.n++] = c->name;
		cells.at[cells.n++] = sys_has_component(c) ? "true" : "false";
		cells.at[cells.n++] = c->value_type;
		cells.at[cells.n++] = c->name;
		cells.at[cells.n++] = c->file;
		cells.at[cells.n++] = c->help;
		cells.at[cells.n++] = joined(&avail->arena, c->categories);
	}
	return print_table(avail, &table, &cells, st, err);
}

/* ---- counters ---- */

struct counter_list {
	struct sys_avail *avail;
	struct sys_cells cells;
	bool only; /* -A */
};

static enum ws_status add_counter(struct counter_list *list, const char *name, const char *device,
				  bool available, const char *summary, const char *description,
				  struct ws_err *err)
{
	struct sys_cells *cells = &list->cells;
	enum ws_status st;

	if (list->only && !available)
		return WS_OK;
	st = ws_vec_reserve(cells, (size_t)5, err);
	if (st)
		return st;
	cells->at[cells->n++] = name;
	cells->at[cells->n++] = device;
	cells->at[cells->n++] = available ? "true" : "false";
	cells->at[cells->n++] = summary;
	cells->at[cells->n++] = description;
	return WS_OK;
}

static enum ws_status add_cpu_event(void *ctx, const struct launch_cpu_event *event,
				    struct ws_err *err)
{
	struct counter_list *list = ctx;
	struct ws_arena *arena = &list->avail->arena;
	const char *text = ws_arena_strdup(arena, event->text);

	return add_counter(list, ws_arena_strdup(arena, event->name), "CPU", event->available, text,
			   text, err);
}

static const char *dimensions(struct ws_arena *arena, const struct cnt_counter_def *def)
{
	const char *text = "";

	for (unsigned i = 0; i < def->shape.n_dims && text; i++)
		text = ws_arena_printf(arena, "%s %s[0:%u]", text,
				       cnt_dim_name(def->shape.at[i].dim),
				       def->shape.at[i].n ? def->shape.at[i].n - 1 : 0);
	return text;
}

static enum ws_status add_gpu_counters(struct counter_list *list, unsigned gpu,
				       const struct cnt_catalogue *cat, struct ws_err *err)
{
	struct ws_arena *arena = &list->avail->arena;
	enum ws_status st = WS_OK;

	for (size_t i = 0; i < cnt_catalogue_n(cat) && !st; i++) {
		const struct cnt_counter_def *def = cnt_catalogue_at(cat, i);
		bool has = !cnt_catalogue_is_soft(cat) || def->fidelity <= CNT_FIDELITY_MODELLED;
		const char *name, *summary;

		if (def->kind == CNT_COUNTER_CONSTANT)
			continue;
		name = ws_arena_printf(arena, "%s:device=%u", def->name, gpu);
		summary = def->kind == CNT_COUNTER_DERIVED
				  ? ws_arena_printf(arena, "Derived counter: %s", def->expression)
				  : ws_arena_printf(arena, "%s on device %u%s", def->name, gpu,
						    dimensions(arena, def));
		st = add_counter(list, name, "GPU", has, summary, def->text, err);
	}
	return st;
}

static enum ws_status add_gpus(struct counter_list *list, struct ws_err *err)
{
	static struct gpu_agents gpus; /* too large for the stack */
	enum ws_status st = launch_inject_gpus(&gpus, err);

	for (unsigned i = 0; i < gpus.n && !st; i++) {
		struct cnt_catalogue *cat = NULL;

		st = cnt_catalogue_create(&gpus.at[i], &cat, err);
		if (st == WS_E_NOTFOUND)
			st = WS_OK; /* nothing can be counted on it */
		else if (!st)
			st = add_gpu_counters(list, i, cat, err);
		cnt_catalogue_destroy(cat);
	}
	return st;
}

enum ws_status sys_avail_counters(struct sys_avail *avail, struct ws_err *err)
{
	static const char *const cpu[] = { "CPU", NULL }, *const gpu[] = { "GPU", NULL };
	bool whole = sys_avail_shows(avail, avail->args->description);
	struct sys_table table = {
		.columns = {
			{ .label = "HARDWARE COUNTER", .code = true, .shown = true },
			{ .label = "DEVICE", .exactly = 4 + avail->style.padding, .centered = true, .shown = true },
			{ .label = "AVAILABLE", .exactly = 6 + avail->style.padding, .centered = true,
			  .shown = !is_brief(avail) && avail->args->available != WS_TRI_YES },
			{ .label = "SUMMARY", .wraps = true, .shown = !is_brief(avail) && !whole },
			{ .label = "DESCRIPTION", .wraps = true, .shown = whole },
		},
		.n_columns = 5,
	};
	struct counter_list list = { .avail = avail,
				     .cells = { .max_n = CELLS_MAX },
				     .only = avail->args->available == WS_TRI_YES };
	enum ws_status st = WS_OK;

	if (sys_avail_in_categories(avail, "hw_counters", cpu))
		st = launch_cpu_events_each(add_cpu_event, &list, err);
	if (!st && sys_avail_in_categories(avail, "hw_counters", gpu))
		st = add_gpus(&list, err);
	return print_table(avail, &table, &list.cells, st, err);
}

/* ---- categories and keys ---- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum ws_status add_category(struct ws_arena *arena, const char *kind, const char *name,
				   struct ws_strv *out, struct ws_err *err)
{
	const char *full = ws_arena_printf(arena, "%s::%s", kind, name);

	if (!full)
		return no_memory(err);
	for (size_t i = 0; i < out->n; i++)
		if (strcmp(out->at[i], full) == 0)
			return WS_OK;
	return ws_vec_push(out, full, err);
}

enum ws_status sys_avail_categories(struct ws_arena *arena, struct ws_strv *out_names,
				    struct ws_err *err)
{
	enum ws_status st = add_category(arena, "hw_counters", "CPU", out_names, err);

	if (!st)
		st = add_category(arena, "hw_counters", "GPU", out_names, err);
	for (size_t i = 0; i < sys_n_components; i++)
		for (const char *const *at = sys_components[i].categories; *at && !st; at++)
			st = add_category(arena, "component", *at, out_names, err);
	for (unsigned id = 0; id < SET_COUNT; id++)
		for (const char *const *at = set_defs[id].categories; *at && !st; at++)
			st = add_category(arena, "settings", *at, out_names, err);
	if (!st)
		st = add_category(arena, "settings", "advanced", out_names, err);
	ws_vec_sort(out_names, by_text);
	return st;
}

enum ws_status sys_avail_keys(struct sys_avail *avail, struct ws_err *err)
{
	bool values = avail->args->expand_keys == WS_TRI_YES;
	bool markdown = avail->style.markdown;
	const char *texts[64] = { NULL };
	size_t widths[3] = { 0 }, n = 0;
	enum ws_status st = WS_OK;

	for (; set_keys[n].key && !st; n++) {
		struct ws_buf text;

		/* "%arg<N>%": of the program */
		ws_buf_init(&text, LAUNCH_PLACE_TEXT_MAX);
		st = set_expand(avail->values, avail->place, set_keys[n].key, &text, err);
		texts[n] = ws_arena_strdup(&avail->arena,
					   strcmp(text.at, set_keys[n].key) ? text.at : "");
		ws_buf_fini(&text);
		if (!st && !texts[n])
			st = no_memory(err);
		if (st)
			break;
		widths[0] = WS_MAX(widths[0], strlen(set_keys[n].key) + 2 * markdown);
		widths[1] = WS_MAX(widths[1], strlen(texts[n]));
		widths[2] = WS_MAX(widths[2], strlen(set_keys[n].help));
	}
	if (st)
		return st;
	if (markdown) {
		static const char dashes[] =
			"------------------------------------------------------------------------";

		widths[1] = WS_MIN(WS_MAX(widths[1], strlen("Value")), sizeof(dashes) - 3);
		fprintf(avail->to, "| %-*s", (int)widths[0], "String");
		if (values)
			fprintf(avail->to, " | %-*s", (int)widths[1], "Value");
		fprintf(avail->to, " | %-*s |\n", (int)widths[2], "Encoding");
		fprintf(avail->to, "|%.*s", (int)widths[0] + 2, dashes);
		if (values)
			fprintf(avail->to, "|%.*s", (int)widths[1] + 2, dashes);
		fprintf(avail->to, "|%.*s|\n", (int)widths[2] + 2, dashes);
	} else {
		fputs("Output Keys:\n", avail->to);
	}
	for (size_t i = 0; i < n; i++) {
		const char *key = set_keys[i].key;

		if (!sys_filter_selects(avail->filter, key))
			continue;
		if (markdown)
			key = ws_arena_printf(&avail->arena, "`%s`", key);
		fprintf(avail->to, markdown ? "| %-*s" : "  %-*s", (int)widths[0], key ? key : "");
		if (values)
			fprintf(avail->to, markdown ? " | %-*s" : " :: %-*s", (int)widths[1],
				texts[i]);
		if (markdown)
			fprintf(avail->to, " | %-*s |\n", (int)widths[2], set_keys[i].help);
		else
			fprintf(avail->to, " :: %s\n", set_keys[i].help);
	}
	return WS_OK;
}
