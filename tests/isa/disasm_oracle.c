/*
 * The decoder and disassembler against LLVM's: every row of the tables in every form, each field
 * through its interesting values, then at random; both must accept the same words, take the same
 * number of bytes and print the same text.
 *
 * Each target has its version of LLVM: versions differ in spelling, and older ones do not know
 * the later targets. `disasm_oracle VERSION` tests the targets of one version, whose library is loaded at
 * run time; without it the test is skipped. `disasm_oracle VERSION N SEED` sets how many random words
 * each row and form gets (and 1000 times as many for no row in particular); any further argument
 * prints every difference. `disasm_oracle VERSION first` prints the first word of every row and form
 * that both agree on: record_golden.sh keeps that, for machines without LLVM.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/isa/isa_priv.h"
#include "tests/isa/oracle_exceptions.h"

#define SKIPPED 77
#define N_SHOWN 40

static void *(*create)(const char *triple, const char *cpu, void *info, int tag, void *get_info,
		       void *lookup);
static size_t (*disassemble)(void *ctx, uint8_t *bytes, uint64_t n, uint64_t pc, char *text,
			     size_t size);

/* The reference of each target, and what it is called there. */
static const struct reference {
	const char *version, *library;
	unsigned targets; /* bits of enum sg_isa_target */
	/*
	 * Rows of these targets are left out. gfx950 decodes what gfx942 has in the same way, and
	 * LLVM 21 refuses words of it that LLVM 19 accepts (v_cmpx in VOP3), or ends in a fault.
	 */
	unsigned without;
} references[] = {
	{ "15", "libLLVM-15.so.1", SG_ISA_GFX908 | SG_ISA_GFX90A, 0 },
	{ "19", "libLLVM.so.19.1", SG_ISA_GFX942, 0 },
	{ "21", "libLLVM.so.21.1", SG_ISA_GFX950, SG_ISA_GFX942 },
};

static enum sg_isa_target target; /* the one under test */
static void *context;
static uint32_t (*n_agreed)[4]; /* per row and form: words that both accept and print alike */
static unsigned long n_words, n_accepted, n_differences, n_excepted;
static bool verbose, print_first;
static bool has_prefix; /* the words under test stand behind a scale prefix */

/* A bit field of the encoding, over the 64 bits of the first two words. */
enum kind { SRC9, SRC8, SREG, VREG, DPP_CTRL, BITS };
struct field {
	uint8_t low, n, kind;
};

