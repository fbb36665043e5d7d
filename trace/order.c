/*
 * order: the records of a query by their start, without holding them.
 *
 * A lane's records are nearly in order: what is out of order was appended when it
 * ended, after things that began later. So each chunk of a lane is given a window
 * of time, [cut[k], cut[k + 1]), such that nearly all of its records begin in it.
 * The few that do not (calls and ranges that were open when the chunk began, GPU
 * work that overtook other work) are strays: a first reading notes where they lie,
 * sorted by start. A lane in order is then its chunks, each sorted by itself, merged
 * with its strays; the trace in order is its lanes, merged by a heap.
 *
 * The order is exact whatever the cuts are; only the number of strays depends on
 * them. A cut is the start of a chunk's RANK-th record, so that a few wild times
 * cannot move it. A file that makes millions of strays all the same (damaged, or
 * written by an unknown program) loses order from there on, not memory.
 */
#include "trace/trace_priv.h"

#include <stdlib.h>
#include <string.h>

#define RANK 16
#define STRAYS_MAX (4u << 20)
#define LANES_MAX (1u << 20)

/* A record of the loaded chunk; small, because chunks are sorted by moving these. */
struct key {
	uint64_t start_ns;
	uint32_t at; /* in the chunk */
	uint32_t tid;
};

struct stray {
	uint64_t start_ns, end_ns;
	uint32_t chunk, at, n_bytes, tid;
};

WS_VEC_TYPE(stray_list, struct stray);

struct lane {
	const struct trc_capture *capture;
	uint32_t first_chunk, n_chunks; /* in the reader's list */
	uint64_t *cuts;                 /* per chunk: where its window begins */
	uint64_t *ends;                 /* and ends: the cut of the next one with records */
	uint32_t n_sorted;              /* chunks before this one obey their windows */
	struct stray_list strays;
	size_t next_stray;
	uint32_t next_chunk;
	struct cap_view view, stray_view;
	struct key *keys;
	size_t n_keys, next_key, cap_keys;
	size_t hint;
	bool from_stray;           /* the lane's next record is a stray, not keys[next_key] */
	uint64_t start_ns, end_ns; /* of that record */
};

struct trc_order {
	struct trc_event_query query;
	uint64_t types;
	WS_VEC(struct lane) lanes;
	struct lane **heap;
	size_t n_heap;
	struct lane *current; /* gave the last record: is moved on by the next call */
	struct key *spare;    /* for sorting */
	size_t cap_spare;
	size_t n_strays;
};

/* ---- keys of a chunk ---- */

static bool before(uint64_t a_start, uint64_t a_end, uint64_t b_start, uint64_t b_end)
{
	return a_start != b_start ? a_start < b_start : a_end > b_end;
}

static const struct cap_rec *key_record(const struct lane *lane, const struct key *key)
{
	return (const struct cap_rec *)(lane->view.bytes + key->at);
}

static uint64_t key_end(struct lane *lane, const struct key *key)
{
	uint64_t start, end = 0;

	trc_rec_times(lane->capture, key_record(lane, key), &lane->hint, &start, &end);
	return end;
}

static bool grow(void **at, size_t *cap, size_t want, size_t elem)
{
	size_t n = WS_MAX(want, *cap * 2);
	void *more = realloc(*at, n * elem);

	if (!more)
		return false;
	*at = more;
	*cap = n;
	return true;
}

/* Longer first among those that begin together; such groups are small. */
static void sort_ties(struct lane *lane)
{
	struct key *keys = lane->keys;

	for (size_t i = 1; i < lane->n_keys; i++) {
		struct key key = keys[i];
		size_t k = i;

		if (keys[k - 1].start_ns != key.start_ns)
			continue;
		while (k && keys[k - 1].start_ns == key.start_ns &&
		       key_end(lane, &keys[k - 1]) < key_end(lane, &key)) {
			keys[k] = keys[k - 1];
			k--;
		}
		keys[k] = key;
	}
}

#define DIGIT_BITS 11

/* The lane's keys by start: digit by digit from the lowest, as many as the starts differ in. */
static enum ws_status sort_keys(struct trc_order *order, struct lane *lane, struct ws_err *err)
{
	uint64_t low = UINT64_MAX, high = 0;
	struct key *from = lane->keys, *to;
	size_t n = lane->n_keys;
	bool sorted = true;

