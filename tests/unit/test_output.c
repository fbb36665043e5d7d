/* Numbers as text, statistics, and what happens when memory or the place runs out. */
#include "tests/unit/unit.h"

#include "output/jsonw.h"
#include "output/output_priv.h"
#include "tests/output/synth.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t random_state = 88172645463325252ull;

static uint64_t any_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void expect_u64(uint64_t v)
{
	char ours[32], theirs[32];

	*output_fmt_u64(ours, v) = '\0';
	snprintf(theirs, sizeof(theirs), "%llu", (unsigned long long)v);
	assert_string_equal(ours, theirs);
}

static void whole_numbers_are_as_printf_has_them(void **state)
{
	uint64_t power = 1;

	for (int i = 0; i < 20; i++, power *= 10) {
		expect_u64(power - 1);
		expect_u64(power);
		expect_u64(power + 1);
	}
	expect_u64(UINT64_MAX);
	for (int i = 0; i < 200000; i++)
		expect_u64(any_u64() >> i % 64);
}

static void wide_numbers_keep_their_zeros(void **state)
{
	char text[64];

	*output_fmt_u128(text, (unsigned __int128)10000000000000000000ull * 1000000) = '\0';
	assert_string_equal(text, "10000000000000000000000000");
	*output_fmt_u128(text, ~(unsigned __int128)0) = '\0';
	assert_string_equal(text, "340282366920938463463374607431768211455");
	*output_fmt_i64(text, INT64_MIN) = '\0';
	assert_string_equal(text, "-9223372036854775808");
	*output_fmt_hex16(text, 0x7f00deadull) = '\0';
	assert_string_equal(text, "0x000000007f00dead");
}

static void shortest_reads_back_and_is_short(void **state)
{
	static const struct {
		double v;
		const char *text;
	} rows[] = {
		{ 1.5, "1.5" },     { 0.000123, "0.000123" },
		{ 1e-6, "1e-06" },  { 0, "0" },
		{ 1e16, "1e+16" },  { 123456789, "123456789" },
		{ -0.25, "-0.25" }, { 0.1 + 0.2, "0.30000000000000004" },
	};
	char text[OUTPUT_FMT_F64_MAX];

	for (size_t i = 0; i < WS_ARRAY_LEN(rows); i++) {
		*output_fmt_shortest(text, rows[i].v) = '\0';
		assert_string_equal(text, rows[i].text);
	}
	for (int i = 0; i < 50000; i++) {
		uint64_t bits = any_u64();
		double v;

		memcpy(&v, &bits, sizeof(v));
		if (!isfinite(v))
			continue;
		*output_fmt_shortest(text, v) = '\0';
		assert_true(strtod(text, NULL) == v);
	}
}

static void cells_have_the_forms_of_the_specification(void **state)
{
	static const struct {
		char *(*fmt)(char *p, double v);
		double v;
		const char *text;
	} rows[] = {
		{ output_fmt_counter, 16384, "16384.000000" },
		{ output_fmt_counter, 0, "0.00000000e+00" },
		{ output_fmt_counter, 0.5, "5.00000000e-01" },
		{ output_fmt_counter, -2, "-2.00000000e+00" },
		{ output_fmt_stat, 0, "0.00000000e+00" },
		{ output_fmt_stat, 0.5, "0.500000" },
		{ output_fmt_stat, 0.01, "1.00000000e-02" },
		{ output_fmt_percent, 80, "80.00" },
		{ output_fmt_percent, 0.5, "0.5000" },
		{ output_fmt_percent, 0.001, "1.000e-03" },
		{ output_fmt_json_f64, 3, "3.0" },
		{ output_fmt_json_f64, 1e300, "1e+300" },
		{ output_fmt_json_f64, INFINITY, "null" },
	};
	char text[OUTPUT_FMT_F64_MAX];

	for (size_t i = 0; i < WS_ARRAY_LEN(rows); i++) {
		*rows[i].fmt(text, rows[i].v) = '\0';
		assert_string_equal(text, rows[i].text);
	}
}

