#include "output/jsonw.h"

#include "base/utf8.h"

static void put_key(struct output_jsonw *w, const char *key)
{
	if (w->more)
		output_sink_lit(w->sink, ",");
	w->more = true;
	if (key) {
		output_sink_lit(w->sink, "\"");
		output_sink_str(w->sink, key);
		output_sink_lit(w->sink, "\":");
	}
}

void output_json_open(struct output_jsonw *w, const char *key, char bracket)
{
	put_key(w, key);
	output_sink_put(w->sink, &bracket, 1);
	w->more = false;
}

void output_json_close(struct output_jsonw *w, char bracket)
{
	output_sink_put(w->sink, &bracket, 1);
	w->more = true;
}

void output_json_u64(struct output_jsonw *w, const char *key, uint64_t v)
{
	put_key(w, key);
	output_sink_at(w->sink, output_fmt_u64(output_sink_room(w->sink, 24), v));
}

void output_json_u128(struct output_jsonw *w, const char *key, unsigned __int128 v)
{
	put_key(w, key);
	output_sink_at(w->sink, output_fmt_u128(output_sink_room(w->sink, 48), v));
}

void output_json_i64(struct output_jsonw *w, const char *key, int64_t v)
{
	put_key(w, key);
	output_sink_at(w->sink, output_fmt_i64(output_sink_room(w->sink, 24), v));
}

void output_json_f64(struct output_jsonw *w, const char *key, double v)
{
	put_key(w, key);
	output_sink_at(w->sink,
		       output_fmt_json_f64(output_sink_room(w->sink, OUTPUT_FMT_F64_MAX), v));
}

void output_json_bool(struct output_jsonw *w, const char *key, bool v)
{
	put_key(w, key);
	output_sink_str(w->sink, v ? "true" : "false");
}

void output_json_str(struct output_jsonw *w, const char *key, const char *text)
{
	put_key(w, key);
	output_json_text(w->sink, text ? text : "", text ? strlen(text) : 0);
}

void output_json_handle(struct output_jsonw *w, const char *key, uint64_t v)
{
	output_json_open(w, key, '{');
	output_json_u64(w, "handle", v);
	output_json_close(w, '}');
}

void output_json_dim3(struct output_jsonw *w, const char *key, const uint32_t v[3])
{
	output_json_open(w, key, '{');
	output_json_u64(w, "x", v[0]);
	output_json_u64(w, "y", v[1]);
	output_json_u64(w, "z", v[2]);
	output_json_close(w, '}');
}

/* 0: stands for itself; 1: \u00xx; 2: may begin a character of several bytes; else \c */
static const uint8_t classes[256] = {
	[0] = 1,     1,
	1,           1,
	1,           1,
	1,           1,
	'b',         't',
	'n',         1,
	'f',         'r',
	1,           1,
	1,           1,
	1,           1,
	1,           1,
	1,           1,
	1,           1,
	1,           1,
	1,           1,
	1,           1,
	['"'] = '"', ['\\'] = '\\',
	[0x7f] = 0,  [0x80 ... 0xff] = 2,
};

static void put_special(struct output_sink *sink, const unsigned char *at, uint8_t class)
{
	char text[8] = { '\\', (char)class };

	if (class == 1)
		snprintf(text, sizeof(text), "\\u%04x", *at);
	output_sink_put(sink, text, class == 1 ? 6 : 2);
}

void output_json_text(struct output_sink *sink, const char *text, size_t n)
{
	const unsigned char *at = (const unsigned char *)text, *end = at + n, *plain = at;

	output_sink_lit(sink, "\"");
	while (at < end) {
		uint8_t class = classes[*at];
		size_t length;

		if (!class) {
			at++;
			continue;
		}
		if (class == 2 && (length = ws_utf8_length((const char *)at, (size_t)(end - at)))) {
			at += length;
			continue;
		}
		output_sink_put(sink, plain, (size_t)(at - plain));
		if (class == 2)
			output_sink_lit(sink, "\xef\xbf\xbd");
		else
			put_special(sink, at, class);
		plain = ++at;
	}
	output_sink_put(sink, plain, (size_t)(at - plain));
	output_sink_lit(sink, "\"");
}
