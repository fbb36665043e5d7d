/*
 * The clocks of a job's nodes on one clock.
 *
 * An operation that all ranks wait in ends on none of them before the last one has entered. Of each
 * node, the last entry and the first exit of every operation are kept: its sightings. For a
 * node that is placed and one that is not, each operation in common then bounds the
 * offset of the second from both sides.
 *
 * Nodes are compared with the first one if they have operations in common with it, else with a
 * node that is placed already, whose uncertainty adds to theirs.
 */
#include "ranks/ranks.h"

#include "base/pattern.h"
#include "base/util.h"
#include "ranks/operations.h"
#include "ranks/stamps.h"

#include <stdlib.h>
#include <string.h>

struct sighting {
	uint64_t key;
	uint64_t entered_ns; /* the last; 0: nobody has to wait for this node */
	uint64_t left_ns;    /* the first; UINT64_MAX: nobody of this node has to wait */
};
WS_VEC_TYPE(sighting_list, struct sighting);

struct alignment {
	struct rnk_job *job;
	struct sighting_list *seen; /* by node; sorted by key */
	struct sighting_list *now;  /* of the node being read */
	struct rnk_stamp_list stamps;
	size_t n_seen;    /* in all lists */
	uint64_t thinned; /* operations are kept whose key has none of these bits */
};

const char *rnk_clock_from_word(enum rnk_clock_from from)
{
	static const char *const words[] = {
		[RNK_CLOCK_UNKNOWN] = "unknown",         [RNK_CLOCK_REFERENCE] = "reference",
		[RNK_CLOCK_COLLECTIVES] = "collectives", [RNK_CLOCK_STAMPS] = "stamps",
		[RNK_CLOCK_ASSUMED] = "assumed",
	};

	return words[from];
}

bool rnk_clock_is_estimated(enum rnk_clock_from from)
{
	return from == RNK_CLOCK_COLLECTIVES || from == RNK_CLOCK_STAMPS;
}

/* ---- sightings ---- */

