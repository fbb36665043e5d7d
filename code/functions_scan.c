/*
 * functions_scan: the instructions of a function, and moving the first ones.
 */
#include "code/functions_priv.h"

#include <string.h>

#define PATCH_BYTES 5u
#define TABLE_ENTRIES_MAX 4096u
#define TABLES_MAX 64u

/* ---- branches ---- */

static int64_t distance_at(const uint8_t *at, size_t n)
{
	int32_t wide;

	if (n == 1)
		return (int8_t)*at;
	memcpy(&wide, at, 4);
	return wide;
}

static bool is_prefix(uint8_t byte)
{
	/* Operand size, segments (notrack, branch hints), bnd, and REX. */
	return byte == 0x66 || byte == 0x2e || byte == 0x3e || byte == 0xf2 || byte == 0xf3 ||
	       (byte & 0xf0) == 0x40;
}

enum code_branch code_branch_of(const uint8_t *bytes, size_t n, uint64_t address,
				uint64_t *out_target, size_t *out_op)
{
	size_t op = 0;
	uint8_t code;

	while (op + 1 < n && is_prefix(bytes[op]))
		op++;
	code = bytes[op];
	*out_op = op;
	if (op + 2 == n && (code == 0xeb || (code & 0xf0) == 0x70 || (code & 0xfc) == 0xe0)) {
		*out_target = address + n + (uint64_t)distance_at(bytes + n - 1, 1);
		return code == 0xeb            ? CODE_BRANCH_JUMP
		       : (code & 0xf0) == 0x70 ? CODE_BRANCH_CONDITIONAL
					       : CODE_BRANCH_SHORT_ONLY;
	}
	if (op + 5 == n && (code == 0xe8 || code == 0xe9)) {
		*out_target = address + n + (uint64_t)distance_at(bytes + n - 4, 4);
		return code == 0xe8 ? CODE_BRANCH_CALL : CODE_BRANCH_JUMP;
	}
	if (op + 6 == n && code == 0x0f && (bytes[op + 1] & 0xf0) == 0x80) {
		*out_target = address + n + (uint64_t)distance_at(bytes + n - 4, 4);
		return CODE_BRANCH_CONDITIONAL;
	}
	if (op + 6 == n && code == 0xc7 && bytes[op + 1] == 0xf8)
		return CODE_BRANCH_SHORT_ONLY;
	if (code == 0xff && op + 1 < n && (bytes[op + 1] >> 3 & 7) == 4)
		return CODE_BRANCH_JUMP_INDIRECT;
	if (code == 0xff && op + 1 < n && (bytes[op + 1] >> 3 & 7) == 2)
		return CODE_BRANCH_CALL_INDIRECT;
	return CODE_BRANCH_NONE;
}

/* ---- scanning ---- */

struct scanner {
	struct code_image *image;
	const struct code_host_function *function;
	struct code_scan *scan;
	uint64_t tables[TABLES_MAX]; /* addresses that it loads: of switch tables, maybe */
	uint64_t absolute[TABLES_MAX];
	size_t n_tables, n_absolute;
	bool jumps_indirectly;
};

static void mark_inside(struct scanner *s, uint64_t target)
{
	uint64_t at = target - s->function->offset;

	if (target >= s->function->offset && at < 256)
		s->scan->inside[at / 64] |= 1ull << at % 64;
}

static bool is_hook_slot(const struct code_image *image, uint64_t slot)
{
	for (size_t i = 0; i < image->n_hooks; i++)
		if (image->hooks[i] == slot)
			return true;
	return false;
}

/* The entry that a stub of the procedure linkage table jumps through; 0: it is none. */
static uint64_t slot_of_stub(const struct code_image *image, uint64_t stub)
{
	const uint8_t *at = code_image_at(image, stub, 16);
	uint64_t i = 0;

	if (!at)
		return 0;
	if (memcmp(at, "\xf3\x0f\x1e\xfa", 4) == 0)
		i = 4;
	if (at[i] == 0xf2)
		i++;
	return at[i] == 0xff && at[i + 1] == 0x25
		       ? stub + i + 6 + (uint64_t)distance_at(at + i + 2, 4)
		       : 0;
}