	for (size_t i = 0; i < n; i++) {
		sorted &= !i || from[i].start_ns >= from[i - 1].start_ns;
		low = WS_MIN(low, from[i].start_ns);
		high = WS_MAX(high, from[i].start_ns);
	}
	if (!sorted && order->cap_spare < n &&
	    !grow((void **)&order->spare, &order->cap_spare, n, sizeof(*from)))
		return ws_fail(err, WS_E_NOMEM, "sorting events");
	to = order->spare;
	for (unsigned shift = 0; !sorted && shift < 64 && (high - low) >> shift;
	     shift += DIGIT_BITS) {
		const unsigned mask = (1u << DIGIT_BITS) - 1;
		uint32_t place[1 << DIGIT_BITS] = { 0 }, sum = 0;
		struct key *swap = from;

		for (size_t i = 0; i < n; i++)
			place[(from[i].start_ns - low) >> shift & mask]++;
		for (unsigned digit = 0; digit <= mask; digit++) {
			uint32_t count = place[digit];

			place[digit] = sum;
			sum += count;
		}
		for (size_t i = 0; i < n; i++)
			to[place[(from[i].start_ns - low) >> shift & mask]++] = from[i];
		from = to;
		to = swap;
	}
	if (from != lane->keys)
		memcpy(lane->keys, from, n * sizeof(*from));
	sort_ties(lane);
	return WS_OK;
}

/* Loads a chunk and fills the lane's keys with what the query wants of it, as recorded. */
static enum ws_status load_keys(struct trc_order *order, struct lane *lane, uint32_t chunk,
				struct ws_err *err)
{
	const struct trc_capture *c = lane->capture;
	const struct cap_rec *rec;
	enum ws_status st;

	lane->n_keys = lane->next_key = 0;
	st = cap_reader_load(c->reader, lane->first_chunk + chunk, &lane->view, err);
	if (st)
		return st;
	while ((rec = cap_view_next(&lane->view))) {
		enum cap_domain domain = trc_rec_domain(c, rec);
		struct key key = { .at = (uint32_t)((const char *)rec - lane->view.bytes),
				   .tid = lane->view.tid };
		uint64_t end;

		if (domain == CAP_DOMAIN_COUNT || !trc_query_wants(&order->query, domain, rec) ||
		    !trc_rec_times(c, rec, &lane->hint, &key.start_ns, &end))
			continue;
		if (lane->n_keys == lane->cap_keys &&
		    !grow((void **)&lane->keys, &lane->cap_keys, 256, sizeof(*lane->keys)))
			return ws_fail(err, WS_E_NOMEM, "sorting events");
		lane->keys[lane->n_keys++] = key;
	}
	return WS_OK;
}

/* ---- the first reading ---- */

