/*
 * The small float formats, all codes of each, against a second description of them: the numbers of a
 * format in ascending order, made by counting. From zero up the step between neighbours is the smallest
 * denormal; behind the first 2^(mantissa + 1) of them it doubles, every 2^mantissa numbers. The least and
 * the largest number of each format are those that OCP's and AMD's documents print.
 */
#include "tests/unit/unit.h"

#include <float.h>
#include <math.h>

#include "softgpu/exec/handler.h"
#include "softgpu/exec/lane_small.h"

enum { MAX_CODES = 128 };

static const struct listing {
	const char *name;
	struct small_format format;
	unsigned n_bits, n_mantissa;
	double least, largest;
	unsigned n_numbers; /* codes without sign that are finite */
	int nan, overflow;  /* codes without sign; -1: has none */
	bool has_negative_zero;
} listings[] = {
	{ "fp8 fnuz", { 4, 3, 8, SMALL_FNUZ }, 8, 3, 0x1p-10, 240, 128, 0x80, 0x80, false },
	{ "bf8 fnuz", { 5, 2, 16, SMALL_FNUZ }, 8, 2, 0x1p-17, 57344, 128, 0x80, 0x80, false },
	{ "fp8 ocp", { 4, 3, 7, SMALL_FN }, 8, 3, 0x1p-9, 448, 127, 0x7f, 0x7f, true },
	{ "bf8 ocp", { 5, 2, 15, SMALL_IEEE }, 8, 2, 0x1p-16, 57344, 124, 0x7f, 0x7c, true },
	{ "fp6", { 2, 3, 1, SMALL_FINITE }, 6, 3, 0.125, 7.5, 32, -1, -1, true },
	{ "bf6", { 3, 2, 3, SMALL_FINITE }, 6, 2, 0.0625, 28, 32, -1, -1, true },
	{ "fp4", { 2, 1, 1, SMALL_FINITE }, 4, 1, 0.5, 6, 8, -1, -1, true },
};

static double numbers[MAX_CODES + 1]; /* of the format under test; one more: where it would go on */

static void list_numbers(const struct listing *f)
{
	double step = f->least;
	unsigned until_double = 2u << f->n_mantissa;

	numbers[0] = 0;
	for (unsigned n = 1; n <= f->n_numbers; n++) {
		if (n > until_double) {
			step *= 2;
			until_double += 1u << f->n_mantissa;
		}
		numbers[n] = numbers[n - 1] + step;
	}
	assert_true(numbers[f->n_numbers - 1] == f->largest);
}

static uint32_t signed_code(const struct listing *f, unsigned code, bool negative)
{
	if (!negative || code == 0x80 || (code == 0 && !f->has_negative_zero))
		return code;
	return code | 1u << (f->n_bits - 1);
}

static uint32_t overflow_code(const struct listing *f, bool negative, bool saturate)
{
	bool keeps = saturate || f->overflow < 0;

	return signed_code(f, keeps ? f->n_numbers - 1 : (unsigned)f->overflow, negative);
}

static void every_code_has_its_value(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(listings) / sizeof(*listings); i++) {
		const struct listing *f = &listings[i];

		list_numbers(f);
		for (uint32_t code = 0; code < 1u << f->n_bits; code++) {
			uint32_t magnitude = code & ((1u << (f->n_bits - 1)) - 1);
			bool negative = code >> (f->n_bits - 1);
			float got = small_f32(code, f->format);

			if (code == 0x80 && !f->has_negative_zero)
				assert_true(isnan(got));
			else if (magnitude >= f->n_numbers && (int)magnitude == f->overflow &&
				 f->overflow != f->nan)
				assert_true(isinf(got) && (got < 0) == negative);
			else if (magnitude >= f->n_numbers)
				assert_true(isnan(got));
			else
				assert_true((double)got ==
						    (negative ? -1 : 1) * numbers[magnitude] &&
					    !signbit(got) == !negative);
			assert_true(small_f32(code | 0xa5u << f->n_bits, f->format) == got ||
				    isnan(got)); /* bits above do not count */
		}
	}
}

static void expect_code(const struct listing *f, float v, bool saturate, uint32_t want)
{
	uint32_t got = f32_small(v, f->format, saturate);

	if (got != want)
		fail_msg("%s of %a: got %02x, expected %02x", f->name, (double)v, got, want);
}

/* Of two neighbours: which number wins at, just below and just above the middle. */
static void nearest_wins_and_even_breaks_ties(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(listings) / sizeof(*listings); i++) {
		const struct listing *f = &listings[i];

		list_numbers(f);
		for (unsigned n = 0; n < f->n_numbers; n++)
			for (unsigned k = 0; k < 4; k++) {
				bool negative = k & 1, saturate = k & 2,
				     is_last = n + 1 == f->n_numbers;
				float sign = negative ? -1 : 1;
				float middle = (float)((numbers[n] + numbers[n + 1]) / 2);
				uint32_t low = signed_code(f, n, negative);
				uint32_t high = is_last ? overflow_code(f, negative, saturate)
							: signed_code(f, n + 1, negative);

				expect_code(f, sign * (float)numbers[n], saturate, low);
				expect_code(f, sign * nextafterf(middle, 0), saturate, low);
				expect_code(f, sign * middle, saturate, n % 2 ? high : low);
				expect_code(f, sign * nextafterf(middle, INFINITY), saturate, high);
			}
	}
}

