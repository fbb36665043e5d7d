#include "launch/elf_symbol.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
	const uint8_t *bytes;
	size_t n_bytes;
};

/* @n_bytes at @at, or NULL when the file does not have them. */
static const void *part(const struct file *file, uint64_t at, uint64_t n_bytes)
{
	if (at > file->n_bytes || n_bytes > file->n_bytes - at)
		return NULL;
	return file->bytes + at;
}

/* Files keep their tables at any offset: copy, do not point. */
static bool section(const struct file *file, const Elf64_Ehdr *head, uint32_t i, Elf64_Shdr *out)
{
	const void *at = i < head->e_shnum ? part(file, head->e_shoff + (uint64_t)i * sizeof(*out),
						  sizeof(*out))
					   : NULL;

	if (at)
		memcpy(out, at, sizeof(*out));
	return at != NULL;
}

static void match(const struct file *file, const Elf64_Shdr *strings, const Elf64_Sym *symbol,
		  struct launch_elf_symbol *symbols, size_t n_symbols)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);
	const char *name;
	uint64_t room;

	if (symbol->st_shndx == SHN_UNDEF || type != STT_FUNC ||
	    symbol->st_name >= strings->sh_size)
		return;
	room = strings->sh_size - symbol->st_name;
	name = part(file, strings->sh_offset + symbol->st_name, room);
	if (!name || !memchr(name, 0, room))
		return;
	for (size_t i = 0; i < n_symbols; i++)
		if (strcmp(symbols[i].name, name) == 0)
			symbols[i].offset = symbol->st_value;
}

bool launch_elf_symbols_in(const uint8_t *bytes, size_t n_bytes, struct launch_elf_symbol *symbols,
			   size_t n_symbols)
{
	struct file file = { bytes, n_bytes };
	Elf64_Shdr table, strings;
	Elf64_Ehdr head;

	if (n_bytes < sizeof(head))
		return false;
	memcpy(&head, bytes, sizeof(head));
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_ident[EI_DATA] != ELFDATA2LSB || head.e_shentsize != sizeof(table))
		return false;
	for (uint32_t i = 0; section(&file, &head, i, &table); i++) {
		if (table.sh_type != SHT_DYNSYM || table.sh_entsize != sizeof(Elf64_Sym) ||
		    !section(&file, &head, table.sh_link, &strings) ||
		    !part(&file, table.sh_offset, table.sh_size))
			continue;
		for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size;
		     at += sizeof(Elf64_Sym)) {
			Elf64_Sym symbol;

			memcpy(&symbol, bytes + table.sh_offset + at, sizeof(symbol));
			match(&file, &strings, &symbol, symbols, n_symbols);
		}
	}
	return true;
}

enum ws_status launch_elf_symbols(const char *path, struct launch_elf_symbol *symbols,
				  size_t n_symbols, struct ws_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *bytes = MAP_FAILED;
	struct stat st;
	bool read;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0)
		bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED) {
		int why = errno;

		if (fd >= 0)
			close(fd);
		return ws_fail_errno(err, why, "cannot read '%s'", path);
	}
	close(fd);
	read = launch_elf_symbols_in(bytes, (size_t)st.st_size, symbols, n_symbols);
	munmap(bytes, (size_t)st.st_size);
	return read ? WS_OK : ws_fail(err, WS_E_FORMAT, "'%s' is not a 64-bit library", path);
}
