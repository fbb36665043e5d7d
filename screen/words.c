#include "screen/words.h"

#include "base/util.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char border[] = "│";

bool scr_first_word(struct ws_str line, char *out_word, size_t room)
{
	size_t n = 0;

	for (;;) {
		line = ws_str_trim(line);
		if (!ws_str_starts(line, border))
			break;
		line.at += strlen(border);
		line.n -= strlen(border);
	}
	while (n < line.n && line.at[n] != ' ' && n < room)
		n++;
	if (!n || n == room)
		return false;
	memcpy(out_word, line.at, n);
	out_word[n] = '\0';
	return true;
}

bool scr_kernel_number(struct ws_str line, struct ws_str *out_number)
{
	static const char before[] = "kernel ";
	struct ws_str rest = ws_str_trim(line);
	const char *at = rest.n ? memmem(rest.at, rest.n, before, strlen(before)) : NULL;
	size_t n = 0, left;

	/* A sentence may have the word, too; what is before it here is a share. */
	if (!at || (at != rest.at && !(rest.at[0] >= '0' && rest.at[0] <= '9')))
		return false;
	at += strlen(before);
	left = rest.n - (size_t)(at - rest.at);
	while (n < left && at[n] >= '0' && at[n] <= '9')
		n++;
	*out_number = (struct ws_str){ at, n };
	return n && n < left && at[n] == ':';
}

bool scr_is_counter_name(const char *word)
{
	return word[0] >= 'A' && word[0] <= 'Z' && strchr(word, '_') &&
	       strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_[]") ==
		       strlen(word);
}

struct scale {
	double of;
	const char *unit;
};

static const char *scaled(char room[SCR_TIME_BYTES], double value, const struct scale *scales,
			  size_t n)
{
	size_t i = 0;

	if (!isfinite(value)) {
		snprintf(room, SCR_TIME_BYTES, "-");
		return room;
	}
	while (i + 1 < n && value < scales[i].of)
		i++;
	value /= scales[i].of;
	snprintf(room, SCR_TIME_BYTES, "%.*f %s",
		 i + 1 == n || value >= 1000 ? 0
		 : value >= 100              ? 1
					     : 2,
		 value, scales[i].unit);
	return room;
}

const char *scr_time_text(char room[SCR_TIME_BYTES], double ns)
{
	static const struct scale scales[] = {
		{ 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" }
	};

	return scaled(room, ns, scales, WS_ARRAY_LEN(scales));
}

const char *scr_bytes_text(char room[SCR_TIME_BYTES], double n_bytes)
{
	static const struct scale scales[] = { { 0x1p40, "TiB" },
					       { 0x1p30, "GiB" },
					       { 0x1p20, "MiB" },
					       { 0x1p10, "KiB" },
					       { 1, "B" } };

	return scaled(room, n_bytes, scales, WS_ARRAY_LEN(scales));
}
