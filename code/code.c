#include "code/code.h"

#include "base/util.h"
#include "softgpu/isa/isa.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define INSN_TEXT_MAX 256u

struct segment {
	uint64_t address, n_bytes;
	const uint8_t *bytes;
};

struct code_code {
	uint8_t *elf;
	size_t n_elf;
	const struct target *target;
	struct segment *segments; /* executable ones */
	size_t n_segments;
	struct code_function *functions; /* by offset */
	size_t n_functions;
	struct code_lines *lines; /* NULL: none */
	char text[INSN_TEXT_MAX];
};

/* Machine numbers of AMDGPU's ELF flags (LLVM's AMDGPU usage guide), and our decoder's. */
#define EF_AMDGPU_MACH 0xffu
static const struct target {
	uint32_t mach;
	const char *name;
	int isa; /* enum sg_isa_target; 0: no decoder here */
} targets[] = {
	{ 0x30, "gfx908", SG_ISA_GFX908 },
	{ 0x3f, "gfx90a", SG_ISA_GFX90A },
	{ 0x40, "gfx940", SG_ISA_GFX942 }, /* the same instructions */
	{ 0x4b, "gfx941", SG_ISA_GFX942 },
	{ 0x4c, "gfx942", SG_ISA_GFX942 },
	{ 0x4f, "gfx950", SG_ISA_GFX950 },
	{ 0x5f, "gfx9-4-generic", SG_ISA_GFX942 }, /* what both have */
};

/* ---- the ELF file; nothing in it is believed ---- */

static bool inside(const struct code_code *code, uint64_t at, uint64_t n_bytes)
{
	return at <= code->n_elf && n_bytes <= code->n_elf - at;
}

static bool is_code_object(const struct code_code *code, Elf64_Ehdr *out_head)
{
	if (!inside(code, 0, sizeof(*out_head)))
		return false;
	memcpy(out_head, code->elf, sizeof(*out_head));
	return memcmp(out_head->e_ident, ELFMAG, SELFMAG) == 0 &&
	       out_head->e_ident[EI_CLASS] == ELFCLASS64 &&
	       out_head->e_ident[EI_DATA] == ELFDATA2LSB && out_head->e_machine == EM_AMDGPU;
}

static enum ws_status take_segments(struct code_code *code, const Elf64_Ehdr *head)
{
	uint64_t n_bytes = (uint64_t)head->e_phnum * sizeof(Elf64_Phdr);

	if (head->e_phentsize != sizeof(Elf64_Phdr) || !inside(code, head->e_phoff, n_bytes))
		return WS_OK;
	code->segments = calloc(head->e_phnum + 1u, sizeof(*code->segments));
	if (!code->segments)
		return WS_E_NOMEM;
	for (unsigned i = 0; i < head->e_phnum; i++) {
		Elf64_Phdr seg;

		memcpy(&seg, code->elf + head->e_phoff + i * sizeof(seg), sizeof(seg));
		if (seg.p_type != PT_LOAD || !(seg.p_flags & PF_X) ||
		    !inside(code, seg.p_offset, seg.p_filesz))
			continue;
		code->segments[code->n_segments++] = (struct segment){
			.address = seg.p_vaddr,
			.n_bytes = seg.p_filesz,
			.bytes = code->elf + seg.p_offset,
		};
	}
	return WS_OK;
}

static const char *text_in(const struct code_code *code, const Elf64_Shdr *strings, uint32_t at)
{
	if (at >= strings->sh_size || !inside(code, strings->sh_offset, strings->sh_size) ||
	    !memchr(code->elf + strings->sh_offset + at, 0, strings->sh_size - at))
		return NULL;
	return (const char *)code->elf + strings->sh_offset + at;
}

