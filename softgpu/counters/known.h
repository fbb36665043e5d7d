/*
 * known: dispatches that were modelled, so that the next one that is like them need not be.
 *
 * What the model says follows from the shape of a dispatch, the code, the kinds of memory, what the
 * instruction caches held, and the traces of its workgroups. Where all of these are the same the values
 * are the same, bit for bit, and are taken from here: in every pass of a kernel replay but the first, and
 * in programs that go through the same steps again and again.
 *
 * Traces are compared by their digests, workgroup by workgroup, as they arrive: a guess is a set of known
 * dispatches that this one may still turn out to be like.
 *
 * Threads  a store: any. A guess: its owner's, one at a time.
 * Memory   up to a limit; then the dispatches that were not met for longest are forgotten.
 */
#ifndef WS_SOFTGPU_COUNTERS_KNOWN_H
#define WS_SOFTGPU_COUNTERS_KNOWN_H

#include "softgpu/counters/mem_block.h"
#include "softgpu/timing/model.h"

struct sg_known_store;
struct sg_known;

#define SG_MAX_MEM_BLOCKS 32

/* What can be told before it runs. Compared as bytes: clear it first. */
struct sg_known_key {
	uint64_t kernel, n_wgs, stride, origin, extent;
	uint64_t caches; /* sg_model_state(); 0 for a cold one, which finds them empty */
	uint32_t waves_per_wg, vgprs, sgprs, lds_bytes, scratch_wave_bytes, scratch_waves;
	uint32_t cold, system_release;
};

/* How to find out whether code and memory are what they were. */
struct sg_known_world {
	bool (*instruction)(void *ctx, uint64_t pc, struct sg_decoded_insn *out);
	void (*find_block)(void *ctx, uint64_t addr,
			   struct sg_mem_block *out); /* NULL: never asked */
	void *ctx;
};

/* One that was modelled. Everything is copied. */
struct sg_known_facts {
	struct sg_known_key key;
	struct sg_known_world world;
	struct sg_model *model; /* that has just run it */
	const struct sg_model_result *result;
	const uint64_t *digests;           /* [n_wgs] */
	const struct sg_mem_block *blocks; /* that the model asked about */
	uint32_t n_blocks;
};

#define SG_MAX_GUESSES 8
struct sg_guess {
	struct sg_known *at[SG_MAX_GUESSES];
	uint32_t n;
};

struct sg_known_store *sg_known_create(void); /* NULL: no memory */
void sg_known_destroy(struct sg_known_store *store);
/* Without memory for it nothing happens. */
void sg_known_add(struct sg_known_store *store, const struct sg_known_facts *facts);

/* All that it may be like. */
void sg_guess_begin(struct sg_guess *g, struct sg_known_store *store,
		    const struct sg_known_key *key, const struct sg_known_world *world);
/* The digest of a workgroup: those that differ are out. */
void sg_guess_see(struct sg_guess *g, struct sg_known_store *store, uint64_t wg, uint64_t digest);
/* All workgroups have been seen: the values, and what the model's caches hold afterwards. False: no memory. */
bool sg_guess_take(const struct sg_guess *g, struct sg_model *model, struct sg_model_result *out);
void sg_guess_end(struct sg_guess *g, struct sg_known_store *store); /* again is fine */

#endif
