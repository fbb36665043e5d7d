#include "base/util.h"
#include "counters/expr.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct cnt_catalogue *mi200, *mi300;
static struct ws_arena arena;

static int setup(void **state)
{
	struct ws_err err;

	ws_arena_init(&arena, 16 << 20);
	return cnt_catalogue_create_typical("gfx90a", &mi200, &err) ||
	       cnt_catalogue_create_typical("gfx942", &mi300, &err);
}

static int teardown(void **state)
{
	cnt_catalogue_destroy(mi200);
	cnt_catalogue_destroy(mi300);
	ws_arena_fini(&arena);
	return 0;
}

static struct cnt_expr *compile(const struct cnt_catalogue *cat, const char *text)
{
	struct cnt_expr *expr = NULL;
	struct ws_err err;

	if (cnt_expr_compile(cat, text, &expr, &err))
		fail_msg("%s: %s", text, err.text);
	return expr;
}

/* Instance i of a counter is @first + i; sums and accumulations are one number. */
static double first_of(const struct cnt_expr_need *need)
{
	return strcmp(need->counter->name, "SQ_WAVES") == 0     ? 10
	       : strcmp(need->counter->name, "TCC_HIT") == 0    ? 100
	       : strcmp(need->counter->name, "GRBM_COUNT") == 0 ? 4
								: 1;
}

static struct cnt_values eval(const struct cnt_catalogue *cat, const char *text)
{
	struct cnt_expr *expr = compile(cat, text);
	struct cnt_values inputs[8], out;
	const struct cnt_expr_need *needs;
	struct ws_err err;
	size_t n;

	needs = cnt_expr_needs(expr, &n);
	assert_in_range(n, 0, WS_ARRAY_LEN(inputs));
	for (size_t k = 0; k < n; k++) {
		size_t size = cnt_shape_size(&needs[k].counter->shape);
		double *at = ws_arena_array(&arena, size, sizeof(*at)), total = 0;

		for (size_t i = 0; i < size; i++) {
			at[i] = first_of(&needs[k]) + (double)i;
			total += at[i];
		}
		inputs[k] = (struct cnt_values){ at, size, needs[k].counter->shape };
		if (needs[k].form != CNT_FORM_EACH) {
			at[0] = total;
			inputs[k].n = 1;
		}
	}
	if (cnt_expr_eval(expr, inputs, &arena, &out, &err))
		fail_msg("%s: %s", text, err.text);
	cnt_expr_destroy(expr);
	return out;
}

static void gives(const char *text, double expected)
{
	struct cnt_values v = eval(mi200, text);

	assert_int_equal(v.n, 1);
	if (fabs(v.at[0] - expected) > 1e-9)
		fail_msg("%s is %.17g, not %.17g", text, v.at[0], expected);
}

static void arithmetic_is_the_usual(void **state)
{
	gives("1+2*3", 7);
	gives("(1+2)*3", 9);
	gives("10-4-3", 3);
	gives("64/4/2", 8);
	gives("-3+5", 2);
	gives("2*-3", -6);
	gives("1.5*2", 3); /* AMD cuts the decimals */
	gives(".5+1e2+2.5E-1", 100.75);
	gives("7 // a comment\n + 1", 8);
	gives("5/0", 0);
	gives("simd_count/simd_per_cu", 104);
	gives("CU_NUM", 104);
}

static void operands_stay_in_order(void **state)
{
	struct cnt_values v = eval(mi200, "1000-SQ_WAVES");

	assert_int_equal(v.n, 8);
	for (size_t i = 0; i < 8; i++)
		assert_true(v.at[i] == 990 - (double)i); /* AMD gives SQ_WAVES - 1000 */
	v = eval(mi200, "SQ_WAVES-1000");
	assert_true(v.at[2] == -988);
	v = eval(mi200, "1200/SQ_WAVES");
	assert_true(v.at[2] == 100);
	v = eval(mi200, "SQ_WAVES+SQ_WAVES*2");
	assert_int_equal(v.n, 8);
	assert_true(v.at[7] == 51);
}

