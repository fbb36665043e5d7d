/*
 * Any bytes as a library whose functions are looked up: nothing outside of them is read. Alone
 * it replays its own program and variations of it, cut off and with bytes flipped, and checks
 * that the whole one has what it exports.
 */
#include "launch/elf_symbol.h"
#include "tests/fuzz/fuzz.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 2000

/* A copy of exactly that size, so that a sanitizer sees a read past its end. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct launch_elf_symbol symbols[] = { { "dlopen", 0 },
					       { "pthread_create", 0 },
					       { "", 0 } };
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	launch_elf_symbols_in(copy, size, symbols, 3);
	free(copy);
	return 0;
}

#ifndef WS_LIBFUZZER
static uint8_t *read_file(const char *path, size_t *out_n)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes = malloc(8 << 20);

	*out_n = file && bytes ? fread(bytes, 1, 8 << 20, file) : 0;
	if (file)
		fclose(file);
	return bytes;
}

int main(int argc, char **argv)
{
	struct launch_elf_symbol found[] = { { "roctxMarkA", 0 }, { "no_such_function", 0 } };
	unsigned seed = 20260;
	size_t n = 0;
	uint8_t *bytes = argc > 1 ? read_file(argv[1], &n) : NULL;
	uint8_t *changed = bytes ? malloc(n + 1) : NULL;
	/* the section table is at the end of a file, the header at its beginning */
	size_t near = 4096;

	if (!changed || n < near || !launch_elf_symbols_in(bytes, n, found, 2) ||
	    !found[0].offset || found[1].offset) {
		fprintf(stderr, "%s: %zu bytes, not what it should be\n", argv[argc - 1], n);
		return 1;
	}
	for (int i = 0; i < ROUNDS; i++) {
		memcpy(changed, bytes, n);
		for (int flips = 1 + rand_r(&seed) % 8; flips; flips--) {
			size_t at = (size_t)rand_r(&seed) % near;

			changed[rand_r(&seed) % 2 ? at % 64 : n - 1 - at] = (uint8_t)rand_r(&seed);
		}
		LLVMFuzzerTestOneInput(changed, i % 4 ? n : (size_t)rand_r(&seed) % n);
	}
	free(changed);
	free(bytes);
	return 0;
}
#endif
