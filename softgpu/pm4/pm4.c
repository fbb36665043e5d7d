#include "softgpu/pm4/pm4.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/pm4/registers.h"

#define PACKETS_PER_STEP 65536u
#define IB_WORDS(control) ((control)&0xfffff)
#define COHER_ICACHE (1u << 29) /* SH_ICACHE_ACTION_ENA */
#define PREDICATED_WORDS 0x3fffu
#define SKIP_ALL UINT32_MAX /* until the end of a buffer */

struct sg_pm4 {
	pthread_mutex_t lock;
	struct sg_pm4_registers *registers;
	uint32_t dies; /* bits: all that the GPU has */
};

struct sg_pm4 *sg_pm4_create(const struct sg_hw *hw, const struct sg_pm4_counts *counts)
{
	struct sg_pm4 *pm4 = calloc(1, sizeof(*pm4));

	if (!pm4)
		return NULL;
	pthread_mutex_init(&pm4->lock, NULL);
	pm4->dies = (1u << hw->n_xcc) - 1;
	pm4->registers = sg_pm4_registers_create(hw, counts);
	if (pm4->registers)
		return pm4;
	sg_pm4_destroy(pm4);
	return NULL;
}

void sg_pm4_destroy(struct sg_pm4 *pm4)
{
	if (!pm4)
		return;
	sg_pm4_registers_destroy(pm4->registers);
	pthread_mutex_destroy(&pm4->lock);
	free(pm4);
}

/* ---- one packet ---- */

struct packet {
	struct sg_pm4 *pm4;
	struct sg_pm4_run *run;
	const struct sg_pm4_world *world;
	const uint32_t *body; /* behind the header */
	uint32_t n;
	uint32_t dies; /* bits: that execute it, at least one */
};

static uint64_t address_at(const uint32_t *words)
{
	return words[0] | (uint64_t)words[1] << 32;
}

static void *touch(struct packet *p, uint64_t addr, uint64_t size)
{
	void *at = addr % 4 ? NULL : p->world->memory(p->world->ctx, addr, size);

	if (!at)
		p->run->fault_address = addr;
	return at;
}

static enum sg_pm4_result do_nothing(struct packet *p)
{
	return SG_PM4_DONE;
}

static enum sg_pm4_result indirect_buffer(struct packet *p)
{
	struct sg_pm4_run *run = p->run;

	if (run->depth + 1 >= SG_PM4_DEPTH)
		return SG_PM4_BAD_PACKET;
	run->depth++;
	run->level[run->depth].addr = address_at(p->body) & ~3ull;
	run->level[run->depth].n_words = IB_WORDS(p->body[2]);
	for (uint32_t die = 0; die < SG_MAX_XCC; die++)
		run->level[run->depth].n_skip[die] = p->dies >> die & 1 ? 0 : SKIP_ALL;
	return SG_PM4_DONE;
}

static uint32_t read_register(struct packet *p, uint64_t number)
{
	return sg_pm4_read(p->pm4->registers, p->world, (uint32_t)__builtin_ctz(p->dies), number);
}

static void write_register(struct packet *p, uint64_t number, uint32_t value)
{
	sg_pm4_write(p->pm4->registers, p->world, p->dies, number, value);
}

static enum sg_pm4_result set_registers(struct packet *p, uint32_t base)
{
	for (uint32_t k = 1; k < p->n; k++)
		write_register(p, (uint64_t)base + (p->body[0] & 0xffff) + k - 1, p->body[k]);
	return SG_PM4_DONE;
}

static enum sg_pm4_result set_uconfig_reg(struct packet *p)
{
	return set_registers(p, SG_PM4_UCONFIG_BASE);
}

static enum sg_pm4_result set_sh_reg(struct packet *p)
{
	return set_registers(p, SG_PM4_SH_BASE);
}

enum copy_place {
	COPY_REGISTER = 0,
	COPY_MEMORY_SOURCE = 1,
	COPY_L2 = 2,
	COPY_PERF_COUNTER = 4,
	COPY_IMMEDIATE = 5, /* as a source */
	COPY_MEMORY = 5,    /* as a destination */
	COPY_ATOMIC_RETURN = 6,
	COPY_CLOCK = 9,
};

static enum sg_pm4_result copy_source(struct packet *p, bool wide, uint64_t *out)
{
	uint64_t from = address_at(p->body + 1);
	uint32_t *at;

