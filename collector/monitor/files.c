#include "collector/monitor/gpu_source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FD_FLOOR 512 /* out of the way of programs that count on low numbers */

static bool is_ours(const struct col_monitor_file *file)
{
	struct stat st;

	return file->inode && fstat(file->fd, &st) == 0 && st.st_dev == file->device &&
	       st.st_ino == file->inode;
}

static bool open_file(struct col_monitor_file *file)
{
	struct stat st;
	int fd, high;

	if (file->missing)
		return false;
	fd = open(file->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		/* a program may have used up its descriptors for a while */
		file->missing = errno != EMFILE && errno != ENFILE;
		return false;
	}
	high = fcntl(fd, F_DUPFD_CLOEXEC, FD_FLOOR);
	if (high >= 0) {
		close(fd);
		fd = high;
	}
	if (fstat(fd, &st) != 0) {
		close(fd);
		return false;
	}
	file->fd = fd;
	file->device = st.st_dev;
	file->inode = st.st_ino;
	return true;
}

void col_monitor_close(struct col_monitor_file *file)
{
	if (is_ours(file))
		close(file->fd);
	file->inode = 0;
	file->missing = false;
}

ssize_t col_monitor_read(struct col_monitor_file *file, char *to, size_t room, off_t at)
{
	if (!is_ours(file)) {
		file->inode = 0; /* what has its number now is the program's */
		if (!open_file(file))
			return -1;
	}
	return pread(file->fd, to, room, at);
}

/* ---- numbers ---- */

const char *col_monitor_after(const char *line, const char *prefix)
{
	while (*prefix && *line == *prefix)
		line++, prefix++;
	return *prefix ? NULL : line;
}

const char *col_monitor_number(const char *at, uint64_t *out)
{
	uint64_t value = 0;

	while (*at == ' ' || *at == '\t')
		at++;
	if (*at < '0' || *at > '9')
		return NULL;
	for (; *at >= '0' && *at <= '9'; at++)
		value = value * 10 + (uint64_t)(*at - '0');
	*out = value;
	return at;
}

const char *col_monitor_decimal(const char *at, double *out)
{
	uint64_t whole, digit;
	double unit = 1;

	at = col_monitor_number(at, &whole);
	if (!at)
		return NULL;
	*out = (double)whole;
	if (*at != '.')
		return at;
	for (at++; *at >= '0' && *at <= '9'; at++) {
		digit = (uint64_t)(*at - '0');
		unit /= 10;
		*out += (double)digit * unit;
	}
	return at;
}

bool col_monitor_read_number(struct col_monitor_file *file, int64_t *out)
{
	char text[32];
	ssize_t n = col_monitor_read(file, text, sizeof(text) - 1, 0);
	bool negative;
	uint64_t value;

	if (n <= 0)
		return false;
	text[n] = '\0';
	negative = text[0] == '-';
	if (!col_monitor_number(text + negative, &value) || value > INT64_MAX)
		return false;
	*out = negative ? -(int64_t)value : (int64_t)value;
	return true;
}

/* ---- lines ---- */

void col_monitor_lines_start(struct col_monitor_lines *lines, struct col_monitor_file *file)
{
	lines->file = file;
	lines->at = 0;
	lines->n = lines->next = 0;
	lines->cut = false;
}

/* More bytes behind what was not handed out yet; false: there are none, or no space. */
static bool fill(struct col_monitor_lines *lines)
{
	size_t left = lines->n - lines->next;
	ssize_t n;

	memmove(lines->buf, lines->buf + lines->next, left);
	lines->n = left;
	lines->next = 0;
	if (left == sizeof(lines->buf) - 1)
		return false;
	n = col_monitor_read(lines->file, lines->buf + left, sizeof(lines->buf) - 1 - left,
			     lines->at);
	if (n <= 0)
		return false;
	lines->at += n;
	lines->n += (size_t)n;
	return true;
}

const char *col_monitor_line(struct col_monitor_lines *lines)
{
	for (;;) {
		char *from = lines->buf + lines->next;
		char *end = memchr(from, '\n', lines->n - lines->next);
		bool skip = lines->cut;

		if (end) {
			*end = '\0';
			lines->next = (size_t)(end + 1 - lines->buf);
			lines->cut = false;
			if (skip)
				continue;
			return from;
		}
		if (fill(lines))
			continue;
		if (lines->next == lines->n)
			return NULL;
		/* the last line without a newline, or one that is too long */
		lines->buf[lines->n] = '\0';
		from = lines->buf + lines->next;
		lines->next = lines->n;
		lines->cut = true;
		if (!skip)
			return from;
	}
}
