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
	in.periods[0] = (struct col_collect_period){ 1, 2, 3, 1 };
	in.periods[1] = (struct col_collect_period){ UINT64_MAX, 0, 0, 0 };
	in.monitor = (struct col_collect_monitor){
		.period_ns = 10,
		.duration_ns = 20,
		.delay_ns = 30,
		.what = COL_MONITOR_BIT(PROCESS) | COL_MONITOR_BIT(GPU_MEMORY),
		.cpus = { .bits = { 0xf1, 1, [15] = 1ull << 63 } },
		.gpus = { .all = 1 },
	};
	assert_true(col_collect_print(&in, text, sizeof(text)));
	assert_string_equal(text,
			    "1;dir=/tmp/a%3Bb %25%0A=,c;services=hip-runtime,kernel,rocjpeg"
			    ";flags=kernel-rename,softgpu;period=1:2:3:cpu,18446744073709551615:0:0"
			    ";max=18446744073709551615"
			    ";monitor=10:20:30;monitor-what=process,mem_usage"
			    ";monitor-cpus=0,4-7,64,1023;monitor-gpus=all;log=debug");
	assert_true(col_collect_parse(text, &out));
	assert_memory_equal(&in, &out, sizeof(in));
}

static void samplers_are_printed_and_read_back(void **state)
{
	static struct col_collect_config in = { .dir = "/x" }, out;
	static char text[COL_COLLECT_TEXT_MAX];

	in.samplers[CAP_SAMPLER_CPU_TIME] =
		(struct col_sampler_config){ .period = 3333333, .delay_ns = 500000000 };
	in.samplers[CAP_SAMPLER_OVERFLOW] =
		(struct col_sampler_config){ .period = 1000,
					     .duration_ns = 7,
					     .signal = 35,
					     .n_ranges = 3,
					     .ranges = { { 0, 0 }, { 2, 5 }, { 9, UINT32_MAX } } };
	in.overflow_event = (struct col_cpu_event){ .config = UINT64_MAX, .type = 4 };
	strcpy(in.overflow_event.name, "perf::CACHE;REFERENCES");
	in.n_cpu_events = 2;
	in.cpu_events[0] = (struct col_cpu_event){ .type = 1, .name = "task-clock" };
	in.cpu_events[1] = (struct col_cpu_event){ .config = 2, .name = "perf::FAULTS" };
	in.stack_depth = 128;
	in.n_ops_filters = 2;
	in.ops_filters[0] = (struct col_ops_filter){ .kind = CAP_KIND_HSA_CORE_API,
						     .regex = "^hsa_queue;create" };
	in.ops_filters[1] =
		(struct col_ops_filter){ .kind = 21, .exclude = true, .regex = "a:b|c" };
	assert_true(col_collect_print(&in, text, sizeof(text)));
	assert_string_equal(text, "1;dir=/x;cputime=3333333:500000000:0:0:"
				  ";overflow=1000:0:7:35:0+2-5+9-4294967295"
				  ";overflow-event=4:18446744073709551615:perf::CACHE%3BREFERENCES"
				  ";cpu-event=1:0:task-clock;cpu-event=0:2:perf::FAULTS"
				  ";stack-depth=128;only=1:^hsa_queue%3Bcreate;except=21:a:b|c");
	assert_true(col_collect_parse(text, &out));
	assert_memory_equal(&in, &out, sizeof(in));
}

