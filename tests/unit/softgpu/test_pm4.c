/* PM4 packets made by hand: registers, counters by instance, waits, and what a queue makes of bad ones. */
#include <stdlib.h>
#include <string.h>

#include "softgpu/pm4/registers.h"
#include "tests/unit/softgpu/rig.h"

#define PACKET(opcode, n_body) (3u << 30 | ((n_body)-1) << 16 | (opcode) << 8)
#define SET_UCONFIG(number, value) PACKET(0x79, 2), (number)-0xc000, (value)
#define READ_COUNTER(number, to) PACKET(0x40, 5), 0x02002500, (number), 0, (uint32_t)(to), 0
#define BROADCAST 0xe0000000u
#define ENGINE(se) (0x60000000u | (se) << 16)
#define ENGINE_INSTANCE(se, k) (0x20000000u | (se) << 16 | (k))
#define INSTANCE(k) (0xa0000000u | (k))
#define ONLY_DIES(dies, n_words) PACKET(0x23, 1), (uint32_t)(dies) << 24 | (n_words)
#define COUNTER_WORDS (3 + 2 * 6) /* of a SET_UCONFIG and two READ_COUNTER */
#define MEMORY_WORDS 64

/* Memory begins at GPU address 0x1000; the commands stand in memory of their own behind it. */
struct bench {
	struct sg_pm4 *pm4;
	uint32_t memory[MEMORY_WORDS];
	const uint32_t *commands;
	uint32_t n_commands;
	uint32_t n_invalidated, n_errors, n_notes, n_resets;
	enum sg_pm4_window window;
};
#define DATA 0x1000ull
#define COMMANDS 0x100000ull

static void *memory(void *ctx, uint64_t addr, uint64_t size)
{
	struct bench *b = ctx;

	if (addr >= DATA && addr + size <= DATA + sizeof(b->memory))
		return (uint8_t *)b->memory + (addr - DATA);
	if (addr >= COMMANDS && addr + size <= COMMANDS + b->n_commands * 4)
		return (uint8_t *)b->commands + (addr - COMMANDS);
	return NULL;
}

static void invalidate_code(void *ctx)
{
	((struct bench *)ctx)->n_invalidated++;
}

static uint64_t ticks(void)
{
	return 0x123456789ull;
}

static void complain(void *ctx, bool is_error, const char *text)
{
	struct bench *b = ctx;

	assert_non_null(strstr(text, "PM4: "));
	b->n_errors += is_error;
	b->n_notes += !is_error;
}

static void control(void *ctx, enum sg_pm4_window window)
{
	struct bench *b = ctx;

	b->window = window;
	b->n_resets += window == SG_PM4_RESET;
}

/* Every counter of every instance has a value of its own, wider than 32 bits. */
static uint64_t value_of(const char *name, uint32_t instance, bool accumulated)
{
	uint64_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (uint8_t)*name;
	return (h & 0xffffff) << 16 | instance << 4 | accumulated;
}

static uint64_t count(void *ctx, const struct sg_counter_info *counter, uint32_t instance,
		      bool accumulated)
{
	return value_of(counter->name, instance, accumulated);
}

static int set_up_chip(void **state, const struct sg_hw *hw)
{
	struct bench *b = calloc(1, sizeof(*b));
	struct sg_pm4_counts counts = { control, count, b };

	b->pm4 = sg_pm4_create(hw, &counts);
	*state = b;
	return b->pm4 ? 0 : -1;
}

static int set_up(void **state)
{
	return set_up_chip(state, &sg_hw_mi210);
}

static int set_up_dies(void **state)
{
	return set_up_chip(state, &sg_hw_mi300x);
}

static int tear_down(void **state)
{
	struct bench *b = *state;

	sg_pm4_destroy(b->pm4);
	free(b);
	return 0;
}

static enum sg_pm4_result step(struct bench *b, struct sg_pm4_run *run)
{
	struct sg_pm4_world world = { memory, invalidate_code, ticks, complain, b };

	return sg_pm4_step(b->pm4, run, &world);
}

static enum sg_pm4_result start(struct bench *b, struct sg_pm4_run *run, const uint32_t *words,
				uint32_t n)
{
	uint32_t call[SG_PM4_FIRST_WORDS] = { PACKET(0x3f, 3), COMMANDS, 0, n | 1u << 23 };

	b->commands = words;
	b->n_commands = n;
	sg_pm4_begin(run, call);
	return step(b, run);
}

