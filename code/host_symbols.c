/*
 * host_symbols: the functions of a module, sorted by address.
 *
 * Several symbols may have the same address (aliases), and hand-written code has symbols
 * without a size or inside of others. One symbol per address is kept. A lookup takes the symbol
 * that begins last among those that contain the address.
 */
#include "code/host_priv.h"

#include "base/vec.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#define SYMBOLS_MAX (1u << 26)

struct symbol {
	uint64_t start, end; /* equal: size unknown */
	uint64_t
		section_end; /* where the next symbol begins if the size is unknown, at most here */
	uint64_t reach;      /* the largest end of this and those before it */
	const char *name;
	uint8_t type, binding;
};

struct code_host_symbols {
	WS_VEC(struct symbol) list;
	struct ws_arena *arena;
};

/* ---- reading ---- */

/* The section of the last symbol: symbols of one section mostly follow each other. */
struct section {
	Elf *elf;
	GElf_Word index;
	GElf_Shdr head;
	bool ok;
};

static bool is_code(struct section *section, Elf *elf, GElf_Word index)
{
	if (section->elf != elf || section->index != index) {
		Elf_Scn *scn = elf_getscn(elf, index);

		section->elf = elf;
		section->index = index;
		section->ok = scn && gelf_getshdr(scn, &section->head) &&
			      section->head.sh_flags & SHF_EXECINSTR;
	}
	return section->ok;
}

/* Not the marks that assemblers leave between code and data ("$x", ".L1"). */
static bool is_function(const GElf_Sym *symbol, const char *name)
{
	switch (GELF_ST_TYPE(symbol->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return name[0] != 0;
	case STT_NOTYPE:
		return name[0] && name[0] != '$' && name[0] != '.';
	default:
		return false;
	}
}

/* "memcpy" of "memcpy@@GLIBC_2.14"; NULL: no memory. */
static const char *without_version(struct code_host_symbols *symbols, const char *name)
{
	const char *version = strchr(name, '@');

	return version && version > name
		       ? ws_arena_strndup(symbols->arena, name, (size_t)(version - name))
		       : name;
}

static bool read_symbols(struct code_host_symbols *symbols, Dwfl_Module *module)
{
	struct section section = { 0 };
	int n = dwfl_module_getsymtab(module);

	for (int i = 1; i < n; i++) {
		GElf_Sym sym;
		GElf_Addr address;
		GElf_Word index;
		Elf *elf;
		Dwarf_Addr bias;
		const char *name =
			dwfl_module_getsym_info(module, i, &sym, &address, &index, &elf, &bias);
		struct symbol symbol;

		if (!name || !is_function(&sym, name) || index == SHN_UNDEF ||
		    index >= SHN_LORESERVE || !elf || !is_code(&section, elf, index))
			continue;
		symbol = (struct symbol){
			.start = address,
			.end = address + sym.st_size < address ? address : address + sym.st_size,
			.section_end = section.head.sh_addr + section.head.sh_size + bias,
			.name = without_version(symbols, name),
			.type = GELF_ST_TYPE(sym.st_info),
			.binding = GELF_ST_BIND(sym.st_info),
		};
		if (!symbol.name || ws_vec_push(&symbols->list, symbol, NULL))
			return false;
	}
	return true;
}

/* ---- sorting ---- */

static unsigned underscores(const char *name)
{
	unsigned n = 0;

	while (name[n] == '_')
		n++;
	return n;
}

/* By address; of aliases first the one that people know: "free", not "__libc_free" or "cfree". */
static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;
	int known;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if ((x->end > x->start) != (y->end > y->start))
		return x->end > x->start ? -1 : 1;
	if ((x->type == STT_NOTYPE) != (y->type == STT_NOTYPE))
		return x->type == STT_NOTYPE ? 1 : -1;
	/* C++ and Rust names begin with "_Z" and "_R": aliases of each other have as many. */
	known = (int)underscores(x->name) - (int)underscores(y->name);
	if (!known)
		known = (x->binding == STB_LOCAL) - (y->binding == STB_LOCAL);
	if (!known)
		known = (int)strlen(x->name) - (int)strlen(y->name);
	return known ? known : strcmp(x->name, y->name);
}

/* One symbol per address, with an end. What has no size and lies inside another is a label. */
static void tidy(struct code_host_symbols *symbols)
{
	struct symbol *at = symbols->list.at;
	uint64_t reach = 0;
	size_t n = 0;

	ws_vec_sort(&symbols->list, by_address);
	for (size_t i = 0; i < symbols->list.n; i++) {
		if ((n && at[n - 1].start == at[i].start) ||
		    (at[i].end == at[i].start && at[i].start < reach))
			continue;
		reach = WS_MAX(reach, at[i].end);
		at[n++] = at[i];
	}
	symbols->list.n = n;
	reach = 0;
	for (size_t i = 0; i < n; i++) {
		if (at[i].end == at[i].start) {
			at[i].end = WS_MAX(at[i].start, at[i].section_end);
			if (i + 1 < n)
				at[i].end = WS_MIN(at[i].end, at[i + 1].start);
		}
		at[i].reach = reach = WS_MAX(reach, at[i].end);
	}
}

/* ---- the interface ---- */

static bool add_stub(struct code_host_symbols *symbols, uint64_t start, uint64_t end,
		     const char *name, uint64_t resolver)
{
	const char *target = name ? name : code_host_symbol_at(symbols, resolver);
	struct symbol symbol = { .start = start, .end = end, .type = STT_FUNC };

	if (!target)
		return true;
	symbol.name = ws_arena_printf(symbols->arena, "%s@plt", target);
	return symbol.name && !ws_vec_push(&symbols->list, symbol, NULL);
}

struct code_host_symbols *code_host_symbols_create(Dwfl_Module *module, struct ws_arena *arena)
{
	struct code_host_symbols *symbols = calloc(1, sizeof(*symbols));
	GElf_Addr bias;
	Elf *elf;

	if (!symbols)
		return NULL;
	symbols->arena = arena;
	ws_vec_init(&symbols->list, SYMBOLS_MAX);
	if (!read_symbols(symbols, module)) {
		code_host_symbols_destroy(symbols);
		return NULL;
	}
	tidy(symbols);
	elf = dwfl_module_getelf(module, &bias);
	if (elf) /* stubs without names are no reason to be without functions */
		code_host_plt_each(elf, symbols, add_stub);
	tidy(symbols);
	return symbols;
}

void code_host_symbols_destroy(struct code_host_symbols *symbols)
{
	if (!symbols)
		return;
	ws_vec_fini(&symbols->list);
	free(symbols);
}

const char *code_host_symbol_at(const struct code_host_symbols *symbols, uint64_t offset)
{
	size_t low = 0, high = symbols->list.n;

	while (low < high) { /* the first symbol behind offset */
		size_t mid = low + (high - low) / 2;

		if (symbols->list.at[mid].start <= offset)
			low = mid + 1;
		else
			high = mid;
	}
	for (size_t i = low; i-- > 0 && symbols->list.at[i].reach > offset;)
		if (symbols->list.at[i].end > offset)
			return symbols->list.at[i].name;
	return NULL;
}
