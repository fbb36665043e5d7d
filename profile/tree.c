/* The nodes of call trees and how they are found. */
#include "profile/tree.h"

#include "profile/frames.h"

#include <stdlib.h>
#include <string.h>

#define NODES_MAX (4u << 20)
#define NODE_BYTES 512u /* on average, with its name */
#define NAME_ID_MAX (1u << 28)

const char *prof_kind_word(enum prof_kind kind)
{
	static const char *const words[] = {
#define PROF_KIND_WORD(id, word) word,
		PROF_KIND_TABLE(PROF_KIND_WORD)
#undef PROF_KIND_WORD
	};

	return words[kind];
}

bool prof_kind_on_gpu(enum prof_kind kind)
{
	return kind == PROF_KIND_KERNEL || kind == PROF_KIND_COPY;
}

enum prof_kind prof_frame_kind(const struct prof_frame *frame)
{
	/* Libraries of AMD's runtimes, by the beginnings of their names. */
	static const char *const runtimes[] = { "libamdhip64", "libhiprtc", "libhsa-runtime64",
						"libhsakmt",   "librccl",   "libamd_comgr" };
	const char *base = strrchr(frame->module, '/');

	if (frame->python)
		return PROF_KIND_PYTHON;
	base = base ? base + 1 : frame->module;
	for (size_t i = 0; i < WS_ARRAY_LEN(runtimes); i++)
		if (!strncmp(base, runtimes[i], strlen(runtimes[i])))
			return PROF_KIND_HIP;
	return strstr(frame->name, "::") || strchr(frame->name, '(') ? PROF_KIND_CPP : PROF_KIND_C;
}

/* ---- numbers ---- */

void prof_stat_add(struct prof_stat *stat, double value)
{
	if (!stat->n || value < stat->min)
		stat->min = value;
	if (!stat->n || value > stat->max)
		stat->max = value;
	stat->n++;
	stat->sum += value;
	stat->sqr += value * value;
}

void prof_stat_merge(struct prof_stat *into, const struct prof_stat *from)
{
	if (!from->n)
		return;
	if (!into->n || from->min < into->min)
		into->min = from->min;
	if (!into->n || from->max > into->max)
		into->max = from->max;
	into->n += from->n;
	into->sum += from->sum;
	into->sqr += from->sqr;
}

double prof_stat_mean(const struct prof_stat *stat)
{
	return stat->n ? stat->sum / (double)stat->n : 0;
}

double prof_stat_variance(const struct prof_stat *stat)
{
	double n = (double)stat->n;
	double variance = stat->n < 2 ? 0 : (stat->sqr - stat->sum * stat->sum / n) / (n - 1);

	return variance > 0 ? variance : 0; /* rounding can make it negative */
}

/* ---- the tree ---- */

enum ws_status prof_tree_create(const struct prof_tree_opts *opts, struct prof_tree **out_tree,
				struct ws_err *err)
{
	struct prof_tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		return ws_fail(err, WS_E_NOMEM, "no memory for a call tree");
	tree->opts = *opts;
	if (!tree->opts.max_nodes || tree->opts.max_nodes > NODES_MAX)
		tree->opts.max_nodes = NODES_MAX;
	if (!tree->opts.domains)
		tree->opts.domains = PROF_TREE_DOMAINS;
	ws_arena_init(&tree->arena, tree->opts.max_nodes * NODE_BYTES);
	ws_map_init(&tree->names, WS_MAP_STR, NAME_ID_MAX);
	ws_map_init(&tree->texts, WS_MAP_STR, NAME_ID_MAX);
	ws_map_init(&tree->paths, WS_MAP_U64, tree->opts.max_nodes);
	*out_tree = tree;
	return WS_OK;
}

void prof_tree_destroy(struct prof_tree *tree)
{
	if (!tree)
		return;
	ws_map_fini(&tree->paths);
	ws_map_fini(&tree->texts);
	ws_map_fini(&tree->names);
	ws_arena_fini(&tree->arena);
	free(tree->threads);
	free(tree);
}

static struct prof_node *new_node(struct prof_tree *tree)
{
	struct prof_node *node = NULL;

	if (tree->n_nodes < tree->opts.max_nodes)
		node = ws_arena_new(&tree->arena, struct prof_node);
	if (!node)
		return NULL;
	node->id = ++tree->n_nodes;
	node->name = node->file = node->module = "";
	return node;
}

/* Place in the list for this rank and thread: the first that is not before it. */
static size_t thread_place(const struct prof_tree *tree, int rank, uint32_t index)
{
	size_t low = 0, high = tree->n_threads;

	while (low < high) {
		const struct prof_tree_thread *at = &tree->threads[(low + high) / 2];
		uint32_t at_index = at->thread ? at->thread->index : 0;

		if (at->rank < rank || (at->rank == rank && at_index < index))
			low = (low + high) / 2 + 1;
		else
			high = (low + high) / 2;
	}
	return low;
}

struct prof_node *prof_tree_root(struct prof_tree *tree, const struct trc_thread *thread, int rank,
				 struct ws_err *err)
{
	size_t at;
	struct prof_tree_thread *more;
	struct prof_node *root;
	uint32_t pid = thread && thread->process ? thread->process->pid : 0;

