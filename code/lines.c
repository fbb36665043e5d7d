/*
 * lines: from addresses to source lines, by DWARF's line table.
 *
 * All rows of all units are copied into one array sorted by address: a lookup is a
 * binary search, and the DWARF reader is done with before the first of them. A row with
 * line 0 (code that the compiler cannot assign to a line) continues the row before it.
 */
#include "code/lines_priv.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

struct row {
	uint64_t address;
	uint32_t line;
	uint32_t file; /* index; END: behind the last instruction of a sequence */
};
#define END UINT32_MAX

struct code_lines {
	Elf *elf;
	Dwarf *dwarf;
	struct row *rows;
	size_t n_rows, cap_rows;
	const char **files; /* libdw's, so they live as long as `dwarf` */
	size_t n_files, cap_files;
	struct code_inlined *inlined;
};

bool code_grow(void *array, size_t *cap, size_t n, size_t one)
{
	void **at = array;
	size_t more = *cap ? *cap * 2 : 256;
	void *larger;

	if (n < *cap)
		return true;
	larger = realloc(*at, more * one);
	if (!larger)
		return false;
	*at = larger;
	*cap = more;
	return true;
}

/* Rows of a unit name few files, one after the other: the last one is nearly always it. */
static uint32_t file_index(struct code_lines *l, const char *file)
{
	for (size_t i = l->n_files; i-- > 0;)
		if (l->files[i] == file)
			return (uint32_t)i;
	if (!code_grow(&l->files, &l->cap_files, l->n_files, sizeof(*l->files)))
		return END;
	l->files[l->n_files] = file;
	return (uint32_t)l->n_files++;
}

static bool take_unit(struct code_lines *l, Dwarf_Die *unit)
{
	Dwarf_Lines *lines;
	size_t n;

	if (dwarf_getsrclines(unit, &lines, &n) != 0)
		return true;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		const char *file = dwarf_linesrc(line, NULL, NULL);
		Dwarf_Addr address;
		bool end = false;
		int number = 0;

		if (dwarf_lineaddr(line, &address) != 0)
			continue;
		dwarf_lineendsequence(line, &end);
		dwarf_lineno(line, &number);
		if (!end && number <= 0)
			continue;
		if (!code_grow(&l->rows, &l->cap_rows, l->n_rows, sizeof(*l->rows)))
			return false;
		l->rows[l->n_rows++] = (struct row){
			.address = address,
			.line = (uint32_t)number,
			.file = end || !file ? END : file_index(l, file),
		};
	}
	return true;
}

/* By address; an end sorts before a begin at the same place. */
static int by_address(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (y->file == END) - (x->file == END);
}

struct code_lines *code_lines_create(void *elf_bytes, size_t n_bytes)
{
	struct code_lines *l = calloc(1, sizeof(*l));
	Dwarf_Off at = 0, next;
	size_t head_bytes;
	bool ok = l != NULL;

	if (!l)
		return NULL;
	elf_version(EV_CURRENT);
	l->elf = elf_memory(elf_bytes, n_bytes);
	l->dwarf = l->elf ? dwarf_begin_elf(l->elf, DWARF_C_READ, NULL) : NULL;
	while (ok && l->dwarf &&
	       dwarf_nextcu(l->dwarf, at, &next, &head_bytes, NULL, NULL, NULL) == 0) {
		Dwarf_Die unit;

		if (dwarf_offdie(l->dwarf, at + head_bytes, &unit))
			ok = take_unit(l, &unit);
		at = next;
	}
	if (!ok || !l->n_rows) {
		code_lines_destroy(l);
		return NULL;
	}
	qsort(l->rows, l->n_rows, sizeof(*l->rows), by_address);
	l->inlined = code_inlined_create(l->dwarf);
	return l;
}

void code_lines_destroy(struct code_lines *lines)
{
	if (!lines)
		return;
	code_inlined_destroy(lines->inlined);
	dwarf_end(lines->dwarf);
	elf_end(lines->elf);
	free(lines->rows);
	free(lines->files);
	free(lines);
}

bool code_line(const struct code_lines *lines, uint64_t offset, const char **out_file,
	       uint32_t *out_line)
{
	size_t low = 0, high = lines ? lines->n_rows : 0;

	while (low < high) { /* the first row behind offset */
		size_t mid = low + (high - low) / 2;

		if (lines->rows[mid].address <= offset)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || lines->rows[low - 1].file == END)
		return false;
	*out_file = lines->files[lines->rows[low - 1].file];
	*out_line = lines->rows[low - 1].line;
	return true;
}

size_t code_callers(const struct code_lines *lines, uint64_t offset, struct code_place *out_callers,
		    size_t max)
{
	return lines ? code_inlined_at(lines->inlined, offset, out_callers, max) : 0;
}
