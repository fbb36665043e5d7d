/*
 * html: a trace as one page, for a browser without network. docs/formats/html.md.
 *
 * The page holds the coarse levels of every track, and the finer ones as far as they fit. What does not fit
 * is named in the page: the times that its slices are merged to, and the exact sums by
 * path, which are always there.
 */
#include "base/util.h"
#include "output/html_head.h"
#include "output/output_priv.h"
#include "pages/assets.h"
#include "pages/page.h"
#include "timeline/tile.h"
#include "timeline/timeline.h"

#include <stdio.h>
#include <stdlib.h>

/* Of tiles: what browsers open at once, and mail accepts. Tables and sums are added. */
#define TILE_BYTES_MAX (22u << 20)

/* A level of a track that may be in the page. */
struct candidate {
	uint32_t track, level;
	uint64_t resolution_ns;
	enum tl_track_kind kind;
	bool coarsest;
	size_t n_bytes; /* in the page */
};

struct html_page {
	struct output_run *run;
	struct output_sink sink;
	struct page_out out;
	struct tl_timeline *timeline;
	struct tl_coder coder;
	uint32_t *finest;                 /* by track: the finest level that is in the page */
	unsigned (*first)[TL_LEVELS_MAX]; /* by track and level: number of its first block */
	unsigned n_blocks;
};

static void put_bytes(void *ctx, const void *bytes, size_t n)
{
	output_sink_put(ctx, bytes, n);
}

/* ---- what fits ---- */

static int by_need(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->coarsest != y->coarsest)
		return x->coarsest ? -1 : 1;
	if (x->resolution_ns != y->resolution_ns)
		return x->resolution_ns > y->resolution_ns ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->track < y->track ? -1 : x->track > y->track;
}

static void add_candidates(const struct html_page *page, uint32_t number, struct candidate *to,
			   size_t *n)
{
	const struct tl_track *track = tl_track_at(page->timeline, number);

	for (size_t i = 0; i < track->n_levels; i++) {
		const struct tl_level *level = &track->levels[i];
		struct candidate *c = &to[(*n)++];

		*c = (struct candidate){ .track = number,
					 .level = (uint32_t)i,
					 .resolution_ns = level->resolution_ns,
					 .kind = track->kind,
					 .coarsest = i + 1 == track->n_levels };
		for (size_t k = 0; k < level->n_tiles; k++)
			c->n_bytes += page_block_bytes(level->tiles[k].n_bytes);
	}
}

/*
 * Call @fn for all levels that are in the page, in the order of the file: the coarsest of all
 * tracks, which are the first picture, then the next ones, and so on.
 */
static enum ws_status each_level(struct html_page *page,
				 enum ws_status (*fn)(struct html_page *page, size_t track,
						      size_t level, struct ws_err *err),
				 size_t from, size_t until, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (size_t i = from; i < until; i++)
		for (size_t track = 0; !st && track < tl_n_tracks(page->timeline); track++) {
			size_t n = tl_track_at(page->timeline, track)->n_levels;

			if (i < n && n - 1 - i >= page->finest[track])
				st = fn(page, track, n - 1 - i, err);
		}
	return st;
}

static enum ws_status number_blocks(struct html_page *page, size_t track, size_t level,
				    struct ws_err *err)
{
	(void)err;
	page->first[track][level] = page->n_blocks;
	page->n_blocks += (unsigned)tl_track_at(page->timeline, track)->levels[level].n_tiles;
	return WS_OK;
}

/* Levels from coarse to fine; a track without a level has none of its finer ones either. */
static enum ws_status choose_levels(struct html_page *page, size_t max_bytes, struct ws_err *err)
{
	size_t n_tracks = tl_n_tracks(page->timeline), n = 0;
	struct candidate *all = calloc(n_tracks * TL_LEVELS_MAX + 1, sizeof(*all));

	page->finest = calloc(n_tracks + 1, sizeof(*page->finest));
	page->first = calloc(n_tracks + 1, sizeof(*page->first));
	if (!all || !page->finest || !page->first) {
		free(all);
		return ws_fail(err, WS_E_NOMEM, "no memory for a page");
	}
	for (size_t i = 0; i < n_tracks; i++) {
		page->finest[i] = (uint32_t)tl_track_at(page->timeline, i)->n_levels;
		add_candidates(page, (uint32_t)i, all, &n);
	}
	qsort(all, n, sizeof(*all), by_need);
	for (size_t i = 0; i < n; i++) {
		uint32_t *finest = &page->finest[all[i].track];

		if (*finest != all[i].level + 1 || (!all[i].coarsest && all[i].n_bytes > max_bytes))
			continue;
		max_bytes -= WS_MIN(max_bytes, all[i].n_bytes);
		*finest = all[i].level;
	}
	free(all);
	return each_level(page, number_blocks, 0, TL_LEVELS_MAX, err);
}

/* ---- tables ---- */

static enum ws_status put_packed(struct html_page *page, const char *id, const struct ws_buf *plain,
				 struct ws_err *err)
{
	const void *bytes;
	size_t n;
	enum ws_status st = ws_buf_status(plain, err);

	if (!st)
		st = tl_coder_pack(&page->coder, plain->at, plain->n, &bytes, &n, err);
	if (!st)
		page_block(&page->out, id, bytes, n);
	return st;
}