#define EXECUTE(b, ...)                                                                            \
	({                                                                                         \
		const uint32_t execute_words[] = { __VA_ARGS__ };                                  \
		struct sg_pm4_run fresh;                                                           \
		start(b, &fresh, execute_words, sizeof(execute_words) / 4);                        \
	})

static uint64_t read64(const struct bench *b, uint32_t word)
{
	return b->memory[word] | (uint64_t)b->memory[word + 1] << 32;
}

static void counter_of_an_engine_is_that_engines(void **state)
{
	struct bench *b = *state;

	/* event 4 is SQ_WAVES; SQ counts nothing before CTRL enables compute waves */
	assert_int_equal(EXECUTE(b, SET_UCONFIG(0xc200, BROADCAST), SET_UCONFIG(0xd9c0, 0x0f0ff004),
				 SET_UCONFIG(0xc200, ENGINE(3)), READ_COUNTER(0xd1c0, DATA)),
			 SG_PM4_DONE);
	assert_int_equal(b->memory[0], 0);
	assert_int_equal(b->n_notes, 1);
	assert_int_equal(EXECUTE(b, SET_UCONFIG(0xd9e0, 0xffff0057), SET_UCONFIG(0xc200, ENGINE(3)),
				 READ_COUNTER(0xd1c0, DATA), READ_COUNTER(0xd1c1, DATA + 4)),
			 SG_PM4_DONE);
	assert_int_equal(read64(b, 0), value_of("SQ_WAVES", 3, false));
}

static void counters_of_instances_are_selected_one_by_one(void **state)
{
	struct bench *b = *state;
	uint32_t cus = sg_hw_mi210.cus_per_se;

	/* TCC_HIT on channel 5 and TCC_MISS on channel 6 */
	assert_int_equal(EXECUTE(b, SET_UCONFIG(0xc200, INSTANCE(5)), SET_UCONFIG(0xdb80, 17),
				 SET_UCONFIG(0xc200, INSTANCE(6)), SET_UCONFIG(0xdb80, 19),
				 READ_COUNTER(0xd380, DATA + 8), READ_COUNTER(0xd381, DATA + 12),
				 SET_UCONFIG(0xc200, INSTANCE(5)), READ_COUNTER(0xd380, DATA),
				 READ_COUNTER(0xd381, DATA + 4)),
			 SG_PM4_DONE);
	assert_int_equal(read64(b, 0), value_of("TCC_HIT", 5, false));
	assert_int_equal(read64(b, 2), value_of("TCC_MISS", 6, false));
	/* a compute unit of an engine; and one that the engine does not have reads 0 */
	b->memory[2] = b->memory[3] = 7;
	assert_int_equal(EXECUTE(b, SET_UCONFIG(0xc200, BROADCAST), SET_UCONFIG(0xdac0, 15),
				 SET_UCONFIG(0xc200, ENGINE_INSTANCE(2, 4)),
				 READ_COUNTER(0xd2c0, DATA), READ_COUNTER(0xd2c1, DATA + 4),
				 SET_UCONFIG(0xc200, ENGINE_INSTANCE(2, cus)),
				 READ_COUNTER(0xd2c0, DATA + 8), READ_COUNTER(0xd2c1, DATA + 12)),
			 SG_PM4_DONE);
	assert_int_equal(read64(b, 0), value_of("TA_TA_BUSY", 2 * cus + 4, false));
	assert_int_equal(read64(b, 2), 0);
}

static void spi_has_its_halves_the_other_way_round(void **state)
{
	struct bench *b = *state;

	assert_int_equal(EXECUTE(b, SET_UCONFIG(0xc200, BROADCAST),
				 SET_UCONFIG(0xd988, 52), /* its counter 4 */
				 SET_UCONFIG(0xc200, ENGINE(1)), READ_COUNTER(0xd189, DATA),
				 READ_COUNTER(0xd188, DATA + 4)),
			 SG_PM4_DONE);
	assert_int_equal(read64(b, 0), value_of("SPI_CSN_WAVE", 1, false));
}

