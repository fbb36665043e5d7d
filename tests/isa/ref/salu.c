/*
 * Scalar instructions that are a function of their operands. s[0], s[1]: sources (SOPK: s[0] the
 * register, s[1] the sign-extended constant), d_old: the destination, ci: SCC before.
 */
#include "tests/isa/ref/ref.h"

#define A32 ((uint32_t)in->s[0])
#define B32 ((uint32_t)in->s[1])
#define AI ((int32_t)in->s[0])
#define BI ((int32_t)in->s[1])
#define A64 (in->s[0])
#define B64 (in->s[1])

static void result(out_t *out, uint64_t d)
{
	out->d = d;
	out->d_written = true;
}

static void result_scc(out_t *out, uint64_t d, bool scc)
{
	result(out, d);
	out->scc = scc;
	out->scc_written = true;
}

/* R: result only; L: SCC = result is not zero; C: SCC given */
#define R(name, expression)                                                                        \
	static void name(in_t *in, out_t *out)                                                     \
	{                                                                                          \
		result(out, (uint64_t)(expression));                                               \
	}
#define L(name, expression)                                                                        \
	static void name(in_t *in, out_t *out)                                                     \
	{                                                                                          \
		uint64_t d = (uint64_t)(expression);                                               \
                                                                                                   \
		result_scc(out, d, d != 0);                                                        \
	}
#define C(name, expression, carry)                                                                 \
	static void name(in_t *in, out_t *out)                                                     \
	{                                                                                          \
		result_scc(out, (uint64_t)(expression), (carry));                                  \
	}
#define T(name, test)                                                                              \
	static void name(in_t *in, out_t *out)                                                     \
	{                                                                                          \
		out->scc = (test);                                                                 \
		out->scc_written = true;                                                           \
	}

/* --- SOP2 -------------------------------------------------------------------------------------- */

static bool overflows(int64_t exact)
{
	return exact > INT32_MAX || exact < INT32_MIN;
}

C(add_u32, (uint32_t)(A32 + B32), (uint64_t)A32 + B32 > UINT32_MAX)
C(sub_u32, (uint32_t)(A32 - B32), B32 > A32)
C(add_i32, (uint32_t)(A32 + B32), overflows((int64_t)AI + BI))
C(sub_i32, (uint32_t)(A32 - B32), overflows((int64_t)AI - BI))
C(addc_u32, (uint32_t)(A32 + B32 + in->ci), (uint64_t)A32 + B32 + in->ci > UINT32_MAX)
C(subb_u32, (uint32_t)(A32 - B32 - in->ci), (uint64_t)B32 + in->ci > A32)
C(min_i32, (uint32_t)(AI < BI ? AI : BI), AI < BI)
C(min_u32, A32 < B32 ? A32 : B32, A32 < B32)
C(max_i32, (uint32_t)(AI > BI ? AI : BI), AI > BI)
C(max_u32, A32 > B32 ? A32 : B32, A32 > B32)
R(cselect_b32, in->ci ? A32 : B32)
R(cselect_b64, in->ci ? A64 : B64)
L(and_b32, A32 &B32)
L(and_b64, A64 &B64)
L(or_b32, A32 | B32)
L(or_b64, A64 | B64)
L(xor_b32, A32 ^ B32)
L(xor_b64, A64 ^ B64)
L(andn2_b32, A32 & ~B32)
L(andn2_b64, A64 & ~B64)
L(orn2_b32, A32 | ~B32)
L(orn2_b64, A64 | ~B64)
L(nand_b32, (uint32_t) ~(A32 &B32))
L(nand_b64, ~(A64 &B64))
L(nor_b32, (uint32_t) ~(A32 | B32))
L(nor_b64, ~(A64 | B64))
L(xnor_b32, (uint32_t) ~(A32 ^ B32))
L(xnor_b64, ~(A64 ^ B64))
L(lshl_b32, (uint32_t)(A32 << (B32 & 31)))
L(lshl_b64, A64 << (B32 & 63))
L(lshr_b32, A32 >> (B32 & 31))
L(lshr_b64, A64 >> (B32 & 63))
L(ashr_i32, (uint32_t)(AI >> (B32 & 31)))
L(ashr_i64, (int64_t)A64 >> (B32 & 63))
R(bfm_b32, (uint32_t)(((1u << (A32 & 31)) - 1) << (B32 & 31)))
R(bfm_b64, ((1ull << (A32 & 63)) - 1) << (B32 & 63))
R(mul_i32, (uint32_t)(A32 *B32))
R(mul_hi_u32, (uint64_t)A32 *B32 >> 32)
R(mul_hi_i32, (uint32_t)((int64_t)AI *BI >> 32))
L(absdiff_i32, (uint32_t)((int32_t)(A32 - B32) < 0 ? 0u - (A32 - B32) : A32 - B32))

