/*
 * The folder in which an OTF2 archive is made, and how the archive gets from there to its place.
 *
 * Both names can be guessed, so neither is followed where it is a link: removing goes by the
 * folders themselves.
 */
#include "output/output_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What archives are made of in folder @name of @dir, and nothing else; then the folder. */
static void remove_folder(int dir, const char *name)
{
	static const char *const ends[] = { ".evt", ".def", ".otf2" };
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		const char *dot = strrchr(entry->d_name, '.');

		for (size_t k = 0; dot && k < WS_ARRAY_LEN(ends); k++)
			if (!strcmp(dot, ends[k]))
				unlinkat(fd, entry->d_name, 0);
	}
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	unlinkat(dir, name, AT_REMOVEDIR);
}

/* An archive that is being written: its folder @name, and the files beside that. */
void output_otf2_remove_partial(const char *partial, const char *name)
{
	int fd = open(partial, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	remove_folder(fd, name);
	close(fd);
	remove_folder(AT_FDCWD, partial);
}

enum ws_status output_otf2_make_partial(const char *partial, const char *name, struct ws_err *err)
{
	output_otf2_remove_partial(partial, name); /* what a killed run left */
	/* The library writes into a folder that is there; so it is ours before. */
	if (mkdir(partial, 0777))
		return ws_fail_errno(err, errno, "cannot create the folder '%s'", partial);
	return WS_OK;
}

enum ws_status output_otf2_place(const char *from_dir, const char *name, const char *to,
				 uint64_t *out_bytes, struct ws_err *err)
{
	static const char *const parts[] = { "", ".def", ".otf2" };
	char from[PATH_MAX * 2 + 32], target[PATH_MAX + 16];
	struct stat st;

	remove_folder(AT_FDCWD, to);
	unlink(to); /* a link or a file of this name: the folder could not take its place */
	for (size_t i = 0; i < WS_ARRAY_LEN(parts); i++) {
		snprintf(from, sizeof(from), "%s/%s%s", from_dir, name, parts[i]);
		snprintf(target, sizeof(target), "%s%s", to, parts[i]);
		if (rename(from, target))
			return ws_fail_errno(err, errno, "cannot write '%s'", target);
		if (!stat(target, &st))
			*out_bytes += (uint64_t)st.st_size;
	}
	return WS_OK;
}