static void lists_of_threads_are_read_as_users_write_them(void **state)
{
	struct col_sampler_config sampler = { 0 };

	assert_true(col_threads_parse(" 0,2-5; 7+8", &sampler));
	assert_int_equal(sampler.n_ranges, 4);
	assert_int_equal(sampler.ranges[1].first, 2);
	assert_int_equal(sampler.ranges[1].last, 5);
	assert_int_equal(sampler.ranges[3].first, 8);
	assert_true(col_threads_parse("", &sampler));
	assert_int_equal(sampler.n_ranges, 0);
	assert_false(col_threads_parse("5-2", &sampler));
	assert_false(col_threads_parse("1-", &sampler));
	assert_false(col_threads_parse("-1", &sampler));
	assert_false(col_threads_parse("1-2-3", &sampler));
	assert_false(col_threads_parse("all", &sampler));
	assert_false(col_threads_parse("4294967296", &sampler));
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
	for (unsigned i = 0; i < CAP_SAMPLER_COUNT; i++) {
		struct col_sampler_config *sampler = &in.samplers[i];

		sampler->period = sampler->delay_ns = sampler->duration_ns = UINT64_MAX;
		sampler->signal = UINT32_MAX;
		sampler->n_ranges = COL_SAMPLER_RANGES_MAX;
		for (unsigned k = 0; k < COL_SAMPLER_RANGES_MAX; k++)
			sampler->ranges[k] =
				(struct col_thread_range){ UINT32_MAX - 1, UINT32_MAX };
	}
	in.overflow_event = (struct col_cpu_event){ UINT64_MAX, UINT32_MAX, "" };
	memset(in.overflow_event.name, ';', sizeof(in.overflow_event.name) - 1);
	in.n_cpu_events = COL_CPU_EVENTS_MAX;
	for (unsigned i = 0; i < COL_CPU_EVENTS_MAX; i++)
		in.cpu_events[i] = in.overflow_event;
	in.n_ops_filters = COL_OPS_FILTERS_MAX;
	for (unsigned i = 0; i < COL_OPS_FILTERS_MAX; i++) {
		in.ops_filters[i] = (struct col_ops_filter){ .kind = 30, .exclude = true };
		memset(in.ops_filters[i].regex, '%', COL_OPS_REGEX_MAX);
	}
	in.stack_depth = UINT32_MAX;
	for (unsigned i = 0; i < COL_COLLECT_PERIODS_MAX; i++)
		in.periods[i] =
			(struct col_collect_period){ UINT64_MAX, UINT64_MAX, UINT64_MAX, 1 };
	in.monitor = (struct col_collect_monitor){ .period_ns = UINT64_MAX,
						   .duration_ns = UINT64_MAX,
						   .delay_ns = UINT64_MAX,
						   .what = ~0u };
	memset(in.monitor.cpus.bits, 0x55, sizeof(in.monitor.cpus.bits));
	memset(in.monitor.gpus.bits, 0x55, sizeof(in.monitor.gpus.bits));
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
		{ "1;dir=/x;period=1:2", "period is not delay:duration:repeat[:cpu]" },
		{ "1;dir=/x;period=1:2:3:4", "period is not delay:duration:repeat[:cpu]" },
		{ "1;dir=/x;period=1:x:3", "period is not delay:duration:repeat[:cpu]" },
		{ "1;dir=/x;period=1:2:99999999999999999999",
		  "period is not delay:duration:repeat[:cpu]" },
		{ "1;dir=/x;max=-1", "max is not a number" },
		{ "1;dir=/x;cputime=1:2:3:4",
		  "a sampler is not period:delay:duration:signal:threads" },
		{ "1;dir=/x;realtime=1:2:3:4:5-4",
		  "a sampler is not period:delay:duration:signal:threads" },
		{ "1;dir=/x;overflow=x:2:3:4:",
		  "a sampler is not period:delay:duration:signal:threads" },
		{ "1;dir=/x;overflow-event=0:1", "overflow-event is not type:config:name" },
		{ "1;dir=/x;overflow-event=0:1:", "overflow-event is not type:config:name" },
		{ "1;dir=/x;only=9999:hip",
		  "an expression for operations is not kind:regex, or too long" },
		{ "1;dir=/x;except=1",
		  "an expression for operations is not kind:regex, or too long" },
		{ "1;dir=/x;cpu-event=0:x:name",
		  "cpu-event is not type:config:name, or there are too many" },
		{ "1;dir=/x;stack-depth=", "stack-depth is not a number" },
		{ "1;dir=/x;monitor=1:2", "monitor is not period:duration:delay" },
		{ "1;dir=/x;monitor=1:2:3:4", "monitor is not period:duration:delay" },
		{ "1;dir=/x;monitor-cpus=", "monitor-cpus is not a list of numbers" },
		{ "1;dir=/x;monitor-cpus=3-1", "monitor-cpus is not a list of numbers" },
		{ "1;dir=/x;monitor-cpus=1-2-3", "monitor-cpus is not a list of numbers" },
		{ "1;dir=/x;monitor-cpus=1,", "monitor-cpus is not a list of numbers" },
		{ "1;dir=/x;monitor-gpus=1024", "monitor-gpus is not a list of numbers" },
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
		cmocka_unit_test(samplers_are_printed_and_read_back),
		cmocka_unit_test(lists_of_threads_are_read_as_users_write_them),
		cmocka_unit_test(every_room_that_is_too_small_is_refused),
		cmocka_unit_test(texts_that_are_wrong_say_why),
		cmocka_unit_test(what_is_unknown_is_skipped_and_counted),
		cmocka_unit_test(captures_are_named_by_pid_and_number),
	};

	return RUN(tests);
}
