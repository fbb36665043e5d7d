/*
 * Any bytes as a PM4 stream, on a GPU of one die and on one of eight: nothing outside of the memory that it was
 * given is touched, every step ends, and a stream ends by itself unless it waits.
 */
#include <string.h>

#include "softgpu/pm4/pm4.h"
#include "tests/fuzz/fuzz.h"

#define DATA 0x1000ull
#define COMMANDS 0x100000ull
#define DATA_BYTES 256

struct world {
	uint8_t data[DATA_BYTES];
	uint8_t *commands; /* exactly as long as the input: a sanitizer sees the word behind it */
	size_t n_bytes;
	const struct sg_hw *hw;
};

static void *memory(void *ctx, uint64_t addr, uint64_t size)
{
	struct world *w = ctx;

	if (addr >= DATA && size <= DATA_BYTES && addr - DATA <= DATA_BYTES - size)
		return w->data + (addr - DATA);
	if (addr >= COMMANDS && size <= w->n_bytes && addr - COMMANDS <= w->n_bytes - size)
		return w->commands + (addr - COMMANDS);
	return NULL;
}

static void invalidate_code(void *ctx)
{
}

static uint64_t ticks(void)
{
	return 1;
}

static void complain(void *ctx, bool is_error, const char *text)
{
	CHECK(strlen(text) < 160);
}

static void control(void *ctx, enum sg_pm4_window window)
{
	CHECK(window <= SG_PM4_FREEZE);
}

static uint64_t value(void *ctx, const struct sg_counter_info *counter, uint32_t instance,
		      bool accumulated)
{
	const struct sg_hw *hw = ((struct world *)ctx)->hw;
	const uint32_t n[] = { [SG_PER_DEVICE] = hw->n_xcc,
			       [SG_PER_SE] = sg_hw_n_engines(hw),
			       [SG_PER_CU] = sg_hw_n_engines(hw) * hw->cus_per_se,
			       [SG_PER_CHANNEL] = sg_hw_n_channels(hw) };

	CHECK(counter >= sg_counters && counter < sg_counters + sg_n_counters);
	CHECK(instance < n[sg_blocks[counter->block].per]);
	CHECK(!accumulated || counter->fidelity == SG_LEVEL_COUNTER);
	return 0x100000001ull;
}

static void run_on(const struct sg_hw *hw, const uint8_t *data, size_t size)
{
	struct world w = { .n_bytes = size / 4 * 4, .hw = hw };
	struct sg_pm4_counts counts = { control, value, &w };
	struct sg_pm4_world world = { memory, invalidate_code, ticks, complain, &w };
	struct sg_pm4 *pm4 = sg_pm4_create(hw, &counts);
	uint32_t call[SG_PM4_FIRST_WORDS] = { 0xc0023f00, COMMANDS, 0,
					      (uint32_t)(size / 4) & 0xfffff };
	enum sg_pm4_result result = SG_PM4_WAITS;
	struct sg_pm4_run run;

	w.commands = malloc(w.n_bytes ? w.n_bytes : 1);
	CHECK(pm4 && w.commands);
	memcpy(w.commands, data, w.n_bytes);
	sg_pm4_begin(&run, call);
	for (unsigned k = 0; k < 8 && result == SG_PM4_WAITS; k++)
		result = sg_pm4_step(pm4, &run, &world);
	CHECK(run.active == (result == SG_PM4_WAITS));
	free(w.commands);
	sg_pm4_destroy(pm4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	run_on(&sg_hw_mi210, data, size);
	run_on(&sg_hw_mi300x, data, size);
	return 0;
}