/* offset in bits 4:0 (5:0), width in 22:16 */
static uint64_t field(uint64_t x, unsigned bits, uint32_t control, bool is_signed)
{
	unsigned offset = control & (bits - 1), width = control >> 16 & 0x7f;
	uint64_t v = 0;

	for (unsigned i = 0; i < width && i < bits; i++) {
		unsigned from = offset + i;

		/* Past the top a signed field continues the sign, an unsigned one reads zeros. */
		if (from >= bits)
			from = is_signed ? bits - 1 : 64;
		if (from < 64)
			v |= (x >> from & 1) << i;
	}
	if (is_signed && width > 0 && width < bits && (v >> (width - 1) & 1))
		v |= ~0ull << width;
	return bits == 32 ? (uint32_t)v : v;
}

L(bfe_u32, field(A32, 32, B32, false))
L(bfe_i32, field(A32, 32, B32, true))
L(bfe_u64, field(A64, 64, B32, false))
L(bfe_i64, field(A64, 64, B32, true))

#define SHIFT_ADD(n)                                                                               \
	C(lshl##n##_add, (uint32_t)((A32 << n) + B32), ((uint64_t)A32 << n) + B32 > UINT32_MAX)
SHIFT_ADD(1)
SHIFT_ADD(2)
SHIFT_ADD(3)
SHIFT_ADD(4)
R(pack_ll, (A32 & 0xffff) | (uint64_t)(B32 & 0xffff) << 16)
R(pack_lh, (A32 & 0xffff) | (B32 & 0xffff0000))
R(pack_hh, A32 >> 16 | (B32 & 0xffff0000))

/* --- SOP1 -------------------------------------------------------------------------------------- */

static unsigned ones(uint64_t x)
{
	unsigned n = 0;

	for (; x; x >>= 1)
		n += x & 1;
	return n;
}

static uint64_t reversed(uint64_t x, unsigned bits)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bits; i++)
		v |= (x >> i & 1) << (bits - 1 - i);
	return v;
}

static uint32_t first_one(uint64_t x, unsigned bits) /* from below */
{
	for (uint32_t i = 0; i < bits; i++)
		if (x >> i & 1)
			return i;
	return UINT32_MAX;
}

static uint32_t leading(uint64_t x, unsigned bits) /* position of the first one, from above */
{
	for (uint32_t i = 0; i < bits; i++)
		if (x >> (bits - 1 - i) & 1)
			return i;
	return UINT32_MAX;
}

static uint32_t leading_sign(uint64_t x, unsigned bits) /* first bit unlike the sign, from above */
{
	for (uint32_t i = 1; i < bits; i++)
		if ((x >> (bits - 1 - i) & 1) != (x >> (bits - 1) & 1))
			return i;
	return UINT32_MAX;
}

static uint64_t quads(uint64_t x, unsigned bits, bool spread)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bits; i += 4)
		if (x >> i & 15)
			v |= spread ? 15ull << i : 1ull << i / 4;
	return v;
}

static uint64_t doubled(uint32_t x)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < 32; i++)
		v |= (uint64_t)(x >> i & 1) * 3 << 2 * i;
	return v;
}

R(mov_b32, A32)
R(mov_b64, A64)
R(cmov_b32, in->ci ? A32 : (uint32_t)in->d_old)
R(cmov_b64, in->ci ? A64 : in->d_old)
L(not_b32, (uint32_t)~A32)
L(not_b64, ~A64)
L(wqm_b32, quads(A32, 32, true))
L(wqm_b64, quads(A64, 64, true))
L(quadmask_b32, quads(A32, 32, false))
L(quadmask_b64, quads(A64, 64, false))
R(brev_b32, reversed(A32, 32))
R(brev_b64, reversed(A64, 64))
L(bcnt0_b32, 32 - ones(A32))
L(bcnt0_b64, 64 - ones(A64))
L(bcnt1_b32, ones(A32))
L(bcnt1_b64, ones(A64))
R(ff0_b32, first_one((uint32_t)~A32, 32))
R(ff0_b64, first_one(~A64, 64))
R(ff1_b32, first_one(A32, 32))
R(ff1_b64, first_one(A64, 64))
R(flbit_b32, leading(A32, 32))
R(flbit_b64, leading(A64, 64))
R(flbit_i32, leading_sign(A32, 32))
R(flbit_i64, leading_sign(A64, 64))
R(sext_i8, (uint32_t)(int32_t)(int8_t)A32)
R(sext_i16, (uint32_t)(int32_t)(int16_t)A32)
R(bitset0_b32, (uint32_t)in->d_old & ~(1u << (A32 & 31)))
R(bitset0_b64, in->d_old & ~(1ull << (A32 & 63)))
R(bitset1_b32, (uint32_t)in->d_old | 1u << (A32 & 31))
R(bitset1_b64, in->d_old | 1ull << (A32 & 63))
L(abs_i32, (uint32_t)(AI < 0 ? 0u - A32 : A32))
R(bitreplicate, doubled(A32))

