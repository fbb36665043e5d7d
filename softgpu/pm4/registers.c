#include "softgpu/pm4/registers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One physical counter of a block: the register that selects its event, and the two halves of its value. */
struct counter_row {
	enum sg_block block;
	uint16_t select, low, high;
};

/* Offsets of gfx908 to gfx942, from AMD's public register headers (gc_9_4_2_offset.h, segment 1 at 0xa000). */
/* clang-format off */
#define SQ(k)  { SG_BLOCK_SQ,  0xd9c0 + (k), 0xd1c0 + 2 * (k), 0xd1c1 + 2 * (k) }
#define SPI(k, select) { SG_BLOCK_SPI, select, 0xd181 + 2 * (k), 0xd180 + 2 * (k) } /* high comes first */
#define ROW(block, select, low) { SG_BLOCK_##block, select, low, (low) + 1 }
static const struct counter_row counter_rows[] = {
	SQ(0), SQ(1), SQ(2), SQ(3), SQ(4), SQ(5), SQ(6), SQ(7),
	SQ(8), SQ(9), SQ(10), SQ(11), SQ(12), SQ(13), SQ(14), SQ(15),
	SPI(0, 0xd980), SPI(1, 0xd981), SPI(2, 0xd982), SPI(3, 0xd983), SPI(4, 0xd988), SPI(5, 0xd989),
	ROW(TA,   0xdac0, 0xd2c0), ROW(TA,   0xdac2, 0xd2c2),
	ROW(TD,   0xdb00, 0xd300), ROW(TD,   0xdb02, 0xd302),
	ROW(TCP,  0xdb40, 0xd340), ROW(TCP,  0xdb42, 0xd342), ROW(TCP, 0xdb44, 0xd344), ROW(TCP, 0xdb45, 0xd346),
	ROW(TCC,  0xdb80, 0xd380), ROW(TCC,  0xdb82, 0xd382), ROW(TCC, 0xdb84, 0xd384), ROW(TCC, 0xdb85, 0xd386),
	ROW(TCA,  0xdb90, 0xd390), ROW(TCA,  0xdb92, 0xd392), ROW(TCA, 0xdb94, 0xd394), ROW(TCA, 0xdb95, 0xd396),
	ROW(CPC,  0xd809, 0xd006), ROW(CPC,  0xd803, 0xd004),
	ROW(CPF,  0xd807, 0xd00a), ROW(CPF,  0xd805, 0xd008),
	ROW(GRBM, 0xd840, 0xd040), ROW(GRBM, 0xd841, 0xd043),
};
#undef ROW
#undef SPI
#undef SQ
#define N_ROWS (sizeof(counter_rows) / sizeof(counter_rows[0]))

/* Width of the event in a select register; what is above it are masks and modes. */
static const uint32_t event_masks[SG_N_BLOCKS] = {
	[SG_BLOCK_SQ] = 0x1ff, [SG_BLOCK_SPI] = 0x3ff, [SG_BLOCK_TA] = 0xff,   [SG_BLOCK_TD] = 0xff, [SG_BLOCK_TCP] = 0x3ff,
	[SG_BLOCK_TCC] = 0x3ff, [SG_BLOCK_TCA] = 0x3ff, [SG_BLOCK_CPC] = 0x3ff, [SG_BLOCK_CPF] = 0x3ff, [SG_BLOCK_GRBM] = 0x3f,
};
/* clang-format on */

#define MAX_INSTANCES 32 /* of a shader engine, or of a die's L2 */
#define SQ_CTRL_CS_EN (1u << 6)

/* What a counter of an instance counts. */
struct selected {
	const struct sg_counter_info *counter; /* NULL: nothing the software GPU has */
	bool accumulates;                      /* ... the level that `counter` is */
};

struct sg_pm4_registers {
	const struct sg_hw *hw;
	const struct sg_pm4_events *events;
	struct sg_pm4_counts counts;
	uint32_t *words;   /* SG_PM4_REGISTERS of each die */
	uint8_t *reported; /* bits: a message was written about this register */
	struct selected selected[N_ROWS][SG_MAX_SE][MAX_INSTANCES]; /* engines of all dies */
};

static const struct sg_pm4_events *events_of(enum sg_isa_target target)
{
	for (size_t k = 0; k < sg_pm4_n_events; k++)
		if (sg_pm4_events[k].target == target)
			return &sg_pm4_events[k];
	return NULL;
}