static const struct field sop2_fields[] = { { 0, 8, SRC8 }, { 8, 8, SRC8 }, { 16, 7, SREG } };
static const struct field sopk_fields[] = { { 0, 16, BITS }, { 16, 7, SREG } };
static const struct field sop1_fields[] = { { 0, 8, SRC8 }, { 16, 7, SREG } };
static const struct field sopc_fields[] = { { 0, 8, SRC8 }, { 8, 8, SRC8 } };
static const struct field sopp_fields[] = { { 0, 16, BITS } };
static const struct field smem_fields[] = {
	{ 0, 6, SREG },  { 6, 7, SREG },  { 13, 1, BITS },  { 14, 1, BITS }, { 15, 1, BITS },
	{ 16, 1, BITS }, { 17, 1, BITS }, { 32, 21, BITS }, { 53, 4, BITS }, { 57, 7, SREG },
};
static const struct field vop2_fields[] = { { 0, 9, SRC9 }, { 9, 8, VREG }, { 17, 8, VREG } };
static const struct field vop1_fields[] = { { 0, 9, SRC9 }, { 17, 8, VREG } };
static const struct field vopc_fields[] = { { 0, 9, SRC9 }, { 9, 8, VREG } };
static const struct field vop3_fields[] = {
	{ 0, 8, VREG },  { 8, 3, BITS },  { 11, 4, BITS }, { 15, 1, BITS }, { 32, 9, SRC9 },
	{ 41, 9, SRC9 }, { 50, 9, SRC9 }, { 59, 2, BITS }, { 61, 3, BITS },
};
/* The same bits where 8..14 are a scalar destination. */
static const struct field vop3b_fields[] = {
	{ 0, 8, VREG },  { 8, 7, SREG },  { 15, 1, BITS }, { 32, 9, SRC9 },
	{ 41, 9, SRC9 }, { 50, 9, SRC9 }, { 59, 2, BITS }, { 61, 3, BITS },
};
static const struct field sdwa_fields[] = {
	{ 9, 8, VREG },  { 17, 8, VREG }, { 32, 8, SRC8 }, { 40, 3, BITS }, { 43, 2, BITS },
	{ 45, 1, BITS }, { 46, 2, BITS }, { 48, 3, BITS }, { 51, 1, BITS }, { 52, 1, BITS },
	{ 53, 1, BITS }, { 54, 1, BITS }, { 55, 1, BITS }, { 56, 3, BITS }, { 59, 1, BITS },
	{ 60, 1, BITS }, { 61, 1, BITS }, { 62, 1, BITS }, { 63, 1, BITS },
};
static const struct field sdwab_fields[] = {
	{ 9, 8, VREG },  { 32, 8, SRC8 }, { 40, 7, SREG }, { 47, 1, BITS },
	{ 48, 3, BITS }, { 51, 1, BITS }, { 52, 1, BITS }, { 53, 1, BITS },
	{ 54, 1, BITS }, { 55, 1, BITS }, { 56, 3, BITS }, { 59, 1, BITS },
	{ 60, 1, BITS }, { 61, 1, BITS }, { 62, 1, BITS }, { 63, 1, BITS },
};
static const struct field dpp_fields[] = {
	{ 9, 8, VREG },  { 17, 8, VREG }, { 32, 8, VREG }, { 40, 9, DPP_CTRL },
	{ 49, 2, BITS }, { 51, 1, BITS }, { 52, 1, BITS }, { 53, 1, BITS },
	{ 54, 1, BITS }, { 55, 1, BITS }, { 56, 4, BITS }, { 60, 4, BITS },
};
static const struct field ds_fields[] = {
	{ 0, 16, BITS }, { 16, 1, BITS }, { 25, 1, BITS }, { 32, 8, VREG },
	{ 40, 8, VREG }, { 48, 8, VREG }, { 56, 8, VREG },
};
static const struct field flat_fields[] = {
	{ 0, 13, BITS }, { 13, 1, BITS }, { 14, 2, BITS }, { 16, 1, BITS },
	{ 17, 1, BITS }, { 25, 1, BITS }, { 32, 8, VREG }, { 40, 8, VREG },
	{ 48, 7, SREG }, { 55, 1, BITS }, { 56, 8, VREG },
};
static const struct field mubuf_fields[] = {
	{ 0, 12, BITS }, { 12, 1, BITS }, { 13, 1, BITS }, { 14, 1, BITS }, { 15, 1, BITS },
	{ 16, 1, BITS }, { 17, 1, BITS }, { 25, 1, BITS }, { 32, 8, VREG }, { 40, 8, VREG },
	{ 48, 5, BITS }, { 53, 2, BITS }, { 55, 1, BITS }, { 56, 8, SRC8 },
};
static const struct field mtbuf_fields[] = {
	{ 0, 12, BITS }, { 12, 1, BITS }, { 13, 1, BITS }, { 14, 1, BITS }, { 19, 4, BITS },
	{ 23, 3, BITS }, { 32, 8, VREG }, { 40, 8, VREG }, { 48, 5, BITS }, { 53, 1, BITS },
	{ 54, 1, BITS }, { 55, 1, BITS }, { 56, 8, SRC8 },
};

