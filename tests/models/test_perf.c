#include "base/doc_edit.h"
#include "base/file.h"
#include "models/perf.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct ws_arena arena;
static struct ws_err err;
static char dir[PATH_MAX];

static int setup(void **state)
{
	ws_arena_init(&arena, 8 << 20);
	return ws_dir_temp("perf", dir, &err);
}

static int teardown(void **state)
{
	char command[2 * PATH_MAX];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	assert_int_equal(system(command), 0);
	ws_arena_fini(&arena);
	return 0;
}

/* "number metric" */
static const char *found(const char *log)
{
	struct mdl_performance performance;

	if (!mdl_performance_find(ws_str_from(log), &arena, &performance))
		return "none";
	return ws_arena_printf(&arena, "%s %s", performance.number, performance.metric);
}

static void performance_lines(void **state)
{
	assert_string_equal(found("performance: 12.5 samples_per_second\n"),
			    "12.5 samples_per_second");
	assert_string_equal(found("x\nINFO performance:   -1.5e-3 , latency rest"),
			    "-1.5e-3 latency");
	assert_string_equal(found("performance: 3/s tokens,"), "3 tokens");
	assert_string_equal(found("performance: 3 /s, tokens"), "3 tokens");
	assert_string_equal(found("performance: +7 a\nperformance: 8 b\n"), "8 b");
	assert_string_equal(found("performance: 1e a"), "none");
	assert_string_equal(found("performance: fast"), "none");
	assert_string_equal(found("performance: 5"), "none");
	assert_string_equal(found("performance: . x"), "none");
	assert_string_equal(found(""), "none");
	assert_string_equal(found("{'train_samples_per_second': 91.25, 'x': 1}"),
			    "91.25 samples_per_second");
	assert_string_equal(found("train_samples_per_second = 4\nperformance: 5 x\n"), "5 x");
}

/* The pattern that fails the log, or "". */
static const char *scanned(const char *log, const char *context)
{
	struct ws_doc *doc = NULL;
	struct mdl_scan scan;
	const char *pattern = "";
	struct ws_str line;

	assert_int_equal(ws_doc_parse_json("t", ws_str_from(context), &arena, &doc, &err), WS_OK);
	mdl_scan_from(doc, NULL, &scan);
	return mdl_scan_log(&scan, ws_str_from(log), &line, &pattern) ? pattern : "";
}

static void error_patterns_and_benign_lines(void **state)
{
	assert_string_equal(scanned("fine\nRuntimeError: no\n", "{}"), "RuntimeError:");
	assert_string_equal(scanned("1 test FAILED", "{}"), "FAILED");
	assert_string_equal(scanned("1 test failed", "{}"), "");
	assert_string_equal(scanned("[rocprofv3] FAILED", "{}"), "");
	assert_string_equal(scanned("E20260102 1 tool.cpp:8] Exception: x", "{}"), "");
	assert_string_equal(scanned("E2026 1 tool.cpp:8] Exception: x", "{}"), "Exception:");
	assert_string_equal(scanned("FutureWarning: ValueError: x", "{}"), "");
	assert_string_equal(scanned("FAILED", "{\"log_error_pattern_scan\": false}"), "");
	assert_string_equal(scanned("FAILED", "{\"log_error_pattern_scan\": \"no\"}"), "");
	assert_string_equal(scanned("FAILED", "{\"log_error_pattern_scan\": 1}"), "FAILED");
	assert_string_equal(scanned("bad FAILED", "{\"log_error_benign_patterns\": [\"bad F\"]}"),
			    "");
	assert_string_equal(scanned("FAILED\nboom", "{\"log_error_patterns\": [\"boom\"]}"),
			    "boom");
}

static void metrics_are_combined_by_their_words(void **state)
{
	assert_int_equal(mdl_metric_combine("tokens_per_second"), MDL_COMBINE_SUM);
	assert_int_equal(mdl_metric_combine("Latency_ms"), MDL_COMBINE_MEAN);
	assert_int_equal(mdl_metric_combine("peak_memory"), MDL_COMBINE_MAX);
	assert_int_equal(mdl_metric_combine("things"), MDL_COMBINE_UNKNOWN);
}

static const char *path_of(const char *name)
{
	return ws_arena_printf(&arena, "%s/%s", dir, name);
}

static const char *text_of(const char *name)
{
	struct ws_buf text;
	char *copy;

	ws_buf_init(&text, 1 << 20);
	if (ws_file_read(path_of(name), &text, &err))
		fail_msg("%s", err.text);
	copy = ws_arena_strdup(&arena, text.at);
	ws_buf_fini(&text);
	return copy;
}

