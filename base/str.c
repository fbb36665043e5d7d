#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct ws_str ws_str_from(const char *text)
{
	return (struct ws_str){ text ? text : "", text ? strlen(text) : 0 };
}

bool ws_str_eq(struct ws_str a, struct ws_str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.at, b.at, a.n) == 0);
}

bool ws_str_is(struct ws_str s, const char *text)
{
	return ws_str_eq(s, ws_str_from(text));
}

bool ws_str_starts(struct ws_str s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s.n >= n && memcmp(s.at, prefix, n) == 0;
}

bool ws_str_ends(struct ws_str s, const char *suffix)
{
	size_t n = strlen(suffix);

	return s.n >= n && memcmp(s.at + s.n - n, suffix, n) == 0;
}

struct ws_str ws_str_trim(struct ws_str s)
{
	while (s.n && isspace((unsigned char)s.at[0])) {
		s.at++;
		s.n--;
	}
	while (s.n && isspace((unsigned char)s.at[s.n - 1]))
		s.n--;
	return s;
}

bool ws_str_next(struct ws_str *rest, char sep, struct ws_str *out_part)
{
	const char *end;

	if (!rest->at)
		return false;
	*out_part = *rest;
	end = rest->n ? memchr(rest->at, sep, rest->n) : NULL;
	if (!end) {
		*rest = (struct ws_str){ NULL, 0 };
		return true;
	}
	out_part->n = (size_t)(end - rest->at);
	rest->n -= out_part->n + 1;
	rest->at = end + 1;
	return true;
}

struct ws_str ws_str_last_line(struct ws_str text)
{
	struct ws_str rest = ws_str_trim(text), line = rest;

	while (ws_str_next(&rest, '\n', &line))
		;
	return line;
}

/* strtoull() and friends want a terminator, and no number is longer than this. */
static bool copy_number(struct ws_str s, char out_text[64])
{
	if (s.n == 0 || s.n >= 64 || isspace((unsigned char)s.at[0]))
		return false;
	memcpy(out_text, s.at, s.n);
	out_text[s.n] = '\0';
	return true;
}

/* Decimal or 0x hexadecimal; a leading zero does not mean octal to anybody who types it. */
static int number_base(const char *digits)
{
	return digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') ? 16 : 10;
}

bool ws_str_u64(struct ws_str s, uint64_t *out_value)
{
	char text[64], *end;
	unsigned long long value;

	if (!copy_number(s, text) || !isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	value = strtoull(text, &end, number_base(text));
	if (errno || end != text + s.n)
		return false;
	*out_value = value;
	return true;
}

bool ws_str_i64(struct ws_str s, int64_t *out_value)
{
	char text[64], *end, *digits = text;
	long long value;

	if (!copy_number(s, text))
		return false;
	if (*digits == '-' || *digits == '+')
		digits++;
	if (!isdigit((unsigned char)*digits))
		return false;
	errno = 0;
	value = strtoll(text, &end, number_base(digits));
	if (errno || end != text + s.n)
		return false;
	*out_value = value;
	return true;
}

bool ws_str_f64(struct ws_str s, double *out_value)
{
	char text[64], *end;
	double value;

	if (!copy_number(s, text))
		return false;
	errno = 0;
	value = strtod(text, &end);
	if (errno || end != text + s.n)
		return false;
	*out_value = value;
	return true;
}

bool ws_str_bool(struct ws_str s, bool *out_value)
{
	static const struct {
		const char *text;
		bool value;
	} words[] = {
		{ "1", true },  { "yes", true }, { "true", true },   { "on", true },
		{ "0", false }, { "no", false }, { "false", false }, { "off", false },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(words); i++)
		if (s.n == strlen(words[i].text) && !strncasecmp(s.at, words[i].text, s.n)) {
			*out_value = words[i].value;
			return true;
		}
	return false;
}

/* Longer words than this are compared by their beginnings; no option is this long. */
#define DISTANCE_MAX 63

const char *ws_str_shell(const char *text, char *to, size_t room)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_@%+=:,./-";
	size_t n = 0;

	if (*text && text[strspn(text, plain)] == 0)
		return text;
	if (room < WS_STR_SHELL_ROOM(strlen(text)))
		return text;
	to[n++] = '\'';
	for (; *text; text++) {
		if (*text == '\'') { /* the quotes end, it is escaped, and they begin again */
			memcpy(to + n, "'\\'", 3);
			n += 3;
		}
		to[n++] = *text;
	}
	to[n++] = '\'';
	to[n] = 0;
	return to;
}

