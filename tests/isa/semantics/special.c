#include "tests/isa/semantics/special.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/isa/semantics/encode.h"
#include "tests/isa/semantics/inputs.h"

#define INT(n) (128u + (n)) /* inline constant 0..64 */
#define V(n) (256u + (n))
enum { OP_V_MOV_B32 = 1, OP_S_ADD_U32 = 0, OP_S_ADDC_U32 = 4, OP_S_GETPC = 0x1c, OP_S_MOVK = 0 };
enum { S_NOP = 0xbf800000u, S_BRANCH = 0xbf820000u, S_SET_GPR_IDX_OFF = 0xbf9c0000u };

static void v_mov(struct words *out, unsigned vdst, unsigned src0)
{
	emit(out, 0x7e000000u | vdst << 17 | OP_V_MOV_B32 << 9 | src0);
}

static uint64_t pair(const struct sg_step *st, unsigned reg)
{
	return st->sgpr[reg] | (uint64_t)st->sgpr[reg + 1] << 32;
}

static void set_pair(struct sg_step *st, unsigned reg, uint64_t v)
{
	st->sgpr[reg] = (uint32_t)v;
	st->sgpr[reg + 1] = (uint32_t)(v >> 32);
}

static void number_lanes(struct sg_step *st)
{
	sg_step_init(st);
	for (unsigned r = 0; r < 256; r++)
		for (unsigned lane = 0; lane < 64; lane++)
			st->vgpr[r][lane] = r << 16 | lane;
}

static bool go(struct tally *t, enum sg_isa_target target, const struct words *words,
	       struct sg_step *st)
{
	enum sg_fault_kind fault = sg_step_run(target, words->w, words->n, st);

	t->runs++;
	t->row_tested = true;
	if (fault)
		fail(t, "fault %d: %s", fault, st->fault.text);
	return !fault;
}

static void expect(struct tally *t, const char *what, uint64_t got, uint64_t want)
{
	t->compared++;
	if (got != want)
		fail(t, "%s: got %" PRIx64 ", expected %" PRIx64, what, got, want);
}

/* --- vector ------------------------------------------------------------------------------------ */

static void nothing(struct tally *t, const struct sg_isa_row *row, enum sg_isa_target target,
		    struct sg_step *st)
{
	static struct sg_step before;
	struct words words = { .n = 0 };

	number_lanes(st);
	before = *st;
	encode_vector(&words, row, &(struct enc){ .form = SG_FORM_PLAIN });
	if (!go(t, target, &words, st))
		return;
	expect(t, "vgprs changed", memcmp(st->vgpr, before.vgpr, sizeof(st->vgpr)) != 0, 0);
	expect(t, "sgprs changed", memcmp(st->sgpr, before.sgpr, sizeof(st->sgpr)) != 0, 0);
	expect(t, "mode", st->mode, before.mode);
}

static void readfirstlane(struct tally *t, const struct sg_isa_row *row, enum sg_isa_target target,
			  struct sg_step *st)
{
	static const struct {
		uint64_t exec;
		unsigned lane;
	} cases[] = {
		{ ~0ull, 0 }, { 0x10, 4 }, { 1ull << 63, 63 }, { 0xfff0000000000, 40 }, { 0, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct words words = { .n = 0 };

		number_lanes(st);
		set_pair(st, SG_OPND_EXEC_LO, cases[i].exec);
		emit(&words, 0x7e000000u | 8u << 17 | (uint32_t)row->op << 9 | V(7));
		if (go(t, target, &words, st))
			expect(t, "first lane", st->sgpr[8], 7u << 16 | cases[i].lane);
	}
}

static void vop3_words(struct words *out, const struct sg_isa_row *row, unsigned vdst, unsigned s0,
		       unsigned s1)
{
	emit(out, 0xd0000000u | (uint32_t)row->op << 16 | vdst);
	emit(out, s0 | s1 << 9);
}

static void readlane(struct tally *t, const struct sg_isa_row *row, enum sg_isa_target target,
		     struct sg_step *st)
{
	static const uint32_t selects[] = { 0, 5, 63, 64 + 9 };

