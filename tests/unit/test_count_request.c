#include "base/util.h"
#include "collector/count/request.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static struct col_count_room room;

static struct col_count_request example(void)
{
	static const char *const a[] = { "SQ_WAVES", "TCC_HIT[3]" }, *const b[] = { "GRBM_COUNT" };
	static const struct col_count_set sets[] = { { a, 2 }, { b, 1 }, { NULL, 0 } };
	static const struct col_count_event events[] = { { "SQ_WAVES", "SQ", 4, 1, 8, 1 },
							 { "TCC_HIT", "TCC", 17, 1, 1, 32 } };
	static const struct col_count_gpu gpus[] = {
		{ .gpu = 1, .sets = sets, .n_sets = 2, .events = events, .n_events = 2 },
		{ .gpu = COL_COUNT_EVERY_GPU, .sets = sets + 2, .n_sets = 1 }
	};
	static const struct col_count_range ranges[] = { { 1, 3 }, { 7, 7 } };

	return (struct col_count_request){ .mode = COL_COUNT_ROTATE,
					   .interval = 5,
					   .names = COL_COUNT_TRUNCATED,
					   .include = "a b|^c",
					   .exclude = "[ ]$",
					   .ranges = ranges,
					   .n_ranges = 2,
					   .gpus = gpus,
					   .n_gpus = 2 };
}

static void what_is_printed_is_read_back(void **state)
{
	struct col_count_request in = example(), out;
	char text[1024], again[1024];

	assert_true(col_count_request_print(&in, text, sizeof(text)) == strlen(text));
	assert_string_equal(text,
			    "wavescope-counting 1\n"
			    "mode rotate\ninterval 5\nper gpu\nnames truncated\ninclude a b|^c\n"
			    "exclude [ ]$\nrange 1 3\nrange 7 7\n"
			    "gpu 1\nset SQ_WAVES TCC_HIT[3]\nset GRBM_COUNT\n"
			    "event SQ_WAVES SQ 4 1 8 1\nevent TCC_HIT TCC 17 1 1 32\n"
			    "gpu *\nset\n");
	strcpy(again, text);
	assert_true(col_count_request_parse(again, &room, &out));
	assert_int_equal(out.n_gpus, 2);
	assert_int_equal(out.gpus[0].n_sets, 2);
	assert_string_equal(out.gpus[0].sets[0].names[1], "TCC_HIT[3]");
	assert_int_equal(out.gpus[1].gpu, COL_COUNT_EVERY_GPU);
	assert_int_equal(out.gpus[1].sets[0].n, 0);
	assert_int_equal(out.gpus[0].n_events, 2);
	assert_string_equal(out.gpus[0].events[1].block, "TCC");
	assert_int_equal(out.gpus[0].events[1].number, 17);
	assert_int_equal(out.gpus[0].events[1].n_instances, 32);
	assert_int_equal(out.gpus[1].n_events, 0);
	assert_string_equal(out.include, "a b|^c");
	assert_int_equal(out.ranges[1].last, 7);
	assert_true(col_count_request_print(&out, again, sizeof(again)));
	assert_string_equal(again, text);
}

static void every_room_that_is_too_small_is_refused(void **state)
{
	struct col_count_request in = example();
	char text[1024], small[1024];
	size_t n = col_count_request_print(&in, text, sizeof(text));

	for (size_t i = 0; i <= n; i++)
		assert_int_equal(col_count_request_print(&in, small, i), 0);
	assert_int_equal(col_count_request_print(&in, small, n + 2), n);
}

static void a_line_end_in_a_pattern_is_refused(void **state)
{
	struct col_count_request in = example();
	char text[1024];

	in.include = "a\nset FOO";
	assert_int_equal(col_count_request_print(&in, text, sizeof(text)), 0);
}

static void what_is_wrong_is_said(void **state)
{
	static const struct {
		const char *text, *wrong;
	} bad[] = {
		{ "", "no GPU" },
		{ "wavescope-counting 2\n", "made for another version of wavescope" },
		{ "wavescope-counting 1\n", "no GPU" },
		{ "wavescope-counting 1\nset A\n", "a set before any GPU" },
		{ "wavescope-counting 1\nmode twice\n", "unknown mode" },
		{ "wavescope-counting 1\nnames long\n", "unknown name format" },
		{ "wavescope-counting 1\ninterval x\n", "interval is not a number" },
		{ "wavescope-counting 1\nrange 3\n", "range is not two numbers" },
		{ "wavescope-counting 1\ngpu -1\n", "gpu is not a number" },
		{ "wavescope-counting 1\ngpu 99999999999999999999\n", "gpu is not a number" },
		{ "wavescope-counting 1\nlater 1\n", "unknown key" },
		{ "wavescope-counting 1\nevent A SQ 1 1 1 1\n", "an event before any GPU" },
		{ "wavescope-counting 1\ngpu 0\nevent A SQ 1 1 1\n",
		  "an event is a name, a block and four numbers" },
		{ "wavescope-counting 1\ngpu 0\nevent A SQ 1 1 0 1\n",
		  "an event without instances" },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(bad); i++) {
		struct col_count_request out;
		char text[128];

		snprintf(text, sizeof(text), "%s", bad[i].text);
		assert_false(col_count_request_parse(text, &room, &out));
		assert_string_equal(out.wrong, bad[i].wrong);
	}
}

static void more_than_there_is_room_for_is_refused(void **state)
{
	static char text[COL_COUNT_GPUS_MAX * 16 + 64];
	struct col_count_request out;
	size_t n = (size_t)sprintf(text, "wavescope-counting 1\n");

	for (unsigned i = 0; i <= COL_COUNT_GPUS_MAX; i++)
		n += (size_t)sprintf(text + n, "gpu %u\n", i);
	assert_false(col_count_request_parse(text, &room, &out));
	assert_string_equal(out.wrong, "too many GPUs");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_printed_is_read_back),
		cmocka_unit_test(every_room_that_is_too_small_is_refused),
		cmocka_unit_test(a_line_end_in_a_pattern_is_refused),
		cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(more_than_there_is_room_for_is_refused),
	};

	return RUN(tests);
}