/* The address of an operand relative to the instruction pointer; 0: there is none. */
static uint64_t rip_operand(const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;

	for (unsigned i = 0; i < x86->op_count; i++)
		if (x86->operands[i].type == X86_OP_MEM && x86->operands[i].mem.base == X86_REG_RIP)
			return insn->address + insn->size + (uint64_t)x86->operands[i].mem.disp;
	return 0;
}

/* Indexed by 8 without a base: a table of addresses in a program at a fixed address. */
static uint64_t absolute_table(const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;

	for (unsigned i = 0; i < x86->op_count; i++)
		if (x86->operands[i].type == X86_OP_MEM && x86->operands[i].mem.scale == 8 &&
		    x86->operands[i].mem.base == X86_REG_INVALID)
			return (uint64_t)x86->operands[i].mem.disp;
	return 0;
}

static void scan_instruction(struct scanner *s, const cs_insn *insn)
{
	uint64_t target = 0, slot = 0;
	size_t op;

	if (!insn->id) { /* passed over, and without details */
		s->scan->undecodable = true;
		return;
	}
	switch (code_branch_of(insn->bytes, insn->size, insn->address, &target, &op)) {
	case CODE_BRANCH_CALL:
		slot = slot_of_stub(s->image, target);
		break;
	case CODE_BRANCH_CALL_INDIRECT:
		slot = rip_operand(insn);
		break;
	case CODE_BRANCH_JUMP_INDIRECT:
		s->jumps_indirectly = true;
		if (absolute_table(insn) && s->n_absolute < TABLES_MAX)
			s->absolute[s->n_absolute++] = absolute_table(insn);
		break;
	case CODE_BRANCH_NONE:
		if (insn->id == X86_INS_LEA && rip_operand(insn) && s->n_tables < TABLES_MAX)
			s->tables[s->n_tables++] = rip_operand(insn);
		else if (insn->id == X86_INS_MOV && absolute_table(insn) &&
			 s->n_absolute < TABLES_MAX)
			s->absolute[s->n_absolute++] = absolute_table(insn);
		break;
	default:
		mark_inside(s, target);
	}
	if (slot && is_hook_slot(s->image, slot))
		s->scan->calls_hook = true;
}

/* Entries are distances from the table, as long as they lead into the function. */
static void scan_table(struct scanner *s, uint64_t table)
{
	for (uint64_t i = 0; i < TABLE_ENTRIES_MAX; i++) {
		const uint8_t *at = code_image_at(s->image, table + i * 4, 4);
		uint64_t target = at ? table + (uint64_t)distance_at(at, 4) : 0;

		if (!at || target - s->function->offset >= s->function->size)
			return;
		mark_inside(s, target);
	}
}

static void scan_absolute(struct scanner *s, uint64_t table)
{
	for (uint64_t i = 0; i < TABLE_ENTRIES_MAX; i++) {
		const uint8_t *at = code_image_at(s->image, table + i * 8, 8);
		uint64_t target = 0;

		if (at)
			memcpy(&target, at, 8);
		if (!at || target - s->function->offset >= s->function->size)
			return;
		mark_inside(s, target);
	}
}

/*
 * Where instructions begin is not certain any more: take every byte that may begin a branch with an
 * 8-bit distance for one.
 */
static void scan_bytes(struct scanner *s)
{
	const uint8_t *code = code_image_at(s->image, s->function->offset, s->function->size);

	for (uint64_t i = 0; code && i + 2 <= s->function->size; i++)
		if (code[i] == 0xeb || (code[i] & 0xf0) == 0x70 || (code[i] & 0xfc) == 0xe0)
			mark_inside(s, s->function->offset + i + 2 +
					       (uint64_t)distance_at(code + i + 1, 1));
}

