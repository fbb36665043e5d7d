#include "settings/values.h"

#include "base/log.h"
#include "base/opt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ARENA_MAX (16u << 20)
#define EXPORTS_MAX 65536

void set_values_init(struct set_values *values)
{
	ws_arena_init(&values->arena, ARENA_MAX);
	ws_vec_init(&values->exports, EXPORTS_MAX);
	for (unsigned id = 0; id < SET_COUNT; id++)
		values->at[id] = (struct set_value){ set_defs[id].fallback, set_defs[id].fallback,
						     SET_FROM_DEFAULT };
}

void set_values_fini(struct set_values *values)
{
	ws_vec_fini(&values->exports);
	ws_arena_fini(&values->arena);
}

bool set_parse_bool(struct ws_str text, bool *out_value)
{
	enum ws_tri tri;
	char word[8];

	if (!text.n || text.n >= sizeof(word))
		return false;
	snprintf(word, sizeof(word), "%.*s", WS_STR_ARGS(text));
	if (!ws_tri_parse(word, &tri))
		return false;
	*out_value = tri == WS_TRI_YES;
	return true;
}

/* ---- checks ---- */

static const char *choice_of(const struct set_def *def, struct ws_str word)
{
	for (const char *const *at = def->choices; *at; at++)
		if (strlen(*at) == word.n && strncasecmp(*at, word.at, word.n) == 0)
			return *at;
	return NULL;
}

static const char *next_choice(const void *list, size_t i)
{
	return ((const char *const *)list)[i];
}

static enum ws_status not_a_choice(const struct set_def *def, struct ws_str word,
				   struct ws_err *err)
{
	char text[64];
	const char *near;
	struct ws_buf names;
	enum ws_status st;

	snprintf(text, sizeof(text), "%.*s", WS_STR_ARGS(word));
	near = ws_str_nearest(text, next_choice, def->choices);
	if (near)
		return ws_fail(err, WS_E_USAGE, "%s: no choice '%s': did you mean '%s'?", def->name,
			       text, near);
	ws_buf_init(&names, 160);
	for (const char *const *at = def->choices; *at; at++)
		ws_buf_printf(&names, "%s%s", at == def->choices ? "" : ", ", *at);
	st = ws_fail(err, WS_E_USAGE, "%s: no choice '%s': use one of %s", def->name, text,
		     names.at);
	ws_buf_fini(&names);
	return st;
}

/* The value as it is kept: booleans and choices as the table spells them. NULL: it is wrong. */
static const char *canonical(struct set_values *values, const struct set_def *def,
			     struct ws_str text, struct ws_err *err)
{
	struct ws_str rest = text, word;
	const char *what = NULL;
	int64_t whole;
	uint64_t size;
	double real;
	bool on;

	switch (def->type) {
	case SET_TYPE_BOOL:
		if (set_parse_bool(text, &on))
			return on ? "true" : "false";
		what = "true or false";
		break;
	case SET_TYPE_INT:
		what = ws_str_i64(text, &whole) ? NULL : "a whole number";
		break;
	case SET_TYPE_UNSIGNED:
		what = ws_str_u64(text, &size) ? NULL : "a whole number";
		break;
	case SET_TYPE_DOUBLE:
		what = ws_str_f64(text, &real) ? NULL : "a number";
		break;
	case SET_TYPE_STRING:
		if (def->choices && choice_of(def, text))
			return choice_of(def, text);
		if (def->choices && not_a_choice(def, text, err))
			return NULL;
		break;
	case SET_TYPE_LIST:
		while (def->choices && set_next_word(&rest, false, &word))
			if (!choice_of(def, word) && not_a_choice(def, word, err))
				return NULL;
		break;
	}
	if (what) {
		ws_fail(err, WS_E_USAGE, "%s: '%.*s' is not %s", def->name, WS_STR_ARGS(text),
			what);
		return NULL;
	}
	what = ws_arena_strndup(&values->arena, text.at, text.n);
	if (!what)
		ws_fail(err, WS_E_NOMEM, "out of memory");
	return what;
}

/* ---- setting ---- */

enum ws_status set_put(struct set_values *values, enum set_id id, const char *text,
		       enum set_origin origin, struct ws_err *err)
{
	const struct set_def *def = &set_defs[id];
	struct ws_str view = ws_str_trim(ws_str_from(text));
	const char *kept;

	/* Nothing is no number: it stays what it was. A text may well be empty. */
	if (!view.n && def->type != SET_TYPE_STRING && def->type != SET_TYPE_LIST)
		return WS_OK;
	kept = canonical(values, def, view, err);
	if (!kept)
		return err->status;
	if (origin >= values->at[id].origin) {
		values->at[id].text = kept;
		values->at[id].origin = origin;
	}
	return WS_OK;
}

