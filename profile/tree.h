/*
 * tree: where a process spent its time, by call path.
 *
 * One tree per thread, or one for all threads. A path that repeats is one node, which keeps
 * the number, sum, minimum, maximum and sum of squares of its durations in nanoseconds.
 *
 * From events: regions, API calls, markers, kernels and copies. What begins while something
 * else is open on its thread is below it. Kernels and copies are below the call that launched
 * them. A region that is open when its thread or process ends, ends there.
 *
 * From samples: a sample stands for the time since the previous one of its kind on the thread
 * (PROF_CLOCK_WALL), and for the CPU time that the thread used since then (PROF_CLOCK_CPU).
 * Each clock takes its values from one kind of samples. Every function on the stack gets them.
 *
 *	prof_tree_create(&opts, &tree, err);
 *	prof_tree_add_samples(tree, trace, process, 0, frames, err);
 *	for (i = 0; i < tree->n_threads; i++)
 *		for (node = tree->threads[i].root->first; node; node = node->next)
 *			...
 *	prof_tree_destroy(tree);
 *
 * Threads  one at a time.
 * Memory   grows with the number of different paths up to a maximum; with `timeline`, with
 *          the number of calls. Beyond the maximum, calls are counted in n_unplaced.
 */
#ifndef WS_PROFILE_TREE_H
#define WS_PROFILE_TREE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "trace/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prof_frames;

/* clang-format off */
/* What a node is; the words choose colours in the flame graph. */
#define PROF_KIND_TABLE(X)                                              \
	X(C,      "c")       /* a function of the program or a library */ \
	X(CPP,    "cpp")                                                \
	X(PYTHON, "python")                                             \
	X(HIP,    "hip")     /* a call of AMD's runtimes, or their code */ \
	X(REGION, "region")  /* of the user, MPI, OpenMP, ... */        \
	X(KERNEL, "kernel")  /* on the GPU */                           \
	X(COPY,   "copy")
/* clang-format on */

enum prof_kind {
#define PROF_KIND_ROW(id, word) PROF_KIND_##id,
	PROF_KIND_TABLE(PROF_KIND_ROW)
#undef PROF_KIND_ROW
		PROF_KIND_COUNT
};
const char *prof_kind_word(enum prof_kind kind);

enum prof_clock { PROF_CLOCK_WALL, PROF_CLOCK_CPU, PROF_CLOCK_COUNT };

struct prof_stat {
	uint64_t n;
	double sum, sqr, min, max;
};
void prof_stat_add(struct prof_stat *stat, double value);
void prof_stat_merge(struct prof_stat *into, const struct prof_stat *from);
double prof_stat_mean(const struct prof_stat *stat);     /* 0 without values */
double prof_stat_variance(const struct prof_stat *stat); /* of a sample; 0 below two */

struct prof_node {
	const char *name; /* this and the next two live as long as the tree; never NULL */
	const char *file; /* "" unknown */
	const char *module;
	uint32_t line;
	enum prof_kind kind;
	uint32_t id;                                    /* 1.. in order of creation */
	uint32_t depth;                                 /* 0 below the root */
	struct prof_node *parent, *first, *last, *next; /* children in order of creation */
	struct prof_stat stat[PROF_CLOCK_COUNT];        /* in nanoseconds */
	uint64_t n_trips;                               /* calls, or samples of all kinds */
	/*
	 * Periods of the CPU clock's samples, also those whose signal was still pending; and
	 * those with this as the innermost function.
	 */
	uint64_t n_periods, n_inside;
};

struct prof_tree_thread {
	const struct trc_thread *thread; /* NULL: all of them */
	uint32_t pid;                    /* of the first, where processes are merged */
	int rank;
	/* CPU time that it had used, and time since its start, when its last sample was taken. */
	uint64_t cpu_ns, age_ns;
	struct prof_node *root; /* has no name, no values */
};

