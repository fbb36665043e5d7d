/*
 * functions_targets: what leads into the code of a file.
 *
 * Every byte that may begin a branch with a 32-bit distance is taken for one, whether it does or
 * not: a wrong one leads into the first bytes of a function about never, and then the
 * function is not patched. Branches with 8-bit distances are found by disassembly (functions_scan.c).
 */
#include "code/functions_priv.h"

#include <string.h>

static void mark(struct code_image *image, uint64_t address)
{
	uint64_t at = address - image->pub.start;

	if (address >= image->pub.start && address < image->pub.end)
		image->targets[at / 8] |= (uint8_t)(1u << at % 8);
}

static void mark_branches(struct code_image *image, const struct code_section *s)
{
	for (uint64_t i = 0; i + 5 <= s->size; i++) {
		const uint8_t *at = s->bytes + i;
		uint64_t n_op = 0;
		int32_t distance;

		if (at[0] == 0xe8 || at[0] == 0xe9)
			n_op = 1;
		else if (at[0] == 0x0f && (at[1] & 0xf0) == 0x80 && i + 6 <= s->size)
			n_op = 2;
		if (!n_op)
			continue;
		memcpy(&distance, at + n_op, 4);
		mark(image, s->start + i + n_op + 4 + (uint64_t)(int64_t)distance);
	}
}

static bool is_hook(const char *name)
{
	static const char *const names[] = { "mcount", "_mcount", "__fentry__",
					     "__cyg_profile_func_enter" };

	for (size_t i = 0; name && i < WS_ARRAY_LEN(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* Addresses in data, and the entries through which hooks are called. */
static void read_relocations(struct code_image *image, Elf_Scn *scn, const GElf_Shdr *head)
{
	Elf_Data *data = elf_getdata(scn, NULL), *symbols = NULL;
	Elf_Scn *symbols_scn = elf_getscn(image->elf, head->sh_link);
	size_t n = data && head->sh_entsize ? head->sh_size / head->sh_entsize : 0;
	GElf_Shdr symbols_head = { 0 };

	if (symbols_scn && gelf_getshdr(symbols_scn, &symbols_head))
		symbols = elf_getdata(symbols_scn, NULL);
	for (size_t i = 0; i < n; i++) {
		GElf_Rela rela;
		GElf_Sym symbol = { 0 };

		if (!gelf_getrela(data, (int)i, &rela))
			continue;
		if (symbols && GELF_R_SYM(rela.r_info))
			gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info), &symbol);
		switch (GELF_R_TYPE(rela.r_info)) {
		case R_X86_64_RELATIVE:
			mark(image, (uint64_t)rela.r_addend);
			break;
		case R_X86_64_64:
			mark(image, symbol.st_value + (uint64_t)rela.r_addend);
			break;
		case R_X86_64_GLOB_DAT:
		case R_X86_64_JUMP_SLOT:
			if (is_hook(elf_strptr(image->elf, symbols_head.sh_link, symbol.st_name)) &&
			    image->n_hooks < WS_ARRAY_LEN(image->hooks))
				image->hooks[image->n_hooks++] = rela.r_offset;
			break;
		default:
			break;
		}
	}
}

enum ws_status code_image_targets(struct code_image *image, struct ws_err *err)
{
	Elf_Scn *scn = NULL;

	(void)err;
	for (size_t i = 0; i < image->n_sections; i++)
		if (image->sections[i].has_code)
			mark_branches(image, &image->sections[i]);
	while ((scn = elf_nextscn(image->elf, scn))) {
		GElf_Shdr head;

		if (gelf_getshdr(scn, &head) && head.sh_type == SHT_RELA &&
		    head.sh_flags & SHF_ALLOC)
			read_relocations(image, scn, &head);
	}
	return WS_OK;
}
