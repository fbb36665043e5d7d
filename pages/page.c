#include "pages/page.h"

#include "base/utf8.h"
#include "base/util.h"

#include <string.h>

/* An even number of base64 groups. */
#define PIECE_BYTES 3072u

void page_put(const struct page_out *out, const char *markup)
{
	out->put(out->ctx, markup, strlen(markup));
}

/* What HTML needs instead of the character, or NULL. */
static const char *entity(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return (unsigned char)c < 0x20 || c == 0x7f ? "\xef\xbf\xbd" : NULL;
	}
}

void page_text(const struct page_out *out, const char *text)
{
	size_t n = strlen(text);

	while (n) {
		size_t length = ws_utf8_length(text, n);
		const char *instead = length ? entity(*text) : "\xef\xbf\xbd";

		length = length ? length : 1;
		if (instead)
			page_put(out, instead);
		else
			out->put(out->ctx, text, length);
		text += length;
		n -= length;
	}
}

void page_begin(const struct page_out *out, const char *title, const char *const *styles)
{
	page_put(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
	if (!out->nonce)
		page_put(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
			      "'none'; "
			      "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src "
			      "data:\">\n");
	page_put(out,
		 /* Without it a browser would ask for one. */
		 "<link rel=\"icon\" href=\"data:,\">\n<title>");
	page_text(out, title);
	page_put(out, "</title>\n<style>\n");
	for (; *styles; styles++)
		page_put(out, *styles);
	page_put(out, "</style>\n</head>\n<body>\n");
}

void page_script_begin(const struct page_out *out, const char *attributes)
{
	page_put(out, "<script");
	page_put(out, attributes);
	if (out->nonce) {
		page_put(out, " nonce=\"");
		page_put(out, out->nonce);
		page_put(out, "\"");
	}
	page_put(out, ">\n");
}

/* A block keeps the names of the scripts out of the way of what browsers define. */
void page_scripts(const struct page_out *out, const char *const *scripts)
{
	page_script_begin(out, "");
	page_put(out, "\"use strict\";\n{\n");
	for (; *scripts; scripts++)
		page_put(out, *scripts);
	page_put(out, "}\n</script>\n");
}

void page_end(const struct page_out *out)
{
	page_put(out, "</body>\n</html>\n");
}

void page_json_begin(const struct page_out *out, const char *id)
{
	page_put(out, "<script type=\"application/json\" id=\"");
	page_put(out, id);
	page_put(out, "\">");
}

void page_json_end(const struct page_out *out)
{
	page_put(out, "</script>\n");
}

static size_t encode(const unsigned char *from, size_t n, char *to)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *p = to;

	for (; n >= 3; n -= 3, from += 3) {
		*p++ = digits[from[0] >> 2];
		*p++ = digits[(from[0] & 3) << 4 | from[1] >> 4];
		*p++ = digits[(from[1] & 15) << 2 | from[2] >> 6];
		*p++ = digits[from[2] & 63];
	}
	if (n) {
		unsigned second = n == 2 ? from[1] : 0;

		*p++ = digits[from[0] >> 2];
		*p++ = digits[(from[0] & 3) << 4 | second >> 4];
		*p++ = n == 2 ? digits[(second & 15) << 2] : '=';
		*p++ = '=';
	}
	return (size_t)(p - to);
}

#define BLOCK_BEGIN "<script type=\"text/plain\" id=\""
#define BLOCK_END "</script>\n"

void page_block(const struct page_out *out, const char *id, const void *bytes, size_t n)
{
	char text[PIECE_BYTES / 3 * 4];
	const unsigned char *from = bytes;

	page_put(out, BLOCK_BEGIN);
	page_put(out, id);
	page_put(out, "\">");
	while (n) {
		size_t piece = WS_MIN(n, (size_t)PIECE_BYTES);

		out->put(out->ctx, text, encode(from, piece, text));
		from += piece;
		n -= piece;
	}
	page_put(out, BLOCK_END);
}

size_t page_block_bytes(size_t n)
{
	return (n + 2) / 3 * 4 + sizeof(BLOCK_BEGIN BLOCK_END) + 12;
}
