#include "codecache/store.h"

#include "base/file.h"
#include "base/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAGIC "wavescope code 1"
#define HEAD_BYTES (sizeof(MAGIC) - 1 + CC_DIGEST_BYTES)
#define NAME_CHARS (2 * CC_DIGEST_BYTES)
#define UNFINISHED "new-"   /* the beginning of names of files that are being written */
#define ABANDONED_S 3600    /* by a process that was killed */
#define TOUCH_AFTER_S 86400 /* an entry is marked as used once a day */

enum ws_status cc_store_open(struct cc_store *store, const char *folder, struct ws_err *err)
{
	char cache[PATH_MAX];
	enum ws_status st = WS_OK;

	store->max_bytes = CC_STORE_MAX_BYTES;
	if (folder && folder[0] != '/')
		return ws_fail(err, WS_E_USAGE,
			       CC_STORE_VARIABLE " is '%s': give 'off' or an absolute path",
			       folder);
	if (folder) {
		st = ws_path_join(folder, "", store->folder, err);
	} else {
		st = ws_dir_cache(cache, err);
		if (!st)
			st = ws_path_join(cache, "code", store->folder, err);
	}
	/* room for a name behind it */
	if (!st && strlen(store->folder) + NAME_CHARS + 2 > PATH_MAX)
		st = ws_fail(err, WS_E_LIMIT, "'%.80s...' is too long for a path", store->folder);
	return st ? st : ws_dir_private(store->folder, err);
}

static void entry_path(const struct cc_store *store, const uint8_t key[CC_DIGEST_BYTES],
		       char out[PATH_MAX])
{
	char *to = stpcpy(stpcpy(out, store->folder), "/");

	for (int i = 0; i < CC_DIGEST_BYTES; i++)
		to += sprintf(to, "%02x", key[i]);
}

/* ---- reading ---- */

static bool read_all(int fd, size_t n, struct ws_buf *out)
{
	char *to = ws_buf_room(out, n);

	while (to && n) {
		ssize_t part = read(fd, to, n);

		if (part < 0 && errno == EINTR)
			continue;
		if (part <= 0)
			return false;
		to += part;
		n -= (size_t)part;
		out->n += (size_t)part;
	}
	return to != NULL;
}

static void check_of(const void *bytes, size_t n, uint8_t out[CC_DIGEST_BYTES])
{
	struct cc_digest digest;

	cc_digest_init(&digest);
	cc_digest_add(&digest, bytes, n);
	cc_digest_end(&digest, out);
}

static bool is_whole(const struct ws_buf *all, const uint8_t key[CC_DIGEST_BYTES])
{
	uint8_t check[CC_DIGEST_BYTES];

	if (all->n < HEAD_BYTES + CC_DIGEST_BYTES ||
	    memcmp(all->at, MAGIC, sizeof(MAGIC) - 1) != 0 ||
	    memcmp(all->at + sizeof(MAGIC) - 1, key, CC_DIGEST_BYTES) != 0)
		return false;
	check_of(all->at, all->n - CC_DIGEST_BYTES, check);
	return memcmp(all->at + all->n - CC_DIGEST_BYTES, check, CC_DIGEST_BYTES) == 0;
}

bool cc_store_get(const struct cc_store *store, const uint8_t key[CC_DIGEST_BYTES],
		  struct ws_buf *out_bytes)
{
	char path[PATH_MAX];
	struct ws_buf all;
	struct stat file;
	bool found = false;
	int fd;

	entry_path(store, key, path);
	/* NONBLOCK: a pipe of that name is refused, not waited for. */
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	ws_buf_init(&all, HEAD_BYTES + CC_STORE_ENTRY_MAX + CC_DIGEST_BYTES);
	if (!fstat(fd, &file) && S_ISREG(file.st_mode) && file.st_uid == geteuid() &&
	    read_all(fd, (size_t)file.st_size, &all) && is_whole(&all, key)) {
		ws_buf_add_n(out_bytes, all.at + HEAD_BYTES, all.n - HEAD_BYTES - CC_DIGEST_BYTES);
		found = !ws_buf_status(out_bytes, NULL);
		if (time(NULL) - file.st_mtime > TOUCH_AFTER_S)
			futimens(fd, NULL); /* trim() removes the oldest */
	}
	ws_buf_fini(&all);
	close(fd);
	return found;
}

/* ---- writing ---- */

struct file_name {
	char name[NAME_CHARS + 1];
	uint64_t n_bytes;
	struct timespec used;
};

