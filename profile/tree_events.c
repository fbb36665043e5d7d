/* Call trees of regions, API calls, markers, and what these launched on the GPU. */
#include "base/vec.h"
#include "profile/frames.h"
#include "profile/tree.h"

#include <stdio.h>
#include <stdlib.h>

#define DEPTH_MAX 65536u /* open at once on one thread */

/*
 * Correlation ids count up, and a kernel starts soon after its call: a table of the latest
 * calls finds the launching one in memory that does not grow.
 */
#define LAUNCHES (1u << 20)

struct open_entry {
	struct prof_node *node; /* of itself, or of what it is inside of when it has none */
	bool counted;           /* the node is its own */
	uint32_t region;        /* 0: a call */
	uint64_t start_ns, end_ns;
};

struct thread_state {
	struct prof_node *root;
	WS_VEC(struct open_entry) open;
	uint64_t last_ns;
};

struct launch {
	uint64_t corr_id;
	struct prof_node *node;
};

struct build {
	struct prof_tree *tree;
	const struct trc_process *process;
	struct prof_frames *frames;
	int rank;
	struct thread_state *threads; /* as the process has them, and one for others */
	struct launch *launches;
};

static struct thread_state *state_of(struct build *b, const struct trc_thread *thread,
				     struct ws_err *err)
{
	size_t i = b->process->threads.n;
	struct thread_state *state;

	if (thread >= b->process->threads.at && thread < b->process->threads.at + i)
		i = (size_t)(thread - b->process->threads.at);
	state = &b->threads[i];
	if (!state->root) {
		ws_vec_init(&state->open, DEPTH_MAX);
		state->root = prof_tree_root(b->tree, thread, b->rank, err);
	}
	return state->root ? state : NULL;
}

static struct prof_node *innermost(const struct thread_state *state)
{
	return state->open.n ? state->open.at[state->open.n - 1].node : state->root;
}

/*
 * The node of something that begins inside of @parent. False: it is too deep, or there are too
 * many nodes; then it is not counted, and the node is @parent's.
 */
static bool node_for(struct build *b, struct thread_state *state, struct prof_node *parent,
		     const char *name, enum prof_kind kind, struct prof_node **out_node)
{
	*out_node = parent;
	if (b->tree->opts.flat)
		parent = state->root;
	else if (parent->parent && parent->depth >= b->tree->opts.max_depth)
		return false;
	*out_node = prof_tree_child(b->tree, parent, name, kind);
	return *out_node != parent;
}

static void count(struct build *b, struct prof_node *node, uint64_t start_ns, uint64_t end_ns)
{
	prof_stat_add(&node->stat[PROF_CLOCK_WALL],
		      end_ns > start_ns ? (double)(end_ns - start_ns) : 0);
	node->n_trips++;
	b->tree->n_calls++;
}

/* Calls are counted when they begin, regions when they end. */
static void close_top(struct build *b, struct thread_state *state, uint64_t now_ns)
{
	struct open_entry *top = &state->open.at[--state->open.n];

	if (top->region && top->counted)
		count(b, top->node, top->start_ns, now_ns);
}

static void close_calls(struct build *b, struct thread_state *state, uint64_t now_ns)
{
	while (state->open.n && !state->open.at[state->open.n - 1].region &&
	       state->open.at[state->open.n - 1].end_ns <= now_ns)
		close_top(b, state, now_ns);
}

static enum ws_status push(struct build *b, struct thread_state *state, struct prof_node *node,
			   bool counted, uint32_t region, const struct trc_event *ev,
			   struct ws_err *err)
{
	struct open_entry entry = { .node = node,
				    .counted = counted,
				    .region = region,
				    .start_ns = ev->start_ns,
				    .end_ns = ev->end_ns };

	return ws_vec_push(&state->open, entry, err);
}

/* ---- regions ---- */

enum prof_kind prof_region_kind(const struct trc_region *region)
{
	if (region->category == CAP_REGION_PYTHON)
		return PROF_KIND_PYTHON;
	if (region->category == CAP_REGION_RCCL)
		return PROF_KIND_HIP;
	return region->category == CAP_REGION_HOST ? PROF_KIND_C : PROF_KIND_REGION;
}

static enum ws_status enter(struct build *b, struct thread_state *state, const struct trc_event *ev,
			    struct ws_err *err)
{
	const struct trc_region *region = ev->region.region;
	const struct prof_frame *frame = NULL;
	struct prof_node *parent = innermost(state), *node;
	const char *name = region->name, *file = region->file;
	enum prof_kind kind = prof_region_kind(region);
	uint32_t line = region->line;
	char address[24];
	bool counted;

	if (!*name && b->frames && region->address)
		frame = prof_frames_at(b->frames, region->address);
	if (!*name) {
		snprintf(address, sizeof(address), "0x%llx", (unsigned long long)region->address);
		name = frame ? frame->name : address;
	}
	if (frame) {
		kind = prof_frame_kind(frame);
		file = *file ? file : frame->file;
		line = line ? line : frame->line;
	}
	counted = node_for(b, state, parent, name, kind, &node);
	if (counted)
		prof_node_place(b->tree, node, file, frame ? frame->module : "", line);
	return push(b, state, node, counted, region->id, ev, err);
}