	switch (p->body[0] & 0xf) {
	case COPY_REGISTER:
	case COPY_PERF_COUNTER:
		*out = read_register(p, from);
		if (wide)
			*out |= (uint64_t)read_register(p, from + 1) << 32;
		return SG_PM4_DONE;
	case COPY_MEMORY_SOURCE:
	case COPY_L2:
		at = touch(p, from, wide ? 8 : 4);
		if (!at)
			return SG_PM4_FAULT;
		*out = at[0] | (wide ? (uint64_t)at[1] << 32 : 0);
		return SG_PM4_DONE;
	case COPY_IMMEDIATE:
		*out = wide ? from : p->body[1];
		return SG_PM4_DONE;
	case COPY_ATOMIC_RETURN:
		*out = wide ? p->run->atomic_return : (uint32_t)p->run->atomic_return;
		return SG_PM4_DONE;
	case COPY_CLOCK:
		*out = p->world->clock();
		return SG_PM4_DONE;
	default:
		return SG_PM4_BAD_PACKET;
	}
}

static enum sg_pm4_result put(struct packet *p, uint32_t place, uint64_t to, uint64_t value,
			      bool wide)
{
	uint32_t *at;

	switch (place) {
	case COPY_REGISTER:
	case COPY_PERF_COUNTER:
		write_register(p, to, (uint32_t)value);
		if (wide)
			write_register(p, to + 1, (uint32_t)(value >> 32));
		return SG_PM4_DONE;
	case COPY_L2:
	case COPY_MEMORY:
		at = touch(p, to, wide ? 8 : 4);
		if (!at)
			return SG_PM4_FAULT;
		at[0] = (uint32_t)value;
		if (wide)
			at[1] = (uint32_t)(value >> 32);
		return SG_PM4_DONE;
	default:
		return SG_PM4_BAD_PACKET;
	}
}

static enum sg_pm4_result copy_data(struct packet *p)
{
	bool wide = p->body[0] >> 16 & 1;
	uint64_t value;
	enum sg_pm4_result result = copy_source(p, wide, &value);

	return result ? result
		      : put(p, p->body[0] >> 8 & 0xf, address_at(p->body + 3), value, wide);
}

static enum sg_pm4_result write_data(struct packet *p)
{
	uint32_t place = p->body[0] >> 8 & 0xf;
	bool same = p->body[0] >> 16 & 1; /* all words to one address */
	uint64_t to = address_at(p->body + 1), step = place == COPY_REGISTER ? 1 : 4;
	enum sg_pm4_result result = SG_PM4_DONE;

	for (uint32_t k = 3; k < p->n && !result; k++)
		result = put(p, place, to + (same ? 0 : (k - 3) * step), p->body[k], false);
	return result;
}

static bool is_met(uint32_t function, uint32_t value, uint32_t reference)
{
	switch (function) {
	case 1:
		return value < reference;
	case 2:
		return value <= reference;
	case 3:
		return value == reference;
	case 4:
		return value != reference;
	case 5:
		return value >= reference;
	case 6:
		return value > reference;
	default: /* always */
		return true;
	}
}

static enum sg_pm4_result wait_reg_mem(struct packet *p)
{
	uint32_t value, *at;

	if (p->body[0] >> 4 & 1) {
		at = touch(p, address_at(p->body + 1) & ~3ull, 4);
		if (!at)
			return SG_PM4_FAULT;
		value = __atomic_load_n(at, __ATOMIC_ACQUIRE);
	} else {
		value = read_register(p, p->body[1] & 0x3ffff);
	}
	return is_met(p->body[0] & 7, value & p->body[4], p->body[3]) ? SG_PM4_DONE : SG_PM4_WAITS;
}

/* Its result is for a COPY_DATA that follows. Of L2's operations those that ROCr uses. */
#define ATOMIC_SWAP_RETURN_64 0x27u

static enum sg_pm4_result atomic_mem(struct packet *p)
{
	uint64_t addr = address_at(p->body + 1), *at = touch(p, addr, 8);

	if ((p->body[0] & 0x7f) != ATOMIC_SWAP_RETURN_64 || addr % 8)
		return SG_PM4_BAD_PACKET;
	if (!at)
		return SG_PM4_FAULT;
	p->run->atomic_return = __atomic_exchange_n(at, address_at(p->body + 3), __ATOMIC_ACQ_REL);
	return SG_PM4_DONE;
}

/* A copy by the command processor itself. Places 0 and 3 are memory; 2, as a source, is a word. */
static enum sg_pm4_result dma_data(struct packet *p)
{
	uint32_t from = p->body[0] >> 29 & 3, to = p->body[0] >> 20 & 3;
	uint64_t n_bytes = p->body[5] & 0x3ffffff;
	const void *source;
	uint32_t *at;

