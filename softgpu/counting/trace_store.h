/*
 * trace_store: the traces of workgroups, between the worker that writes them and the model that reads them.
 *
 * A worker writes one workgroup after the other into the same buffers, which stay in its core's cache. Short
 * traces, and nearly all are short, are copied into chunks, one behind the other. The buffers of a long one
 * become the model's, and the worker takes others.
 *
 * Threads  spares: any. Buffers: the worker that writes, then whoever got them. A store: the dispatch's lock
 *          protects it.
 * Memory   what was read is kept for reuse, up to a limit, because the next dispatch is often like the last.
 */
#ifndef WS_SOFTGPU_COUNTING_TRACE_STORE_H
#define WS_SOFTGPU_COUNTING_TRACE_STORE_H

#include <pthread.h>

#include "softgpu/timing/model.h"

struct sg_trace_chunk;

struct sg_trace_spares {
	pthread_mutex_t lock;
	struct sg_wg_traces *buffers;
	struct sg_trace_chunk *chunks;
	uint64_t n_bytes;
};

/* The chunks of one dispatch. */
struct sg_trace_store {
	struct sg_trace_spares *spares;
	struct sg_trace_chunk *chunks; /* all of them */
	struct sg_trace_chunk *unused; /* those that can be filled again */
	_Atomic uint64_t n_bytes;      /* of chunks and kept buffers that have something to read */
};

void sg_trace_spares_free(struct sg_trace_spares *spares);

/* ---- buffers ---- */

struct sg_wg_traces *sg_traces_create(struct sg_trace_spares *spares,
				      uint32_t n_waves); /* NULL: no memory */
void sg_traces_destroy(struct sg_wg_traces *t);
/* Keeps them for sg_traces_create(), if they are for n_waves waves and there are not too many. */
void sg_traces_reuse(struct sg_trace_spares *spares, struct sg_wg_traces *t, uint32_t n_waves);
/* Of buffers or of packed traces: their memory, and a digest of all that the model reads of them. */
uint64_t sg_traces_bytes(const struct sg_wg_traces *t);
uint64_t sg_traces_digest(const struct sg_wg_traces *t);

/* ---- packed traces ---- */

/*
 * A copy of the first n_waves, which the dispatch owns; the buffers can be written again. NULL: they are too
 * long, or there is no memory. Takes the dispatch's lock when a chunk is full.
 */
struct sg_wg_traces *sg_traces_pack(struct sg_trace_store *store, pthread_mutex_t *lock,
				    struct sg_wg_traces *t, uint32_t n_waves);
bool sg_traces_are_packed(const struct sg_wg_traces *t);
/* Those that are not packed: the buffers of n_waves waves are the dispatch's until it drops them. */
void sg_trace_store_keep(struct sg_trace_store *store, struct sg_wg_traces *t, uint32_t n_waves);
/*
 * The model has read them. Buffers become spares, if they are for n_waves waves. True: there are fewer bytes now. Takes the lock
 * when the last ones of a chunk were read.
 */
bool sg_trace_store_drop(struct sg_trace_store *store, pthread_mutex_t *lock,
			 struct sg_wg_traces *t, uint32_t n_waves);
/* The end of a pass: nothing that is packed is needed, and no worker has buffers. */
void sg_trace_store_clear(struct sg_trace_store *store);

#endif
