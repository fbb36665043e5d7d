/*
 * host_plt: the stubs of the procedure linkage table (x86-64).
 *
 * Neither symbol tables nor DWARF name them. A stub jumps through an entry of the global offset
 * table, and the relocation of that entry has the name. Where lazy binding and indirect branch
 * tracking meet, a stub pushes the number of its relocation instead.
 */
#include "code/host_priv.h"

#include "base/vec.h"

#include <gelf.h>
#include <string.h>

#define STUB_BYTES_MIN 8u
#define STUB_BYTES_MAX 16u
#define RELOCATIONS_MAX (1u << 20)

/* Sections that consist of stubs. */
static const char *const plt_sections[] = { ".plt", ".plt.sec", ".plt.got" };

struct relocation {
	uint64_t at;       /* address of the entry */
	uint64_t resolver; /* IRELATIVE: who chooses the function; 0: none */
	const char *name;  /* NULL: it has none */
};

struct relocations {
	WS_VEC(struct relocation) all; /* by address */
	WS_VEC(struct relocation) plt; /* of .rela.plt, in order */
};

static struct relocation read_relocation(Elf *elf, const GElf_Rela *rela, Elf_Data *symbols,
					 size_t names)
{
	struct relocation relocation = { .at = rela->r_offset };
	GElf_Sym symbol;

	if (GELF_R_TYPE(rela->r_info) == R_X86_64_IRELATIVE)
		relocation.resolver = (uint64_t)rela->r_addend;
	else if (symbols && gelf_getsym(symbols, (int)GELF_R_SYM(rela->r_info), &symbol))
		relocation.name = elf_strptr(elf, names, symbol.st_name);
	return relocation;
}

static bool wanted(uint64_t info)
{
	switch (GELF_R_TYPE(info)) {
	case R_X86_64_JUMP_SLOT:
	case R_X86_64_GLOB_DAT:
	case R_X86_64_IRELATIVE:
		return true;
	default:
		return false;
	}
}

static bool read_section(struct relocations *to, Elf *elf, Elf_Scn *scn, const GElf_Shdr *head,
			 bool of_plt)
{
	Elf_Data *data = elf_getdata(scn, NULL), *symbols = NULL;
	Elf_Scn *linked = elf_getscn(elf, head->sh_link);
	GElf_Shdr linked_head;
	size_t names = 0;
	GElf_Rela rela;

	if (head->sh_link && linked && gelf_getshdr(linked, &linked_head)) {
		symbols = elf_getdata(linked, NULL);
		names = linked_head.sh_link;
	}
	for (int i = 0; data && gelf_getrela(data, i, &rela); i++) {
		struct relocation relocation;

		if (!of_plt && !wanted(rela.r_info))
			continue;
		relocation = read_relocation(elf, &rela, symbols, names);
		if (of_plt && ws_vec_push(&to->plt, relocation, NULL))
			return false;
		if (ws_vec_push(&to->all, relocation, NULL))
			return false;
	}
	return true;
}

static int by_address(const void *a, const void *b)
{
	const struct relocation *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static bool read_relocations(struct relocations *to, Elf *elf, size_t section_names)
{
	GElf_Shdr head;
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		const char *name;

		if (!gelf_getshdr(scn, &head) || head.sh_type != SHT_RELA ||
		    !(head.sh_flags & SHF_ALLOC))
			continue;
		name = elf_strptr(elf, section_names, head.sh_name);
		if (!read_section(to, elf, scn, &head, name && strcmp(name, ".rela.plt") == 0))
			return false;
	}
	ws_vec_sort(&to->all, by_address);
	return true;
}

static int32_t read_i32(const uint8_t *at)
{
	int32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* What the stub of @n bytes at @address leads to, or NULL. */
static const struct relocation *target_of(const struct relocations *from, const uint8_t *stub,
					  size_t n, uint64_t address)
{
	for (size_t i = 0; i + 6 <= n; i++) /* jmp *disp32(%rip) */
		if (stub[i] == 0xff && stub[i + 1] == 0x25) {
			struct relocation key = { .at = address + i + 6 +
							(uint64_t)(int64_t)read_i32(stub + i + 2) };

			return from->all.n ? bsearch(&key, from->all.at, from->all.n, sizeof(key),
						     by_address)
					   : NULL;
		}
	if (n >= 9 && memcmp(stub, "\xf3\x0f\x1e\xfa\x68", 5) == 0) { /* endbr64; push imm32 */
		uint32_t number = (uint32_t)read_i32(stub + 5);

		return number < from->plt.n ? &from->plt.at[number] : NULL;
	}
	return NULL;
}

static bool walk_stubs(Elf_Scn *scn, const GElf_Shdr *head, const struct relocations *relocations,
		       struct code_host_symbols *symbols, code_host_add_stub *add)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t step = head->sh_entsize == STUB_BYTES_MIN ? STUB_BYTES_MIN : STUB_BYTES_MAX;

	if (!data || !data->d_buf)
		return true;
	for (size_t at = 0; at + step <= data->d_size; at += step) {
		uint64_t address = head->sh_addr + at;
		const struct relocation *target =
			target_of(relocations, (const uint8_t *)data->d_buf + at, step, address);

		if (target && (target->resolver || (target->name && target->name[0])) &&
		    !add(symbols, address, address + step, target->name, target->resolver))
			return false;
	}
	return true;
}

static bool is_plt(const char *name)
{
	for (size_t i = 0; name && i < WS_ARRAY_LEN(plt_sections); i++)
		if (strcmp(name, plt_sections[i]) == 0)
			return true;
	return false;
}

bool code_host_plt_each(Elf *elf, struct code_host_symbols *symbols, code_host_add_stub *add)
{
	struct relocations relocations = { { 0 }, { 0 } };
	size_t section_names;
	GElf_Ehdr file;
	GElf_Shdr head;
	Elf_Scn *scn = NULL;
	bool ok;

	if (!gelf_getehdr(elf, &file) || file.e_machine != EM_X86_64 ||
	    elf_getshdrstrndx(elf, &section_names) != 0)
		return true;
	ws_vec_init(&relocations.all, RELOCATIONS_MAX);
	ws_vec_init(&relocations.plt, RELOCATIONS_MAX);
	ok = read_relocations(&relocations, elf, section_names);
	while (ok && (scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &head) && head.sh_type == SHT_PROGBITS &&
		    is_plt(elf_strptr(elf, section_names, head.sh_name)))
			ok = walk_stubs(scn, &head, &relocations, symbols, add);
	ws_vec_fini(&relocations.all);
	ws_vec_fini(&relocations.plt);
	return ok;
}
