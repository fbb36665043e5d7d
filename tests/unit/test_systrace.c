/* rocprof-sys's Perfetto trace where memory runs out, and the list of its categories. */
#include "tests/unit/unit.h"

#include "output/systrace.h"
#include "tests/output/systrace_capture.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[64], capture[128], path[128];

static int make_capture(void **state)
{
	struct ws_err err = { 0 };

	strcpy(dir, "/tmp/ws-systrace-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(capture, sizeof(capture), "%s/a.wcap", dir);
	snprintf(path, sizeof(path), "%s/trace.proto", dir);
	return systrace_capture_write(capture, false, &err);
}

static int drop_capture(void **state)
{
	unlink(capture);
	unlink(path);
	return rmdir(dir);
}

static struct trc_trace *open_trace(void)
{
	const char *paths[] = { capture };
	struct trc_trace *trace = NULL;
	struct ws_err err = { 0 };

	if (trc_open(paths, 1, NULL, &trace, &err))
		fail_msg("%s", err.text);
	return trace;
}

/* Only the capture, and the trace if it was written. */
static unsigned n_files(void)
{
	DIR *folder = opendir(dir);
	unsigned n = 0;

	while (readdir(folder))
		n++;
	closedir(folder);
	return n - 2;
}

static void every_allocation_may_fail(void **state)
{
	static const enum output_systrace_fill fills[] = { OUTPUT_SYSTRACE_DISCARD,
							   OUTPUT_SYSTRACE_RING };
	struct trc_trace *trace = open_trace();

	for (size_t i = 0; i < WS_ARRAY_LEN(fills); i++) {
		struct output_systrace_opts opts = { .frames = (struct prof_frames *)dir,
						     .annotations = true,
						     .max_bytes = 8000,
						     .fill = fills[i] };
		unsigned n_failed = 0, n_done = 0;

		FOR_EACH_FAILING_ALLOCATION(n)
		{
			struct output_systrace_result result;
			struct ws_err err = { 0 };
			enum ws_status st;

			unlink(path);
			st = output_systrace_write(trace, trc_process_at(trace, 0), &opts, path,
						   &result, &err);
			assert_true(!st || err.text[0]);
			assert_true(st || result.n_bytes > 0);
			n_failed += st != WS_OK;
			n_done += st == WS_OK;
			/* whole or not at all */
			if (n_files() != (st ? 1 : 2))
				fail_msg("%u files, status %d: %s", n_files(), st, err.text);
		}
		assert_true(n_failed > 5 && n_done >= 1);
	}
	trc_close(trace);
}

static void categories_are_listed_once(void **state)
{
	size_t n = 0;

	for (; output_systrace_category(n); n++)
		for (size_t i = 0; i < n; i++)
			assert_string_not_equal(output_systrace_category(i),
						output_systrace_category(n));
	assert_string_equal(output_systrace_category(0), "host");
	assert_true(n > 50);
	assert_null(output_systrace_category(n + 100));
	/* each that a capture can have is among them */
	for (unsigned k = 0; k < CAP_METRIC_CATEGORY_COUNT + CAP_REGION_CATEGORY_COUNT; k++) {
		const char *name =
			k < CAP_METRIC_CATEGORY_COUNT
				? trc_metric_category_name(k)
				: trc_region_category_name(k - CAP_METRIC_CATEGORY_COUNT);
		size_t i = 0;

		while (i < n && strcmp(output_systrace_category(i), name) != 0)
			i++;
		if (i == n)
			fail_msg("category %s is not listed", name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(categories_are_listed_once),
	};

	return RUN_WITH(tests, make_capture, drop_capture);
}
