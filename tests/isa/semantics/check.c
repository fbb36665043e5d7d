#include "tests/isa/semantics/check.h"

#include <stdio.h>

#include "tests/isa/ref/fp.h"

#define SHOWN_PER_ROW 3

void tally_start_row(struct tally *t, const char *mnemonic)
{
	t->mnemonic = mnemonic;
	t->failures = 0;
	t->row_tested = false;
	t->rows++;
}

void tally_end_row(struct tally *t)
{
	if (!t->row_tested)
		fail(t, "no vector of this row was compared");
	if (t->failures > SHOWN_PER_ROW && !t->verbose)
		printf("%s: ... %u failures in all\n", t->mnemonic, t->failures);
	t->bad_rows += t->failures != 0;
}

void fail(struct tally *t, const char *format, ...)
{
	va_list args;

	if (t->failures++ >= SHOWN_PER_ROW && !t->verbose)
		return;
	printf("%s: ", t->mnemonic);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

static bool nan_matches(enum fp_format f, uint64_t got, bool any)
{
	return fp_is_nan(f, got) && (any || !fp_is_snan(f, got));
}

static uint64_t ordered(enum fp_format f,
			uint64_t x) /* floats as integers in the order of the reals */
{
	uint64_t top = 1ull << (fp_bits(f) - 1);

	return x & top ? top - (x & (top - 1)) : top + x;
}

static enum fp_format format_of(unsigned bits)
{
	return bits == 16 ? F16 : bits == 32 ? F32 : F64;
}

bool is_flushed_edge(unsigned bits, uint64_t x, uint32_t mode)
{
	enum fp_format f = format_of(bits);
	unsigned denorm = f == F32 ? REF_MODE_DENORM_F32(mode) : REF_MODE_DENORM_F64(mode);

	return !(denorm & 2) && fp_exponent(f, x) == 1 &&
	       !(x & ((1ull << (fp_precision(f) - 1)) - 1));
}

static bool float_matches(enum fp_format f, const struct ref_row *row, uint64_t want, uint64_t got,
			  double slack, uint32_t mode)
{
	uint64_t a, b;

	if (want == got) /* also a signalling NaN that is only moved */
		return true;
	if (fp_is_nan(f, want))
		return nan_matches(f, got, row->flags & REF_ANY_NAN);
	if (fp_is_nan(f, got))
		return false;
	if (is_flushed_edge(fp_bits(f), want, mode) && got == fp_signed_zero(f, fp_sign(f, want)))
		return true;
	if ((row->flags & REF_SLACK) && within(fp_bits(f), want, got, slack))
		return true;
	if (!(row->flags & REF_APPROX))
		return false;
	a = ordered(f, want);
	b = ordered(f, got);
	return (a > b ? a - b : b - a) <= row->tolerance;
}

bool within(unsigned bits, uint64_t want, uint64_t got, double slack)
{
	enum fp_format f = format_of(bits);
	quad a, b;

	if (fp_is_nan(f, want))
		return fp_is_nan(f, got);
	if (want == got)
		return true;
	if (fp_is_nan(f, got) || fp_is_inf(f, got) || fp_is_inf(f, want))
		return false;
	a = fp_value(f, want);
	b = fp_value(f, got);
	return (a > b ? a - b : b - a) <= (quad)slack;
}

static bool halves_match(const struct ref_row *row, uint64_t want, uint64_t got, unsigned bits,
			 uint32_t mode)
{
	enum fp_format f = bits == 16 ? F16 : F32;
	uint64_t mask = bits == 16 ? 0xffff : 0xffffffff;

	return float_matches(f, row, want & mask, got & mask, 0, mode) &&
	       float_matches(f, row, want >> bits & mask, got >> bits & mask, 0, mode) &&
	       (bits == 32 || want >> 32 == got >> 32);
}

static bool norm_matches(uint64_t want, uint64_t got)
{
	for (unsigned i = 0; i < 32; i += 16) {
		uint16_t a = (uint16_t)(want >> i), b = (uint16_t)(got >> i);
		uint16_t apart = (uint16_t)(a - b);

		if (apart > 1 && apart != 0xffff)
			return false;
	}
	return true;
}

bool value_matches(const struct ref_row *row, uint64_t want, uint64_t got, double slack,
		   uint32_t mode)
{
	switch (row->result) {
	case REF_F16:
		return float_matches(F16, row, want, got, slack, mode);
	case REF_F32:
		return float_matches(F32, row, want, got, slack, mode);
	case REF_F64:
		return float_matches(F64, row, want, got, slack, mode);
	case REF_V2F16:
		return halves_match(row, want, got, 16, mode);
	case REF_V2F32:
		return halves_match(row, want, got, 32, mode);
	default:
		return row->flags & REF_NORM16 ? norm_matches(want, got) : want == got;
	}
}
