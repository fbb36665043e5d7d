#include "workload/config.h"

#include "base/str.h"
#include "base/utf8.h"
#include "workload/outfile.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ENTRIES_MAX 4096u
#define VALUE_MAX (16u << 20)

void wl_config_init(struct wl_config *config)
{
	config->failed = WS_OK;
	ws_arena_init(&config->arena, 4 * VALUE_MAX);
	ws_map_init(&config->entries, WS_MAP_STR, ENTRIES_MAX);
}

void wl_config_fini(struct wl_config *config)
{
	ws_map_fini(&config->entries);
	ws_arena_fini(&config->arena);
}

static void put(struct wl_config *config, const char *key, const char *value, size_t n)
{
	char *own_key = ws_arena_strdup(&config->arena, key);
	char *own = ws_arena_strndup(&config->arena, value, n);

	if (!own_key || !own)
		config->failed = WS_E_NOMEM;
	else if (ws_map_put(&config->entries, ws_str_from(own_key), own, NULL))
		config->failed = WS_E_NOMEM;
}

/* Whether a plain word means this text and nothing else to every YAML reader. */
static bool is_plain(const char *text)
{
	static const char *const words[] = { "null", "true", "false", "yes", "no", "on",
					     "off",  "y",    "n",     "~",   "" };

	for (size_t i = 0; i < WS_ARRAY_LEN(words); i++)
		if (strcasecmp(text, words[i]) == 0)
			return false;
	if (strncmp(text, "---", 3) == 0 || strcmp(text, "-") == 0 || isdigit((unsigned char)*text))
		return false;
	/* Numbers may begin with a sign or a point. */
	if (strchr("-+.", *text) && (isdigit((unsigned char)text[1]) || text[1] == '.'))
		return strncmp(text, "..", 2) == 0 && text[2] == '/';
	for (const char *c = text; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("_./-+=", *c))
			return false;
	return *text != '=';
}

static void add_scalar(struct ws_buf *out, const char *text)
{
	bool controls = false;
	struct ws_buf utf8;

	/* YAML is UTF-8 alone: a file with other bytes is not read back at all. */
	if (!ws_utf8_ok(text, strlen(text))) {
		ws_buf_init(&utf8, SIZE_MAX);
		ws_buf_add_utf8(&utf8, text, strlen(text));
		add_scalar(out, utf8.at);
		ws_buf_fini(&utf8);
		return;
	}
	for (const char *c = text; *c; c++)
		controls |= (unsigned char)*c < ' ' || *c == 0x7f;
	if (is_plain(text)) {
		ws_buf_add(out, text);
	} else if (!controls) {
		ws_buf_add_c(out, '\'', 1);
		for (const char *c = text; *c; c++)
			ws_buf_add_c(out, *c, *c == '\'' ? 2 : 1);
		ws_buf_add_c(out, '\'', 1);
	} else {
		ws_buf_add_c(out, '"', 1);
		for (const char *c = text; *c; c++) {
			if ((unsigned char)*c < ' ' || *c == 0x7f)
				ws_buf_printf(out, "\\x%02x", (unsigned char)*c);
			else if (*c == '"' || *c == '\\')
				ws_buf_printf(out, "\\%c", *c);
			else
				ws_buf_add_c(out, *c, 1);
		}
		ws_buf_add_c(out, '"', 1);
	}
}

/* Puts the value, and releases the buffer. */
static void put_buf(struct wl_config *config, const char *key, struct ws_buf *value)
{
	put(config, key, value->at, value->n);
	if (value->failed)
		config->failed = value->failed;
	ws_buf_fini(value);
}

void wl_config_text(struct wl_config *config, const char *key, const char *text)
{
	struct ws_buf value;

	ws_buf_init(&value, VALUE_MAX);
	ws_buf_add_c(&value, ' ', 1);
	if (text)
		add_scalar(&value, text);
	else
		ws_buf_add(&value, "null");
	put_buf(config, key, &value);
}

void wl_config_bool(struct wl_config *config, const char *key, bool on)
{
	const char *word = on ? " true" : " false";

	put(config, key, word, strlen(word));
}

void wl_config_int(struct wl_config *config, const char *key, int64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), " %" PRId64, number);
	put(config, key, text, strlen(text));
}

void wl_config_real(struct wl_config *config, const char *key, double number)
{
	char text[48];

	snprintf(text, sizeof(text), " %.9g", number);
	put(config, key, text, strlen(text));
}

void wl_config_list(struct wl_config *config, const char *key, const char *const *texts, size_t n)
{
	struct ws_buf value;

	ws_buf_init(&value, VALUE_MAX);
	if (!n)
		ws_buf_add(&value, " []");
	for (size_t i = 0; i < n; i++) {
		ws_buf_add(&value, "\n- ");
		add_scalar(&value, texts[i]);
	}
	put_buf(config, key, &value);
}

void wl_config_set(struct wl_config *config, const char *key, const char *const *texts, size_t n,
		   const char *value)
{
	struct ws_buf out;

	ws_buf_init(&out, VALUE_MAX);
	if (!n)
		ws_buf_add(&out, " {}");
	for (size_t i = 0; i < n; i++) {
		ws_buf_add(&out, "\n  ");
		add_scalar(&out, texts[i]);
		ws_buf_add(&out, ": ");
		add_scalar(&out, value);
	}
	put_buf(config, key, &out);
}

static int by_key(const void *a, const void *b)
{
	const struct ws_map_entry *x = *(struct ws_map_entry *const *)a;
	const struct ws_map_entry *y = *(struct ws_map_entry *const *)b;

	return strcmp(x->str.at, y->str.at);
}

enum ws_status wl_config_write(const struct wl_config *config, const char *dir, const char *name,
			       struct ws_err *err)
{
	struct ws_map_entry **order;
	struct wl_outfile file;
	size_t n = 0;
	enum ws_status st;

	if (config->failed)
		return ws_fail(err, config->failed, "'%s': the settings do not fit into memory",
			       name);
	order = calloc(config->entries.n + 1, sizeof(*order));
	if (!order)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	ws_map_each(entry, &config->entries)
		order[n++] = entry;
	qsort(order, n, sizeof(*order), by_key);
	st = wl_outfile_open(&file, dir, name, err);
	if (!st) {
		for (size_t i = 0; i < n; i++)
			fprintf(file.to, "%s:%s\n", order[i]->str.at,
				(const char *)order[i]->value);
		st = wl_outfile_commit(&file, err);
	}
	free(order);
	return st;
}