#define FIELDS(name) name##_fields, sizeof(name##_fields) / sizeof(*name##_fields)
static const struct layout {
	uint8_t enc, form;
	uint32_t word; /* the encoding's own bits */
	uint8_t op_low;
	uint16_t op_base; /* VOP3 form: added to the opcode */
	uint16_t src0;    /* SDWA and DPP announce themselves in src0 */
	const struct field *fields;
	size_t n_fields;
} layouts[] = {
	{ SG_ENC_SOP2, SG_FORM_PLAIN, 0x80000000, 23, 0, 0, FIELDS(sop2) },
	{ SG_ENC_SOPK, SG_FORM_PLAIN, 0xb0000000, 23, 0, 0, FIELDS(sopk) },
	{ SG_ENC_SOP1, SG_FORM_PLAIN, 0xbe800000, 8, 0, 0, FIELDS(sop1) },
	{ SG_ENC_SOPC, SG_FORM_PLAIN, 0xbf000000, 16, 0, 0, FIELDS(sopc) },
	{ SG_ENC_SOPP, SG_FORM_PLAIN, 0xbf800000, 16, 0, 0, FIELDS(sopp) },
	{ SG_ENC_SMEM, SG_FORM_PLAIN, 0xc0000000, 18, 0, 0, FIELDS(smem) },
	{ SG_ENC_VOP2, SG_FORM_PLAIN, 0x00000000, 25, 0, 0, FIELDS(vop2) },
	{ SG_ENC_VOP2, SG_FORM_VOP3, 0xd0000000, 16, 0x100, 0, FIELDS(vop3) },
	{ SG_ENC_VOP2, SG_FORM_VOP3, 0xd0000000, 16, 0x100, 0, FIELDS(vop3b) },
	{ SG_ENC_VOP2, SG_FORM_SDWA, 0x00000000, 25, 0, 0xf9, FIELDS(sdwa) },
	{ SG_ENC_VOP2, SG_FORM_DPP, 0x00000000, 25, 0, 0xfa, FIELDS(dpp) },
	{ SG_ENC_VOP1, SG_FORM_PLAIN, 0x7e000000, 9, 0, 0, FIELDS(vop1) },
	{ SG_ENC_VOP1, SG_FORM_VOP3, 0xd0000000, 16, 0x140, 0, FIELDS(vop3) },
	{ SG_ENC_VOP1, SG_FORM_SDWA, 0x7e000000, 9, 0, 0xf9, FIELDS(sdwa) },
	{ SG_ENC_VOP1, SG_FORM_DPP, 0x7e000000, 9, 0, 0xfa, FIELDS(dpp) },
	{ SG_ENC_VOPC, SG_FORM_PLAIN, 0x7c000000, 17, 0, 0, FIELDS(vopc) },
	{ SG_ENC_VOPC, SG_FORM_VOP3, 0xd0000000, 16, 0x000, 0, FIELDS(vop3) },
	{ SG_ENC_VOPC, SG_FORM_SDWA, 0x7c000000, 17, 0, 0xf9, FIELDS(sdwab) },
	{ SG_ENC_VOPC, SG_FORM_DPP, 0x7c000000, 17, 0, 0xfa, FIELDS(dpp) },
	{ SG_ENC_VOP3, SG_FORM_PLAIN, 0xd0000000, 16, 0, 0, FIELDS(vop3) },
	{ SG_ENC_VOP3, SG_FORM_PLAIN, 0xd0000000, 16, 0, 0, FIELDS(vop3b) },
	{ SG_ENC_VOP3P, SG_FORM_PLAIN, 0xd3800000, 16, 0, 0, FIELDS(vop3) },
	{ SG_ENC_DS, SG_FORM_PLAIN, 0xd8000000, 17, 0, 0, FIELDS(ds) },
	{ SG_ENC_FLAT, SG_FORM_PLAIN, 0xdc000000, 18, 0, 0, FIELDS(flat) },
	{ SG_ENC_MUBUF, SG_FORM_PLAIN, 0xe0000000, 18, 0, 0, FIELDS(mubuf) },
	{ SG_ENC_MTBUF, SG_FORM_PLAIN, 0xe8000000, 15, 0, 0, FIELDS(mtbuf) },
	{ SG_ENC_VOP3PX, SG_FORM_PLAIN, 0xd3800800, 16, 0, 0, FIELDS(vop3) },
};

static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint32_t random_u32(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state >> 32;
}

/* LLVM's text without the tab and the remark behind ';'; its size in bytes, 0 if it refuses. */
static size_t llvm_text(const uint32_t *words, size_t n, char *text, size_t size)
{
	uint8_t bytes[16];
	char raw[512];
	size_t used, at = 0;

	memcpy(bytes, words, n * 4);
	used = disassemble(context, bytes, n * 4, 0, raw, sizeof(raw));
	text[0] = '\0';
	if (!used)
		return 0;
	for (const char *p = raw; *p && *p != ';' && at + 1 < size; p++) {
		char c = *p == '\t' ? ' ' : *p;

		/* the later versions' remark on a register that the assembler would refuse */
		if (!strncmp(p, "/*Invalid register", 18)) {
			p = strstr(p, "*/") + 1;
			continue;
		}

		if (c != ' ' || (at && text[at - 1] != ' '))
			text[at++] = c;
	}
	while (at && text[at - 1] == ' ')
		at--;
	text[at] = '\0';
	return used;
}

/* The first word behind a prefix says so in abid. */
static uint32_t with_prefix(uint64_t words)
{
	return ((uint32_t)words & ~(0xfu << 11)) | 1u << 11;
}

