/*
 * expression: DWARF expressions, as call frame information has them (DWARF 5, section 2.5).
 *
 * They are rare: PLT entries, signal frames, functions that align their stack.
 */
#include "collector/sample/cfi.h"
#include "collector/sample/cfi_bytes.h"

#include "base/util.h"

#define STEPS_MAX 256u /* a damaged expression may jump backwards */

enum {
	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S,
	OP_CONST2U,
	OP_CONST2S,
	OP_CONST4U,
	OP_CONST4S,
	OP_CONST8U,
	OP_CONST8S,
	OP_CONSTU,
	OP_CONSTS,
	OP_DUP,
	OP_DROP,
	OP_OVER,
	OP_PICK,
	OP_SWAP,
	OP_ROT,
	OP_ABS = 0x19,
	OP_AND,
	OP_DIV,
	OP_MINUS,
	OP_MOD,
	OP_MUL,
	OP_NEG,
	OP_NOT,
	OP_OR,
	OP_PLUS,
	OP_PLUS_UCONST,
	OP_SHL,
	OP_SHR,
	OP_SHRA,
	OP_XOR,
	OP_BRA,
	OP_EQ,
	OP_GE,
	OP_GT,
	OP_LE,
	OP_LT,
	OP_NE,
	OP_SKIP,
	OP_LIT0 = 0x30,
	OP_BREG0 = 0x70,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96,
};

struct machine {
	uint64_t *stack;
	uint32_t n, room;
	bool bad;
};

static void push(struct machine *m, uint64_t value)
{
	if (m->n == m->room)
		m->bad = true;
	else
		m->stack[m->n++] = value;
}

static uint64_t pop(struct machine *m)
{
	if (m->n)
		return m->stack[--m->n];
	m->bad = true;
	return 0;
}

/* The value @depth below the top. */
static void pick(struct machine *m, uint64_t depth)
{
	if (depth < m->n)
		push(m, m->stack[m->n - 1 - depth]);
	else
		m->bad = true;
}

static void reorder(struct machine *m, uint8_t op)
{
	uint64_t a = pop(m), b = pop(m), c;

	if (op == OP_SWAP) {
		push(m, a);
		push(m, b);
		return;
	}
	c = pop(m); /* OP_ROT */
	push(m, a);
	push(m, c);
	push(m, b);
}

/* Second operand on top; DIV and the comparisons are signed. */
static uint64_t binary(struct machine *m, uint8_t op)
{
	uint64_t b = pop(m), a = pop(m);
	int64_t sa = (int64_t)a, sb = (int64_t)b;

	switch (op) {
	case OP_AND:
		return a & b;
	case OP_OR:
		return a | b;
	case OP_XOR:
		return a ^ b;
	case OP_PLUS:
		return a + b;
	case OP_MINUS:
		return a - b;
	case OP_MUL:
		return a * b;
	case OP_SHL:
		return b < 64 ? a << b : 0;
	case OP_SHR:
		return b < 64 ? a >> b : 0;
	case OP_SHRA:
		return (uint64_t)(sa >> (b < 64 ? b : 63));
	case OP_DIV:
	case OP_MOD:
		if (b == 0 || (sa == INT64_MIN && sb == -1)) {
			m->bad = true;
			return 0;
		}
		return op == OP_DIV ? (uint64_t)(sa / sb) : a % b;
	case OP_EQ:
		return a == b;
	case OP_NE:
		return a != b;
	case OP_GE:
		return sa >= sb;
	case OP_GT:
		return sa > sb;
	case OP_LE:
		return sa <= sb;
	case OP_LT:
		return sa < sb;
	default:
		m->bad = true;
		return 0;
	}
}

static void push_register(struct machine *m, const struct col_cfi_regs *regs, uint64_t number,
			  int64_t offset)
{
	if (number >= COL_CFI_REGISTERS || !(regs->known >> number & 1))
		m->bad = true;
	else
		push(m, regs->value[number] + (uint64_t)offset);
}

