/*
 * tile: slices and values as compressed columns. README.md has the layout.
 *
 *	tl_coder_init(&coder, err);
 *	st = tl_coder_slices(&coder, start_ns, slices, n, &bytes, &n_bytes, err);
 *	st = tl_coder_read_slices(&coder, start_ns, bytes, n_bytes, slices, room, &n, err);
 *	tl_coder_fini(&coder);
 *
 * Threads  one per coder.
 * Memory   results are in the coder, until the next call.
 * Failure  WS_E_FORMAT for bytes that are no tile.
 */
#ifndef WS_TIMELINE_TILE_H
#define WS_TIMELINE_TILE_H

#include "base/error.h"
#include "base/str.h"

#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

struct tl_slice {
	uint64_t start_ns, end_ns;
	uint32_t path, row;
	uint64_t corr_id;
	uint32_t caller_track; /* of the call with that id, which launched it; from 1, 0: unknown */
	uint32_t detail;
	uint64_t n_bytes; /* that were copied */
	uint64_t n;       /* events that are merged here */
	uint64_t busy_ns; /* what they lasted together */
};

struct tl_value {
	uint64_t at_ns;
	double value; /* from then on; of merged ones the last */
	double min, max;
};

struct tl_coder {
	z_stream deflate, inflate;
	bool has_deflate, has_inflate;
	struct ws_buf plain, packed;
};

enum ws_status tl_coder_init(struct tl_coder *coder, struct ws_err *err);
void tl_coder_fini(struct tl_coder *coder); /* a zeroed one is fine */

enum ws_status tl_coder_slices(struct tl_coder *coder, uint64_t zero_ns,
			       const struct tl_slice *slices, size_t n, const void **out_bytes,
			       size_t *out_n_bytes, struct ws_err *err);
enum ws_status tl_coder_values(struct tl_coder *coder, uint64_t zero_ns,
			       const struct tl_value *values, size_t n, const void **out_bytes,
			       size_t *out_n_bytes, struct ws_err *err);
enum ws_status tl_coder_read_slices(struct tl_coder *coder, uint64_t zero_ns, const void *bytes,
				    size_t n_bytes, struct tl_slice *slices, size_t room,
				    size_t *out_n, struct ws_err *err);
enum ws_status tl_coder_read_values(struct tl_coder *coder, uint64_t zero_ns, const void *bytes,
				    size_t n_bytes, struct tl_value *values, size_t room,
				    size_t *out_n, struct ws_err *err);

/* Any bytes, compressed as tiles are. */
enum ws_status tl_coder_pack(struct tl_coder *coder, const void *bytes, size_t n,
			     const void **out_bytes, size_t *out_n_bytes, struct ws_err *err);

/* Variable-length numbers, as in tiles. */
void tl_put_number(struct ws_buf *to, uint64_t value);

#endif
