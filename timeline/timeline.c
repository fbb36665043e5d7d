#include "timeline/timeline_priv.h"

#include "base/file.h"
#include "base/util.h"
#include "profile/frames.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define TRACKS_MAX (1u << 20)
#define ARENA_MAX ((size_t)4 << 30)

/* The events that have a place in a timeline. */
#define TIMELINE_DOMAINS                                                                           \
	(((TRC_DOMAINS_USUAL &                                                                     \
	   ~(TRC_DOMAIN_BIT(PC_SAMPLING_HOST_TRAP) | TRC_DOMAIN_BIT(PC_SAMPLING_STOCHASTIC))) |    \
	  TRC_DOMAIN_BIT(CALL_STACK_SAMPLING) | TRC_DOMAIN_BIT(METRICS) |                          \
	  TRC_DOMAIN_BIT(REGIONS)) &                                                               \
	 ((1u << CAP_DOMAIN_COUNT) - 1))

/* Those whose records are calls. */
#define CALL_DOMAINS                                                                               \
	(TRC_DOMAIN_BIT(HSA_API) | TRC_DOMAIN_BIT(HIP_API) | TRC_DOMAIN_BIT(RCCL_API) |            \
	 TRC_DOMAIN_BIT(ROCDECODE_API) | TRC_DOMAIN_BIT(ROCJPEG_API))

#define PROGRESS_EVENTS (1u << 17) /* between two reports: some 50 ms */

/* ---- reading the trace ---- */

static bool needs_frames(const struct trc_process *process)
{
	return process->ledger[CAP_DOMAIN_CALL_STACK_SAMPLING].written ||
	       process->ledger[CAP_DOMAIN_REGIONS].written;
}

/*
 * Whether the record is what its domain says: an operation of a damaged capture may claim any domain.
 */
static bool is_sound(const struct trc_event *ev)
{
	uint32_t type = cap_rec_type(ev->rec);
	bool is_call = type == CAP_REC_CALL || type == CAP_REC_CALL_ARGS;

	return (unsigned)ev->domain < CAP_DOMAIN_COUNT &&
	       is_call == ((CALL_DOMAINS >> ev->domain & 1) != 0);
}

static void report_progress(struct tl_timeline *tl)
{
	/* Reading takes twice as long as making the levels. */
	double all = (double)tl->n_to_read * 1.5;

	if (tl->opts.progress)
		tl->opts.progress(tl->opts.progress_ctx,
				  (double)tl->n_read < all ? (double)tl->n_read / all : 1.0);
}

static enum ws_status read_events(struct tl_process *p, struct ws_err *err)
{
	struct trc_event_query query = { .domains = TIMELINE_DOMAINS,
					 .order = TRC_ORDER_START,
					 .process = p->process };
	const struct trc_event *ev;
	struct trc_events *events;
	enum ws_status st, closed;

	st = trc_events_open(p->tl->trace, &query, &events, err);
	if (st)
		return st;
	while (!st && (ev = trc_events_next(events))) {
		if (p->tl->n_read++ % PROGRESS_EVENTS == 0)
			report_progress(p->tl);
		if (is_sound(ev))
			st = tl_process_event(p, ev, err);
	}
	closed = trc_events_close(events, st ? NULL : err);
	return st ? st : closed;
}

static enum ws_status add_process(struct tl_timeline *tl, const struct trc_process *process,
				  struct ws_err *err)
{
	struct prof_frames_opts how = { .inlines = true, .drop_internal = true };
	struct tl_process p = { .tl = tl, .process = process };
	enum ws_status st = WS_OK;

	if (needs_frames(process))
		st = prof_frames_open(process, &how, &p.frames, err);
	if (!st)
		st = tl_process_begin(&p, err);
	if (!st)
		st = read_events(&p, err);
	if (!st)
		st = tl_process_end(&p, err);
	tl_process_fini(&p);
	prof_frames_close(p.frames);
	return st;
}

/* ---- the object ---- */

/* A sample stands for the time before it, which may be earlier than every event. */
static uint64_t sampled_from_ns(const struct trc_process *process)
{
	uint64_t at_ns = process->ledger[CAP_DOMAIN_CALL_STACK_SAMPLING].first_ns, period_ns = 0;

	for (int i = 0; i < CAP_SAMPLER_COUNT; i++)
		if (i != CAP_SAMPLER_OVERFLOW)
			period_ns = WS_MAX(period_ns, process->samplers[i].period);
	return WS_MAX(at_ns - WS_MIN(at_ns, period_ns), WS_MIN(process->init_ns, at_ns));
}

