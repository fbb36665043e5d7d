/*
 * reader: reads a capture, also a damaged one.
 *
 * Every length, type, tag and offset is checked before use. Damage is counted, and
 * the rest is read. A file that is still being written is read up to what was
 * committed when it was opened. Bytes are read, not mapped, so that truncation
 * during reading is counted as damage and raises no signal.
 *
 *	cap_reader_open(path, &reader, err);
 *	for (size_t i = 0; i < cap_reader_n_chunks(reader); i++) {
 *		cap_reader_load(reader, i, &view, err);
 *		while ((rec = cap_view_next(&view)))
 *			use(rec, view.tid);
 *	}
 *
 * Records come out of cap_view_next() with: a known type, the size its struct needs,
 * a tail that lies inside the record. What fields mean is the caller's to check.
 *
 * Threads  a reader: one at a time for open and close, any number of loads into
 *          views of their own. A view: one.
 * Failure  only when there is no capture at all: no such file, not the magic, a
 *          version from the future, the other byte order, no memory. Everything else is cap_damage.
 */
#ifndef WS_CAPTURE_READER_H
#define WS_CAPTURE_READER_H

#include "base/error.h"
#include "capture/chunk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cap_reader;

struct cap_damage {
	uint64_t n_heads;         /* places where a chunk head should be and was not */
	uint64_t n_skipped_bytes; /* stepped over looking for the next record or chunk */
	uint64_t n_records;       /* records refused: size or tail wrong */
	uint64_t n_unknown;       /* sound records of a type this reader does not know */
	uint64_t n_cut;           /* chunks that lie partly or wholly past the end of the file */
	uint64_t n_pages_cut;     /* as the writer met them: the file was truncated under it */
};

bool cap_damage_any(const struct cap_damage *damage);
void cap_damage_add(struct cap_damage *sum, const struct cap_damage *more);

struct cap_chunk_info {
	uint64_t at_bytes;
	uint64_t opened_ticks;
	uint64_t types;
	uint32_t n_bytes;
	uint32_t valid_bytes; /* when the file was opened; records never reach past it */
	uint32_t kind;
	uint32_t lane, seq;
	uint32_t from_bytes; /* records before it are left out, see cap_reader_skip() */
};

enum ws_status cap_reader_open(const char *path, struct cap_reader **out_reader,
			       struct ws_err *err);
void cap_reader_close(struct cap_reader *reader);

/*
 * A file whose writer was killed while creating it: it has no head yet, so it contains no
 * records. False for everything else, including files that are not captures.
 */
bool cap_unbegun(const char *path);

const char *cap_reader_path(const struct cap_reader *reader);
const struct cap_file_head *cap_reader_head(const struct cap_reader *reader);
bool cap_reader_closed(const struct cap_reader *reader); /* the writer closed the file */
const struct cap_damage *cap_reader_damage(const struct cap_reader *reader); /* of the heads */

/* In the order of (lane, seq), so that a lane's chunks are neighbours. */
size_t cap_reader_n_chunks(const struct cap_reader *reader);
const struct cap_chunk_info *cap_reader_chunk(const struct cap_reader *reader, size_t i);

/*
 * Leave the first @n_bytes of a chunk out when it is loaded: a whole number of records, that is,
 * its valid_bytes at an earlier time. 0: leave nothing out. Owners of records are not known then.
 */
void cap_reader_skip(struct cap_reader *reader, size_t chunk, uint32_t n_bytes);

/* The records of one chunk. Zero it before the first load; it keeps its buffer between loads. */
struct cap_view {
	char *bytes; /* aligned to 8 */
	size_t cap_bytes;
	uint32_t at, valid;
	uint32_t tid; /* owner of the record that next returned last; 0: unknown */
	uint32_t kind;
	struct cap_damage damage; /* of this view, over all loads */
};

enum ws_status cap_reader_load(const struct cap_reader *reader, size_t chunk, struct cap_view *view,
			       struct ws_err *err);
/* Only the @n_bytes at @at of it, say one record found before; the owner is not known then. */
enum ws_status cap_reader_load_part(const struct cap_reader *reader, size_t chunk, uint32_t at,
				    uint32_t n_bytes, struct cap_view *view, struct ws_err *err);
const struct cap_rec *cap_view_next(struct cap_view *view); /* NULL: no more; OWNER is not shown */
void cap_view_fini(struct cap_view *view);

/* The bytes of a record's tail, checked; n is 0 when it has none. */
struct cap_tail {
	const void *at;
	uint32_t n_bytes;
};
struct cap_tail cap_rec_tail(const struct cap_rec *rec);

/* Smallest whole size of a record of this type; 0: unknown type. */
uint32_t cap_rec_min_bytes(uint32_t type);
const char *cap_rec_type_name(uint32_t type); /* "CALL", or NULL */

#endif
