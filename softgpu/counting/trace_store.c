#include "softgpu/counting/trace_store.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/trace/trace_digest.h"

#define MAX_SPARE_BYTES (64ull << 20)
#define CHUNK_BYTES (256u << 10)
#define MAX_PACKED_BYTES                                                                           \
	(CHUNK_BYTES / 8) /* of a workgroup: the end of a chunk that is lost is short */
#define MAX_WAVES 16      /* of a workgroup */
#define LINE_BYTES 64

struct sg_trace_chunk {
	struct sg_trace_chunk *next, *next_unused;
	uint32_t n_packed; /* workgroups; the worker that fills it counts them here */
	size_t used;
	_Atomic int32_t
		n_unread; /* less than 0 until it is full: the model counts what it has read, and n_packed is added then */
	uint8_t bytes[CHUNK_BYTES] __attribute__((aligned(LINE_BYTES)));
};

/* What the model gets; `chunk` is the one that it is in, or that the buffers fill. */
struct held_traces {
	struct sg_wg_traces public;
	struct sg_trace_chunk *chunk;
	uint64_t n_bytes; /* packed; 0: buffers */
};

static struct held_traces *held(struct sg_wg_traces *t)
{
	return (struct held_traces *)t; /* its first member */
}

static const struct held_traces *held_const(const struct sg_wg_traces *t)
{
	return (const struct held_traces *)t;
}

/* ---- buffers ---- */

void sg_traces_destroy(struct sg_wg_traces *t)
{
	if (!t)
		return;
	for (uint32_t k = 0; k < t->n_waves; k++)
		sg_trace_free(&t->waves[k]);
	free(t->waves);
	free(held(t));
}

uint64_t sg_traces_bytes(const struct sg_wg_traces *t)
{
	uint64_t n = held_const(t)->n_bytes;

	if (n)
		return n;
	for (uint32_t k = 0; k < t->n_waves; k++)
		n += sg_trace_bytes(&t->waves[k]);
	return n;
}

void sg_traces_reuse(struct sg_trace_spares *spares, struct sg_wg_traces *t, uint32_t n_waves)
{
	uint64_t n_bytes = sg_traces_bytes(t);
	bool kept = false;

	held(t)->chunk = NULL;
	if (t->n_waves == n_waves) {
		pthread_mutex_lock(&spares->lock);
		kept = spares->n_bytes + n_bytes <= MAX_SPARE_BYTES;
		if (kept) {
			t->next_spare = spares->buffers;
			spares->buffers = t;
			spares->n_bytes += n_bytes;
		}
		pthread_mutex_unlock(&spares->lock);
	}
	if (!kept)
		sg_traces_destroy(t);
}

static struct sg_wg_traces *take_spare(struct sg_trace_spares *spares, uint32_t n_waves)
{
	struct sg_wg_traces *t;

	pthread_mutex_lock(&spares->lock);
	t = spares->buffers;
	if (t) {
		spares->buffers = t->next_spare;
		spares->n_bytes -= sg_traces_bytes(t);
	}
	pthread_mutex_unlock(&spares->lock);
	if (t && t->n_waves != n_waves) { /* from another kernel, and so are the others */
		sg_traces_destroy(t);
		t = NULL;
	}
	return t;
}

struct sg_wg_traces *sg_traces_create(struct sg_trace_spares *spares, uint32_t n_waves)
{
	struct sg_wg_traces *t = take_spare(spares, n_waves);
	struct held_traces *h;

	if (t)
		return t;
	h = calloc(1, sizeof(*h));
	if (!h)
		return NULL;
	h->public.n_waves = n_waves;
	h->public.waves = calloc(n_waves, sizeof(*h->public.waves));
	if (!h->public.waves) {
		free(h);
		return NULL;
	}
	return &h->public;
}

/* ---- packed traces ---- */

