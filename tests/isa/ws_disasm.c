/*
 * Prints instruction words given as hexadecimal numbers on standard input, for debugging:
 *
 *	echo 7e000300 bf810000 | ws-disasm gfx90a
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/isa/isa.h"

int main(int argc, char **argv)
{
	enum sg_isa_target target = SG_ISA_GFX90A;
	uint32_t *words = NULL;
	size_t n = 0, size = 0;
	char text[256];

	if (argc > 1)
		target = sg_isa_target_find(argv[1]);
	if (argc > 2 || !target) {
		fprintf(stderr, "usage: ws-disasm [gfx908|gfx90a|gfx942|gfx950] < words\n");
		return 2;
	}
	for (unsigned word; scanf("%x", &word) == 1; n++) {
		if (n == size) {
			size = size ? 2 * size : 1024;
			words = realloc(words, size * sizeof(*words));
			if (!words)
				return 1;
		}
		words[n] = word;
	}
	if (!feof(stdin)) {
		fprintf(stderr, "ws-disasm: word %zu is not a hexadecimal number\n", n + 1);
		free(words);
		return 1;
	}
	for (size_t at = 0; at < n;) {
		struct sg_decoded_insn insn;

		if (sg_isa_decode(target, words + at, n - at, &insn))
			sg_isa_print(target, &insn, at * 4, text, sizeof(text));
		else
			strcpy(text, "(not an instruction)");
		printf("%6zx  %08x", at * 4, words[at]);
		if (insn.n_dwords > 1)
			printf(" %08x  %s\n", words[at + 1], text);
		else
			printf("           %s\n", text);
		at += insn.n_dwords;
	}
	free(words);
	return 0;
}
