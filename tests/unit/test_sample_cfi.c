/*
 * Call frame information, from bytes that an assembler made: five functions of known addresses.
 */
#include "collector/sample/cfi.h"
#include "collector/sample/cfi_bytes.h"
#include "tests/unit/unit.h"

#include <string.h>

/* clang-format off */
/* .eh_frame_hdr and .eh_frame; tests/fuzz/corpus/cfi/five_functions.bin is the same. */
static _Alignas(8) const uint8_t section[] = {
	0x01, 0x1b, 0x03, 0x3b, 0x34, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x00, 0xf0,
	0xff, 0xff, 0x50, 0x00, 0x00, 0x00, 0x12, 0xf0, 0xff, 0xff, 0x74, 0x00, 0x00, 0x00,
	0x1e, 0xf0, 0xff, 0xff, 0xa0, 0x00, 0x00, 0x00, 0x23, 0xf0, 0xff, 0xff, 0xe8, 0x00,
	0x00, 0x00, 0x25, 0xf0, 0xff, 0xff, 0x0c, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x14, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x7a, 0x52, 0x00, 0x01, 0x78,
	0x10, 0x01, 0x1b, 0x0c, 0x07, 0x08, 0x90, 0x01, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00,
	0x1c, 0x00, 0x00, 0x00, 0xa8, 0xef, 0xff, 0xff, 0x12, 0x00, 0x00, 0x00, 0x00, 0x41,
	0x0e, 0x10, 0x83, 0x02, 0x47, 0x0e, 0x90, 0x20, 0x48, 0x0e, 0x10, 0x41, 0xc3, 0x0e,
	0x08, 0x00, 0x00, 0x00, 0x28, 0x00, 0x00, 0x00, 0x40, 0x00, 0x00, 0x00, 0x96, 0xef,
	0xff, 0xff, 0x0c, 0x00, 0x00, 0x00, 0x00, 0x41, 0x0e, 0x10, 0x86, 0x02, 0x43, 0x0d,
	0x06, 0x42, 0x8c, 0x03, 0x41, 0x0a, 0x41, 0x0c, 0x07, 0x08, 0xc6, 0x41, 0x0b, 0x42,
	0x0c, 0x07, 0x08, 0x00, 0x00, 0x00, 0x2c, 0x00, 0x00, 0x00, 0x6c, 0x00, 0x00, 0x00,
	0x76, 0xef, 0xff, 0xff, 0x05, 0x00, 0x00, 0x00, 0x00, 0x0f, 0x0b, 0x77, 0x08, 0x80,
	0x00, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22, 0x42, 0x16, 0x06, 0x02, 0x77, 0x10,
	0x10, 0x03, 0x03, 0x77, 0x18, 0x06, 0x41, 0x09, 0x0d, 0x0e, 0x00, 0x00, 0x14, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x7a, 0x52, 0x53, 0x00, 0x01, 0x78, 0x10,
	0x01, 0x1b, 0x0c, 0x07, 0x08, 0x90, 0x01, 0x00, 0x20, 0x00, 0x00, 0x00, 0x1c, 0x00,
	0x00, 0x00, 0x33, 0xef, 0xff, 0xff, 0x02, 0x00, 0x00, 0x00, 0x00, 0x0f, 0x04, 0x77,
	0xa0, 0x01, 0x06, 0x10, 0x10, 0x03, 0x77, 0xa8, 0x01, 0x10, 0x06, 0x02, 0x77, 0x78,
	0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0xd8, 0x00, 0x00, 0x00, 0x11, 0xef, 0xff, 0xff,
	0x02, 0x00, 0x00, 0x00, 0x00, 0x07, 0x10, 0x00,
};
/* clang-format on */

/* Addresses relative to the section, and what the assembler was told. */
enum {
	PLAIN = -4096,       /* rsp + 8, then rbx is saved, then rsp + 4112 */
	FRAMED = -4078,      /* rbp is the frame pointer from byte 4 on; r12 is saved at byte 6 */
	EXPRESSIONS = -4066, /* the CFA as in a PLT entry; from byte 2 on rbx and rbp, too */
	SIGNAL = -4061,      /* made by the kernel: all is where expressions say */
	OUTERMOST = -4059,
	BEHIND = -4057,
};

static uint64_t pc_at(int offset)
{
	return (uint64_t)(uintptr_t)section + (uint64_t)(int64_t)offset;
}

static bool find(int offset, struct col_cfi_work *work)
{
	struct col_cfi_ranges ranges = { .n = 1 };

	ranges.range[0].start = (uintptr_t)section;
	ranges.range[0].end = (uintptr_t)section + sizeof(section);
	return col_cfi_find(&ranges, (uintptr_t)section, pc_at(offset), work);
}