static void accumulation_adds_up_the_counter_before_it(void **state)
{
	struct bench *b = *state;

	assert_int_equal(EXECUTE(b, SET_UCONFIG(0xd9e0, 0xffff0057), SET_UCONFIG(0xc200, BROADCAST),
				 SET_UCONFIG(0xd9c2, 0x0f0ff000 | 5), /* SQ_LEVEL_WAVES */
				 SET_UCONFIG(0xd9c3, 0x0f0ff000 | 185),
				 SET_UCONFIG(0xc200, ENGINE(7)), READ_COUNTER(0xd1c6, DATA),
				 READ_COUNTER(0xd1c7, DATA + 4)),
			 SG_PM4_DONE);
	assert_int_equal(read64(b, 0), value_of("SQ_LEVEL_WAVES", 7, true));
}

static void perfmon_control_opens_freezes_and_resets(void **state)
{
	struct bench *b = *state;

	assert_int_equal(EXECUTE(b, SET_UCONFIG(0xd808, 0), SET_UCONFIG(0xd808, 1)), SG_PM4_DONE);
	assert_int_equal(b->n_resets, 1);
	assert_int_equal(b->window, SG_PM4_COUNT);
	EXECUTE(b, SET_UCONFIG(0xd808, 0x401)); /* a sample while counting */
	assert_int_equal(b->window, SG_PM4_COUNT);
	EXECUTE(b, SET_UCONFIG(0xd808, 2));
	assert_int_equal(b->window, SG_PM4_FREEZE);
	assert_int_equal(b->n_resets, 1);
}

static void unknown_events_and_registers_are_reported_once(void **state)
{
	struct bench *b = *state;

	b->memory[0] = 9;
	EXECUTE(b, SET_UCONFIG(0xc200, BROADCAST), SET_UCONFIG(0xdb80, 1023),
		READ_COUNTER(0xd380, DATA));
	assert_int_equal(b->memory[0], 0);
	assert_int_equal(b->n_notes, 1);
	/* RPB, by perf-counter space; what is written can be read */
	for (int k = 0; k < 2; k++)
		EXECUTE(b, PACKET(0x40, 5), 0x405, 0xabcd, 0, 0x0d01, 0, PACKET(0x40, 5),
			0x02002504, 0x0d01, 0, (uint32_t)DATA, 0);
	assert_int_equal(b->memory[0], 0xabcd);
	assert_int_equal(b->n_notes, 2);
	/* beyond the registers: dropped */
	EXECUTE(b, PACKET(0x40, 5), 0x5, 1, 0, 0x12345678, 0);
	assert_int_equal(b->n_notes, 3);
	assert_int_equal(b->n_errors, 0);
}

static void data_is_copied_and_written(void **state)
{
	struct bench *b = *state;

	b->memory[0] = 0x11111111;
	b->memory[1] = 0x22222222;
	EXECUTE(b, PACKET(0x40, 5), 0x10000 | 0x502, (uint32_t)DATA, 0, (uint32_t)DATA + 16, 0);
	assert_int_equal(read64(b, 4), 0x2222222211111111ull);
	EXECUTE(b, PACKET(0x40, 5), 0x10000 | 0x509, 0, 0, (uint32_t)DATA, 0);
	assert_int_equal(read64(b, 0), ticks());
	EXECUTE(b, PACKET(0x37, 5), 0x500, (uint32_t)DATA + 8, 0, 3, 4);
	assert_int_equal(read64(b, 2), 0x400000003ull);
	EXECUTE(b, PACKET(0x49, 7), 0, 2u << 29, (uint32_t)DATA + 32, 0, 0x55, 0x66, 0);
	assert_int_equal(read64(b, 8), 0x6600000055ull);
	EXECUTE(b, PACKET(0x58, 6), 1u << 29, 0, 0, 0, 0, 0);
	EXECUTE(b, PACKET(0x58, 6), 0, 0, 0, 0, 0, 0);
	assert_int_equal(b->n_invalidated, 1);
}