void code_host_function_scan(struct code_functions *functions,
			     const struct code_host_function *function, struct code_scan *out_scan)
{
	struct code_image *image = functions->image;
	struct scanner s = { .image = image, .function = function, .scan = out_scan };
	const uint8_t *code = code_image_at(image, function->offset, function->size);
	uint64_t address = function->offset;
	size_t left = function->size;

	*out_scan = (struct code_scan){ 0 };
	while (code && left &&
	       cs_disasm_iter(image->disassembler, &code, &left, &address, image->instruction)) {
		out_scan->n_instructions++;
		scan_instruction(&s, image->instruction);
	}
	if (!code || left)
		out_scan->undecodable = true;
	if (out_scan->undecodable)
		scan_bytes(&s);
	for (size_t i = 0; i < s.n_tables && s.jumps_indirectly; i++)
		scan_table(&s, s.tables[i]);
	for (size_t i = 0; i < s.n_absolute && s.jumps_indirectly; i++)
		scan_absolute(&s, s.absolute[i]);
}

/* ---- moving ---- */

static bool put(struct code_moved *m, const void *bytes, size_t n)
{
	if (n > CODE_MOVED_MAX - m->n_code) {
		m->why_not = "its first instructions are too long";
		return false;
	}
	memcpy(m->code + m->n_code, bytes, n);
	m->n_code += (uint32_t)n;
	return true;
}

/* The 4 bytes at @at of the code, in the instruction that ends at @end. */
static bool put_fixup(struct code_moved *m, enum code_fixup_kind kind, uint32_t at, uint32_t end,
		      uint64_t target)
{
	if (m->n_fixups == CODE_FIXUPS_MAX)
		return false;
	m->fixups[m->n_fixups++] = (struct code_fixup){ target, (uint16_t)at, (uint16_t)end, kind };
	return true;
}

static bool put_branch(struct code_moved *m, const char *op, size_t n_op, uint64_t target)
{
	return put(m, op, n_op) && put(m, "\0\0\0\0", 4) &&
	       put_fixup(m, CODE_FIXUP_RELATIVE, m->n_code - 4, m->n_code, target);
}

/*
 * A call pushes its return address, by which unwinders find the function. It has to be the one in
 * the function, not the one behind the moved call: push it, then jump.
 */
static bool put_return_address(struct code_moved *m, uint64_t address)
{
	return put(m, "\x68\0\0\0\0", 5) && /* push low half, sign-extended */
	       put_fixup(m, CODE_FIXUP_LOW, m->n_code - 4, m->n_code, address) &&
	       put(m, "\xc7\x44\x24\x04\0\0\0\0", 8) && /* movl high half, 4(%rsp) */
	       put_fixup(m, CODE_FIXUP_HIGH, m->n_code - 4, m->n_code, address);
}

/* A copy, with the distance of its memory operand adjusted if it has one. */
static bool put_copy(struct code_moved *m, const cs_insn *insn, const uint8_t *bytes)
{
	const cs_x86_encoding *encoding = &insn->detail->x86.encoding;
	uint64_t operand = rip_operand(insn);
	uint32_t at = m->n_code;

	if (!put(m, bytes, insn->size))
		return false;
	if (!operand)
		return true;
	if (!encoding->disp_offset || encoding->disp_size != 4) {
		m->why_not = "its first instructions have an operand that cannot be moved";
		return false;
	}
	return put_fixup(m, CODE_FIXUP_RELATIVE, at + encoding->disp_offset, m->n_code, operand);
}

static bool uses_stack(const cs_insn *insn)
{
	const cs_x86_op *op = &insn->detail->x86.operands[0];

	return (op->type == X86_OP_MEM &&
		(op->mem.base == X86_REG_RSP || op->mem.index == X86_REG_RSP)) ||
	       (op->type == X86_OP_REG && op->reg == X86_REG_RSP);
}