/* The first two words of an instruction behind a prefix, with all fields of it at random. */
static void random_prefix(uint32_t *words)
{
	static const uint16_t scales[] = { 256, 300, 511, 0,   24,  101, 106,
					   126, 128, 192, 208, 240, 248 };
	enum { N_SCALES = sizeof(scales) / sizeof(*scales) };

	words[0] = 0xd3ac0000 | (random_u32() & 0xffff);
	words[1] = (random_u32() & 0xfffc0000) | scales[random_u32() % N_SCALES] |
		   scales[random_u32() % N_SCALES] << 9;
}

static void print_line(const uint32_t *words, size_t n, const char *text)
{
	printf("%s", sg_isa_target_name(target));
	for (size_t i = 0; i < n; i++)
		printf(" %08x", words[i]);
	printf(" %s\n", text);
}

static void compare(uint64_t words)
{
	/* a literal behind, so that every literal exists and two are told apart from one */
	static const uint32_t literals[] = { 0x3f800000, 0x00000005, 0xfffffff0, 0x12345678,
					     0x00003c00, 0xffff3c00, 0x80000000, 0x3e22f983,
					     0x00000041, 0x0000fff0 };
	static unsigned n_literal;
	uint32_t stream[4] = { words, words >> 32, 0 };
	struct sg_decoded_insn insn;
	char ours[256], theirs[256];
	size_t size, n = 3;
	bool accepted;

	if (oracle_kills_llvm(target, words))
		return;
	stream[2] = literals[n_literal++ % (sizeof(literals) / sizeof(*literals))];
	if (!(stream[0] >> 31) || stream[0] >> 30 == 2) /* 32-bit encodings: the literal is next */
		if ((stream[0] & 0x1ff) != 0xf9 && (stream[0] & 0x1ff) != 0xfa)
			stream[1] = stream[2];
	if (has_prefix) {
		n = 4;
		random_prefix(stream);
		stream[2] = with_prefix(words);
		stream[3] = words >> 32;
	}
	n_words++;
	accepted = sg_isa_decode(target, stream, n, &insn);
	ours[0] = '\0';
	if (accepted)
		sg_isa_print(target, &insn, 0, ours, sizeof(ours));
	size = llvm_text(stream, n, theirs, sizeof(theirs));
	if (accepted && size == insn.n_dwords * 4u && !strcmp(ours, theirs)) {
		if (!n_agreed[insn.row - sg_isa_rows][insn.form]++ && print_first)
			print_line(stream, has_prefix ? 4 : 2, ours);
		n_accepted++;
		return;
	}
	if (!accepted && (!size || size == 12))
		return; /* of 12 bytes: LLVM 21 takes gfx10's literals of VOP3 for gfx950's */
	if (!strncmp(ours, "v_cvt_pk_bf16_f32", 17) && !size && words >> 13 & 1)
		return; /* a bit of op_sel that it refuses here and ignores elsewhere */
	if (accepted && !size && oracle_is_short_tuple(&insn))
		return;
	if (!accepted && oracle_is_oddity(target, theirs, words)) {
		n_excepted++;
		return;
	}
	if (n_differences++ < N_SHOWN || verbose)
		printf("%s %08x %08x\n  ours   %2u %s\n  llvm   %2zu %s\n",
		       sg_isa_target_name(target), stream[0], stream[1],
		       accepted ? insn.n_dwords * 4 : 0, accepted ? ours : "(refused)", size,
		       size ? theirs : "(refused)");
}

static uint64_t with_field(uint64_t words, const struct field *f, uint32_t value)
{
	uint64_t mask = ((UINT64_C(1) << f->n) - 1) << f->low;

	return (words & ~mask) | ((uint64_t)value << f->low & mask);
}

