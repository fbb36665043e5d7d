/*
 * What the counters and the timing model read of matrix instructions: operations as the mnemonic's shape
 * has them, and per type the peak that AMD publishes for the GPUs of a target.
 */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "softgpu/isa/isa.h"
#include "softgpu/trace/timing_insn.h"

/* v_mfma_f32_32x32x4_2b_f16, and gfx90a's v_mfma_f32_32x32x4f16, whose blocks the registers tell. */
static double operations(const struct sg_isa_row *row)
{
	unsigned m, n, k, blocks = 0;
	const char *shape =
		strchr(row->mnemonic, '_'); /* ... of the first word with a digit first */

	while (shape && (shape[1] < '0' || shape[1] > '9'))
		shape = strchr(shape + 1, '_');
	assert_non_null(shape);
	assert_int_equal(sscanf(shape, "_%ux%ux%u_%ub_", &m, &n, &k, &blocks) >= 3, true);
	if (!blocks) {
		const struct sg_isa_operand *d = &row->operand[0];

		blocks = d->n_regs * 64 / (d->bits == 64 ? 2 : 1) / (m * n);
	}
	return 2.0 * m * n * k * blocks;
}

static void weights_are_operations(void **state)
{
	unsigned n_rows = 0;

	(void)state;
	for (size_t i = 0; i < sg_isa_n_rows; i++) {
		const struct sg_isa_row *row = &sg_isa_rows[i];

		if (!(row->flags & SG_ISA_MFMA))
			continue;
		n_rows++;
		if (operations(row) != 512.0 * row->weight)
			fail_msg("%s: %g operations, its weight says %g", row->mnemonic,
				 operations(row), 512.0 * row->weight);
	}
	assert_true(n_rows > 90);
}

/* A row's decoded form: all that sg_timing_insn_of() reads of a matrix instruction. */
static double ops_per_cycle(const struct sg_isa_row *row, enum sg_isa_target target,
			    unsigned format, unsigned *out_class)
{
	struct sg_decoded_insn insn = {
		.row = row, .n_dwords = 2, .cbsz = (uint8_t)format, .blgp = (uint8_t)format
	};
	struct sg_timing_insn t = sg_timing_insn_of(&insn, target);

	*out_class = t.insn_class;
	assert_int_equal(t.passes, 1);
	return operations(row) / (4.0 * t.matrix_passes);
}

static double peak_tflops(enum sg_isa_target target, unsigned insn_class, bool sparse,
			  double units_ghz)
{
	double best = 0;

	for (size_t i = 0; i < sg_isa_n_rows; i++) {
		const struct sg_isa_row *row = &sg_isa_rows[i];

		if (!(row->flags & SG_ISA_MFMA) || !(row->targets & target) ||
		    !(row->flags & SG_ISA_SPARSE) != !sparse)
			continue;
		for (unsigned format = 0; format < 5; format++) {
			unsigned got_class;
			double rate = ops_per_cycle(row, target, format, &got_class);

			if (got_class == insn_class && rate > best)
				best = rate;
		}
	}
	return best * units_ghz / 1000;
}

