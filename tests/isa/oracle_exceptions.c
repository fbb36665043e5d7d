#include "tests/isa/oracle_exceptions.h"

#include <string.h>

/* LLVM 21 knows no scalar registers for these, and prints a remark or ends in a fault. */
static bool has_scalar_tuple(enum sg_isa_target target, uint64_t words)
{
	uint16_t number = sg_isa_lookup[__builtin_ctz(target)][SG_ENC_VOP3][words >> 16 & 0x3ff];
	const struct sg_isa_row *row = &sg_isa_rows[number ? number - 1 : 0];

	for (unsigned k = 0; number && row->flags & SG_ISA_VGPRS && k < 2; k++) {
		const struct sg_isa_operand *o = sg_isa_find(row, SG_ROLE_SRC0 + k);

		if (o && o->n_regs > 1 && (words >> (32 + 9 * k) & 0x1ff) < SG_OPND_VGPR0)
			return true;
	}
	return false;
}

/*
 * Words that LLVM 15 cannot print: select 7 and unused 3 of SDWA run into llvm_unreachable() in its
 * printer, which is an illegal instruction in a release build. The decoder refuses them.
 */
bool oracle_kills_llvm(enum sg_isa_target target, uint64_t words)
{
	uint32_t w = words, x = words >> 32;
	uint32_t op = w >> 16 & 0x7f, src2 = x >> 18 & 0x1ff;

	if (w >> 26 == 0x34 && has_scalar_tuple(target, words))
		return true;
	/* LLVM 21 looks for the registers of a format among scalar ones, and for a literal */
	if (w >> 23 == 0x1a7 && (op == 0x2d || op == 0x2e) && target == SG_ISA_GFX950)
		return (x & 0x1ff) < 256 || (x >> 9 & 0x1ff) < 256 || src2 == 0xff;
	if (w >> 31 || (w & 0x1ff) != 0xf9)
		return false;
	return (x >> 16 & 7) == 7 || (x >> 24 & 7) == 7 || (x >> 8 & 7) == 7 || (x >> 11 & 3) == 3;
}

static bool names_a_pair(const char *text)
{
	static const char *const names[] = { "flat_scratch", "xnack_mask", "vcc", "exec", "src_" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *at = text;

		while ((at = strstr(at, names[i]))) {
			at += strlen(names[i]);
			if (strncmp(at, "_lo", 3) && strncmp(at, "_hi", 3))
				return true;
		}
	}
	return false;
}

/* What LLVM 15 accepts although no gfx9 has it; docs/isa-notes.md has the evidence for each. */
bool oracle_is_oddity(enum sg_isa_target target, const char *theirs, uint64_t words)
{
	static const char *const graphics[] = { "image_", "exp ", "v_interp_" };
	uint32_t w = words, x = words >> 32, op;
	uint32_t src0 = x & 0x1ff, src1 = x >> 9 & 0x1ff, src2 = x >> 18 & 0x1ff;

	for (size_t i = 0; i < sizeof(graphics) / sizeof(*graphics); i++)
		if (!strncmp(theirs, graphics[i], strlen(graphics[i])))
			return true; /* no table: this is a compute device */
	if (strstr(theirs, "null"))
		return true; /* operand 125 is gfx10's */
	if (strstr(theirs, "/*"))
		return true; /* an operand that LLVM itself calls invalid, in a comment */
	if (strstr(theirs, "_e64 src_") || !strncmp(theirs, "v_readlane_b32 src_", 19) ||
	    !strncmp(theirs, "v_readfirstlane_b32 src_", 24))
		return true; /* a destination that can only be read */
	if (!strncmp(theirs, "v_mfma_", 7) || !strncmp(theirs, "v_smfmac_", 9))
		return src0 < 256 || src1 < 256 || src2 < 256; /* matrices in scalar registers */
	if (!strncmp(theirs, "v_accvgpr_read", 14))
		return src0 < 256; /* LLVM ignores the bit that tells the files apart */
	if (!strncmp(theirs, "v_swap", 6) || !strncmp(theirs, "v_accvgpr_mov", 13))
		return (w & 0x1ff) < 256;
	if (!strncmp(theirs, "v_permlane", 10)) /* both registers are written */
		return (w >> 26 == 0x34 ? src0 : w & 0x1ff) < 256;
	if (!strncmp(theirs, "v_nop", 5) || !strcmp(theirs, "v_clrexcp"))
		return true; /* announces a second word that LLVM takes as the next instruction */
	if (names_a_pair(theirs) && (w >> 26 == 0x30 || w >> 26 == 0x38 || w >> 26 == 0x3a ||
				     !strncmp(theirs, "v_mqsad_u32", 11)))
		return true; /* two registers where four or more are needed */
	if (w >> 26 == 0x34 && ((op = w >> 16 & 0x3ff) == 0x100 || (op >= 0x11c && op <= 0x11e)))
		return src2 >= 256; /* a carry-in mask in vector registers */
	if (!strncmp(theirs, "buffer_wbinvl1", 14) ||
	    !strncmp(theirs, "buffer_store_lds_dword", 22))
		return target >= SG_ISA_GFX942 ||
		       (w >> 18 & 0x7f) == 0x71; /* gone; gfx6's opcode */
	return false;
}

/* LLVM wants eight registers of a matrix whose format needs fewer, and refuses the last ones. */
bool oracle_is_short_tuple(const struct sg_decoded_insn *insn)
{
	return (insn->row->flags & SG_ISA_F8F6F4) &&
	       (insn->src[0] + 8 > SG_OPND_VGPR0 + 256 || insn->src[1] + 8 > SG_OPND_VGPR0 + 256);
}
