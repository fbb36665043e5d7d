/*
 * python_lines: from instructions of Python code to source lines.
 *
 * The interpreter has had three formats, each a sequence of steps over the instructions:
 *
 *	to 3.9     co_lnotab        bytes of code before a line changes, and by how much
 *	3.10       co_linetable     bytes of code of a line (PEP 626), and its distance
 *	from 3.11  co_linetable     entries of variable length with columns (Objects/locations.md
 *	                            of CPython): code units, distance of lines
 *
 * The tables come from the profiled process, so every byte is checked. A number of lines
 * wraps around in 32 bits; what a damaged table leads to is not a line but harms nobody.
 */
#include "trace/host.h"

#define NO_LINE_3_10 (-128)

/* A place in a table. */
struct walk {
	const uint8_t *at, *end;
};

static uint32_t line_of_lnotab(const struct trc_python_code *code, uint32_t at)
{
	const uint8_t *table = code->line_table;
	uint32_t line = code->first_line;
	uint64_t address = 0;

	for (uint32_t i = 0; i + 1 < code->n_line_table; i += 2) {
		address += table[i];
		if (address > at)
			break;
		line += (uint32_t)(int8_t)table[i + 1];
	}
	return line;
}

static uint32_t line_of_3_10(const struct trc_python_code *code, uint32_t at)
{
	const uint8_t *table = code->line_table;
	uint32_t line = code->first_line;
	uint64_t address = 0;

	for (uint32_t i = 0; i + 1 < code->n_line_table; i += 2) {
		int8_t distance = (int8_t)table[i + 1];

		address += table[i];
		if (distance != NO_LINE_3_10)
			line += (uint32_t)distance;
		if (address > at)
			return distance == NO_LINE_3_10 ? code->first_line : line;
	}
	return code->first_line;
}

/* ---- from 3.11 ---- */

#define ENTRY_BEGIN 0x80u /* set in the first byte of an entry only */
#define CODE_UNIT_BYTES 2u

/* Kinds of entries; those below ONE_LINE are on the line before. */
enum {
	ENTRY_ONE_LINE_0 = 10,
	ENTRY_ONE_LINE_2 = 12,
	ENTRY_NO_COLUMNS = 13,
	ENTRY_LONG = 14,
	ENTRY_NO_LINE = 15,
};

/* Six bits a byte, the lowest first; bit 6: there are more. The lowest bit is the sign. */
static uint32_t signed_varint(struct walk *walk)
{
	uint32_t value = 0;
	unsigned shift = 0;

	while (walk->at < walk->end && !(*walk->at & ENTRY_BEGIN)) {
		uint8_t byte = *walk->at++;

		if (shift < 32)
			value |= (byte & 0x3fu) << shift;
		shift += 6;
		if (!(byte & 0x40))
			break;
	}
	return value & 1 ? -(value >> 1) : value >> 1;
}

static uint32_t line_of_3_11(const struct trc_python_code *code, uint32_t at)
{
	struct walk walk = { code->line_table, code->line_table + code->n_line_table };
	uint32_t line = code->first_line;
	uint64_t address = 0;

	while (walk.at < walk.end) {
		uint8_t head = *walk.at++;
		unsigned kind = head >> 3 & 15;

		if (!(head & ENTRY_BEGIN))
			continue; /* columns, and ends of lines */
		if (kind >= ENTRY_ONE_LINE_0 && kind <= ENTRY_ONE_LINE_2)
			line += kind - ENTRY_ONE_LINE_0;
		else if (kind == ENTRY_NO_COLUMNS || kind == ENTRY_LONG)
			line += signed_varint(&walk);
		address += ((head & 7u) + 1) * CODE_UNIT_BYTES;
		if (address > at)
			return kind == ENTRY_NO_LINE ? code->first_line : line;
	}
	return code->first_line;
}

uint32_t trc_python_line(const struct trc_python_code *code, uint32_t at)
{
	if (at == UINT32_MAX || !code->n_line_table)
		return code->first_line;
	if (code->version >= 0x030b)
		return line_of_3_11(code, at);
	return code->version == 0x030a ? line_of_3_10(code, at) : line_of_lnotab(code, at);
}
