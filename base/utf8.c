#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

/* The character at @s: its length, and its number in *@out_code; 0: it is none. */
static size_t decode(const unsigned char *s, size_t n, uint32_t *out_code)
{
	uint32_t code, least;
	size_t length;

	if (n && s[0] < 0x80)
		length = 1, code = s[0], least = 0;
	else if (n && s[0] >= 0xc2 && s[0] < 0xe0)
		length = 2, code = s[0] & 0x1f, least = 0x80;
	else if (n && s[0] >= 0xe0 && s[0] < 0xf0)
		length = 3, code = s[0] & 0x0f, least = 0x800;
	else if (n && s[0] >= 0xf0 && s[0] < 0xf5)
		length = 4, code = s[0] & 0x07, least = 0x10000;
	else
		return 0;
	if (length > n)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	*out_code = code;
	return code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : length;
}

size_t ws_utf8_length(const char *at, size_t n)
{
	uint32_t code;

	return decode((const unsigned char *)at, n, &code);
}

/* How many bytes from @at on are characters, one after the other. */
static size_t good_bytes(const char *at, size_t n)
{
	size_t i = 0, length;

	while (i < n && (length = (unsigned char)at[i] < 0x80 ? 1 : ws_utf8_length(at + i, n - i)))
		i += length;
	return i;
}

bool ws_utf8_ok(const char *text, size_t n)
{
	return good_bytes(text, n) == n;
}

void ws_buf_add_utf8(struct ws_buf *out, const char *text, size_t n)
{
	while (n) {
		size_t good = good_bytes(text, n);

		ws_buf_add_n(out, text, good);
		text += good;
		n -= good;
		if (!n)
			return;
		ws_buf_add(out, "\xef\xbf\xbd");
		text++;
		n--;
	}
}

size_t ws_json_next(const char **text, size_t *n, char to[8])
{
	unsigned char c = (unsigned char)**text;
	size_t length = ws_utf8_length(*text, *n), written = length;

	if (!length) {
		memcpy(to, "\xef\xbf\xbd", written = 3);
	} else if (c == '"' || c == '\\' || c == '<' || c < 0x20) {
		memcpy(to, "\\u00", 4);
		to[4] = "0123456789abcdef"[c >> 4];
		to[5] = "0123456789abcdef"[c & 15];
		written = 6;
	} else {
		memcpy(to, *text, length);
	}
	*text += WS_MAX(length, (size_t)1);
	*n -= WS_MAX(length, (size_t)1);
	return written;
}

void ws_buf_add_json(struct ws_buf *out, const char *text, size_t n)
{
	char piece[8];

	while (n) {
		size_t written = ws_json_next(&text, &n, piece);

		ws_buf_add_n(out, piece, written);
	}
}

/*
 * Controls of ASCII and of Latin-1 (0x9b is what ESC [ is), and those that turn the direction of
 * writing: a name could be made to look like another.
 */
static bool is_shown(uint32_t code)
{
	return code >= 0x20 && code != 0x7f && !(code >= 0x80 && code < 0xa0) &&
	       !(code >= 0x202a && code <= 0x202e) && !(code >= 0x2066 && code <= 0x2069);
}

/* How many bytes from @at on can be shown. */
static size_t shown_bytes(const char *at, size_t n, const char *also)
{
	uint32_t code;
	size_t i = 0, length;

	while (i < n && (length = decode((const unsigned char *)at + i, n - i, &code)) &&
	       (is_shown(code) || (code && code < 0x80 && strchr(also, (int)code))))
		i += length;
	return i;
}

bool ws_shown_ok(const char *text, size_t n, const char *also)
{
	return shown_bytes(text, n, also) == n;
}

void ws_buf_add_shown(struct ws_buf *out, const char *text, size_t n, const char *also)
{
	while (n) {
		size_t good = shown_bytes(text, n, also);
		uint32_t code;
		size_t length;

		ws_buf_add_n(out, text, good);
		text += good;
		n -= good;
		if (!n)
			return;
		/* All bytes of the character, one by one: it can be typed again. */
		length = decode((const unsigned char *)text, n, &code);
		for (size_t i = 0; i < WS_MAX(length, (size_t)1); i++)
			ws_buf_printf(out, "\\x%02x", (unsigned char)text[i]);
		text += WS_MAX(length, (size_t)1);
		n -= WS_MAX(length, (size_t)1);
	}
}

/* What @add makes of @text, in @arena. */
static const char *copy(const char *text, struct ws_arena *arena, bool shown)
{
	size_t n = strlen(text);
	struct ws_buf out;
	char *made;

	ws_buf_init(&out, SIZE_MAX);
	if (shown)
		ws_buf_add_shown(&out, text, n, "");
	else
		ws_buf_add_utf8(&out, text, n);
	made = out.failed ? NULL : ws_arena_strndup(arena, out.at, out.n);
	ws_buf_fini(&out);
	return made;
}

const char *ws_utf8_text(const char *text, struct ws_arena *arena)
{
	return ws_utf8_ok(text, strlen(text)) ? text : copy(text, arena, false);
}

const char *ws_shown_text(const char *text, struct ws_arena *arena)
{
	return ws_shown_ok(text, strlen(text), "") ? text : copy(text, arena, true);
}
