#include "models/pyliteral.h"

#include "base/doc_edit.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct parser {
	const char *name;
	const char *at, *end;
	unsigned line;
	unsigned depth;
	struct ws_arena *arena;
	struct ws_err *err;
	struct ws_buf text; /* of the string that is being read */
};

static struct ws_doc *parse_value(struct parser *p);

static void *refuse(struct parser *p, const char *fmt, ...)
{
	char what[160];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	ws_fail(p->err, WS_E_FORMAT, "%s:%u: %s", p->name, p->line, what);
	return NULL;
}

static void *too_large(struct parser *p)
{
	ws_fail(p->err, WS_E_LIMIT, "%s: too large, or nested too deeply", p->name);
	return NULL;
}

static int peek(const struct parser *p)
{
	return p->at < p->end ? (unsigned char)*p->at : -1;
}

static void skip_blanks(struct parser *p)
{
	for (; p->at < p->end; p->at++) {
		if (*p->at == '#')
			while (p->at < p->end && *p->at != '\n')
				p->at++;
		if (p->at == p->end || !isspace((unsigned char)*p->at))
			return;
		p->line += *p->at == '\n';
	}
}

static bool take(struct parser *p, char c)
{
	skip_blanks(p);
	if (peek(p) != c)
		return false;
	p->at++;
	return true;
}

/* ---- texts ---- */

static bool starts_text(const struct parser *p)
{
	const char *at = p->at;

	if (at < p->end && strchr("rRuU", *at))
		at++;
	return at < p->end && (*at == '\'' || *at == '"');
}

static void add_code_point(struct ws_buf *to, uint32_t code)
{
	if (code < 0x80) {
		ws_buf_add_c(to, (char)code, 1);
		return;
	}
	if (code < 0x800) {
		ws_buf_add_c(to, (char)(0xc0 | code >> 6), 1);
	} else {
		if (code < 0x10000) {
			ws_buf_add_c(to, (char)(0xe0 | code >> 12), 1);
		} else {
			ws_buf_add_c(to, (char)(0xf0 | code >> 18), 1);
			ws_buf_add_c(to, (char)(0x80 | (code >> 12 & 0x3f)), 1);
		}
		ws_buf_add_c(to, (char)(0x80 | (code >> 6 & 0x3f)), 1);
	}
	ws_buf_add_c(to, (char)(0x80 | (code & 0x3f)), 1);
}

/* After the backslash. */
static bool parse_escape(struct parser *p)
{
	static const char letters[] = "\\'\"abfnrtv", values[] = "\\'\"\a\b\f\n\r\t\v";
	int c = peek(p);
	const char *known = c > 0 ? strchr(letters, c) : NULL;
	unsigned n_digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
	uint32_t code = 0;

	if (c < 0)
		return refuse(p, "the text does not end");
	p->at++;
	if (known) {
		ws_buf_add_c(&p->text, values[known - letters], 1);
	} else if (c == '\n') {
		p->line++;
	} else if (c >= '0' && c <= '7') {
		code = (uint32_t)(c - '0');
		for (int i = 0; i < 2 && peek(p) >= '0' && peek(p) <= '7'; i++)
			code = code * 8 + (uint32_t)(*p->at++ - '0');
		add_code_point(&p->text, code);
	} else if (n_digits) {
		for (unsigned i = 0; i < n_digits; i++) {
			int digit = peek(p);

			if (!isxdigit(digit))
				return refuse(p, "an escape \\%c needs %u hexadecimal digits", c,
					      n_digits);
			code = code * 16 +
			       (uint32_t)(isdigit(digit) ? digit - '0' : tolower(digit) - 'a' + 10);
			p->at++;
		}
		if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
			return refuse(p, "an escape \\%c that is no character", c);
		add_code_point(&p->text, code);
	} else { /* Python keeps what it does not know */
		ws_buf_add_c(&p->text, '\\', 1);
		ws_buf_add_c(&p->text, (char)c, 1);
	}
	return true;
}

/* One literal, appended to p->text. */
static bool parse_text_part(struct parser *p)
{
	bool raw = false, triple;
	char quote;

	if (strchr("rRuU", *p->at))
		raw = tolower((unsigned char)*p->at++) == 'r';
	quote = *p->at++;
	triple = p->end - p->at >= 2 && p->at[0] == quote && p->at[1] == quote;
	if (triple)
		p->at += 2;
	for (;;) {
		int c = peek(p);

		if (c < 0 || (c == '\n' && !triple))
			return refuse(p, "the text does not end: %c is missing", quote);
		p->at++;
		if (c == quote && !triple)
			return true;
		if (c == quote && p->end - p->at >= 2 && p->at[0] == quote && p->at[1] == quote) {
			p->at += 2;
			return true;
		}
		p->line += c == '\n';
		if (c == '\\' && !raw) {
			if (!parse_escape(p))
				return false;
			continue;
		}
		ws_buf_add_c(&p->text, (char)c, 1);
		if (c == '\\' && p->at < p->end) /* raw: the quote after it does not end the text */
			ws_buf_add_c(&p->text, *p->at++, 1);
	}
}