/* Memory in which each word is its own address, but for some that cannot be read. */
#define UNREADABLE 0x10000u

static bool read_address(void *arg, uint64_t at, uint64_t *out)
{
	*out = at;
	return at < UNREADABLE;
}

static const struct col_cfi_memory memory = { read_address, NULL };

static struct col_cfi_regs registers(uint64_t sp, uint64_t bp)
{
	struct col_cfi_regs regs = { .known = (1u << COL_CFI_REGISTERS) - 1 };

	for (unsigned i = 0; i < COL_CFI_REGISTERS; i++)
		regs.value[i] = 0x100 + i;
	regs.value[COL_CFI_RSP] = sp;
	regs.value[COL_CFI_RBP] = bp;
	return regs;
}

static void rows_hold_from_their_address_on(void **state)
{
	static const struct {
		int at;
		uint32_t base;
		int64_t offset;
	} rows[] = {
		{ PLAIN, COL_CFI_RSP, 8 },        { PLAIN + 1, COL_CFI_RSP, 16 },
		{ PLAIN + 8, COL_CFI_RSP, 4112 }, { PLAIN + 16, COL_CFI_RSP, 16 },
		{ PLAIN + 17, COL_CFI_RSP, 8 },   { FRAMED, COL_CFI_RSP, 8 },
		{ FRAMED + 4, COL_CFI_RBP, 16 },  { FRAMED + 8, COL_CFI_RSP, 8 },
		{ FRAMED + 9, COL_CFI_RBP, 16 },  { FRAMED + 11, COL_CFI_RSP, 8 },
	};
	static struct col_cfi_work work;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(find(rows[i].at, &work));
		assert_int_equal(work.row.cfa.how, COL_CFI_REGISTER);
		assert_int_equal(work.row.cfa.number, rows[i].base);
		assert_int_equal(work.row.cfa.offset, rows[i].offset);
	}
	assert_false(find(PLAIN - 1, &work));
	assert_false(find(BEHIND, &work));
}

static void packed_and_full_steps_are_the_same(void **state)
{
	static const int at[] = { PLAIN,      PLAIN + 1,  PLAIN + 8,  FRAMED,
				  FRAMED + 1, FRAMED + 4, FRAMED + 6, FRAMED + 8 };
	static struct col_cfi_work work;

	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		struct col_cfi_regs full = registers(0x1000, 0x2000), quick = full;
		uint64_t packed;

		assert_true(find(at[i], &work));
		packed = col_cfi_pack(&work.row);
		assert_true(packed & 1);
		assert_int_equal(col_cfi_step(&work, memory, &full), COL_CFI_OK);
		assert_int_equal(col_cfi_step_packed(packed, memory, &quick), COL_CFI_OK);
		assert_int_equal(full.known, quick.known);
		for (unsigned r = 0; r < COL_CFI_REGISTERS; r++) {
			if (full.known >> r & 1)
				assert_int_equal(full.value[r], quick.value[r]);
		}
	}
}

static void a_step_finds_the_callers_registers(void **state)
{
	struct col_cfi_regs regs = registers(0x1000, 0x2000);
	static struct col_cfi_work work;

	assert_true(find(FRAMED + 6, &work));
	assert_int_equal(col_cfi_step(&work, memory, &regs), COL_CFI_OK);
	assert_int_equal(regs.value[COL_CFI_RSP], 0x2010);
	assert_int_equal(regs.value[COL_CFI_RIP], 0x2008);
	assert_int_equal(regs.value[COL_CFI_RBP], 0x2000);
	assert_int_equal(regs.value[COL_CFI_R12], 0x1ff8);
	assert_int_equal(regs.value[COL_CFI_RBX], 0x103);
	assert_int_equal(regs.known >> 0 & 1, 0); /* rax is not kept by calls */
}

static void expressions_are_evaluated(void **state)
{
	struct col_cfi_regs regs = registers(0x1000, 0x2000);
	static struct col_cfi_work work;

	/* rsp + 8, and 8 more where the last digit of rip is 11 or above */
	for (uint64_t digit = 0; digit < 16; digit++) {
		regs = registers(0x1000, 0x2000);
		regs.value[COL_CFI_RIP] = 0x4000 + digit;
		assert_true(find(EXPRESSIONS, &work));
		assert_int_equal(col_cfi_pack(&work.row), 0);
		assert_int_equal(col_cfi_step(&work, memory, &regs), COL_CFI_OK);
		assert_int_equal(regs.value[COL_CFI_RSP], digit >= 11 ? 0x1010 : 0x1008);
	}
	regs = registers(0x1000, 0x2000);
	regs.value[COL_CFI_RIP] = 0x4000;
	assert_true(find(EXPRESSIONS + 3, &work));
	assert_int_equal(col_cfi_step(&work, memory, &regs), COL_CFI_OK);
	assert_int_equal(regs.value[COL_CFI_RBP], 0x1010); /* a value */
	assert_int_equal(regs.value[COL_CFI_RBX], 0x1018); /* saved where *(rsp + 24) says */
	assert_int_equal(regs.value[COL_CFI_R13], 0x100 + COL_CFI_R14);
}

