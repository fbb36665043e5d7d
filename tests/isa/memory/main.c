/* Runs every memory row of the tables, on every target that has it, against the reference. */
#include <stdio.h>
#include <string.h>

#include "tests/isa/memory/world.h"

static bool (*const test_of[WS_N_ENCS])(struct world *w) = {
	[WS_ENC_DS] = test_ds_row,       [WS_ENC_FLAT] = test_flat_row,  [WS_ENC_SMEM] = test_smem_row,
	[WS_ENC_MUBUF] = test_buffer_row, [WS_ENC_MTBUF] = test_buffer_row,
};

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
	static const struct { enum ws_isa_target bit; enum ws_target target; } targets[] = {
		{ WS_ISA_GFX908, WS_GFX908 }, { WS_ISA_GFX90A, WS_GFX90A },
	};
	struct world *w = world_create();
	int n_rows = 0, n_missing = 0;

	for (size_t n = 0; n < ws_isa_n_rows; n++) {
		const struct ws_isa_row *row = &ws_isa_rows[n];

		if (!test_of[row->enc] || !wanted(argc, argv, row->mnemonic))
			continue;
		for (unsigned t = 0; t < 2; t++) {
			if (!(row->targets & targets[t].bit))
				continue;
			w->row = row;
			w->target = targets[t].target;
			n_rows++;
			if (!test_of[row->enc](w)) {
				printf("%s: no vector for this row\n", row->mnemonic);
				n_missing++;
			}
		}
	}
	w->row = NULL;
	w->target = WS_GFX90A;
	if (argc < 2) {
		test_gws(w);
		test_faults(w);
	}
	printf("%d rows, %d without a vector, %d failures\n", n_rows, n_missing, w->n_failures);
	int failed = w->n_failures || n_missing || !n_rows;

	world_destroy(w);
	return failed;
}