static int by_key(const void *a, const void *b)
{
	const struct sighting *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

/* One sighting per operation: of several ranks of the node. */
static void fold(struct sighting_list *list)
{
	size_t n = 0;

	ws_vec_sort(list, by_key);
	for (size_t i = 0; i < list->n; i++) {
		const struct sighting *next = &list->at[i];
		struct sighting *last = n ? &list->at[n - 1] : NULL;

		if (last && last->key == next->key) {
			last->entered_ns = WS_MAX(last->entered_ns, next->entered_ns);
			last->left_ns = WS_MIN(last->left_ns, next->left_ns);
		} else {
			list->at[n++] = *next;
		}
	}
	list->n = n;
}

/* Several ranks became one: their space is for the next node. */
static void shrink(struct sighting_list *list)
{
	struct sighting *less = realloc(list->at, WS_MAX(list->n, (size_t)1) * sizeof(*less));

	if (less) {
		list->at = less;
		list->cap = WS_MAX(list->n, (size_t)1);
	}
}

/* Half of all operations, the same ones on every node. */
static void thin(struct alignment *al)
{
	al->thinned = al->thinned << 1 | 1;
	al->n_seen = 0;
	for (size_t i = 0; i < al->job->n_nodes; i++) {
		struct sighting_list *list = &al->seen[i];
		size_t n = 0;

		for (size_t k = 0; k < list->n; k++)
			if (!(list->at[k].key & al->thinned))
				list->at[n++] = list->at[k];
		list->n = n;
		al->n_seen += n;
	}
}

static enum ws_status take(void *ctx, const struct rnk_operation *op, struct ws_err *err)
{
	struct alignment *al = ctx;
	struct sighting sighting = { op->key, op->start_ns, op->end_ns };
	enum ws_status st;

	if (op->waits == RNK_WAITS_NONE || op->n_ranks == 1 || (op->key & al->thinned))
		return WS_OK;
	if (op->waits == (op->is_root ? RNK_WAITS_FOR_ROOT : RNK_WAITS_OF_ROOT))
		sighting.left_ns = UINT64_MAX;
	else if (op->waits != RNK_WAITS_ALL)
		sighting.entered_ns = 0;
	st = ws_vec_push(al->now, sighting, err);
	al->n_seen++;
	if (!st && al->n_seen >= RNK_SIGHTINGS_MAX) {
		size_t before = al->now->n;

		fold(al->now);
		al->n_seen -= before - al->now->n;
		if (al->n_seen >= RNK_SIGHTINGS_MAX / 2)
			thin(al);
	}
	return st;
}

static enum ws_status see_nodes(struct alignment *al, const struct ws_pattern *kernels,
				struct ws_err *err)
{
	struct rnk_job *job = al->job;
	enum ws_status st = WS_OK;

	for (size_t node = 0; !st && node < job->n_nodes; node++) {
		al->now = &al->seen[node];
		for (size_t i = 0; !st && i < job->n_members; i++)
			if (job->members[i].node == node)
				st = rnk_operations_each(job->trace, job->members[i].process,
							 kernels, take, al, err);
		al->n_seen -= al->now->n;
		fold(al->now);
		al->n_seen += al->now->n;
		shrink(al->now);
	}
	return st;
}

/* ---- offsets ---- */

static void span_of(const struct rnk_job *job, size_t node, uint64_t *out_from, uint64_t *out_until)
{
	*out_from = UINT64_MAX;
	*out_until = 0;
	for (size_t i = 0; i < job->n_members; i++) {
		const struct trc_process *process = job->members[i].process;

		if (job->members[i].node != node)
			continue;
		*out_from = WS_MIN(*out_from, process->init_ns);
		*out_until = WS_MAX(*out_until, process->fini_ns);
	}
	*out_until = WS_MAX(*out_until, *out_from);
}

static uint64_t placed(const struct rnk_node *node, uint64_t ns)
{
	const struct trc_clock_line *line = &node->offset.line;

	return ns + (uint64_t)line->shift_ns +
	       (uint64_t)(int64_t)(line->drift * (double)(int64_t)(ns - line->at_ns));
}

/* Bounds on the offset of node @b from the operations that it has in common with node @a. */
static enum ws_status compare(const struct alignment *al, size_t a, size_t b,
			      struct rnk_bounds *bounds, size_t *out_common, struct ws_err *err)
{
	const struct sighting_list *x = &al->seen[a], *y = &al->seen[b];
	const struct rnk_node *known = &al->job->nodes[a];
	enum ws_status st = WS_OK;

	*out_common = 0;
	for (size_t i = 0, k = 0; !st && i < x->n && k < y->n;) {
		const struct sighting *there = &x->at[i], *here = &y->at[k];

		if (there->key != here->key) {
			if (there->key < here->key)
				i++;
			else
				k++;
			continue;
		}
		if (here->entered_ns && there->left_ns != UINT64_MAX)
			st = rnk_bounds_above(
				bounds, here->entered_ns,
				(int64_t)(placed(known, there->left_ns) - here->entered_ns), err);
		if (!st && there->entered_ns && here->left_ns != UINT64_MAX)
			st = rnk_bounds_below(
				bounds, here->left_ns,
				(int64_t)(placed(known, there->entered_ns) - here->left_ns), err);
		++*out_common;
		i++;
		k++;
	}
	return st;
}

/* A stamp was made before it was read. */
static enum ws_status compare_stamps(struct alignment *al, size_t a, size_t b,
				     struct rnk_bounds *bounds, size_t *out_stamps,
				     struct ws_err *err)
{
	const struct rnk_node *known = &al->job->nodes[a];
	enum ws_status st = WS_OK;

	*out_stamps = 0;
	for (size_t i = 0; !st && i < al->stamps.n; i++) {
		const struct rnk_stamp *stamp = &al->stamps.at[i];

		if (stamp->reader == a && stamp->writer == b)
			st = rnk_bounds_above(
				bounds, stamp->written_ns,
				(int64_t)(placed(known, stamp->read_ns) - stamp->written_ns), err);
		else if (stamp->reader == b && stamp->writer == a)
			st = rnk_bounds_below(
				bounds, stamp->read_ns,
				(int64_t)(placed(known, stamp->written_ns) - stamp->read_ns), err);
		else
			continue;
		++*out_stamps;
	}
	return st;
}

/* WS_E_NOTFOUND: it has not enough in common with @a. */
static enum ws_status place(struct alignment *al, size_t a, size_t b, struct ws_err *err)
{
	struct rnk_node *node = &al->job->nodes[b];
	struct rnk_bounds bounds;
	uint64_t from_ns, until_ns;
	enum ws_status st;

	span_of(al->job, b, &from_ns, &until_ns);
	rnk_bounds_init(&bounds, from_ns);
	st = compare(al, a, b, &bounds, &node->n_common, err);
	if (!st)
		st = compare_stamps(al, a, b, &bounds, &node->n_stamps, err);
	if (!st)
		st = rnk_offset_estimate(&bounds, from_ns, until_ns, &node->offset, err);
	if (!st) {
		node->offset.uncertainty_ns += al->job->nodes[a].offset.uncertainty_ns;
		node->from = node->n_common ? RNK_CLOCK_COLLECTIVES : RNK_CLOCK_STAMPS;
		node->compared_with = a;
	}
	rnk_bounds_fini(&bounds);
	return st;
}

static const char *name_of(const struct rnk_job *job, size_t node)
{
	return *job->nodes[node].host ? job->nodes[node].host : "(unknown host)";
}

static enum ws_status refuse(const struct alignment *al, size_t node, struct ws_err *err)
{
	char ranks[64];

	rnk_node_ranks_text(al->job, node, ranks, sizeof(ranks));
	return ws_fail(err, WS_E_NOTFOUND,
		       "the clock of node '%s' (ranks %s) is not known: it recorded no "
		       "collective of MPI, or of RCCL with kernels, together with '%s'; see "
		       "--collective-kernels and --assume-aligned",
		       name_of(al->job, node), *ranks ? ranks : "none", name_of(al->job, 0));
}

/* All nodes, each by one that was placed before it. */
static enum ws_status place_nodes(struct alignment *al, struct ws_err *err)
{
	struct rnk_job *job = al->job;
	size_t *order = calloc(job->n_nodes, sizeof(*order)), n_placed = 1;
	enum ws_status st = WS_OK;

	if (!order)
		return ws_fail(err, WS_E_NOMEM, "clocks of %zu nodes", job->n_nodes);
	for (size_t i = 0; !st && i < n_placed; i++) {
		for (size_t b = 0; !st && b < job->n_nodes; b++) {
			if (job->nodes[b].from != RNK_CLOCK_UNKNOWN)
				continue;
			st = place(al, order[i], b, err);
			if (!st)
				order[n_placed++] = b;
			else if (st == WS_E_STATE)
				ws_fail_in(err, st, "clocks of nodes '%s' and '%s'",
					   name_of(job, order[i]), name_of(job, b));
			else if (st == WS_E_NOTFOUND)
				st = WS_OK;
		}
	}
	free(order);
	for (size_t i = 0; !st && i < job->n_nodes; i++) {
		if (job->nodes[i].from != RNK_CLOCK_UNKNOWN)
			continue;
		if (job->nodes[i].n_ranks) {
			st = refuse(al, i, err);
			continue;
		}
		/* A launcher, on a node of its own: its line is what assume() made of it. */
		job->nodes[i].from = RNK_CLOCK_ASSUMED;
		st = rnk_job_note(job, err,
				  "node '%s' has processes without a rank only: its clock is "
				  "assumed to be aligned",
				  name_of(job, i));
	}
	return st;
}

/* ---- the job ---- */

/* As trc_open() did it: the shift of a node is that of any of its processes. */
static void assume(struct rnk_job *job)
{
	int64_t reference = 0;

	for (size_t i = job->n_members; i-- > 0;) {
		struct rnk_node *node = &job->nodes[job->members[i].node];

		node->offset = (struct rnk_offset){ .line = job->members[i].process->clock };
		if (job->members[i].node == 0)
			reference = node->offset.line.shift_ns;
	}
	for (size_t i = 0; i < job->n_nodes; i++) {
		job->nodes[i].offset.line.shift_ns =
			(int64_t)((uint64_t)job->nodes[i].offset.line.shift_ns -
				  (uint64_t)reference);
		job->nodes[i].from = i ? RNK_CLOCK_ASSUMED : RNK_CLOCK_REFERENCE;
	}
}

static void set_clocks(struct rnk_job *job)
{
	for (size_t i = 0; i < job->n_members; i++)
		trc_set_clock(job->trace, job->members[i].process_at,
			      &job->nodes[job->members[i].node].offset.line);
}

enum ws_status rnk_job_align(struct rnk_job *job, const struct rnk_align_opts *opts,
			     struct ws_err *err)
{
	struct alignment al = { .job = job };
	struct ws_pattern *kernels = NULL;
	enum ws_status st = WS_OK;

	assume(job);
	if (opts->assume_aligned || job->n_nodes == 1) {
		set_clocks(job);
		return WS_OK;
	}
	for (size_t i = 0; i < job->n_nodes; i++)
		job->nodes[i].from = i ? RNK_CLOCK_UNKNOWN : RNK_CLOCK_REFERENCE;
	/* The machines' own times, until better ones are known. */
	for (size_t i = 0; i < job->n_members; i++)
		trc_set_clock(job->trace, job->members[i].process_at,
			      &(struct trc_clock_line){ 0 });
	al.seen = calloc(job->n_nodes, sizeof(*al.seen));
	if (!al.seen)
		return ws_fail(err, WS_E_NOMEM, "clocks of %zu nodes", job->n_nodes);
	for (size_t i = 0; i < job->n_nodes; i++)
		ws_vec_init(&al.seen[i], RNK_SIGHTINGS_MAX * 2);
	if (opts->collective_kernels)
		st = ws_pattern_create(opts->collective_kernels, WS_PATTERN_SOMEWHERE, &kernels,
				       err);
	if (!st && opts->stamp_files)
		st = rnk_stamps_read(job, opts->stamp_files, &al.stamps, err);
	if (!st)
		st = see_nodes(&al, kernels, err);
	if (!st)
		st = place_nodes(&al, err);
	if (!st)
		set_clocks(job);
	for (size_t i = 0; i < job->n_nodes; i++)
		ws_vec_fini(&al.seen[i]);
	free(al.seen);
	ws_vec_fini(&al.stamps);
	ws_pattern_destroy(kernels);
	return st;
}
