/* Runs every memory and program control row of the tables, on every target that has it, against the
 * reference. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/exec/levels.h"
#include "tests/isa/memory/world.h"

enum { EXIT_SKIPPED = 77 }; /* Meson's */

/* clang-format off */
static bool (*const test_of[SG_N_ENCS])(struct world *w) = {
	[SG_ENC_DS] = test_ds_row,       [SG_ENC_FLAT] = test_flat_row,  [SG_ENC_SMEM] = test_smem_row,
	[SG_ENC_MUBUF] = test_buffer_row, [SG_ENC_MTBUF] = test_buffer_row,
	[SG_ENC_SOPP] = test_control_row,
};
/* clang-format on */

/* Arguments: nothing, or the mnemonics to run. */
static bool wanted(int argc, char **argv, const char *mnemonic)
{
	for (int n = 1; n < argc; n++)
		if (!strcmp(argv[n], mnemonic))
			return true;
	return argc < 2;
}

int main(int argc, char **argv)
{
	const char *level = getenv("WAVESCOPE_SIMD");
	struct world *w;
	int n_rows = 0, n_missing = 0, n_aliased = 0;

	if (level && strcmp(level, sg_level_name()) != 0) {
		printf("SKIP: this machine has no %s\n", level);
		return EXIT_SKIPPED;
	}
	w = world_create();
	for (size_t n = 0; n < sg_isa_n_rows; n++) {
		const struct sg_isa_row *row = &sg_isa_rows[n];

		if (!test_of[row->enc] || !wanted(argc, argv, row->mnemonic))
			continue;
		for (unsigned t = 0; t < SG_ISA_N_TARGETS; t++) {
			/* later targets run what gfx90a does not have: the code of a row is the same */
			if (!(row->targets & 1u << t) ||
			    (1 << t > SG_ISA_GFX90A && row->targets & SG_ISA_GFX90A))
				continue;
			w->row = row;
			w->target = (enum sg_isa_target)(1 << t);
			n_rows++;
			if (!test_of[row->enc](w)) {
				printf("%s: no vector for this row\n", row->mnemonic);
				n_missing++;
			}
			n_aliased += test_alias_row(w);
		}
	}
	w->row = NULL;
	w->target = SG_ISA_GFX90A;
	if (argc < 2) {
		test_gws(w);
		test_faults(w);
		test_tearing(w);
	}
	printf("%s: %d rows, %d of them aliased, %d without a vector, %d failures\n",
	       sg_level_name(), n_rows, n_aliased, n_missing, w->n_failures);
	/* loads and atomics that return something are more than half of the rows */
	int failed = w->n_failures || n_missing || !n_rows || (argc < 2 && n_aliased < n_rows / 2);

	world_destroy(w);
	return failed;
}
