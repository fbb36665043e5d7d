/*
 * symbols: names for addresses of GPU code, from the code objects that the runtime has loaded.
 *
 * The runtime keeps a list of them for debuggers (struct r_debug of <link.h>): the address each is loaded
 * at, and where its ELF file is, in a file or in memory. Names come from its symbol table, source lines from
 * its DWARF, which libdw reads where it is installed; without it, and without -g, there are no lines.
 *
 * For messages only: every call reads the ELF file again. It takes at most two seconds, then the name is unknown.
 *
 * Threads  any. The list belongs to the runtime and may change at any time; unreadable entries are unknown.
 */
#ifndef WS_SOFTGPU_DEVICE_SYMBOLS_H
#define WS_SOFTGPU_DEVICE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SG_SYMBOL_CHARS 400

struct sg_symbol {
	char name[SG_SYMBOL_CHARS];   /* demangled; empty: unknown */
	uint64_t offset;              /* of the address in it */
	char source[SG_SYMBOL_CHARS]; /* file:line, see lines.h; empty: unknown */
};

/* r_debug: the runtime's list, NULL: there is none. */
void sg_symbols_set_list(const void *r_debug);

/* The kernel with this descriptor. False: unknown; the name contains the address then. */
bool sg_symbols_kernel(uint64_t descriptor, char *name, size_t size);
/* The function and the source line of an instruction. */
void sg_symbols_code(uint64_t pc, struct sg_symbol *out);

#endif
