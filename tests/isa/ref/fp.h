/*
 * fp: the three IEEE formats of the machine, as bit patterns, with exact arithmetic in between.
 *
 * A finite value goes to __float128 exactly; sums that do not fit into its 113 bits are rounded to
 * odd, so that the one rounding to the destination that follows is the right one in every mode.
 */
#ifndef WS_TESTS_ISA_REF_FP_H
#define WS_TESTS_ISA_REF_FP_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/isa/ref/ref.h"

typedef __float128 quad;

enum fp_format { F16, F32, F64 };
enum fp_round { ROUND_NEAREST, ROUND_UP, ROUND_DOWN, ROUND_ZERO };

bool fp_is_nan(enum fp_format f, uint64_t x);
bool fp_is_snan(enum fp_format f, uint64_t x);
bool fp_is_inf(enum fp_format f, uint64_t x);
bool fp_is_zero(enum fp_format f, uint64_t x);
bool fp_is_denorm(enum fp_format f, uint64_t x);
bool fp_sign(enum fp_format f, uint64_t x);
unsigned fp_exponent(enum fp_format f, uint64_t x); /* biased */
unsigned fp_bits(enum fp_format f);                 /* 16, 32, 64 */
int fp_precision(enum fp_format f);                 /* 11, 24, 53 */
int fp_bias(enum fp_format f);
uint64_t fp_quiet(enum fp_format f, uint64_t x);
uint64_t fp_nan(enum fp_format f);
uint64_t fp_inf(enum fp_format f, bool negative);
uint64_t fp_max(enum fp_format f, bool negative); /* largest finite */
uint64_t fp_one(enum fp_format f);
uint64_t fp_signed_zero(enum fp_format f, bool negative);
uint64_t fp_negate(enum fp_format f, uint64_t x);
uint64_t fp_absolute(enum fp_format f, uint64_t x);

quad fp_value(enum fp_format f, uint64_t x); /* exact; inf and NaN stay what they are */
uint64_t fp_rounded(enum fp_format f, quad v, enum fp_round round);
quad fp_add_odd(quad a, quad b,
		enum fp_round round); /* a + b rounded to odd; zero signs as in `round` */

enum fp_round fp_mode_round(enum fp_format f, uint32_t mode);
uint64_t fp_flush(enum fp_format f, uint64_t x); /* denormal -> zero of its sign */
uint64_t fp_flush_in(enum fp_format f, uint64_t x, uint32_t mode);
uint64_t fp_flush_out(enum fp_format f, uint64_t x, uint32_t mode);

/* Operations of one rounding, in `mode`, with its flushes. */
uint64_t fp_add(enum fp_format f, uint64_t a, uint64_t b, uint32_t mode);
uint64_t fp_mul(enum fp_format f, uint64_t a, uint64_t b, uint32_t mode);
uint64_t fp_fma(enum fp_format f, uint64_t a, uint64_t b, uint64_t c, uint32_t mode);
uint64_t fp_scale(enum fp_format f, uint64_t a, int exponent, uint32_t mode); /* a * 2^exponent */
uint64_t fp_convert(enum fp_format to, enum fp_format from, uint64_t x, enum fp_round round,
		    uint32_t mode);
uint64_t fp_min(enum fp_format f, uint64_t a, uint64_t b, uint32_t mode);
uint64_t fp_max2(enum fp_format f, uint64_t a, uint64_t b, uint32_t mode);

/* mode with every flush on, and with none: for instructions that ignore the fields. */
#define FP_MODE_FLUSH_ALL(mode) ((mode) & ~0xf0u)
#define FP_MODE_KEEP_ALL(mode) ((mode) | 0xf0u)

/* name_f16, name_f32, name_f64 from one function over formats. */
#define FOR_FORMATS(name)                                                                          \
	static inline void name##_f16(in_t *in, out_t *out)                                        \
	{                                                                                          \
		name(F16, in, out);                                                                \
	}                                                                                          \
	static inline void name##_f32(in_t *in, out_t *out)                                        \
	{                                                                                          \
		name(F32, in, out);                                                                \
	}                                                                                          \
	static inline void name##_f64(in_t *in, out_t *out)                                        \
	{                                                                                          \
		name(F64, in, out);                                                                \
	}

#endif