	for (size_t i = 0; i < 4; i++) {
		struct words words = { .n = 0 };

		number_lanes(st);
		set_pair(st, SG_OPND_EXEC_LO, i & 1 ? 0 : ~0ull); /* ignored */
		st->sgpr[12] = st->sgpr[SG_OPND_M0] = selects[i];
		vop3_words(&words, row, 8, V(3), i & 2 ? SG_OPND_M0 : 12);
		vop3_words(&words, row, 12, V(4), 12); /* over its own lane number */
		if (!go(t, target, &words, st))
			continue;
		expect(t, "lane", st->sgpr[8], 3u << 16 | (selects[i] & 63));
		expect(t, "lane, same register", st->sgpr[12], 4u << 16 | (selects[i] & 63));
	}
}

static void writelane(struct tally *t, const struct sg_isa_row *row, enum sg_isa_target target,
		      struct sg_step *st)
{
	for (unsigned lane = 0; lane < 64; lane += 9) {
		struct words words = { .n = 0 };

		number_lanes(st);
		set_pair(st, SG_OPND_EXEC_LO, lane & 1 ? 0 : ~0ull); /* ignored */
		st->sgpr[SG_OPND_M0] =
			lane | 64; /* the other scalar: two SGPRs would be one too many */
		st->sgpr[12] = 0xc0ffee;
		vop3_words(&words, row, 3, lane & 2 ? 12 : INT(33), SG_OPND_M0);
		if (!go(t, target, &words, st))
			continue;
		for (unsigned i = 0; i < 64; i++)
			expect(t, "v3", st->vgpr[3][i],
			       i == lane ? lane & 2 ? 0xc0ffee : 33 : 3u << 16 | i);
	}
}

static void swap(struct tally *t, const struct sg_isa_row *row, enum sg_isa_target target,
		 struct sg_step *st)
{
	uint64_t exec = 0xf0f0f0f00000000f;
	struct words words = { .n = 0 };

	number_lanes(st);
	set_pair(st, SG_OPND_EXEC_LO, exec);
	emit(&words, 0x7e000000u | 3u << 17 | (uint32_t)row->op << 9 | V(5));
	emit(&words, 0x7e000000u | 7u << 17 | (uint32_t)row->op << 9 | V(7));
	if (!go(t, target, &words, st))
		return;
	for (unsigned i = 0; i < 64; i++) {
		bool on = exec >> i & 1;

		expect(t, "v7 with itself", st->vgpr[7][i], 7u << 16 | i);
		expect(t, "v3", st->vgpr[3][i], (on ? 5u : 3u) << 16 | i);
		expect(t, "v5", st->vgpr[5][i], (on ? 3u : 5u) << 16 | i);
	}
}

/* Upper against lower lanes of two registers; fi and bound_ctrl say what lanes that are off give. */
static void permlane_swap(struct tally *t, const struct sg_isa_row *row, enum sg_isa_target target,
			  struct sg_step *st)
{
	unsigned n = strstr(row->mnemonic, "32_swap") ? 32 : 16;
	static const uint64_t masks[] = { ~0ull, 0xf0f0ff0000ff0f1f };

	for (unsigned v = 0; v < 10; v++) {
		uint64_t exec = masks[v % 2];
		unsigned bits = v / 2; /* 4: the short form */
		struct words words = { .n = 0 };

		number_lanes(st);
		set_pair(st, SG_OPND_EXEC_LO, exec);
		if (bits == 4) {
			emit(&words, 0x7e000000u | 3u << 17 | (uint32_t)row->op << 9 | V(5));
			bits = 0;
		} else {
			emit(&words, 0xd0000000u | (0x140u + row->op) << 16 | bits << 11 | 3);
			emit(&words, V(5));
		}
		if (!go(t, target, &words, st))
			return;
		for (unsigned lane = 0; lane < 64; lane++) {
			bool upper = lane / n % 2, on = exec >> lane & 1;
			unsigned other = upper ? lane - n : lane + n;
			bool other_on = exec >> other & 1;
			uint32_t d = 3u << 16 | lane, s = 5u << 16 | lane, got;

			got = (upper ? 5u : 3u) << 16 | other;
			if (!other_on && !(bits & 1))
				got = 0;
			if (!on || (!other_on && !bits))
				got = upper ? d : s;
			expect(t, "vdst", st->vgpr[3][lane], upper ? got : d);
			expect(t, "src0", st->vgpr[5][lane], upper ? s : got);
		}
	}
}

/* All 256 truth tables; of 16 bits also in all halves. */
static void bitop3(struct tally *t, const struct sg_isa_row *row, enum sg_isa_target target,
		   struct sg_step *st)
{
	bool is_short = strstr(row->mnemonic, "b16");
	struct rng rng = { 12345 };

