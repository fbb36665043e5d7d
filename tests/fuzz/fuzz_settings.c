/*
 * Any bytes as a configuration file of rocprof-sys, as text, JSON and XML: every value that is
 * accepted is one of its setting, all others are refused with a sentence that names the file.
 */
#include "base/log.h"
#include "settings/file.h"
#include "tests/fuzz/fuzz.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_values(const struct set_values *values)
{
	struct ws_err err;

	for (unsigned id = 0; id < SET_COUNT; id++) {
		static struct set_values again;

		CHECK(set_text(values, id));
		if (!set_is_given(values, id))
			continue;
		set_values_init(&again);
		CHECK(set_put(&again, id, set_text(values, id), SET_FROM_FILE, &err) == WS_OK);
		set_values_fini(&again);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "file.cfg", "file.json", "file.xml" };

	ws_log_set_level(WS_LOG_ERROR); /* old names are warnings */
	/* Files that it names are not this test's. */
	if (memmem(data, size, "onfig_", 6) || memmem(data, size, "ONFIG_", 6))
		return 0;
	for (size_t i = 0; i < WS_ARRAY_LEN(names); i++) {
		static struct set_values values;
		struct ws_err err = { 0 };

		set_values_init(&values);
		if (set_read_text(&values, names[i], (struct ws_str){ (const char *)data, size },
				  &err))
			CHECK(strncmp(err.text, names[i], strlen(names[i])) == 0 ||
			      err.status == WS_E_NOMEM || err.status == WS_E_LIMIT);
		check_values(&values);
		set_values_fini(&values);
	}
	return 0;
}
