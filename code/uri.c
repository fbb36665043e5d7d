/*
 * uri: where ROCr says a code object came from.
 *
 * file:///path/with%20escapes#offset=123&size=456: a part of a file (a program or a
 * library carries its code objects), all of it without the part behind '#'.
 */
#include "code/code.h"

#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCHEME "file://"
#define CODE_BYTES_MAX (1ull << 32) /* rocBLAS has the largest ones, of a few 100 MB */

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool path_of(const char *from, const char *end, char *to, size_t room)
{
	size_t n = 0;

	for (; from < end; from++) {
		char c = *from;

		if (c == '%' && end - from > 2 && hex(from[1]) >= 0 && hex(from[2]) >= 0) {
			c = (char)(hex(from[1]) << 4 | hex(from[2]));
			from += 2;
		}
		if (n + 1 >= room || !c)
			return false;
		to[n++] = c;
	}
	to[n] = 0;
	return n > 0;
}

/* The number behind "key=", decimal or 0x; false: not there. */
static bool part(const char *parts, const char *key, uint64_t *out)
{
	const char *at = parts ? strstr(parts, key) : NULL;
	char *end;

	if (!at)
		return false;
	errno = 0;
	*out = strtoull(at + strlen(key), &end, 0);
	return !errno && end != at + strlen(key);
}

enum ws_status code_read_uri(const char *uri, void **out_bytes, size_t *out_n_bytes,
			     struct ws_err *err)
{
	const char *parts = strchr(uri, '#');
	char path[PATH_MAX];
	uint64_t offset = 0, size = 0;
	struct stat about;
	size_t n = 0;
	char *bytes;
	int fd;

	if (strncmp(uri, SCHEME, strlen(SCHEME)) != 0)
		return ws_fail(err, WS_E_NOTFOUND,
			       "code object '%s' was only in the program's memory, and the capture "
			       "has no copy of it",
			       uri);
	if (!path_of(uri + strlen(SCHEME), parts ? parts : uri + strlen(uri), path, sizeof(path)))
		return ws_fail(err, WS_E_FORMAT, "code object '%s': not a file name", uri);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &about) != 0) {
		enum ws_status st =
			ws_fail(err, WS_E_IO, "code object: %s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return st;
	}
	part(parts, "offset=", &offset);
	if (!part(parts, "size=", &size))
		size = (uint64_t)about.st_size > offset ? (uint64_t)about.st_size - offset : 0;
	if (!size || size > CODE_BYTES_MAX || offset > (uint64_t)about.st_size ||
	    size > (uint64_t)about.st_size - offset) {
		close(fd);
		return ws_fail(err, WS_E_FORMAT,
			       "code object: %s changed after profiling: it is too short", path);
	}
	bytes = malloc(size);
	while (bytes && n < size) {
		ssize_t got = pread(fd, bytes + n, size - n, (off_t)(offset + n));

		if (got <= 0)
			break;
		n += (size_t)got;
	}
	close(fd);
	if (!bytes || n < size) {
		free(bytes);
		return ws_fail(err, bytes ? WS_E_IO : WS_E_NOMEM, "code object: %s: %s", path,
			       bytes ? "could not be read" : "out of memory");
	}
	*out_bytes = bytes;
	*out_n_bytes = n;
	return WS_OK;
}
