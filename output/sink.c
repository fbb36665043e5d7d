#include "output/sink.h"

#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define SINK_BYTES (512u << 10) /* larger ones fall out of the second-level cache */

enum ws_status output_make_parents(const char *path, struct ws_err *err)
{
	char dir[PATH_MAX];
	struct stat st;

	if (strlen(path) >= sizeof(dir))
		return ws_fail(err, WS_E_LIMIT, "the path is too long: %.80s...", path);
	strcpy(dir, path);
	for (char *at = strchr(dir + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		if (mkdir(dir, 0777) && errno != EEXIST)
			return ws_fail_errno(err, errno, "cannot create the folder '%s'", dir);
		if (!stat(dir, &st) && !S_ISDIR(st.st_mode))
			return ws_fail(err, WS_E_EXISTS,
				       "'%s' exists and is not a folder: choose another "
				       "--output-directory",
				       dir);
		*at = '/';
	}
	return WS_OK;
}

static void partial_name(const struct output_sink *sink, char to[PATH_MAX + 16])
{
	snprintf(to, PATH_MAX + 16, "%s.partial", sink->path);
}

enum ws_status output_sink_open(struct output_sink *sink, const char *path, int stream_fd,
				struct ws_err *err)
{
	char partial[PATH_MAX + 16];
	enum ws_status st;

	memset(sink, 0, offsetof(struct output_sink, path));
	sink->fd = -1;
	if (strlen(path) + sizeof(".partial") > sizeof(sink->path))
		return ws_fail(err, WS_E_LIMIT, "the path is too long: %.80s...", path);
	strcpy(sink->path, path);
	sink->buf = malloc(SINK_BYTES);
	if (!sink->buf)
		return ws_fail(err, WS_E_NOMEM, "out of memory while writing '%s'", path);
	sink->cap = SINK_BYTES;
	if (stream_fd >= 0) {
		sink->fd = stream_fd;
		sink->is_stream = true;
		return WS_OK;
	}
	st = output_make_parents(path, err);
	if (st)
		goto fail;
	partial_name(sink, partial);
	st = ws_file_create(partial, &sink->fd, err);
	if (!st)
		return WS_OK;
fail:
	free(sink->buf);
	sink->buf = NULL;
	return st;
}

enum ws_status output_sink_open_memory(struct output_sink *sink, struct ws_err *err)
{
	memset(sink, 0, sizeof(*sink));
	sink->fd = -1;
	sink->is_memory = true;
	sink->cap = 2 * OUTPUT_SINK_ROOM_MAX;
	sink->buf = malloc(sink->cap);
	return sink->buf ? WS_OK : ws_fail(err, WS_E_NOMEM, "no memory for a text");
}

/* At least as much free room as was there in an empty one; on failure the text is lost. */
static void grow_memory(struct output_sink *sink, size_t n)
{
	size_t cap = (sink->cap + n) * 2;
	char *more = realloc(sink->buf, cap);

	if (!more) {
		ws_fail(&sink->err, WS_E_NOMEM, "no memory for a text");
		sink->n = 0;
		return;
	}
	sink->buf = more;
	sink->cap = cap;
}

static void write_all(struct output_sink *sink, const char *bytes, size_t n)
{
	sink->n_flushed_bytes += n;
	while (n && !sink->err.status && !sink->only_counts) {
		ssize_t done = write(sink->fd, bytes, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			ws_fail_errno(&sink->err, errno, "cannot write '%s'", sink->path);
			return;
		}
		bytes += done;
		n -= (size_t)done;
	}
}

void output_sink_flush(struct output_sink *sink)
{
	if (sink->is_memory) {
		grow_memory(sink, OUTPUT_SINK_ROOM_MAX);
		return;
	}
	write_all(sink, sink->buf, sink->n);
	sink->n = 0;
}

void output_sink_put_slow_(struct output_sink *sink, const void *bytes, size_t n)
{
	if (sink->is_memory) {
		grow_memory(sink, n);
		if (sink->cap - sink->n < n)
			return;
		memcpy(sink->buf + sink->n, bytes, n);
		sink->n += n;
		return;
	}
	output_sink_flush(sink);
	if (n >= sink->cap) {
		write_all(sink, bytes, n);
		return;
	}
	memcpy(sink->buf, bytes, n);
	sink->n = n;
}

enum ws_status output_sink_finish(struct output_sink *sink, struct ws_err *err)
{
	char partial[PATH_MAX + 16];

	output_sink_flush(sink);
	if (!sink->is_stream) {
		partial_name(sink, partial);
		/* NFS and quotas report here what write() took on credit */
		if (close(sink->fd) && !sink->err.status)
			ws_fail_errno(&sink->err, errno, "cannot write '%s'", sink->path);
		sink->fd = -1;
		if (!sink->err.status && rename(partial, sink->path))
			ws_fail_errno(&sink->err, errno, "cannot write '%s'", sink->path);
		if (sink->err.status)
			unlink(partial);
	}
	free(sink->buf);
	sink->buf = NULL;
	if (sink->err.status && err)
		*err = sink->err;
	return sink->err.status;
}

void output_sink_abandon(struct output_sink *sink)
{
	char partial[PATH_MAX + 16];

	if (!sink->buf)
		return;
	if (!sink->is_stream && !sink->is_memory) {
		close(sink->fd);
		partial_name(sink, partial);
		unlink(partial);
	}
	free(sink->buf);
	sink->buf = NULL;
}
