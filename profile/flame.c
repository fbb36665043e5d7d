/* The flame graph: its data as JSON; the page itself is in pages/. */
#include "profile/flame.h"

#include "pages/assets.h"
#include "pages/page.h"
#include "profile/report_priv.h"

#include <math.h>
#include <string.h>

static bool has_values(const struct prof_tree *tree, enum prof_clock clock)
{
	for (size_t i = 0; tree && i < tree->n_threads; i++)
		for (const struct prof_node *node = tree->threads[i].root->first; node;
		     node = node->next)
			if (node->stat[clock].sum > 0)
				return true;
	return false;
}

size_t prof_flame_views(const struct prof_tree *calls, const struct prof_tree *samples,
			struct prof_flame_view out_views[PROF_FLAME_VIEWS_MAX])
{
	const struct prof_flame_view all[PROF_FLAME_VIEWS_MAX] = {
		{ "CPU time", "sampled: CPU time that a thread used up to each sample", samples,
		  PROF_CLOCK_CPU },
		{ "Wall clock", "sampled: time between the samples of a thread", samples,
		  PROF_CLOCK_WALL },
		{ "Regions and calls",
		  "measured; kernels and copies are added to the call that launched them", calls,
		  PROF_CLOCK_WALL },
	};
	size_t n = 0;

	for (size_t i = 0; i < WS_ARRAY_LEN(all); i++) {
		const struct prof_tree *tree = all[i].tree;

		/* Without paths, or with a node for every call, there is nothing to draw. */
		if (has_values(tree, all[i].clock) && !tree->opts.flat && !tree->opts.timeline)
			out_views[n++] = all[i];
	}
	return n;
}

/* Nanoseconds of the node itself. */
static double self_ns(const struct prof_node *node, enum prof_clock clock)
{
	double self = node->stat[clock].sum - prof_node_children(node, clock);

	return self > 0 ? round(self) : 0;
}

/* ---- texts: each once, by number ---- */

struct text_table {
	struct ws_map ids; /* from the text to its number + 1 */
	bool failed;
};

static size_t text_id(struct text_table *table, const char *text)
{
	struct ws_map_entry *entry = ws_map_find(&table->ids, ws_str_from(text));
	size_t n = table->ids.n;

	if (entry)
		return (size_t)(uintptr_t)entry->value - 1;
	table->failed |= ws_map_put(&table->ids, ws_str_from(text), (void *)(uintptr_t)(n + 1),
				    NULL) != WS_OK;
	return n;
}

static void put_texts(const struct text_table *table, FILE *to)
{
	bool more = false;

	fputs("\"texts\":[", to);
	ws_map_each(entry, &table->ids) {
		fputs(more ? ",\n" : "", to);
		prof_json_text(to, entry->str.at);
		more = true;
	}
	fputs("]", to);
}

/* ---- the data ---- */

/* A node: depth, name, file, module, line, kind, own time, calls. Parents precede children. */
static void put_nodes(const struct prof_node *root, enum prof_clock clock, struct text_table *texts,
		      FILE *to)
{
	bool more = false;

	fputs("\"nodes\":[", to);
	for (const struct prof_node *node = root->first; node; node = prof_node_next(root, node)) {
		fprintf(to, "%s%u,%zu,%zu,%zu,%u,%u,%.0f,%llu", more ? ",\n" : "", node->depth,
			text_id(texts, node->name), text_id(texts, node->file),
			text_id(texts, node->module), node->line, node->kind, self_ns(node, clock),
			(unsigned long long)node->stat[clock].n);
		more = true;
	}
	fputs("]", to);
}

/* "Thread 1 (4712) worker" */
static void thread_title(const struct prof_tree_thread *at, bool ranks, struct ws_buf *out)
{
	ws_buf_clear(out);
	if (ranks)
		ws_buf_printf(out, "Rank %d, ", at->rank);
	if (!at->thread) {
		ws_buf_add(out, "All threads");
		return;
	}
	ws_buf_printf(out, "Thread %u (%u)", at->thread->index, at->thread->tid);
	if (*at->thread->name)
		ws_buf_printf(out, " %s", at->thread->name);
}

static void put_view(const struct prof_flame_view *view, struct text_table *texts, FILE *to)
{
	const struct prof_tree *tree = view->tree;
	struct ws_buf title;
	bool ranks = tree->n_threads && tree->threads[tree->n_threads - 1].rank > 0;

	ws_buf_init(&title, 4096);
	fputs("{\"title\":", to);
	prof_json_text(to, view->title);
	fputs(",\"note\":", to);
	prof_json_text(to, view->note);
	fprintf(to, ",\"sampled\":%s,\"threads\":[", tree->has_stacks ? "true" : "false");
	for (size_t i = 0; i < tree->n_threads; i++) {
		fputs(i ? ",\n{\"title\":" : "{\"title\":", to);
		thread_title(&tree->threads[i], ranks, &title);
		texts->failed |= title.failed != WS_OK;
		prof_json_text(to, title.at);
		fputc(',', to);
		put_nodes(tree->threads[i].root, view->clock, texts, to);
		fputc('}', to);
	}
	fputs("]}", to);
	ws_buf_fini(&title);
}

static bool put_data(const struct prof_flame_view *views, size_t n_views, const char *program,
		     FILE *to)
{
	struct text_table texts = { 0 };

	ws_map_init(&texts.ids, WS_MAP_STR, INT32_MAX);
	text_id(&texts, "");
	fputs("{\"program\":", to);
	prof_json_text(to, program);
	fputs(",\"kinds\":[", to);
	for (unsigned i = 0; i < PROF_KIND_COUNT; i++)
		fprintf(to, "%s\"%s\"", i ? "," : "", prof_kind_word((enum prof_kind)i));
	fputs("],\"views\":[", to);
	for (size_t i = 0; i < n_views; i++) {
		fputs(i ? "," : "", to);
		put_view(&views[i], &texts, to);
	}
	fputs("],", to);
	put_texts(&texts, to);
	fputs("}", to);
	ws_map_fini(&texts.ids);
	return !texts.failed;
}

static void put_bytes(void *ctx, const void *bytes, size_t n)
{
	fwrite(bytes, 1, n, ctx);
}

bool prof_flame_write(const struct prof_flame_view *views, size_t n_views, const char *program,
		      FILE *to)
{
	const struct page_out out = { .put = put_bytes, .ctx = to };
	bool good;

	page_begin(&out, "Flame graph",
		   (const char *const[]){ page_asset_page_css, page_asset_flame_css, NULL });
	page_put(&out, page_asset_flame_html);
	page_json_begin(&out, "data");
	good = put_data(views, n_views, program, to);
	page_json_end(&out);
	page_scripts(&out, (const char *const[]){ page_asset_page_js, page_asset_flamegraph_js,
						  page_asset_flame_js, NULL });
	page_end(&out);
	return good;
}
