/* Operand selection and modifiers: everything between the registers and the arithmetic. */
#include "tests/isa/ref/fp.h"

#include <string.h>

static enum fp_format format_of(unsigned bits)
{
	return bits == 16 ? F16 : bits == 32 ? F32 : F64;
}

uint64_t ref_src_mod(unsigned bits, uint64_t value, bool neg, bool abs)
{
	enum fp_format f = format_of(bits);

	if (abs)
		value = fp_absolute(f, value);
	return neg ? fp_negate(f, value) : value;
}

uint64_t ref_dst_mod(unsigned bits, uint64_t value, unsigned omod, bool clamp, uint32_t mode)
{
	static const int exponents[4] = { 0, 1, 2, -1 };
	enum fp_format f = format_of(bits);
	unsigned denorm = f == F32 ? REF_MODE_DENORM_F32(mode) : REF_MODE_DENORM_F64(mode);

	if (omod && !(mode & REF_MODE_IEEE) && !(denorm & 2) && !fp_is_nan(f, value)) {
		value = fp_scale(f, value, exponents[omod], mode);
		if (fp_is_zero(f, value))
			value = 0;
	}
	if (clamp) {
		if (fp_is_nan(f, value))
			return mode & REF_MODE_DX10_CLAMP ? 0 : value;
		if (fp_sign(f, value))
			return 0;
		if (value > fp_one(f))
			return fp_one(f);
	}
	return value;
}

uint32_t ref_sdwa_src(uint32_t value, unsigned sel, bool sext)
{
	if (sel < 4)
		return sext ? (uint32_t)(int32_t)(int8_t)(value >> 8 * sel)
			    : value >> 8 * sel & 0xff;
	if (sel < 6)
		return sext ? (uint32_t)(int32_t)(int16_t)(value >> 16 * (sel - 4))
			    : value >> 16 * (sel - 4) & 0xffff;
	return value;
}

uint32_t ref_sdwa_dst(uint32_t result, uint32_t old, unsigned sel, unsigned unused)
{
	unsigned bits = sel < 4 ? 8 : sel < 6 ? 16 : 32;
	unsigned at = sel < 4 ? 8 * sel : sel < 6 ? 16 * (sel - 4) : 0;
	uint32_t field = bits == 32 ? UINT32_MAX : (1u << bits) - 1, placed;

	if (bits == 32)
		return result;
	placed = (result & field) << at;
	switch (unused) {
	case REF_UNUSED_PRESERVE:
		return placed | (old & ~(field << at));
	case REF_UNUSED_SEXT: /* zeros below, the sign above */
		if ((result & field) >> (bits - 1) && at + bits < 32)
			placed |= ~0u << (at + bits);
		return placed;
	default:
		return placed;
	}
}

int ref_dpp_source(unsigned ctrl, unsigned lane)
{
	unsigned row = lane & ~15u, in_row = lane & 15;
	int n = (int)(ctrl & 15), from;

	if (ctrl <= 0xff) /* quad_perm */
		return (int)((lane & ~3u) | (ctrl >> 2 * (lane & 3) & 3));
	switch (ctrl & ~15u) {
	case 0x100: /* row_shl: lane reads the one n above */
		from = (int)in_row + n;
		return from < 16 ? (int)row + from : -1;
	case 0x110: /* row_shr */
		from = (int)in_row - n;
		return from >= 0 ? (int)row + from : -1;
	case 0x120: /* row_ror */
		return (int)(row | ((in_row - (unsigned)n) & 15));
	case 0x150: /* row_newbcast, gfx90a: one lane of the row to all of it */
		return (int)row + n;
	}
	switch (ctrl) {
	case 0x130: /* wave_shl:1 */
		return lane < 63 ? (int)lane + 1 : -1;
	case 0x134: /* wave_rol:1 */
		return (int)((lane + 1) & 63);
	case 0x138: /* wave_shr:1 */
		return (int)lane - 1;
	case 0x13c: /* wave_ror:1 */
		return (int)((lane - 1) & 63);
	case 0x140: /* row_mirror */
		return (int)(row | (15 - in_row));
	case 0x141: /* row_half_mirror */
		return (int)((lane & ~7u) | (7 - (lane & 7)));
	case 0x142: /* row_bcast:15: last lane of a row to the next row */
		return lane < 16 ? -1 : (int)row - 1;
	case 0x143: /* row_bcast:31 to rows 2 and 3 */
		return lane < 32 ? -1 : 31;
	}
	return -1;
}

bool ref_dpp_enabled(unsigned row_mask, unsigned bank_mask, unsigned lane)
{
	return (row_mask >> lane / 16 & 1) && (bank_mask >> lane % 16 / 4 & 1);
}

static const struct ref_row *const tables[] = {
	ref_float_rows,   ref_special_rows, ref_convert_rows, ref_int_rows,    ref_packed_rows,
	ref_compare_rows, ref_salu_rows,    ref_small_rows,   ref_scaled_rows,
};
#define N_TABLES (sizeof(tables) / sizeof(tables[0]))

const struct ref_row *ref_row_at(size_t index)
{
	for (size_t t = 0; t < N_TABLES; t++)
		for (const struct ref_row *row = tables[t]; row->mnemonic; row++)
			if (index-- == 0)
				return row;
	return NULL;
}

size_t ref_n_rows(void)
{
	size_t n = 0;

	while (ref_row_at(n))
		n++;
	return n;
}

const struct ref_row *ref_find(const char *mnemonic)
{
	for (size_t t = 0; t < N_TABLES; t++)
		for (const struct ref_row *row = tables[t]; row->mnemonic; row++)
			if (strcmp(row->mnemonic, mnemonic) == 0)
				return row;
	return NULL;
}
