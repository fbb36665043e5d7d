/*
 * host_starts: where functions begin, for files without symbols.
 *
 * The table that is searched when an exception is thrown (.eh_frame_hdr) has the address of every
 * function, and no tool strips it. So addresses in a function that has no name can still
 * be counted together. The only encoding that linkers write is read.
 */
#include "code/host_priv.h"

#include <dwarf.h>
#include <gelf.h>
#include <string.h>

#define TABLE_ENCODING (DW_EH_PE_datarel | DW_EH_PE_sdata4)
#define HEAD_BYTES 12u /* version, three encodings, pointer, number of entries */
#define ENTRY_BYTES 8u /* start of the function, place of its rules; both from the head */

static int32_t read_i32(const uint8_t *at)
{
	int32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static void read_table(struct code_host_starts *starts, Elf *elf, const GElf_Phdr *part)
{
	Elf_Data *data =
		elf_getdata_rawchunk(elf, (int64_t)part->p_offset, part->p_filesz, ELF_T_BYTE);
	const uint8_t *head = data ? data->d_buf : NULL;
	size_t n;

	if (!head || data->d_size < HEAD_BYTES || head[0] != 1 ||
	    (head[1] & 0x0f) != DW_EH_PE_sdata4 || head[2] != DW_EH_PE_udata4 ||
	    head[3] != TABLE_ENCODING)
		return;
	n = (uint32_t)read_i32(head + 8);
	if (n > (data->d_size - HEAD_BYTES) / ENTRY_BYTES)
		return;
	starts->base = part->p_vaddr;
	starts->table = head + HEAD_BYTES;
	starts->n = n;
}

void code_host_starts_read(struct code_host_starts *starts, Elf *elf)
{
	GElf_Phdr part;
	GElf_Ehdr file;
	size_t n;

	*starts = (struct code_host_starts){ .low = UINT64_MAX };
	if (!gelf_getehdr(elf, &file) || file.e_ident[EI_DATA] != ELFDATA2LSB ||
	    elf_getphdrnum(elf, &n) != 0)
		return;
	for (size_t i = 0; i < n && gelf_getphdr(elf, (int)i, &part); i++) {
		if (part.p_type == PT_GNU_EH_FRAME)
			read_table(starts, elf, &part);
		if (part.p_type == PT_LOAD && part.p_flags & PF_X &&
		    part.p_vaddr + part.p_memsz > part.p_vaddr) {
			starts->low = WS_MIN(starts->low, part.p_vaddr);
			starts->high = WS_MAX(starts->high, part.p_vaddr + part.p_memsz);
		}
	}
}

static uint64_t start_of(const struct code_host_starts *starts, size_t i)
{
	return starts->base + (uint64_t)(int64_t)read_i32(starts->table + i * ENTRY_BYTES);
}

uint64_t code_host_start_at(const struct code_host_starts *starts, uint64_t offset)
{
	size_t low = 0, high = starts->n;

	if (offset < starts->low || offset >= starts->high)
		return 0;
	while (low < high) { /* the first function behind offset */
		size_t mid = low + (high - low) / 2;

		if (start_of(starts, mid) <= offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? start_of(starts, low - 1) : 0;
}