static uint64_t first_ns(const struct trc_process *const *processes, size_t n)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < n; i++)
		for (int d = 0; d < CAP_DOMAIN_COUNT; d++)
			if (processes[i]->ledger[d].written)
				first = WS_MIN(first, processes[i]->ledger[d].first_ns);
	for (size_t i = 0; i < n; i++)
		if (processes[i]->ledger[CAP_DOMAIN_CALL_STACK_SAMPLING].written)
			first = WS_MIN(first, sampled_from_ns(processes[i]));
	return first == UINT64_MAX ? 0 : first;
}

static uint64_t count_events(const struct trc_process *const *processes, size_t n)
{
	uint64_t n_events = 0;

	for (size_t i = 0; i < n; i++)
		for (int d = 0; d < CAP_DOMAIN_COUNT; d++)
			if (TIMELINE_DOMAINS >> d & 1)
				n_events += processes[i]->ledger[d].written;
	return n_events;
}

/* Samples are below the thread that they were taken of. */
static enum tl_track_kind section(const struct tl_made_track *made)
{
	return made->track.kind == TL_TRACK_SAMPLES ? TL_TRACK_THREAD : made->track.kind;
}

static int by_place(const void *a, const void *b, void *ctx)
{
	const struct tl_timeline *tl = ctx;
	const struct tl_made_track *x = tl->tracks.at[*(const uint32_t *)a];
	const struct tl_made_track *y = tl->tracks.at[*(const uint32_t *)b];

	if (x->track.process != y->track.process)
		return x->track.process->index < y->track.process->index ? -1 : 1;
	if (section(x) != section(y))
		return section(x) < section(y) ? -1 : 1;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static enum ws_status finish(struct tl_timeline *tl, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (size_t i = 0; !st && i < tl->tracks.n; i++) {
		st = tl_build_levels(tl, tl->tracks.at[i], err);
		tl->n_read += tl->tracks.at[i]->track.n_events / 2;
		report_progress(tl);
	}
	if (st)
		return st;
	tl->order = calloc(tl->tracks.n + 1, sizeof(*tl->order));
	if (!tl->order)
		return ws_fail(err, WS_E_NOMEM, "no memory for a timeline");
	for (size_t i = 0; i < tl->tracks.n; i++)
		tl->order[i] = (uint32_t)i;
	qsort_r(tl->order, tl->tracks.n, sizeof(*tl->order), by_place, tl);
	return WS_OK;
}

static enum ws_status open_store(struct tl_timeline *tl, struct ws_err *err)
{
	char path[PATH_MAX];
	enum ws_status st = ws_file_temp("timeline", path, &tl->store_fd, err);

	if (!st)
		unlink(path);
	return st;
}

static enum ws_status init(struct tl_timeline *tl, struct ws_err *err)
{
	struct tl_path none = { .parent = 0 };
	uint32_t number;
	enum ws_status st;

	tl->store_fd = -1;
	ws_arena_init(&tl->arena, ARENA_MAX);
	tl_texts_init(&tl->names, TL_PATHS_MAX);
	tl_texts_init(&tl->details, TL_PATHS_MAX);
	ws_vec_init(&tl->paths, TL_PATHS_MAX);
	ws_vec_init(&tl->tracks, TRACKS_MAX);
	ws_vec_init(&tl->sum_at, TL_TILE_EVENTS);
	ws_map_init(&tl->path_numbers, WS_MAP_U64, TL_PATHS_MAX);
	ws_map_init(&tl->detail_numbers, WS_MAP_STR, TL_PATHS_MAX);
	st = tl_coder_init(&tl->coder, err);
	if (!st)
		st = ws_vec_push(&tl->paths, none, err);
	if (!st && (!tl_texts_number(&tl->names, "", false, &number) ||
		    !tl_texts_number(&tl->details, "", false, &number)))
		st = ws_fail(err, WS_E_NOMEM, "no memory for a timeline");
	return st ? st : open_store(tl, err);
}

enum ws_status tl_create(const struct trc_trace *trace, const struct trc_process *const *processes,
			 size_t n_processes, const struct tl_opts *opts,
			 struct tl_timeline **out_timeline, struct ws_err *err)
{
	struct tl_timeline *tl = calloc(1, sizeof(*tl));
	size_t n = processes ? n_processes : trc_n_processes(trace);
	const struct trc_process **all = calloc(n + 1, sizeof(*all));
	enum ws_status st;

	if (!tl || !all) {
		st = ws_fail(err, WS_E_NOMEM, "no memory for a timeline");
		free(tl);
		tl = NULL;
		goto out;
	}
	for (size_t i = 0; i < n; i++)
		all[i] = processes ? processes[i] : trc_process_at(trace, i);
	tl->trace = trace;
	tl->opts = *opts;
	st = init(tl, err);
	tl->start_ns = tl->end_ns = first_ns(all, n);
	tl->n_to_read = count_events(all, n);
	for (size_t i = 0; !st && i < n; i++)
		st = add_process(tl, all[i], err);
	if (!st)
		st = finish(tl, err);
out:
	free(all);
	if (st) {
		tl_destroy(tl);
		return st;
	}
	*out_timeline = tl;
	return WS_OK;
}

void tl_destroy(struct tl_timeline *tl)
{
	if (!tl)
		return;
	ws_vec_each(made, &tl->tracks) {
		ws_vec_fini(&(*made)->tiles);
		ws_vec_fini(&(*made)->slices);
		ws_vec_fini(&(*made)->values);
		ws_buf_fini(&(*made)->summary);
		ws_vec_fini(&(*made)->summary_at);
	}
	ws_vec_fini(&tl->tracks);
	ws_vec_fini(&tl->paths);
	ws_vec_fini(&tl->sum_at);
	ws_map_fini(&tl->path_numbers);
	ws_map_fini(&tl->detail_numbers);
	tl_texts_fini(&tl->names);
	tl_texts_fini(&tl->details);
	tl_coder_fini(&tl->coder);
	ws_arena_fini(&tl->arena);
	free(tl->sum_of);
	free(tl->order);
	if (tl->store_fd >= 0)
		close(tl->store_fd);
	free(tl);
}

/* ---- queries ---- */

uint64_t tl_start_ns(const struct tl_timeline *tl)
{
	return tl->start_ns;
}

uint64_t tl_end_ns(const struct tl_timeline *tl)
{
	return tl->end_ns;
}

uint64_t tl_n_placed(const struct tl_timeline *tl, enum cap_domain domain)
{
	return tl->n_placed[domain];
}

uint64_t tl_n_unnamed(const struct tl_timeline *tl)
{
	return tl->n_unnamed;
}

size_t tl_n_tracks(const struct tl_timeline *tl)
{
	return tl->tracks.n;
}

const struct tl_track *tl_track_at(const struct tl_timeline *tl, size_t track)
{
	return &tl->tracks.at[track]->track;
}

size_t tl_track_in_order(const struct tl_timeline *tl, size_t i)
{
	return tl->order[i];
}

size_t tl_n_paths(const struct tl_timeline *tl)
{
	return tl->paths.n;
}

const struct tl_path *tl_path_at(const struct tl_timeline *tl, size_t path)
{
	return &tl->paths.at[path];
}

size_t tl_n_names(const struct tl_timeline *tl)
{
	return tl->names.all.n;
}

const char *tl_name_at(const struct tl_timeline *tl, size_t name)
{
	return tl->names.all.at[name];
}

size_t tl_n_details(const struct tl_timeline *tl)
{
	return tl->details.all.n;
}

const char *tl_detail_at(const struct tl_timeline *tl, size_t detail)
{
	return tl->details.all.at[detail];
}

size_t tl_level_for(const struct tl_track *track, uint64_t pixel_ns)
{
	size_t level = 0;

	while (level + 1 < track->n_levels && track->levels[level + 1].resolution_ns <= pixel_ns)
		level++;
	return level;
}

enum ws_status tl_tiles(const struct tl_timeline *tl, size_t track, size_t level, uint64_t from_ns,
			uint64_t until_ns, tl_tile_fn *fn, void *ctx, struct ws_err *err)
{
	const struct tl_level *at = &tl->tracks.at[track]->track.levels[level];
	enum ws_status st = WS_OK;
	size_t cap = 0;
	void *bytes = NULL;

	for (size_t i = 0; !st && i < at->n_tiles; i++) {
		const struct tl_tile *tile = &at->tiles[i];

		if (tile->end_ns < from_ns || tile->start_ns > until_ns)
			continue;
		if (tile->n_bytes > cap) {
			free(bytes);
			cap = tile->n_bytes;
			bytes = malloc(cap);
			if (!bytes)
				return ws_fail(err, WS_E_NOMEM, "no memory for a tile");
		}
		st = tl_tile_bytes(tl, tile, 0, bytes, tile->n_bytes, err);
		if (!st)
			st = fn(ctx, tile, bytes, err);
	}
	free(bytes);
	return st;
}
