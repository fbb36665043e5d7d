/*
 * Every row in every form on both targets, against text that LLVM agreed to when it was recorded:
 * `disasm_oracle first > disasm_golden.txt`. Runs where LLVM is not; a row without a line fails.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/isa/isa_priv.h"

static unsigned n_failures;

static void check_line(const char *line, bool (*seen)[2][4])
{
	char name[16], expected[256], got[256] = "(refused)";
	uint32_t words[2];
	struct sg_decoded_insn insn;
	bool is_gfx90a;
	enum sg_isa_target target;

	if (sscanf(line, "%15s %x %x %255[^\n]", name, &words[0], &words[1], expected) != 4) {
		printf("not a line of words and text: %s", line);
		n_failures++;
		return;
	}
	is_gfx90a = !strcmp(name, "gfx90a");
	target = is_gfx90a ? SG_ISA_GFX90A : SG_ISA_GFX908;
	if (sg_isa_decode(target, words, 2, &insn)) {
		sg_isa_print(target, &insn, 0, got, sizeof(got));
		seen[insn.row - sg_isa_rows][is_gfx90a][insn.form] = true;
	}
	if (strcmp(got, expected)) {
		printf("%s %08x %08x: '%s', expected '%s'\n", name, words[0], words[1], got,
		       expected);
		n_failures++;
	}
}

int main(int argc, char **argv)
{
	static const enum sg_isa_target targets[] = { SG_ISA_GFX908, SG_ISA_GFX90A };
	bool(*seen)[2][4] = calloc(sg_isa_n_rows, sizeof(*seen));
	FILE *f = argc == 2 ? fopen(argv[1], "r") : NULL;
	unsigned n_lines = 0;
	char line[512];

	if (!f || !seen) {
		fprintf(stderr, "usage: disasm_golden FILE\n");
		return 2;
	}
	for (; fgets(line, sizeof(line), f); n_lines++)
		check_line(line, seen);
	fclose(f);
	for (size_t i = 0; i < sg_isa_n_rows; i++) {
		for (unsigned t = 0; t < 2; t++) {
			for (enum sg_form form = 0; form < 4; form++) {
				const struct sg_isa_row *row = &sg_isa_rows[i];

				if (!(row->targets & targets[t]) || seen[i][t][form] ||
				    !sg_isa_has_form(row, targets[t], form))
					continue;
				printf("no line for %s, form %u\n", row->mnemonic, form);
				n_failures++;
			}
		}
	}
	free(seen);
	printf("%u lines, %u failures\n", n_lines, n_failures);
	return n_failures || !n_lines;
}