static size_t round_up(size_t n)
{
	return (n + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
}

static size_t waves_at(uint32_t n_waves)
{
	return sizeof(struct held_traces) + n_waves * sizeof(struct sg_wave_trace);
}

static size_t packed_bytes(const struct sg_wg_traces *t, uint32_t n_waves)
{
	size_t n = waves_at(n_waves);

	for (uint32_t k = 0; k < n_waves; k++)
		n += t->waves[k].control.size + t->waves[k].memory.size;
	return round_up(n);
}

bool sg_traces_are_packed(const struct sg_wg_traces *t)
{
	return held_const(t)->n_bytes != 0;
}

static struct sg_trace_chunk *take_spare_chunk(struct sg_trace_spares *spares)
{
	struct sg_trace_chunk *chunk;

	pthread_mutex_lock(&spares->lock);
	chunk = spares->chunks;
	if (chunk) {
		spares->chunks = chunk->next;
		spares->n_bytes -= sizeof(*chunk);
	}
	pthread_mutex_unlock(&spares->lock);
	return chunk ? chunk : aligned_alloc(LINE_BYTES, sizeof(*chunk));
}

/* The lock is held. */
static void put_unused(struct sg_trace_store *store, struct sg_trace_chunk *chunk)
{
	chunk->next_unused = store->unused;
	store->unused = chunk;
	store->n_bytes -= sizeof(*chunk);
}

/* The lock is held. */
static struct sg_trace_chunk *next_chunk(struct sg_trace_store *store, struct sg_trace_chunk *full)
{
	struct sg_trace_chunk *chunk;

	if (full &&
	    atomic_fetch_add(&full->n_unread, (int32_t)full->n_packed) == -(int32_t)full->n_packed)
		put_unused(store, full);
	chunk = store->unused;
	if (chunk) {
		store->unused = chunk->next_unused;
	} else {
		chunk = take_spare_chunk(store->spares);
		if (!chunk)
			return NULL;
		chunk->next = store->chunks;
		store->chunks = chunk;
	}
	chunk->n_packed = 0;
	chunk->n_unread = 0;
	chunk->used = 0;
	store->n_bytes += sizeof(*chunk);
	return chunk;
}

static uint8_t *copy_stream(struct sg_trace_stream *to, const struct sg_trace_stream *from,
			    uint8_t *at)
{
	*to = (struct sg_trace_stream){ at, from->size };
	if (from->size) /* nothing may be nowhere */
		memcpy(at, from->bytes, from->size);
	return at + from->size;
}

/* Only what a reader needs. */
static struct sg_wg_traces *copy(uint8_t *to, const struct sg_wg_traces *t, uint32_t n_waves)
{
	struct held_traces *h = (struct held_traces *)to;
	uint8_t *at = to + waves_at(n_waves);

	h->public.n_waves = n_waves;
	h->public.waves = (struct sg_wave_trace *)(h + 1);
	for (uint32_t k = 0; k < n_waves; k++) {
		const struct sg_wave_trace *from = &t->waves[k];
		struct sg_wave_trace *w = &h->public.waves[k];

		w->entry = from->entry;
		w->exec = from->exec;
		w->lost = from->lost;
		at = copy_stream(&w->control, &from->control, at);
		at = copy_stream(&w->memory, &from->memory, at);
	}
	return &h->public;
}

struct sg_wg_traces *sg_traces_pack(struct sg_trace_store *store, pthread_mutex_t *lock,
				    struct sg_wg_traces *t, uint32_t n_waves)
{
	size_t size = packed_bytes(t, n_waves);
	struct held_traces *h = held(t);
	struct sg_wg_traces *packed;

	if (size > MAX_PACKED_BYTES || n_waves > MAX_WAVES)
		return NULL;
	if (!h->chunk || CHUNK_BYTES - h->chunk->used < size) {
		pthread_mutex_lock(lock);
		h->chunk = next_chunk(store, h->chunk);
		pthread_mutex_unlock(lock);
	}
	if (!h->chunk)
		return NULL;
	packed = copy(h->chunk->bytes + h->chunk->used, t, n_waves);
	held(packed)->chunk = h->chunk;
	held(packed)->n_bytes = size;
	h->chunk->used += size;
	h->chunk->n_packed++;
	return packed;
}

/* The streams of packed traces are one behind the other: two digests instead of two for each wave. */
static uint64_t digest_packed(const struct sg_wg_traces *t)
{
	uint64_t heads[MAX_WAVES][4];
	size_t size = 0;

	for (uint32_t k = 0; k < t->n_waves; k++) {
		const struct sg_wave_trace *w = &t->waves[k];

		heads[k][0] = w->entry;
		heads[k][1] = w->exec;
		heads[k][2] = w->control.size;
		heads[k][3] = w->memory.size;
		size += w->control.size + w->memory.size;
	}
	return sg_digest(sg_digest(0, heads, t->n_waves * sizeof(heads[0])), t->waves + t->n_waves,
			 size);
}

uint64_t sg_traces_digest(const struct sg_wg_traces *t)
{
	uint64_t digest = 0;

	if (sg_traces_are_packed(t))
		return digest_packed(t);
	for (uint32_t k = 0; k < t->n_waves; k++)
		digest = sg_trace_digest(digest, &t->waves[k]);
	return digest;
}

void sg_trace_store_keep(struct sg_trace_store *store, struct sg_wg_traces *t, uint32_t n_waves)
{
	for (uint32_t k = n_waves; k < t->n_waves; k++)
		sg_trace_free(&t->waves[k]);
	t->n_waves = n_waves;
	store->n_bytes += sg_traces_bytes(t);
}

bool sg_trace_store_drop(struct sg_trace_store *store, pthread_mutex_t *lock,
			 struct sg_wg_traces *t, uint32_t n_waves)
{
	struct sg_trace_chunk *chunk = held(t)->chunk;

	if (!sg_traces_are_packed(t)) {
		store->n_bytes -= sg_traces_bytes(t);
		sg_traces_reuse(store->spares, t, n_waves);
		return true;
	}
	if (atomic_fetch_sub(&chunk->n_unread, 1) != 1)
		return false;
	pthread_mutex_lock(lock);
	put_unused(store, chunk);
	pthread_mutex_unlock(lock);
	return true;
}

void sg_trace_store_clear(struct sg_trace_store *store)
{
	struct sg_trace_spares *spares = store->spares;

	store->n_bytes = 0;
	if (!store->chunks)
		return;
	pthread_mutex_lock(&spares->lock);
	while (store->chunks) {
		struct sg_trace_chunk *chunk = store->chunks;

		store->chunks = chunk->next;
		if (spares->n_bytes + sizeof(*chunk) > MAX_SPARE_BYTES) {
			free(chunk);
			continue;
		}
		chunk->next = spares->chunks;
		spares->chunks = chunk;
		spares->n_bytes += sizeof(*chunk);
	}
	store->unused = NULL;
	pthread_mutex_unlock(&spares->lock);
}

void sg_trace_spares_free(struct sg_trace_spares *spares)
{
	while (spares->buffers) {
		struct sg_wg_traces *t = spares->buffers;

		spares->buffers = t->next_spare;
		sg_traces_destroy(t);
	}
	while (spares->chunks) {
		struct sg_trace_chunk *chunk = spares->chunks;

		spares->chunks = chunk->next;
		free(chunk);
	}
}
