/* The rows of a table, and their labels. */
#include "profile/report_priv.h"

#include <string.h>

static unsigned digits(uint64_t v)
{
	unsigned n = 1;

	while (v /= 10)
		n++;
	return n;
}

uint64_t prof_name_hash(const char *name)
{
	return ws_hash_bytes(name, strlen(name));
}

static struct prof_stat stat_of(const struct prof_row_walk *walk, const struct prof_node *node)
{
	double n = (double)node->n_trips, share, each;

	switch (walk->sheet->value) {
	case PROF_VALUE_WALL:
		return node->stat[PROF_CLOCK_WALL];
	case PROF_VALUE_CPU:
		return node->stat[PROF_CLOCK_CPU];
	case PROF_VALUE_PERCENT:
		n = (double)node->stat[PROF_CLOCK_CPU].n;
		share = walk->thread_total > 0 ? 100 * (double)node->n_periods / walk->thread_total
					       : 0;
		each = n > 0 ? share / n : 0;
		return (struct prof_stat){ .n = node->stat[PROF_CLOCK_CPU].n,
					   .sum = share,
					   .sqr = n * each * each,
					   .min = each,
					   .max = each };
	case PROF_VALUE_TRIPS:
		break;
	}
	return (struct prof_stat){ .n = node->n_trips, .sum = n, .sqr = n, .min = 1, .max = 1 };
}

static double self_percent(const struct prof_row_walk *walk, const struct prof_node *node)
{
	enum prof_clock clock =
		walk->sheet->value == PROF_VALUE_CPU ? PROF_CLOCK_CPU : PROF_CLOCK_WALL;
	double own = node->stat[clock].sum, self;

	if (walk->sheet->value == PROF_VALUE_PERCENT)
		return node->n_periods ? 100 * (double)node->n_inside / (double)node->n_periods : 0;
	if (!(own > 0))
		return 0;
	self = (1 - prof_node_children(node, clock) / own) * 100;
	return self > 0 ? self : 0;
}

void prof_rows_thread(const struct prof_row_walk *walk, struct ws_buf *out)
{
	if (walk->sheet->n_ranks > 1)
		ws_buf_printf(out, "|%0*d", (int)walk->rank_digits, walk->at->rank);
	if (walk->at->thread)
		ws_buf_printf(out, "|%0*u", (int)walk->thread_digits, walk->at->thread->index);
	ws_buf_add(out, ">>> ");
}

static void make_label(struct prof_row_walk *walk)
{
	ws_buf_clear(&walk->label);
	prof_rows_thread(walk, &walk->label);
	if (walk->row.depth) {
		ws_buf_add_c(&walk->label, ' ', 2 * ((size_t)walk->row.depth - 1));
		ws_buf_add(&walk->label, "|_");
	}
	ws_buf_add(&walk->label, walk->row.name);
	walk->failed |= walk->label.failed != WS_OK;
}

/* The threads of all trees of a sheet are the same: each is looked up in the others. */
static const struct prof_tree_thread *thread_in(const struct prof_tree *tree,
						const struct prof_tree_thread *like)
{
	for (size_t i = 0; i < tree->n_threads; i++) {
		const struct prof_tree_thread *at = &tree->threads[i];

		if (at->rank == like->rank &&
		    (!at->thread || !like->thread || at->thread->index == like->thread->index))
			return at;
	}
	return NULL;
}

void prof_rows_begin(struct prof_row_walk *walk, const struct prof_sheet *sheet)
{
	int rank_max = 0;
	uint32_t thread_max = 0;

	*walk = (struct prof_row_walk){ .sheet = sheet };
	ws_buf_init(&walk->label, 1u << 20);
	for (size_t tree = 0; tree < sheet->n_trees; tree++) {
		for (size_t i = 0; i < sheet->trees[tree]->n_threads; i++) {
			const struct prof_tree_thread *at = &sheet->trees[tree]->threads[i];

			rank_max = WS_MAX(rank_max, at->rank);
			if (at->thread)
				thread_max = WS_MAX(thread_max, at->thread->index);
		}
	}
	walk->rank_digits = digits((uint64_t)rank_max);
	walk->thread_digits = digits(thread_max);
}

void prof_rows_end(struct prof_row_walk *walk)
{
	ws_buf_fini(&walk->label);
}

static double total_of(const struct prof_node *root)
{
	uint64_t n = 0;

	for (const struct prof_node *node = root->first; node; node = prof_node_next(root, node))
		n += node->n_inside;
	return (double)n;
}

/*
 * The next tree: those of the first list of threads with the same thread's of the second list
 * after each; then the threads that only the second list has.
 */
static bool next_tree(struct prof_row_walk *walk)
{
	const struct prof_sheet *sheet = walk->sheet;
	const struct prof_tree_thread *same;

	walk->node = NULL;
	if (walk->at && walk->tree == 0 && sheet->n_trees > 1) {
		same = thread_in(sheet->trees[1], walk->at);
		walk->tree = 2; /* done with this thread */
		if (same) {
			walk->at = same;
			return true;
		}
	}
	if (walk->thread < sheet->trees[0]->n_threads) {
		walk->at = &sheet->trees[0]->threads[walk->thread++];
		walk->tree = 0;
		return true;
	}
	while (sheet->n_trees > 1 &&
	       walk->thread - sheet->trees[0]->n_threads < sheet->trees[1]->n_threads) {
		walk->at = &sheet->trees[1]->threads[walk->thread++ - sheet->trees[0]->n_threads];
		walk->tree = 1;
		if (!thread_in(sheet->trees[0], walk->at))
			return true;
	}
	return false;
}

bool prof_rows_next(struct prof_row_walk *walk)
{
	for (;;) {
		const struct prof_node *root = walk->at ? walk->at->root : NULL;

		if (walk->node)
			walk->node = prof_node_next(root, walk->node);
		while (!walk->node) {
			if (!next_tree(walk))
				return false;
			root = walk->at->root;
			walk->node = root->first;
			if (walk->sheet->value == PROF_VALUE_PERCENT)
				walk->thread_total = total_of(root);
		}
		walk->row = (struct prof_row){ .name = walk->node->name,
					       .depth = walk->node->depth,
					       .stat = stat_of(walk, walk->node),
					       .self_percent = self_percent(walk, walk->node) };
		walk->row.mean = prof_stat_mean(&walk->row.stat);
		/* Functions that only other kinds of samples met have no row on this clock. */
		if (!walk->row.stat.n && walk->node->n_trips)
			continue;
		make_label(walk);
		return true;
	}
}

bool prof_sheet_empty(const struct prof_sheet *sheet)
{
	struct prof_row_walk walk;
	bool any;

	prof_rows_begin(&walk, sheet);
	any = prof_rows_next(&walk);
	prof_rows_end(&walk);
	return !any;
}
