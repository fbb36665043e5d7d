/* Formulas over columns: arithmetic, missing values, aggregates, functions. */
#include "analysis/eval.h"
#include "base/fold.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N 2500 /* more than two blocks of the tape */

static char dir[] = "/tmp/ws-test-eval.XXXXXX";
static struct wl_workload *load;
static struct ana_metrics *metrics;
static struct ana_selection all, some, listed;
static struct ana_eval *eval, *eval_some;

static void write_file(const char *name, const char *text)
{
	char path[200];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "we");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int set_up(void **state)
{
	static const char *const chosen[] = { "1", "2" };
	struct ana_filter none = { 0 }, few = { .dispatches = chosen, .n_dispatches = 2 };
	struct ws_err err = { WS_OK, "" };
	struct ws_buf text;

	assert_non_null(mkdtemp(dir));
	write_file("sysinfo.csv",
		   "gpu_arch,cu_per_gpu,num_xcd,total_l2_chan,bad\ngfx90a,104,2,2,\n");
	ws_buf_init(&text, 1 << 20);
	ws_buf_add(&text, "Kernel_Name,ROW,ONE,ZERO,HOLE,HALF,GRBM_GUI_ACTIVE,SQ_WAVES,"
			  "Start_Timestamp,End_Timestamp,TCC_X[0],TCC_X[1]\n");
	for (int i = 0; i < N; i++)
		ws_buf_printf(&text, "k%d,%d,1,0,%s,%d.5,100,%d,%d,%d,%d,7\n", i % 2, i,
			      i % 2 ? "4" : "", i, i % 4 ? 4 : 0, i * 10, i * 10 + 5, i);
	write_file("pmc_perf.csv", text.at);
	ws_buf_clear(&text);
	ws_buf_add(&text, "Kernel_Name,SQ_ACCUM_PREV_HIRES,ONLY_HERE,ONE\n");
	for (int i = 0; i < N; i++)
		ws_buf_printf(&text, "k%d,500,3,9\n", i % 2);
	write_file("SQ_LEVEL_WAVES.csv", text.at);
	ws_buf_fini(&text);
	if (wl_workload_open(dir, NULL, &load, &err) ||
	    ana_metrics_load("gfx90a", NULL, &metrics, &err) ||
	    ana_select_rows(load, &none, &all, &listed, &err))
		fail_msg("%s", err.text);
	ana_selection_fini(&listed);
	assert_int_equal(ana_select_rows(load, &few, &some, &listed, &err), WS_OK);
	assert_int_equal(ana_eval_create(load, &all, metrics, NULL, &eval, &err), WS_OK);
	assert_int_equal(ana_eval_create(load, &some, metrics, NULL, &eval_some, &err), WS_OK);
	return 0;
}

static int tear_down(void **state)
{
	static const char *const names[] = { "sysinfo.csv", "pmc_perf.csv", "SQ_LEVEL_WAVES.csv" };
	char path[200];

	ana_eval_destroy(eval);
	ana_eval_destroy(eval_some);
	ana_selection_fini(&all);
	ana_selection_fini(&some);
	ana_selection_fini(&listed);
	ana_metrics_free(metrics);
	wl_workload_close(load);
	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	rmdir(dir);
	return 0;
}

static double value_in(struct ana_eval *in, const char *formula, const char *level)
{
	const struct ana_expr *expr;
	struct ws_err err;

	if (ana_expr_parse(&metrics->pool, ws_str_from(formula), NULL, &expr, &err))
		fail_msg("%s: %s", formula, err.text);
	/* Formulas made after the evaluation are not in its memory of results. */
	return ana_eval_number(in, expr, level);
}

static void is(const char *formula, double expected)
{
	double value = value_in(eval, formula, NULL);

	if (isnan(expected)
		    ? !isnan(value)
		    : !(value == expected || fabs(value - expected) < 1e-9 * fabs(expected)))
		fail_msg("%s is %.17g, not %.17g", formula, value, expected);
}

static void arithmetic(void **state)
{
	is("1 + 2 * 3", 7);
	is("(1 + 2) * 3", 9);
	is("10 - 4 - 3", 3);
	is("2 / 4", 0.5);
	is("-3 + 5", 2);
	is("1 / 0", INFINITY);
	is("-1 / 0", -INFINITY);
	is("0 / 0", NAN);
	is("AVG(ROW)", (N - 1) / 2.0);
	is("AVG(ROW * 2 + ONE)", N);
	is("AVG(100 - ROW)", 100 - (N - 1) / 2.0);
	is("ROW", (N - 1) / 2.0); /* a column left over is averaged */
	is("AVG(ROW - (ROW - (ROW - ONE)))", (N - 1) / 2.0 - 1);
	is("AVG(HALF)", (N - 1) / 2.0 + 0.5);
}