static void dereference(struct machine *m, const struct col_cfi_memory *memory, unsigned n_bytes)
{
	uint64_t value = 0;

	if (n_bytes == 0 || n_bytes > 8 || !memory->read(memory->arg, pop(m), &value))
		m->bad = true;
	else
		push(m, n_bytes == 8 ? value : value & ((1ull << 8 * n_bytes) - 1));
}

static void jump(struct machine *m, struct col_cfi_bytes *b, const uint8_t *start, bool taken)
{
	int64_t by = col_cfi_signed(b, 2);

	if (!taken)
		return;
	if (by < start - b->at || by > b->end - b->at)
		m->bad = true;
	else
		b->at += by;
}

static void constant(struct machine *m, struct col_cfi_bytes *b, uint8_t op)
{
	static const uint8_t widths[] = { 1, 1, 2, 2, 4, 4, 8, 8 };

	if (op == OP_CONSTU)
		push(m, col_cfi_uleb(b));
	else if (op == OP_CONSTS)
		push(m, (uint64_t)col_cfi_sleb(b));
	else if ((op - OP_CONST1U) % 2)
		push(m, (uint64_t)col_cfi_signed(b, widths[op - OP_CONST1U]));
	else
		push(m, col_cfi_fixed(b, widths[op - OP_CONST1U]));
}

static void operate(struct machine *m, struct col_cfi_bytes *b, const uint8_t *start, uint8_t op,
		    const struct col_cfi_regs *regs, const struct col_cfi_memory *memory)
{
	uint64_t value;

	if (op >= OP_LIT0 && op < OP_LIT0 + 32) {
		push(m, op - OP_LIT0);
		return;
	}
	if (op >= OP_BREG0 && op < OP_BREG0 + 32) {
		push_register(m, regs, op - OP_BREG0, col_cfi_sleb(b));
		return;
	}
	if (op >= OP_CONST1U && op <= OP_CONSTS) {
		constant(m, b, op);
		return;
	}
	switch (op) {
	case OP_ADDR:
		push(m, col_cfi_fixed(b, 8));
		break;
	case OP_DEREF:
		dereference(m, memory, 8);
		break;
	case OP_DEREF_SIZE:
		dereference(m, memory, (unsigned)col_cfi_fixed(b, 1));
		break;
	case OP_BREGX:
		value = col_cfi_uleb(b);
		push_register(m, regs, value, col_cfi_sleb(b));
		break;
	case OP_DUP:
		pick(m, 0);
		break;
	case OP_OVER:
		pick(m, 1);
		break;
	case OP_PICK:
		pick(m, col_cfi_fixed(b, 1));
		break;
	case OP_DROP:
		pop(m);
		break;
	case OP_SWAP:
	case OP_ROT:
		reorder(m, op);
		break;
	case OP_ABS:
		value = pop(m);
		push(m, (int64_t)value < 0 ? 0 - value : value);
		break;
	case OP_NEG:
		push(m, 0 - pop(m));
		break;
	case OP_NOT:
		push(m, ~pop(m));
		break;
	case OP_PLUS_UCONST:
		push(m, pop(m) + col_cfi_uleb(b));
		break;
	case OP_SKIP:
		jump(m, b, start, true);
		break;
	case OP_BRA:
		jump(m, b, start, pop(m) != 0);
		break;
	case OP_NOP:
		break;
	default:
		push(m, binary(m, op));
	}
}

bool col_cfi_evaluate(struct col_cfi_work *work, const uint8_t *expression, uint32_t n_bytes,
		      uint64_t first, const struct col_cfi_regs *regs,
		      const struct col_cfi_memory *memory, uint64_t *out)
{
	struct machine m = { work->stack, 0, WS_ARRAY_LEN(work->stack), false };
	struct col_cfi_bytes b = { expression, expression + n_bytes, false };

	push(&m, first);
	for (unsigned n = 0; b.at != b.end; n++) {
		uint8_t op = (uint8_t)col_cfi_fixed(&b, 1);

		operate(&m, &b, expression, op, regs, memory);
		if (m.bad || b.bad || n == STEPS_MAX)
			return false;
	}
	*out = pop(&m);
	return !m.bad;
}
