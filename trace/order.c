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
 * written by nobody we know) loses order from there on, not memory.
 */
#include "trace/trace_priv.h"

#include <stdlib.h>
#include <string.h>

#define RANK 16
#define STRAYS_MAX (4u << 20)
#define LANES_MAX (1u << 20)

/* A record of the loaded chunk. */
struct key {
	uint64_t start_ns, end_ns;
	uint32_t at, n_bytes; /* in the chunk */
	uint32_t tid;
};

struct stray {
	struct key key;
	uint32_t chunk;
};

WS_VEC_TYPE(stray_list, struct stray);

struct lane {
	const struct ws_capture *capture;
	uint32_t first_chunk, n_chunks; /* in the reader's list */
	uint64_t *cuts;                 /* per chunk: where its window begins */
	uint64_t *ends;                 /* and ends: the cut of the next one with records */
	uint32_t n_sorted;              /* chunks before this one obey their windows */
	struct stray_list strays;
	size_t next_stray;
	uint32_t next_chunk;
	struct ws_view view, stray_view;
	struct key *keys;
	size_t n_keys, next_key, cap_keys;
	size_t hint;
	bool from_stray; /* the lane's next record is a stray, not keys[next_key] */
	struct key head; /* of that record */
};

struct ws_order {
	struct ws_event_query query;
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

static bool before(const struct key *a, const struct key *b)
{
	return a->start_ns != b->start_ns ? a->start_ns < b->start_ns : a->end_ns > b->end_ns;
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
static void sort_ties(struct key *keys, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct key key = keys[i];
		size_t k = i;

		while (k && keys[k - 1].start_ns == key.start_ns &&
		       keys[k - 1].end_ns < key.end_ns) {
			keys[k] = keys[k - 1];
			k--;
		}
		keys[k] = key;
	}
}

/* By start: a byte at a time from the lowest, over as many bytes as the starts differ in. */
static enum ws_status sort_keys(struct ws_order *order, struct key *keys, size_t n,
				struct ws_err *err)
{
	uint64_t low = UINT64_MAX, high = 0;
	struct key *from = keys, *to;
	bool sorted = true;

	for (size_t i = 0; i < n; i++) {
		sorted &= !i || !before(&keys[i], &keys[i - 1]);
		low = WS_MIN(low, keys[i].start_ns);
		high = WS_MAX(high, keys[i].start_ns);
	}
	if (sorted)
		return WS_OK;
	if (order->cap_spare < n &&
	    !grow((void **)&order->spare, &order->cap_spare, n, sizeof(*keys)))
		return ws_fail(err, WS_E_NOMEM, "sorting events");
	to = order->spare;
	for (unsigned shift = 0; shift < 64 && (high - low) >> shift; shift += 8) {
		size_t place[256] = { 0 }, sum = 0;
		struct key *swap = from;

		for (size_t i = 0; i < n; i++)
			place[(from[i].start_ns - low) >> shift & 255]++;
		for (unsigned b = 0; b < 256; b++) {
			size_t count = place[b];

			place[b] = sum;
			sum += count;
		}
		for (size_t i = 0; i < n; i++)
			to[place[(from[i].start_ns - low) >> shift & 255]++] = from[i];
		from = to;
		to = swap;
	}
	if (from != keys)
		memcpy(keys, from, n * sizeof(*keys));
	sort_ties(keys, n);
	return WS_OK;
}

/* Loads a chunk and fills the lane's keys with what the query wants of it, sorted. */
static enum ws_status load_keys(struct ws_order *order, struct lane *lane, uint32_t chunk,
				struct ws_err *err)
{
	const struct ws_capture *c = lane->capture;
	const struct ws_rec *rec;
	enum ws_status st;

