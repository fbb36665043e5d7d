#include "serve/trace.h"

#include "base/util.h"
#include "output/html_head.h"
#include "pages/assets.h"
#include "pages/page.h"
#include "timeline/sums.h"
#include "timeline/tile.h"
#include "timeline/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JSON_BYTES_MAX ((size_t)1 << 30)
#define LENGTH_BYTES 4u /* of a block, before it */

struct srv_trace {
	const struct trc_trace *trace;
	const struct trc_process **processes;
	size_t n_processes;
	struct tl_timeline *timeline;
	struct tl_sums *sums;
	struct ws_buf head;   /* JSON */
	struct ws_buf tables; /* compressed */
	/* Blocks are the tiles of all levels of all tracks, numbered on. */
	unsigned (*first_block)[TL_LEVELS_MAX];
	unsigned n_blocks;
};

/* ---- opening ---- */

static enum ws_status number_blocks(struct srv_trace *t, struct ws_err *err)
{
	size_t n_tracks = tl_n_tracks(t->timeline);
	uint64_t n = 0;

	t->first_block = calloc(n_tracks + 1, sizeof(*t->first_block));
	if (!t->first_block)
		return ws_fail(err, WS_E_NOMEM, "no memory for the tracks of a trace");
	for (size_t i = 0; i < n_tracks; i++) {
		const struct tl_track *track = tl_track_at(t->timeline, i);

		for (size_t k = 0; k < track->n_levels; k++) {
			t->first_block[i][k] = (unsigned)n;
			n += track->levels[k].n_tiles;
		}
	}
	if (n >= UINT32_MAX)
		return ws_fail(err, WS_E_LIMIT, "the trace has too many events");
	t->n_blocks = (unsigned)n;
	return WS_OK;
}

static enum ws_status write_head(struct srv_trace *t, struct ws_err *err)
{
	struct output_trace_head head = {
		.timeline = t->timeline,
		.processes = t->processes,
		.n_processes = t->n_processes,
		.first_block = (const unsigned(*)[TL_LEVELS_MAX])t->first_block,
	};

	output_trace_head_json(&head, &t->head);
	return ws_buf_status(&t->head, err);
}

static enum ws_status write_tables(struct srv_trace *t, struct ws_err *err)
{
	struct tl_coder coder;
	const void *bytes;
	struct ws_buf plain;
	size_t n;
	enum ws_status st = tl_coder_init(&coder, err);

	if (st)
		return st;
	ws_buf_init(&plain, JSON_BYTES_MAX);
	output_trace_tables_json(t->timeline, &plain);
	st = ws_buf_status(&plain, err);
	if (!st)
		st = tl_coder_pack(&coder, plain.at, plain.n, &bytes, &n, err);
	if (!st) {
		ws_buf_add_n(&t->tables, bytes, n);
		st = ws_buf_status(&t->tables, err);
	}
	ws_buf_fini(&plain);
	tl_coder_fini(&coder);
	return st;
}

enum ws_status srv_trace_create(const struct trc_trace *trace,
				void (*progress)(void *ctx, double done), void *progress_ctx,
				struct srv_trace **out_trace, struct ws_err *err)
{
	struct tl_opts opts = { .progress = progress, .progress_ctx = progress_ctx };
	struct srv_trace *t = calloc(1, sizeof(*t));
	enum ws_status st = WS_OK;

	if (t) {
		ws_buf_init(&t->head, JSON_BYTES_MAX);
		ws_buf_init(&t->tables, JSON_BYTES_MAX);
		t->trace = trace;
		t->n_processes = trc_n_processes(trace);
		t->processes = calloc(t->n_processes + 1, sizeof(*t->processes));
	}
	if (!t || !t->processes)
		st = ws_fail(err, WS_E_NOMEM, "no memory for a trace");
	for (size_t i = 0; !st && i < t->n_processes; i++)
		t->processes[i] = trc_process_at(trace, i);
	if (!st)
		st = tl_create(trace, NULL, 0, &opts, &t->timeline, err);
	if (!st && !tl_n_tracks(t->timeline))
		st = ws_fail(err, WS_E_NOTFOUND,
			     "the trace has no events: record some with 'rocprofv3 --sys-trace'");
	if (!st)
		st = tl_sums_create(t->timeline, &t->sums, err);
	if (!st)
		st = number_blocks(t, err);
	if (!st)
		st = write_head(t, err);
	if (!st)
		st = write_tables(t, err);
	if (st) {
		srv_trace_destroy(t);
		return st;
	}
	*out_trace = t;
	return WS_OK;
}