static int by_start(const void *a, const void *b)
{
	const struct stray *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	if (x->chunk != y->chunk)
		return x->chunk < y->chunk ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* What the first reading keeps of a chunk until the next one's cut is known. */
struct kept {
	struct cap_view view;
	struct key *keys;
	size_t n, cap;
	uint32_t chunk;
};

static enum ws_status add_stray(struct trc_order *order, struct lane *lane, uint32_t chunk,
				const struct cap_view *view, const struct key *key,
				struct ws_err *err)
{
	const struct cap_rec *rec = (const struct cap_rec *)(view->bytes + key->at);
	struct stray stray = {
		.chunk = chunk, .at = key->at, .n_bytes = cap_rec_bytes(rec), .tid = key->tid
	};

	trc_rec_times(lane->capture, rec, &lane->hint, &stray.start_ns, &stray.end_ns);
	order->n_strays++;
	return ws_vec_push(&lane->strays, stray, err);
}

/* The RANK-th smallest start, or one nearer to the first where there are few. */
static uint64_t rank_start(const struct key *keys, size_t n)
{
	uint64_t least[RANK + 1];
	size_t rank = WS_MIN((size_t)RANK, (n - 1) / RANK), have = 0;

	for (size_t i = 0; i < n; i++) {
		size_t k = have;

		if (have > rank && keys[i].start_ns >= least[rank])
			continue;
		if (have <= rank)
			have++;
		else
			k = rank;
		for (; k && least[k - 1] > keys[i].start_ns; k--)
			least[k] = least[k - 1];
		least[k] = keys[i].start_ns;
	}
	return least[rank];
}

/* The keys of chunk @k are loaded: cut, and note what is not in its window or in the last one's. */
static enum ws_status plan_chunk(struct trc_order *order, struct lane *lane, uint32_t k,
				 struct kept *last, struct ws_err *err)
{
	enum ws_status st = WS_OK;
	struct kept swap = *last;
	uint64_t cut = 0; /* the first chunk has no past to be late for */

	if (last->n)
		cut = WS_MAX(lane->cuts[last->chunk], rank_start(lane->keys, lane->n_keys));
	lane->cuts[k] = cut;
	for (size_t i = 0; !st && i < lane->n_keys; i++) {
		if (lane->keys[i].start_ns < cut)
			st = add_stray(order, lane, k, &lane->view, &lane->keys[i], err);
	}
	/* those late in their own chunk are below this cut, too, and are not met again */
	for (size_t i = 0; !st && i < last->n; i++) {
		if (last->keys[i].start_ns >= cut)
			st = add_stray(order, lane, last->chunk, &last->view, &last->keys[i], err);
	}
	if (last->n)
		lane->ends[last->chunk] = cut;
	*last = (struct kept){ lane->view, lane->keys, lane->n_keys, lane->cap_keys, k };
	lane->view = swap.view;
	lane->keys = swap.keys;
	lane->cap_keys = swap.cap;
	lane->n_keys = 0;
	return st;
}

static enum ws_status plan_lane(struct trc_order *order, struct lane *lane, struct ws_err *err)
{
	struct kept last = { 0 };
	enum ws_status st = WS_OK;

	lane->cuts = calloc(lane->n_chunks, sizeof(*lane->cuts));
	lane->ends = malloc(lane->n_chunks * sizeof(*lane->ends));
	if (!lane->cuts || !lane->ends)
		return ws_fail(err, WS_E_NOMEM, "sorting events");
	memset(lane->ends, 0xff, lane->n_chunks * sizeof(*lane->ends));
	for (uint32_t k = 0; !st && k < lane->n_chunks && order->n_strays <= STRAYS_MAX; k++) {
		lane->n_sorted = k + 1;
		if (!trc_chunk_wanted(cap_reader_chunk(lane->capture->reader,
						       lane->first_chunk + k),
				      order->types))
			continue;
		st = load_keys(order, lane, k, err);
		if (!st && lane->n_keys)
			st = plan_chunk(order, lane, k, &last, err);
	}
	free(last.keys);
	cap_view_fini(&last.view);
	ws_vec_sort(&lane->strays, by_start);
	lane->n_keys = lane->next_key = 0;
	return st;
}

/* ---- a lane in order ---- */

static bool in_window(const struct lane *lane, uint32_t k, uint64_t start_ns)
{
	if (k >= lane->n_sorted)
		return true; /* order was given up */
	return start_ns >= lane->cuts[k] && start_ns < lane->ends[k];
}

/* Moves to the lane's next record; false: none left. */
static bool advance(struct trc_order *order, struct lane *lane, enum ws_status *out_st,
		    struct ws_err *err)
{
	const struct stray *stray =
		lane->next_stray < lane->strays.n ? &lane->strays.at[lane->next_stray] : NULL;
	const struct key *key;

	for (;;) {
		while (lane->next_key < lane->n_keys &&
		       !in_window(lane, lane->next_chunk - 1, lane->keys[lane->next_key].start_ns))
			lane->next_key++; /* a stray: it comes from the other list */
		if (lane->next_key < lane->n_keys || lane->next_chunk >= lane->n_chunks)
			break;
		lane->next_chunk++;
		if (!trc_chunk_wanted(cap_reader_chunk(lane->capture->reader,
						       lane->first_chunk + lane->next_chunk - 1),
				      order->types))
			continue;
		*out_st = load_keys(order, lane, lane->next_chunk - 1, err);
		if (!*out_st)
			*out_st = sort_keys(order, lane, err);
		if (*out_st)
			return false;
	}
	key = lane->next_key < lane->n_keys ? &lane->keys[lane->next_key] : NULL;
	if (!key && !stray) {
		cap_view_fini(&lane->view);
		cap_view_fini(&lane->stray_view);
		free(lane->keys);
		lane->keys = NULL;
		return false;
	}
	lane->start_ns = key ? key->start_ns : 0;
	lane->end_ns = key ? key_end(lane, key) : 0;
	lane->from_stray = stray && (!key || !before(lane->start_ns, lane->end_ns, stray->start_ns,
						     stray->end_ns));
	if (lane->from_stray) {
		lane->start_ns = stray->start_ns;
		lane->end_ns = stray->end_ns;
	}
	return true;
}

/* NULL with a good status: the file changed since the first reading, and it is gone. */
static const struct cap_rec *head_record(struct lane *lane, uint32_t *out_tid,
					 enum ws_status *out_st, struct ws_err *err)
{
	const struct stray *stray;

	if (!lane->from_stray) {
		const struct key *key = &lane->keys[lane->next_key++];

		*out_tid = key->tid;
		return key_record(lane, key);
	}
	stray = &lane->strays.at[lane->next_stray++];
	*out_tid = stray->tid;
	*out_st = cap_reader_load_part(lane->capture->reader, lane->first_chunk + stray->chunk,
				       stray->at, stray->n_bytes, &lane->stray_view, err);
	return *out_st ? NULL : cap_view_next(&lane->stray_view);
}

/* ---- lanes merged ---- */

static bool lane_before(const struct lane *a, const struct lane *b)
{
	if (a->start_ns != b->start_ns || a->end_ns != b->end_ns)
		return before(a->start_ns, a->end_ns, b->start_ns, b->end_ns);
	return a < b;
}

static void sift_down(struct trc_order *order, size_t i)
{
	struct lane *lane = order->heap[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= order->n_heap)
			break;
		if (child + 1 < order->n_heap &&
		    lane_before(order->heap[child + 1], order->heap[child]))
			child++;
		if (!lane_before(order->heap[child], lane))
			break;
		order->heap[i] = order->heap[child];
		i = child;
	}
	order->heap[i] = lane;
}

