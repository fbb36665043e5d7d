#include "collector/sample/cfi.h"

#include "collector/sample/cfi_bytes.h"

/* Pointer encodings (Linux Standard Base, core specification, section 10.5). */
enum {
	PE_ABSOLUTE = 0x00,
	PE_ULEB = 0x01,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SLEB = 0x09,
	PE_SDATA2 = 0x0a,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_RELATIVE_PC = 0x10,
	PE_RELATIVE_DATA = 0x30,
	PE_OMIT = 0xff,
};
#define PE_SORTED_TABLE (PE_RELATIVE_DATA | PE_SDATA4) /* what all linkers write */

/* Callee-saved, in the order of the packed form. */
static const uint8_t saved[] = { COL_CFI_RBX, COL_CFI_RBP, COL_CFI_R12,
				 COL_CFI_R13, COL_CFI_R14, COL_CFI_R15 };
#define N_SAVED (sizeof(saved) / sizeof(saved[0]))

/* ---- finding the row ---- */

/* Bytes from @at to the end of the range that contains it; empty: in none. */
static struct col_cfi_bytes bytes_at(const struct col_cfi_ranges *ranges, uintptr_t at)
{
	for (uint32_t i = 0; i < ranges->n; i++) {
		if (at >= ranges->range[i].start && at < ranges->range[i].end)
			return (struct col_cfi_bytes){ (const uint8_t *)at,
						       (const uint8_t *)ranges->range[i].end,
						       false };
	}
	return (struct col_cfi_bytes){ NULL, NULL, true };
}

/* @data: what PE_RELATIVE_DATA is relative to. Indirect pointers are not followed. */
static uint64_t read_pointer(struct col_cfi_bytes *b, uint8_t encoding, uint64_t data)
{
	uint64_t base = 0, value;

	switch (encoding & 0x70) {
	case 0:
		break;
	case PE_RELATIVE_PC:
		base = (uintptr_t)b->at;
		break;
	case PE_RELATIVE_DATA:
		base = data;
		break;
	default:
		b->bad = true;
	}
	switch (encoding & 0x0f) {
	case PE_ABSOLUTE:
	case PE_UDATA8:
	case PE_SDATA8:
		value = col_cfi_fixed(b, 8);
		break;
	case PE_UDATA4:
		value = col_cfi_fixed(b, 4);
		break;
	case PE_SDATA4:
		value = (uint64_t)col_cfi_signed(b, 4);
		break;
	case PE_UDATA2:
		value = col_cfi_fixed(b, 2);
		break;
	case PE_SDATA2:
		value = (uint64_t)col_cfi_signed(b, 2);
		break;
	case PE_ULEB:
		value = col_cfi_uleb(b);
		break;
	case PE_SLEB:
		value = (uint64_t)col_cfi_sleb(b);
		break;
	default:
		b->bad = true;
		value = 0;
	}
	return base + value;
}

/* The sorted table: pairs of 4-byte offsets from the header, of a function and of its entry. */
static uintptr_t find_entry(const struct col_cfi_ranges *ranges, uintptr_t header, uint64_t pc)
{
	struct col_cfi_bytes b = bytes_at(ranges, header);
	uint8_t version, section_enc, count_enc, table_enc;
	uint64_t n, low = 0, high;
	int32_t pair[2];

	version = (uint8_t)col_cfi_fixed(&b, 1);
	section_enc = (uint8_t)col_cfi_fixed(&b, 1);
	count_enc = (uint8_t)col_cfi_fixed(&b, 1);
	table_enc = (uint8_t)col_cfi_fixed(&b, 1);
	if (b.bad || version != 1 || count_enc == PE_OMIT || table_enc != PE_SORTED_TABLE)
		return 0;
	if (section_enc != PE_OMIT)
		read_pointer(&b, section_enc, header);
	n = read_pointer(&b, count_enc, header);
	if (b.bad || n == 0 || n > (uint64_t)(b.end - b.at) / sizeof(pair))
		return 0;
	for (high = n; low < high;) { /* the first function that begins after pc */
		uint64_t mid = low + (high - low) / 2;

		memcpy(pair, b.at + mid * sizeof(pair), sizeof(pair));
		if (header + (uint64_t)(int64_t)pair[0] <= pc)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == 0)
		return 0;
	memcpy(pair, b.at + (low - 1) * sizeof(pair), sizeof(pair));
	return header + (uint64_t)(int64_t)pair[1];
}

