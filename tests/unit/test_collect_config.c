#include "base/util.h"
#include "capture/record.h"
#include "collector/config.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static void what_is_printed_is_read_back(void **state)
{
	static struct col_collect_config in, out;
	static char text[COL_COLLECT_TEXT_MAX];

	strcpy(in.dir, "/tmp/a;b %\n=,c");
	in.services =
		COL_SERVICE_BIT(KERNEL) | COL_SERVICE_BIT(ROCJPEG) | COL_SERVICE_BIT(HIP_RUNTIME);
	in.flags = COL_COLLECT_FLAG(KERNEL_RENAME) | COL_COLLECT_FLAG(SOFTGPU);
	in.max_bytes = UINT64_MAX;
	in.log = COL_COLLECT_LOG_DEBUG;
	in.n_periods = 2;
	in.periods[0] = (struct col_collect_period){ 1, 2, 3 };
	in.periods[1] = (struct col_collect_period){ UINT64_MAX, 0, 0 };
	assert_true(col_collect_print(&in, text, sizeof(text)));
	assert_string_equal(text,
			    "1;dir=/tmp/a%3Bb %25%0A=,c;services=hip-runtime,kernel,rocjpeg"
			    ";flags=kernel-rename,softgpu;period=1:2:3,18446744073709551615:0:0"
			    ";max=18446744073709551615;log=debug");
	assert_true(col_collect_parse(text, &out));
	assert_memory_equal(&in, &out, sizeof(in));
}

static void every_room_that_is_too_small_is_refused(void **state)
{
	static struct col_collect_config in = { .dir = "/x", .services = ~0u, .n_periods = 1 };
	char text[512], small[512];

	assert_true(col_collect_print(&in, text, sizeof(text)));
	for (size_t room = 0; room <= strlen(text); room++)
		assert_false(col_collect_print(&in, small, room));
	assert_true(col_collect_print(&in, small, strlen(text) + 1));
	/* The longest there can be has room. */
	memset(in.dir, ';', sizeof(in.dir) - 1);
	in.flags = ~0u;
	in.n_periods = COL_COLLECT_PERIODS_MAX;
	for (unsigned i = 0; i < COL_COLLECT_PERIODS_MAX; i++)
		in.periods[i] = (struct col_collect_period){ UINT64_MAX, UINT64_MAX, UINT64_MAX };
	static char large[COL_COLLECT_TEXT_MAX];
	assert_true(col_collect_print(&in, large, sizeof(large)));
}

static void texts_that_are_wrong_say_why(void **state)
{
	static const struct {
		const char *text, *wrong;
	} cases[] = {
		{ NULL, "not set" },
		{ "", "made for another version of wavescope" },
		{ "2;dir=/x", "made for another version of wavescope" },
		{ "1", "dir is not an absolute path" },
		{ "1;dir=x", "dir is not an absolute path" },
		{ "1;dir=/x%", "dir is too long or badly escaped" },
		{ "1;dir=/x%4", "dir is too long or badly escaped" },
		{ "1;dir=/x%00", "dir is too long or badly escaped" },
		{ "1;dir=/x%zz", "dir is too long or badly escaped" },
		{ "1;dir=/x;period=1:2", "period is not delay:duration:repeat" },
		{ "1;dir=/x;period=1:2:3:4", "period is not delay:duration:repeat" },
		{ "1;dir=/x;period=1:x:3", "period is not delay:duration:repeat" },
		{ "1;dir=/x;period=1:2:99999999999999999999",
		  "period is not delay:duration:repeat" },
		{ "1;dir=/x;max=-1", "max is not a number" },
	};
	static struct col_collect_config out;

	for (size_t i = 0; i < WS_ARRAY_LEN(cases); i++) {
		assert_false(col_collect_parse(cases[i].text, &out));
		assert_string_equal(out.wrong, cases[i].wrong);
	}
}

static void what_is_unknown_is_skipped_and_counted(void **state)
{
	static struct col_collect_config out;

	assert_true(col_collect_parse(
		"1;colour=red;;dir=/x;services=kernel,spm,;flags=loud;log=odd", &out));
	assert_int_equal(out.n_unknown, 4);
	assert_int_equal(out.services, COL_SERVICE_BIT(KERNEL));
	assert_int_equal(out.flags, 0);
	assert_null(out.wrong);
}

static void captures_are_named_by_pid_and_number(void **state)
{
	char name[32];

	assert_int_equal(col_capture_name(4294967295u, 4294967295u, name), 26);
	assert_string_equal(name, "4294967295-4294967295.wcap");
	col_capture_name(12, 0, name);
	assert_string_equal(name, "12-0.wcap");
}

static void every_service_has_its_domain(void **state)
{
	uint32_t domains = 0;

	for (int i = 0; i < COL_SERVICE_COUNT; i++) {
		assert_true(col_service_domain(i) < CAP_DOMAIN_COUNT);
		domains |= 1u << col_service_domain(i);
	}
	/* All but the values of counters, which come with counting. */
	assert_int_equal(domains, (1u << CAP_DOMAIN_COUNT) - 1 - (1u << CAP_DOMAIN_COUNTER_VALUES));
	assert_int_equal(col_service_domain(COL_SERVICE_HSA_AMD), CAP_DOMAIN_HSA_API);
	assert_int_equal(col_service_domain(COL_SERVICE_KERNEL), CAP_DOMAIN_KERNEL_DISPATCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_service_has_its_domain),
		cmocka_unit_test(what_is_printed_is_read_back),
		cmocka_unit_test(every_room_that_is_too_small_is_refused),
		cmocka_unit_test(texts_that_are_wrong_say_why),
		cmocka_unit_test(what_is_unknown_is_skipped_and_counted),
		cmocka_unit_test(captures_are_named_by_pid_and_number),
	};

	return RUN(tests);
}