/* --- SOPC, SOPK -------------------------------------------------------------------------------- */

T(eq_i32, AI == BI)
T(lg_i32, AI != BI)
T(gt_i32, AI > BI)
T(ge_i32, AI >= BI)
T(lt_i32, AI < BI)
T(le_i32, AI <= BI)
T(eq_u32, A32 == B32)
T(lg_u32, A32 != B32)
T(gt_u32, A32 > B32)
T(ge_u32, A32 >= B32)
T(lt_u32, A32 < B32)
T(le_u32, A32 <= B32)
T(bitcmp0_b32, !(A32 >> (B32 & 31) & 1))
T(bitcmp1_b32, A32 >> (B32 & 31) & 1)
T(bitcmp0_b64, !(A64 >> (B32 & 63) & 1))
T(bitcmp1_b64, A64 >> (B32 & 63) & 1)
T(eq_u64, A64 == B64)
T(lg_u64, A64 != B64)

/* The unsigned comparisons take the constant zero-extended. */
#define K16 (B32 & 0xffff)
T(k_eq_u32, A32 == K16)
T(k_lg_u32, A32 != K16)
T(k_gt_u32, A32 > K16)
T(k_ge_u32, A32 >= K16)
T(k_lt_u32, A32 < K16)
T(k_le_u32, A32 <= K16)
R(movk, B32)
R(cmovk, in->ci ? B32 : (uint32_t)in->d_old)

