/* VOPC: the lane's bit goes to out->co. Floats compare after MODE's input flush. */
#include "tests/isa/ref/fp.h"

struct pair {
	quad a, b;
	bool unordered;
};

static struct pair pair_of(enum fp_format f, in_t *in)
{
	uint64_t a = fp_flush_in(f, in->s[0], in->mode), b = fp_flush_in(f, in->s[1], in->mode);

	return (struct pair){ fp_value(f, a), fp_value(f, b), fp_is_nan(f, a) || fp_is_nan(f, b) };
}

#define FLOAT_CASE(name, format, expression)                                                       \
	static void name(in_t *in, out_t *out)                                                     \
	{                                                                                          \
		struct pair p = pair_of(format, in);                                               \
                                                                                                   \
		(void)p;                                                                           \
		out->co = (expression);                                                            \
	}
#define FLOAT_CASES(cond, expression)                                                              \
	FLOAT_CASE(cond##_f16, F16, expression)                                                    \
	FLOAT_CASE(cond##_f32, F32, expression)                                                    \
	FLOAT_CASE(cond##_f64, F64, expression)

/* C's comparisons are false on NaN, as the hardware's are; "lg" is the one that C lacks. */
FLOAT_CASES(f, false)
FLOAT_CASES(lt, p.a < p.b)
FLOAT_CASES(eq, p.a == p.b)
FLOAT_CASES(le, p.a <= p.b)
FLOAT_CASES(gt, p.a > p.b)
FLOAT_CASES(lg, p.a<p.b || p.a> p.b)
FLOAT_CASES(ge, p.a >= p.b)
FLOAT_CASES(o, !p.unordered)
FLOAT_CASES(u, p.unordered)
FLOAT_CASES(nge, !(p.a >= p.b))
FLOAT_CASES(nlg, !(p.a < p.b || p.a > p.b))
FLOAT_CASES(ngt, !(p.a > p.b))
FLOAT_CASES(nle, !(p.a <= p.b))
FLOAT_CASES(neq, !(p.a == p.b))
FLOAT_CASES(nlt, !(p.a < p.b))
FLOAT_CASES(tru, true)

#define INT_CASE(name, type, op)                                                                   \
	static void name(in_t *in, out_t *out)                                                     \
	{                                                                                          \
		type a = (type)in->s[0], b = (type)in->s[1];                                       \
                                                                                                   \
		out->co = (op);                                                                    \
	}
#define INT_CASES(suffix, type)                                                                    \
	INT_CASE(f_##suffix, type, ((void)a, (void)b, false))                                      \
	INT_CASE(lt_##suffix, type, a < b)                                                         \
	INT_CASE(eq_##suffix, type, a == b)                                                        \
	INT_CASE(le_##suffix, type, a <= b)                                                        \
	INT_CASE(gt_##suffix, type, a > b)                                                         \
	INT_CASE(ne_##suffix, type, a != b)                                                        \
	INT_CASE(ge_##suffix, type, a >= b)                                                        \
	INT_CASE(t_##suffix, type, ((void)a, (void)b, true))
INT_CASES(i16, int16_t)
INT_CASES(u16, uint16_t)
INT_CASES(i32, int32_t)
INT_CASES(u32, uint32_t)
INT_CASES(i64, int64_t)
INT_CASES(u64, uint64_t)

/* Tests the register as it is: denormals are told from zeros whatever MODE says. */
static void classify(enum fp_format f, in_t *in, out_t *out)
{
	uint64_t x = in->s[0], mask = in->s[1];
	bool negative = fp_sign(f, x);
	unsigned bit;

	if (fp_is_nan(f, x))
		bit = fp_is_snan(f, x) ? 0 : 1;
	else if (fp_is_inf(f, x))
		bit = negative ? 2 : 9;
	else if (fp_is_zero(f, x))
		bit = negative ? 5 : 6;
	else if (fp_is_denorm(f, x))
		bit = negative ? 4 : 7;
	else
		bit = negative ? 3 : 8;
	out->co = mask >> bit & 1;
}

static void class_f16(in_t *in, out_t *out)
{
	classify(F16, in, out);
}
static void class_f32(in_t *in, out_t *out)
{
	classify(F32, in, out);
}
static void class_f64(in_t *in, out_t *out)
{
	classify(F64, in, out);
}

/* clang-format off */
#define BOTH(name, fn) { "v_cmp_" name, fn, REF_MASK }, { "v_cmpx_" name, fn, REF_MASK },
#define FLOAT_ROWS(type)                                                                           \
	BOTH("f_" #type, f_##type) BOTH("lt_" #type, lt_##type) BOTH("eq_" #type, eq_##type)       \
	BOTH("le_" #type, le_##type) BOTH("gt_" #type, gt_##type) BOTH("lg_" #type, lg_##type)     \
	BOTH("ge_" #type, ge_##type) BOTH("o_" #type, o_##type) BOTH("u_" #type, u_##type)         \
	BOTH("nge_" #type, nge_##type) BOTH("nlg_" #type, nlg_##type)                              \
	BOTH("ngt_" #type, ngt_##type) BOTH("nle_" #type, nle_##type)                              \
	BOTH("neq_" #type, neq_##type) BOTH("nlt_" #type, nlt_##type)                              \
	BOTH("tru_" #type, tru_##type) BOTH("class_" #type, class_##type)
#define INT_ROWS(type)                                                                             \
	BOTH("f_" #type, f_##type) BOTH("lt_" #type, lt_##type) BOTH("eq_" #type, eq_##type)       \
	BOTH("le_" #type, le_##type) BOTH("gt_" #type, gt_##type) BOTH("ne_" #type, ne_##type)     \
	BOTH("ge_" #type, ge_##type) BOTH("t_" #type, t_##type)

const struct ref_row ref_compare_rows[] = {
	FLOAT_ROWS(f16) FLOAT_ROWS(f32) FLOAT_ROWS(f64)
	INT_ROWS(i16) INT_ROWS(u16) INT_ROWS(i32) INT_ROWS(u32) INT_ROWS(i64) INT_ROWS(u64)
	{ 0 }
};
/* clang-format on */