static void wait_continues_where_it_stopped(void **state)
{
	struct bench *b = *state;
	/* word 1 is a copy of word 2: a step that began at the beginning would copy again */
	const uint32_t words[] = { PACKET(0x40, 5),
				   0x502,
				   (uint32_t)DATA + 8,
				   0,
				   (uint32_t)DATA + 4,
				   0,
				   PACKET(0x3c, 6),
				   0x13, /* memory, equal */
				   (uint32_t)DATA,
				   0,
				   5,
				   0xff,
				   4,
				   PACKET(0x37, 4),
				   0x500,
				   (uint32_t)DATA + 12,
				   0,
				   77 };
	struct sg_pm4_run run;

	b->memory[2] = 1;
	assert_int_equal(start(b, &run, words, sizeof(words) / 4), SG_PM4_WAITS);
	assert_int_equal(b->memory[1], 1);
	b->memory[2] = 2;
	b->memory[0] = 0x104;
	assert_int_equal(step(b, &run), SG_PM4_WAITS);
	b->memory[0] = 0x105; /* the mask leaves 5 */
	assert_int_equal(step(b, &run), SG_PM4_DONE);
	assert_int_equal(b->memory[1], 1);
	assert_int_equal(b->memory[3], 77);
	assert_false(run.active);
}

static void bad_streams_stop(void **state)
{
	struct bench *b = *state;
	struct sg_pm4_run run;

	assert_int_equal(EXECUTE(b, PACKET(0x77, 1), 0), SG_PM4_BAD_PACKET);
	assert_int_equal(EXECUTE(b, PACKET(0x40, 5), 0), SG_PM4_BAD_PACKET);    /* cut off */
	assert_int_equal(EXECUTE(b, PACKET(0x40, 2), 0, 0), SG_PM4_BAD_PACKET); /* too short */
	assert_int_equal(EXECUTE(b, 0x12345678), SG_PM4_BAD_PACKET);
	assert_int_equal(b->n_errors, 4);
	/* a buffer that calls itself ends at the depth of hardware */
	assert_int_equal(EXECUTE(b, PACKET(0x3f, 3), (uint32_t)COMMANDS, 0, 4), SG_PM4_BAD_PACKET);
	/* memory that is not there */
	b->n_commands = 0;
	sg_pm4_begin(&run, (uint32_t[4]){ PACKET(0x3f, 3), 0x5000, 0, 8 });
	assert_int_equal(step(b, &run), SG_PM4_FAULT);
	assert_int_equal(run.fault_address, 0x5000);
	assert_false(run.active);
	assert_int_equal(EXECUTE(b, READ_COUNTER(0xc200, 0x9000)), SG_PM4_FAULT);
}

/* As ROCr empties a buffer of PC samples: swap the counter, copy what was there, and take it away. */
static void atomics_and_copies_empty_a_buffer(void **state)
{
	struct bench *b = *state;
	uint32_t swap = 0x27, at = (uint32_t)DATA;

	b->memory[0] = 3;
	b->memory[1] = 0x80000000;
	for (uint32_t k = 0; k < 4; k++)
		b->memory[8 + k] = 100 + k;
	assert_int_equal(EXECUTE(b, PACKET(0x1e, 8), swap, at, 0, 7, 1, 0, 0, 0, PACKET(0x40, 5),
				 0x00110206, 0, 0, at + 16, 0, PACKET(0x50, 6), 3u << 20 | 3u << 29,
				 at + 32, 0, at + 64, 0, 16),
			 SG_PM4_DONE);
	assert_int_equal(read64(b, 0), 1ull << 32 | 7);
	assert_int_equal(read64(b, 4), 0x80000000ull << 32 | 3);
	for (uint32_t k = 0; k < 4; k++)
		assert_int_equal(b->memory[16 + k], 100 + k);
	/* a word as the source fills */
	assert_int_equal(EXECUTE(b, PACKET(0x50, 6), 2u << 29, 55, 0, at + 64, 0, 8), SG_PM4_DONE);
	assert_int_equal(b->memory[16], 55);
	assert_int_equal(b->memory[17], 55);
	assert_int_equal(b->memory[18], 102);
	/* another operation, GDS, and memory that is not there */
	assert_int_equal(EXECUTE(b, PACKET(0x1e, 8), 0x2f, at, 0, 7, 1, 0, 0, 0),
			 SG_PM4_BAD_PACKET);
	assert_int_equal(EXECUTE(b, PACKET(0x50, 6), 1u << 29, 0, 0, at, 0, 8), SG_PM4_BAD_PACKET);
	assert_int_equal(EXECUTE(b, PACKET(0x50, 6), 0, at, 0, 0x9000, 0, 8), SG_PM4_FAULT);
	assert_int_equal(EXECUTE(b, PACKET(0x1e, 8), swap, 0x9000, 0, 7, 1, 0, 0, 0), SG_PM4_FAULT);
}

