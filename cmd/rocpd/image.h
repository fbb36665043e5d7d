/*
 * image: a capture file made by hand, for data that was not recorded by the collector.
 *
 * Times are nanoseconds (CAP_TICKS_NS). Facts go to one lane, events to another; the owner
 * of an event is given with it. Nothing is in the file until rpd_image_close().
 */
#ifndef WS_CMD_ROCPD_IMAGE_H
#define WS_CMD_ROCPD_IMAGE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "capture/chunk.h"

#include <stdio.h>

struct rpd_lane {
	char *bytes; /* the chunk in the making */
	uint32_t n_bytes, id, seq, tid;
	enum cap_chunk_kind kind;
	uint64_t types;
};

struct rpd_image {
	FILE *file;
	const char *path;
	struct cap_file_head head;
	struct rpd_lane meta, events;
	struct ws_arena arena;
	struct ws_map strings;
	uint32_t n_strings;
	struct ws_err *err;
};

enum ws_status rpd_image_open(struct rpd_image *image, const char *path, uint32_t pid,
			      struct ws_err *err);
/* The head, the last chunks; the file is good only if this succeeds. */
enum ws_status rpd_image_close(struct rpd_image *image);

/* A fact or an event with its tail, if any; failures are kept and told by close. */
void rpd_image_meta(struct rpd_image *image, uint32_t type, struct cap_rec *rec, size_t n_bytes,
		    const void *tail, size_t n_tail);
void rpd_image_event(struct rpd_image *image, uint32_t tid, uint32_t type, struct cap_rec *rec,
		     size_t n_bytes, const void *tail, size_t n_tail);
uint32_t rpd_image_string(struct rpd_image *image, const char *text); /* id; 0 for "" */

#endif
