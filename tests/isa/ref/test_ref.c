/* The reference itself: against the host's arithmetic in all four rounding modes, and known values. */
#include <fenv.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/isa/ref/fp.h"

static unsigned failures;

static void expect(const char *what, uint64_t got, uint64_t want)
{
	if (got == want)
		return;
	if (failures++ < 30)
		printf("%s: got %" PRIx64 ", expected %" PRIx64 "\n", what, got, want);
}

static uint64_t state = 1;

static uint64_t next_random(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static const uint64_t special_f32[] = {
	0,          0x80000000, 1,          0x80000001, 0x7fffff,   0x800000,
	0x3f800000, 0xbf800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
	0x7fc00000, 0x3f800001, 0x34000000, 0x00ffffff, 0x4b800000,
};

static uint64_t any_float(enum fp_format f)
{
	uint64_t r = next_random();

	if (f == F32 && r % 3 == 0)
		return special_f32[r / 3 % (sizeof(special_f32) / sizeof(special_f32[0]))];
	if (r % 3 == 1) /* near one, so that sums cancel */
		return f == F32 ? (r >> 8 & 0x807fffff) | (120 + r % 16) << 23
				: (r & 0x800fffffffffffff) | (1016 + r % 16) << 52;
	return f == F32 ? r >> 32 : r;
}

static float as_float(uint64_t x)
{
	uint32_t u = (uint32_t)x;
	float v;

	memcpy(&v, &u, 4);
	return v;
}

static double as_double(uint64_t x)
{
	double v;

	memcpy(&v, &x, 8);
	return v;
}

static uint64_t float_bits(float v)
{
	uint32_t u;

	memcpy(&u, &v, 4);
	return u;
}

static uint64_t double_bits(double v)
{
	uint64_t u;

	memcpy(&u, &v, 8);
	return u;
}

static void same(const char *what, enum fp_format f, uint64_t got, uint64_t want)
{
	if (fp_is_nan(f, want) ? !fp_is_nan(f, got) : got != want)
		expect(what, got, want);
}

static void host_agrees_in_every_rounding_mode(void)
{
	static const int rounds[4] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };

	for (unsigned i = 0; i < 200000; i++) {
		unsigned r = i % 4;
		uint32_t mode = REF_MODE_DEFAULT | r | r << 2;
		uint64_t a = any_float(F32), b = any_float(F32), c = any_float(F32);
		uint64_t x = any_float(F64), y = any_float(F64), z = any_float(F64);
		volatile float fa = as_float(a), fb = as_float(b), fc = as_float(c), f_add, f_mul,
			       f_fma, f_cvt;
		volatile double dx = as_double(x), dy = as_double(y), dz = as_double(z), d_add,
				d_mul, d_fma;

		fesetround(rounds[r]);
		f_add = fa + fb;
		f_mul = fa * fb;
		f_fma = fmaf(fa, fb, fc);
		f_cvt = (float)dx;
		d_add = dx + dy;
		d_mul = dx * dy;
		d_fma = fma(dx, dy, dz);
		fesetround(FE_TONEAREST);
		same("f32 add", F32, fp_add(F32, a, b, mode), float_bits(f_add));
		same("f32 mul", F32, fp_mul(F32, a, b, mode), float_bits(f_mul));
		same("f32 fma", F32, fp_fma(F32, a, b, c, mode), float_bits(f_fma));
		same("f64 add", F64, fp_add(F64, x, y, mode), double_bits(d_add));
		same("f64 mul", F64, fp_mul(F64, x, y, mode), double_bits(d_mul));
		same("f64 fma", F64, fp_fma(F64, x, y, z, mode), double_bits(d_fma));
		same("f32 from f64", F32, fp_convert(F32, F64, x, r, mode), float_bits(f_cvt));
	}
}

static void half_agrees_with_the_compiler(void)
{
	for (uint32_t i = 0; i < 0x10000; i++) {
		uint16_t h = (uint16_t)i;
		_Float16 v;

		memcpy(&v, &h, 2);
		same("f32 from f16", F32, fp_convert(F32, F16, h, ROUND_NEAREST, REF_MODE_DEFAULT),
		     float_bits((float)v));
	}
	for (unsigned i = 0; i < 100000; i++) {
		uint64_t x = any_float(F32);
		_Float16 v = (_Float16)as_float(x);
		uint16_t h;

		memcpy(&h, &v, 2);
		same("f16 from f32", F16, fp_convert(F16, F32, x, ROUND_NEAREST, REF_MODE_DEFAULT),
		     h);
	}
}