static uint32_t usual_value(const struct field *f)
{
	static const uint16_t sources[] = { 256, 257, 260, 384, 508, 510, 511, 0,   1,   2,
					    4,   5,   96,  98,  100, 101, 102, 103, 104, 105,
					    106, 107, 108, 110, 111, 120, 122, 123, 124, 126,
					    127, 128, 129, 192, 193, 208, 209, 235, 236, 237,
					    238, 239, 240, 241, 242, 243, 244, 245, 246, 247,
					    248, 251, 252, 253, 254, 255 };
	static const uint8_t registers[] = { 0,   1,   2,   4,   8,   12,  96,  100,
					     102, 104, 106, 108, 112, 124, 126, 127 };
	static const uint8_t vectors[] = { 0,   1,   2,   3,   4,   8,   128, 223,
					   224, 239, 248, 252, 253, 254, 255 };

	static const uint16_t controls[] = { 0x000, 0x0e4, 0x0ff, 0x100, 0x101, 0x10f, 0x110,
					     0x111, 0x11f, 0x121, 0x12f, 0x130, 0x134, 0x138,
					     0x139, 0x13c, 0x140, 0x141, 0x142, 0x143, 0x144,
					     0x14f, 0x150, 0x155, 0x15f, 0x160 };

	switch ((enum kind)f->kind) {
	case SRC9:
		return sources[random_u32() % (sizeof(sources) / sizeof(*sources))];
	case SRC8:
		return sources[random_u32() % (sizeof(sources) / sizeof(*sources))] & 0xff;
	case SREG:
		return registers[random_u32() % sizeof(registers)] & ((1 << f->n) - 1);
	case VREG:
		return vectors[random_u32() % sizeof(vectors)];
	case DPP_CTRL: /* the edges of every group of controls, and what lies between */
		return controls[random_u32() % (sizeof(controls) / sizeof(*controls))];
	case BITS:
		break;
	}
	return random_u32();
}

/* Fields at random, many of them 0: an unused field often has to be. */
static uint64_t random_words(uint64_t base, const struct layout *l)
{
	uint32_t zeros = random_u32() & random_u32(), odd = random_u32() % 8 == 0;

	if (random_u32() % 4 == 0)
		zeros = random_u32() | random_u32();
	for (size_t i = 0; i < l->n_fields; i++)
		if (!(zeros >> i & 1))
			base = with_field(base, &l->fields[i],
					  odd ? random_u32() : usual_value(&l->fields[i]));
	return base;
}

static bool is_unexercised(const struct sg_isa_row *row, const struct layout *l)
{
	return sg_isa_has_form(row, target, l->form) && !n_agreed[row - sg_isa_rows][l->form];
}

static void compare_row(const struct sg_isa_row *row, const struct layout *l, unsigned n_random)
{
	uint64_t base = l->word | (uint32_t)(row->op + l->op_base) << l->op_low | l->src0;

	has_prefix = row->enc == SG_ENC_VOP3PX;
	/* One field through its values (wide: in random steps), from a word that is accepted. */
	for (size_t i = 0; i < l->n_fields; i++) {
		const struct field *f = &l->fields[i];
		uint64_t from = base;
		struct sg_decoded_insn insn;

		for (unsigned n = 0; n < 10000; n++) { /* DPP of 64 bits: one in 1000 */
			uint64_t words = random_words(base, l);
			uint32_t stream[4] = { words, words >> 32, words, words >> 32 };

			if (has_prefix) {
				stream[0] = 0xd3ac0000;
				stream[1] = 256 | 256 << 9;
				stream[2] = with_prefix(words);
			}
			if (sg_isa_decode(target, stream, has_prefix ? 4 : 2, &insn)) {
				from = words;
				break;
			}
		}
		for (uint32_t v = 0; v < 1u << f->n;) {
			compare(with_field(from, f, v));
			v += f->n > 6 ? 1 + random_u32() % (1 << (f->n - 5)) : 1;
		}
		compare(with_field(from, f, ~0u));
	}
	/* some forms are rare: until one word was accepted, within reason */
	for (unsigned i = 0; i < n_random || (i < 100 * n_random && is_unexercised(row, l)); i++)
		compare(random_words(base, l));
	has_prefix = false;
}

/* The opcodes without a row must be refused by both. */
static void compare_free_opcodes(void)
{
	static const uint8_t op_bits[SG_N_ENCS] = {
		7, 5, 8, 7, 7, 8, 6, 8, 8, 10, 7, 8, 7, 7, 4, 7
	};

	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
		const struct layout *l = &layouts[i];

		for (uint32_t op = 0; op < 1u << op_bits[l->enc]; op++) {
			uint64_t base = l->word | (op + l->op_base) << l->op_low | l->src0;

			for (unsigned n = 0; n < 8; n++)
				compare(n ? random_words(base, l) : base);
		}
	}
}

static void compare_16_bit_constants(void)
{
	static const uint32_t words[] = { 0xbf8c0000, 0xbf900000, 0xb8840000 };

	for (uint32_t v = 0; v < 0x10000; v++) {
		for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
			compare(words[i] | v);
		compare(0x10000002d87a0000 | v); /* ds_swizzle_b32 v16, v2 */
	}
}