void srv_trace_destroy(struct srv_trace *t)
{
	if (!t)
		return;
	tl_sums_destroy(t->sums);
	tl_destroy(t->timeline);
	ws_buf_fini(&t->head);
	ws_buf_fini(&t->tables);
	free(t->first_block);
	free(t->processes);
	free(t);
}

/* ---- the page and its tables ---- */

static void put_bytes(void *ctx, const void *bytes, size_t n)
{
	ws_buf_add_n(ctx, bytes, n);
}

static enum ws_status answer_page(struct srv_trace *t, const struct srv_request *request,
				  struct srv_answer *answer, struct ws_err *err)
{
	struct page_out out = { .put = put_bytes, .ctx = &answer->body, .nonce = request->nonce };
	const char *program = t->n_processes ? trc_process_program(t->processes[0]) : "";

	(void)err;
	page_begin(&out, *program ? program : "Trace",
		   (const char *const[]){ page_asset_page_css, page_asset_trace_css, NULL });
	page_put(&out, page_asset_trace_html);
	page_json_begin(&out, "head");
	ws_buf_add_n(&answer->body, t->head.at, t->head.n);
	page_json_end(&out);
	page_scripts(&out,
		     (const char *const[]){ page_asset_page_js, page_asset_flamegraph_js,
					    page_asset_trace_data_js, page_asset_trace_live_js,
					    page_asset_trace_draw_js, page_asset_trace_panel_js,
					    page_asset_trace_js, NULL });
	page_end(&out);
	return WS_OK;
}

static enum ws_status answer_tables(struct srv_trace *t, const struct srv_request *request,
				    struct srv_answer *answer, struct ws_err *err)
{
	(void)request;
	(void)err;
	answer->type = SRV_TYPE_BYTES;
	ws_buf_add_n(&answer->body, t->tables.at, t->tables.n);
	return WS_OK;
}

/* ---- tiles ---- */

/* The tiles of a request, and where each begins in the answer. */
struct tile_list {
	const struct tl_timeline *timeline;
	size_t n;
	const struct tl_tile *tiles[SRV_BLOCKS_MAX];
	uint64_t at[SRV_BLOCKS_MAX + 1];
};

static const struct tl_tile *tile_of_block(const struct srv_trace *t, unsigned block)
{
	const struct tl_track *track;
	size_t low = 0, high = tl_n_tracks(t->timeline), level;

	/* the last track that begins at or before it; tracks without tiles share a number */
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (t->first_block[middle][0] <= block)
			low = middle;
		else
			high = middle;
	}
	track = tl_track_at(t->timeline, low);
	level = track->n_levels - 1;
	while (t->first_block[low][level] > block)
		level--;
	return &track->levels[level].tiles[block - t->first_block[low][level]];
}

static ssize_t read_tiles(void *ctx, uint64_t at, char *to, size_t room)
{
	const struct tile_list *list = ctx;
	size_t i = 0, within, n;

	while (i < list->n && list->at[i + 1] <= at)
		i++;
	if (i == list->n)
		return -1;
	within = (size_t)(at - list->at[i]);
	if (within < LENGTH_BYTES) {
		uint32_t length = list->tiles[i]->n_bytes;
		unsigned char bytes[LENGTH_BYTES] = { (unsigned char)length,
						      (unsigned char)(length >> 8),
						      (unsigned char)(length >> 16),
						      (unsigned char)(length >> 24) };

		n = WS_MIN(LENGTH_BYTES - within, room);
		memcpy(to, bytes + within, n);
		return (ssize_t)n;
	}
	n = WS_MIN((size_t)(list->at[i + 1] - at), room);
	if (tl_tile_bytes(list->timeline, list->tiles[i], within - LENGTH_BYTES, to, n, NULL))
		return -1;
	return (ssize_t)n;
}