static uint64_t run(const char *mnemonic, uint64_t a, uint64_t b, uint64_t c, bool ci, bool *co)
{
	const struct ref_row *row = ref_find(mnemonic);
	struct ref_in in = {
		.s = { a, b, c }, .ci = ci, .mode = REF_MODE_DEFAULT, .target = REF_GFX90A
	};
	struct ref_out out = { 0 };

	row->fn(&in, &out);
	if (co)
		*co = out.co;
	return out.d;
}

/* The sequence that compilers emit for a / b, with the rows of the table: it must divide. */
static uint64_t divide(enum fp_format f, uint64_t num, uint64_t den)
{
	bool is32 = f == F32, vcc;
	const char *scale = is32 ? "v_div_scale_f32" : "v_div_scale_f64",
		   *fma3 = is32 ? "v_fma_f32" : "v_fma_f64";
	uint64_t one = fp_one(f), d, n, r, e, q;

	d = run(scale, den, den, num, false, NULL);
	n = run(scale, num, den, num, false, &vcc);
	r = run(is32 ? "v_rcp_f32" : "v_rcp_f64", d, 0, 0, false, NULL);
	for (int i = 0; i < (is32 ? 1 : 2); i++) {
		e = run(fma3, fp_negate(f, d), r, one, false, NULL);
		r = run(fma3, e, r, r, false, NULL);
	}
	q = run(is32 ? "v_mul_f32" : "v_mul_f64", n, r, 0, false, NULL);
	if (is32) {
		e = run(fma3, fp_negate(f, d), q, n, false, NULL);
		q = run(fma3, e, r, q, false, NULL);
	}
	e = run(fma3, fp_negate(f, d), q, n, false, NULL);
	q = run(is32 ? "v_div_fmas_f32" : "v_div_fmas_f64", e, r, q, vcc, NULL);
	return run(is32 ? "v_div_fixup_f32" : "v_div_fixup_f64", q, den, num, false, NULL);
}

static void division_sequence_divides(void)
{
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t a = any_float(F32), b = any_float(F32), x = any_float(F64),
			 y = any_float(F64);

		same("f32 division", F32, divide(F32, a, b), float_bits(as_float(a) / as_float(b)));
		same("f64 division", F64, divide(F64, x, y),
		     double_bits(as_double(x) / as_double(y)));
	}
}