	for (unsigned table = 0; table < 256; table++) {
		unsigned op_sel = is_short ? (unsigned)(rng_next(&rng) & 15) : 0;
		struct words words = { .n = 0 };
		uint32_t in[4][64];

		sg_step_init(st);
		for (unsigned r = 0; r < 4; r++)
			for (unsigned lane = 0; lane < 64; lane++)
				in[r][lane] = st->vgpr[r + 2][lane] = (uint32_t)rng_next(&rng);
		emit(&words, 0xd0000000u | (uint32_t)row->op << 16 | op_sel << 11 |
				     (table >> 3 & 7) << 8 | 5);
		emit(&words, V(2) | V(3) << 9 | V(4) << 18 | (table >> 6) << 27 | table << 29);
		if (!go(t, target, &words, st))
			return;
		for (unsigned lane = 0; lane < 64; lane++) {
			uint32_t want = is_short ? in[3][lane] : 0;
			unsigned to = op_sel & 8 ? 16 : 0;

			for (unsigned b = 0; b < (is_short ? 16 : 32); b++) {
				unsigned number = 0;

				for (unsigned k = 0; k < 3; k++) {
					unsigned at = b + (op_sel >> k & 1 ? 16 : 0);

					number = number * 2 + (in[k][lane] >> at & 1);
				}
				want &= ~(1u << (b + to));
				want |= (table >> number & 1) << (b + to);
			}
			expect(t, "vdst", st->vgpr[5][lane], want);
		}
	}
}

/* --- EXEC -------------------------------------------------------------------------------------- */

static uint64_t new_exec(const char *name, uint64_t s, uint64_t exec)
{
	static const struct {
		const char *name;
		int op;
	} ops[] = {
		{ "s_andn1_", 0 }, { "s_andn2_", 1 }, { "s_orn1_", 2 }, { "s_orn2_", 3 },
		{ "s_and_", 4 },   { "s_or_", 5 },    { "s_xor_", 6 },  { "s_nand_", 7 },
		{ "s_nor_", 8 },   { "s_xnor_", 9 },
	};
	uint64_t results[] = { ~s & exec, s & ~exec, ~s | exec,   s | ~exec,   s & exec,
			       s | exec,  s ^ exec,  ~(s & exec), ~(s | exec), ~(s ^ exec) };

	for (size_t i = 0; i < 10; i++)
		if (strncmp(name, ops[i].name, strlen(ops[i].name)) == 0)
			return results[ops[i].op];
	abort();
}

static void exec_ops(struct tally *t, const struct sg_isa_row *row, enum sg_isa_target target,
		     struct sg_step *st)
{
	static const uint64_t values[] = { 0,          ~0ull,     0xff, 0xf0f0f0f0f0f0f0f0,
					   1ull << 63, 0x12345678 };
	bool writes = strstr(row->mnemonic, "wrexec");

	for (size_t i = 0; i < 36; i++) {
		uint64_t s = values[i % 6], exec = values[i / 6],
			 want = new_exec(row->mnemonic, s, exec);
		struct words words = { .n = 0 };

		sg_step_init(st);
		set_pair(st, 12, s);
		set_pair(st, SG_OPND_EXEC_LO, exec);
		encode_sop1(&words, row->op, 8, 12);
		if (!go(t, target, &words, st))
			return;
		expect(t, "exec", pair(st, SG_OPND_EXEC_LO), want);
		expect(t, "sdst", pair(st, 8), writes ? want : exec);
		expect(t, "scc", st->scc, want != 0);
	}
	/* source and destination are the same register */
	struct words words = { .n = 0 };