/* ---- GPUs of several dies ---- */

static void die_reads_its_own_counters(void **state)
{
	struct bench *b = *state;
	uint32_t n_se = sg_hw_mi300x.n_se, cus = sg_hw_mi300x.cus_per_se,
		 channels = sg_hw_mi300x.n_channels;

	/* SQ_WAVES of an engine, TA_TA_BUSY of a CU, TCC_HIT of a channel: selected on all dies, read on one */
	assert_int_equal(
		EXECUTE(b, SET_UCONFIG(0xc200, BROADCAST), SET_UCONFIG(0xd9c0, 0x0f0ff004),
			SET_UCONFIG(0xd9e0, 0xffff0057), SET_UCONFIG(0xdac0, 13),
			SET_UCONFIG(0xdb80, 17), ONLY_DIES(1u << 5, COUNTER_WORDS),
			SET_UCONFIG(0xc200, ENGINE(3)), READ_COUNTER(0xd1c0, DATA),
			READ_COUNTER(0xd1c1, DATA + 4), ONLY_DIES(1u << 7, 2 * COUNTER_WORDS),
			SET_UCONFIG(0xc200, ENGINE_INSTANCE(2, 9)), READ_COUNTER(0xd2c0, DATA + 8),
			READ_COUNTER(0xd2c1, DATA + 12), SET_UCONFIG(0xc200, INSTANCE(15)),
			READ_COUNTER(0xd380, DATA + 16), READ_COUNTER(0xd381, DATA + 20)),
		SG_PM4_DONE);
	assert_int_equal(read64(b, 0), value_of("SQ_WAVES", 5 * n_se + 3, false));
	assert_int_equal(read64(b, 2), value_of("TA_TA_BUSY", (7 * n_se + 2) * cus + 9, false));
	assert_int_equal(read64(b, 4), value_of("TCC_HIT", 7 * channels + 15, false));
	/* TCA_CYCLE of the second arbiter of a die */
	assert_int_equal(EXECUTE(b, SET_UCONFIG(0xc200, BROADCAST), SET_UCONFIG(0xdb95, 1),
				 ONLY_DIES(1u << 6, COUNTER_WORDS),
				 SET_UCONFIG(0xc200, INSTANCE(1)), READ_COUNTER(0xd396, DATA),
				 READ_COUNTER(0xd397, DATA + 4)),
			 SG_PM4_DONE);
	assert_int_equal(read64(b, 0), value_of("TCA_CYCLE", 6 * 2 + 1, false));
	/* GRBM_COUNT of die 1 while die 0 has another event there; without a predicate, die 0 answers */
	assert_int_equal(EXECUTE(b, SET_UCONFIG(0xc200, BROADCAST), SET_UCONFIG(0xd840, 0),
				 ONLY_DIES(1, 3), SET_UCONFIG(0xd840, 2), ONLY_DIES(2, 12),
				 READ_COUNTER(0xd040, DATA), READ_COUNTER(0xd041, DATA + 4),
				 READ_COUNTER(0xd040, DATA + 8), READ_COUNTER(0xd041, DATA + 12)),
			 SG_PM4_DONE);
	assert_int_equal(read64(b, 0), value_of("GRBM_COUNT", 1, false));
	assert_int_equal(read64(b, 2), value_of("GRBM_GUI_ACTIVE", 0, false));
	assert_int_equal(b->n_notes + b->n_errors, 0);
}

static void predicates_nest_and_reach_into_buffers(void **state)
{
	struct bench *b = *state;
	/* behind the 17 words that are executed: a buffer, which only die 3 calls */
	const uint32_t words[] = { ONLY_DIES(0xc, 2 + 5 + 4),
				   ONLY_DIES(0x8, 5 + 4), /* of dies 2 and 3: die 3 */
				   PACKET(0x37, 4),
				   0x500,
				   (uint32_t)DATA,
				   0,
				   1,
				   PACKET(0x3f, 3),
				   (uint32_t)COMMANDS + 17 * 4,
				   0,
				   12,
				   ONLY_DIES(0, 2), /* nobody: not even packets */
				   0x12345678,
				   0x12345678,
				   READ_COUNTER(0xd043, DATA + 8),
				   READ_COUNTER(0xd044, DATA + 12) };
	struct sg_pm4_run run;

	EXECUTE(b, SET_UCONFIG(0xc200, BROADCAST), SET_UCONFIG(0xd841, 0));
	b->commands = words;
	b->n_commands = sizeof(words) / 4;
	sg_pm4_begin(&run, (uint32_t[4]){ PACKET(0x3f, 3), COMMANDS, 0, 17 });
	assert_int_equal(step(b, &run), SG_PM4_DONE);
	assert_int_equal(b->memory[0], 1);
	assert_int_equal(read64(b, 2), value_of("GRBM_COUNT", 3, false));
}

