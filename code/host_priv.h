/* What the files of host.h share. */
#ifndef WS_CODE_HOST_PRIV_H
#define WS_CODE_HOST_PRIV_H

#include "code/host.h"

#include "base/arena.h"
#include "code/lines_priv.h"

#include <elfutils/libdwfl.h>

/* host_debug.c: a callback for libdwfl that finds debug files on this machine only. */
int code_host_find_debug(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			 const char *file, const char *link, GElf_Word link_crc,
			 char **out_debug_file);

/* host_symbols.c: functions by address. NULL: no memory. */
struct code_host_symbols;
struct code_host_symbols *code_host_symbols_create(Dwfl_Module *module, struct ws_arena *arena);
void code_host_symbols_destroy(struct code_host_symbols *symbols);
/* The name as it is in the file, or NULL. */
const char *code_host_symbol_at(const struct code_host_symbols *symbols, uint64_t offset);

/* host_plt.c: calls @add for each stub of the procedure linkage table that has a name. */
typedef bool code_host_add_stub(struct code_host_symbols *symbols, uint64_t start, uint64_t end,
				const char *name, uint64_t resolver);
bool code_host_plt_each(Elf *elf, struct code_host_symbols *symbols, code_host_add_stub *add);

/* host_starts.c: where functions begin that have no symbol. */
struct code_host_starts {
	const uint8_t *table; /* libelf's */
	size_t n;
	uint64_t base;
	uint64_t low, high; /* of the code */
};
void code_host_starts_read(struct code_host_starts *starts, Elf *elf);
uint64_t code_host_start_at(const struct code_host_starts *starts,
			    uint64_t offset); /* 0: unknown */

/* host_units.c: lines and inlined functions. NULL: there is no DWARF data, or no memory. */
struct code_host_units;
struct code_host_units *code_host_units_create(Dwarf *dwarf);
void code_host_units_destroy(struct code_host_units *units);
/* The line of @address, and the inlined calls around it as code_inlined_calls() has them. */
size_t code_host_units_at(struct code_host_units *units, uint64_t address,
			  struct code_place *out_place, struct code_inlined_call *out_calls,
			  size_t max);

/* host_names.c: C++ and Rust; malloc'ed, NULL: no memory. */
char *code_host_demangle(const char *mangled);
/* rust_v0.c: names that begin with "_R"; NULL: it is none, or no memory. */
char *code_rust_v0_demangle(const char *mangled);

#endif