	if (tree->opts.collapse_threads)
		thread = NULL;
	if (tree->opts.collapse_processes)
		rank = 0;
	at = thread_place(tree, rank, thread ? thread->index : 0);
	if (at < tree->n_threads && tree->threads[at].rank == rank &&
	    (!thread || tree->threads[at].thread->index == thread->index))
		return tree->threads[at].root;
	root = new_node(tree);
	if (tree->n_threads == tree->cap_threads) {
		more = realloc(tree->threads, (tree->cap_threads * 2 + 8) * sizeof(*more));
		if (more) {
			tree->threads = more;
			tree->cap_threads = tree->cap_threads * 2 + 8;
		}
	}
	if (!root || tree->n_threads == tree->cap_threads) {
		ws_fail(err, WS_E_NOMEM, "no memory for a call tree");
		return NULL;
	}
	memmove(tree->threads + at + 1, tree->threads + at,
		(tree->n_threads - at) * sizeof(*tree->threads));
	tree->threads[at] = (struct prof_tree_thread){
		.thread = thread, .pid = pid, .rank = rank, .root = root
	};
	tree->n_threads++;
	return root;
}

/* The number of a text in @map and the one copy of it; 0: no memory. */
static uint32_t text_id(struct prof_tree *tree, struct ws_map *map, const char *text,
			const char **out_kept)
{
	struct ws_map_entry *entry = ws_map_find(map, ws_str_from(text));
	uint32_t id = (uint32_t)map->n + 1;
	char *kept;

	if (entry) {
		*out_kept = entry->str.at;
		return (uint32_t)(uintptr_t)entry->value;
	}
	kept = ws_arena_strdup(&tree->arena, text);
	if (!kept || ws_map_put(map, ws_str_from(kept), (void *)(uintptr_t)id, NULL))
		return 0;
	*out_kept = kept;
	return id;
}

static void append_child(struct prof_node *parent, struct prof_node *node)
{
	node->parent = parent;
	node->depth = parent->parent ? parent->depth + 1 : 0;
	if (parent->last)
		parent->last->next = node;
	else
		parent->first = node;
	parent->last = node;
}

struct prof_node *prof_tree_child(struct prof_tree *tree, struct prof_node *parent,
				  const char *name, enum prof_kind kind)
{
	const char *kept = NULL;
	uint32_t id = text_id(tree, &tree->names, name, &kept);
	uint64_t key = (uint64_t)parent->id << 32 | (uint64_t)id << 4 | kind;
	struct prof_node *node = NULL;

	if (id && !tree->opts.timeline)
		node = ws_map_get_u64(&tree->paths, key);
	if (node)
		return node;
	node = id ? new_node(tree) : NULL;
	if (!node || (!tree->opts.timeline && ws_map_put_u64(&tree->paths, key, node, NULL))) {
		tree->n_unplaced++;
		return parent;
	}
	node->name = kept;
	node->kind = kind;
	append_child(parent, node);
	return node;
}

/* One copy of each text, because many nodes have the same. */
static const char *keep(struct prof_tree *tree, const char *text)
{
	const char *kept = "";

	if (*text)
		text_id(tree, &tree->texts, text, &kept);
	return kept;
}

void prof_node_place(struct prof_tree *tree, struct prof_node *node, const char *file,
		     const char *module, uint32_t line)
{
	if (!node->parent || *node->file || *node->module)
		return;
	node->file = keep(tree, file);
	node->module = keep(tree, module);
	node->line = line;
}

struct prof_node *prof_node_next(const struct prof_node *root, const struct prof_node *node)
{
	if (node->first)
		return node->first;
	while (node != root && !node->next)
		node = node->parent;
	return node == root ? NULL : node->next;
}

double prof_node_children(const struct prof_node *node, enum prof_clock clock)
{
	double sum = 0;

	for (const struct prof_node *child = node->first; child; child = child->next)
		if (!prof_kind_on_gpu(child->kind))
			sum += child->stat[clock].sum;
	return sum;
}

/* ---- without paths ---- */

static bool is_inside_itself(const struct prof_node *node)
{
	/* Equal names are one text. */
	for (const struct prof_node *up = node->parent; up; up = up->parent)
		if (up->name == node->name && up->kind == node->kind)
			return true;
	return false;
}

static void add_flat(struct prof_tree *flat, struct prof_node *root, const struct prof_node *node)
{
	struct prof_node *to = prof_tree_child(flat, root, node->name, node->kind);

	if (to == root)
		return;
	prof_node_place(flat, to, node->file, node->module, node->line);
	to->n_inside += node->n_inside;
	if (is_inside_itself(node))
		return;
	to->n_trips += node->n_trips;
	to->n_periods += node->n_periods;
	for (unsigned clock = 0; clock < PROF_CLOCK_COUNT; clock++)
		prof_stat_merge(&to->stat[clock], &node->stat[clock]);
}

enum ws_status prof_tree_flatten(const struct prof_tree *tree, struct prof_tree **out_flat,
				 struct ws_err *err)
{
	struct prof_tree_opts opts = tree->opts;
	struct prof_tree *flat = NULL;
	enum ws_status st;

	opts.timeline = false;
	st = prof_tree_create(&opts, &flat, err);
	if (st)
		return st;
	flat->n_calls = tree->n_calls;
	flat->n_samples = tree->n_samples;
	flat->has_stacks = tree->has_stacks;
	memcpy(flat->n_counted, tree->n_counted, sizeof(flat->n_counted));
	for (size_t i = 0; i < tree->n_threads; i++) {
		const struct prof_tree_thread *from = &tree->threads[i];
		struct prof_node *root = prof_tree_root(flat, from->thread, from->rank, err);

		if (!root) {
			prof_tree_destroy(flat);
			return WS_E_NOMEM;
		}
		for (struct prof_node *node = from->root->first; node;
		     node = prof_node_next(from->root, node))
			add_flat(flat, root, node);
	}
	*out_flat = flat;
	return WS_OK;
}