static bool load_llvm(const char *library)
{
	static const char *const init[] = { "LLVMInitializeAMDGPUTargetInfo",
					    "LLVMInitializeAMDGPUTargetMC",
					    "LLVMInitializeAMDGPUDisassembler" };
	void *lib = dlopen(library, RTLD_NOW | RTLD_LOCAL);

	if (!lib)
		return false;
	for (size_t i = 0; i < sizeof(init) / sizeof(*init); i++) {
		void (*fn)(void) = (void (*)(void))dlsym(lib, init[i]);

		if (!fn)
			return false;
		fn();
	}
	*(void **)&create = dlsym(lib, "LLVMCreateDisasmCPU");
	*(void **)&disassemble = dlsym(lib, "LLVMDisasmInstruction");
	return create && disassemble;
}

static bool is_compared(const struct sg_isa_row *row, const struct reference *reference)
{
	return row->targets & target && !(row->targets & reference->without);
}

static unsigned report_unexercised(const struct reference *reference)
{
	static const char *const forms[] = { "", ", VOP3", ", SDWA", ", DPP" };
	unsigned n = 0;

	for (size_t i = 0; i < sg_isa_n_rows; i++) {
		const struct sg_isa_row *row = &sg_isa_rows[i];

		for (enum sg_form form = 0; form < 4; form++) {
			if (!is_compared(row, reference) || !sg_isa_has_form(row, target, form) ||
			    n_agreed[i][form])
				continue;
			printf("%s: no word exercised %s%s\n", sg_isa_target_name(target),
			       row->mnemonic, forms[form]);
			n++;
		}
	}
	return n;
}

/* Everything about the target; false: LLVM does not know it, or memory ran out. */
static bool compare_target(const struct reference *reference, unsigned n_random)
{
	context = create("amdgcn--amdhsa", sg_isa_target_name(target), NULL, 0, NULL, NULL);
	n_agreed = calloc(sg_isa_n_rows, sizeof(*n_agreed));
	if (!context || !n_agreed)
		return false;
	for (size_t i = 0; i < sg_isa_n_rows; i++)
		for (size_t k = 0; k < sizeof(layouts) / sizeof(*layouts); k++)
			if (is_compared(&sg_isa_rows[i], reference) &&
			    layouts[k].enc == sg_isa_rows[i].enc)
				compare_row(&sg_isa_rows[i], &layouts[k], n_random);
	if (reference->without)
		return true;
	compare_free_opcodes();
	compare_16_bit_constants();
	for (unsigned i = 0; i < 1000 * n_random; i++)
		compare((uint64_t)random_u32() << 32 | random_u32());
	return true;
}

static const struct reference *find_reference(const char *version)
{
	for (size_t i = 0; i < sizeof(references) / sizeof(*references); i++)
		if (version && !strcmp(references[i].version, version))
			return &references[i];
	return NULL;
}

int main(int argc, char **argv)
{
	const struct reference *reference = find_reference(argc > 1 ? argv[1] : NULL);
	unsigned n_random = argc > 2 ? strtoul(argv[2], NULL, 0) : 60, n_unexercised = 0;

	if (!reference) {
		fprintf(stderr, "usage: disasm_oracle 15|19|21 [first | N [SEED [verbose]]]\n");
		return 2;
	}
	if (argc > 2 && !strcmp(argv[2], "first")) {
		print_first = true;
		n_random = 400;
	}
	if (argc > 3)
		random_state ^= strtoull(argv[3], NULL, 0) << 8;
	verbose = argc > 4;
	if (!load_llvm(reference->library)) {
		printf("SKIP: no %s with AMDGPU; other versions print some forms "
		       "differently (docs/isa-notes.md), disasm_golden has what this one prints\n",
		       reference->library);
		return SKIPPED;
	}
	for (unsigned t = 0; t < SG_ISA_N_TARGETS; t++) {
		target = (enum sg_isa_target)(1 << t);
		if (!(reference->targets & target))
			continue;
		if (!compare_target(reference, n_random))
			return 1;
		n_unexercised += report_unexercised(reference);
		free(n_agreed);
	}
	fprintf(stderr,
		"%lu words, %lu accepted by both, %lu excepted, %lu differences, "
		"%u forms not exercised\n",
		n_words, n_accepted, n_excepted, n_differences, n_unexercised);
	return n_differences || n_unexercised;
}
