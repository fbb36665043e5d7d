/* The folder of files: found, or made and moved into place when it is complete. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "softgpu/device/log.h"
#include "softgpu/kfd/sysfs.h"

/* FNV-1a: tells descriptions apart; nobody gains from making two alike, the folder is the
 * user's own. */
static uint64_t hash_of(const struct sg_sysfs *tree)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < tree->n; i++)
		hash = (hash ^ (uint8_t)tree->bytes[i]) * 0x100000001b3ull;
	return hash;
}

/* Nobody else may have put it there, or write to it. */
static bool is_ours(const char *folder)
{
	struct stat st;

	return !lstat(folder, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & 077);
}

static bool make_parents(int folder, char *path)
{
	for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		int failed;

		*slash = '\0';
		failed = mkdirat(folder, path, 0700) && errno != EEXIST;
		*slash = '/';
		if (failed)
			return false;
	}
	return true;
}

/* Bytes from hexadecimal digits, in place. Returns how many. */
static size_t decode(char *digits)
{
	size_t n = strlen(digits) / 2;

	for (size_t i = 0; i < n; i++) {
		char byte[3] = { digits[2 * i], digits[2 * i + 1], '\0' };

		digits[i] = (char)strtoul(byte, NULL, 16);
	}
	return n;
}

static bool write_file(int folder, const char *path, const char *text, size_t n)
{
	int fd = openat(folder, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0400);
	bool ok;

	if (fd < 0)
		return false;
	ok = write(fd, text, n) == (ssize_t)n;
	close(fd);
	return ok;
}

static bool write_bytes(int folder, const char *path, const char *digits)
{
	char *bytes = strdup(digits);
	bool ok = bytes && write_file(folder, path, bytes, decode(bytes));

	free(bytes);
	return ok;
}

static bool fill(const struct sg_sysfs *tree, const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	bool ok = fd >= 0;

	for (const char *at = tree->bytes; ok && at < tree->bytes + tree->n;) {
		const char *type = at + strlen(at) + 1, *text = type + 2;
		char path[512];

		snprintf(path, sizeof(path), "%s", at);
		ok = make_parents(fd, path) &&
		     (*type == 'l'   ? !symlinkat(text, fd, path)
		      : *type == 'd' ? !mkdirat(fd, path, 0700)
		      : *type == 'x' ? write_bytes(fd, path, text)
				     : write_file(fd, path, text, strlen(text)));
		at = text + strlen(text) + 1;
	}
	if (fd >= 0)
		close(fd);
	return ok;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	return remove(path);
}

/* Made beside it and renamed: a folder that exists is complete. Two processes may do this at
 * once. */
static bool make(const struct sg_sysfs *tree, const char *folder)
{
	char part[SG_SYSFS_PATH + 8];

	snprintf(part, sizeof(part), "%s.XXXXXX", folder);
	if (!mkdtemp(part))
		return false;
	if (fill(tree, part) && !rename(part, folder))
		return true;
	nftw(part, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return is_ours(folder);
}

bool sg_sysfs_folder(const struct sg_sysfs *tree, char out_folder[SG_SYSFS_PATH])
{
	const char *parents[] = { getenv("XDG_RUNTIME_DIR"), "/dev/shm", getenv("TMPDIR"), "/tmp" };
	uint64_t hash = hash_of(tree);

	for (size_t i = 0; !tree->failed && i < sizeof(parents) / sizeof(parents[0]); i++) {
		if (!parents[i] || parents[i][0] != '/' || strlen(parents[i]) > SG_SYSFS_PATH - 64)
			continue;
		snprintf(out_folder, SG_SYSFS_PATH, "%s/wavescope-gpus-%u-%016llx", parents[i],
			 geteuid(), (unsigned long long)hash);
		if (is_ours(out_folder) || make(tree, out_folder))
			return true;
	}
	sg_gpu_log(SG_GPU_LOG_ERROR,
		   "cannot describe the GPUs: no folder can be made in "
		   "$XDG_RUNTIME_DIR, /dev/shm, $TMPDIR or /tmp: %s",
		   tree->failed ? "out of memory" : strerror(errno));
	return false;
}