	sg_step_init(st);
	set_pair(st, 8, 0xff00);
	set_pair(st, SG_OPND_EXEC_LO, 0xfff);
	encode_sop1(&words, row->op, 8, 8);
	if (!go(t, target, &words, st))
		return;
	expect(t, "exec", pair(st, SG_OPND_EXEC_LO), new_exec(row->mnemonic, 0xff00, 0xfff));
	expect(t, "sdst", pair(st, 8), writes ? new_exec(row->mnemonic, 0xff00, 0xfff) : 0xfff);
}

/* --- indexed registers ------------------------------------------------------------------------- */

static void movrel(struct tally *t, const struct sg_isa_row *row, enum sg_isa_target target,
		   struct sg_step *st)
{
	bool wide = strstr(row->mnemonic, "b64"), to_dst = strstr(row->mnemonic, "movreld");

	for (unsigned m0 = 0; m0 <= 20; m0 += wide ? 4 : 5) {
		struct words words = { .n = 0 };
		unsigned src = to_dst ? 12 : 12 + m0, dst = to_dst ? 40 + m0 : 40;

		sg_step_init(st);
		for (unsigned i = 0; i < 100; i++)
			st->sgpr[i] = 0xa000 + i;
		st->sgpr[SG_OPND_M0] = m0;
		encode_sop1(&words, row->op, 40, 12);
		if (!go(t, target, &words, st))
			return;
		for (unsigned i = 0; i < 100; i++) {
			bool written = i == dst || (wide && i == dst + 1);

			expect(t, "sgpr", st->sgpr[i], 0xa000 + (written ? src + i - dst : i));
		}
	}
}

static void gpr_idx(struct tally *t, const struct sg_isa_row *row, enum sg_isa_target target,
		    struct sg_step *st)
{
	bool on = strcmp(row->mnemonic, "s_set_gpr_idx_on") == 0;

	for (unsigned enables = 0; enables < 16;
	     enables++) { /* bit 0 src0, 1 src1, 2 src2, 3 dst */
		struct words words = { .n = 0 };
		unsigned src = enables & 1 ? 13 : 10, dst = enables & 8 ? 43 : 40,
			 second = enables & 2 ? 23 : 20;

		number_lanes(st);
		st->sgpr[12] = 3;
		st->sgpr[SG_OPND_M0] = 0xabcd0000;
		if (on) {
			encode_sopc(&words, row->op, 12, enables);
		} else { /* on with index 0, then the index alone */
			encode_sopc(&words, 0x11, INT(0), enables);
			encode_sop1(&words, row->op, 0, 12);
		}
		encode_sop1(&words, OP_S_MOV_B32, 20, SG_OPND_M0);
		emit(&words,
		     0x13u << 25 | 40u << 17 | 20u << 9 | V(10)); /* v_and_b32 v40, v10, v20 */
		emit(&words, S_SET_GPR_IDX_OFF);
		v_mov(&words, 60, V(30)); /* off again */
		if (!go(t, target, &words, st))
			return;
		expect(t, "m0", st->sgpr[20] & 0xf0ff, enables << 12 | 3);
		for (unsigned lane = 0; lane < 64; lane += 21) {
			expect(t, "indexed", st->vgpr[dst][lane], (src & second) << 16 | lane);
			expect(t, "after off", st->vgpr[60][lane], 30u << 16 | lane);
		}
	}
}

/* --- PC ---------------------------------------------------------------------------------------- */

/* s[14:15] = address of the words 24 bytes from here. 3 words. */
static void target_address(struct words *out, unsigned bytes)
{
	encode_sop1(out, OP_S_GETPC, 14, 0); /* the address behind itself */
	encode_sop2(out, OP_S_ADD_U32, 14, 14, INT(bytes - 4));
	encode_sop2(out, OP_S_ADDC_U32, 15, 15, INT(0));
}

static void jumps(struct tally *t, const struct sg_isa_row *row, enum sg_isa_target target,
		  struct sg_step *st)
{
	bool call = row->enc == SG_ENC_SOPK, swap_pc = strstr(row->mnemonic, "swappc");
	bool links = call || swap_pc;
	struct words words = { .n = 0 };

