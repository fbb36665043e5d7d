#include "launch/obstacle.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Privileges that the program has and we have not: the loader then obeys no variables. */
static bool gains_privileges(int fd)
{
	struct stat file;

	if (fstat(fd, &file) != 0)
		return false;
	return ((file.st_mode & S_ISUID) && file.st_uid != geteuid()) ||
	       ((file.st_mode & S_ISGID) && file.st_gid != getegid()) ||
	       (geteuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0);
}

/* A 64-bit program names its loader; one that names none is complete in itself. */
static bool has_loader(int fd, const Elf64_Ehdr *head)
{
	Elf64_Phdr part;

	for (unsigned i = 0; i < head->e_phnum; i++)
		if (pread(fd, &part, sizeof(part),
			  (off_t)(head->e_phoff + (uint64_t)i * head->e_phentsize)) ==
			    (ssize_t)sizeof(part) &&
		    part.p_type == PT_INTERP)
			return true;
	return false;
}

enum launch_obstacle launch_obstacle_of(const char *path)
{
	enum launch_obstacle what = LAUNCH_OBSTACLE_NONE;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *name = strrchr(path, '/');
	Elf64_Ehdr head;

	if (fd < 0)
		return what;
	if (gains_privileges(fd))
		what = LAUNCH_OBSTACLE_PRIVILEGES;
	else if (pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
		 memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
		what = LAUNCH_OBSTACLE_NONE; /* a script; what it runs is another file */
	else if (head.e_ident[EI_CLASS] != ELFCLASS64)
		what = LAUNCH_OBSTACLE_32_BIT;
	else if (!has_loader(fd, &head) && strncmp(name ? name + 1 : path, "ld", 2) != 0)
		what = LAUNCH_OBSTACLE_STATIC;
	close(fd);
	return what;
}
