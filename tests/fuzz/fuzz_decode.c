/*
 * Any bytes through decoder and disassembler: no word may read past the end, decode to more than is
 * there, or print past the buffer, and what is refused takes one word.
 *
 * With libFuzzer, link with -fsanitize=fuzzer and -DWS_LIBFUZZER. Alone it replays the files named
 * on the command line and then seeded random input, so that it is a test like any other.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/isa/isa.h"
#include "tests/fuzz/fuzz.h"

static void check_print(enum sg_isa_target target, const struct sg_decoded_insn *insn)
{
	char whole[256], part[256];
	int n = sg_isa_print(target, insn, 0x1000, whole, sizeof(whole));

	CHECK(n > 0 && (size_t)n < sizeof(whole) && strlen(whole) == (size_t)n);
	for (size_t size = 0; size <= (size_t)n; size += 1 + size / 4) {
		memset(part, '#', sizeof(part));
		CHECK(sg_isa_print(target, insn, 0x1000, part, size) == n);
		CHECK(part[size] == '#');
		if (size)
			CHECK(strlen(part) == size - 1 && !memcmp(part, whole, size - 1));
	}
}

static void check_fields(const struct sg_decoded_insn *insn)
{
	const struct sg_isa_row *row = insn->row;

	CHECK(row >= sg_isa_rows && row < sg_isa_rows + sg_isa_n_rows);
	CHECK(row->handler == row - sg_isa_rows + 1);
	for (unsigned i = 0; i < row->n_operands; i++) {
		const struct sg_isa_operand *o = &row->operand[i];
		unsigned k = o->role - SG_ROLE_SRC0;

		/* registers stay inside their file, so that the interpreter need not look */
		if (o->role == SG_ROLE_VDST && row->enc != SG_ENC_FLAT)
			CHECK(insn->vdst + o->n_regs <= 256);
		if (k < 3 && insn->src[k] >= SG_OPND_VGPR0)
			CHECK(insn->src[k] + o->n_regs <= SG_OPND_VGPR0 + 256);
		if (k < 3 && insn->src[k] == SG_OPND_LITERAL)
			CHECK(insn->n_dwords == 2);
	}
	CHECK(insn->omod <= 3 && insn->dst_sel <= 6 && insn->src_sel[0] <= 6 &&
	      insn->src_sel[1] <= 6);
	CHECK(insn->dst_unused <= 2 && insn->form <= SG_FORM_DPP);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n_words = size / 4;
	/* exactly as long as the input: a sanitizer sees the word behind it */
	uint32_t *words = malloc(n_words ? n_words * 4 : 1);

	CHECK(words);
	memcpy(words, data, n_words * 4);
	for (unsigned t = 0; t < SG_ISA_N_TARGETS; t++) {
		enum sg_isa_target target = (enum sg_isa_target)(1 << t);

		for (size_t at = 0; at < n_words;) {
			struct sg_decoded_insn insn;
			bool ok;

			memset(&insn, 0xa5, sizeof(insn));
			ok = sg_isa_decode(target, words + at, n_words - at, &insn);
			CHECK(insn.n_dwords >= 1 && insn.n_dwords <= n_words - at);
			CHECK(ok == (insn.row != NULL) && (ok || insn.n_dwords == 1));
			if (ok) {
				check_fields(&insn);
				check_print(target, &insn);
			}
			at += insn.n_dwords;
		}
	}
	free(words);
	return 0;
}

#ifndef WS_LIBFUZZER
#define MAX_INPUT (1 << 20)

static int replay(const char *path)
{
	uint8_t *data = malloc(MAX_INPUT);
	FILE *f = fopen(path, "rb");
	size_t size;

	if (!f || !data) {
		perror(path);
		free(data);
		if (f)
			fclose(f);
		return 1;
	}
	size = fread(data, 1, MAX_INPUT, f);
	fclose(f);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	return 0;
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

int main(int argc, char **argv)
{
	/* the first bytes of the encodings: random words alone seldom start a long one */
	static const uint8_t leads[] = {
		0x00, 0x7e, 0x7c, 0x80, 0xb0, 0xbe, 0xbf, 0xc0, 0xc1, 0xd0,
		0xd1, 0xd2, 0xd3, 0xd8, 0xd9, 0xdc, 0xdd, 0xe0, 0xe1, 0xe8
	};
	uint64_t state = 0x2545f4914f6cdd1d;
	unsigned n_random = 20000;

	for (int i = 1; i < argc; i++)
		if (replay(argv[i]))
			return 1;
	for (unsigned n = 0; n < n_random; n++) {
		uint8_t data[40];
		size_t size = next_random(&state) % (sizeof(data) + 1);

		for (size_t i = 0; i < size; i++)
			data[i] = next_random(&state) >> 24;
		for (size_t i = 3; i < size; i += 8)
			data[i] = leads[next_random(&state) % sizeof(leads)] |
				  (next_random(&state) & 3);
		LLVMFuzzerTestOneInput(data, size);
	}
	printf("%d files, %u random inputs\n", argc - 1, n_random);
	return 0;
}
#endif
