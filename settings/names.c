#include "settings/names.h"

#include "base/util.h"
#include "settings/md5.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS_MAX 8

/* clang-format off */
const struct set_key set_keys[] = {
	{ "%argv%",        "All words of the command line" },
	{ "%argt%",        "The tag, and all arguments of the command line" },
	{ "%args%",        "All arguments of the command line" },
	{ "%tag%",         "Base name of the program" },
	{ "%arg<N>%",      "Word N of the command line; 0 is the program" },
	{ "%argv_hash%",   "MD5 of %argv%" },
	{ "%argt_hash%",   "MD5 of %argt%" },
	{ "%args_hash%",   "MD5 of %args%" },
	{ "%tag_hash%",    "MD5 of %tag%" },
	{ "%arg<N>_hash%", "MD5 of %arg<N>%" },
	{ "%pid%",         "Process id" },
	{ "%ppid%",        "Process id of the parent" },
	{ "%pgid%",        "Process group id" },
	{ "%psid%",        "Session id" },
	{ "%psize%",       "Number of children of the parent" },
	{ "%job%",         "SLURM_JOB_ID, or 0" },
	{ "%rank%",        "SLURM_PROCID or the MPI rank, or 0" },
	{ "%size%",        "Number of ranks" },
	{ "%nid%",         "%rank% in a parallel job, else %pid%" },
	{ "%launch_time%", "Start time in TIME_FORMAT" },
	{ "%env{NAME}%",   "Environment variable NAME; also $env{NAME}" },
	{ "%cfg{NAME}%",   "Setting NAME; also $cfg{NAME}" },
	{ "%m",            "Short form of %argt_hash%" },
	{ "%p",            "Short form of %pid%" },
	{ "%j",            "Short form of %job%" },
	{ "%r",            "Short form of %rank%" },
	{ "%s",            "Short form of %size%" },
	{ NULL, NULL },
};
/* clang-format on */

struct expansion {
	const struct set_values *values;
	const struct launch_place *place;
};

/* ---- single keys ---- */

/* A word as part of a file name: leading '.', '_' and '/' go, other '/' become '_'. */
static void add_word(const char *word, struct ws_buf *out)
{
	for (word += strspn(word, "./_"); *word; word++)
		ws_buf_add_c(out, *word == '/' ? '_' : *word, 1);
}

static void add_tag(const struct launch_place *p, struct ws_buf *out)
{
	static const char *const endings[] = { ".py", ".exe" };
	const char *name = p->n_argv ? p->argv[0] : "";
	struct ws_str tag;

	if (strrchr(name, '/'))
		name = strrchr(name, '/') + 1;
	tag = ws_str_from(name);
	for (size_t i = 0; i < WS_ARRAY_LEN(endings); i++)
		if (tag.n > strlen(endings[i]) && ws_str_ends(tag, endings[i]))
			tag.n -= strlen(endings[i]);
	ws_buf_add_n(out, tag.at, tag.n);
}

static void add_words(const struct launch_place *p, size_t first, struct ws_buf *out)
{
	for (size_t i = first; i < p->n_argv; i++) {
		if (out->n)
			ws_buf_add_c(out, '_', 1);
		add_word(p->argv[i], out);
	}
}

/* The value of what %key% and %key_hash% have in common; false: launch_place_expand() has it. */
static bool words_of(const struct launch_place *p, struct ws_str key, struct ws_buf *out)
{
	uint64_t n;

	if (ws_str_is(key, "argv")) {
		add_words(p, 0, out);
	} else if (ws_str_is(key, "args")) {
		add_words(p, 1, out);
	} else if (ws_str_is(key, "argt")) {
		add_tag(p, out);
		add_words(p, 1, out);
	} else if (ws_str_is(key, "tag")) {
		add_tag(p, out);
	} else if (ws_str_starts(key, "arg") && key.n > 3 && isdigit((unsigned char)key.at[3]) &&
		   ws_str_u64((struct ws_str){ key.at + 3, key.n - 3 }, &n)) {
		if (n < p->n_argv)
			add_word(p->argv[n], out);
	} else {
		return false;
	}
	return true;
}