struct sg_pm4_registers *sg_pm4_registers_create(const struct sg_hw *hw,
						 const struct sg_pm4_counts *counts)
{
	struct sg_pm4_registers *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->hw = hw;
	r->events = events_of(hw->target);
	r->counts = *counts;
	r->words = calloc((size_t)hw->n_xcc * SG_PM4_REGISTERS, sizeof(*r->words));
	r->reported = calloc(SG_PM4_REGISTERS / 8, 1);
	if (r->words && r->reported)
		return r;
	sg_pm4_registers_destroy(r);
	return NULL;
}

void sg_pm4_registers_destroy(struct sg_pm4_registers *r)
{
	if (!r)
		return;
	free(r->words);
	free(r->reported);
	free(r);
}

/* Once per register; those beyond the file share the last one's bit. */
static void report(struct sg_pm4_registers *r, const struct sg_pm4_world *world, uint64_t number,
		   const char *what)
{
	uint64_t bit = number < SG_PM4_REGISTERS ? number : SG_PM4_REGISTERS - 1;
	char text[160];

	if (r->reported[bit / 8] & 1u << bit % 8)
		return;
	r->reported[bit / 8] |= (uint8_t)(1u << bit % 8);
	snprintf(text, sizeof(text), "PM4: register 0x%llx %s", (unsigned long long)number, what);
	world->complain(world->ctx, false, text);
}

static uint32_t *word_of(struct sg_pm4_registers *r, uint32_t die, uint64_t number)
{
	return &r->words[die * (uint64_t)SG_PM4_REGISTERS + number];
}

/* ---- instances ---- */

/* Engines are numbered over all dies; of a block that engines do not have, a die is one. */
struct instances {
	uint32_t first_se, end_se, first, end;
};

/* Instances of an engine, or of a die. */
static uint32_t n_ones(const struct sg_pm4_registers *r, enum sg_per per)
{
	return per == SG_PER_CU        ? r->hw->cus_per_se
	       : per == SG_PER_CHANNEL ? r->hw->n_channels
	       : per == SG_PER_ARBITER ? SG_DIE_ARBITERS
				       : 1;
}

/* Which instances of a block of a die GRBM_GFX_INDEX selects; empty: one that is not there. */
static struct instances instances_of(struct sg_pm4_registers *r, uint32_t die, enum sg_block block)
{
	uint32_t index = *word_of(r, die, SG_PM4_GRBM_GFX_INDEX), one = index & 0xff,
		 se = index >> 16 & 0xff;
	bool every_se = index >> 31, every = index >> 30 & 1;
	enum sg_per per = sg_blocks[block].per;
	bool by_se = per == SG_PER_SE || per == SG_PER_CU;
	uint32_t n_se = by_se ? r->hw->n_se : 1, n = n_ones(r, per);
	struct instances all = { die * n_se, (die + 1) * n_se, 0,
				 n < MAX_INSTANCES ? n : MAX_INSTANCES };

	if (by_se && !every_se) {
		all.first_se = die * n_se + se;
		all.end_se = all.first_se + (se < n_se);
	}
	if (n > 1 && !every) {
		all.first = one;
		all.end = one < all.end ? one + 1 : one;
	}
	return all;
}

/* As the counting service numbers them: those of an engine, or of a die, follow each other. */
static uint32_t number_of(const struct sg_pm4_registers *r, enum sg_block block, uint32_t se,
			  uint32_t one)
{
	enum sg_per per = sg_blocks[block].per;

	return se * n_ones(r, per) + one;
}

/* ---- counters ---- */

static const struct sg_counter_info *find_counter(const struct sg_pm4_registers *r,
						  enum sg_block block, uint32_t event)
{
	for (size_t k = 0; r->events && k < r->events->n; k++) {
		const struct sg_counter_info *counter = &sg_counters[r->events->events[k].counter];

		if (counter->block == block && r->events->events[k].event == event)
			return counter;
	}
	return NULL;
}

static void select_event(struct sg_pm4_registers *r, const struct sg_pm4_world *world, uint32_t die,
			 size_t row, uint32_t value)
{
	enum sg_block block = counter_rows[row].block;
	uint32_t event = value & event_masks[block];
	struct instances at = instances_of(r, die, block);
	bool accumulates =
		block == SG_BLOCK_SQ && r->events && event == r->events->accumulate && row > 0;
	const struct sg_counter_info *counter = accumulates ? NULL : find_counter(r, block, event);
	char text[80];

	if (!counter && !accumulates) {
		snprintf(text, sizeof(text),
			 "selects event %u of %s, which is not modelled: it counts nothing", event,
			 sg_blocks[block].name);
		report(r, world, counter_rows[row].select, text);
	}
	for (uint32_t se = at.first_se; se < at.end_se; se++)
		for (uint32_t one = at.first; one < at.end; one++)
			r->selected[row][se][one] = (struct selected){ counter, accumulates };
}

