/*
 * replay: a fuzzer as a test like any other: the files named on the command line, then
 * seeded mutations of each. With libFuzzer, link with -fsanitize=fuzzer instead of this.
 */
#include "tests/fuzz/fuzz.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef N_MUTATIONS /* fewer where a round takes milliseconds */
#define N_MUTATIONS 400
#endif
#define INPUT_BYTES_MAX (1u << 20)

static uint64_t next(uint64_t *state) /* xorshift */
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static size_t mutate(uint8_t *data, size_t size, uint64_t *state)
{
	unsigned n_edits = 1 + next(state) % 8;

	for (unsigned i = 0; i < n_edits && size; i++) {
		size_t at = next(state) % size, span = next(state) % 16;

		switch (next(state) % 5) {
		case 0:
			data[at] ^= (uint8_t)(1u << next(state) % 8);
			break;
		case 1:
			data[at] = (uint8_t)next(state);
			break;
		case 2:
			size = at;
			break;
		case 3: /* a stretch again, over what is there */
			if (at + span < size)
				memmove(data + next(state) % (size - span), data + at, span);
			break;
		default:
			memset(data + at, next(state) & 1 ? 0xff : 0,
			       span < size - at ? span : size - at);
		}
	}
	return size;
}

/* Each input in memory of its own size, so that ASan sees one byte too many. */
static void run(const uint8_t *data, size_t size)
{
	uint8_t *exact = malloc(size ? size : 1);

	if (!exact)
		abort();
	memcpy(exact, data, size);
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
}

int main(int argc, char **argv)
{
	static uint8_t original[INPUT_BYTES_MAX], changed[INPUT_BYTES_MAX];
	uint64_t state = 0x2545f4914f6cdd1d;

	for (int i = 1; i < argc; i++) {
		FILE *file = fopen(argv[i], "rb");
		size_t n;

		if (!file) {
			perror(argv[i]);
			return 1;
		}
		n = fread(original, 1, sizeof(original), file);
		fclose(file);
		run(original, n);
		for (unsigned k = 0; k < N_MUTATIONS; k++) {
			memcpy(changed, original, n);
			run(changed, mutate(changed, n, &state));
		}
	}
	printf("%d files, %d mutations of each\n", argc - 1, N_MUTATIONS);
	return argc > 1 ? 0 : 1;
}
