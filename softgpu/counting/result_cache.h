/*
 * result_cache: results of modelled dispatches, so that an identical dispatch is not modelled again.
 *
 * The model's result follows from the shape of a dispatch, the code, the kinds of memory, the contents
 * of the instruction caches, and the traces of its workgroups. If all of these are equal, the result is
 * equal, bit for bit, and is taken from here. This holds for every pass of a kernel replay but the first,
 * and for programs that repeat the same steps.
 *
 * Traces are compared by their digests, workgroup by workgroup, as they arrive. A lookup holds the cached
 * results that the dispatch may still be equal to.
 *
 * Threads  the cache: any. A lookup: any number compare; all else one thread, while nobody compares.
 * Memory   up to a limit; then the least recently used results are dropped.
 */
#ifndef WS_SOFTGPU_COUNTING_RESULT_CACHE_H
#define WS_SOFTGPU_COUNTING_RESULT_CACHE_H

#include <stdatomic.h>

#include "softgpu/mem/mem_block.h"
#include "softgpu/timing/model.h"

struct sg_result_cache;
struct sg_cached_result;

#define SG_MAX_MEM_BLOCKS 32

/* What is known before the dispatch runs. Compared as bytes: clear it first. */
struct sg_dispatch_key {
	uint64_t kernel, n_wgs, stride, origin, extent;
	uint64_t caches; /* sg_model_state(); 0 for a cold one, which finds them empty */
	uint32_t waves_per_wg, vgprs, sgprs, lds_bytes, scratch_wave_bytes, scratch_waves;
	uint32_t cold, system_release;
};

/* Access to the code and memory of the dispatch, to compare them with the cached ones. */
struct sg_dispatch_world {
	bool (*instruction)(void *ctx, uint64_t pc, struct sg_decoded_insn *out);
	void (*find_block)(void *ctx, uint64_t addr,
			   struct sg_mem_block *out); /* NULL: never asked */
	void *ctx;
};

/* A dispatch that was modelled, for the cache to copy. */
struct sg_modelled_dispatch {
	struct sg_dispatch_key key;
	struct sg_dispatch_world world;
	struct sg_model *model; /* that has just run it; its caches are copied */
	const struct sg_model_result *result;
	const uint64_t *digests;           /* [n_wgs] */
	const struct sg_mem_block *blocks; /* that the model asked about */
	uint32_t n_blocks;
};

#define SG_MAX_CANDIDATES 8
struct sg_cache_lookup {
	struct sg_cached_result *at[SG_MAX_CANDIDATES]; /* held until the lookup ends */
	uint32_t n_held;
	_Atomic uint32_t excluded; /* bit k: not at[k] */
	_Atomic uint32_t n;        /* that are left */
};

struct sg_result_cache *sg_result_cache_create(void); /* NULL: no memory */
void sg_result_cache_destroy(struct sg_result_cache *cache);
/* Adds nothing when there is no memory for it. */
void sg_result_cache_add(struct sg_result_cache *cache,
			 const struct sg_modelled_dispatch *dispatch);

/* Finds the cached results with this key, code and memory. */
void sg_cache_lookup_begin(struct sg_cache_lookup *lookup, struct sg_result_cache *cache,
			   const struct sg_dispatch_key *key,
			   const struct sg_dispatch_world *world);
/* Excludes the candidates whose workgroup wg has another digest. False: none is left. */
bool sg_cache_lookup_wg(struct sg_cache_lookup *lookup, uint64_t wg, uint64_t digest);
/* After all workgroups, if some are left: copies the result, and sets the model's caches. False: no memory. */
bool sg_cache_lookup_take(const struct sg_cache_lookup *lookup, struct sg_model *model,
			  struct sg_model_result *out);
void sg_cache_lookup_end(struct sg_cache_lookup *lookup,
			 struct sg_result_cache *cache); /* may be called again */

#endif