static void add_time(const struct expansion *e, struct ws_buf *out)
{
	char text[256];
	struct tm tm;

	localtime_r(&e->place->launched, &tm);
	if (strftime(text, sizeof(text), set_text(e->values, SET_TIME_FORMAT), &tm))
		ws_buf_add(out, text);
}

static void add_hash(struct ws_str text, struct ws_buf *out)
{
	char hex[33];

	set_md5(text.at, text.n, hex);
	ws_buf_add(out, hex);
}

/* %key% without its signs; false: it is none of these. */
static bool put_key(const struct expansion *e, struct ws_str key, struct ws_buf *out)
{
	bool hash = ws_str_ends(key, "_hash"), known;
	struct ws_buf words;

	if (ws_str_is(key, "launch_time")) {
		add_time(e, out);
		return true;
	}
	if (hash)
		key.n -= strlen("_hash");
	ws_buf_init(&words, LAUNCH_PLACE_TEXT_MAX);
	known = words_of(e->place, key, &words);
	if (known && hash)
		add_hash(ws_buf_view(&words), out);
	else if (known)
		ws_buf_add_n(out, words.at, words.n);
	ws_buf_fini(&words);
	return known;
}

/* ---- keys with a name in braces ---- */

static void put_variable(const struct expansion *e, const char *name, struct ws_buf *out)
{
	const char *value = e->place->env.get(e->place->env.ctx, name);

	ws_buf_add(out, value ? value : "");
}

static void put_setting(const struct expansion *e, const char *name, struct ws_buf *out)
{
	enum set_id id = set_find(ws_str_from(name));

	if (id != SET_COUNT)
		ws_buf_add(out, set_text(e->values, id));
}

static const struct {
	const char *before, *after;
	void (*put)(const struct expansion *e, const char *name, struct ws_buf *out);
} braces[] = {
	{ "%env{", "}%", put_variable },
	{ "$env{", "}", put_variable },
	{ "%cfg{", "}%", put_setting },
	{ "$cfg{", "}", put_setting },
};

/* Where the text goes on after a key at @at; NULL: there is none. */
static const char *expand_at(const struct expansion *e, const char *at, struct ws_buf *out)
{
	const char *end;

	for (size_t i = 0; i < WS_ARRAY_LEN(braces); i++) {
		size_t n_before = strlen(braces[i].before);
		const char *name = at + n_before;
		char text[256];

		if (strncmp(at, braces[i].before, n_before) != 0)
			continue;
		end = strstr(name, braces[i].after);
		if (!end || (size_t)(end - name) >= sizeof(text))
			return NULL;
		snprintf(text, sizeof(text), "%.*s", (int)(end - name), name);
		braces[i].put(e, text, out);
		return end + strlen(braces[i].after);
	}
	if (*at != '%')
		return NULL;
	end = strchr(at + 1, '%');
	if (end && put_key(e, (struct ws_str){ at + 1, (size_t)(end - at - 1) }, out))
		return end + 1;
	/* %m, but not the beginning of a longer key. */
	if (at[1] == 'm' && (!end || !isalpha((unsigned char)at[2]))) {
		put_key(e, WS_STR("argt_hash"), out);
		return at + 2;
	}
	return NULL;
}

