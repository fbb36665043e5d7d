/*
 * unwind: the call stack of an interrupted thread.
 *
 * Each step goes from a frame to its caller by the rules of its code (cfi.h). Rules are cached
 * by address, in two words per entry that are written without locks: the first is the
 * exclusive or of both, so that a torn entry matches no address. Code without rules is
 * expected to keep frame pointers.
 *
 * Only x86-64. On other machines a stack is the interrupted instruction.
 */
#include "collector/sample/sample_priv.h"

#include "collector/instrument/instrument.h"

#include <signal.h>
#include <ucontext.h>

/* Not there where functions cannot be instrumented. */
#pragma weak col_instrument_return

#define CACHED (1u << 16)    /* entries; 1 MiB */
#define FRAME_MAX (1u << 20) /* a frame pointer further away than this is none */

/* Besides packed rows, whose bit 0 is set. */
enum {
	RULE_UNKNOWN = 0,
	RULE_NO_MODULE = 2,
	RULE_NONE = 4,    /* code without rules */
	RULE_COMPLEX = 6, /* does not fit: find the row again */
	RULE_DATA = 8,    /* no code at all */
};

static struct cached {
	uint64_t check, rule; /* check ^ rule is the address and the generation */
} * cache;

bool col_unwind_start(void)
{
	if (!cache)
		cache = col_pages(CACHED * sizeof(*cache));
	return cache != NULL;
}

#if defined(__x86_64__)

static struct cached *cache_entry(uint64_t key)
{
	return &cache[(key ^ key >> 16 ^ key >> 32) & (CACHED - 1)];
}

static uint64_t recall(uint64_t key)
{
	const struct cached *entry = cache_entry(key);
	uint64_t rule = __atomic_load_n(&entry->rule, __ATOMIC_RELAXED);

	return (__atomic_load_n(&entry->check, __ATOMIC_RELAXED) ^ rule) == key ? rule
										: RULE_UNKNOWN;
}

static void keep(uint64_t key, uint64_t rule)
{
	struct cached *entry = cache_entry(key);

	__atomic_store_n(&entry->rule, rule, __ATOMIC_RELAXED);
	__atomic_store_n(&entry->check, key ^ rule, __ATOMIC_RELAXED);
}

static bool read_word(void *arg, uint64_t at, uint64_t *out)
{
	return col_sample_read(arg, at, out, sizeof(*out));
}

/* Without headers everything may be code. */
static bool is_data(const struct col_module *module, uint64_t pc)
{
	for (uint32_t i = 0; i < module->ranges.n; i++) {
		if (pc >= module->ranges.range[i].start && pc < module->ranges.range[i].end)
			return !(module->code >> i & 1);
	}
	return module->ranges.n != 0;
}

/* The rule for @pc; work->cfi.row is filled when it is RULE_COMPLEX. */
static uint64_t rule_of(struct col_sample_work *work, uint64_t pc, struct cap_lane *lane)
{
	uint64_t key = pc ^ (uint64_t)col_modules_generation() << 48;
	uint64_t rule = recall(key);
	struct col_module module;

	if (rule && rule != RULE_COMPLEX)
		return rule;
	if (!col_modules_enter())
		return RULE_UNKNOWN;
	if (!col_module_find(work, pc, lane, &module)) {
		rule = RULE_NO_MODULE;
	} else if (is_data(&module, pc)) {
		rule = RULE_DATA;
	} else if (!module.header || !col_cfi_find(&module.ranges, module.header, pc, &work->cfi)) {
		rule = RULE_NONE;
	} else {
		rule = col_cfi_pack(&work->cfi.row);
		if (!rule)
			rule = RULE_COMPLEX;
	}
	col_modules_leave();
	/* A library may be loaded there a moment later: what is not there is not kept. */
	if (rule != RULE_NO_MODULE)
		keep(key, rule);
	return rule;
}

/* [rbp] is the caller's rbp, and the return address is above it. */
static enum col_cfi_result step_by_frame_pointer(struct col_sample_work *work,
						 struct col_cfi_regs *regs)
{
	uint64_t rbp = regs->value[COL_CFI_RBP], sp = regs->value[COL_CFI_RSP], words[2];

	if (!(regs->known >> COL_CFI_RBP & 1) || rbp % 8 || rbp < sp || rbp - sp > FRAME_MAX ||
	    !col_sample_read(work, rbp, words, sizeof(words)))
		return COL_CFI_FAILED;
	if (words[1] == 0)
		return COL_CFI_OUTERMOST;
	if (words[0] && (words[0] <= rbp || words[0] - rbp > FRAME_MAX))
		return COL_CFI_FAILED;
	regs->value[COL_CFI_RBP] = words[0];
	regs->value[COL_CFI_RIP] = words[1];
	regs->value[COL_CFI_RSP] = rbp + 16;
	regs->known = 1u << COL_CFI_RBP | 1u << COL_CFI_RIP | 1u << COL_CFI_RSP;
	return COL_CFI_OK;
}

/* A call of an address where there is no code has pushed a return address and nothing else. */
static enum col_cfi_result step_from_nowhere(struct col_sample_work *work,
					     struct col_cfi_regs *regs, struct cap_lane *lane)
{
	uint64_t sp = regs->value[COL_CFI_RSP], ra, rule;