/* An entry of .eh_frame, without its length: at its id. */
static bool read_entry(const struct col_cfi_ranges *ranges, uintptr_t at, struct col_cfi_bytes *out)
{
	struct col_cfi_bytes b = bytes_at(ranges, at);
	uint64_t n = col_cfi_fixed(&b, 4);

	if (n == UINT32_MAX)
		n = col_cfi_fixed(&b, 8);
	if (b.bad || n < 4 || n > (uint64_t)(b.end - b.at))
		return false;
	b.end = b.at + n;
	*out = b;
	return true;
}

struct common { /* what functions have in common: a CIE */
	uint64_t code_align;
	int64_t data_align;
	uint8_t pointer_enc;
	bool augmented, signal;
	struct col_cfi_bytes code;
};

static bool read_augmentation(struct col_cfi_bytes *b, const uint8_t *text, struct common *out)
{
	uint64_t n = col_cfi_uleb(b);
	struct col_cfi_bytes data = *b;

	if (b->bad || n > (uint64_t)(b->end - b->at))
		return false;
	data.end = data.at + n;
	b->at = data.end;
	for (; *text; text++) { /* it was checked that it ends */
		switch (*text) {
		case 'R':
			out->pointer_enc = (uint8_t)col_cfi_fixed(&data, 1);
			break;
		case 'P': { /* where exceptions are handled */
			uint8_t encoding = (uint8_t)col_cfi_fixed(&data, 1);

			read_pointer(&data, encoding & 0x0f, 0);
			break;
		}
		case 'L':
			col_cfi_fixed(&data, 1);
			break;
		case 'S':
			out->signal = true;
			break;
		default:
			return true; /* nothing that is of use here comes after others */
		}
	}
	return !data.bad;
}

static bool read_common(const struct col_cfi_ranges *ranges, uintptr_t at, struct common *out)
{
	const uint8_t *text;
	struct col_cfi_bytes b;
	uint8_t version;

	*out = (struct common){ .pointer_enc = PE_ABSOLUTE };
	if (!read_entry(ranges, at, &b) || col_cfi_fixed(&b, 4) != 0)
		return false;
	version = (uint8_t)col_cfi_fixed(&b, 1);
	text = b.at;
	while (col_cfi_fixed(&b, 1) != 0)
		;
	if (b.bad || (version != 1 && version != 3 && version != 4))
		return false;
	if (version == 4)
		col_cfi_fixed(&b, 2); /* sizes of addresses and of segments */
	out->code_align = col_cfi_uleb(&b);
	out->data_align = col_cfi_sleb(&b);
	if (version == 1 ? col_cfi_fixed(&b, 1) != COL_CFI_RIP : col_cfi_uleb(&b) != COL_CFI_RIP)
		return false;
	if (*text == 'z') {
		out->augmented = true;
		if (!read_augmentation(&b, text + 1, out))
			return false;
	} else if (*text) {
		return false;
	}
	out->code = b;
	return !b.bad;
}

/* ---- the instructions that make the row ---- */

struct program {
	struct col_cfi_bytes b;
	const struct common *common;
	struct col_cfi_work *work;
	uint64_t at, pc; /* rules hold from `at` on; they are wanted for pc */
	unsigned n_remembered;
	bool first; /* the common part: rules that others go back to */
};

static void set_rule(struct program *p, uint64_t number, uint32_t how, int64_t offset)
{
	if (number < COL_CFI_REGISTERS)
		p->work->row.rules[number] = (struct col_cfi_rule){ .how = how, .offset = offset };
}

static void set_expression(struct program *p, struct col_cfi_rule *rule, uint32_t how)
{
	uint64_t n = col_cfi_uleb(&p->b);

	if (n > (uint64_t)(p->b.end - p->b.at)) {
		p->b.bad = true;
		return;
	}
	if (rule)
		*rule = (struct col_cfi_rule){ .how = how,
					       .number = (uint32_t)n,
					       .expression = p->b.at };
	p->b.at += n;
}

static void set_cfa(struct program *p, uint64_t number, int64_t offset)
{
	if (number >= COL_CFI_REGISTERS)
		p->b.bad = true;
	else
		p->work->row.cfa = (struct col_cfi_rule){ .how = COL_CFI_REGISTER,
							  .number = (uint32_t)number,
							  .offset = offset };
}