enum ws_status set_expand(const struct set_values *values, const struct launch_place *place,
			  const char *text, struct ws_buf *out, struct ws_err *err)
{
	struct expansion e = { values, place };
	struct ws_buf now, next;
	bool changed = true;
	enum ws_status st;

	ws_buf_init(&now, LAUNCH_PLACE_TEXT_MAX);
	ws_buf_init(&next, LAUNCH_PLACE_TEXT_MAX);
	ws_buf_add(&now, text);
	/* Settings and variables may hold keys, too. */
	for (unsigned round = 0; changed && round < ROUNDS_MAX && !now.failed; round++) {
		struct ws_buf swap;

		changed = false;
		ws_buf_clear(&next);
		for (const char *at = now.at; *at;) {
			const char *after = expand_at(&e, at, &next);

			changed |= after != NULL;
			if (!after)
				ws_buf_add_c(&next, *at, 1);
			at = after ? after : at + 1;
		}
		swap = now;
		now = next;
		next = swap;
	}
	st = changed && !now.failed
		     ? ws_fail(err, WS_E_LIMIT, "'%s': the keys expand without end", text)
		     : ws_buf_status(&now, err);
	if (!st)
		st = launch_place_expand(place, now.at, out, err);
	ws_buf_fini(&now);
	ws_buf_fini(&next);
	return st;
}

/* ---- names of files ---- */

bool set_is_ranked(const struct launch_place *place)
{
	return place->rank.known && (!place->rank.size_known || place->rank.size > 1);
}

static enum ws_status make_folder(const struct set_values *values, const struct launch_place *place,
				  char out[PATH_MAX], struct ws_err *err)
{
	struct expansion e = { values, place };
	struct ws_buf path;
	enum ws_status st;

	ws_buf_init(&path, PATH_MAX - 1);
	st = set_expand(values, place, set_text(values, SET_OUTPUT_PATH), &path, err);
	while (path.n > 1 && path.at[path.n - 1] == '/')
		path.at[--path.n] = '\0';
	if (!path.n)
		ws_buf_add_c(&path, '.', 1);
	if (set_on(values, SET_TIME_OUTPUT)) {
		ws_buf_add_c(&path, '/', 1);
		add_time(&e, &path);
	}
	if (!st)
		st = ws_buf_status(&path, err);
	if (st)
		st = ws_fail_in(err, st, "%s", set_defs[SET_OUTPUT_PATH].name);
	else
		strcpy(out, path.at);
	ws_buf_fini(&path);
	return st;
}

static enum ws_status make_prefix(const struct set_values *values, const struct launch_place *place,
				  char out[256], struct ws_err *err)
{
	struct ws_buf text;
	enum ws_status st;

	ws_buf_init(&text, 255);
	st = set_expand(values, place, set_text(values, SET_OUTPUT_PREFIX), &text, err);
	if (!st && text.n && isalnum((unsigned char)text.at[text.n - 1]))
		ws_buf_add_c(&text, '-', 1);
	if (!st)
		st = ws_buf_status(&text, err);
	if (st)
		st = ws_fail_in(err, st, "%s", set_defs[SET_OUTPUT_PREFIX].name);
	else
		strcpy(out, text.at);
	ws_buf_fini(&text);
	return st;
}

enum ws_status set_names_make(const struct set_values *values, const struct launch_place *place,
			      struct set_names *out_names, struct ws_err *err)
{
	enum ws_status st = make_folder(values, place, out_names->folder, err);

	if (!st)
		st = make_prefix(values, place, out_names->prefix, err);
	out_names->suffix[0] = '\0';
	if (set_is_ranked(place))
		snprintf(out_names->suffix, sizeof(out_names->suffix), "-%" PRIu64,
			 place->rank.rank);
	else if (set_on(values, SET_USE_PID))
		snprintf(out_names->suffix, sizeof(out_names->suffix), "-%" PRIu64, place->pid);
	return st;
}

enum ws_status set_names_path(const struct set_names *names, const char *name, const char *ext,
			      char out_path[PATH_MAX], struct ws_err *err)
{
	bool alone = *name == '/';
	int n = snprintf(out_path, PATH_MAX, "%s%s%s%s%s%s%s", alone ? "" : names->folder,
			 alone ? "" : "/", alone ? "" : names->prefix, name, names->suffix,
			 *ext ? "." : "", ext);

	if (n >= PATH_MAX)
		return ws_fail(err, WS_E_LIMIT, "'%.60s...' is too long for a path", out_path);
	return WS_OK;
}
