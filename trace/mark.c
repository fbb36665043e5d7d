/* mark: how far captures were read. A chunk only grows, so the valid bytes of each are enough. */
#include "base/map.h"
#include "trace/trace_priv.h"

#include <stdlib.h>
#include <string.h>

#define CHUNKS_MAX (1u << 24)

struct trc_mark {
	struct ws_map valid; /* key_of() a chunk to its valid bytes then */
};

/* A file of the same name may be another one by now: the time of its creation is part of the key. */
static uint64_t key_of(const struct cap_reader *reader, const struct cap_chunk_info *chunk)
{
	const char *path = cap_reader_path(reader);
	const uint64_t parts[] = { ws_hash_bytes(path, strlen(path)),
				   cap_reader_head(reader)->created_ns, chunk->at_bytes };

	return ws_hash_bytes(parts, sizeof(parts));
}

enum ws_status trc_mark_take(const struct trc_trace *trace, struct trc_mark **out_mark,
			     struct ws_err *err)
{
	struct trc_mark *mark = calloc(1, sizeof(*mark));
	enum ws_status st = WS_OK;

	if (!mark)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	ws_map_init(&mark->valid, WS_MAP_U64, CHUNKS_MAX);
	for (size_t i = 0; !st && i < trace->n; i++) {
		const struct cap_reader *reader = trace->captures[i]->reader;

		for (size_t c = 0; !st && c < cap_reader_n_chunks(reader); c++) {
			const struct cap_chunk_info *chunk = cap_reader_chunk(reader, c);

			if (chunk->kind == CAP_CHUNK_EVENT)
				st = ws_map_put_u64(&mark->valid, key_of(reader, chunk),
						    (void *)(uintptr_t)chunk->valid_bytes, err);
		}
	}
	if (st)
		trc_mark_free(mark);
	else
		*out_mark = mark;
	return st;
}

void trc_mark_free(struct trc_mark *mark)
{
	if (mark)
		ws_map_fini(&mark->valid);
	free(mark);
}

void trc_mark_apply(const struct trc_mark *mark, struct cap_reader *reader)
{
	for (size_t c = 0; c < cap_reader_n_chunks(reader); c++) {
		const struct cap_chunk_info *chunk = cap_reader_chunk(reader, c);

		if (chunk->kind == CAP_CHUNK_EVENT)
			cap_reader_skip(reader, c,
					(uint32_t)(uintptr_t)ws_map_get_u64(&mark->valid,
									    key_of(reader, chunk)));
	}
}

void trc_unmark(struct trc_trace *trace)
{
	for (size_t i = 0; i < trace->n; i++)
		for (size_t c = 0; c < cap_reader_n_chunks(trace->captures[i]->reader); c++)
			cap_reader_skip(trace->captures[i]->reader, c, 0);
}