/* An expression must stay one: its pointer is in the same place as the offset. */
static void set_cfa_offset(struct program *p, int64_t offset)
{
	if (p->work->row.cfa.how != COL_CFI_REGISTER)
		p->b.bad = true;
	else
		p->work->row.cfa.offset = offset;
}

static struct col_cfi_rule *rule_of(struct program *p, uint64_t number)
{
	return number < COL_CFI_REGISTERS ? &p->work->row.rules[number] : NULL;
}

static void restore(struct program *p, uint64_t number)
{
	if (p->first)
		p->b.bad = true;
	else if (number < COL_CFI_REGISTERS)
		p->work->row.rules[number] = p->work->initial.rules[number];
}

static void remember(struct program *p, bool back)
{
	struct col_cfi_work *work = p->work;

	if (back ? p->n_remembered == 0 : p->n_remembered == COL_CFI_REMEMBERED) {
		p->b.bad = true;
	} else if (back) {
		bool is_signal = work->row.signal;

		work->row = work->remembered[--p->n_remembered];
		work->row.signal = is_signal;
	} else {
		work->remembered[p->n_remembered++] = work->row;
	}
}

/* DW_CFA_*, those whose upper two bits are 0 (DWARF 5, section 6.4.2). */
static void extended(struct program *p, uint8_t op)
{
	const int64_t align = p->common->data_align;
	struct col_cfi_bytes *b = &p->b;
	uint64_t number;

	switch (op) {
	case 0x00: /* nop */
		return;
	case 0x01: /* set_loc */
		p->at = read_pointer(b, p->common->pointer_enc, 0);
		return;
	case 0x02: /* advance_loc1 */
	case 0x03:
	case 0x04:
		p->at += col_cfi_fixed(b, 1u << (op - 2)) * p->common->code_align;
		return;
	case 0x0a: /* remember_state */
	case 0x0b: /* restore_state */
		remember(p, op == 0x0b);
		return;
	case 0x0d: /* def_cfa_register */
		set_cfa(p, col_cfi_uleb(b), p->work->row.cfa.offset);
		return;
	case 0x0e: /* def_cfa_offset */
		set_cfa_offset(p, (int64_t)col_cfi_uleb(b));
		return;
	case 0x0f: /* def_cfa_expression */
		set_expression(p, &p->work->row.cfa, COL_CFI_EXPRESSION);
		return;
	case 0x13: /* def_cfa_offset_sf */
		set_cfa_offset(p, (int64_t)((uint64_t)col_cfi_sleb(b) * (uint64_t)align));
		return;
	case 0x2e: /* GNU_args_size */
		col_cfi_uleb(b);
		return;
	}
	number = col_cfi_uleb(b); /* all others begin with a register */
	switch (op) {
	case 0x05: /* offset_extended */
		set_rule(p, number, COL_CFI_OFFSET, (int64_t)(col_cfi_uleb(b) * (uint64_t)align));
		break;
	case 0x06: /* restore_extended */
		restore(p, number);
		break;
	case 0x07: /* undefined */
		set_rule(p, number, COL_CFI_UNDEFINED, 0);
		break;
	case 0x08: /* same_value */
		set_rule(p, number, COL_CFI_SAME, 0);
		break;
	case 0x09: /* register */
		set_rule(p, number, COL_CFI_REGISTER, 0);
		if (number < COL_CFI_REGISTERS)
			p->work->row.rules[number].number = (uint32_t)col_cfi_uleb(b);
		else
			col_cfi_uleb(b);
		break;
	case 0x0c: /* def_cfa */
		set_cfa(p, number, (int64_t)col_cfi_uleb(b));
		break;
	case 0x10: /* expression */
		set_expression(p, rule_of(p, number), COL_CFI_EXPRESSION);
		break;
	case 0x11: /* offset_extended_sf */
		set_rule(p, number, COL_CFI_OFFSET,
			 (int64_t)((uint64_t)col_cfi_sleb(b) * (uint64_t)align));
		break;
	case 0x12: /* def_cfa_sf */
		set_cfa(p, number, (int64_t)((uint64_t)col_cfi_sleb(b) * (uint64_t)align));
		break;
	case 0x14: /* val_offset */
		set_rule(p, number, COL_CFI_VAL_OFFSET,
			 (int64_t)(col_cfi_uleb(b) * (uint64_t)align));
		break;
	case 0x15: /* val_offset_sf */
		set_rule(p, number, COL_CFI_VAL_OFFSET,
			 (int64_t)((uint64_t)col_cfi_sleb(b) * (uint64_t)align));
		break;
	case 0x16: /* val_expression */
		set_expression(p, rule_of(p, number), COL_CFI_VAL_EXPRESSION);
		break;
	default:
		b->bad = true;
	}
}