static void reduce_collapses_all_or_some_dimensions(void **state)
{
	struct cnt_values v;

	gives("reduce(SQ_WAVES,sum)", 8 * 10 + 28);
	gives("reduce(SQ_WAVES,min)", 10);
	gives("reduce(SQ_WAVES, max)", 17);
	gives("reduce(SQ_WAVES,avr)", 13.5);
	gives("reduce(2*SQ_WAVES,sum)", 216);
	gives("reduce(SQ_WAVES,sum,[DIMENSION_SHADER_ENGINE])", 108);
	gives("reduce(5,max)", 5);
	/* 8 dies of 4 engines: the engines go, the dies stay. */
	v = eval(mi300, "reduce(SQ_WAVES,sum,[DIMENSION_SHADER_ENGINE, DIMENSION_INSTANCE])");
	assert_int_equal(v.n, 8);
	assert_int_equal(v.shape.n_dims, 1);
	assert_int_equal(v.shape.at[0].dim, CNT_DIM_XCC);
	for (size_t x = 0; x < 8; x++)
		assert_true(v.at[x] == 4 * (10 + 4.0 * (double)x) + 6);
	v = eval(mi300, "reduce(SQ_WAVES,max,[DIMENSION_XCC])");
	assert_int_equal(v.n, 4);
	assert_true(v.at[3] == 10 + 31);
	/* One die only: there is nothing to collapse. */
	v = eval(mi200, "reduce(SQ_WAVES,sum,[DIMENSION_XCC])");
	assert_int_equal(v.n, 8);
}

static void select_keeps_one_index(void **state)
{
	struct cnt_values v;

	gives("select(TCC_HIT,[DIMENSION_INSTANCE=[3]])", 103);
	gives("select(TCC_HIT,[DIMENSION_XCC=[0], DIMENSION_INSTANCE=[17]])", 117);
	v = eval(mi300, "select(TCC_HIT,[DIMENSION_XCC=[1], DIMENSION_INSTANCE=[1]])");
	assert_int_equal(v.n, 1);
	assert_true(v.at[0] == 117);
	v = eval(mi300, "select(TCC_HIT,[DIMENSION_XCC=[2]])");
	assert_int_equal(v.n, 16);
	assert_true(v.at[5] == 137);
	gives("TCC_HIT[31]", 131);
}

static void accumulate_is_a_form_of_its_own(void **state)
{
	const struct cnt_expr_need *needs;
	struct cnt_expr *expr;
	size_t n;

	gives("reduce(accumulate(SQ_LEVEL_WAVES, HIGH_RES),sum)", 36);
	gives("reduce(accumulate(SQ_LEVEL_WAVES, LOW_RES),sum)", 9);
	gives("reduce(accumulate(SQ_LEVEL_WAVES, NONE),sum)", 36);
	gives("SQ_LEVEL_WAVES_ACCUM/2", 18);
	expr = compile(mi200, "MeanOccupancyPerCU");
	needs = cnt_expr_needs(expr, &n);
	assert_int_equal(n, 2);
	assert_string_equal(needs[0].counter->name, "SQ_LEVEL_WAVES");
	assert_int_equal(needs[0].form, CNT_FORM_ACCUMULATED);
	assert_string_equal(needs[1].counter->name, "GRBM_GUI_ACTIVE");
	assert_int_equal(needs[1].form, CNT_FORM_EACH);
	cnt_expr_destroy(expr);
}

static void what_needs_instances_has_no_value_without_them(void **state)
{
	assert_int_equal(eval(mi200, "reduce(SQ_LEVEL_WAVES_ACCUM,max)").n, 0);
	assert_int_equal(eval(mi200, "SQ_LEVEL_WAVES_ACCUM/SQ_WAVES").n, 0);
	assert_int_equal(eval(mi200, "1/SQ_LEVEL_WAVES_ACCUM").n, 0);
	assert_int_equal(eval(mi200, "SQ_LEVEL_WAVES_ACCUM+1").n, 0);
	assert_int_equal(eval(mi200, "SQ_LEVEL_WAVES_ACCUM[2]").n, 0);
	assert_int_equal(
		eval(mi200, "select(SQ_LEVEL_WAVES_ACCUM,[DIMENSION_SHADER_ENGINE=[1]])").n, 0);
	gives("SQ_LEVEL_WAVES_ACCUM+SQ_IFETCH_LEVEL_ACCUM", 72);
}