static size_t n_lines(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void results_are_appended(void **state)
{
	struct mdl_result result = { .model = "a",
				     .args = "--x \"1,2\"",
				     .performance = "5",
				     .metric = "m",
				     .outcome = MDL_SUCCESS };
	struct ws_doc *doc;

	assert_int_equal(mdl_perf_check(path_of("perf.csv"), &arena, &err), WS_OK);
	assert_int_equal(mdl_perf_write(path_of("perf.csv"), &result, &arena, &err), WS_OK);
	assert_int_equal(mdl_perf_check(path_of("perf.csv"), &arena, &err), WS_OK);
	result.model = "b";
	result.outcome = MDL_FAILURE;
	assert_int_equal(mdl_perf_write(path_of("perf.csv"), &result, &arena, &err), WS_OK);
	assert_int_equal(n_lines(text_of("perf.csv")), 3);
	assert_non_null(strstr(text_of("perf.csv"), "model,n_gpus,nnodes,gpus_per_node,"));
	assert_non_null(strstr(text_of("perf.csv"), "\na,,,,,,\"--x \"\"1,2\"\"\","));
	assert_non_null(strstr(text_of("perf.csv"), ",5,m,,SUCCESS,"));
	assert_int_equal(n_lines(text_of("perf_entry.csv")), 2);
	assert_non_null(strstr(text_of("perf_entry.csv"), "\nb,"));
	assert_int_equal(ws_doc_read(path_of("perf_entry.json"), &arena, &doc, &err), WS_OK);
	assert_string_equal(ws_doc_get_text(doc, "status", ""), "FAILURE");
	assert_int_equal(ws_doc_read(path_of("perf_super.json"), &arena, &doc, &err), WS_OK);
	assert_int_equal(doc->n, 2);
	assert_int_equal(n_lines(text_of("perf_super.csv")), 3);
}

static void many_results_are_rows(void **state)
{
	struct mdl_result result = { .model = "a",
				     .tags = "t",
				     .outcome = MDL_SUCCESS,
				     .multiple_results = path_of("many.csv") };
	FILE *to = fopen(path_of("many.csv"), "w");
	struct ws_doc *doc;

	fputs("model, performance ,metric,batch\nx,1,s,8\ny,,s,16\n", to);
	fclose(to);
	assert_int_equal(mdl_perf_write(path_of("perf.csv"), &result, &arena, &err), WS_OK);
	assert_int_equal(n_lines(text_of("perf.csv")), 3);
	assert_non_null(strstr(text_of("perf.csv"), "\na_x,"));
	assert_non_null(strstr(text_of("perf.csv"), ",1,s,,SUCCESS,"));
	assert_non_null(strstr(text_of("perf.csv"), ",,s,,FAILURE,"));
	assert_int_equal(ws_doc_read(path_of("common_info.json"), &arena, &doc, &err), WS_OK);
	assert_string_equal(ws_doc_get_text(doc, "tags", ""), "t");
	assert_null(ws_doc_get(doc, "model"));
	assert_int_equal(ws_doc_read(path_of("perf_super.json"), &arena, &doc, &err), WS_OK);
	assert_string_equal(ws_doc_get_text(ws_doc_get(doc->at[1], "multi_results"), "batch", ""),
			    "16");
}

static void many_results_without_rows_are_a_failure(void **state)
{
	struct mdl_result result = { .model = "a",
				     .outcome = MDL_SUCCESS,
				     .multiple_results = path_of("none.csv") };
	FILE *to = fopen(path_of("none.csv"), "w");

	fputs("model,performance\n", to);
	fclose(to);
	assert_int_equal(mdl_perf_write(path_of("perf.csv"), &result, &arena, &err), WS_OK);
	assert_int_equal(result.outcome, MDL_FAILURE);
	assert_non_null(strstr(result.reason, "none.csv has no column 'metric'"));
	assert_non_null(strstr(text_of("perf.csv"), ",FAILURE,"));
}

static void a_table_of_others_is_not_touched(void **state)
{
	struct mdl_result result = { .model = "a", .outcome = MDL_SUCCESS };
	FILE *to = fopen(path_of("perf.csv"), "w");

	fputs("name,value\n1,2\n", to);
	fclose(to);
	assert_fails_with(mdl_perf_write(path_of("perf.csv"), &result, &arena, &err), WS_E_FORMAT,
			  &err, "has no column 'model'");
	assert_fails_with(mdl_perf_check(path_of("perf.csv"), &arena, &err), WS_E_FORMAT, &err,
			  "has no column 'model'");
	assert_string_equal(text_of("perf.csv"), "name,value\n1,2\n");
	to = fopen(path_of("perf_super.json"), "w");
	fputs("{}", to);
	fclose(to);
	assert_fails_with(mdl_perf_check(path_of("other.csv"), &arena, &err), WS_E_FORMAT, &err,
			  "perf_super.json is no list of results");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(performance_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(error_patterns_and_benign_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(metrics_are_combined_by_their_words, setup,
						teardown),
		cmocka_unit_test_setup_teardown(results_are_appended, setup, teardown),
		cmocka_unit_test_setup_teardown(many_results_are_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(many_results_without_rows_are_a_failure, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_table_of_others_is_not_touched, setup, teardown),
	};

	return RUN(tests);
}