/* Run up to the rules of pc. */
static bool run(struct program *p)
{
	while (p->b.at != p->b.end && !p->b.bad && p->at <= p->pc) {
		uint8_t op = (uint8_t)col_cfi_fixed(&p->b, 1), low = op & 0x3f;

		switch (op >> 6) {
		case 1: /* advance_loc */
			p->at += low * p->common->code_align;
			break;
		case 2: /* offset */
			set_rule(p, low, COL_CFI_OFFSET,
				 (int64_t)(col_cfi_uleb(&p->b) * (uint64_t)p->common->data_align));
			break;
		case 3: /* restore */
			restore(p, low);
			break;
		default:
			extended(p, op);
		}
	}
	return !p->b.bad;
}

bool col_cfi_find(const struct col_cfi_ranges *ranges, uintptr_t header, uint64_t pc,
		  struct col_cfi_work *work)
{
	uintptr_t entry = find_entry(ranges, header, pc), id_at;
	uint64_t start, n_code, n_skip, back;
	struct col_cfi_bytes b;
	struct common common;
	struct program p;

	if (!entry || !read_entry(ranges, entry, &b))
		return false;
	id_at = (uintptr_t)b.at;
	back = col_cfi_fixed(&b, 4);
	if (back == 0 || !read_common(ranges, id_at - back, &common))
		return false;
	start = read_pointer(&b, common.pointer_enc, header);
	n_code = read_pointer(&b, common.pointer_enc & 0x0f, 0);
	if (b.bad || pc < start || pc - start >= n_code)
		return false;
	if (common.augmented) {
		n_skip = col_cfi_uleb(&b);
		if (b.bad || n_skip > (uint64_t)(b.end - b.at))
			return false;
		b.at += n_skip;
	}
	memset(&work->row, 0, sizeof(work->row));
	p = (struct program){ .b = common.code, .common = &common, .work = work, .first = true };
	if (!run(&p)) /* pc is 0: the common part advances nothing */
		return false;
	work->initial = work->row;
	p = (struct program){ .b = b, .common = &common, .work = work, .at = start, .pc = pc };
	if (!run(&p))
		return false;
	work->row.signal = common.signal;
	return work->row.cfa.how != COL_CFI_SAME;
}

/* ---- applying it ---- */

static bool known(const struct col_cfi_regs *regs, uint32_t number)
{
	return number < COL_CFI_REGISTERS && regs->known >> number & 1;
}

static void set(struct col_cfi_regs *regs, uint32_t number, uint64_t value)
{
	regs->value[number] = value;
	regs->known |= 1u << number;
}

/* The caller's value of a register; false: it is not known. */
static bool caller_value(struct col_cfi_work *work, const struct col_cfi_memory *memory,
			 const struct col_cfi_regs *regs, uint32_t number, uint64_t cfa,
			 uint64_t *out)
{
	const struct col_cfi_rule *rule = &work->row.rules[number];
	uint64_t at;

	switch (rule->how) {
	case COL_CFI_SAME:
		if (number == COL_CFI_RSP) {
			*out = cfa;
			return true;
		}
		*out = regs->value[number];
		return number != COL_CFI_RIP && known(regs, number);
	case COL_CFI_OFFSET:
		return memory->read(memory->arg, cfa + (uint64_t)rule->offset, out);
	case COL_CFI_VAL_OFFSET:
		*out = cfa + (uint64_t)rule->offset;
		return true;
	case COL_CFI_REGISTER:
		if (!known(regs, rule->number))
			return false;
		*out = regs->value[rule->number];
		return true;
	case COL_CFI_EXPRESSION:
		return col_cfi_evaluate(work, rule->expression, rule->number, cfa, regs, memory,
					&at) &&
		       memory->read(memory->arg, at, out);
	case COL_CFI_VAL_EXPRESSION:
		return col_cfi_evaluate(work, rule->expression, rule->number, cfa, regs, memory,
					out);
	default:
		return false;
	}
}

