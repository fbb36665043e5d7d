/*
 * Any bytes as the JSON report of an earlier run: refused with a sentence, or rows that can be
 * compared with those of this run.
 */
#include "profile/report_priv.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* app, and work inside of it. */
static struct prof_tree *small_tree(void)
{
	struct prof_tree_opts opts = { .max_nodes = 16 };
	struct prof_tree *tree = NULL;
	struct prof_node *node;

	CHECK(!prof_tree_create(&opts, &tree, NULL));
	node = prof_tree_root(tree, NULL, 0, NULL);
	CHECK(node);
	node = prof_tree_child(tree, node, "app", PROF_KIND_C);
	prof_stat_add(&node->stat[PROF_CLOCK_WALL], 100);
	node = prof_tree_child(tree, node, "work", PROF_KIND_C);
	prof_stat_add(&node->stat[PROF_CLOCK_WALL], 50);
	return tree;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct prof_before *before = NULL;
	struct ws_err err = { 0 };
	struct prof_tree *tree;
	char *text = NULL;
	size_t n = 0;
	FILE *to;

	if (prof_before_parse("before.json", (struct ws_str){ (const char *)data, size },
			      "wall_clock", &before, &err)) {
		CHECK(err.text[0]);
		return 0;
	}
	tree = small_tree();
	to = open_memstream(&text, &n);
	CHECK(to);
	CHECK(!prof_diff_text(&(struct prof_sheet){ .name = "wall_clock",
						    .label = "wall_clock",
						    .description = "time",
						    .unit_text = "sec",
						    .unit = 1,
						    .precision = 6,
						    .columns = PROF_COLUMNS_ALL,
						    .max_width = 40,
						    .n_ranks = 1,
						    .trees = { tree },
						    .n_trees = 1 },
			      before, to, &err));
	fclose(to);
	CHECK(strstr(text, ">>> |_work") && text[n - 1] == '\n');
	free(text);
	prof_tree_destroy(tree);
	prof_before_destroy(before);
	return 0;
}