static void window_follows_the_first_die(void **state)
{
	struct bench *b = *state;

	EXECUTE(b, SET_UCONFIG(0xd808, 0), SET_UCONFIG(0xd808, 1));
	assert_int_equal(b->n_resets, 1);
	assert_int_equal(b->window, SG_PM4_COUNT);
	EXECUTE(b, ONLY_DIES(0xfe, 3), SET_UCONFIG(0xd808, 2));
	assert_int_equal(b->window, SG_PM4_COUNT);
	EXECUTE(b, ONLY_DIES(1, 3), SET_UCONFIG(0xd808, 2));
	assert_int_equal(b->window, SG_PM4_FREEZE);
}

/* ---- in a queue ---- */

#define VENDOR_HEADER SG_AQL_VENDOR

static union sg_aql_packet vendor_packet(uint64_t commands, uint32_t n, struct sg_amd_signal *done)
{
	return (union sg_aql_packet){ .pm4 = { .format = 1,
					       .words = { PACKET(0x3f, 3), (uint32_t)commands,
							  (uint32_t)(commands >> 32), n },
					       .n_rest = 10,
					       .completion = (uint64_t)(uintptr_t)done } };
}

static void vendor_packet_runs_its_commands(void **state)
{
	struct rig *rig = rig_create(1);
	struct rig_aql aql;
	struct sg_amd_signal *done = rig_signal(rig, 1);
	uint64_t at = rig_alloc(rig, 4096), data = at + 2048;
	uint32_t *words = (void *)(uintptr_t)(at + rig->mem.host_base), n = 0;
	volatile uint32_t *result = (void *)(uintptr_t)(data + rig->mem.host_base);
	union sg_aql_packet packet;

	rig_aql_open(rig, &aql, 64);
	for (uint32_t k = 0; k < 2; k++) {
		const uint32_t write[] = { PACKET(0x37, 4), 0x500, (uint32_t)(data + 4 * k),
					   (uint32_t)(data >> 32), 40 + k };

		memcpy(words + n, write, sizeof(write));
		n += sizeof(write) / 4;
	}
	packet = vendor_packet(at, n, done);
	packet.pm4.completion -= rig->mem.host_base;
	rig_aql_submit(&aql, &packet, VENDOR_HEADER);
	rig_eventually(atomic_load(&done->value) == 0);
	assert_int_equal(result[0], 40);
	assert_int_equal(result[1], 41);
	/* an unknown opcode: the queue's error signal has the code, and the queue stops */
	words[0] = PACKET(0x77, 4);
	atomic_store(&done->value, 1);
	rig_aql_submit(&aql, &packet, VENDOR_HEADER);
	rig_eventually(atomic_load(&aql.inactive->value) == SG_QUEUE_BAD_VENDOR_PACKET);
	assert_int_equal(atomic_load(&done->value), 1);
	rig_aql_close(rig, &aql);
	rig_destroy(rig);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define DIES_CASE(name) cmocka_unit_test_setup_teardown(name, set_up_dies, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(counter_of_an_engine_is_that_engines),
		CASE(counters_of_instances_are_selected_one_by_one),
		CASE(spi_has_its_halves_the_other_way_round),
		CASE(accumulation_adds_up_the_counter_before_it),
		CASE(perfmon_control_opens_freezes_and_resets),
		CASE(unknown_events_and_registers_are_reported_once),
		CASE(data_is_copied_and_written),
		CASE(atomics_and_copies_empty_a_buffer),
		CASE(wait_continues_where_it_stopped),
		CASE(bad_streams_stop),
		DIES_CASE(die_reads_its_own_counters),
		DIES_CASE(predicates_nest_and_reach_into_buffers),
		DIES_CASE(window_follows_the_first_die),
		cmocka_unit_test(vendor_packet_runs_its_commands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
