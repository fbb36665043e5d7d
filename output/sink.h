/*
 * sink: a file that is being written, under a name that says so.
 *
 * The bytes go to `<path>.partial`, which output_sink_finish() renames to `<path>`; an
 * abandoned sink removes it, which also frees space on a full disk. Writing
 * reports nothing: the first failure makes the rest do nothing, and finish returns it.
 *
 *	char *p = output_sink_room(sink, 64);
 *	p = output_fmt_u64(p, value);
 *	output_sink_at(sink, p);
 *
 * Threads  one at a time.
 */
#ifndef WS_OUTPUT_SINK_H
#define WS_OUTPUT_SINK_H

#include "base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define OUTPUT_SINK_ROOM_MAX (16u << 10) /* largest request for room */

struct output_sink {
	char *buf; /* NULL: not open */
	size_t n, cap;
	int fd;
	bool is_stream;   /* stdout or stderr: nothing to rename */
	bool is_memory;   /* no file at all: the text is at buf, n bytes */
	bool only_counts; /* set by the writer: from here on bytes are counted, not written */
	uint64_t n_flushed_bytes;
	uint64_t n_rows;
	struct ws_err err; /* of the first failure */
	char path[PATH_MAX];
};

/* Makes missing folders. @stream_fd >= 0: write there, @path is only for messages. */
enum ws_status output_sink_open(struct output_sink *sink, const char *path, int stream_fd,
				struct ws_err *err);
/* A sink that only collects; read buf and n, then abandon. */
enum ws_status output_sink_open_memory(struct output_sink *sink, struct ws_err *err);
enum ws_status output_sink_finish(struct output_sink *sink,
				  struct ws_err *err); /* closes in any case */
void output_sink_abandon(struct output_sink *sink);    /* a finished or zeroed one is fine */

void output_sink_flush(struct output_sink *sink);

static inline char *output_sink_room(struct output_sink *sink, size_t n)
{
	if (__builtin_expect(sink->cap - sink->n < n, 0))
		output_sink_flush(sink);
	return sink->buf + sink->n;
}

static inline void output_sink_at(struct output_sink *sink, const char *p)
{
	sink->n = (size_t)(p - sink->buf);
}

/* Any number of bytes. */
void output_sink_put_slow_(struct output_sink *sink, const void *bytes, size_t n);
static inline void output_sink_put(struct output_sink *sink, const void *bytes, size_t n)
{
	if (__builtin_expect(sink->cap - sink->n < n, 0)) {
		output_sink_put_slow_(sink, bytes, n);
		return;
	}
	memcpy(sink->buf + sink->n, bytes, n);
	sink->n += n;
}
#define output_sink_lit(sink, literal) output_sink_put((sink), "" literal, sizeof(literal) - 1)
static inline void output_sink_str(struct output_sink *sink, const char *text)
{
	output_sink_put(sink, text, strlen(text));
}

static inline uint64_t output_sink_bytes(const struct output_sink *sink)
{
	return sink->n_flushed_bytes + sink->n;
}

/* The folders above @path, as mkdir -p. */
enum ws_status output_make_parents(const char *path, struct ws_err *err);

#endif