unsigned ws_str_distance(const char *a, const char *b)
{
	size_t na = strnlen(a, DISTANCE_MAX), nb = strnlen(b, DISTANCE_MAX);
	/* Three rows: the current one, the one above, and the one above that for swaps. */
	unsigned char rows[3][DISTANCE_MAX + 1];

	for (size_t j = 0; j <= nb; j++)
		rows[0][j] = (unsigned char)j;
	for (size_t i = 1; i <= na; i++) {
		unsigned char *row = rows[i % 3], *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];

		row[0] = (unsigned char)i;
		for (size_t j = 1; j <= nb; j++) {
			unsigned best = up[j - 1] + (a[i - 1] != b[j - 1]);

			best = WS_MIN(best, up[j] + 1u);
			best = WS_MIN(best, row[j - 1] + 1u);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = WS_MIN(best, up2[j - 2] + 1u);
			row[j] = (unsigned char)best;
		}
	}
	return rows[na % 3][nb];
}

const char *ws_str_nearest(const char *word, const char *(*next)(const void *list, size_t i),
			   const void *list)
{
	const char *candidate, *nearest = NULL;
	size_t n = strlen(word);
	/* One slip in a short word, more in a long one; beyond that a guess only misleads. */
	unsigned best = (unsigned)WS_MIN(n / 3 + 1, (size_t)4) + 1;

	for (size_t i = 0; (candidate = next(list, i)); i++) {
		unsigned d = ws_str_distance(word, candidate);

		/* Typing only the beginning of a name is the commonest slip of all. */
		if (n >= 3 && strncasecmp(word, candidate, n) == 0)
			d = WS_MIN(d, 1u);
		if (d < best && d < WS_MAX(n, strlen(candidate))) {
			best = d;
			nearest = candidate;
		}
	}
	return nearest;
}

/* `at` is never NULL, so that an empty buffer can be printed; nothing is written to it. */
static char empty[1] = "";

void ws_buf_init(struct ws_buf *buf, size_t max_n)
{
	*buf = (struct ws_buf){ .at = empty, .max_n = max_n };
}

void ws_buf_fini(struct ws_buf *buf)
{
	if (!buf)
		return;
	if (buf->cap)
		free(buf->at);
	ws_buf_init(buf, buf->max_n);
}

void ws_buf_clear(struct ws_buf *buf)
{
	buf->n = 0;
	buf->failed = WS_OK;
	if (buf->cap)
		buf->at[0] = '\0';
}

char *ws_buf_room(struct ws_buf *buf, size_t n)
{
	size_t cap;
	char *moved;

	if (buf->failed)
		return NULL;
	if (n > buf->max_n || buf->n > buf->max_n - n) {
		buf->failed = WS_E_LIMIT;
		return NULL;
	}
	if (buf->cap > buf->n + n)
		return buf->at + buf->n;
	cap = WS_MAX(WS_MAX(buf->cap + buf->cap / 2, buf->n + n + 1), (size_t)64);
	moved = realloc(buf->cap ? buf->at : NULL, cap);
	if (!moved) {
		buf->failed = WS_E_NOMEM;
		return NULL;
	}
	buf->at = moved;
	buf->cap = cap;
	buf->at[buf->n] = '\0';
	return buf->at + buf->n;
}

void ws_buf_add_n(struct ws_buf *buf, const void *bytes, size_t n)
{
	char *to = ws_buf_room(buf, n);

	if (!to)
		return;
	if (n)
		memcpy(to, bytes, n);
	to[n] = '\0';
	buf->n += n;
}

void ws_buf_add(struct ws_buf *buf, const char *text)
{
	ws_buf_add_n(buf, text, strlen(text));
}

void ws_buf_add_c(struct ws_buf *buf, char c, size_t times)
{
	char *to = ws_buf_room(buf, times);

	if (!to)
		return;
	memset(to, c, times);
	to[times] = '\0';
	buf->n += times;
}

void ws_buf_vprintf(struct ws_buf *buf, const char *fmt, va_list args)
{
	va_list again;
	char *to;
	int n;

	va_copy(again, args);
	n = vsnprintf(NULL, 0, fmt, args);
	to = n < 0 ? NULL : ws_buf_room(buf, (size_t)n);
	if (n < 0 && !buf->failed)
		buf->failed = WS_E_FORMAT;
	if (to) {
		vsnprintf(to, (size_t)n + 1, fmt, again);
		buf->n += (size_t)n;
	}
	va_end(again);
}

void ws_buf_printf(struct ws_buf *buf, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	ws_buf_vprintf(buf, fmt, args);
	va_end(args);
}

enum ws_status ws_buf_status(const struct ws_buf *buf, struct ws_err *err)
{
	if (buf->failed == WS_E_LIMIT)
		return ws_fail(err, WS_E_LIMIT, "text longer than %zu bytes", buf->max_n);
	if (buf->failed)
		return ws_fail(err, buf->failed, "%s", ws_status_text(buf->failed));
	return WS_OK;
}

struct ws_str ws_buf_view(const struct ws_buf *buf)
{
	return (struct ws_str){ buf->at, buf->n };
}
