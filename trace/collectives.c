#include "trace/collectives.h"

#include "trace/trace_priv.h"

enum ws_status trc_collectives_each(const struct trc_process *process, trc_collective_fn *fn,
				    void *ctx, struct ws_err *err)
{
	const struct trc_capture *capture = trc_capture_of(process);
	const uint64_t types = 1ull << (CAP_REC_COLLECTIVE & 63);
	struct cap_view view = { 0 };
	enum ws_status st = WS_OK;
	size_t hint = 0;

	for (size_t i = 0; !st && i < cap_reader_n_chunks(capture->reader); i++) {
		const struct cap_rec *rec;

		if (!trc_chunk_wanted(cap_reader_chunk(capture->reader, i), types))
			continue;
		st = cap_reader_load(capture->reader, i, &view, err);
		while (!st && (rec = cap_view_next(&view))) {
			const struct cap_rec_collective *info =
				(const struct cap_rec_collective *)rec;
			struct trc_collective collective;

			if (cap_rec_type(rec) != CAP_REC_COLLECTIVE)
				continue;
			collective = (struct trc_collective){
				.name = trc_list_at(process->regions, rec->what)->name,
				.comm = info->comm,
				.seq = info->seq,
				.rank = info->rank,
				.n_ranks = info->n_ranks,
				.root = info->root,
			};
			trc_rec_times(capture, rec, &hint, &collective.start_ns,
				      &collective.end_ns);
			st = fn(ctx, &collective, err);
		}
	}
	cap_view_fini(&view);
	return st;
}
