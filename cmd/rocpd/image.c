#include "cmd/rocpd/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES CAP_CHUNK_BYTES_MAX
#define ARENA_MAX (512u << 20)

static void fail_errno(struct rpd_image *image)
{
	if (!image->err->status)
		ws_fail_errno(image->err, errno, "cannot write '%s'", image->path);
}

static void flush_chunk(struct rpd_image *image, struct rpd_lane *lane)
{
	struct cap_chunk_head *head = (struct cap_chunk_head *)lane->bytes;

	if (lane->n_bytes <= sizeof(*head))
		return;
	*head = (struct cap_chunk_head){
		.magic = CAP_CHUNK_MAGIC,
		.n_bytes = CHUNK_BYTES,
		.kind = lane->kind,
		.lane = lane->id,
		.seq = lane->seq++,
		.valid_bytes = lane->n_bytes,
		.types = lane->types,
	};
	head->check = cap_check32(&head->magic, 5);
	if (fwrite(lane->bytes, CHUNK_BYTES, 1, image->file) != 1)
		fail_errno(image);
	memset(lane->bytes, 0, CHUNK_BYTES);
	lane->n_bytes = sizeof(*head);
	lane->types = 0;
	lane->tid = 0;
}

static void append(struct rpd_image *image, struct rpd_lane *lane, uint32_t type,
		   const struct cap_rec *rec, size_t n_bytes, const void *tail, size_t n_tail)
{
	size_t total = CAP_REC_ROUND(n_bytes + n_tail);
	char *to;

	if (total > CHUNK_BYTES / 2 || image->err->status)
		return;
	if (lane->n_bytes + total + sizeof(struct cap_rec_owner) > CHUNK_BYTES)
		flush_chunk(image, lane);
	to = lane->bytes + lane->n_bytes;
	memcpy(to, rec, n_bytes);
	if (n_tail)
		memcpy(to + n_bytes, tail, n_tail);
	((struct cap_rec *)to)->tag = CAP_REC_TAG(type, total);
	lane->n_bytes += (uint32_t)total;
	lane->types |= 1ull << (type & 63);
}

void rpd_image_meta(struct rpd_image *image, uint32_t type, struct cap_rec *rec, size_t n_bytes,
		    const void *tail, size_t n_tail)
{
	append(image, &image->meta, type, rec, n_bytes, tail, n_tail);
}

void rpd_image_event(struct rpd_image *image, uint32_t tid, uint32_t type, struct cap_rec *rec,
		     size_t n_bytes, const void *tail, size_t n_tail)
{
	struct rpd_lane *lane = &image->events;
	struct cap_rec_owner owner = { .h = { .what = tid, .time = rec->time } };

	if (lane->n_bytes + CAP_REC_ROUND(n_bytes + n_tail) + 2 * sizeof(owner) > CHUNK_BYTES)
		flush_chunk(image, lane);
	if (lane->tid != tid)
		append(image, lane, CAP_REC_OWNER, &owner.h, sizeof(owner), NULL, 0);
	lane->tid = tid;
	append(image, lane, type, rec, n_bytes, tail, n_tail);
}

uint32_t rpd_image_string(struct rpd_image *image, const char *text)
{
	struct cap_rec_string rec = { .h.what = 0 };
	void *known;
	char *kept;

	if (!text || !*text || image->err->status)
		return 0;
	known = ws_map_get(&image->strings, text);
	if (known)
		return (uint32_t)(uintptr_t)known;
	kept = ws_arena_strdup(&image->arena, text);
	if (!kept) {
		ws_fail(image->err, WS_E_NOMEM, "out of memory");
		return 0;
	}
	if (ws_map_put(&image->strings, ws_str_from(kept), (void *)(uintptr_t)++image->n_strings,
		       image->err))
		return 0;
	rec.h.what = image->n_strings;
	rec.n_bytes = (uint32_t)WS_MIN(strlen(text), (size_t)CAP_REC_BYTES_MAX / 2);
	rpd_image_meta(image, CAP_REC_STRING, &rec.h, sizeof(rec), text, rec.n_bytes);
	return image->n_strings;
}

enum ws_status rpd_image_open(struct rpd_image *image, const char *path, uint32_t pid,
			      struct ws_err *err)
{
	memset(image, 0, sizeof(*image));
	image->err = err;
	image->path = path;
	err->status = WS_OK;
	image->meta = (struct rpd_lane){ .id = 1, .kind = CAP_CHUNK_META };
	image->events = (struct rpd_lane){ .id = 2, .kind = CAP_CHUNK_EVENT };
	ws_arena_init(&image->arena, ARENA_MAX);
	ws_map_init(&image->strings, WS_MAP_STR, 1 << 26);
	image->meta.bytes = calloc(1, CHUNK_BYTES);
	image->events.bytes = calloc(1, CHUNK_BYTES);
	if (!image->meta.bytes || !image->events.bytes)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	image->meta.n_bytes = image->events.n_bytes = sizeof(struct cap_chunk_head);
	memcpy(image->head.magic, CAP_FILE_MAGIC, sizeof(image->head.magic));
	image->head.version = CAP_FILE_VERSION;
	image->head.order = CAP_FILE_ORDER;
	image->head.head_bytes = CAP_FILE_HEAD_BYTES;
	image->head.chunk_align = CAP_CHUNK_ALIGN;
	image->head.pid = pid;
	image->head.tick_kind = CAP_TICKS_NS;
	image->head.closed = 1;
	image->head.check = cap_check32((const uint32_t *)&image->head,
					offsetof(struct cap_file_head, end_bytes) / 4);
	image->file = fopen(path, "wxe");
	if (!image->file || fseek(image->file, CAP_FILE_HEAD_BYTES, SEEK_SET) != 0)
		return ws_fail_errno(err, errno, "cannot write '%s'", path);
	return WS_OK;
}

enum ws_status rpd_image_close(struct rpd_image *image)
{
	if (image->file && !image->err->status) {
		flush_chunk(image, &image->meta);
		flush_chunk(image, &image->events);
		image->head.end_bytes = (uint64_t)ftell(image->file);
		if (fseek(image->file, 0, SEEK_SET) != 0 ||
		    fwrite(&image->head, sizeof(image->head), 1, image->file) != 1)
			fail_errno(image);
	}
	if (image->file && fclose(image->file) != 0)
		fail_errno(image);
	free(image->meta.bytes);
	free(image->events.bytes);
	ws_map_fini(&image->strings);
	ws_arena_fini(&image->arena);
	return image->err->status;
}