const struct ref_row ref_salu_rows[] = { { "s_add_u32", add_u32 },
					 { "s_sub_u32", sub_u32 },
					 { "s_add_i32", add_i32 },
					 { "s_sub_i32", sub_i32 },
					 { "s_addc_u32", addc_u32 },
					 { "s_subb_u32", subb_u32 },
					 { "s_min_i32", min_i32 },
					 { "s_min_u32", min_u32 },
					 { "s_max_i32", max_i32 },
					 { "s_max_u32", max_u32 },
					 { "s_cselect_b32", cselect_b32 },
					 { "s_cselect_b64", cselect_b64 },
					 { "s_and_b32", and_b32 },
					 { "s_and_b64", and_b64 },
					 { "s_or_b32", or_b32 },
					 { "s_or_b64", or_b64 },
					 { "s_xor_b32", xor_b32 },
					 { "s_xor_b64", xor_b64 },
					 { "s_andn2_b32", andn2_b32 },
					 { "s_andn2_b64", andn2_b64 },
					 { "s_orn2_b32", orn2_b32 },
					 { "s_orn2_b64", orn2_b64 },
					 { "s_nand_b32", nand_b32 },
					 { "s_nand_b64", nand_b64 },
					 { "s_nor_b32", nor_b32 },
					 { "s_nor_b64", nor_b64 },
					 { "s_xnor_b32", xnor_b32 },
					 { "s_xnor_b64", xnor_b64 },
					 { "s_lshl_b32", lshl_b32 },
					 { "s_lshl_b64", lshl_b64 },
					 { "s_lshr_b32", lshr_b32 },
					 { "s_lshr_b64", lshr_b64 },
					 { "s_ashr_i32", ashr_i32 },
					 { "s_ashr_i64", ashr_i64 },
					 { "s_bfm_b32", bfm_b32 },
					 { "s_bfm_b64", bfm_b64 },
					 { "s_mul_i32", mul_i32 },
					 { "s_mul_hi_u32", mul_hi_u32 },
					 { "s_mul_hi_i32", mul_hi_i32 },
					 { "s_bfe_u32", bfe_u32 },
					 { "s_bfe_i32", bfe_i32 },
					 { "s_bfe_u64", bfe_u64 },
					 { "s_bfe_i64", bfe_i64 },
					 { "s_absdiff_i32", absdiff_i32 },
					 { "s_lshl1_add_u32", lshl1_add },
					 { "s_lshl2_add_u32", lshl2_add },
					 { "s_lshl3_add_u32", lshl3_add },
					 { "s_lshl4_add_u32", lshl4_add },
					 { "s_pack_ll_b32_b16", pack_ll },
					 { "s_pack_lh_b32_b16", pack_lh },
					 { "s_pack_hh_b32_b16", pack_hh },

					 { "s_mov_b32", mov_b32 },
					 { "s_mov_b64", mov_b64 },
					 { "s_cmov_b32", cmov_b32 },
					 { "s_cmov_b64", cmov_b64 },
					 { "s_not_b32", not_b32 },
					 { "s_not_b64", not_b64 },
					 { "s_wqm_b32", wqm_b32 },
					 { "s_wqm_b64", wqm_b64 },
					 { "s_quadmask_b32", quadmask_b32 },
					 { "s_quadmask_b64", quadmask_b64 },
					 { "s_brev_b32", brev_b32 },
					 { "s_brev_b64", brev_b64 },
					 { "s_bcnt0_i32_b32", bcnt0_b32 },
					 { "s_bcnt0_i32_b64", bcnt0_b64 },
					 { "s_bcnt1_i32_b32", bcnt1_b32 },
					 { "s_bcnt1_i32_b64", bcnt1_b64 },
					 { "s_ff0_i32_b32", ff0_b32 },
					 { "s_ff0_i32_b64", ff0_b64 },
					 { "s_ff1_i32_b32", ff1_b32 },
					 { "s_ff1_i32_b64", ff1_b64 },
					 { "s_flbit_i32_b32", flbit_b32 },
					 { "s_flbit_i32_b64", flbit_b64 },
					 { "s_flbit_i32", flbit_i32 },
					 { "s_flbit_i32_i64", flbit_i64 },
					 { "s_sext_i32_i8", sext_i8 },
					 { "s_sext_i32_i16", sext_i16 },
					 { "s_bitset0_b32", bitset0_b32 },
					 { "s_bitset0_b64", bitset0_b64 },
					 { "s_bitset1_b32", bitset1_b32 },
					 { "s_bitset1_b64", bitset1_b64 },
					 { "s_abs_i32", abs_i32 },
					 { "s_bitreplicate_b64_b32", bitreplicate },

					 { "s_cmp_eq_i32", eq_i32 },
					 { "s_cmp_lg_i32", lg_i32 },
					 { "s_cmp_gt_i32", gt_i32 },
					 { "s_cmp_ge_i32", ge_i32 },
					 { "s_cmp_lt_i32", lt_i32 },
					 { "s_cmp_le_i32", le_i32 },
					 { "s_cmp_eq_u32", eq_u32 },
					 { "s_cmp_lg_u32", lg_u32 },
					 { "s_cmp_gt_u32", gt_u32 },
					 { "s_cmp_ge_u32", ge_u32 },
					 { "s_cmp_lt_u32", lt_u32 },
					 { "s_cmp_le_u32", le_u32 },
					 { "s_bitcmp0_b32", bitcmp0_b32 },
					 { "s_bitcmp1_b32", bitcmp1_b32 },
					 { "s_bitcmp0_b64", bitcmp0_b64 },
					 { "s_bitcmp1_b64", bitcmp1_b64 },
					 { "s_cmp_eq_u64", eq_u64 },
					 { "s_cmp_lg_u64", lg_u64 },

					 { "s_movk_i32", movk },
					 { "s_cmovk_i32", cmovk },
					 { "s_cmpk_eq_i32", eq_i32 },
					 { "s_cmpk_lg_i32", lg_i32 },
					 { "s_cmpk_gt_i32", gt_i32 },
					 { "s_cmpk_ge_i32", ge_i32 },
					 { "s_cmpk_lt_i32", lt_i32 },
					 { "s_cmpk_le_i32", le_i32 },
					 { "s_cmpk_eq_u32", k_eq_u32 },
					 { "s_cmpk_lg_u32", k_lg_u32 },
					 { "s_cmpk_gt_u32", k_gt_u32 },
					 { "s_cmpk_ge_u32", k_ge_u32 },
					 { "s_cmpk_lt_u32", k_lt_u32 },
					 { "s_cmpk_le_u32", k_le_u32 },
					 { "s_addk_i32", add_i32 },
					 { "s_mulk_i32", mul_i32 },
					 { 0 } };
