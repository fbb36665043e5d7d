/*
 * Line tables of real interpreters against the lines that they find themselves (recorded by
 * python_lines/record.py), and tables that no interpreter writes.
 */
#include "tests/unit/unit.h"

#include "trace/host.h"

#include <stdio.h>
#include <string.h>

static const char *recorded; /* path */

static size_t read_hex(const char *text, uint8_t *to, size_t max)
{
	size_t n = 0;
	unsigned byte;

	for (; n < max && sscanf(text, "%2x", &byte) == 1; text += 2)
		to[n++] = (uint8_t)byte;
	return n;
}

static void lines_are_those_that_python_finds(void **state)
{
	static char line[16384];
	static uint8_t table[8192];
	struct trc_python_code code = { .line_table = table };
	unsigned n_checked = 0, n_codes = 0, version, first, at, expected;
	FILE *file = fopen(recorded, "r");
	int hex;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "code %x %u %n", &version, &first, &hex) == 2) {
			code.version = version;
			code.first_line = first;
			code.n_line_table = (uint32_t)read_hex(line + hex, table, sizeof(table));
			n_codes++;
			continue;
		}
		assert_int_equal(sscanf(line, "%u %u", &at, &expected), 2);
		if (trc_python_line(&code, at) != expected)
			fail_msg("version %#x, code at line %u, instruction %u: %u, not %u",
				 code.version, code.first_line, at, trc_python_line(&code, at),
				 expected);
		n_checked++;
	}
	fclose(file);
	assert_true(n_codes >= 10);
	assert_true(n_checked > 300);
}

static struct trc_python_code made(uint32_t version, const void *table, size_t n)
{
	return (struct trc_python_code){
		.version = version, .first_line = 100, .line_table = table, .n_line_table = n
	};
}

static void unknown_instructions_have_the_first_line(void **state)
{
	static const uint8_t old[] = { 4, 1, 4, 1 };
	static const uint8_t new[] = { 0x80 | 11 << 3 | 1, 0, 0 };

	for (uint32_t version = 0x0309; version <= 0x030d; version++) {
		struct trc_python_code code = version < 0x030b ? made(version, old, sizeof(old))
							       : made(version, new, sizeof(new));
		struct trc_python_code empty = made(version, "", 0);

		assert_int_equal(trc_python_line(&code, UINT32_MAX), 100);
		assert_int_equal(trc_python_line(&empty, 0), 100);
		assert_int_equal(trc_python_line(&empty, 2), 100);
		/* behind the end: the table of 3.9 has none */
		assert_int_equal(trc_python_line(&code, 400), version < 0x030a ? 102 : 100);
	}
}

static void code_without_a_line_has_the_first_line(void **state)
{
	static const uint8_t table_3_10[] = { 2, 5, 2, 0x80, 2, 1 };
	/* one line further for one unit; none for two units; back 3 for one unit */
	static const uint8_t table_3_11[] = { 0x80 | 11 << 3, 0,         0, 0x80 | 15 << 3 | 1,
					      0x80 | 13 << 3, 3 << 1 | 1 };
	struct trc_python_code old = made(0x030a, table_3_10, sizeof(table_3_10));
	struct trc_python_code new = made(0x030d, table_3_11, sizeof(table_3_11));

	assert_int_equal(trc_python_line(&old, 0), 105);
	assert_int_equal(trc_python_line(&old, 2), 100);
	assert_int_equal(trc_python_line(&old, 4), 106);
	assert_int_equal(trc_python_line(&new, 0), 101);
	assert_int_equal(trc_python_line(&new, 2), 100);
	assert_int_equal(trc_python_line(&new, 5), 100);
	assert_int_equal(trc_python_line(&new, 6), 98);
}

static void long_numbers_are_read_whole(void **state)
{
	/* +3000 = 0x1770 as sixes of bits, the lowest first: 0x30, 0x1d, 0x01 */
	static const uint8_t table[] = { 0x80 | 13 << 3, 0x70, 0x5d, 0x01 };
	static const uint8_t endless[] = { 0x80 | 14 << 3, 0x7f, 0x7f, 0x7f, 0x7f,
					   0x7f,           0x7f, 0x7f, 0x7f, 0x7f };
	struct trc_python_code code = made(0x030b, table, sizeof(table));
	struct trc_python_code damaged = made(0x030b, endless, sizeof(endless));

	assert_int_equal(trc_python_line(&code, 0), 100 + 3000);
	trc_python_line(&damaged, 0);
	/* cut off in the number */
	code.n_line_table = 2;
	assert_int_equal(trc_python_line(&code, 0), 100 + 0x30 / 2);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_those_that_python_finds),
		cmocka_unit_test(unknown_instructions_have_the_first_line),
		cmocka_unit_test(code_without_a_line_has_the_first_line),
		cmocka_unit_test(long_numbers_are_read_whole),
	};
	static char path[4096];
	const char *source = getenv("WS_SOURCE");

	snprintf(path, sizeof(path), "%s/tests/unit/python_lines/recorded.txt",
		 source ? source : ".");
	recorded = argc > 1 ? argv[1] : path;
	return RUN(tests);
}