static int by_use(const void *a, const void *b)
{
	const struct timespec *x = &((const struct file_name *)a)->used,
			      *y = &((const struct file_name *)b)->used;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

/* Entries, and what a killed process left; other files are not ours. */
static bool is_ours(const char *name)
{
	return strncmp(name, UNFINISHED, strlen(UNFINISHED)) == 0
		       ? strlen(name) <= NAME_CHARS
		       : strlen(name) == NAME_CHARS &&
				 strspn(name, "0123456789abcdef") == NAME_CHARS;
}

static size_t list_files(DIR *dir, struct file_name **out, uint64_t *out_bytes)
{
	struct file_name *files = NULL;
	size_t n = 0, n_max = 0;
	time_t now = time(NULL);
	struct dirent *entry;
	struct stat about;

	*out_bytes = 0;
	while ((entry = readdir(dir))) {
		if (!is_ours(entry->d_name) ||
		    fstatat(dirfd(dir), entry->d_name, &about, AT_SYMLINK_NOFOLLOW))
			continue;
		if (entry->d_name[0] == UNFINISHED[0] && now - about.st_mtime > ABANDONED_S)
			unlinkat(dirfd(dir), entry->d_name, 0);
		if (entry->d_name[0] == UNFINISHED[0])
			continue;
		if (n == n_max) {
			size_t more = n_max ? 2 * n_max : 256;
			struct file_name *grown = realloc(files, more * sizeof(*files));

			if (!grown)
				break;
			files = grown;
			n_max = more;
		}
		strcpy(files[n].name, entry->d_name);
		files[n].n_bytes = (uint64_t)about.st_size;
		files[n].used = about.st_mtim;
		*out_bytes += files[n++].n_bytes;
	}
	*out = files;
	return n;
}

/* A quarter more than needed, so that this is not done for every file of a full cache. */
static void trim(const struct cc_store *store)
{
	DIR *dir = opendir(store->folder);
	struct file_name *files;
	uint64_t n_bytes;
	size_t n;

	if (!dir)
		return;
	n = list_files(dir, &files, &n_bytes);
	if (n_bytes > store->max_bytes) {
		qsort(files, n, sizeof(*files), by_use);
		for (size_t i = 0; i < n && n_bytes > store->max_bytes / 4 * 3; i++)
			if (unlinkat(dirfd(dir), files[i].name, 0) == 0)
				n_bytes -= files[i].n_bytes;
	}
	free(files);
	closedir(dir);
}

static bool write_all(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t part = write(fd, bytes, n);

		if (part < 0 && errno == EINTR)
			continue;
		if (part <= 0)
			return false;
		bytes += part;
		n -= (size_t)part;
	}
	return true;
}

/* The program may have a limit on the size of its files, which kills who ignores it. */
static bool write_quietly(int fd, const char *bytes, size_t n)
{
	sigset_t limit, pending, before;
	bool was_pending, good;

	sigemptyset(&limit);
	sigaddset(&limit, SIGXFSZ);
	sigpending(&pending);
	was_pending = sigismember(&pending, SIGXFSZ) == 1;
	pthread_sigmask(SIG_BLOCK, &limit, &before);
	good = write_all(fd, bytes, n);
	if (!good && !was_pending)
		sigtimedwait(&limit, NULL, &(struct timespec){ 0, 0 });
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return good;
}

void cc_store_put(const struct cc_store *store, const uint8_t key[CC_DIGEST_BYTES],
		  const void *bytes, size_t n)
{
	char path[PATH_MAX], unfinished[PATH_MAX];
	uint8_t check[CC_DIGEST_BYTES];
	struct ws_buf all;
	int fd = -1;

	if (n > CC_STORE_ENTRY_MAX)
		return;
	ws_buf_init(&all, HEAD_BYTES + CC_STORE_ENTRY_MAX + CC_DIGEST_BYTES);
	ws_buf_add(&all, MAGIC);
	ws_buf_add_n(&all, key, CC_DIGEST_BYTES);
	ws_buf_add_n(&all, bytes, n);
	check_of(all.at, all.n, check);
	ws_buf_add_n(&all, check, sizeof(check));
	entry_path(store, key, path);
	stpcpy(stpcpy(unfinished, store->folder), "/" UNFINISHED "XXXXXX");
	if (!ws_buf_status(&all, NULL))
		fd = mkostemp(unfinished, O_CLOEXEC);
	if (fd >= 0) {
		bool good = write_quietly(fd, all.at, all.n);

		good &= close(fd) == 0;
		if (!good || rename(unfinished, path) != 0)
			unlink(unfinished);
		else
			trim(store);
	}
	ws_buf_fini(&all);
}