static void known_values(void)
{
	static const struct {
		const char *mnemonic;
		uint64_t a, b, c, want;
	} cases[] = {
		{ "v_perm_b32", 0x11223344, 0xaabbccdd, 0x0706050c, 0x11223300 },
		{ "v_perm_b32", 0x81223344, 0xaabbccdd, 0x0b080901, 0xffffffcc },
		{ "v_alignbit_b32", 0x12345678, 0x9abcdef0, 8, 0x789abcde },
		{ "v_bfe_i32", 0x00000f00, 8, 4, 0xffffffff },
		{ "v_bfe_u32", 0x00000f00, 8, 4, 0xf },
		{ "v_ffbh_i32", 0xffff0000, 0, 0, 16 },
		{ "v_ffbh_i32", 0xffffffff, 0, 0, 0xffffffff },
		{ "v_ffbh_u32", 1, 0, 0, 31 },
		{ "v_sad_u8", 0x01020304, 0x04030201, 10, 10 + 8 },
		{ "v_msad_u8", 0x01020304, 0x04030001, 10, 10 + 7 },
		{ "v_lerp_u8", 0x00ff0001, 0x01ff0002, 0x01010100, 0x01ff0001 },
		{ "v_cvt_i32_f32", 0x4f000000, 0, 0, 0x7fffffff },
		{ "v_cvt_u32_f32", 0xbf800000, 0, 0, 0 },
		{ "v_cvt_i32_f32", 0x7fc00000, 0, 0, 0 },
		{ "v_cvt_off_f32_i4", 8, 0, 0, 0xbf000000 },
		{ "v_fract_f32", 0x80000001, 0, 0, 0x3f7fffff },
		{ "v_fract_f32", 0xbf000000, 0, 0, 0x3f000000 },
		{ "v_cvt_pkrtz_f16_f32", 0x477fffff, 0x3f800000, 0, 0x3c007bff },
		{ "v_frexp_exp_i32_f32", 0x3f800000, 0, 0, 1 },
		{ "v_frexp_mant_f32", 1, 0, 0, 0x3f000000 },
		{ "v_frexp_exp_i32_f32", 1, 0, 0, (uint32_t)-148 },
		{ "v_mul_hi_i32_i24", 0x800000, 0x7fffff, 0, 0xffffc000 },
		{ "v_med3_f32", 0x40400000, 0x3f800000, 0x40000000, 0x40000000 },
		{ "v_min_f32", 0x7fc00000, 0x3f800000, 0, 0x3f800000 },
		{ "v_mqsad_pk_u16_u8", 0x0807060504030201, 0x01010101, 0, 0x0012000e000a0006 },
		{ "v_sin_f32", 0x3e800000, 0, 0, 0x3f800000 },
		{ "v_exp_f32", 0x40400000, 0, 0, 0x41000000 },
		{ "v_trig_preop_f64", 0x3ff0000000000000, 0, 0, 0x3fe45f306dc9c882 },
		{ "v_trig_preop_f64", 0x3ff0000000000000, 1, 0, 0x3c94a7f09d5f47d4 },
		{ "s_bfe_i32", 0x00000f00, 8 | 4 << 16, 0, 0xffffffff },
		{ "s_quadmask_b32", 0x00010f01, 0, 0, 0x15 },
		{ "s_wqm_b32", 0x00010f01, 0, 0, 0x000f0f0f },
		{ "s_bitreplicate_b64_b32", 5, 0, 0, 0x33 },
		{ "s_flbit_i32_b32", 0, 0, 0, 0xffffffff },
		{ "s_pack_lh_b32_b16", 0x11112222, 0x33334444, 0, 0x33332222 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect(cases[i].mnemonic,
		       run(cases[i].mnemonic, cases[i].a, cases[i].b, cases[i].c, false, NULL),
		       cases[i].want);
}

static void lanes_and_selections(void)
{
	expect("quad_perm", (uint64_t)ref_dpp_source(0x1b, 5), 6);
	expect("row_shl", (uint64_t)ref_dpp_source(0x101, 14), 15);
	expect("row_shl out of the row", (uint64_t)ref_dpp_source(0x101, 15), (uint64_t)-1);
	expect("row_shr", (uint64_t)ref_dpp_source(0x112, 18), 16);
	expect("row_ror", (uint64_t)ref_dpp_source(0x121, 16), 31);
	expect("row_bcast:15", (uint64_t)ref_dpp_source(0x142, 20), 15);
	expect("row_half_mirror", (uint64_t)ref_dpp_source(0x141, 9), 14);
	expect("sdwa byte", ref_sdwa_src(0x80ff, 1, true), 0xffffff80);
	expect("sdwa preserve", ref_sdwa_dst(0x1234, 0xaabbccdd, 2, REF_UNUSED_PRESERVE),
	       0xaa34ccdd);
	expect("sdwa sext", ref_sdwa_dst(0x80, 0xaabbccdd, 1, REF_UNUSED_SEXT), 0xffff8000);
	expect("clamp of NaN", ref_dst_mod(32, 0x7fc00000, 0, true, REF_MODE_DEFAULT), 0);
	expect("omod in IEEE mode", ref_dst_mod(32, 0x3f800000, 1, false, REF_MODE_IEEE),
	       0x3f800000);
	expect("omod", ref_dst_mod(32, 0x3f800000, 1, false, 0), 0x40000000);
}

/* A has one 1 at (i, k): then D is row k of B, in row i; every element of every shape. */
static void matrices_multiply(void)
{
	static const char *const names[] = { "v_mfma_f32_32x32x1f32", "v_mfma_f32_16x16x4f32",
					     "v_mfma_f32_4x4x1f32", "v_mfma_f32_32x32x2f32" };
	static uint32_t a[2][64], b[2][64], c[32][64], d[32][64];
	static double slack[32][64];

	for (size_t s = 0; s < 4; s++) {
		const struct ref_mfma *op = ref_mfma_find(names[s]);
		unsigned changed = 0;

		memset(a, 0, sizeof(a));
		memset(c, 0, sizeof(c));
		for (unsigned lane = 0; lane < 64; lane++)
			b[0][lane] = (uint32_t)fp_rounded(F32, lane + 1, ROUND_NEAREST);
		a[0][0] = 0x3f800000; /* A[0][0] of block 0 */
		ref_mfma_run(op, REF_GFX90A,
			     &(struct ref_mfma_in){ .a = (const uint32_t(*)[64])a,
						    .b = (const uint32_t(*)[64])b,
						    .c = (const uint32_t(*)[64])c },
			     d, slack);
		for (unsigned r = 0; r < ref_mfma_regs_cd(op); r++)
			for (unsigned lane = 0; lane < 64; lane++)
				changed += d[r][lane] != 0;
		expect("elements of row 0", changed, op->m);
		for (unsigned j = 0; j < op->m; j++)
			expect("row 0", d[0][j], b[0][j]);
	}
}

int main(void)
{
	host_agrees_in_every_rounding_mode();
	half_agrees_with_the_compiler();
	division_sequence_divides();
	known_values();
	lanes_and_selections();
	matrices_multiply();
	printf("%zu rows of reference, %u failures\n", ref_n_rows(), failures);
	return failures != 0;
}