/* An accumulation is of the counter before it, whatever that counts by now. */
static uint64_t counted(struct sg_pm4_registers *r, const struct sg_pm4_world *world, uint32_t die,
			size_t row)
{
	enum sg_block block = counter_rows[row].block;
	struct instances at = instances_of(r, die, block);
	const struct selected *selected;

	if (at.first_se >= at.end_se || at.first >= at.end)
		return 0; /* no such instance: hardware answers 0 too */
	selected = &r->selected[row][at.first_se][at.first];
	if (block == SG_BLOCK_SQ &&
	    !(*word_of(r, die, SG_PM4_SQ_PERFCOUNTER_CTRL) & SQ_CTRL_CS_EN)) {
		report(r, world, SG_PM4_SQ_PERFCOUNTER_CTRL,
		       "does not enable compute waves: counters of SQ read 0");
		return 0;
	}
	if (selected->accumulates) {
		selected = &r->selected[row - 1][at.first_se][at.first];
		return selected->counter && selected->counter->fidelity == SG_LEVEL_COUNTER
			       ? r->counts.value(r->counts.ctx, selected->counter,
						 number_of(r, block, at.first_se, at.first), true)
			       : 0;
	}
	return selected->counter
		       ? r->counts.value(r->counts.ctx, selected->counter,
					 number_of(r, block, at.first_se, at.first), false)
		       : 0;
}

/* ---- registers ---- */

static bool is_known(uint64_t number)
{
	static const uint16_t known[] = {
		SG_PM4_COMPUTE_PERFCOUNT_ENABLE, SG_PM4_GRBM_GFX_INDEX,
		SG_PM4_CP_PERFMON_CNTL,          SG_PM4_SQ_PERFCOUNTER_CTRL,
		SG_PM4_SQ_PERFCOUNTER_MASK,      SG_PM4_RLC_PERFMON_CLK_CNTL,
	};

	for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
		if (known[k] == number)
			return true;
	return false;
}

static void control(struct sg_pm4_registers *r, uint32_t value)
{
	static const enum sg_pm4_window windows[] = { SG_PM4_RESET, SG_PM4_COUNT, SG_PM4_FREEZE };
	uint32_t state = value & 0xf;

	if (state < sizeof(windows) / sizeof(windows[0]))
		r->counts.control(r->counts.ctx, windows[state]);
}

static void write_die(struct sg_pm4_registers *r, const struct sg_pm4_world *world, uint32_t die,
		      uint64_t number, uint32_t value)
{
	*word_of(r, die, number) = value;
	if (number == SG_PM4_CP_PERFMON_CNTL && die == 0)
		control(r, value);
	for (size_t row = 0; row < N_ROWS; row++)
		if (counter_rows[row].select == number) {
			select_event(r, world, die, row, value);
			return;
		}
	if (!is_known(number))
		report(r, world, number, "is not modelled: what is written has no effect");
}

void sg_pm4_write(struct sg_pm4_registers *r, const struct sg_pm4_world *world, uint32_t dies,
		  uint64_t number, uint32_t value)
{
	if (number >= SG_PM4_REGISTERS) {
		report(r, world, number, "is outside of the registers: the write has no effect");
		return;
	}
	for (uint32_t die = 0; die < r->hw->n_xcc; die++)
		if (dies >> die & 1)
			write_die(r, world, die, number, value);
}

uint32_t sg_pm4_read(struct sg_pm4_registers *r, const struct sg_pm4_world *world, uint32_t die,
		     uint64_t number)
{
	if (number >= SG_PM4_REGISTERS) {
		report(r, world, number, "is outside of the registers: it reads 0");
		return 0;
	}
	for (size_t row = 0; row < N_ROWS; row++) {
		if (counter_rows[row].low == number)
			return (uint32_t)counted(r, world, die, row);
		if (counter_rows[row].high == number)
			return (uint32_t)(counted(r, world, die, row) >> 32);
	}
	if (!is_known(number))
		report(r, world, number, "is not modelled: it reads what was written last");
	return *word_of(r, die, number);
}
