#include "ranks/imbalance.h"

#include "base/arena.h"
#include "base/map.h"
#include "base/pattern.h"
#include "base/util.h"
#include "ranks/matches.h"
#include "ranks/operations.h"

#include <stdlib.h>
#include <string.h>

#define KEYS_BYTES_MAX ((size_t)256 << 20)

struct sums {
	const struct rnk_job *job;
	struct rnk_imbalance *to;
	struct ws_map names; /* what a row is of to its index */
	struct ws_arena keys;
	struct ws_buf key; /* being looked up */
	WS_VEC(struct rnk_row) rows;
	size_t max_rows;
	struct rnk_matches matches;
	uint32_t rank;         /* index of the rank being read */
	const char *last_name; /* of a collective, its communicator's size, and its row */
	uint32_t last_n;
	size_t last_row;
	uint32_t last_launch; /* whose time is counted */
};

void rnk_imbalance_destroy(struct rnk_imbalance *imbalance)
{
	if (!imbalance)
		return;
	for (size_t i = 0; i < imbalance->n_rows; i++)
		free(imbalance->rows[i].shares);
	free(imbalance->rows);
	free(imbalance->ranks);
	free(imbalance);
}

/* ---- rows ---- */

/* Collectives of communicators of different sizes are different rows: they are not comparable. */
static enum ws_status row_of(struct sums *sums, const char *name, bool collective, uint32_t n_ranks,
			     size_t *out_row, struct ws_err *err)
{
	struct rnk_row row = { .name = name, .collective = collective, .comm_ranks = n_ranks };
	struct ws_map_entry *entry;
	const char *key = NULL;
	enum ws_status st;

	ws_buf_clear(&sums->key);
	ws_buf_printf(&sums->key, "%c%u %s", collective ? 'c' : 'k', n_ranks, name);
	entry = ws_map_find(&sums->names, ws_buf_view(&sums->key));
	if (!entry && sums->rows.n < sums->max_rows) {
		key = ws_arena_strdup(&sums->keys, sums->key.at);
		st = ws_buf_status(&sums->key, err);
		if (st || !key)
			return st ? st : ws_fail(err, WS_E_NOMEM, "names of kernels");
	} else if (!entry) {
		key = collective ? "c" : "k";
		row.name = RNK_OTHER_NAMES;
		row.comm_ranks = 0;
		entry = ws_map_find(&sums->names, ws_str_from(key));
	}
	if (entry) {
		*out_row = (uintptr_t)entry->value;
		return WS_OK;
	}
	row.shares = calloc(sums->to->n_ranks, sizeof(*row.shares));
	if (!row.shares)
		return ws_fail(err, WS_E_NOMEM, "the summary of %zu ranks", sums->to->n_ranks);
	*out_row = sums->rows.n;
	st = ws_vec_push(&sums->rows, row, err);
	if (st) {
		free(row.shares);
		return st;
	}
	return ws_map_put(&sums->names, ws_str_from(key), (void *)(uintptr_t)*out_row, err);
}

/* ---- kernels ---- */

static enum ws_status sum_kernels(struct sums *sums, const struct trc_process *process,
				  const struct ws_pattern *collective, struct ws_err *err)
{
	struct trc_event_query query = { .domains = TRC_DOMAIN_BIT(KERNEL_DISPATCH),
					 .process = process };
	/* row + 1, by kernel id; SIZE_MAX: it is a collective */
	size_t *rows = calloc(process->kernels.n + 1, sizeof(*rows));
	struct trc_events *events = NULL;
	const struct trc_event *ev;
	enum ws_status st, closing;

	st = rows ? trc_events_open(sums->job->trace, &query, &events, err)
		  : ws_fail(err, WS_E_NOMEM, "kernels");
	while (!st && (ev = trc_events_next(events))) {
		size_t *row = &rows[ev->dispatch.kernel->id];
		struct rnk_share *share;

		if (!*row) {
			const char *name = ev->dispatch.kernel->formatted;
			bool matches = false;

			if (collective)
				st = ws_pattern_match(collective, name, &matches, err);
			if (!st && !matches)
				st = row_of(sums, name, false, 0, row, err);
			*row = matches ? SIZE_MAX : *row + 1;
		}
		if (st || *row == SIZE_MAX)
			continue;
		share = &sums->rows.at[*row - 1].shares[sums->rank];
		share->n_calls++;
		share->total_ns += ev->end_ns - ev->start_ns;
	}
	closing = trc_events_close(events, st ? NULL : err);
	free(rows);
	return st ? st : closing;
}

