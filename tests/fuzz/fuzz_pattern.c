/*
 * Any text as a regular expression, on names that make matching long: it is compiled, or refused with
 * a sentence, and matching ends with an answer or at its limit. The first line is the pattern, the rest
 * is one more name. replay.c feeds it when there is no libFuzzer.
 */
#include "base/pattern.h"
#include "tests/fuzz/fuzz.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void try_name(const struct ws_pattern *pattern, const char *name)
{
	struct ws_err err = { 0 };
	bool first = false, again = false;
	enum ws_status st = ws_pattern_match(pattern, name, &first, &err);

	CHECK(!st || (st == WS_E_LIMIT && err.text[0]));
	if (!st)
		CHECK(!ws_pattern_match(pattern, name, &again, &err) && first == again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 2), *name;
	struct ws_pattern *somewhere, *whole;
	struct ws_err err = { 0 };

	CHECK(text);
	memcpy(text, data, size);
	memcpy(text + size, "\0", 2);
	name = text + strcspn(text, "\n");
	if (*name)
		*name++ = '\0';
	if (ws_pattern_create(text, WS_PATTERN_SOMEWHERE, &somewhere, &err)) {
		CHECK(err.status == WS_E_USAGE && strstr(err.text, "regular expression"));
	} else {
		bool in_part = false, in_whole = false;

		try_name(somewhere, name);
		try_name(somewhere, "void reduce_lds<float>(float const*, float*, unsigned int)");
		/* What matches the whole matches somewhere. */
		CHECK(!ws_pattern_create(text, WS_PATTERN_WHOLE, &whole, &err));
		if (!ws_pattern_match(whole, name, &in_whole, NULL) && in_whole &&
		    !ws_pattern_match(somewhere, name, &in_part, NULL))
			CHECK(in_part);
		ws_pattern_destroy(whole);
		ws_pattern_destroy(somewhere);
	}
	free(text);
	return 0;
}