static void needs_are_hardware_counters_each_once(void **state)
{
	struct cnt_expr *expr = compile(mi200, "L2CacheHit+TCC_HIT_sum+reduce(TCC_HIT,max)");
	const struct cnt_expr_need *needs;
	size_t n;

	needs = cnt_expr_needs(expr, &n);
	assert_int_equal(n, 3);
	assert_string_equal(needs[0].counter->name, "TCC_HIT");
	assert_int_equal(needs[0].form, CNT_FORM_SUM);
	assert_string_equal(needs[1].counter->name, "TCC_MISS");
	assert_int_equal(needs[2].form, CNT_FORM_EACH);
	cnt_expr_destroy(expr);
	expr = compile(mi200, "SE_NUM*2");
	cnt_expr_needs(expr, &n);
	assert_int_equal(n, 0);
	cnt_expr_destroy(expr);
}

static void missing_input_gives_no_value_and_missing_instances_are_left_out(void **state)
{
	struct cnt_expr *expr = compile(mi200, "reduce(SQ_WAVES,avr)+reduce(GRBM_COUNT,max)");
	double waves[8] = { 4, NAN, 8, NAN, NAN, NAN, NAN, NAN }, count = 1;
	struct cnt_values in[2] = { { waves, 8, { 0 } }, { &count, 1, { 0 } } }, out;
	struct ws_err err;

	assert_int_equal(cnt_expr_eval(expr, in, &arena, &out, &err), WS_OK);
	assert_true(out.at[0] == 7);
	in[1].n = 0;
	assert_int_equal(cnt_expr_eval(expr, in, &arena, &out, &err), WS_OK);
	assert_int_equal(out.n, 0);
	in[0].n = 7;
	assert_fails_with(cnt_expr_eval(expr, in, &arena, &out, &err), WS_E_FORMAT, &err,
			  "got 7 values for the 8 instances of 'SQ_WAVES'");
	cnt_expr_destroy(expr);
}

static void totals_leave_out_what_was_not_seen(void **state)
{
	double at[3] = { 1, NAN, 5 }, total;

	assert_true(cnt_values_total(&(struct cnt_values){ at, 3, { 0 } }, &total));
	assert_true(total == 6);
	assert_false(cnt_values_total(&(struct cnt_values){ at + 1, 1, { 0 } }, &total));
	assert_false(cnt_values_total(&(struct cnt_values){ 0 }, &total));
}

static void mistakes_are_named_with_their_column(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "", "column 1: the expression ends where a value is expected" },
		{ "1+", "column 3: the expression ends where a value is expected" },
		{ "(1+2",
		  "column 5: the expression ends where ')' is expected to close a parenthesis" },
		{ "1 2", "column 3: unexpected '2'" },
		{ "0x10", "column 1: not a number" },
		{ "3abc", "column 1: not a number" },
		{ "SQ_WAVE*2",
		  "column 1: no counter 'SQ_WAVE' on gfx90a: did you mean 'SQ_WAVES'?" },
		{ "2*SQ_INSTS_VALU_MFMA_F8",
		  "column 3: no counter 'SQ_INSTS_VALU_MFMA_F8' on gfx90a" },
		{ "reduce(SQ_WAVES)",
		  "column 16: expected ',' between a value and how to reduce it, not ')'" },
		{ "reduce(SQ_WAVES,mean)",
		  "column 17: reduce() by 'mean': use sum, min, max or avr" },
		{ "reduce(SQ_WAVES,sum,[DIMENSION_X])",
		  "column 22: 'DIMENSION_X' is not a dimension" },
		{ "select(SQ_WAVES,[DIMENSION_SHADER_ENGINE=[8]])",
		  "column 43: DIMENSION_SHADER_ENGINE has indices 0 to 7, not 8" },
		{ "select(SQ_WAVES,[DIMENSION_SHADER_ENGINE=[0:3]])",
		  "column 43: select() of a range is not supported" },
		{ "select(SQ_WAVES,[DIMENSION_XCC=[1]])", "DIMENSION_XCC has indices 0 to 0" },
		{ "accumulate(TCC_HIT, HIGH_RES)",
		  "column 12: accumulate() takes a hardware counter of block SQ, not 'TCC_HIT'" },
		{ "accumulate(SQ_LEVEL_WAVES, MEDIUM)", "column 28: accumulate() at 'MEDIUM'" },
		{ "SQ_ACCUM_PREV_HIRES", "use accumulate(NAME, HIGH_RES)" },
		{ "TCC_HIT+SQ_WAVES", "column 8: '+' between 32 and 8 instances of different "
				      "dimensions: reduce() one of them" },
		{ "TCC_HIT[32]", "column 1: 'TCC_HIT' has 32 instances, numbered from [0]" },
		{ "average(SQ_WAVES)", "column 1: no function 'average'" },
		{ "1 $ 2", "column 3: unexpected '$'" },
	};
	struct cnt_expr *expr;
	struct ws_err err;

	for (size_t i = 0; i < WS_ARRAY_LEN(cases); i++) {
		assert_int_not_equal(cnt_expr_compile(mi200, cases[i].text, &expr, &err), WS_OK);
		if (!strstr(err.text, cases[i].message))
			fail_msg("%s: '%s' does not contain '%s'", cases[i].text, err.text,
				 cases[i].message);
		assert_int_not_equal(cnt_expr_compile(mi200, cases[i].text, &expr, NULL), WS_OK);
	}
}