/* ---- collectives: twice, because the last one to enter is not known before ---- */

/* Not the program's: it is for the clocks. */
static bool is_ours(const struct rnk_operation *op)
{
	return strcmp(op->name, CAP_CLOCK_EXCHANGE) == 0;
}

static enum ws_status enter(void *ctx, const struct rnk_operation *op, struct ws_err *err)
{
	struct sums *sums = ctx;

	if (op->waits != RNK_WAITS_ALL || op->n_ranks == 1 || is_ours(op))
		return WS_OK;
	return rnk_matches_enter(&sums->matches, op->key, op->start_ns, sums->rank, err);
}

static enum ws_status sum_collective(void *ctx, const struct rnk_operation *op, struct ws_err *err)
{
	struct sums *sums = ctx;
	const struct rnk_match *match = NULL;
	struct rnk_share *share;
	bool counted;

	if (is_ours(op))
		return WS_OK;
	if (op->name != sums->last_name || op->n_ranks != sums->last_n) {
		enum ws_status st = row_of(sums, op->name, true, op->n_ranks, &sums->last_row, err);

		if (st)
			return st;
		sums->last_name = op->name;
		sums->last_n = op->n_ranks;
	}
	share = &sums->rows.at[sums->last_row].shares[sums->rank];
	share->n_calls++;
	/* The operations of a group share their kernels: the first of them has their time. */
	counted = op->launch && op->launch == sums->last_launch;
	sums->last_launch = op->launch;
	share->total_ns += counted ? 0 : op->end_ns - op->start_ns;
	if (op->waits == RNK_WAITS_ALL)
		match = rnk_matches_find(&sums->matches, op->key);
	if (!match || match->n < 2) {
		sums->to->n_unmatched += op->waits == RNK_WAITS_ALL && op->n_ranks != 1;
		return WS_OK;
	}
	sums->rows.at[sums->last_row].waits = true;
	/* By clocks that are a little off, it may have left before the last one entered. */
	share->wait_ns += counted ? 0 : WS_MIN(match->last_ns, op->end_ns) - op->start_ns;
	if (match->last == sums->rank) {
		share->n_last++;
		sums->to->n_matched++;
	}
	return WS_OK;
}

static enum ws_status each_member(struct sums *sums, const struct ws_pattern *kernels,
				  rnk_operation_fn *fn, struct ws_err *err)
{
	const struct rnk_job *job = sums->job;
	enum ws_status st = WS_OK;

	sums->rank = UINT32_MAX; /* the first member is the first of its rank */
	for (size_t i = 0; !st && i < job->n_members && job->members[i].ranked; i++) {
		sums->rank += job->members[i].first;
		sums->last_name = NULL; /* of another process: the pointer may be used again */
		sums->last_launch = 0;
		st = rnk_operations_each(job->trace, job->members[i].process, kernels, fn, sums,
					 err);
		if (!st && fn == sum_collective)
			st = sum_kernels(sums, job->members[i].process, kernels, err);
	}
	return st;
}

/* ---- all ---- */

static uint64_t total_of(const struct rnk_imbalance *imbalance, const struct rnk_row *row)
{
	uint64_t total = 0;

	for (size_t i = 0; i < imbalance->n_ranks; i++)
		total += row->shares[i].total_ns;
	return total;
}

