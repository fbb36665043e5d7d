/*
 * host_debug: separate debug files.
 *
 * libdwfl's own search asks a debuginfod server last. This one does not. It also
 * checks what it found: a file that is left over from an older build would give wrong names.
 */
#include "code/host_priv.h"

#include "base/path.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEBUG_ROOT "/usr/lib/debug"

/* Where .gnu_debuglink's file may be, as printf() formats of the folder and the name. */
static const char *const link_places[] = {
	"%s/%s",
	"%s/.debug/%s",
	DEBUG_ROOT "%s/%s",
};

/* The CRC that .gnu_debuglink has: reflected, polynomial 0x04c11db7. */
static bool crc_matches(int fd, uint32_t expected)
{
	uint32_t table[256], crc = ~0u;
	uint8_t bytes[16384];
	ssize_t n;
	off_t at = 0;

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
	}
	while ((n = pread(fd, bytes, sizeof(bytes), at)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			crc = table[(crc ^ bytes[i]) & 0xff] ^ crc >> 8;
		at += n;
	}
	return n == 0 && ~crc == expected;
}

/* By build id where the file has one, else by the link's CRC; 0: there is no link. */
static bool matches(int fd, Dwfl_Module *module, const uint32_t *link_crc)
{
	const unsigned char *build_id;
	const void *found;
	GElf_Addr at;
	int n = dwfl_module_build_id(module, &build_id, &at);
	Elf *elf;
	bool same;

	if (n <= 0)
		return link_crc && crc_matches(fd, *link_crc);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	same = elf && dwelf_elf_gnu_build_id(elf, &found) == n && !memcmp(found, build_id, n);
	elf_end(elf);
	return same;
}

/* A regular file other than @self, or -1. */
static int open_other(const char *path, const struct stat *self)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    (st.st_dev != self->st_dev || st.st_ino != self->st_ino))
		return fd;
	close(fd);
	return -1;
}

static int find_by_link(Dwfl_Module *module, const char *file, const char *link, uint32_t crc,
			char **out_path)
{
	char *folder = realpath(file, NULL), *path;
	struct stat self = { 0 };
	int fd = -1;

	if (!folder || strchr(link, '/') || stat(file, &self) != 0) {
		free(folder);
		return -1;
	}
	ws_path_parent(folder);
	for (size_t i = 0; fd < 0 && i < WS_ARRAY_LEN(link_places); i++) {
		path = NULL;
		if (asprintf(&path, link_places[i], folder, link) < 0)
			break;
		fd = open_other(path, &self);
		if (fd >= 0 && !matches(fd, module, &crc)) {
			close(fd);
			fd = -1;
		}
		if (fd >= 0)
			*out_path = path;
		else
			free(path);
	}
	free(folder);
	return fd;
}

int code_host_find_debug(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			 const char *file, const char *link, GElf_Word link_crc,
			 char **out_debug_file)
{
	int fd = dwfl_build_id_find_debuginfo(module, userdata, name, base, file, link, link_crc,
					      out_debug_file);

	if (fd >= 0 && matches(fd, module, NULL))
		return fd;
	if (fd >= 0) {
		close(fd);
		free(*out_debug_file);
		*out_debug_file = NULL;
	}
	return file && link ? find_by_link(module, file, link, link_crc, out_debug_file) : -1;
}