static void signal_frames_say_so(void **state)
{
	struct col_cfi_regs regs = registers(0x1000, 0x2000);
	static struct col_cfi_work work;

	assert_true(find(SIGNAL, &work));
	assert_true(work.row.signal);
	assert_int_equal(col_cfi_pack(&work.row), 0);
	assert_int_equal(col_cfi_step(&work, memory, &regs), COL_CFI_OK);
	assert_int_equal(regs.value[COL_CFI_RSP], 0x10a0);
	assert_int_equal(regs.value[COL_CFI_RIP], 0x10a8);
	assert_int_equal(regs.value[COL_CFI_RBP], 0xff8);
	assert_true(find(PLAIN, &work));
	assert_false(work.row.signal);
}

static void the_outermost_frame_has_no_caller(void **state)
{
	struct col_cfi_regs regs = registers(0x1000, 0x2000);
	static struct col_cfi_work work;

	assert_true(find(OUTERMOST, &work));
	assert_int_equal(col_cfi_pack(&work.row), 0);
	assert_int_equal(col_cfi_step(&work, memory, &regs), COL_CFI_OUTERMOST);
}

static void memory_that_is_not_there_fails_the_step(void **state)
{
	struct col_cfi_regs regs = registers(UNREADABLE, 0x2000);
	static struct col_cfi_work work;

	assert_true(find(PLAIN, &work));
	assert_int_equal(col_cfi_step_packed(col_cfi_pack(&work.row), memory, &regs),
			 COL_CFI_FAILED);
	assert_int_equal(col_cfi_step(&work, memory, &regs), COL_CFI_FAILED);
	regs = registers(0x1000, 0x2000);
	regs.known &= ~(1u << COL_CFI_RBP);
	assert_true(find(FRAMED + 4, &work));
	assert_int_equal(col_cfi_step(&work, memory, &regs), COL_CFI_FAILED);
}

static void expressions_that_make_no_sense_have_no_value(void **state)
{
	static const struct {
		uint8_t bytes[8];
		uint32_t n;
	} cases[] = {
		{ { 0x22 }, 1 },                   /* plus, of one value */
		{ { 0x13, 0x13 }, 2 },             /* drop what is not there */
		{ { 0x30, 0x1b }, 2 },             /* divide by 0 */
		{ { 0x2f, 0xfd, 0xff }, 3 },       /* jump to itself */
		{ { 0x2f, 0x10, 0x00 }, 3 },       /* jump outside */
		{ { 0x0e, 0x80 }, 2 },             /* cut off */
		{ { 0x92, 0x40, 0x00 }, 3 },       /* register 64 */
		{ { 0x94, 0x09 }, 2 },             /* nine bytes */
		{ { 0xff }, 1 },                   /* unknown */
		{ { 0x12, 0x2f, 0xfc, 0xff }, 4 }, /* dup without end */
	};
	struct col_cfi_regs regs = registers(0x1000, 0x2000);
	static struct col_cfi_work work;
	uint64_t value;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_false(col_cfi_evaluate(&work, cases[i].bytes, cases[i].n, 1, &regs, &memory,
					      &value));
	/* 7 10 swap minus: 3 */
	assert_true(col_cfi_evaluate(&work, (const uint8_t[]){ 0x37, 0x3a, 0x16, 0x1c }, 4, 0,
				     &regs, &memory, &value));
	assert_int_equal(value, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_hold_from_their_address_on),
		cmocka_unit_test(packed_and_full_steps_are_the_same),
		cmocka_unit_test(a_step_finds_the_callers_registers),
		cmocka_unit_test(expressions_are_evaluated),
		cmocka_unit_test(signal_frames_say_so),
		cmocka_unit_test(the_outermost_frame_has_no_caller),
		cmocka_unit_test(memory_that_is_not_there_fails_the_step),
		cmocka_unit_test(expressions_that_make_no_sense_have_no_value),
	};

	return RUN(tests);
}