static int by_offset(const void *a, const void *b)
{
	const struct code_function *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

static bool read_section(const struct code_code *code, const Elf64_Ehdr *head, uint32_t i,
			 Elf64_Shdr *out)
{
	if (i >= head->e_shnum || head->e_shentsize != sizeof(*out) ||
	    !inside(code, head->e_shoff, (uint64_t)head->e_shnum * sizeof(*out)))
		return false;
	memcpy(out, code->elf + head->e_shoff + i * sizeof(*out), sizeof(*out));
	return true;
}

/* Stripped programs keep .dynsym, which has the kernels; .symtab has every function. */
static enum ws_status take_functions(struct code_code *code, const Elf64_Ehdr *head)
{
	Elf64_Shdr table = { 0 }, strings, s;
	bool found = false;
	uint64_t n;

	for (uint32_t i = 0; read_section(code, head, i, &s); i++) {
		if (s.sh_type == SHT_SYMTAB || (s.sh_type == SHT_DYNSYM && !found)) {
			table = s;
			found = true;
		}
	}
	if (!found || !read_section(code, head, table.sh_link, &strings) ||
	    !inside(code, table.sh_offset, table.sh_size))
		return WS_OK;
	n = table.sh_size / sizeof(Elf64_Sym);
	code->functions = calloc(n + 1, sizeof(*code->functions));
	if (!code->functions)
		return WS_E_NOMEM;
	for (uint64_t i = 0; i < n; i++) {
		const char *name;
		Elf64_Sym sym;

		memcpy(&sym, code->elf + table.sh_offset + i * sizeof(sym), sizeof(sym));
		name = text_in(code, &strings, sym.st_name);
		if (ELF64_ST_TYPE(sym.st_info) == STT_FUNC && sym.st_size && name)
			code->functions[code->n_functions++] = (struct code_function){
				.name = name, .offset = sym.st_value, .n_bytes = sym.st_size
			};
	}
	qsort(code->functions, code->n_functions, sizeof(*code->functions), by_offset);
	return WS_OK;
}

enum ws_status code_load(const char *uri, const void *kept, size_t kept_bytes,
			 struct code_code **out_code, struct ws_err *err)
{
	struct code_code *code = calloc(1, sizeof(*code));
	enum ws_status st = code ? WS_OK : WS_E_NOMEM;
	void *bytes = NULL;
	Elf64_Ehdr head;

	if (!st && kept) {
		bytes = malloc(kept_bytes ? kept_bytes : 1);
		st = bytes ? WS_OK : WS_E_NOMEM;
		if (bytes)
			memcpy(bytes, kept, kept_bytes);
	}
	if (st)
		goto no_memory;
	code->n_elf = kept_bytes;
	if (!kept)
		st = code_read_uri(uri, &bytes, &code->n_elf, err);
	code->elf = bytes;
	if (!st && !is_code_object(code, &head))
		st = ws_fail(err, WS_E_FORMAT, "'%s' is not an AMD GPU code object", uri);
	if (st) {
		code_unload(code);
		return st;
	}
	for (size_t i = 0; i < WS_ARRAY_LEN(targets); i++)
		if (targets[i].mach == (head.e_flags & EF_AMDGPU_MACH))
			code->target = &targets[i];
	st = take_segments(code, &head);
	if (!st)
		st = take_functions(code, &head);
	if (st)
		goto no_memory;
	code->lines = code_lines_create(code->elf, code->n_elf);
	*out_code = code;
	return WS_OK;
no_memory:
	code_unload(code);
	return ws_fail(err, WS_E_NOMEM, "code object '%s'", uri);
}

void code_unload(struct code_code *code)
{
	if (!code)
		return;
	code_lines_destroy(code->lines);
	free(code->segments);
	free(code->functions);
	free(code->elf);
	free(code);
}

const char *code_target(const struct code_code *code)
{
	return code->target ? code->target->name : "";
}

/* ---- instructions ---- */

bool code_at(struct code_code *code, uint64_t offset, struct code_insn *out_insn)
{
	uint32_t words[SG_ISA_MAX_WORDS];
	struct sg_decoded_insn insn;

	if (!code->target || !code->target->isa)
		return false;
	for (size_t i = 0; i < code->n_segments; i++) {
		const struct segment *seg = &code->segments[i];
		uint64_t at = offset - seg->address, left;

		if (offset < seg->address || at >= seg->n_bytes || at % 4)
			continue;
		left = (seg->n_bytes - at) / 4;
		if (left > SG_ISA_MAX_WORDS)
			left = SG_ISA_MAX_WORDS;
		memcpy(words, seg->bytes + at, left * 4);
		if (!sg_isa_decode((enum sg_isa_target)code->target->isa, words, left, &insn))
			return false;
		sg_isa_print((enum sg_isa_target)code->target->isa, &insn, offset, code->text,
			     sizeof(code->text));
		out_insn->text = code->text;
		out_insn->n_bytes = insn.n_dwords * 4u;
		out_insn->file = NULL;
		out_insn->line = 0;
		out_insn->n_callers = 0;
		if (code_line(code->lines, offset, &out_insn->file, &out_insn->line))
			out_insn->n_callers = code_callers(code->lines, offset, out_insn->callers,
							   CODE_CALLERS_MAX);
		return true;
	}
	return false;
}

bool code_function(const struct code_code *code, uint64_t offset, struct code_function *out)
{
	size_t low = 0, high = code->n_functions;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (code->functions[mid].offset <= offset)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || offset - code->functions[low - 1].offset >= code->functions[low - 1].n_bytes)
		return false;
	*out = code->functions[low - 1];
	return true;
}
