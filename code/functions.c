#include "code/functions_priv.h"

#include "base/str.h"
#include "code/host_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARENA_BYTES_MAX (4ull << 30)
#define FUNCTIONS_MAX (1u << 24)

const uint8_t *code_image_at(const struct code_image *image, uint64_t address, uint64_t n)
{
	for (size_t i = 0; i < image->n_sections; i++) {
		const struct code_section *s = &image->sections[i];

		if (address >= s->start && n <= s->size && address - s->start <= s->size - n)
			return s->bytes + (address - s->start);
	}
	return NULL;
}

bool code_image_is_target(const struct code_image *image, uint64_t address)
{
	uint64_t at = address - image->pub.start;

	return address >= image->pub.start && address < image->pub.end &&
	       image->targets[at / 8] >> at % 8 & 1;
}

/* ---- the file ---- */

static void read_build_id(struct code_image *image, Elf_Data *notes)
{
	size_t at = 0, name, desc;
	GElf_Nhdr head;

	while (notes && (at = gelf_getnote(notes, at, &head, &name, &desc)) > 0) {
		if (head.n_type != NT_GNU_BUILD_ID || head.n_namesz != 4 ||
		    head.n_descsz > CODE_BUILD_ID_MAX ||
		    memcmp((const char *)notes->d_buf + name, "GNU", 4) != 0)
			continue;
		image->pub.n_build_id = head.n_descsz;
		memcpy(image->pub.build_id, (const char *)notes->d_buf + desc, head.n_descsz);
	}
}

/* Stubs of other functions, and what the loader calls, are not functions of the program. */
static bool holds_functions(const char *name)
{
	static const char *const others[] = { ".plt",  ".plt.sec", ".plt.got",
					      ".init", ".fini",    ".iplt" };

	for (size_t i = 0; i < WS_ARRAY_LEN(others); i++)
		if (name && strcmp(name, others[i]) == 0)
			return false;
	return true;
}

static void read_sections(struct code_image *image)
{
	size_t names = 0;
	Elf_Scn *scn = NULL;

	elf_getshdrstrndx(image->elf, &names);
	while ((scn = elf_nextscn(image->elf, scn)) && image->n_sections < CODE_SECTIONS_MAX) {
		GElf_Shdr head;
		Elf_Data *data;

		if (!gelf_getshdr(scn, &head))
			continue;
		if (head.sh_type == SHT_NOTE)
			read_build_id(image, elf_getdata(scn, NULL));
		if (!(head.sh_flags & SHF_ALLOC) || head.sh_type == SHT_NOBITS)
			continue;
		data = elf_rawdata(scn, NULL);
		if (!data || !data->d_buf)
			continue;
		image->sections[image->n_sections++] = (struct code_section){
			.start = head.sh_addr,
			.size = data->d_size,
			.bytes = data->d_buf,
			.has_code = head.sh_flags & SHF_EXECINSTR,
			.has_functions =
				head.sh_flags & SHF_EXECINSTR &&
				holds_functions(elf_strptr(image->elf, names, head.sh_name)),
		};
	}
}

static enum ws_status read_segments(struct code_image *image, const char *path, struct ws_err *err)
{
	struct code_functions *pub = &image->pub;
	size_t n = 0;
	GElf_Ehdr head;

	if (!gelf_getehdr(image->elf, &head) || head.e_machine != EM_X86_64 ||
	    (head.e_type != ET_EXEC && head.e_type != ET_DYN) ||
	    elf_getphdrnum(image->elf, &n) != 0)
		return ws_fail(err, WS_E_FORMAT, "'%s' is not an executable or library for x86-64",
			       path);
	image->entry = head.e_entry;
	pub->start = UINT64_MAX;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(image->elf, (int)i, &segment))
			continue;
		pub->has_loader |= segment.p_type == PT_INTERP;
		if (segment.p_type != PT_LOAD ||
		    segment.p_vaddr + segment.p_memsz < segment.p_vaddr)
			continue;
		pub->start = WS_MIN(pub->start, segment.p_vaddr);
		pub->end = WS_MAX(pub->end, segment.p_vaddr + segment.p_memsz);
	}
	/* A distance of 32 bits crosses any module, and our bitmap stays small. */
	if (pub->start >= pub->end || pub->end - pub->start > INT32_MAX)
		return ws_fail(err, WS_E_FORMAT, "'%s' has no segments, or they are too large",
			       path);
	return WS_OK;
}

/* ---- symbols ---- */

static const struct code_section *section_of(const struct code_image *image, uint64_t start,
					     uint64_t size)
{
	for (size_t i = 0; i < image->n_sections; i++) {
		const struct code_section *s = &image->sections[i];

		if (s->has_functions && start >= s->start && size <= s->size &&
		    start - s->start <= s->size - size)
			return s;
	}
	return NULL;
}