static enum ws_status answer_tiles(struct srv_trace *t, const struct srv_request *request,
				   struct srv_answer *answer, struct ws_err *err)
{
	const char *text = request->value(request->ctx, "blocks", 0);
	struct srv_range ranges[SRV_BLOCKS_MAX];
	struct tile_list *list;
	size_t n_ranges;
	enum ws_status st;

	if (!text || !t->n_blocks)
		return ws_fail(err, WS_E_USAGE, "blocks is missing: blocks=3-7,9");
	st = srv_ranges_parse(text, t->n_blocks - 1, SRV_BLOCKS_MAX, ranges, SRV_BLOCKS_MAX,
			      &n_ranges, err);
	if (st)
		return st;
	list = calloc(1, sizeof(*list));
	if (!list)
		return ws_fail(err, WS_E_NOMEM, "no memory for an answer");
	list->timeline = t->timeline;
	for (size_t i = 0; i < n_ranges; i++)
		for (uint64_t block = ranges[i].first; block <= ranges[i].last; block++) {
			const struct tl_tile *tile = tile_of_block(t, (unsigned)block);

			list->tiles[list->n] = tile;
			list->at[list->n + 1] = list->at[list->n] + LENGTH_BYTES + tile->n_bytes;
			list->n++;
		}
	answer->type = SRV_TYPE_BYTES;
	answer->n_bytes = list->at[list->n];
	answer->read = read_tiles;
	answer->release = free;
	answer->ctx = list;
	return WS_OK;
}

/* ---- sums ---- */

static enum ws_status pack_sums(const struct tl_sum *by_path, size_t n, struct srv_answer *answer,
				struct ws_err *err)
{
	struct tl_coder coder;
	struct ws_buf plain;
	const void *bytes;
	uint64_t n_rows = 0;
	size_t n_bytes;
	enum ws_status st = tl_coder_init(&coder, err);

	if (st)
		return st;
	ws_buf_init(&plain, JSON_BYTES_MAX);
	for (size_t i = 0; i < n; i++)
		n_rows += by_path[i].n != 0;
	tl_put_number(&plain, n_rows);
	for (size_t i = 0; i < n; i++) {
		if (!by_path[i].n)
			continue;
		tl_put_number(&plain, i);
		tl_put_number(&plain, by_path[i].n);
		tl_put_number(&plain, by_path[i].sum_ns);
		tl_put_number(&plain, by_path[i].min_ns);
		tl_put_number(&plain, by_path[i].max_ns);
		tl_put_number(&plain, by_path[i].inside_ns);
	}
	st = ws_buf_status(&plain, err);
	if (!st)
		st = tl_coder_pack(&coder, plain.at, plain.n, &bytes, &n_bytes, err);
	if (!st)
		ws_buf_add_n(&answer->body, bytes, n_bytes);
	ws_buf_fini(&plain);
	tl_coder_fini(&coder);
	return st;
}

static enum ws_status answer_sums(struct srv_trace *t, const struct srv_request *request,
				  struct srv_answer *answer, struct ws_err *err)
{
	uint64_t start_ns = tl_start_ns(t->timeline), max = UINT64_MAX - start_ns;
	uint64_t from_ns, to_ns, samples;
	size_t n_paths = tl_n_paths(t->timeline);
	struct tl_sum *by_path;
	enum ws_status st = srv_request_number(request, "from", max, &from_ns, err);

