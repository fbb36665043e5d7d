/*
 * elf_symbol: the address of a function in a shared library.
 *
 * Reads the dynamic symbols of a 64-bit little-endian ELF file. The file is not trusted:
 * every offset is checked against its size.
 *
 * Threads  pure function of the file.
 */
#ifndef WS_LAUNCH_ELF_SYMBOL_H
#define WS_LAUNCH_ELF_SYMBOL_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct launch_elf_symbol {
	const char *name;
	uint64_t offset; /* from where the library is loaded; 0: it has none */
};

/* Fills the offsets of functions that the file defines; those it lacks stay as they are. */
enum ws_status launch_elf_symbols(const char *path, struct launch_elf_symbol *symbols,
				  size_t n_symbols, struct ws_err *err);
/* The same for a file in memory; false: it is not such a file. */
bool launch_elf_symbols_in(const uint8_t *bytes, size_t n_bytes, struct launch_elf_symbol *symbols,
			   size_t n_symbols);

#endif