	if (swap_pc) { /* over the address it jumps to */
		struct words same = { .n = 0 };

		sg_step_init(st);
		target_address(&same, 24);
		encode_sop1(&same, row->op, 14, 14);
		encode_sopk(&same, OP_S_MOVK, 20, 1);
		encode_sopk(&same, OP_S_MOVK, 21, 1);
		encode_sopk(&same, OP_S_MOVK, 22, 1);
		if (go(t, target, &same, st))
			expect(t, "same register: skipped, reached",
			       st->sgpr[20] | st->sgpr[21] << 1 | st->sgpr[22] << 2, 4);
	}
	sg_step_init(st);
	target_address(&words, 24);
	if (call)
		encode_sopk(&words, row->op, 18, 2);
	else if (strcmp(row->mnemonic, "s_getpc_b64") == 0)
		encode_sop1(&words, 0x1d, 0, 14); /* s_setpc: getpc is tested by jumping there */
	else
		encode_sop1(&words, row->op, 18, 14);
	encode_sopk(&words, OP_S_MOVK, 20, 1);
	encode_sopk(&words, OP_S_MOVK, 21, 1);
	encode_sopk(&words, OP_S_MOVK, 22, 1);
	if (!go(t, target, &words, st))
		return;
	expect(t, "skipped", st->sgpr[20] | st->sgpr[21], 0);
	expect(t, "reached", st->sgpr[22], 1);
	if (links) /* the instruction behind the jump is 8 bytes before the target */
		expect(t, "return address", pair(st, 18), pair(st, 14) - 8);
}

/* Outside of a trap handler: not documented, but it cannot just go on. */
static void privileged(struct tally *t, const struct sg_isa_row *row, enum sg_isa_target target,
		       struct sg_step *st)
{
	struct words words = { .n = 0 };
	enum sg_fault_kind fault;

	sg_step_init(st);
	target_address(&words, 24);
	if (row->enc == SG_ENC_SOP1)
		encode_sop1(&words, row->op, 0, 14);
	else
		encode_sop2(&words, row->op, 0, 14, INT(0));
	encode_sopk(&words, OP_S_MOVK, 20, 1);
	encode_sopk(&words, OP_S_MOVK, 21, 1);
	encode_sopk(&words, OP_S_MOVK, 22, 1);
	fault = sg_step_run(target, words.w, words.n, st);
	t->runs++;
	t->row_tested = true;
	expect(t, "went on as if nothing had been", st->sgpr[20], 0);
	if (!fault)
		expect(t, "reached", st->sgpr[22], 1);
}

/* Both paths run, the one with fewer lanes first, and meet at the join. */
static void forks(struct tally *t, const struct sg_isa_row *row, enum sg_isa_target target,
		  struct sg_step *st)
{
	static const uint64_t masks[] = { 0xff, 0xffffffffffffff00, ~0ull, 0, 0x5555555555555555 };
	bool immediate = row->enc == SG_ENC_SOPK;

	for (size_t i = 0; i < 5; i++) {
		struct words words = { .n = 0 };

		sg_step_init(st);
		set_pair(st, 12, masks[i]);
		target_address(&words, 24);
		if (immediate)
			encode_sopk(&words, row->op, 12, 2);
		else
			encode_sop2(&words, 0x29, 0, 12, 14);
		v_mov(&words, 1, INT(1));
		emit(&words, S_BRANCH | 1);
		v_mov(&words, 1, INT(2));
		encode_sop1(&words, 0x2e, 0,
			    16); /* s16 == 0: the stack was empty before the fork */
		encode_sopk(&words, OP_S_MOVK, 22, 1);
		if (!go(t, target, &words, st))
			return;
		expect(t, "behind the join", st->sgpr[22], 1);
		expect(t, "stack pointer", st->mode >> 29, 0);
		for (unsigned lane = 0; lane < 64; lane++)
			expect(t, "path", st->vgpr[1][lane], masks[i] >> lane & 1 ? 2 : 1);
	}
}

/* --- MODE -------------------------------------------------------------------------------------- */

static void hwreg(struct tally *t, const struct sg_isa_row *row, enum sg_isa_target target,
		  struct sg_step *st)
{
	static const struct {
		unsigned offset, size;
	} fields[] = { { 0, 4 }, { 4, 4 }, { 0, 8 }, { 2, 2 }, { 8, 1 }, { 9, 1 }, { 0, 10 } };
	const char *name = row->mnemonic;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		unsigned offset = fields[i].offset, size = fields[i].size;
		uint16_t simm = (uint16_t)(1 | offset << 6 | (size - 1) << 11);
		uint32_t mask = ((1u << size) - 1) << offset, value = 0x2a5 >> i, mode;
		struct words words = { .n = 0 };