static void leave(struct build *b, struct thread_state *state, const struct trc_event *ev)
{
	size_t i = state->open.n;

	while (i && state->open.at[i - 1].region != ev->region.region->id)
		i--;
	if (!i || !ev->region.region->id) {
		b->tree->n_unmatched++;
		return;
	}
	while (state->open.n >= i)
		close_top(b, state, ev->start_ns);
}

/* ---- calls, and what they launched ---- */

static struct launch *launch_of(struct build *b, uint64_t corr_id)
{
	return &b->launches[corr_id & (LAUNCHES - 1)];
}

static enum ws_status call(struct build *b, struct thread_state *state, const struct trc_event *ev,
			   struct ws_err *err)
{
	bool marker = ev->domain == CAP_DOMAIN_MARKER_API;
	struct prof_node *node;
	bool counted = node_for(b, state, innermost(state), ev->name,
				marker ? PROF_KIND_REGION : PROF_KIND_HIP, &node);

	if (ev->corr_id)
		*launch_of(b, ev->corr_id) = (struct launch){ ev->corr_id, node };
	if (counted)
		count(b, node, ev->start_ns, ev->end_ns);
	/* A range from start to stop is not nested: it may end anywhere, also on another thread. */
	if (marker && ev->rec->what != CAP_MARKER_THREAD_RANGE)
		return WS_OK;
	return push(b, state, node, counted, 0, ev, err);
}

static void launched(struct build *b, struct thread_state *state, const struct trc_event *ev)
{
	struct launch *launch = launch_of(b, ev->corr_id);
	struct prof_node *parent = state->root, *node;

	if (ev->corr_id && launch->corr_id == ev->corr_id && launch->node)
		parent = launch->node;
	if (node_for(b, state, parent, ev->name,
		     ev->domain == CAP_DOMAIN_MEMORY_COPY ? PROF_KIND_COPY : PROF_KIND_KERNEL,
		     &node))
		count(b, node, ev->start_ns, ev->end_ns);
}

static enum ws_status add(struct build *b, const struct trc_event *ev, struct ws_err *err)
{
	struct thread_state *state = state_of(b, ev->thread, err);

	if (!state)
		return WS_E_NOMEM;
	if (ev->domain == CAP_DOMAIN_KERNEL_DISPATCH || ev->domain == CAP_DOMAIN_MEMORY_COPY) {
		launched(b, state, ev);
		return WS_OK;
	}
	if (ev->end_ns > state->last_ns)
		state->last_ns = ev->end_ns;
	close_calls(b, state, ev->start_ns);
	if (ev->domain != CAP_DOMAIN_REGIONS)
		return call(b, state, ev, err);
	if (ev->region.annotation)
		return WS_OK;
	if (ev->region.enters)
		return enter(b, state, ev, err);
	leave(b, state, ev);
	return WS_OK;
}

/* When what is still open on a thread ended: with the thread, or with the process. */
static uint64_t end_of(const struct build *b, const struct trc_thread *thread,
		       const struct thread_state *state)
{
	uint64_t end_ns = thread && thread->end_ns ? thread->end_ns : b->process->fini_ns;

	return end_ns > state->last_ns ? end_ns : state->last_ns;
}

static void finish(struct build *b)
{
	for (size_t i = 0; i <= b->process->threads.n; i++) {
		struct thread_state *state = &b->threads[i];
		const struct trc_thread *thread =
			i < b->process->threads.n ? &b->process->threads.at[i] : NULL;

		while (state->open.n)
			close_top(b, state, end_of(b, thread, state));
		ws_vec_fini(&state->open);
	}
}

enum ws_status prof_tree_add_events(struct prof_tree *tree, const struct trc_trace *trace,
				    const struct trc_process *process, int rank,
				    struct prof_frames *frames, struct ws_err *err)
{
	struct build b = { .tree = tree, .process = process, .frames = frames, .rank = rank };
	struct trc_event_query query = { .domains = tree->opts.domains & PROF_TREE_DOMAINS,
					 .order = TRC_ORDER_START,
					 .process = process };
	struct trc_events *events = NULL;
	const struct trc_event *ev;
	enum ws_status st, closed;

	if (!query.domains)
		return WS_OK;
	b.threads = calloc(process->threads.n + 1, sizeof(*b.threads));
	b.launches = calloc(LAUNCHES, sizeof(*b.launches));
	if (!b.threads || !b.launches) {
		st = ws_fail(err, WS_E_NOMEM, "no memory for a call tree");
		goto out;
	}
	st = trc_events_open(trace, &query, &events, err);
	while (!st && (ev = trc_events_next(events)))
		st = add(&b, ev, err);
	finish(&b);
	closed = events ? trc_events_close(events, st ? NULL : err) : WS_OK;
	st = st ? st : closed;
out:
	free(b.launches);
	free(b.threads);
	return st;
}
