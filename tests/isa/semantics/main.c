/*
 * Every row of the vector and scalar instruction tables, against the reference in tests/isa/ref/.
 *
 *	test_semantics [-v] [MNEMONIC...]     -v: all failures, not the first three of each row
 *
 * WAVESCOPE_SIMD picks the handlers' SIMD level; one that this machine lacks counts as skipped.
 * A row without reference fails, and so does a row of which nothing was compared. Branches, messages and
 * memory instructions (SOPP, SMEM, DS, FLAT, MUBUF, MTBUF) are tested in tests/isa/memory/ and by whole
 * programs; they are no function of registers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/exec/levels.h"
#include "tests/isa/semantics/alias.h"
#include "tests/isa/semantics/matrix.h"
#include "tests/isa/semantics/pk32.h"
#include "tests/isa/semantics/scalar.h"
#include "tests/isa/semantics/special.h"
#include "tests/isa/semantics/vector.h"

enum { EXIT_SKIPPED = 77 }; /* Meson's */

static bool is_covered_here(unsigned enc)
{
	switch (enc) {
	case SG_ENC_SOP1:
	case SG_ENC_SOP2:
	case SG_ENC_SOPC:
	case SG_ENC_SOPK:
	case SG_ENC_VOP1:
	case SG_ENC_VOP2:
	case SG_ENC_VOPC:
	case SG_ENC_VOP3:
	case SG_ENC_VOP3P:
	case SG_ENC_VOP3PX:
		return true;
	default:
		return false;
	}
}

/* A special row, because its result is EXEC; the rest of it is like any other. */
static bool writes_exec(const struct sg_isa_row *row)
{
	return strstr(row->mnemonic, "saveexec") || strstr(row->mnemonic, "wrexec");
}

static void test_row(struct tally *t, const struct sg_isa_row *row, enum sg_isa_target target,
		     struct sg_step *st)
{
	const struct ref_mfma *mfma = ref_mfma_find(row->mnemonic);
	const struct ref_pk32 *pk32 = ref_pk32_find(row->mnemonic);
	const struct ref_row *ref = ref_find(row->mnemonic);
	special_test *special = special_find(row->mnemonic);
	bool scalar = row->enc == SG_ENC_SOP1 || row->enc == SG_ENC_SOP2 ||
		      row->enc == SG_ENC_SOPC || row->enc == SG_ENC_SOPK;

	if (special)
		special(t, row, target, st);
	else if (mfma)
		test_matrix_row(t, row, mfma, target, st);
	else if (pk32)
		test_pk32_row(t, row, pk32, target, st);
	else if (!ref)
		fail(t, "no reference for this row");
	else if (scalar)
		test_scalar_row(t, row, ref, target, st);
	else
		test_vector_row(t, row, ref, target, st);
	/* vector rows in every configuration: vector_run() */
	if (mfma)
		alias_matrix(t, row, target);
	else if (scalar && (!special || writes_exec(row)))
		alias_scalar(t, row, target);
}

/* A row is the same code on all targets: gfx908 and gfx90a differ in forms and in what they flush,
 * later ones only run what those two do not have. Of gfx942's matrices gfx950 changes the 8-bit floats. */
static bool runs_on(const struct sg_isa_row *row, enum sg_isa_target target)
{
	if (target == SG_ISA_GFX950 && row->flags & SG_ISA_MFMA && row->targets & SG_ISA_GFX942)
		return row->insn_class == SG_CLASS_MFMA_F8;
	return row->targets & target &&
	       (target <= SG_ISA_GFX90A || !(row->targets & SG_ISA_GFX90A));
}

static bool is_wanted(const char *mnemonic, char **names, int n)
{
	for (int i = 0; i < n; i++)
		if (strcmp(names[i], mnemonic) == 0)
			return true;
	return n == 0;
}

int main(int argc, char **argv)
{
	struct tally t = { 0 };
	struct sg_step *st = aligned_alloc(64, (sizeof(*st) + 63) / 64 * 64);
	const char *level = getenv("WAVESCOPE_SIMD");
	int first = 1;

	if (!st)
		return 1;
	if (level && strcmp(level, sg_level_name()) != 0) {
		printf("SKIP: this machine has no %s\n", level);
		free(st);
		return EXIT_SKIPPED;
	}
	if (first < argc && strcmp(argv[first], "-v") == 0) {
		t.verbose = true;
		first++;
	}
	for (size_t i = 0; i < sg_isa_n_rows; i++) {
		const struct sg_isa_row *row = &sg_isa_rows[i];

		if (!is_covered_here(row->enc) ||
		    !is_wanted(row->mnemonic, argv + first, argc - first))
			continue;
		tally_start_row(&t, row->mnemonic);
		for (unsigned n = 0; n < SG_ISA_N_TARGETS; n++) {
			enum sg_isa_target target = (enum sg_isa_target)(1 << n);

			if (runs_on(row, target))
				test_row(&t, row, target, st);
		}
		tally_end_row(&t);
	}
	printf("%s: %u rows, %u programs, %lu results compared, %u rows failed\n", sg_level_name(),
	       t.rows, t.runs, t.compared, t.bad_rows);
	free(st);
	return t.bad_rows || !t.rows;
}