static bool move_call(struct code_moved *m, const cs_insn *insn, size_t op)
{
	uint8_t bytes[16];

	if (uses_stack(insn)) {
		m->why_not = "its first instructions call through the stack";
		return false;
	}
	memcpy(bytes, insn->bytes, insn->size);
	bytes[op + 1] = (uint8_t)((bytes[op + 1] & ~0x38) | 0x20); /* jmp instead of call */
	return put_return_address(m, insn->address + insn->size) && put_copy(m, insn, bytes);
}

static bool move(struct code_moved *m, const cs_insn *insn, bool is_last)
{
	uint64_t target;
	size_t op;
	enum code_branch branch =
		code_branch_of(insn->bytes, insn->size, insn->address, &target, &op);
	char conditional[2] = { 0x0f, 0 };

	switch (branch) {
	case CODE_BRANCH_JUMP:
		return put_branch(m, "\xe9", 1, target);
	case CODE_BRANCH_CONDITIONAL:
		/* 70 to 7f become 0f 80 to 0f 8f. */
		conditional[1] = (char)(insn->bytes[op] == 0x0f ? insn->bytes[op + 1]
								: insn->bytes[op] + 0x10);
		return put_branch(m, conditional, 2, target);
	case CODE_BRANCH_SHORT_ONLY:
		m->why_not = "its first instructions have a branch that cannot be moved";
		return false;
	case CODE_BRANCH_CALL:
		return put_return_address(m, insn->address + insn->size) &&
		       put_branch(m, "\xe9", 1, target);
	case CODE_BRANCH_CALL_INDIRECT:
		if (is_last)
			return move_call(m, insn, op);
		m->why_not = "a call is among its first instructions";
		return false;
	default:
		return put_copy(m, insn, insn->bytes);
	}
}

/* May something lead between the instructions? To the first one is fine. */
static bool led_into(const struct code_image *image, const struct code_host_function *function,
		     const struct code_scan *scan, const struct code_moved *m)
{
	for (uint32_t i = m->patch_at + 1; i < m->patch_at + m->n_patch; i++)
		if (scan->inside[i / 64] >> i % 64 & 1 ||
		    code_image_is_target(image, function->offset + i))
			return true;
	return false;
}

bool code_host_function_move(struct code_functions *functions,
			     const struct code_host_function *function,
			     const struct code_scan *scan, struct code_moved *out_moved)
{
	struct code_image *image = functions->image;
	const uint8_t *code = code_image_at(image, function->offset, function->size), *begin = code;
	struct code_moved *m = out_moved;
	uint64_t address = function->offset;
	size_t left = function->size;

	*m = (struct code_moved){ 0 };
	if (!function->is_entered)
		m->why_not = "it is not entered by a call";
	while (!m->why_not && m->n_patch < PATCH_BYTES) {
		const cs_insn *insn = image->instruction;

		if (!left || !cs_disasm_iter(image->disassembler, &code, &left, &address,
					     image->instruction)) {
			m->why_not = "it is too short";
		} else if (!insn->id) {
			m->why_not = "its first bytes are no instructions that are known";
		} else if (insn->address == function->offset && insn->size == 4 &&
			   memcmp(insn->bytes, "\xf3\x0f\x1e\xfa", 4) == 0) {
			m->patch_at = 4; /* endbr64 stays: it is where indirect calls may arrive */
		} else {
			m->n_patch += insn->size;
			if (!move(m, insn, m->n_patch >= PATCH_BYTES) && !m->why_not)
				m->why_not = "its first instructions are too long";
		}
	}
	if (!m->why_not && (m->n_patch > sizeof(m->original) || led_into(image, function, scan, m)))
		m->why_not = "something may jump between its first instructions";
	if (m->why_not)
		return false;
	memcpy(m->original, begin + m->patch_at, m->n_patch);
	return true;
}