		sg_step_init(st);
		mode = st->mode;
		st->sgpr[8] = value;
		encode_sopk(&words, row->op, strcmp(name, "s_setreg_imm32_b32") == 0 ? 0 : 8, simm);
		if (strcmp(name, "s_setreg_imm32_b32") == 0)
			emit(&words, value);
		if (!go(t, target, &words, st))
			return;
		if (strcmp(name, "s_getreg_b32") == 0)
			expect(t, "field of MODE", st->sgpr[8], (mode & mask) >> offset);
		else
			expect(t, "MODE", st->mode & 0x3ff,
			       ((mode & ~mask) | (value << offset & mask)) & 0x3ff);
	}
}

static void setvskip(struct tally *t, const struct sg_isa_row *row, enum sg_isa_target target,
		     struct sg_step *st)
{
	for (unsigned bit = 0; bit < 2; bit++) {
		struct words words = { .n = 0 };

		number_lanes(st);
		st->sgpr[12] = bit << 5;
		encode_sopc(&words, row->op, 12, INT(5));
		v_mov(&words, 1, INT(9));
		encode_sopc(&words, row->op, INT(0), INT(0));
		v_mov(&words, 2, INT(9));
		if (!go(t, target, &words, st))
			return;
		expect(t, "while skipping", st->vgpr[1][7], bit ? 1u << 16 | 7 : 9);
		expect(t, "after", st->vgpr[2][7], 9);
	}
}

static const struct {
	const char *mnemonic;
	special_test *test;
} tests[] = {
	{ "v_nop", nothing },
	{ "v_clrexcp", nothing },
	{ "v_mfma_ld_scale_b32", nothing },
	{ "v_readfirstlane_b32", readfirstlane },
	{ "v_readlane_b32", readlane },
	{ "v_writelane_b32", writelane },
	{ "v_swap_b32", swap },
	{ "v_permlane16_swap_b32", permlane_swap },
	{ "v_permlane32_swap_b32", permlane_swap },
	{ "v_bitop3_b16", bitop3 },
	{ "v_bitop3_b32", bitop3 },
	{ "s_and_saveexec_b64", exec_ops },
	{ "s_or_saveexec_b64", exec_ops },
	{ "s_xor_saveexec_b64", exec_ops },
	{ "s_andn2_saveexec_b64", exec_ops },
	{ "s_orn2_saveexec_b64", exec_ops },
	{ "s_nand_saveexec_b64", exec_ops },
	{ "s_nor_saveexec_b64", exec_ops },
	{ "s_xnor_saveexec_b64", exec_ops },
	{ "s_andn1_saveexec_b64", exec_ops },
	{ "s_orn1_saveexec_b64", exec_ops },
	{ "s_andn1_wrexec_b64", exec_ops },
	{ "s_andn2_wrexec_b64", exec_ops },
	{ "s_movrels_b32", movrel },
	{ "s_movrels_b64", movrel },
	{ "s_movreld_b32", movrel },
	{ "s_movreld_b64", movrel },
	{ "s_set_gpr_idx_on", gpr_idx },
	{ "s_set_gpr_idx_idx", gpr_idx },
	{ "s_getpc_b64", jumps },
	{ "s_setpc_b64", jumps },
	{ "s_swappc_b64", jumps },
	{ "s_call_b64", jumps },
	{ "s_rfe_b64", privileged },
	{ "s_rfe_restore_b64", privileged },
	{ "s_cbranch_g_fork", forks },
	{ "s_cbranch_i_fork", forks },
	{ "s_cbranch_join", forks },
	{ "s_getreg_b32", hwreg },
	{ "s_setreg_b32", hwreg },
	{ "s_setreg_imm32_b32", hwreg },
	{ "s_setvskip", setvskip },
};

special_test *special_find(const char *mnemonic)
{
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		if (strcmp(tests[i].mnemonic, mnemonic) == 0)
			return tests[i].test;
	return NULL;
}