	lane->n_keys = lane->next_key = 0;
	st = ws_reader_load(c->reader, lane->first_chunk + chunk, &lane->view, err);
	if (st)
		return st;
	while ((rec = ws_view_next(&lane->view))) {
		enum ws_domain domain = ws_rec_domain(c, rec);
		struct key key = { .at = (uint32_t)((const char *)rec - lane->view.bytes),
				   .n_bytes = ws_rec_bytes(rec),
				   .tid = lane->view.tid };

		if (domain == WS_DOMAIN_COUNT || !ws_query_wants(&order->query, domain, rec) ||
		    !ws_rec_times(c, rec, &lane->hint, &key.start_ns, &key.end_ns))
			continue;
		if (lane->n_keys == lane->cap_keys &&
		    !grow((void **)&lane->keys, &lane->cap_keys, 256, sizeof(*lane->keys)))
			return ws_fail(err, WS_E_NOMEM, "sorting events");
		lane->keys[lane->n_keys++] = key;
	}
	return sort_keys(order, lane->keys, lane->n_keys, err);
}

/* ---- the first reading ---- */

static int by_start(const void *a, const void *b)
{
	const struct stray *x = a, *y = b;

	if (x->key.start_ns != y->key.start_ns)
		return x->key.start_ns < y->key.start_ns ? -1 : 1;
	if (x->key.end_ns != y->key.end_ns)
		return x->key.end_ns > y->key.end_ns ? -1 : 1;
	if (x->chunk != y->chunk)
		return x->chunk < y->chunk ? -1 : 1;
	return x->key.at < y->key.at ? -1 : x->key.at > y->key.at;
}

static enum ws_status add_stray(struct ws_order *order, struct lane *lane, uint32_t chunk,
				const struct key *key, struct ws_err *err)
{
	order->n_strays++;
	return ws_vec_push(&lane->strays, ((struct stray){ *key, chunk }), err);
}

/* The sorted keys of the last chunk that had any, until the next one's cut is known. */
struct kept {
	struct key *keys;
	size_t n, cap;
	uint32_t chunk;
};

/* The keys of chunk @k are loaded: cut, and part what is not in its window or in the last one's. */
static enum ws_status plan_chunk(struct ws_order *order, struct lane *lane, uint32_t k,
				 struct kept *last, struct ws_err *err)
{
	size_t rank = WS_MIN((size_t)RANK, (lane->n_keys - 1) / RANK), late = 0;
	enum ws_status st = WS_OK;

	/* the first chunk has no past to be late for */
	if (last->n)
		lane->cuts[k] = WS_MAX(lane->cuts[last->chunk], lane->keys[rank].start_ns);
	while (!st && late < lane->n_keys && lane->keys[late].start_ns < lane->cuts[k])
		st = add_stray(order, lane, k, &lane->keys[late++], err);
	for (size_t i = last->n; !st && i-- > 0 && last->keys[i].start_ns >= lane->cuts[k];)
		st = add_stray(order, lane, last->chunk, &last->keys[i], err);
	if (st)
		return st;
	if (last->n)
		lane->ends[last->chunk] = lane->cuts[k];
	if (last->cap < lane->n_keys &&
	    !grow((void **)&last->keys, &last->cap, lane->n_keys, sizeof(*last->keys)))
		return ws_fail(err, WS_E_NOMEM, "sorting events");
	/* late ones stay in as well: they are below every cut to come */
	last->n = lane->n_keys;
	memcpy(last->keys, lane->keys, last->n * sizeof(*last->keys));
	last->chunk = k;
	return WS_OK;
}

static enum ws_status plan_lane(struct ws_order *order, struct lane *lane, struct ws_err *err)
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
		if (!ws_chunk_wanted(ws_reader_chunk(lane->capture->reader, lane->first_chunk + k),
				     order->types))
			continue;
		st = load_keys(order, lane, k, err);
		if (!st && lane->n_keys)
			st = plan_chunk(order, lane, k, &last, err);
	}
	free(last.keys);
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
static bool advance(struct ws_order *order, struct lane *lane, enum ws_status *out_st,
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
		if (!ws_chunk_wanted(ws_reader_chunk(lane->capture->reader,
						     lane->first_chunk + lane->next_chunk - 1),
				     order->types))
			continue;
		*out_st = load_keys(order, lane, lane->next_chunk - 1, err);
		if (*out_st)
			return false;
	}
	key = lane->next_key < lane->n_keys ? &lane->keys[lane->next_key] : NULL;
	if (!key && !stray) {
		ws_view_fini(&lane->view);
		ws_view_fini(&lane->stray_view);
		free(lane->keys);
		lane->keys = NULL;
		return false;
	}
	lane->from_stray = stray && (!key || !before(key, &stray->key));
	lane->head = lane->from_stray ? stray->key : *key;
	return true;
}

