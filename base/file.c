#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum ws_status ws_file_read(const char *path, struct ws_buf *out, struct ws_err *err)
{
	enum ws_status st = WS_OK;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return ws_fail_errno(err, errno, "cannot open '%s'", path);
	for (;;) {
		/* Files of /sys have no size to go by; they are read until they end. */
		size_t left = out->max_n - out->n;
		size_t want = WS_MIN(left, (size_t)4096);
		char *room, past;
		ssize_t n;

		if (!want) { /* exactly full is fine, one byte more is not */
			n = read(fd, &past, 1);
			if (n > 0)
				st = ws_fail(err, WS_E_LIMIT, "'%s' is larger than %zu bytes", path,
					     out->max_n);
			break;
		}
		room = ws_buf_room(out, want);
		if (!room) {
			st = ws_buf_status(out, err);
			break;
		}
		n = read(fd, room, want);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			st = ws_fail_errno(err, errno, "cannot read '%s'", path);
		if (n <= 0)
			break;
		out->n += (size_t)n;
		out->at[out->n] = '\0';
	}
	close(fd);
	return st;
}

enum ws_status ws_file_write(const char *path, const void *bytes, size_t n, struct ws_err *err)
{
	FILE *file = fopen(path, "we");
	bool good;

	if (!file)
		return ws_fail_errno(err, errno, "cannot write '%s'", path);
	good = fwrite(bytes, 1, n, file) == n;
	good &= fclose(file) == 0; /* a full disk may show only here */
	return good ? WS_OK : ws_fail_errno(err, errno, "cannot write '%s'", path);
}

bool ws_file_line(const char *path, char *out_line, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	do {
		n = read(fd, out_line, room - 1);
	} while (n < 0 && errno == EINTR);
	close(fd);
	if (n < 0)
		return false;
	out_line[n] = '\0';
	out_line[strcspn(out_line, "\r\n")] = '\0';
	return true;
}

bool ws_file_u64(const char *path, uint64_t *out_value)
{
	char line[64];

	return ws_file_line(path, line, sizeof(line)) &&
	       ws_str_u64(ws_str_trim(ws_str_from(line)), out_value);
}