static const char *parse_text(struct parser *p)
{
	char *text;

	ws_buf_clear(&p->text);
	do {
		if (!parse_text_part(p))
			return NULL;
		skip_blanks(p);
	} while (starts_text(p));
	if (ws_buf_status(&p->text, NULL))
		return too_large(p);
	if (memchr(p->text.at, '\0', p->text.n))
		return refuse(p, "a text with a zero byte in it");
	text = ws_arena_strndup(p->arena, p->text.at, p->text.n);
	return text ? text : too_large(p);
}

/* ---- words and numbers ---- */

static struct ws_doc *parse_word(struct parser *p)
{
	const char *begin = p->at;
	struct ws_buf *digits = &p->text;
	struct ws_doc *doc = NULL;
	struct ws_str word;
	int64_t number;
	double real;

	while (p->at < p->end && (isalnum((unsigned char)*p->at) || strchr("+-._", *p->at)) &&
	       *p->at)
		p->at++;
	word = (struct ws_str){ begin, (size_t)(p->at - begin) };
	if (!word.n)
		return refuse(p, "unexpected '%c'", isprint((unsigned char)*begin) ? *begin : '?');
	if (ws_str_is(word, "None"))
		return ws_doc_text(NULL, p->arena);
	if (ws_str_is(word, "True") || ws_str_is(word, "False"))
		return ws_doc_bool(*begin == 'T', p->arena);
	if (!isdigit((unsigned char)*begin) && !strchr("+-.", *begin))
		return refuse(p, "'%.*s' is not a value: texts need quotes",
			      (int)WS_MIN(word.n, (size_t)40), word.at);
	ws_buf_clear(digits);
	for (size_t i = *begin == '+'; i < word.n; i++)
		if (word.at[i] != '_')
			ws_buf_add_c(digits, word.at[i], 1);
	if (ws_str_i64(ws_buf_view(digits), &number))
		doc = ws_doc_int(number, p->arena);
	else if (ws_str_f64(ws_buf_view(digits), &real))
		doc = ws_doc_real(real, p->arena);
	else
		return refuse(p, "'%.*s' is not a number", (int)WS_MIN(word.n, (size_t)40),
			      word.at);
	return doc ? doc : too_large(p);
}

/* ---- collections ---- */

static struct ws_doc *parse_list(struct parser *p, char close)
{
	struct ws_doc *list = ws_doc_list(p->arena);

	while (list && !take(p, close)) {
		struct ws_doc *member = parse_value(p);

		if (!member)
			return NULL;
		if (!ws_doc_add(list, member, p->arena))
			return too_large(p);
		if (!take(p, ',')) {
			/* (1) is 1, not a tuple. */
			if (take(p, close))
				return close == ')' && list->n == 1 ? member : list;
			return refuse(p, "',' or '%c' is missing", close);
		}
	}
	return list ? list : too_large(p);
}

static struct ws_doc *parse_dict(struct parser *p)
{
	struct ws_doc *map = ws_doc_map(p->arena);

	while (map && !take(p, '}')) {
		const char *key;
		struct ws_doc *value;

		if (!starts_text(p))
			return refuse(p, "a key in quotes, or '}', is missing");
		key = parse_text(p);
		if (!key)
			return NULL;
		if (!take(p, ':'))
			return refuse(p, "':' is missing after the key '%.60s'", key);
		value = parse_value(p);
		if (!value)
			return NULL;
		if (!ws_doc_put(map, key, value, p->arena))
			return too_large(p);
		if (!take(p, ',')) {
			if (take(p, '}'))
				return map;
			return refuse(p, "',' or '}' is missing");
		}
	}
	return map ? map : too_large(p);
}

static struct ws_doc *parse_value(struct parser *p)
{
	struct ws_doc *doc = NULL;
	unsigned line;
	const char *text;

	skip_blanks(p);
	line = p->line;
	if (p->at == p->end)
		return refuse(p, "a value is missing at the end");
	if (++p->depth > WS_DOC_DEPTH_MAX)
		return too_large(p);
	if (starts_text(p)) {
		text = parse_text(p);
		doc = text ? ws_doc_text(text, p->arena) : NULL;
	} else if (take(p, '{')) {
		doc = parse_dict(p);
	} else if (take(p, '[')) {
		doc = parse_list(p, ']');
	} else if (take(p, '(')) {
		doc = parse_list(p, ')');
	} else {
		doc = parse_word(p);
	}
	p->depth--;
	if (doc)
		doc->line = line;
	return doc;
}

enum ws_status mdl_pyliteral_parse(const char *name, struct ws_str text, struct ws_arena *arena,
				   struct ws_doc **out_doc, struct ws_err *err)
{
	struct ws_err said = { .status = WS_OK };
	struct parser p = { .name = name,
			    .at = text.at,
			    .end = text.at + text.n,
			    .line = 1,
			    .arena = arena,
			    .err = &said };
	struct ws_doc *doc;

	ws_buf_init(&p.text, WS_DOC_BYTES_MAX);
	doc = parse_value(&p);
	skip_blanks(&p);
	if (doc && p.at < p.end)
		doc = refuse(&p, "text follows after the value");
	else if (!doc && !said.status)
		too_large(&p);
	ws_buf_fini(&p.text);
	if (!doc)
		return ws_fail(err, said.status, "%s", said.text);
	*out_doc = doc;
	return WS_OK;
}
