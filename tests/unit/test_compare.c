#include "analysis/compare.h"
#include "tests/unit/unit.h"

#include <math.h>

#define N(a) (sizeof(a) / sizeof((a)[0]))

/* Values of Student's distribution as tables print them. */
static void student_agrees_with_tables(void **state)
{
	assert_float_equal(ana_student_p(12.7062, 1), 0.05, 1e-6);
	assert_float_equal(ana_student_p(4.30265, 2), 0.05, 1e-6);
	assert_float_equal(ana_student_p(2.77645, 4), 0.05, 1e-6);
	assert_float_equal(ana_student_p(-2.04227, 30), 0.05, 1e-6);
	assert_float_equal(ana_student_p(3.49996, 7.0), 0.01, 1e-4);
	assert_float_equal(ana_student_p(0, 5), 1, 1e-12);
	assert_float_equal(ana_student_p(INFINITY, 5), 0, 0);
	assert_true(isnan(ana_student_p(NAN, 5)));
}

/* All ways to choose, counted by hand: 5 against 5 apart is 2 of 252. */
static void ranks_are_exact_for_few(void **state)
{
	double low[] = { 1, 2, 3, 4, 5 }, high[] = { 6, 7, 8, 9, 10 };
	double tied[] = { 1, 2, 2, 3, 5 }, others[] = { 2, 4, 5, 5, 6, 7 };

	assert_float_equal(ana_ranks_p(low, 5, high, 5), 2.0 / 252, 1e-12);
	assert_float_equal(ana_ranks_p(high, 5, low, 5), 2.0 / 252, 1e-12);
	assert_float_equal(ana_ranks_p(low, 5, low, 5), 1, 1e-12);
	/* 41 of the 462 choices, enumerated */
	assert_float_equal(ana_ranks_p(tied, 5, others, 6), 41.0 / 462, 1e-12);
}

static void many_ranks_use_the_normal_distribution(void **state)
{
	double a[40], b[40];

	for (int i = 0; i < 40; i++) {
		a[i] = i;
		b[i] = i + 6.5;
	}
	/* U = 561, variance = 10800 */
	assert_float_equal(ana_ranks_p(a, 40, b, 40), erfc((239 - 0.5) / sqrt(10800) / sqrt(2)),
			   1e-12);
}

static void a_counter_without_spread_is_certain(void **state)
{
	double a[] = { 163840, 163840, 163840 }, b[] = { 163841, 163841 };
	struct ana_comparison c;

	ana_compare(a, 3, b, 2, &c);
	assert_int_equal(c.change, ANA_CHANGE_REAL);
	assert_int_equal(c.method, ANA_METHOD_EXACT);
	assert_float_equal(c.delta, 1, 0);
	ana_compare(a, 3, a, 2, &c);
	assert_int_equal(c.change, ANA_CHANGE_NONE);
	assert_float_equal(c.percent, 0, 0);
}

static void one_value_each_is_not_judged(void **state)
{
	double a = 100, b = 150;
	struct ana_comparison c;

	ana_compare(&a, 1, &b, 1, &c);
	assert_int_equal(c.change, ANA_CHANGE_UNKNOWN);
	assert_float_equal(c.percent, 50, 1e-12);
	assert_true(isnan(c.p) && isnan(c.a.sd));
	ana_compare(&a, 1, &a, 1, &c);
	assert_int_equal(c.change, ANA_CHANGE_NONE);
}

static void one_value_is_judged_by_the_spread_of_many(void **state)
{
	double many[] = { 100, 101, 99, 100.5, 99.5 }, near = 101.2, far = 120;
	struct ana_comparison c;

	ana_compare(many, 5, &near, 1, &c);
	assert_int_equal(c.method, ANA_METHOD_SINGLE);
	assert_int_equal(c.change, ANA_CHANGE_NOISE);
	ana_compare(many, 5, &far, 1, &c);
	assert_int_equal(c.change, ANA_CHANGE_REAL);
	ana_compare(&far, 1, many, 5, &c);
	assert_int_equal(c.change, ANA_CHANGE_REAL);
	assert_true(c.percent < 0);
}