static void json_text_is_escaped_and_always_utf8(void **state)
{
	struct output_sink sink;
	static const char in[] = "a\"b\\c\nd\x01\xc3\xa9\xff\xe2\x82\xed\xa0\x80";

	assert_int_equal(output_sink_open_memory(&sink, NULL), WS_OK);
	output_json_text(&sink, in, sizeof(in) - 1);
	output_sink_put(&sink, "", 1);
	assert_string_equal(sink.buf, "\"a\\\"b\\\\c\\nd\\u0001\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd"
				      "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	output_sink_abandon(&sink);
}

static void deviation_survives_large_totals(void **state)
{
	struct output_stat stat = { 0 };

	/* an hour each, with a spread of a microsecond: 64-bit sums lose all of it */
	for (int i = 0; i < 1000; i++)
		output_stat_add(&stat, 3600000000000ull + (i % 2 ? 1000 : 0));
	assert_float_equal((float)sqrt(output_stat_variance(&stat)), 500.25f, 0.01f);
	assert_true(output_stat_mean(&stat) == 3600000000500.0);
}

static void names_beyond_the_limit_share_one_entry(void **state)
{
	struct output_stats *stats = malloc(sizeof(*stats));
	char name[32];

	output_stats_init(stats);
	for (unsigned i = 0; i < OUTPUT_NAMES_MAX + 5; i++) {
		snprintf(name, sizeof(name), "iteration %u", i);
		assert_int_equal(output_stats_add(stats, CAP_DOMAIN_MARKER_API, name, false, 1,
						  NULL),
				 WS_OK);
	}
	assert_int_equal(stats->n_unnamed, 5);
	assert_string_equal(stats->domains[CAP_DOMAIN_MARKER_API].other->name, OUTPUT_OTHER_NAMES);
	output_stats_fini(stats);
	free(stats);
}

/* ---- whole runs ---- */

static char dir[64], capture[96], prefix[96];

static int make_capture(void **state)
{
	struct ws_synth synth = { .pid = 4711, .n_threads = 1, .n_rounds = 3 };

	strcpy(dir, "/tmp/ws-output-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(capture, sizeof(capture), "%s/a.wscap", dir);
	snprintf(prefix, sizeof(prefix), "%s/out/x", dir);
	return ws_synth_write(capture, &synth, NULL, NULL);
}

static int drop_capture(void **state)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

/* The capture of setup(), to be written with the defaults. */
static struct trc_trace *open_capture(struct output_config *out_cfg)
{
	const char *path = capture;
	struct trc_trace *trace;
	struct ws_err err;

	assert_int_equal(trc_open(&path, 1, &(struct trc_opts){ 0 }, &trace, &err), WS_OK);
	output_config_init(out_cfg);
	return trace;
}

static void every_allocation_may_fail(void **state)
{
	/* SQLite and libotf2 have allocators of their own to fail in: ours are meant here */
	static const enum output_format formats[] = { OUTPUT_CSV, OUTPUT_JSON, OUTPUT_PFTRACE,
						      OUTPUT_ROCPD };
	struct output_config cfg;
	struct trc_trace *trace;
	struct ws_err err = { 0 };

	trace = open_capture(&cfg);
	cfg.prefix = prefix;
	cfg.stats = true;
	for (size_t i = 0; i < WS_ARRAY_LEN(formats); i++) {
		cfg.formats = 1u << formats[i];
		FOR_EACH_FAILING_ALLOCATION(n)
		{
			struct output_result result;
			enum ws_status st;

			memset(&err, 0, sizeof(err));
			st = output_write(trace, NULL, 0, &cfg, &result, &err);
			/* it may do without (a name's cache, the list of files); it may not lie */
			if (st)
				assert_true(err.text[0]);
			output_result_fini(&result);
		}
	}
	trc_close(trace);
}

static void nothing_is_left_of_a_file_that_failed(void **state)
{
	struct output_result result;
	struct output_config cfg;
	struct trc_trace *trace;
	struct ws_err err = { 0 };
	struct dirent *entry;
	DIR *d;

	trace = open_capture(&cfg);
	cfg.prefix = "/proc/nowhere/x";
	cfg.formats = OUTPUT_BIT(CSV) | OUTPUT_BIT(JSON) | OUTPUT_BIT(ROCPD);
	assert_int_not_equal(output_write(trace, NULL, 0, &cfg, &result, &err), WS_OK);
	assert_non_null(strstr(err.text, "/proc/nowhere"));
	assert_true(result.n_files >= 3);
	for (size_t i = 0; i < result.n_files; i++)
		assert_true(result.files[i].err.status);
	for (int i = 0; i < CAP_DOMAIN_COUNT; i++)
		assert_int_equal(result.n_written[OUTPUT_JSON][i], 0);
	output_result_fini(&result);
	trc_close(trace);
	d = opendir(dir);
	while (d && (entry = readdir(d)))
		assert_null(strstr(entry->d_name, "partial"));
	closedir(d);
}

static void counts_in_the_result_are_what_the_trace_holds(void **state)
{
	struct output_result result;
	struct output_config cfg;
	struct trc_trace *trace;
	struct ws_err err = { 0 };

	trace = open_capture(&cfg);
	cfg.prefix = prefix;
	cfg.formats = OUTPUT_BIT(CSV) | OUTPUT_BIT(JSON) | OUTPUT_BIT(PFTRACE) | OUTPUT_BIT(ROCPD);
	assert_int_equal(output_write(trace, NULL, 0, &cfg, &result, &err), WS_OK);
	assert_true(result.n_events[CAP_DOMAIN_KERNEL_DISPATCH] > 0);
	for (int d = 0; d < CAP_DOMAIN_COUNT; d++) {
		assert_int_equal(result.n_written[OUTPUT_CSV][d], result.n_events[d]);
		assert_int_equal(result.n_written[OUTPUT_JSON][d], result.n_events[d]);
	}
	assert_int_equal(result.n_written[OUTPUT_ROCPD][CAP_DOMAIN_HIP_API],
			 result.n_events[CAP_DOMAIN_HIP_API]);
	assert_int_equal(result.n_written[OUTPUT_PFTRACE][CAP_DOMAIN_MEMORY_COPY],
			 result.n_events[CAP_DOMAIN_MEMORY_COPY]);
	output_result_fini(&result);
	trc_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_numbers_are_as_printf_has_them),
		cmocka_unit_test(wide_numbers_keep_their_zeros),
		cmocka_unit_test(shortest_reads_back_and_is_short),
		cmocka_unit_test(cells_have_the_forms_of_the_specification),
		cmocka_unit_test(json_text_is_escaped_and_always_utf8),
		cmocka_unit_test(deviation_survives_large_totals),
		cmocka_unit_test(names_beyond_the_limit_share_one_entry),
		cmocka_unit_test(every_allocation_may_fail),
		cmocka_unit_test(nothing_is_left_of_a_file_that_failed),
		cmocka_unit_test(counts_in_the_result_are_what_the_trace_holds),
	};

	return RUN_WITH(tests, make_capture, drop_capture);
}
