/*
 * Every row in every form on every target, against text that LLVM agreed to when it was recorded by
 * record_golden.sh. Runs where LLVM is not; a row without a line fails.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/isa/isa_priv.h"

static unsigned n_failures;

/* The words of eight digits at the front; what follows them is the text. */
static size_t read_words(const char **at, uint32_t *words, size_t max_words)
{
	size_t n = 0;

	while (n < max_words && strspn(*at, "0123456789abcdef") == 8 && (*at)[8] == ' ') {
		words[n++] = strtoul(*at, NULL, 16);
		*at += 9;
	}
	return n;
}

static void check_line(char *line, bool (*seen)[SG_ISA_N_TARGETS][4])
{
	char got[256] = "(refused)";
	const char *name = line, *expected = strchr(line, ' ');
	uint32_t words[4];
	size_t n_words = 0;
	struct sg_decoded_insn insn;
	enum sg_isa_target target;

	line[strcspn(line, "\n")] = '\0';
	if (expected) {
		line[expected++ - name] = '\0';
		n_words = read_words(&expected, words, 4);
	}
	if (!n_words || !*expected) {
		printf("not a line of words and text: %s\n", line);
		n_failures++;
		return;
	}
	target = sg_isa_target_find(name);
	if (!target) {
		printf("no target '%s'\n", name);
		n_failures++;
		return;
	}
	if (sg_isa_decode(target, words, n_words, &insn)) {
		sg_isa_print(target, &insn, 0, got, sizeof(got));
		seen[insn.row - sg_isa_rows][__builtin_ctz(target)][insn.form] = true;
	}
	if (strcmp(got, expected)) {
		printf("%s %08x: '%s', expected '%s'\n", name, words[0], got, expected);
		n_failures++;
	}
}

static void report_missing(const struct sg_isa_row *row, bool (*seen)[4])
{
	for (unsigned t = 0; t < SG_ISA_N_TARGETS; t++) {
		enum sg_isa_target target = (enum sg_isa_target)(1 << t);

		/* what gfx942 has is not recorded again: it is decoded by the same rules */
		if (target == SG_ISA_GFX950 && row->targets & SG_ISA_GFX942)
			continue;
		for (enum sg_form form = 0; form < 4; form++) {
			if (!(row->targets & target) || seen[t][form] ||
			    !sg_isa_has_form(row, target, form))
				continue;
			printf("no line for %s on %s, form %u\n", row->mnemonic,
			       sg_isa_target_name(target), form);
			n_failures++;
		}
	}
}

int main(int argc, char **argv)
{
	bool(*seen)[SG_ISA_N_TARGETS][4] = calloc(sg_isa_n_rows, sizeof(*seen));
	unsigned n_lines = 0;
	char line[512];

	if (argc < 2 || !seen) {
		fprintf(stderr, "usage: disasm_golden FILE...\n");
		return 2;
	}
	for (int i = 1; i < argc; i++) {
		FILE *f = fopen(argv[i], "r");

		if (!f) {
			fprintf(stderr, "disasm_golden: cannot open %s\n", argv[i]);
			return 2;
		}
		for (; fgets(line, sizeof(line), f); n_lines++)
			check_line(line, seen);
		fclose(f);
	}
	for (size_t i = 0; i < sg_isa_n_rows; i++)
		report_missing(&sg_isa_rows[i], seen[i]);
	free(seen);
	printf("%u lines, %u failures\n", n_lines, n_failures);
	return n_failures || !n_lines;
}
