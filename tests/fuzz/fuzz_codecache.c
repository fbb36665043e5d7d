/*
 * Any bytes as an entry of the code cache, and as source text: objects lie within the entry and are
 * written again as they were read; a text is kept or has a reason.
 */
#include "codecache/action.h"
#include "codecache/reach.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const headers[] = { "rtc.h" };
	const struct cc_reach reach = { .headers = headers, .n_headers = 1, .has_source = true };
	struct ws_str rest = { (const char *)data, size };
	const char *why = cc_reach_text(&reach, rest);
	struct cc_object object;
	struct ws_buf again;

	CHECK(!why || *why);
	ws_buf_init(&again, size + 1);
	while (cc_object_read(&rest, &object)) {
		CHECK(object.kind && object.name.at[object.name.n] == '\0');
		CHECK(object.bytes.at + object.bytes.n == rest.at);
		cc_object_write(&object, &again);
	}
	CHECK(!ws_buf_status(&again, NULL) && again.n == size - rest.n);
	CHECK(memcmp(again.at, data, again.n) == 0);
	ws_buf_fini(&again);
	return 0;
}
