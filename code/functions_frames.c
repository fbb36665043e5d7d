/*
 * functions_frames: functions by the unwind information of a file.
 *
 * Each function has an entry, also in files without symbols, but so have parts of
 * functions: compilers put code that is rarely executed elsewhere and jump to it. At the beginning
 * of a function the return address is on top of the stack, so its entry has no rule there. Entries
 * that begin with a rule are no functions.
 */
#include "code/functions_priv.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <string.h>

#define PCREL_SDATA4 (DW_EH_PE_pcrel | DW_EH_PE_sdata4) /* what linkers write */
#define FRAMES_MAX (1u << 24)

struct frame {
	uint64_t start, size;
	bool is_entered;
};

struct frames {
	WS_VEC(struct frame) list;
	const uint8_t *bytes;
	size_t n_bytes;
	uint64_t address;
};

static bool skip_uleb(const uint8_t **at, const uint8_t *end, uint64_t *out_value)
{
	uint64_t value = 0;

	for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
		uint8_t byte = *(*at)++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*out_value = value;
			return true;
		}
	}
	return false;
}

/* Bytes of a pointer with this encoding; 0: not fixed. */
static size_t pointer_bytes(uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		return 2;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		return 4;
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return 8;
	default:
		return 0;
	}
}

/* Are the addresses of entries with this common part encoded as usual, in ordinary frames? */
static bool is_usual(const Dwarf_CIE *cie)
{
	const uint8_t *data = cie->augmentation_data;
	const uint8_t *end = data ? data + cie->augmentation_data_size : NULL;
	const char *letter = cie->augmentation;

	if (!letter || *letter != 'z' || !data)
		return false;
	for (letter++; *letter && data < end; letter++) {
		switch (*letter) {
		case 'R':
			return *data == PCREL_SDATA4;
		case 'L':
			data++;
			break;
		case 'P':
			if (!pointer_bytes(*data))
				return false;
			data += 1 + pointer_bytes(*data);
			break;
		default:
			return false; /* signal frames ('S') among them */
		}
	}
	return false;
}

static bool begins_without_rule(const uint8_t *at, const uint8_t *end)
{
	while (at < end && *at == DW_CFA_nop)
		at++;
	return at == end || (*at & 0xc0) == DW_CFA_advance_loc || *at == DW_CFA_advance_loc1 ||
	       *at == DW_CFA_advance_loc2 || *at == DW_CFA_advance_loc4;
}

static bool read_frame(const struct frames *frames, const Dwarf_FDE *fde, struct frame *out_frame)
{
	const uint8_t *at = fde->start, *end = fde->end;
	uint64_t n_augmentation;
	int32_t distance, size;

	if (end - at < 8)
		return false;
	memcpy(&distance, at, 4);
	memcpy(&size, at + 4, 4);
	out_frame->start = frames->address + (uint64_t)(at - frames->bytes) + (uint64_t)distance;
	out_frame->size = (uint32_t)size;
	at += 8;
	if (!skip_uleb(&at, end, &n_augmentation) || n_augmentation > (uint64_t)(end - at))
		return false;
	out_frame->is_entered = begins_without_rule(at + n_augmentation, end);
	return out_frame->size != 0;
}

static enum ws_status read_frames(struct code_image *image, Elf_Data *data, struct frames *frames,
				  struct ws_err *err)
{
	const unsigned char *ident = (const unsigned char *)elf_getident(image->elf, NULL);
	Dwarf_Off at = 0, next, usual_at = 0, other_at = 0;
	enum ws_status st = WS_OK;
	Dwarf_CFI_Entry entry;
	int more;

	/* -1 with another `next` is an entry that cannot be read; the others can. */
	for (; !st && (more = dwarf_next_cfi(ident, data, true, at, &next, &entry)) != 1;
	     at = next) {
		struct frame frame;

		if (more < 0 && next <= at)
			break;
		if (more < 0 || next <= at)
			continue;
		if (dwarf_cfi_cie_p(&entry)) {
			*(is_usual(&entry.cie) ? &usual_at : &other_at) = at + 1;
			continue;
		}
		/* Entries name their common part; files have few, so the last ones of a kind do. */
		if (entry.fde.CIE_pointer + 1 == other_at || !usual_at)
			continue;
		if (read_frame(frames, &entry.fde, &frame))
			st = ws_vec_push(&frames->list, frame, err);
	}
	return st;
}

static int by_start(const void *a, const void *b)
{
	const struct frame *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int by_offset(const void *a, const void *b)
{
	const struct code_host_function *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static bool holds_functions(const struct code_image *image, const struct frame *frame)
{
	for (size_t i = 0; i < image->n_sections; i++) {
		const struct code_section *s = &image->sections[i];

		if (s->has_functions && frame->start >= s->start && frame->size <= s->size &&
		    frame->start - s->start <= s->size - frame->size)
			return true;
	}
	return false;
}

static enum ws_status add_unnamed(struct code_image *image, const struct frame *frame,
				  struct ws_err *err)
{
	struct code_host_function f = {
		.offset = frame->start,
		.size = frame->size,
		.is_entered = true,
		.name = ws_arena_printf(&image->arena, "targ%llx",
					(unsigned long long)frame->start),
	};

	return f.name ? ws_vec_push(&image->list, f, err)
		      : ws_fail(err, WS_E_NOMEM, "out of memory");
}

/* What the symbols and the frames, both sorted, have in common and what not. */
static enum ws_status merge(struct code_image *image, const struct frames *frames,
			    struct ws_err *err)
{
	size_t n_symbols = image->list.n, next = 0;
	uint64_t reach = 0;
	enum ws_status st = WS_OK;

	for (size_t i = 0; i < frames->list.n && !st; i++) {
		const struct frame *frame = &frames->list.at[i];
		bool named = false;

		for (; next < n_symbols && image->list.at[next].offset <= frame->start; next++) {
			struct code_host_function *f = &image->list.at[next];

			reach = WS_MAX(reach, f->offset + f->size);
			if (f->offset == frame->start) {
				f->is_entered = frame->is_entered;
				named = true;
			}
		}
		if (!named && frame->is_entered && frame->start >= reach &&
		    holds_functions(image, frame))
			st = add_unnamed(image, frame, err);
	}
	return st;
}

enum ws_status code_image_frames(struct code_image *image, struct ws_err *err)
{
	struct frames frames = { 0 };
	enum ws_status st = WS_OK;
	size_t names = 0;
	Elf_Scn *scn = NULL;

	ws_vec_init(&frames.list, FRAMES_MAX);
	elf_getshdrstrndx(image->elf, &names);
	while ((scn = elf_nextscn(image->elf, scn)) && !st) {
		Elf_Data *data;
		GElf_Shdr head;
		const char *name;

		if (!gelf_getshdr(scn, &head) || head.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(image->elf, names, head.sh_name);
		if (!name || strcmp(name, ".eh_frame") != 0)
			continue;
		data = elf_rawdata(scn, NULL);
		if (!data || !data->d_buf)
			continue;
		frames.bytes = data->d_buf;
		frames.n_bytes = data->d_size;
		frames.address = head.sh_addr;
		st = read_frames(image, data, &frames, err);
	}
	ws_vec_sort(&frames.list, by_start);
	ws_vec_sort(&image->list, by_offset);
	if (!st)
		st = merge(image, &frames, err);
	ws_vec_fini(&frames.list);
	return st;
}