static enum ws_status add_symbols(struct code_image *image, Elf_Scn *scn, const GElf_Shdr *head,
				  struct ws_err *err)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t n = data && head->sh_entsize ? head->sh_size / head->sh_entsize : 0;
	enum ws_status st = WS_OK;

	for (size_t i = 1; i < n && !st; i++) {
		struct code_host_function f = { .has_symbol = true, .is_entered = true };
		const char *name;
		GElf_Sym symbol;

		if (!gelf_getsym(data, (int)i, &symbol) ||
		    GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF ||
		    !symbol.st_size || !section_of(image, symbol.st_value, symbol.st_size))
			continue;
		name = elf_strptr(image->elf, head->sh_link, symbol.st_name);
		if (!name || !*name)
			continue;
		f.offset = symbol.st_value;
		f.size = symbol.st_size;
		f.binding = GELF_ST_BIND(symbol.st_info);
		f.visibility = GELF_ST_VISIBILITY(symbol.st_other);
		f.name = ws_arena_strdup(&image->arena, name);
		if (!f.name)
			return ws_fail(err, WS_E_NOMEM, "out of memory");
		st = ws_vec_push(&image->list, f, err);
	}
	return st;
}

static enum ws_status read_symbols(struct code_image *image, struct ws_err *err)
{
	Elf_Scn *scn = NULL;
	enum ws_status st = WS_OK;

	while ((scn = elf_nextscn(image->elf, scn)) && !st) {
		GElf_Shdr head;

		if (gelf_getshdr(scn, &head) &&
		    (head.sh_type == SHT_SYMTAB || head.sh_type == SHT_DYNSYM))
			st = add_symbols(image, scn, &head, err);
	}
	return st;
}

/* By offset; of aliases the one that others may know, then the one with fewer underscores. */
static int by_offset(const void *a, const void *b)
{
	const struct code_host_function *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (x->has_symbol != y->has_symbol)
		return x->has_symbol ? -1 : 1;
	if ((x->binding == STB_LOCAL) != (y->binding == STB_LOCAL))
		return x->binding == STB_LOCAL ? 1 : -1;
	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return strcmp(x->name, y->name);
}

static struct code_host_function ended_by(const struct code_host_function *f, uint64_t next)
{
	struct code_host_function shorter = *f;

	shorter.size = next - f->offset;
	shorter.overlaps = true;
	return shorter;
}

/* One function per address; one that begins inside another ends that one. */
static enum ws_status tidy(struct code_image *image, struct ws_err *err)
{
	struct code_host_function *at = image->list.at;
	size_t n = 0;

	ws_vec_sort(&image->list, by_offset);
	for (size_t i = 0; i < image->list.n; i++) {
		char *shown;

		if (n && at[n - 1].offset == at[i].offset)
			continue;
		if (n && at[n - 1].offset + at[n - 1].size > at[i].offset)
			at[n - 1] = ended_by(&at[n - 1], at[i].offset);
		at[n] = at[i];
		at[n].is_entered &= at[n].offset != image->entry;
		shown = code_host_demangle(at[n].name);
		at[n].shown = ws_arena_strdup(&image->arena, shown ? shown : at[n].name);
		free(shown);
		if (!at[n++].shown)
			return ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	image->list.n = n;
	image->pub.at = at;
	image->pub.n = n;
	return WS_OK;
}

/* ---- the interface ---- */

static enum ws_status read_image(struct code_image *image, const char *path, struct ws_err *err)
{
	enum ws_status st;

	image->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (image->fd < 0)
		return ws_fail(err, errno == ENOENT ? WS_E_NOTFOUND : WS_E_IO,
			       "cannot open '%s': %s", path, strerror(errno));
	elf_version(EV_CURRENT);
	image->elf = elf_begin(image->fd, ELF_C_READ_MMAP, NULL);
	if (!image->elf || elf_kind(image->elf) != ELF_K_ELF)
		return ws_fail(err, WS_E_FORMAT, "'%s' is not an ELF file", path);
	st = read_segments(image, path, err);
	if (st)
		return st;
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &image->disassembler) != CS_ERR_OK)
		return ws_fail(err, WS_E_NOMEM, "cannot initialize the disassembler");
	cs_option(image->disassembler, CS_OPT_DETAIL, CS_OPT_ON);
	/* What it does not know (new instructions, data) is passed over byte by byte. */
	cs_option(image->disassembler, CS_OPT_SKIPDATA, CS_OPT_ON);
	image->instruction = cs_malloc(image->disassembler);
	image->targets = calloc((image->pub.end - image->pub.start) / 8 + 1, 1);
	if (!image->instruction || !image->targets)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	read_sections(image);
	st = read_symbols(image, err);
	if (!st)
		st = code_image_frames(image, err);
	if (!st)
		st = tidy(image, err);
	if (!st)
		st = code_image_targets(image, err);
	return st;
}

enum ws_status code_functions_open(const char *path, struct code_functions **out_functions,
				   struct ws_err *err)
{
	struct code_image *image = calloc(1, sizeof(*image));
	enum ws_status st;

	if (!image)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	image->fd = -1;
	image->pub.image = image;
	ws_arena_init(&image->arena, ARENA_BYTES_MAX);
	ws_vec_init(&image->list, FUNCTIONS_MAX);
	st = read_image(image, path, err);
	if (st)
		code_functions_close(&image->pub);
	else
		*out_functions = &image->pub;
	return st;
}

void code_functions_close(struct code_functions *functions)
{
	struct code_image *image = functions ? functions->image : NULL;

	if (!image)
		return;
	if (image->instruction)
		cs_free(image->instruction, 1);
	if (image->disassembler)
		cs_close(&image->disassembler);
	if (image->elf)
		elf_end(image->elf);
	if (image->fd >= 0)
		close(image->fd);
	free(image->targets);
	ws_vec_fini(&image->list);
	ws_arena_fini(&image->arena);
	free(image);
}
