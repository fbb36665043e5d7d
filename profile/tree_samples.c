/* Call trees of sampled call stacks. */
#include "profile/frames.h"
#include "profile/tree.h"

#include <stdlib.h>
#include <string.h>

#define NO_STACK "[no call stack]"
#define LEAVES_MAX (16u << 20)

/* The latest sample of one kind on a thread. */
struct before {
	bool seen;
	uint64_t ns, cpu_ns;
	uint64_t count; /* of the event that is requested */
};

struct sampled_thread {
	struct prof_node *root;
	struct before before[CAP_SAMPLER_COUNT];
};

struct build {
	struct prof_tree *tree;
	const struct trc_process *process;
	struct prof_frames *frames;
	int rank;
	struct sampled_thread *threads; /* as the process has them, and one for others */
	enum cap_sampler source[PROF_CLOCK_COUNT];
	uint32_t event;       /* prof_tree_opts.event */
	struct ws_map leaves; /* from (root, stack) to the node of its innermost function */
};

/* The kinds of samples that a clock may take its values from, the best first. */
static const enum cap_sampler best[PROF_CLOCK_COUNT][CAP_SAMPLER_COUNT] = {
	[PROF_CLOCK_WALL] = { CAP_SAMPLER_REAL_TIME, CAP_SAMPLER_CPU_TIME, CAP_SAMPLER_OVERFLOW },
	[PROF_CLOCK_CPU] = { CAP_SAMPLER_CPU_TIME, CAP_SAMPLER_REAL_TIME, CAP_SAMPLER_OVERFLOW },
};

static void choose_sources(struct build *b)
{
	for (unsigned clock = 0; clock < PROF_CLOCK_COUNT; clock++) {
		unsigned i = 0;

		while (i < CAP_SAMPLER_COUNT - 1 && !b->process->samplers[best[clock][i]].used)
			i++;
		b->source[clock] = best[clock][i];
	}
	if (b->event) /* counted by what uses the CPU */
		b->source[PROF_CLOCK_WALL] = b->source[PROF_CLOCK_CPU];
	memcpy(b->tree->source, b->source, sizeof(b->source));
}

static struct sampled_thread *state_of(struct build *b, const struct trc_thread *thread,
				       struct ws_err *err)
{
	size_t i = b->process->threads.n;

	if (thread >= b->process->threads.at && thread < b->process->threads.at + i)
		i = (size_t)(thread - b->process->threads.at);
	if (!b->threads[i].root)
		b->threads[i].root = prof_tree_root(b->tree, thread, b->rank, err);
	return b->threads[i].root ? &b->threads[i] : NULL;
}

/* The node of a stack's innermost function. */
static struct prof_node *leaf_of(struct build *b, struct prof_node *root, uint32_t stack)
{
	uint64_t key = (uint64_t)root->id << 32 | stack;
	struct prof_node *node = ws_map_get_u64(&b->leaves, key);
	const struct prof_frame *frames = NULL;
	size_t n;

	if (node)
		return node;
	n = stack ? prof_frames_of(b->frames, stack, &frames) : 0;
	node = n ? root : prof_tree_child(b->tree, root, NO_STACK, PROF_KIND_C);
	for (size_t i = 0; i < n && i <= b->tree->opts.max_depth; i++) {
		struct prof_node *parent = node;

		node = prof_tree_child(b->tree, parent, frames[i].name,
				       prof_frame_kind(&frames[i]));
		prof_node_place(b->tree, node, frames[i].file, frames[i].module, frames[i].line);
	}
	/* Without memory for this the stack is looked up again. */
	ws_map_put_u64(&b->leaves, key, node, NULL);
	return node;
}

static uint64_t start_of(const struct build *b, const struct trc_thread *thread)
{
	return thread && thread->start_ns ? thread->start_ns : b->process->init_ns;
}

/* The part of the time since the start of the thread that a first sample can stand for. */
static double first_ns(uint64_t period, uint64_t since)
{
	return (double)(period < since ? period : since);
}

/* What was counted of the event since the sample before; since the start for the first one. */
static double counted(const struct build *b, const struct trc_event *ev,
		      const struct before *before, uint64_t *out_count)
{
	if (b->event > ev->stack.info->n_counts)
		return 0;
	*out_count = ev->stack.counts[b->event - 1];
	return *out_count > before->count ? (double)(*out_count - before->count) : 0;
}

