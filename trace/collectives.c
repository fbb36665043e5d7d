#include "trace/collectives.h"

#include "base/util.h"
#include "trace/trace_priv.h"

#include <stdlib.h>

/* ---- records of some types ---- */

typedef enum ws_status rec_fn(void *ctx, const struct trc_capture *capture,
			      const struct cap_rec *rec, struct ws_err *err);

static enum ws_status each_record(const struct trc_capture *capture, enum cap_rec_type type,
				  rec_fn *fn, void *ctx, struct ws_err *err)
{
	struct cap_view view = { 0 };
	enum ws_status st = WS_OK;

	for (size_t i = 0; !st && i < cap_reader_n_chunks(capture->reader); i++) {
		const struct cap_rec *rec;

		if (!trc_chunk_wanted(cap_reader_chunk(capture->reader, i), 1ull << (type & 63)))
			continue;
		st = cap_reader_load(capture->reader, i, &view, err);
		while (!st && (rec = cap_view_next(&view)))
			if (cap_rec_type(rec) == type)
				st = fn(ctx, capture, rec, err);
	}
	cap_view_fini(&view);
	return st;
}

/* ---- launches: which kernels do the collectives of RCCL ---- */

struct launched {
	uint64_t first_corr_id, end_corr_id;
	uint64_t start_ns, end_ns; /* of its kernels; end 0: none were recorded */
	uint32_t tid, launch;
};
WS_VEC_TYPE(launched_list, struct launched);

struct walk {
	const struct trc_process *process;
	struct launched_list launched; /* by thread and correlation id */
	struct launched **by_number;
	size_t hint; /* of the clock */
	trc_collective_fn *fn;
	void *ctx;
};

static enum ws_status take_launched(void *ctx, const struct trc_capture *capture,
				    const struct cap_rec *rec, struct ws_err *err)
{
	const struct cap_rec_launched *info = (const struct cap_rec_launched *)rec;
	struct walk *walk = ctx;
	struct launched launched = { .first_corr_id = info->first_corr_id,
				     .end_corr_id = info->end_corr_id,
				     .start_ns = UINT64_MAX,
				     .tid = info->tid,
				     .launch = rec->what };

	(void)capture;
	return walk->launched.n < TRC_LAUNCHED_MAX ? ws_vec_push(&walk->launched, launched, err)
						   : WS_OK;
}

static int by_thread(const void *a, const void *b)
{
	const struct launched *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->first_corr_id < y->first_corr_id ? -1 : x->first_corr_id > y->first_corr_id;
}

static int by_number(const void *a, const void *b)
{
	const struct launched *const *x = a, *const *y = b;

	return (*x)->launch < (*y)->launch ? -1 : (*x)->launch > (*y)->launch;
}

/* The last launch of the thread that does not begin after the id: others end before they begin. */
static struct launched *launched_of(const struct launched_list *list, uint32_t tid,
				    uint64_t corr_id)
{
	struct launched key = { .tid = tid, .first_corr_id = corr_id };
	size_t low = 0, high = list->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_thread(&list->at[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || list->at[low - 1].tid != tid || list->at[low - 1].end_corr_id <= corr_id)
		return NULL;
	return &list->at[low - 1];
}

static enum ws_status take_dispatch(void *ctx, const struct trc_capture *capture,
				    const struct cap_rec *rec, struct ws_err *err)
{
	const struct cap_rec_dispatch *dispatch = (const struct cap_rec_dispatch *)rec;
	struct walk *walk = ctx;
	struct launched *launched = launched_of(&walk->launched, dispatch->tid, dispatch->corr_id);
	uint64_t start_ns, end_ns;

	(void)err;
	if (!launched || !trc_rec_times(capture, rec, &walk->hint, &start_ns, &end_ns))
		return WS_OK;
	launched->start_ns = WS_MIN(launched->start_ns, start_ns);
	launched->end_ns = WS_MAX(launched->end_ns, end_ns);
	return WS_OK;
}

static enum ws_status find_kernels(struct walk *walk, const struct trc_capture *capture,
				   struct ws_err *err)
{
	enum ws_status st = each_record(capture, CAP_REC_LAUNCHED, take_launched, walk, err);

	if (st || !walk->launched.n)
		return st;
	ws_vec_sort(&walk->launched, by_thread);
	st = each_record(capture, CAP_REC_DISPATCH, take_dispatch, walk, err);
	if (st)
		return st;
	walk->by_number = calloc(walk->launched.n, sizeof(struct launched *));
	if (!walk->by_number)
		return ws_fail(err, WS_E_NOMEM, "%zu launches of collectives", walk->launched.n);
	for (size_t i = 0; i < walk->launched.n; i++)
		walk->by_number[i] = &walk->launched.at[i];
	qsort(walk->by_number, walk->launched.n, sizeof(struct launched *), by_number);
	return WS_OK;
}

/* ---- collectives ---- */

/* Its kernels' times instead of those of the call. */
static void put_times(const struct walk *walk, struct trc_collective *collective)
{
	struct launched key = { .launch = collective->launch }, *wanted = &key, **found = NULL;

	if (walk->by_number)
		found = bsearch(&wanted, walk->by_number, walk->launched.n, sizeof(*found),
				by_number);
	collective->timed = found && (*found)->end_ns;
	if (collective->timed) {
		collective->start_ns = (*found)->start_ns;
		collective->end_ns = (*found)->end_ns;
	}
}

static enum ws_status take_collective(void *ctx, const struct trc_capture *capture,
				      const struct cap_rec *rec, struct ws_err *err)
{
	const struct cap_rec_collective *info = (const struct cap_rec_collective *)rec;
	struct walk *walk = ctx;
	struct trc_collective collective = {
		.name = trc_list_at(walk->process->regions, rec->what)->name,
		.comm = info->comm,
		.seq = info->seq,
		.rank = info->rank,
		.n_ranks = info->n_ranks,
		.root = info->root,
		.launch = info->launch,
		.timed = true,
	};

	trc_rec_times(capture, rec, &walk->hint, &collective.start_ns, &collective.end_ns);
	if (collective.launch)
		put_times(walk, &collective);
	return walk->fn(walk->ctx, &collective, err);
}

enum ws_status trc_collectives_each(const struct trc_process *process, trc_collective_fn *fn,
				    void *ctx, struct ws_err *err)
{
	const struct trc_capture *capture = trc_capture_of(process);
	struct walk walk = { .process = process, .fn = fn, .ctx = ctx };
	enum ws_status st;

	ws_vec_init(&walk.launched, TRC_LAUNCHED_MAX);
	st = find_kernels(&walk, capture, err);
	if (!st)
		st = each_record(capture, CAP_REC_COLLECTIVE, take_collective, &walk, err);
	free(walk.by_number);
	ws_vec_fini(&walk.launched);
	return st;
}
