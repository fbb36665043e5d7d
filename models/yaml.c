#include "models/yaml.h"

#include "base/utf8.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

/* A text that every reader of YAML takes as it stands. */
static bool is_plain(const char *text)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
	static const char *const words[] = { "null", "true", "false", "yes", "no",
					     "on",   "off",  "y",     "n" };

	if (!isalpha((unsigned char)*text) || text[strspn(text, letters)])
		return false;
	for (size_t i = 0; i < WS_ARRAY_LEN(words); i++) {
		if (!strcasecmp(text, words[i]))
			return false;
	}
	return true;
}

/* The character at @text and its length; a byte that is none counts as U+FFFD. */
static uint32_t decode(const char *text, size_t n, size_t *out_length)
{
	static const unsigned char lead_mask[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	size_t length = ws_utf8_length(text, n);
	uint32_t c;

	*out_length = length ? length : 1;
	if (!length)
		return 0xfffd;
	c = (unsigned char)*text & lead_mask[length];
	for (size_t i = 1; i < length; i++)
		c = c << 6 | ((unsigned char)text[i] & 0x3f);
	return c;
}

/*
 * Whether YAML 1.1 takes a character as it is: not control characters, nor what Unicode has of
 * them (U+0085, U+2028 and U+2029 end lines), nor the byte order mark.
 */
static bool is_shown(uint32_t c)
{
	if (c < 0xa0)
		return c >= ' ' && c < 0x7f;
	return c != 0x2028 && c != 0x2029 && c != 0xfeff && (c & 0xfffe) != 0xfffe;
}

/* Several lines that can stand as they are, without escapes. */
static bool is_block(const char *text)
{
	size_t n = strlen(text), length;

	if (!memchr(text, '\n', n) || strchr("\n \t", *text))
		return false;
	/* one line end after the last line, or none */
	if (n > 1 && text[n - 1] == '\n' && text[n - 2] == '\n')
		return false;
	for (size_t i = 0; i < n; i += length) {
		uint32_t c = decode(text + i, n - i, &length);

		if (!is_shown(c) && c != '\n' && c != '\t')
			return false;
	}
	return true;
}

static void add_quoted(const char *text, struct ws_buf *out)
{
	size_t n = strlen(text), length;

	ws_buf_add(out, "\"");
	for (size_t i = 0; i < n; i += length) {
		uint32_t c = decode(text + i, n - i, &length);

		if (c == '"' || c == '\\')
			ws_buf_printf(out, "\\%c", (char)c);
		else if (c == '\n' || c == '\t')
			ws_buf_add(out, c == '\n' ? "\\n" : "\\t");
		else if (!is_shown(c))
			ws_buf_printf(out, c > 0xffff ? "\\U%08x" : "\\u%04x", c);
		else
			ws_buf_add_n(out, text + i, length);
	}
	ws_buf_add(out, "\"");
}

static void add_block(const char *text, unsigned depth, struct ws_buf *out)
{
	struct ws_str rest = ws_str_from(text), line;
	bool ends = rest.n && rest.at[rest.n - 1] == '\n';

	ws_buf_add(out, ends ? "|\n" : "|-\n");
	if (ends)
		rest.n--;
	while (ws_str_next(&rest, '\n', &line)) {
		if (line.n)
			ws_buf_add_c(out, ' ', (size_t)depth * 2);
		ws_buf_printf(out, "%.*s\n", WS_STR_ARGS(line));
	}
}

static void add_text(const char *text, unsigned depth, struct ws_buf *out)
{
	if (is_plain(text)) {
		ws_buf_printf(out, "%s\n", text);
	} else if (is_block(text)) {
		add_block(text, depth, out);
	} else {
		add_quoted(text, out);
		ws_buf_add(out, "\n");
	}
}

static void add_value(const struct ws_doc *doc, unsigned depth, bool in_list, struct ws_buf *out);

static void add_members(const struct ws_doc *doc, unsigned depth, bool first_is_placed,
			struct ws_buf *out)
{
	for (size_t i = 0; i < doc->n; i++) {
		if (i || !first_is_placed)
			ws_buf_add_c(out, ' ', (size_t)depth * 2);
		if (doc->kind == WS_DOC_LIST) {
			ws_buf_add(out, "-");
			add_value(doc->at[i], depth + 1, true, out);
			continue;
		}
		if (is_plain(doc->at[i]->key)) {
			ws_buf_add(out, doc->at[i]->key);
		} else {
			add_quoted(doc->at[i]->key, out);
		}
		ws_buf_add(out, ":");
		add_value(doc->at[i], depth + 1, false, out);
	}
}

/* What follows "key:" or "-". The first member of a map in a list stands on the line of its dash. */
static void add_value(const struct ws_doc *doc, unsigned depth, bool in_list, struct ws_buf *out)
{
	switch (doc->kind) {
	case WS_DOC_MAP:
	case WS_DOC_LIST:
		if (!doc->n) {
			ws_buf_add(out, doc->kind == WS_DOC_MAP ? " {}\n" : " []\n");
			return;
		}
		ws_buf_add(out, in_list ? " " : "\n");
		add_members(doc, depth, in_list, out);
		return;
	case WS_DOC_TEXT:
		ws_buf_add(out, " ");
		add_text(doc->text, depth, out);
		return;
	case WS_DOC_NULL:
		ws_buf_add(out, " null\n");
		return;
	case WS_DOC_BOOL:
		ws_buf_add(out, doc->on ? " true\n" : " false\n");
		return;
	case WS_DOC_INT:
		ws_buf_printf(out, " %lld\n", (long long)doc->number);
		return;
	case WS_DOC_REAL:
		ws_buf_printf(out, " %.17g\n", doc->real);
		return;
	}
}

void mdl_yaml_add(const struct ws_doc *doc, struct ws_buf *out)
{
	ws_buf_add(out, "---");
	add_value(doc, 0, false, out);
}