static void peaks_are_as_published(void **state)
{
	/* matrix units: 4 of each compute unit, at the peak clock of the data sheet */
	const double mi250x = 4 * 220 * 1.7, mi300x = 4 * 304 * 2.1, mi355x = 4 * 256 * 2.4;
	const struct {
		enum sg_isa_target target;
		unsigned insn_class;
		bool sparse;
		double units_ghz, tflops;
	} peaks[] = {
		{ SG_ISA_GFX90A, SG_CLASS_MFMA_F64, false, mi250x, 95.7 },
		{ SG_ISA_GFX90A, SG_CLASS_MFMA_F32, false, mi250x, 95.7 },
		{ SG_ISA_GFX90A, SG_CLASS_MFMA_F16, false, mi250x, 383.0 },
		{ SG_ISA_GFX90A, SG_CLASS_MFMA_BF16, false, mi250x, 383.0 },
		{ SG_ISA_GFX90A, SG_CLASS_MFMA_I8, false, mi250x, 383.0 },
		{ SG_ISA_GFX942, SG_CLASS_MFMA_F64, false, mi300x, 163.4 },
		{ SG_ISA_GFX942, SG_CLASS_MFMA_F32, false, mi300x, 163.4 },
		{ SG_ISA_GFX942, SG_CLASS_MFMA_XF32, false, mi300x, 653.7 },
		{ SG_ISA_GFX942, SG_CLASS_MFMA_F16, false, mi300x, 1307.4 },
		{ SG_ISA_GFX942, SG_CLASS_MFMA_BF16, false, mi300x, 1307.4 },
		{ SG_ISA_GFX942, SG_CLASS_MFMA_F8, false, mi300x, 2614.9 },
		{ SG_ISA_GFX942, SG_CLASS_MFMA_I8, false, mi300x, 2614.9 },
		{ SG_ISA_GFX942, SG_CLASS_MFMA_F16, true, mi300x, 2614.9 },
		{ SG_ISA_GFX942, SG_CLASS_MFMA_F8, true, mi300x, 5229.8 },
		{ SG_ISA_GFX942, SG_CLASS_MFMA_I8, true, mi300x, 5229.8 },
		{ SG_ISA_GFX950, SG_CLASS_MFMA_F64, false, mi355x, 78.6 },
		{ SG_ISA_GFX950, SG_CLASS_MFMA_F32, false, mi355x, 157.3 },
		{ SG_ISA_GFX950, SG_CLASS_MFMA_F16, false, mi355x, 2516.6 },
		{ SG_ISA_GFX950, SG_CLASS_MFMA_BF16, false, mi355x, 2516.6 },
		{ SG_ISA_GFX950, SG_CLASS_MFMA_F8, false, mi355x, 5033.2 },
		{ SG_ISA_GFX950, SG_CLASS_MFMA_I8, false, mi355x, 5033.2 },
		{ SG_ISA_GFX950, SG_CLASS_MFMA_F6F4, false, mi355x, 10066.3 },
		{ SG_ISA_GFX950, SG_CLASS_MFMA_F16, true, mi355x, 5033.2 },
		{ SG_ISA_GFX950, SG_CLASS_MFMA_F8, true, mi355x, 10066.3 },
		{ SG_ISA_GFX950, SG_CLASS_MFMA_XF32, false, mi355x, 0 }, /* gone */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(peaks) / sizeof(*peaks); i++) {
		double got = peak_tflops(peaks[i].target, peaks[i].insn_class, peaks[i].sparse,
					 peaks[i].units_ghz);

		if (fabs(got - peaks[i].tflops) > 0.001 * peaks[i].tflops)
			fail_msg("%s, class %u%s: %g TFLOP/s, expected %g",
				 sg_isa_target_name(peaks[i].target), peaks[i].insn_class,
				 peaks[i].sparse ? ", sparse" : "", got, peaks[i].tflops);
	}
}

static void formats_decide_class_and_length(void **state)
{
	/* v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[20:23], v24, v25 */
	uint32_t words[4] = { 0xd3ac0000, 0x00023318, 0xd3ad0800, 0x04521904 };

	(void)state;
	for (unsigned a = 0; a < 5; a++)
		for (unsigned b = 0; b < 5; b++) {
			bool is_small = a > 1 && b > 1;
			struct sg_decoded_insn insn;
			struct sg_timing_insn t;

			words[2] = (words[2] & ~0x700u) | a << 8;
			words[3] = (words[3] & ~0xe0000000u) | b << 29;
			assert_true(sg_isa_decode(SG_ISA_GFX950, words, 4, &insn));
			t = sg_timing_insn_of(&insn, SG_ISA_GFX950);
			assert_int_equal(t.dwords, 4);
			assert_int_equal(t.weight, 128);
			assert_int_equal(t.matrix_passes, is_small ? 4 : 8);
			assert_int_equal(t.insn_class,
					 is_small ? SG_CLASS_MFMA_F6F4 : SG_CLASS_MFMA_F8);
		}
	assert_false(sg_isa_decode(SG_ISA_GFX942, words, 4, &(struct sg_decoded_insn){ 0 }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_are_operations),
		cmocka_unit_test(peaks_are_as_published),
		cmocka_unit_test(formats_decide_class_and_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