	if (from == 1 || to == 1 || to == 2 || (from == 2 && n_bytes % 4))
		return SG_PM4_BAD_PACKET;
	if (!n_bytes)
		return SG_PM4_DONE;
	at = touch(p, address_at(p->body + 3), n_bytes);
	source = from == 2 ? &p->body[1] : touch(p, address_at(p->body + 1), n_bytes);
	if (!at || !source)
		return SG_PM4_FAULT;
	if (from != 2)
		memmove(at, source, n_bytes);
	for (uint64_t k = 0; from == 2 && k < n_bytes / 4; k++)
		at[k] = p->body[1];
	return SG_PM4_DONE;
}

static enum sg_pm4_result acquire_mem(struct packet *p)
{
	if (p->body[0] & COHER_ICACHE)
		p->world->invalidate_code(p->world->ctx);
	return SG_PM4_DONE;
}

/* Kernels of the queue have ended before, so that only the value at the end is left to write. */
static enum sg_pm4_result release_mem(struct packet *p)
{
	uint32_t what = p->body[1] >> 29;
	uint64_t value = what == 3 ? p->world->clock() : address_at(p->body + 4);

	return what ? put(p, COPY_MEMORY, address_at(p->body + 2), value, what != 1) : SG_PM4_DONE;
}

/* The words behind it are for some of the dies only. */
static enum sg_pm4_result pred_exec(struct packet *p)
{
	uint32_t n = (p->body[0] & PREDICATED_WORDS) + p->n + 1; /* from this packet on */
	uint32_t leave_out = p->dies & ~(p->body[0] >> 24);

	for (uint32_t die = 0; die < SG_MAX_XCC; die++)
		if (leave_out >> die & 1)
			p->run->level[p->run->depth].n_skip[die] = n;
	return SG_PM4_DONE;
}

static const struct opcode {
	uint8_t code;
	uint8_t least; /* words of the body */
	enum sg_pm4_result (*run)(struct packet *p);
	const char *name;
} opcodes[] = {
	{ 0x10, 0, do_nothing, "NOP" },
	{ 0x1e, 8, atomic_mem, "ATOMIC_MEM" },
	{ 0x23, 1, pred_exec, "PRED_EXEC" },
	{ 0x37, 3, write_data, "WRITE_DATA" },
	{ 0x3c, 6, wait_reg_mem, "WAIT_REG_MEM" },
	{ 0x3f, 3, indirect_buffer, "INDIRECT_BUFFER" },
	{ 0x40, 5, copy_data, "COPY_DATA" },
	{ 0x46, 1, do_nothing,
	  "EVENT_WRITE" }, /* a queue's kernels have ended before its next packet */
	{ 0x49, 6, release_mem, "RELEASE_MEM" },
	{ 0x50, 6, dma_data, "DMA_DATA" },
	{ 0x58, 6, acquire_mem, "ACQUIRE_MEM" },
	{ 0x76, 1, set_sh_reg, "SET_SH_REG" },
	{ 0x79, 1, set_uconfig_reg, "SET_UCONFIG_REG" },
};

static const struct opcode *find_opcode(uint32_t code)
{
	for (size_t k = 0; k < sizeof(opcodes) / sizeof(opcodes[0]); k++)
		if (opcodes[k].code == code)
			return &opcodes[k];
	return NULL;
}

/* ---- the stream ---- */

void sg_pm4_begin(struct sg_pm4_run *run, const uint32_t words[SG_PM4_FIRST_WORDS])
{
	*run = (struct sg_pm4_run){ .active = true };
	memcpy(run->first, words, sizeof(run->first));
	run->level[0].n_words = SG_PM4_FIRST_WORDS;
}

/* The next n words of the current level, without taking them; NULL: not accessible. */
static const uint32_t *words_at(struct sg_pm4_run *run, const struct sg_pm4_world *world,
				uint32_t n)
{
	uint64_t addr = run->level[run->depth].addr;
	const uint32_t *at;

	if (run->depth == 0)
		return run->first + addr;
	at = world->memory(world->ctx, addr, n * 4ull);
	if (!at)
		run->fault_address = addr;
	return at;
}

/* Which dies execute the next word of a level; 0: none of this GPU's. */
static uint32_t dies_at(const struct sg_pm4 *pm4, const struct sg_pm4_run *run, uint32_t depth)
{
	uint32_t dies = pm4->dies;

	for (uint32_t die = 0; die < SG_MAX_XCC; die++)
		if (run->level[depth].n_skip[die])
			dies &= ~(1u << die);
	return dies;
}

