#include "softgpu/device/lines.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <libelf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is used of the two libraries; the types come from their headers. */
#define DW_FUNCTIONS(X)                                                                            \
	X(elf_version)                                                                             \
	X(elf_memory)                                                                              \
	X(elf_end)                                                                                 \
	X(dwarf_begin_elf)                                                                         \
	X(dwarf_end)                                                                               \
	X(dwarf_nextcu)                                                                            \
	X(dwarf_offdie)                                                                            \
	X(dwarf_getsrclines)                                                                       \
	X(dwarf_onesrcline)                                                                        \
	X(dwarf_lineaddr)                                                                          \
	X(dwarf_lineno)                                                                            \
	X(dwarf_linesrc)                                                                           \
	X(dwarf_lineendsequence)                                                                   \
	X(dwarf_getscopes)                                                                         \
	X(dwarf_tag)                                                                               \
	X(dwarf_attr)                                                                              \
	X(dwarf_formudata)                                                                         \
	X(dwarf_getsrcfiles)                                                                       \
	X(dwarf_filesrc)

#define MEMBER(name) __typeof__(&name) name;
static struct {
	DW_FUNCTIONS(MEMBER)
} dw;
static bool dw_found;

static void find_functions(void)
{
	void *library = dlopen("libdw.so.1", RTLD_LAZY | RTLD_LOCAL);

	if (!library)
		return;
	dw_found = true;
#define FIND(name) dw_found &= (dw.name = (__typeof__(dw.name))dlsym(library, #name)) != NULL;
	DW_FUNCTIONS(FIND)
	dw_found = dw_found && dw.elf_version(EV_CURRENT) != EV_NONE;
}

/* A function that was inlined: behind its line comes the one it was called from, and so on. */
static void add_callers(Dwarf_Die *unit, uint64_t address, char *out, size_t size)
{
	Dwarf_Die *scopes = NULL;
	Dwarf_Files *files;
	int n = dw.dwarf_getscopes(unit, address, &scopes);
	size_t n_files;

	if (n > 0 && !dw.dwarf_getsrcfiles(unit, &files, &n_files)) {
		for (int i = 0; i < n; i++) {
			Dwarf_Word file = 0, line = 0;
			Dwarf_Attribute attribute;
			const char *name;
			size_t used = strlen(out);

			if (dw.dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine ||
			    dw.dwarf_formudata(dw.dwarf_attr(&scopes[i], DW_AT_call_file,
							     &attribute),
					       &file) ||
			    dw.dwarf_formudata(
				    dw.dwarf_attr(&scopes[i], DW_AT_call_line, &attribute), &line))
				continue;
			name = dw.dwarf_filesrc(files, file, NULL, NULL);
			if (name && used < size)
				snprintf(out + used, size - used, " -> %s:%llu", name,
					 (unsigned long long)line);
		}
	}
	free(scopes);
}

/* Rows are sorted within a sequence. Line 0 is code of no line: that of the row before counts. */
static bool find_in_unit(Dwarf_Die *unit, uint64_t address, char *out, size_t size)
{
	const char *file = NULL;
	Dwarf_Lines *lines;
	int line = 0;
	size_t n;

	if (dw.dwarf_getsrclines(unit, &lines, &n) != 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *row = dw.dwarf_onesrcline(lines, i);
		Dwarf_Addr at = 0;
		bool end = false;
		int number = 0;

		if (!row || dw.dwarf_lineaddr(row, &at) || dw.dwarf_lineendsequence(row, &end))
			continue;
		if (at > address && file) {
			snprintf(out, size, "%s:%d", file, line);
			add_callers(unit, address, out, size);
			return true;
		}
		if (end || at > address) {
			file = NULL;
			continue;
		}
		if (!dw.dwarf_lineno(row, &number) && number) {
			line = number;
			file = dw.dwarf_linesrc(row, NULL, NULL);
		}
	}
	return false;
}

bool sg_lines_find(const void *elf, size_t n_bytes, uint64_t address, char *out, size_t size)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	Dwarf_Off at = 0, next;
	bool found = false;
	size_t header_bytes;
	Dwarf *dwarf;
	Elf *file;

	pthread_once(&once, find_functions);
	if (!dw_found)
		return false;
	/* libelf takes a writable pointer and writes nothing unless it is told to */
	file = dw.elf_memory((char *)(uintptr_t)elf, n_bytes);
	dwarf = file ? dw.dwarf_begin_elf(file, DWARF_C_READ, NULL) : NULL;
	while (dwarf && !found &&
	       dw.dwarf_nextcu(dwarf, at, &next, &header_bytes, NULL, NULL, NULL) == 0) {
		Dwarf_Die unit;

		if (dw.dwarf_offdie(dwarf, at + header_bytes, &unit))
			found = find_in_unit(&unit, address, out, size);
		at = next;
	}
	if (dwarf)
		dw.dwarf_end(dwarf);
	if (file)
		dw.elf_end(file);
	return found;
}