/* Three dispatches whose first is a warm-up, as recorded: 8 % more is within it, 71 % is not. */
static void few_values_use_their_own_spread(void **state)
{
	double before[] = { 20480, 16320, 15520 }, noisy[] = { 21000, 18000, 17500 };
	double slower[] = { 30000, 30500, 29000 };
	struct ana_comparison c;

	ana_compare(before, 3, noisy, 3, &c);
	assert_int_equal(c.method, ANA_METHOD_WELCH);
	assert_int_equal(c.change, ANA_CHANGE_NOISE);
	ana_compare(before, 3, slower, 3, &c);
	assert_int_equal(c.change, ANA_CHANGE_REAL);
	assert_float_equal(c.p, 0.010374, 1e-6);
	assert_float_equal(c.percent, 71.0627, 1e-3);
}

static void an_outlier_does_not_hide_a_change(void **state)
{
	double a[] = { 10, 11, 10, 12, 11, 10, 500 }, b[] = { 20, 21, 20, 22, 21, 20, 21 };
	struct ana_comparison c;

	ana_compare(a, N(a), b, N(b), &c);
	assert_int_equal(c.method, ANA_METHOD_RANKS);
	assert_int_equal(c.change, ANA_CHANGE_REAL);
}

static void values_that_are_none_do_not_count(void **state)
{
	double a[] = { NAN, 1, NAN }, b[] = { NAN, NAN }, zero[] = { 0, 0 }, some[] = { 3, 3 };
	struct ana_comparison c;

	ana_compare(a, 3, b, 2, &c);
	assert_int_equal(c.change, ANA_CHANGE_ABSENT);
	assert_int_equal(c.a.n, 1);
	assert_int_equal(c.b.n, 0);
	assert_true(isnan(c.b.mean));
	ana_compare(zero, 2, some, 2, &c);
	assert_int_equal(c.change, ANA_CHANGE_REAL);
	assert_true(isnan(c.percent));
}

/* 20 tests of which one is at 0.04: chance would give one such. */
static void chance_finds_are_held_down(void **state)
{
	struct ana_comparison all[20], *at[20];
	double scratch[20];

	for (int i = 0; i < 20; i++) {
		all[i] = (struct ana_comparison){ .p = 0.3 + i * 0.03,
						  .method = ANA_METHOD_WELCH,
						  .change = ANA_CHANGE_NOISE };
		at[i] = &all[i];
	}
	all[3].p = 0.04;
	all[3].change = ANA_CHANGE_REAL;
	all[7].p = 0.0001;
	all[7].change = ANA_CHANGE_REAL;
	all[9].p = 0;
	all[9].method = ANA_METHOD_EXACT;
	all[9].change = ANA_CHANGE_REAL;
	ana_compare_adjust(at, 20, 0.05, scratch);
	assert_int_equal(all[3].change, ANA_CHANGE_NOISE);
	assert_int_equal(all[7].change, ANA_CHANGE_REAL);
	assert_int_equal(all[9].change, ANA_CHANGE_REAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(student_agrees_with_tables),
		cmocka_unit_test(ranks_are_exact_for_few),
		cmocka_unit_test(many_ranks_use_the_normal_distribution),
		cmocka_unit_test(a_counter_without_spread_is_certain),
		cmocka_unit_test(one_value_each_is_not_judged),
		cmocka_unit_test(one_value_is_judged_by_the_spread_of_many),
		cmocka_unit_test(few_values_use_their_own_spread),
		cmocka_unit_test(an_outlier_does_not_hide_a_change),
		cmocka_unit_test(values_that_are_none_do_not_count),
		cmocka_unit_test(chance_finds_are_held_down),
	};

	return RUN(tests);
}
