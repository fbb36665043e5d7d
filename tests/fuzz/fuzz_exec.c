/*
 * Any instructions, in any order, on any registers: the interpreter may fault the wave, and nothing
 * else. It must not crash, touch memory it was not given, or run on for ever.
 *
 * Input: a byte for the target, then instruction words. Alone it replays seeded programs made of the
 * words in tests/isa/disasm_golden.txt (every row in every form), some with bits flipped; with
 * libFuzzer (-fsanitize=fuzzer -DWS_LIBFUZZER) anything.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "softgpu/exec/step.h"
#include "tests/fuzz/fuzz.h"

#define ARENA_BYTES 65536
#define LDS_BYTES 4096
#define FENCE 0x5afe5afe5afe5afeull

static uint64_t state = 0x9e3779b97f4a7c15ull;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static bool nothing_more(void *ctx, uint64_t addr, uint64_t size)
{
	(void)ctx;
	(void)addr;
	(void)size;
	return false;
}

/* Registers hold what finds bugs: small numbers, addresses in and around the arena, anything. */
static uint32_t register_value(uint64_t arena, unsigned n)
{
	uint64_t address = arena + next_random() % (ARENA_BYTES + 64) - 32;

	switch (next_random() % 4) {
	case 0:
		return (uint32_t)next_random() % 64;
	case 1:
		return n & 1 ? (uint32_t)(address >> 32) : (uint32_t)address;
	default:
		return (uint32_t)next_random();
	}
}

static void fail(const char *what)
{
	fprintf(stderr, "fuzz_exec: %s\n", what);
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct sg_step *step;
	static uint8_t *arena;
	static uint64_t lds[LDS_BYTES / 8 + 2];
	uint32_t words[256];
	size_t n_words = size ? (size - 1) / 4 : 0;

	if (!n_words)
		return 0;
	if (!step) {
		step = aligned_alloc(64, (sizeof(*step) + 63) / 64 * 64);
		arena = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			     -1, 0);
	}
	if (n_words > sizeof(words) / sizeof(words[0]))
		n_words = sizeof(words) / sizeof(words[0]);
	memcpy(words, data + 1, 4 * n_words);

	struct sg_mem_map mem = { .start = (uintptr_t)arena,
				  .end = (uintptr_t)arena + ARENA_BYTES,
				  .reachable = nothing_more };

	sg_step_init(step);
	lds[0] = lds[LDS_BYTES / 8 + 1] = FENCE;
	step->lds = (uint8_t *)&lds[1];
	step->lds_bytes = LDS_BYTES;
	step->mem = &mem;
	step->shared_hi = 0x10000;
	step->private_hi = 0x20000;
	step->scratch = (uintptr_t)arena;
	step->scratch_bytes = ARENA_BYTES / 2;
	for (unsigned n = 0; n < 126; n++)
		step->sgpr[n] = register_value((uintptr_t)arena, n);
	for (unsigned n = 0; n < 256; n++)
		for (unsigned l = 0; l < 64; l++)
			step->vgpr[n][l] = step->agpr[n][l] = register_value((uintptr_t)arena, n);
	if (next_random() % 4 == 0)
		step->sgpr[126] = (uint32_t)next_random();
	if (next_random() % 4 == 0)
		step->mode = (uint32_t)next_random() & 0x3ff;
	sg_step_run((enum sg_isa_target)(1 << data[0] % SG_ISA_N_TARGETS), words, n_words, step);
	if (lds[0] != FENCE || lds[LDS_BYTES / 8 + 1] != FENCE)
		fail("wrote outside of LDS");
	return 0;
}

#ifndef WS_LIBFUZZER
struct golden {
	uint32_t words[SG_ISA_MAX_WORDS];
	uint8_t n_words;
	uint8_t target; /* its number, as the first byte of an input has it */
};

/* Words of eight digits, then the text. */
static uint8_t read_words(const char *line, uint32_t *words)
{
	uint8_t n = 0;

	for (const char *at = strchr(line, ' '); at && n < SG_ISA_MAX_WORDS; at += 9) {
		if (strspn(at + 1, "0123456789abcdef") != 8)
			break;
		words[n++] = (uint32_t)strtoul(at + 1, NULL, 16);
	}
	return n;
}

/* The lines of a file, behind the *n that are there. */
static struct golden *read_golden(const char *path, struct golden *all, size_t *n)
{
	FILE *f = fopen(path, "r");
	char line[512], target[16];

	if (!f)
		fail("cannot open the golden file");
	while (fgets(line, sizeof(line), f)) {
		struct golden g = { 0 };

		g.n_words = read_words(line, g.words);
		if (!g.n_words || sscanf(line, "%15s", target) != 1 || !sg_isa_target_find(target))
			continue;
		g.target = (uint8_t)__builtin_ctz(sg_isa_target_find(target));
		if (*n % 1024 == 0)
			all = realloc(all, (*n + 1024) * sizeof(*all));
		all[(*n)++] = g;
	}
	fclose(f);
	return all;
}

int main(int argc, char **argv)
{
	size_t n_golden = 0, n_programs = 20000;
	struct golden *golden = NULL;
	uint8_t input[1 + 4 * 64];

	for (int i = 1; i < argc; i++) {
		if (strspn(argv[i], "0123456789") == strlen(argv[i]))
			n_programs = (size_t)atol(argv[i]);
		else
			golden = read_golden(argv[i], golden, &n_golden);
	}
	if (!n_golden)
		fail("usage: fuzz_exec tests/isa/disasm_golden*.txt [PROGRAMS]");
	for (size_t p = 0; p < n_programs; p++) {
		size_t at = 1;

		input[0] = golden[p % n_golden].target;
		while (at + 4 * SG_ISA_MAX_WORDS <= sizeof(input)) {
			/* p walks through all of them, so that every row is first in some program */
			const struct golden *g =
				&golden[at == 1 ? p % n_golden : next_random() % n_golden];
			uint32_t words[SG_ISA_MAX_WORDS];

			memcpy(words, g->words, sizeof(words));
			if (next_random() % 8 == 0)
				words[next_random() % g->n_words] ^= 1u << next_random() % 32;
			memcpy(input + at, words, 4 * g->n_words);
			at += 4 * g->n_words;
		}
		LLVMFuzzerTestOneInput(input, at);
	}
	free(golden);
	printf("%zu programs\n", n_programs);
	return 0;
}
#endif