static bool is_saved(uint32_t number)
{
	for (unsigned i = 0; i < N_SAVED; i++) {
		if (saved[i] == number)
			return true;
	}
	return number == COL_CFI_RSP;
}

enum col_cfi_result col_cfi_step(struct col_cfi_work *work, struct col_cfi_memory memory,
				 struct col_cfi_regs *regs)
{
	const struct col_cfi_row *row = &work->row;
	uint64_t cfa, value;

	if (row->rules[COL_CFI_RIP].how == COL_CFI_UNDEFINED)
		return COL_CFI_OUTERMOST;
	if (row->cfa.how == COL_CFI_EXPRESSION) {
		if (!col_cfi_evaluate(work, row->cfa.expression, row->cfa.number, 0, regs, &memory,
				      &cfa))
			return COL_CFI_FAILED;
	} else if (!known(regs, row->cfa.number)) {
		return COL_CFI_FAILED;
	} else {
		cfa = regs->value[row->cfa.number] + (uint64_t)row->cfa.offset;
	}
	work->next.known = 0;
	for (uint32_t i = 0; i < COL_CFI_REGISTERS; i++) {
		/* Other registers are not kept by calls; only a signal frame has them. */
		if (row->rules[i].how == COL_CFI_SAME && !is_saved(i))
			continue;
		if (caller_value(work, &memory, regs, i, cfa, &value))
			set(&work->next, i, value);
	}
	if (!known(&work->next, COL_CFI_RIP))
		return COL_CFI_FAILED;
	*regs = work->next;
	return COL_CFI_OK;
}

/* ---- the packed form ---- */

#define PLACE_BITS 6u
#define PLACE_MAX ((1u << PLACE_BITS) - 1)
#define CFA_SHIFT (2u + PLACE_BITS * (unsigned)N_SAVED)
#define CFA_MAX ((1u << (63u - CFA_SHIFT)) - 1)

uint64_t col_cfi_pack(const struct col_cfi_row *row)
{
	const struct col_cfi_rule *cfa = &row->cfa, *ra = &row->rules[COL_CFI_RIP];
	uint64_t packed = 1;

	if (row->signal || cfa->how != COL_CFI_REGISTER ||
	    (cfa->number != COL_CFI_RSP && cfa->number != COL_CFI_RBP) || cfa->offset < 0 ||
	    cfa->offset % 8 || cfa->offset / 8 > CFA_MAX || ra->how != COL_CFI_OFFSET ||
	    ra->offset != -8 || row->rules[COL_CFI_RSP].how != COL_CFI_SAME)
		return 0;
	if (cfa->number == COL_CFI_RBP)
		packed |= 2;
	for (unsigned i = 0; i < N_SAVED; i++) {
		const struct col_cfi_rule *rule = &row->rules[saved[i]];

		if (rule->how == COL_CFI_SAME)
			continue;
		if (rule->how != COL_CFI_OFFSET || rule->offset >= 0 || rule->offset % 8 ||
		    -rule->offset / 8 > PLACE_MAX)
			return 0;
		packed |= (uint64_t)(-rule->offset / 8) << (2 + PLACE_BITS * i);
	}
	return packed | (uint64_t)(cfa->offset / 8) << CFA_SHIFT;
}

enum col_cfi_result col_cfi_step_packed(uint64_t packed, struct col_cfi_memory memory,
					struct col_cfi_regs *regs)
{
	uint32_t base = packed & 2 ? COL_CFI_RBP : COL_CFI_RSP;
	uint64_t cfa, value;

	if (!known(regs, base))
		return COL_CFI_FAILED;
	cfa = regs->value[base] + (packed >> CFA_SHIFT) * 8;
	if (!memory.read(memory.arg, cfa - 8, &value))
		return COL_CFI_FAILED;
	/* What callers do not keep is unknown from here on. */
	regs->known &= 1u << COL_CFI_RBX | 1u << COL_CFI_RBP | 0xfu << COL_CFI_R12;
	set(regs, COL_CFI_RIP, value);
	for (unsigned i = 0; i < N_SAVED; i++) {
		uint64_t place = packed >> (2 + PLACE_BITS * i) & PLACE_MAX;

		if (!place)
			continue;
		if (memory.read(memory.arg, cfa - place * 8, &value))
			set(regs, saved[i], value);
		else
			regs->known &= ~(1u << saved[i]);
	}
	set(regs, COL_CFI_RSP, cfa);
	return COL_CFI_OK;
}