static enum ws_status find_lanes(struct trc_order *order, const struct trc_capture *capture,
				 struct ws_err *err)
{
	size_t n = cap_reader_n_chunks(capture->reader);
	enum ws_status st = WS_OK;

	for (size_t i = 0; !st && i < n;) {
		struct lane lane = { .capture = capture, .first_chunk = (uint32_t)i };
		uint32_t id = cap_reader_chunk(capture->reader, i)->lane;
		bool wanted = false;

		for (; i < n && cap_reader_chunk(capture->reader, i)->lane == id; i++) {
			lane.n_chunks++;
			wanted |= trc_chunk_wanted(cap_reader_chunk(capture->reader, i),
						   order->types);
		}
		ws_vec_init(&lane.strays, STRAYS_MAX * 2);
		if (wanted)
			st = ws_vec_push(&order->lanes, lane, err);
	}
	return st;
}

enum ws_status trc_order_open(const struct trc_trace *trace, const struct trc_event_query *query,
			      struct trc_order **out_order, struct ws_err *err)
{
	struct trc_order *order = calloc(1, sizeof(*order));
	enum ws_status st = WS_OK;

	if (!order)
		return ws_fail(err, WS_E_NOMEM, "sorting events");
	order->query = *query;
	order->types = trc_domain_types(query->domains);
	ws_vec_init(&order->lanes, LANES_MAX);
	for (size_t i = 0; !st && i < trace->n; i++) {
		if (!query->process || query->process == &trace->captures[i]->pub)
			st = find_lanes(order, trace->captures[i], err);
	}
	if (!st && !(order->heap = calloc(order->lanes.n + 1, sizeof(struct lane *))))
		st = ws_fail(err, WS_E_NOMEM, "sorting events");
	for (size_t i = 0; !st && i < order->lanes.n; i++) {
		struct lane *lane = &order->lanes.at[i];

		st = plan_lane(order, lane, err);
		if (!st && advance(order, lane, &st, err))
			order->heap[order->n_heap++] = lane;
	}
	if (st) {
		trc_order_close(order);
		return st;
	}
	for (size_t i = order->n_heap / 2; i-- > 0;)
		sift_down(order, i);
	*out_order = order;
	return WS_OK;
}

const struct cap_rec *trc_order_next(struct trc_order *order,
				     const struct trc_capture **out_capture, uint32_t *out_tid,
				     enum ws_status *out_st, struct ws_err *err)
{
	for (;;) {
		const struct cap_rec *rec;

		/* Only now: the record given last lay in this lane's buffers. */
		if (order->current && !advance(order, order->current, out_st, err))
			order->heap[0] = order->heap[--order->n_heap];
		order->current = NULL;
		if (*out_st || !order->n_heap)
			return NULL;
		sift_down(order, 0);
		order->current = order->heap[0];
		*out_capture = order->current->capture;
		rec = head_record(order->current, out_tid, out_st, err);
		if (rec || *out_st)
			return rec;
	}
}

void trc_order_close(struct trc_order *order)
{
	if (!order)
		return;
	for (size_t i = 0; i < order->lanes.n; i++) {
		struct lane *lane = &order->lanes.at[i];

		cap_view_fini(&lane->view);
		cap_view_fini(&lane->stray_view);
		ws_vec_fini(&lane->strays);
		free(lane->keys);
		free(lane->cuts);
		free(lane->ends);
	}
	ws_vec_fini(&order->lanes);
	free(order->heap);
	free(order->spare);
	free(order);
}