	if (!st)
		st = srv_request_number(request, "to", max, &to_ns, err);
	if (!st)
		st = srv_request_number(request, "samples", 1, &samples, err);
	if (!st && to_ns < from_ns)
		st = ws_fail(err, WS_E_USAGE, "to is before from");
	if (st)
		return st;
	by_path = calloc(n_paths, sizeof(*by_path));
	if (!by_path)
		return ws_fail(err, WS_E_NOMEM, "no memory for sums");
	for (size_t i = 0; !st && i < tl_n_tracks(t->timeline); i++) {
		bool is_sampled = tl_track_at(t->timeline, i)->kind == TL_TRACK_SAMPLES;

		if (is_sampled == (samples != 0))
			st = tl_sums_add(t->sums, i, start_ns + from_ns, start_ns + to_ns, by_path,
					 err);
	}
	answer->type = SRV_TYPE_BYTES;
	if (!st)
		st = pack_sums(by_path, n_paths, answer, err);
	free(by_path);
	return st;
}

/* ---- search ---- */

/* By path: whether its name is among those of the request. */
static enum ws_status wanted_paths(struct srv_trace *t, const struct srv_request *request,
				   bool **out_is_wanted, struct ws_err *err)
{
	const char *text = request->value(request->ctx, "names", 0);
	size_t n_names = tl_n_names(t->timeline), n_paths = tl_n_paths(t->timeline), n_ranges;
	struct srv_range *ranges = calloc(SRV_RANGES_MAX, sizeof(*ranges));
	bool *by_name = calloc(n_names, sizeof(*by_name));
	bool *by_path = calloc(n_paths, sizeof(*by_path));
	enum ws_status st = WS_OK;

	if (!ranges || !by_name || !by_path)
		st = ws_fail(err, WS_E_NOMEM, "no memory for a search");
	else if (!text)
		st = ws_fail(err, WS_E_USAGE, "names is missing: names=3-7,9");
	else
		st = srv_ranges_parse(text, n_names - 1, n_names, ranges, SRV_RANGES_MAX, &n_ranges,
				      err);
	for (size_t i = 0; !st && i < n_ranges; i++)
		for (uint64_t name = ranges[i].first; name <= ranges[i].last; name++)
			by_name[name] = true;
	for (size_t i = 1; !st && i < n_paths; i++)
		by_path[i] = by_name[tl_path_at(t->timeline, i)->name];
	free(ranges);
	free(by_name);
	if (st) {
		free(by_path);
		return st;
	}
	*out_is_wanted = by_path;
	return WS_OK;
}

static enum ws_status answer_find(struct srv_trace *t, const struct srv_request *request,
				  struct srv_answer *answer, struct ws_err *err)
{
	const char *step = request->value(request->ctx, "step", 0);
	uint64_t track, tile;
	bool *is_wanted;
	size_t found;
	enum ws_status st =
		srv_request_number(request, "track", tl_n_tracks(t->timeline) - 1, &track, err);

	if (!st)
		st = srv_request_number(request, "tile", UINT32_MAX, &tile, err);
	if (!st && (!step || (strcmp(step, "up") != 0 && strcmp(step, "down") != 0)))
		st = ws_fail(err, WS_E_USAGE, "step requires up or down");
	if (!st)
		st = wanted_paths(t, request, &is_wanted, err);
	if (st)
		return st;
	answer->type = SRV_TYPE_JSON;
	if (tl_sums_tile_with(t->sums, track, tile, strcmp(step, "up") == 0 ? 1 : -1, is_wanted,
			      &found))
		ws_buf_printf(&answer->body, "[%zu]", found);
	else
		ws_buf_add(&answer->body, "[]");
	free(is_wanted);
	return WS_OK;
}

/* ---- requests ---- */

static const struct {
	const char *path;
	enum ws_status (*answer)(struct srv_trace *t, const struct srv_request *request,
				 struct srv_answer *answer, struct ws_err *err);
} resources[] = {
	{ "", answer_page },     { "tables", answer_tables }, { "tiles", answer_tiles },
	{ "sums", answer_sums }, { "find", answer_find },
};

enum ws_status srv_trace_answer(void *of, const struct srv_request *request,
				struct srv_answer *answer, struct ws_err *err)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(resources); i++)
		if (strcmp(resources[i].path, request->path) == 0)
			return resources[i].answer(of, request, answer, err);
	return ws_fail(err, WS_E_NOTFOUND, "there is no such page");
}