	if (!col_sample_read(work, sp, &ra, sizeof(ra)))
		return COL_CFI_FAILED;
	rule = rule_of(work, ra - 1, lane);
	if (rule == RULE_NO_MODULE || rule == RULE_UNKNOWN)
		return COL_CFI_FAILED;
	regs->value[COL_CFI_RIP] = ra;
	regs->value[COL_CFI_RSP] = sp + 8;
	return COL_CFI_OK;
}

static void take_registers(const ucontext_t *context, struct col_cfi_regs *out)
{
	/* in the order of DWARF's numbers */
	static const uint8_t places[COL_CFI_REGISTERS] = {
		REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
		REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP
	};

	for (unsigned i = 0; i < COL_CFI_REGISTERS; i++)
		out->value[i] = (uint64_t)context->uc_mcontext.gregs[places[i]];
	out->known = (1u << COL_CFI_REGISTERS) - 1;
}

/* From the frame in work->regs to its caller; @lookup: an address of the call. */
static enum col_cfi_result step(struct col_sample_work *work, uint64_t lookup, bool exact,
				struct cap_lane *lane, bool *out_signal)
{
	struct col_cfi_memory memory = { read_word, work };
	uint64_t rule = rule_of(work, lookup, lane);
	enum col_cfi_result result = COL_CFI_FAILED;

	*out_signal = false;
	if (rule == RULE_DATA)
		return COL_CFI_FAILED;
	if (rule & 1)
		return col_cfi_step_packed(rule, memory, &work->regs);
	if (rule == RULE_COMPLEX) {
		*out_signal = work->cfi.row.signal;
		return col_cfi_step(&work->cfi, memory, &work->regs);
	}
	if (rule == RULE_NO_MODULE && exact)
		result = step_from_nowhere(work, &work->regs, lane);
	return result == COL_CFI_OK ? result : step_by_frame_pointer(work, &work->regs);
}

/* The part of the thread's stack above @sp can be read; another stack cannot be, directly. */
static void set_bounds(struct col_sampled *thread, uintptr_t sp)
{
	bool inside = sp >= thread->stack_low && sp < thread->stack_high;

	thread->work->stack_low = inside ? sp : 0;
	thread->work->stack_high = inside ? thread->stack_high : 0;
}

uint32_t col_unwind(struct col_sampled *thread, const void *context, uint32_t depth,
		    struct cap_lane *lane, uint32_t *out_flags)
{
	struct col_sample_work *work = thread->work;
	const uint64_t *value = work->regs.value;
	enum col_cfi_result result = COL_CFI_OK;
	bool exact = true; /* of the interrupted instruction, not of the one after a call */
	uint32_t n = 0, flags = 0;

	take_registers(context, &work->regs);
	work->window_at = 0;
	work->n_window = 0;
	set_bounds(thread, value[COL_CFI_RSP]);
	for (;;) {
		uint64_t pc = value[COL_CFI_RIP], sp = value[COL_CFI_RSP];
		bool is_signal, is_hook = !exact && pc == (uint64_t)col_instrument_return;

		if (n == depth) {
			flags |= CAP_STACK_CUT;
			break;
		}
		/* What looks like a return address is none. */
		if (n && !exact && rule_of(work, pc - 1, lane) == RULE_DATA) {
			result = COL_CFI_FAILED;
			break;
		}
		if (!is_hook)
			work->frames[n++] = pc;
		result = step(work, exact ? pc : pc - 1, exact, lane, &is_signal);
		/* Nobody called what begins right there, as the main function of a coroutine. */
		if (result == COL_CFI_FAILED && !exact)
			result = step(work, pc, true, lane, &is_signal);
		if (result == COL_CFI_OK && value[COL_CFI_RIP] == 0 && !is_signal)
			result = COL_CFI_OUTERMOST;
		/*
		 * A caller's frame is above. Only a signal may have come from another stack, and
		 * vfork() has its return address in a register.
		 */
		if (result == COL_CFI_OK && value[COL_CFI_RSP] < sp + (n > 1) && !is_signal)
			result = COL_CFI_FAILED;
		if (result != COL_CFI_OK)
			break;
		/* Its rules make it a signal frame; to us the next one is a caller as any other. */
		if (is_hook) {
			work->regs.value[COL_CFI_RIP]++;
			is_signal = false;
		}
		exact = is_signal;
		if (is_signal) {
			flags |= CAP_STACK_SIGNAL;
			set_bounds(thread, value[COL_CFI_RSP]);
		}
	}
	if (!(flags & CAP_STACK_CUT) && result == COL_CFI_FAILED)
		flags |= CAP_STACK_BROKEN;
	*out_flags = flags;
	return n;
}

#else

uint32_t col_unwind(struct col_sampled *thread, const void *context, uint32_t depth,
		    struct cap_lane *lane, uint32_t *out_flags)
{
#if defined(__aarch64__)
	thread->work->frames[0] = ((const ucontext_t *)context)->uc_mcontext.pc;
	*out_flags = CAP_STACK_BROKEN;
	return 1;
#else
	*out_flags = CAP_STACK_BROKEN;
	return 0;
#endif
}

#endif