static enum ws_status put_tables(struct html_page *page, struct ws_err *err)
{
	struct ws_buf buf;
	enum ws_status st;

	ws_buf_init(&buf, (size_t)2 << 30);
	output_trace_tables_json(page->timeline, &buf);
	st = put_packed(page, "tables", &buf, err);
	ws_buf_fini(&buf);
	return st;
}

static enum ws_status put_head(struct html_page *page, struct ws_err *err)
{
	struct output_trace_head head = { .timeline = page->timeline,
					  .processes = page->run->processes,
					  .n_processes = page->run->n_processes,
					  .finest = page->finest,
					  .first_block = page->first };
	struct ws_buf buf;
	enum ws_status st;

	ws_buf_init(&buf, (size_t)1 << 30);
	output_trace_head_json(&head, &buf);
	st = ws_buf_status(&buf, err);
	page_json_begin(&page->out, "head");
	if (!st)
		output_sink_put(&page->sink, buf.at, buf.n);
	page_json_end(&page->out);
	ws_buf_fini(&buf);
	return st;
}

/* ---- tiles ---- */

static enum ws_status put_tile(void *ctx, const struct tl_tile *tile, const void *bytes,
			       struct ws_err *err)
{
	struct html_page *page = ctx;
	char id[24];

	(void)err;
	snprintf(id, sizeof(id), "b%u", page->n_blocks++);
	page_block(&page->out, id, bytes, tile->n_bytes);
	return page->sink.err.status;
}

static enum ws_status put_summaries(struct html_page *page, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (size_t i = 0; !st && i < tl_n_tracks(page->timeline); i++) {
		const struct tl_track *track = tl_track_at(page->timeline, i);
		const void *bytes;
		size_t n;
		char id[24];

		if (!track->n_summary)
			continue;
		st = tl_coder_pack(&page->coder, track->summary, track->n_summary, &bytes, &n, err);
		if (!st) {
			snprintf(id, sizeof(id), "s%zu", i);
			page_block(&page->out, id, bytes, n);
		}
	}
	return st;
}

static enum ws_status put_level(struct html_page *page, size_t track, size_t level,
				struct ws_err *err)
{
	return tl_tiles(page->timeline, track, level, 0, UINT64_MAX, put_tile, page, err);
}

/* ---- the page ---- */

static enum ws_status put_page(struct html_page *page, struct ws_err *err)
{
	const struct output_run *run = page->run;
	const char *program = run->n_processes ? trc_process_program(run->processes[0]) : "";
	struct page_out *out = &page->out;
	enum ws_status st;

	page_begin(out, *program ? program : "Trace",
		   (const char *const[]){ page_asset_page_css, page_asset_trace_css, NULL });
	page_put(out, page_asset_trace_html);
	st = put_head(page, err);
	if (!st)
		st = put_tables(page, err);
	if (!st)
		page_scripts(out, (const char *const[]){
					  page_asset_page_js, page_asset_flamegraph_js,
					  page_asset_trace_data_js, page_asset_trace_stored_js,
					  page_asset_trace_draw_js, page_asset_trace_panel_js,
					  page_asset_trace_js, NULL });
	page->n_blocks = 0;
	if (!st)
		st = each_level(page, put_level, 0, 1, err);
	if (!st)
		st = put_summaries(page, err);
	if (!st)
		st = each_level(page, put_level, 1, TL_LEVELS_MAX, err);
	page_end(out);
	return st;
}

static void count_written(struct html_page *page)
{
	struct output_result *result = page->run->result;

	for (unsigned d = 0; d < CAP_DOMAIN_COUNT; d++)
		result->n_written[OUTPUT_HTML][d] = tl_n_placed(page->timeline, d);
}

static enum ws_status write_html(struct output_run *run, struct ws_err *err)
{
	struct html_page *page = calloc(1, sizeof(*page));
	struct tl_opts opts = { .group_by_queue = run->cfg->group_by_queue,
				.kernel_rename = run->cfg->kernel_rename,
				.agent_index = run->cfg->agent_index };
	enum ws_status st;

	if (!page)
		return ws_fail(err, WS_E_NOMEM, "no memory for a page");
	page->run = run;
	page->out = (struct page_out){ .put = put_bytes, .ctx = &page->sink };
	st = tl_create(run->trace, run->processes, run->n_processes, &opts, &page->timeline, err);
	if (!st)
		st = choose_levels(page, TILE_BYTES_MAX, err);
	if (!st)
		st = tl_coder_init(&page->coder, err);
	if (!st)
		st = output_run_open(run, &page->sink, "results.html", err);
	if (!st) {
		st = put_page(page, err);
		for (size_t i = 0; i < tl_n_tracks(page->timeline); i++)
			page->sink.n_rows += tl_track_at(page->timeline, i)->n_events;
		if (!st || page->sink.err.status)
			st = output_run_finish(run, OUTPUT_HTML, &page->sink, err);
		output_sink_abandon(&page->sink);
	}
	if (!st)
		count_written(page);
	tl_coder_fini(&page->coder);
	tl_destroy(page->timeline);
	free(page->finest);
	free(page->first);
	free(page);
	return st;
}

const struct output_ops output_html = {
	.word = "html",
	.what = "page for a browser",
	.write = write_html,
};