static void what_has_no_code(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(listings) / sizeof(*listings); i++) {
		const struct listing *f = &listings[i];

		for (unsigned k = 0; k < 4; k++) {
			bool negative = k & 1, saturate = k & 2;
			float sign = negative ? -1 : 1;
			uint32_t nan_code = f->nan < 0 ? f->n_numbers - 1 : (unsigned)f->nan;

			expect_code(f, sign * INFINITY, saturate,
				    overflow_code(f, negative, saturate));
			expect_code(f, sign * FLT_MAX, saturate,
				    overflow_code(f, negative, saturate));
			expect_code(f, sign * 0x1p-149f, saturate, signed_code(f, 0, negative));
			expect_code(f, copysignf(NAN, sign), saturate,
				    signed_code(f, nan_code, negative));
			assert_int_equal(f32_small_random(copysignf(NAN, sign), 1, f->format,
							  saturate),
					 signed_code(f, nan_code, negative));
			assert_int_equal(f32_small_random(sign * INFINITY, 1, f->format, saturate),
					 overflow_code(f, negative, saturate));
		}
	}
}

/* A number one quarter of the way up goes up for one quarter of the random numbers: the last ones. */
static void random_bits_decide_in_proportion(void **state)
{
	static const double parts[] = { 0, 0x1p-12, 0.25, 0.5, 0.75, 1 - 0x1p-12 };

	(void)state;
	for (size_t i = 0; i < sizeof(listings) / sizeof(*listings); i++) {
		const struct listing *f = &listings[i];
		const uint32_t n_random = 1u << (23 - f->n_mantissa);

		list_numbers(f);
		for (unsigned n = 0; n + 1 < f->n_numbers; n++)
			for (size_t p = 0; p < sizeof(parts) / sizeof(*parts); p++) {
				double step = numbers[n + 1] - numbers[n];
				float v = (float)(numbers[n] + parts[p] * step);
				uint32_t first_up = n_random - (uint32_t)(parts[p] * n_random);

				for (unsigned k = 0; k < 2; k++) {
					uint32_t low = signed_code(f, n, k);
					float x = k ? -v : v;

					assert_int_equal(f32_small_random(x, first_up - 1,
									  f->format, false),
							 low);
					if (first_up < n_random)
						assert_int_equal(f32_small_random(x, first_up,
										  f->format, false),
								 signed_code(f, n + 1, k));
					/* the bits above do not count */
					assert_int_equal(f32_small_random(x,
									  (first_up - 1) |
										  ~(n_random - 1),
									  f->format, false),
							 low);
				}
			}
	}
}

static void scales_are_powers_of_two(void **state)
{
	(void)state;
	for (unsigned code = 0; code < 255; code++)
		assert_true(e8m0_f32(code) == ldexpf(1, (int)code - 127));
	assert_true(isnan(e8m0_f32(255)));
	assert_true(e8m0_f32(0x180) == 2); /* one byte counts */
}

/* All mantissas that matter at all exponents: to a multiple of 2^-10 of the leading bit, ties to even. */
static void xf32_keeps_ten_bits(void **state)
{
	(void)state;
	for (uint32_t exponent = 0; exponent < 255; exponent++)
		for (uint32_t high = 0; high < 1024; high += exponent % 16 ? 31 : 1)
			for (unsigned k = 0; k < 6; k++) {
				static const uint32_t low[] = {
					0, 1, 0xfff, 0x1000, 0x1001, 0x1fff
				};
				bool up = k > 3 || (k == 3 && high % 2);
				float below = sg_as_f32(exponent << 23 | high << 13);
				float v = sg_as_f32(exponent << 23 | high << 13 | low[k]);
				float unit = ldexpf(1, (exponent ? (int)exponent : 1) - 127 - 10);
				float want = up ? below + unit : below;

				assert_true(f32_xf32(v) == want && f32_xf32(-v) == -want);
			}
	assert_true(isnan(f32_xf32(NAN)) && isnan(f32_xf32(sg_as_f32(0x7f800001))));
	assert_true(f32_xf32(INFINITY) == INFINITY && f32_xf32(FLT_MAX) == INFINITY);
	assert_true(signbit(f32_xf32(-0.0f)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_code_has_its_value),
		cmocka_unit_test(nearest_wins_and_even_breaks_ties),
		cmocka_unit_test(what_has_no_code),
		cmocka_unit_test(random_bits_decide_in_proportion),
		cmocka_unit_test(scales_are_powers_of_two),
		cmocka_unit_test(xf32_keeps_ten_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