/* What the sample stands for on each clock. */
static void durations(const struct build *b, const struct trc_event *ev, struct before *before,
		      double out[PROF_CLOCK_COUNT])
{
	const struct cap_rec_sample *info = ev->stack.info;
	const struct trc_sampler *sampler = &b->process->samplers[info->sampler];
	uint64_t started_ns = start_of(b, ev->thread);
	uint64_t period = info->sampler == CAP_SAMPLER_OVERFLOW ? 0 : sampler->period;
	uint64_t count = before->count;

	if (before->seen) {
		out[PROF_CLOCK_WALL] = (double)(ev->start_ns - before->ns);
		out[PROF_CLOCK_CPU] =
			info->cpu_ns > before->cpu_ns ? (double)(info->cpu_ns - before->cpu_ns) : 0;
	} else {
		out[PROF_CLOCK_WALL] =
			first_ns(period, ev->start_ns > started_ns ? ev->start_ns - started_ns : 0);
		out[PROF_CLOCK_CPU] = first_ns(period, info->cpu_ns);
	}
	if (b->event)
		out[PROF_CLOCK_WALL] = counted(b, ev, before, &count);
	*before = (struct before){ true, ev->start_ns, info->cpu_ns, count };
}

static enum ws_status add(struct build *b, const struct trc_event *ev, struct ws_err *err)
{
	const struct cap_rec_sample *info = ev->stack.info;
	struct sampled_thread *state = state_of(b, ev->thread, err);
	double ns[PROF_CLOCK_COUNT];
	uint64_t n_periods = 0;
	struct prof_node *leaf;

	if (!state)
		return WS_E_NOMEM;
	if (info->sampler >= CAP_SAMPLER_COUNT)
		return WS_OK; /* damaged */
	durations(b, ev, &state->before[info->sampler], ns);
	leaf = leaf_of(b, state->root, info->h.what);
	if (info->sampler == b->source[PROF_CLOCK_CPU])
		n_periods = (uint64_t)info->n_missed + 1;
	leaf->n_inside += leaf->parent ? n_periods : 0;
	for (struct prof_node *node = leaf; node->parent; node = node->parent) {
		node->n_trips++;
		node->n_periods += n_periods;
		for (unsigned clock = 0; clock < PROF_CLOCK_COUNT; clock++)
			if (info->sampler == b->source[clock])
				prof_stat_add(&node->stat[clock], ns[clock]);
	}
	if (info->peak_kb > b->tree->peak_kb)
		b->tree->peak_kb = info->peak_kb;
	b->tree->n_samples++;
	b->tree->n_counted[info->sampler]++;
	return WS_OK;
}

/* What the last sample of each thread says about it. */
static void add_cpu_times(const struct build *b)
{
	for (size_t i = 0; i <= b->process->threads.n; i++) {
		const struct sampled_thread *state = &b->threads[i];
		uint64_t start_ns =
			start_of(b, i < b->process->threads.n ? &b->process->threads.at[i] : NULL);
		uint64_t cpu_ns = 0, last_ns = start_ns;

		for (unsigned k = 0; k < CAP_SAMPLER_COUNT; k++) {
			cpu_ns = WS_MAX(cpu_ns, state->before[k].cpu_ns);
			last_ns = WS_MAX(last_ns, state->before[k].ns);
		}
		for (size_t k = 0; state->root && k < b->tree->n_threads; k++) {
			if (b->tree->threads[k].root != state->root)
				continue;
			b->tree->threads[k].cpu_ns += cpu_ns;
			b->tree->threads[k].age_ns += last_ns - start_ns;
		}
	}
}

enum ws_status prof_tree_add_samples(struct prof_tree *tree, const struct trc_trace *trace,
				     const struct trc_process *process, int rank,
				     struct prof_frames *frames, struct ws_err *err)
{
	struct build b = { .tree = tree, .process = process, .frames = frames, .rank = rank };
	struct trc_event_query query = { .domains = TRC_DOMAIN_BIT(CALL_STACK_SAMPLING),
					 .order = TRC_ORDER_START,
					 .process = process };
	struct trc_events *events = NULL;
	const struct trc_event *ev;
	enum ws_status st, closed;

	b.threads = calloc(process->threads.n + 1, sizeof(*b.threads));
	if (!b.threads)
		return ws_fail(err, WS_E_NOMEM, "no memory for a call tree");
	tree->has_stacks = true;
	b.event = tree->opts.event;
	choose_sources(&b);
	ws_map_init(&b.leaves, WS_MAP_U64, LEAVES_MAX);
	st = trc_events_open(trace, &query, &events, err);
	while (!st && (ev = trc_events_next(events)))
		st = add(&b, ev, err);
	closed = events ? trc_events_close(events, st ? NULL : err) : WS_OK;
	add_cpu_times(&b);
	ws_map_fini(&b.leaves);
	free(b.threads);
	return st ? st : closed;
}