static void depth_and_length_have_ends(void **state)
{
	struct cnt_expr *expr;
	struct ws_buf text;
	struct ws_err err;

	ws_buf_init(&text, 1 << 20);
	ws_buf_add_c(&text, '(', 5000);
	assert_fails_with(cnt_expr_compile(mi200, text.at, &expr, &err), WS_E_LIMIT, &err,
			  "column ");
	ws_buf_clear(&text);
	for (int i = 0; i < 5000; i++)
		ws_buf_add(&text, "-");
	assert_fails_with(cnt_expr_compile(mi200, text.at, &expr, &err), WS_E_LIMIT, &err,
			  "column ");
	ws_buf_clear(&text);
	ws_buf_add(&text, "1");
	for (int i = 0; i < 40000; i++)
		ws_buf_add(&text, "+1");
	assert_fails_with(cnt_expr_compile(mi200, text.at, &expr, &err), WS_E_LIMIT, &err,
			  "too long");
	ws_buf_fini(&text);
}

/* Every derived counter, on every architecture, against a second reading of its needs. */
static void every_derived_counter_has_a_value(void **state)
{
	const char *arch;
	size_t n_seen = 0;

	for (size_t a = 0; (arch = cnt_catalogue_arch_name(a)); a++) {
		struct cnt_catalogue *cat;
		struct ws_err err;

		assert_int_equal(cnt_catalogue_create_typical(arch, &cat, &err), WS_OK);
		for (size_t i = 0; i < cnt_catalogue_n(cat); i++) {
			const struct cnt_counter_def *def = cnt_catalogue_at(cat, i);
			struct cnt_values v;

			if (def->kind != CNT_COUNTER_DERIVED)
				continue;
			v = eval(cat, def->name);
			if (!v.n || !isfinite(v.at[0]))
				fail_msg("%s: %s has no value", arch, def->name);
			if (v.n != 1)
				assert_int_equal(v.n, cnt_shape_size(&def->shape));
			ws_arena_reset(&arena);
			n_seen++;
		}
		cnt_catalogue_destroy(cat);
	}
	assert_in_range(n_seen, 1000, 3000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arithmetic_is_the_usual),
		cmocka_unit_test(operands_stay_in_order),
		cmocka_unit_test(reduce_collapses_all_or_some_dimensions),
		cmocka_unit_test(select_keeps_one_index),
		cmocka_unit_test(accumulate_is_a_form_of_its_own),
		cmocka_unit_test(what_needs_instances_has_no_value_without_them),
		cmocka_unit_test(needs_are_hardware_counters_each_once),
		cmocka_unit_test(missing_input_gives_no_value_and_missing_instances_are_left_out),
		cmocka_unit_test(totals_leave_out_what_was_not_seen),
		cmocka_unit_test(mistakes_are_named_with_their_column),
		cmocka_unit_test(depth_and_length_have_ends),
		cmocka_unit_test(every_derived_counter_has_a_value),
	};

	return RUN_WITH(tests, setup, teardown);
}