struct prof_tree_opts {
	bool flat;     /* every node is below the root */
	bool timeline; /* every call is a node of its own */
	bool collapse_threads, collapse_processes;
	uint32_t max_depth; /* deeper calls are not counted */
	uint32_t domains;   /* TRC_DOMAIN_BIT()s of events; 0: all that have a place in a tree */
	/* From 1: PROF_CLOCK_WALL holds counts of this CPU event of the samples, instead of time. */
	uint32_t event;
	size_t max_nodes; /* 0: 4 million */
};

struct prof_tree {
	struct prof_tree_opts opts;
	struct prof_tree_thread *threads; /* by rank, then trc_thread.index */
	size_t n_threads, cap_threads;
	uint64_t n_calls, n_samples;
	uint64_t n_unmatched; /* ends of regions that were not open */
	uint64_t n_unplaced;
	uint64_t n_counted[CAP_SAMPLER_COUNT];     /* samples */
	enum cap_sampler source[PROF_CLOCK_COUNT]; /* kind of samples of each clock */
	bool has_stacks;                           /* made of samples */
	uint32_t peak_kb;                          /* highest resident set that a sample has */
	struct ws_arena arena;
	struct ws_map names; /* of functions, to an id */
	struct ws_map texts; /* files and modules */
	struct ws_map paths; /* (parent, name, kind) to a node */
	uint32_t n_nodes;
};

/* The events that have a place in a tree. */
#define PROF_TREE_DOMAINS                                                                          \
	(TRC_DOMAIN_BIT(HSA_API) | TRC_DOMAIN_BIT(HIP_API) | TRC_DOMAIN_BIT(MARKER_API) |          \
	 TRC_DOMAIN_BIT(RCCL_API) | TRC_DOMAIN_BIT(ROCDECODE_API) | TRC_DOMAIN_BIT(ROCJPEG_API) |  \
	 TRC_DOMAIN_BIT(KERNEL_DISPATCH) | TRC_DOMAIN_BIT(MEMORY_COPY) | TRC_DOMAIN_BIT(REGIONS))

enum ws_status prof_tree_create(const struct prof_tree_opts *opts, struct prof_tree **out_tree,
				struct ws_err *err);
void prof_tree_destroy(struct prof_tree *tree); /* NULL is fine */

/*
 * Add a process. @frames names the functions of regions and samples; NULL, for regions only:
 * their addresses are their names.
 */
enum ws_status prof_tree_add_events(struct prof_tree *tree, const struct trc_trace *trace,
				    const struct trc_process *process, int rank,
				    struct prof_frames *frames, struct ws_err *err);
enum ws_status prof_tree_add_samples(struct prof_tree *tree, const struct trc_trace *trace,
				     const struct trc_process *process, int rank,
				     struct prof_frames *frames, struct ws_err *err);

/*
 * The same without paths: one node per function and thread. A sample counts once for a function,
 * however often that is on its stack.
 */
enum ws_status prof_tree_flatten(const struct prof_tree *tree, struct prof_tree **out_flat,
				 struct ws_err *err);

/* The tree of a thread; created when it is missing. NULL: no memory. */
struct prof_node *prof_tree_root(struct prof_tree *tree, const struct trc_thread *thread, int rank,
				 struct ws_err *err);
/*
 * The child of @parent with this name, or a new one; @parent itself when there are too many
 * nodes, or no memory: it is counted in n_unplaced.
 */
struct prof_node *prof_tree_child(struct prof_tree *tree, struct prof_node *parent,
				  const char *name, enum prof_kind kind);
/* Where the function is, for a new node; the texts are copied. */
void prof_node_place(struct prof_tree *tree, struct prof_node *node, const char *file,
		     const char *module, uint32_t line);

/* The next node after @node in the order of a table, inside of @root; NULL after the last. */
struct prof_node *prof_node_next(const struct prof_node *root, const struct prof_node *node);
/* The time of the children that is part of the node's own. */
double prof_node_children(const struct prof_node *node, enum prof_clock clock);
bool prof_kind_on_gpu(enum prof_kind kind);
struct prof_frame;
struct trc_region;
enum prof_kind prof_frame_kind(const struct prof_frame *frame);
enum prof_kind prof_region_kind(const struct trc_region *region);

#endif