static void missing_values(void **state)
{
	is("AVG(HOLE)", 4);
	is("AVG(HOLE + ROW)", 4 + N / 2.0);
	is("AVG(ROW / ZERO)", INFINITY); /* 0/0 in the first row is skipped, the rest is not */
	is("MIN(ROW / ZERO)", INFINITY);
	is("AVG(ZERO / ZERO)", NAN);
	is("AVG(NOT_THERE)", NAN);
	is("AVG(ROW + NOT_THERE)", NAN);
	is("MAX(NOT_THERE)", NAN);
	is("None", NAN);
	is("AVG(Kernel_Name)", NAN);
	is("$bad + 1", NAN);
	is("$nothing", NAN);
	is("AVG(NOT_THERE if ONE != 0 else 3)", NAN);
	is("MIN(1, None)", NAN);
}

static void conditions(void **state)
{
	is("AVG(ROW if ROW != 0 else None)", N / 2.0);
	is("AVG(ROW / ONE if ZERO != 0 else 5)", 5);
	is("AVG(ROW if ONE == 1 else NOT_THERE)", NAN);
	is("MAX(ROW if ROW < 10 else 0)", 9);
	is("MAX(ROW if ROW >= 10 else ZERO)", N - 1);
	is("AVG(ONE if HOLE != 4 else ZERO)", 0.5); /* NaN differs from everything */
	is("SUM(ONE if HOLE == 4 else ZERO)", N / 2);
	is("7 if $cu_per_gpu != 0 else 8", 7);
}

static void aggregates(void **state)
{
	is("MIN(ROW)", 0);
	is("MAX(ROW)", N - 1);
	is("SUM(ONE)", N);
	is("MEDIAN(ROW)", (N - 1) / 2.0);
	is("QUANTILE(ROW, 0.25)", (N - 1) * 0.25);
	is("QUANTILE(ROW, 0)", 0);
	is("QUANTILE(ROW, 1)", N - 1);
	is("QUANTILE(ROW, 2)", NAN);
	is("MEDIAN(HOLE)", 4);
	is("STD(ROW)", sqrt((double)N * (N + 1) / 12));
	is("STD(3)", NAN);
	is("AVG(3)", 3);
	is("MIN(3, 1, 2)", 1);
	is("MAX(3, 1, 2)", 3);
	is("AVG(MAX(ROW, 10, ONE * 5))", ((N - 1) * N / 2 + 55) / (double)N);
	is("AVG(MIN(ONE, ROW, ONE + ONE))", (N - 1) / (double)N);
	is("100 * AVG(ROW) / MAX(ROW)", 50);
}

static void functions(void **state)
{
	is("ROUND(2.5, 0)", 2); /* half to even */
	is("ROUND(3.5, 0)", 4);
	is("ROUND(1.25, 1)", 1.2);
	is("MAX(ROUND(HALF, 0))", N);
	is("MOD(7, 3)", 1);
	is("MOD(-7, 3)", 2); /* the divisor's sign */
	is("TO_INT(3.9)", 3);
	is("TO_INT(-3.9)", -3);
	is("AVG(TO_INT(ROW))", (N - 1) / 2.0);
	is("AVG(TO_INT(HALF))", NAN); /* fractions are no integers */
	is("AVG(NOISE_CLAMP(ONE - ROW, ROW))", 1.0 / N);
}

static void variables(void **state)
{
	is("$cu_per_gpu * 2", 208);
	is("AVG($GRBM_GUI_ACTIVE_PER_XCD)", 50);
	is("AVG(ROW / $denom)", (N - 1) / 2.0);
	assert_true(ana_eval_variable(eval, "cu_per_gpu") == 104);
	assert_true(ana_eval_variable(eval, "GRBM_GUI_ACTIVE_PER_XCD") == 50);
	assert_true(isnan(ana_eval_variable(eval, "nothing")));
	assert_true(ana_eval_counter(eval, "ONE", NULL) == 1);
}

static void a_level_takes_its_sum_from_its_own_pass(void **state)
{
	struct ana_eval_how how = { .norm = ANA_PER_KERNEL, .own_level_frame = true };
	struct ana_eval *old;
	struct ws_err err;

	assert_true(value_in(eval, "AVG(SQ_ACCUM_PREV_HIRES)", "SQ_LEVEL_WAVES") == 500);
	assert_true(isnan(value_in(eval, "AVG(SQ_ACCUM_PREV_HIRES)", "SQ_IFETCH_LEVEL")));
	assert_true(value_in(eval, "AVG(ONE)", "SQ_LEVEL_WAVES") ==
		    1); /* the counter passes first */
	assert_true(value_in(eval, "AVG(ONLY_HERE)", "SQ_LEVEL_WAVES") == 3); /* then its own */
	assert_true(isnan(value_in(eval, "AVG(ONLY_HERE)", NULL)));
	assert_int_equal(ana_eval_create(load, &all, metrics, &how, &old, &err), WS_OK);
	assert_true(value_in(old, "AVG(ONE)", "SQ_LEVEL_WAVES") == 9);
	assert_true(isnan(value_in(old, "AVG(ROW)", "SQ_LEVEL_WAVES")));
	ana_eval_destroy(old);
}