/* NULL with a good status: the file changed since the first reading, and it is gone. */
static const struct ws_rec *head_record(struct lane *lane, enum ws_status *out_st,
					struct ws_err *err)
{
	const struct stray *stray;

	if (!lane->from_stray)
		return (const struct ws_rec *)(lane->view.bytes + lane->keys[lane->next_key++].at);
	stray = &lane->strays.at[lane->next_stray++];
	*out_st = ws_reader_load_part(lane->capture->reader, lane->first_chunk + stray->chunk,
				      stray->key.at, stray->key.n_bytes, &lane->stray_view, err);
	return *out_st ? NULL : ws_view_next(&lane->stray_view);
}

/* ---- lanes merged ---- */

static bool lane_before(const struct lane *a, const struct lane *b)
{
	if (a->head.start_ns != b->head.start_ns || a->head.end_ns != b->head.end_ns)
		return before(&a->head, &b->head);
	return a < b;
}

static void sift_down(struct ws_order *order, size_t i)
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

static enum ws_status find_lanes(struct ws_order *order, const struct ws_capture *capture,
				 struct ws_err *err)
{
	size_t n = ws_reader_n_chunks(capture->reader);
	enum ws_status st = WS_OK;

	for (size_t i = 0; !st && i < n;) {
		struct lane lane = { .capture = capture, .first_chunk = (uint32_t)i };
		uint32_t id = ws_reader_chunk(capture->reader, i)->lane;
		bool wanted = false;

		for (; i < n && ws_reader_chunk(capture->reader, i)->lane == id; i++) {
			lane.n_chunks++;
			wanted |=
				ws_chunk_wanted(ws_reader_chunk(capture->reader, i), order->types);
		}
		ws_vec_init(&lane.strays, STRAYS_MAX * 2);
		if (wanted)
			st = ws_vec_push(&order->lanes, lane, err);
	}
	return st;
}

enum ws_status ws_order_open(const struct ws_trace *trace, const struct ws_event_query *query,
			     struct ws_order **out_order, struct ws_err *err)
{
	struct ws_order *order = calloc(1, sizeof(*order));
	enum ws_status st = WS_OK;

	if (!order)
		return ws_fail(err, WS_E_NOMEM, "sorting events");
	order->query = *query;
	order->types = ws_domain_types(query->domains);
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
		ws_order_close(order);
		return st;
	}
	for (size_t i = order->n_heap / 2; i-- > 0;)
		sift_down(order, i);
	*out_order = order;
	return WS_OK;
}

const struct ws_rec *ws_order_next(struct ws_order *order, const struct ws_capture **out_capture,
				   uint32_t *out_tid, enum ws_status *out_st, struct ws_err *err)
{
	for (;;) {
		const struct ws_rec *rec;

		/* Only now: the record given last lay in this lane's buffers. */
		if (order->current && !advance(order, order->current, out_st, err))
			order->heap[0] = order->heap[--order->n_heap];
		order->current = NULL;
		if (*out_st || !order->n_heap)
			return NULL;
		sift_down(order, 0);
		order->current = order->heap[0];
		*out_capture = order->current->capture;
		*out_tid = order->current->head.tid;
		rec = head_record(order->current, out_st, err);
		if (rec || *out_st)
			return rec;
	}
}

void ws_order_close(struct ws_order *order)
{
	if (!order)
		return;
	ws_vec_each(lane, &order->lanes) {
		ws_view_fini(&lane->view);
		ws_view_fini(&lane->stray_view);
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