enum ws_status set_put_named(struct set_values *values, const char *name, const char *text,
			     enum set_origin origin, struct ws_err *err)
{
	enum set_id id = set_find(ws_str_from(name)), now;

	if (id == SET_COUNT)
		return ws_fail(err, WS_E_NOTFOUND, "Unknown setting '%s' (value = '%s')%s%s%s",
			       name, text, set_nearest(name) ? ": did you mean '" : "",
			       set_nearest(name) ? set_nearest(name) : "",
			       set_nearest(name) ? "'?" : "");
	now = set_defs[id].renamed;
	if (now == SET_COUNT)
		return set_put(values, id, text, origin, err);
	ws_log_warn("%s is now called %s: use the new name", set_defs[id].name, set_defs[now].name);
	/* Who uses both means the new one. */
	if (values->at[now].origin >= origin)
		return WS_OK;
	return set_put(values, now, text, origin, err);
}

static enum ws_status put_variable(struct set_values *values, const char *name, const char *text,
				   struct ws_err *err)
{
	enum ws_status st = set_put_named(values, name, text, SET_FROM_ENVIRONMENT, err);

	if (st != WS_E_NOTFOUND)
		return st;
	if (!set_is_environment_only(name))
		ws_log_warn("the variable %s is not a setting%s%s%s", name,
			    set_nearest(name) ? ": did you mean " : "",
			    set_nearest(name) ? set_nearest(name) : "",
			    set_nearest(name) ? "?" : ": rocprof-sys-avail lists them");
	return WS_OK;
}

enum ws_status set_from_environment(struct set_values *values, char *const *env, struct ws_err *err)
{
	const char *suppress = getenv(set_defs[SET_SUPPRESS_PARSING].name);
	bool off = false;
	/* Current names first: an old one does not replace them. */
	enum ws_status st = WS_OK;

	if (suppress && set_parse_bool(ws_str_from(suppress), &off) && off)
		return set_put(values, SET_SUPPRESS_PARSING, "true", SET_FROM_ENVIRONMENT, err);
	for (int old = 0; old < 2; old++)
		for (char *const *at = env; *at && !st; at++) {
			const char *equals = strchr(*at, '=');
			enum set_id id;
			char name[128];

			if (strncmp(*at, SET_PREFIX, strlen(SET_PREFIX)) != 0 || !equals ||
			    (size_t)(equals - *at) >= sizeof(name))
				continue;
			snprintf(name, sizeof(name), "%.*s", (int)(equals - *at), *at);
			id = set_find(ws_str_from(name));
			if (old != (id != SET_COUNT && set_defs[id].renamed != SET_COUNT))
				continue;
			st = put_variable(values, name, equals + 1, err);
		}
	return st;
}

/* ---- reading ---- */

bool set_is_given(const struct set_values *values, enum set_id id)
{
	return values->at[id].origin != SET_FROM_DEFAULT;
}

const char *set_text(const struct set_values *values, enum set_id id)
{
	return values->at[id].text;
}

bool set_on(const struct set_values *values, enum set_id id)
{
	return strcmp(values->at[id].text, "true") == 0;
}

int64_t set_int(const struct set_values *values, enum set_id id)
{
	int64_t value = 0;

	ws_str_i64(ws_str_from(values->at[id].text), &value);
	return value;
}

double set_real(const struct set_values *values, enum set_id id)
{
	double value = 0;

	ws_str_f64(ws_str_from(values->at[id].text), &value);
	return value;
}

bool set_has(const struct set_values *values, enum set_id id, const char *word)
{
	struct ws_str rest = ws_str_from(values->at[id].text), one;

	while (set_next_word(&rest, false, &one))
		if (strlen(word) == one.n && strncasecmp(word, one.at, one.n) == 0)
			return true;
	return false;
}

/* ---- what has no effect ---- */

static bool is_idle(const struct set_values *values, unsigned id)
{
	return set_defs[id].unused && set_is_given(values, id) &&
	       strcmp(values->at[id].text, values->at[id].usual) != 0;
}

void set_warn_unused(const struct set_values *values)
{
	for (unsigned id = 0; id < SET_COUNT; id++) {
		const char *why = set_defs[id].unused;
		bool first = is_idle(values, id);
		struct ws_buf names;

		/* One line per reason: by the first setting that has it. */
		for (unsigned k = 0; k < id && first; k++)
			first = !is_idle(values, k) || strcmp(set_defs[k].unused, why) != 0;
		if (!first)
			continue;
		ws_buf_init(&names, 1024);
		for (unsigned k = id; k < SET_COUNT; k++)
			if (is_idle(values, k) && strcmp(set_defs[k].unused, why) == 0)
				ws_buf_printf(&names, "%s%s", names.n ? ", " : "",
					      set_defs[k].name);
		ws_log_warn("%s: no effect: %s", names.at, why);
		ws_buf_fini(&names);
	}
}