static void a_choice_of_rows_is_all_that_counts(void **state)
{
	assert_true(value_in(eval_some, "AVG(ROW)", NULL) == 1.5);
	assert_true(value_in(eval_some, "AVG(ROW * ROW - ONE)", NULL) == 1.5);
	assert_true(value_in(eval_some, "SUM(ONE)", NULL) == 2);
	assert_true(value_in(eval_some, "MEDIAN(HOLE + ROW)", NULL) == 5);
}

static void units(void **state)
{
	struct ws_arena arena;

	ws_arena_init(&arena, 1 << 20);
	assert_string_equal(ana_eval_unit(eval, "GB/s", &arena), "Gb/s");
	assert_string_equal(ana_eval_unit(eval, "instr $normUnit", &arena), "Instr per kernel");
	assert_string_equal(ana_eval_unit(eval, "", &arena), "");
	ws_arena_fini(&arena);
}

static void quantiles_against_sorting(void **state)
{
	double values[101], copy[101];

	srand(4);
	for (int round = 0; round < 300; round++) {
		size_t n = 1 + (size_t)rand() % 100;
		double q = (rand() % 101) / 100.0, pos = (double)(n - 1) * q, expected;

		for (size_t i = 0; i < n; i++)
			values[i] = copy[i] = rand() % 20;
		for (size_t i = 1; i < n; i++)
			for (size_t k = i; k > 0 && copy[k] < copy[k - 1]; k--) {
				double swap = copy[k];

				copy[k] = copy[k - 1];
				copy[k - 1] = swap;
			}
		expected = copy[(size_t)pos];
		if ((size_t)pos + 1 < n)
			expected +=
				(copy[(size_t)pos + 1] - expected) * (pos - (double)(size_t)pos);
		if (fabs(ws_fold_quantile(values, n, q) - expected) > 1e-12)
			fail_msg("quantile %g of %zu values", q, n);
	}
}

static void formulas_print_as_they_parse(void **state)
{
	static const char *const shown[] = {
		"AVG(100 * X / (Y * Z))",
		"A - (B - C)",
		"A - B - C",
		"(A + B) * C",
		"X if Y != 0 else None",
		"(X if Y != 0 else 1) + 2",
		"MAX(A, B[3], $v)",
		"-A * 2",
	};

	for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++) {
		const struct ana_expr *a, *b;
		struct ws_buf text;
		struct ws_err err;

		ws_buf_init(&text, 1 << 16);
		assert_int_equal(ana_expr_parse(&metrics->pool, ws_str_from(shown[i]), NULL, &a,
						&err),
				 WS_OK);
		ana_expr_show(a, &text);
		assert_string_equal(text.at, shown[i]);
		ws_buf_clear(&text);
		ana_expr_print(a, &text);
		assert_int_equal(ana_expr_parse(&metrics->pool, ws_buf_view(&text), NULL, &b, &err),
				 WS_OK);
		assert_ptr_equal(a, b); /* equal formulas are one node */
		ws_buf_fini(&text);
	}
}

static void no_memory_is_an_error_not_a_crash(void **state)
{
	FOR_EACH_FAILING_ALLOCATION(n)
	{
		struct ana_selection rows = { 0 }, top = { 0 };
		struct ana_filter none = { 0 };
		struct wl_workload *opened = NULL;
		struct ana_eval *made = NULL;
		struct ws_err err = { WS_OK, "" };
		enum ws_status st = wl_workload_open(dir, NULL, &opened, &err);

		if (!st)
			st = ana_select_rows(opened, &none, &rows, &top, &err);
		if (!st)
			st = ana_eval_create(opened, &rows, metrics, NULL, &made, &err);
		if (!st)
			ana_eval_cell(made, ana_metric_find(metrics, 2, 1, 7), 0, 0);
		else
			assert_true(err.text[0]);
		ana_eval_destroy(made);
		ana_selection_fini(&rows);
		ana_selection_fini(&top);
		wl_workload_close(opened);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arithmetic),
		cmocka_unit_test(missing_values),
		cmocka_unit_test(conditions),
		cmocka_unit_test(aggregates),
		cmocka_unit_test(functions),
		cmocka_unit_test(variables),
		cmocka_unit_test(a_level_takes_its_sum_from_its_own_pass),
		cmocka_unit_test(a_choice_of_rows_is_all_that_counts),
		cmocka_unit_test(units),
		cmocka_unit_test(quantiles_against_sorting),
		cmocka_unit_test(formulas_print_as_they_parse),
		cmocka_unit_test(no_memory_is_an_error_not_a_crash),
	};

	return RUN_WITH(tests, set_up, tear_down);
}