static int by_total(const void *a, const void *b, void *ctx)
{
	const struct rnk_row *x = a, *y = b;
	uint64_t x_total = total_of(ctx, x), y_total = total_of(ctx, y);

	if (x->collective != y->collective)
		return x->collective ? -1 : 1;
	if (x_total != y_total)
		return x_total > y_total ? -1 : 1;
	if (x->comm_ranks != y->comm_ranks)
		return x->comm_ranks > y->comm_ranks ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void take_ranks(const struct rnk_job *job, struct rnk_imbalance *to)
{
	for (size_t i = 0; i < job->n_members; i++)
		if (job->members[i].first)
			to->ranks[to->n_ranks++] = job->members[i].rank;
}

enum ws_status rnk_imbalance_create(const struct rnk_job *job, const char *collective_kernels,
				    struct rnk_imbalance **out_imbalance, struct ws_err *err)
{
	struct sums sums = { .job = job, .to = calloc(1, sizeof(*sums.to)) };
	struct ws_pattern *kernels = NULL;
	enum ws_status st = WS_OK;

	if (sums.to)
		sums.to->ranks = calloc(job->n_ranks + 1, sizeof(*sums.to->ranks));
	if (!sums.to || !sums.to->ranks) {
		rnk_imbalance_destroy(sums.to);
		return ws_fail(err, WS_E_NOMEM, "the summary of %zu ranks", job->n_ranks);
	}
	take_ranks(job, sums.to);
	sums.max_rows = WS_MAX(RNK_CELLS_MAX / WS_MAX(sums.to->n_ranks, (size_t)1), (size_t)64);
	ws_vec_init(&sums.rows, sums.max_rows + 2);
	ws_map_init(&sums.names, WS_MAP_STR, sums.max_rows + 2);
	ws_arena_init(&sums.keys, KEYS_BYTES_MAX);
	ws_buf_init(&sums.key, KEYS_BYTES_MAX);
	rnk_matches_init(&sums.matches, RNK_MATCHED_MAX);
	if (collective_kernels)
		st = ws_pattern_create(collective_kernels, WS_PATTERN_SOMEWHERE, &kernels, err);
	if (!st)
		st = each_member(&sums, kernels, enter, err);
	if (!st)
		st = each_member(&sums, kernels, sum_collective, err);
	sums.to->rows = sums.rows.at;
	sums.to->n_rows = sums.rows.n;
	if (!st && sums.to->n_rows)
		qsort_r(sums.to->rows, sums.to->n_rows, sizeof(*sums.to->rows), by_total, sums.to);
	ws_map_fini(&sums.names);
	ws_arena_fini(&sums.keys);
	ws_buf_fini(&sums.key);
	rnk_matches_fini(&sums.matches);
	ws_pattern_destroy(kernels);
	if (st)
		rnk_imbalance_destroy(sums.to);
	else
		*out_imbalance = sums.to;
	return st;
}

void rnk_row_figures(const struct rnk_imbalance *imbalance, const struct rnk_row *row,
		     struct rnk_figures *out)
{
	uint64_t total = 0, waited = 0;

	*out = (struct rnk_figures){ .least_ns = UINT64_MAX };
	for (size_t i = 0; i < imbalance->n_ranks; i++) {
		const struct rnk_share *share = &row->shares[i];
		bool slower = row->waits ? share->n_last > out->n_slowest_last
					 : share->total_ns > out->slowest_ns;

		if (!share->n_calls)
			continue;
		if (slower || !out->n_ranks) {
			out->slowest = imbalance->ranks[i];
			out->slowest_ns = share->total_ns;
			out->n_slowest_last = share->n_last;
			out->n_slowest_calls = share->n_calls;
		}
		if (share->wait_ns > out->most_wait_ns || !out->n_ranks) {
			out->most_wait_ns = share->wait_ns;
			out->wait_rank = imbalance->ranks[i];
		}
		out->n_ranks++;
		out->n_calls += share->n_calls;
		out->least_ns = WS_MIN(out->least_ns, share->total_ns);
		out->most_ns = WS_MAX(out->most_ns, share->total_ns);
		total += share->total_ns;
		waited += share->wait_ns;
	}
	if (!out->n_ranks) {
		out->least_ns = 0;
		return;
	}
	out->mean_ns = total / out->n_ranks;
	out->mean_wait_ns = waited / out->n_ranks;
	out->spread = total ? (double)(out->most_ns - out->least_ns) * (double)out->n_ranks /
				      (double)total
			    : 0;
}