static void skip(struct sg_pm4_run *run, uint32_t depth, uint64_t n)
{
	uint32_t *n_skip = run->level[depth].n_skip;

	if (n > run->level[depth].n_words)
		n = run->level[depth].n_words;
	run->level[depth].addr += depth == 0 ? n : n * 4;
	run->level[depth].n_words -= n;
	for (uint32_t die = 0; die < SG_MAX_XCC; die++)
		if (n_skip[die] != SKIP_ALL)
			n_skip[die] -= n < n_skip[die] ? (uint32_t)n : n_skip[die];
}

/* Words that all dies of the GPU leave out. */
static uint32_t n_left_out(const struct sg_pm4 *pm4, const struct sg_pm4_run *run)
{
	uint32_t n = SKIP_ALL;

	for (uint32_t die = 0; die < SG_MAX_XCC; die++)
		if (pm4->dies >> die & 1 && run->level[run->depth].n_skip[die] < n)
			n = run->level[run->depth].n_skip[die];
	return n;
}

static enum sg_pm4_result refuse(const struct sg_pm4_run *run, const struct sg_pm4_world *world,
				 uint32_t header, const char *why)
{
	char text[160];

	snprintf(text, sizeof(text), "PM4: packet 0x%08x at 0x%llx: %s: the queue stops", header,
		 (unsigned long long)(run->depth ? run->level[run->depth].addr : 0), why);
	world->complain(world->ctx, true, text);
	return SG_PM4_BAD_PACKET;
}

/* Type 3; the words of its body are copied, because the host may change them meanwhile. */
static enum sg_pm4_result run_packet(struct sg_pm4 *pm4, struct sg_pm4_run *run,
				     const struct sg_pm4_world *world, uint32_t header)
{
	uint32_t n = (header >> 16 & 0x3fff) + 1, depth = run->depth;
	const struct opcode *opcode = find_opcode(header >> 8 & 0xff);
	uint32_t few[64], *body = few;
	struct packet p = { pm4, run, world, NULL, n, dies_at(pm4, run, depth) };
	const uint32_t *words;
	enum sg_pm4_result result;

	if (!opcode)
		return refuse(run, world, header, "opcode not known");
	if (n < opcode->least || n + 1ull > run->level[depth].n_words)
		return refuse(run, world, header, "cut off");
	words = words_at(run, world, n + 1);
	if (!words)
		return SG_PM4_FAULT;
	if (n > sizeof(few) / sizeof(few[0]) && !(body = malloc(n * sizeof(*body))))
		return refuse(run, world, header, "out of memory");
	memcpy(body, words + 1, n * sizeof(*body));
	p.body = body;
	result = opcode->run(&p);
	if (body != few)
		free(body);
	if (result == SG_PM4_BAD_PACKET)
		return refuse(run, world, header, opcode->name);
	if (result == SG_PM4_DONE)
		skip(run, depth, n + 1ull);
	return result;
}

static enum sg_pm4_result run_next(struct sg_pm4 *pm4, struct sg_pm4_run *run,
				   const struct sg_pm4_world *world)
{
	uint32_t header, n_skip = n_left_out(pm4, run);
	const uint32_t *at;

	if (n_skip) {
		skip(run, run->depth, n_skip);
		return SG_PM4_DONE;
	}
	at = words_at(run, world, 1);
	if (!at)
		return SG_PM4_FAULT;
	header = *at;
	switch (header >> 30) {
	case 2: /* filler */
		skip(run, run->depth, 1);
		return SG_PM4_DONE;
	case 3:
		return run_packet(pm4, run, world, header);
	default:
		/* the rest of the words of an AQL packet are not packets */
		if (run->depth == 0 && header == 0) {
			skip(run, 0, 1);
			return SG_PM4_DONE;
		}
		return refuse(run, world, header, "not a packet of type 2 or 3");
	}
}

enum sg_pm4_result sg_pm4_step(struct sg_pm4 *pm4, struct sg_pm4_run *run,
			       const struct sg_pm4_world *world)
{
	enum sg_pm4_result result = SG_PM4_DONE;
	uint32_t n = 0;

	pthread_mutex_lock(&pm4->lock);
	while (!result && run->active) {
		if (run->level[run->depth].n_words == 0) {
			run->active = run->depth != 0;
			run->depth -= run->depth != 0;
		} else if (++n > PACKETS_PER_STEP) {
			result = SG_PM4_WAITS;
		} else {
			result = run_next(pm4, run, world);
		}
	}
	pthread_mutex_unlock(&pm4->lock);
	if (result == SG_PM4_BAD_PACKET || result == SG_PM4_FAULT)
		run->active = false;
	return result;
}
