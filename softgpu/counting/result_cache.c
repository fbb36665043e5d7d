#include "softgpu/counting/result_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/trace/trace_digest.h"

#define MAX_BYTES (64ull << 20)
#define MAX_RESULTS 256 /* searched linearly */

struct sg_cached_result {
	struct sg_cached_result *next; /* less recently used */
	uint32_t n_users;              /* the cache, and lookups */
	size_t n_bytes;
	struct sg_dispatch_key key;
	struct sg_model_result result;
	uint64_t *digests; /* [n_wgs] */
	uint64_t *caches;  /* after the dispatch; NULL: unchanged */
	uint64_t *pcs;     /* of the executed instructions */
	size_t n_pcs;
	uint64_t code; /* digest of the instructions there */
	struct sg_mem_block blocks[SG_MAX_MEM_BLOCKS];
	uint32_t n_blocks;
};

struct sg_result_cache {
	pthread_mutex_t lock;
	struct sg_cached_result *newest;
	size_t n_bytes;
	uint32_t n;
};

struct sg_result_cache *sg_result_cache_create(void)
{
	struct sg_result_cache *cache = calloc(1, sizeof(*cache));

	if (cache)
		pthread_mutex_init(&cache->lock, NULL);
	return cache;
}

static void put(struct sg_cached_result *k)
{
	if (!k || --k->n_users)
		return;
	sg_model_result_free(&k->result);
	free(k->digests);
	free(k->caches);
	free(k->pcs);
	free(k);
}

void sg_result_cache_destroy(struct sg_result_cache *cache)
{
	if (!cache)
		return;
	while (cache->newest) {
		struct sg_cached_result *k = cache->newest;

		cache->newest = k->next;
		put(k);
	}
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

/* ---- code ---- */

struct pc_list {
	uint64_t *pcs;
	size_t n;
};

static void add_pc(void *ctx, uint64_t pc)
{
	struct pc_list *list = ctx;

	if (list->pcs)
		list->pcs[list->n] = pc;
	list->n++;
}

static bool list_pcs(struct sg_cached_result *k, const struct sg_model *model)
{
	struct pc_list list = { 0 };

	sg_model_code(model, add_pc, &list);
	list.pcs = malloc((list.n + 1) * sizeof(*list.pcs));
	list.n = 0;
	if (list.pcs)
		sg_model_code(model, add_pc, &list);
	k->pcs = list.pcs;
	k->n_pcs = list.n;
	return k->pcs;
}

/* False: some of the code is not mapped any more. */
static bool digest_code(const struct sg_cached_result *k, const struct sg_dispatch_world *world,
			uint64_t *digest)
{
	*digest = 0;
	for (size_t n = 0; n < k->n_pcs; n++) {
		struct sg_decoded_insn insn;

		if (!world->instruction(world->ctx, k->pcs[n], &insn))
			return false;
		/* everything that sg_timing_insn_of() reads */
		const uint64_t what[] = {
			insn.row->handler,
			insn.n_dwords,
			(uint16_t)insn.simm,
			(uint64_t)insn.offset1 << 8 | insn.offset0,
			insn.glc | insn.slc << 1 | insn.gds << 2 | insn.soffset_en << 3 |
				insn.scc << 4,
			insn.src[0] | insn.src[1] << 16 | (uint64_t)insn.src[2] << 32 |
				(uint64_t)insn.src_acc << 48 | (uint64_t)insn.dst_acc << 56,
			insn.vdst | insn.sdst << 8 | insn.vaddr << 16 | (uint64_t)insn.vdata << 24 |
				(uint64_t)insn.data1 << 32 | (uint64_t)insn.saddr << 40 |
				(uint64_t)insn.soffset << 48,
			insn.scale[0] | insn.scale[1] << 16 | (uint64_t)insn.cbsz << 32 |
				(uint64_t)insn.blgp << 40
		};

		*digest = sg_digest(*digest, what, sizeof(what));
	}
	return true;
}

/* ---- the cache ---- */

static void *copy_of(const void *from, size_t size)
{
	void *copy = malloc(size ? size : 1);

	return copy ? memcpy(copy, from, size) : NULL;
}

static struct sg_cached_result *make(const struct sg_modelled_dispatch *f)
{
	struct sg_cached_result *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->n_users = 1;
	k->key = f->key;
	k->digests = copy_of(f->digests, f->key.n_wgs * sizeof(*k->digests));
	k->n_blocks = f->n_blocks;
	memcpy(k->blocks, f->blocks, f->n_blocks * sizeof(*k->blocks));
	k->n_bytes =
		sizeof(*k) + f->key.n_wgs * sizeof(*k->digests) + sg_model_result_bytes(f->result);
	if (f->key.cold || sg_model_state(f->model) != f->key.caches) {
		k->caches = sg_model_copy_state(f->model, &k->n_bytes);
		if (!k->caches) {
			put(k);
			return NULL;
		}
	}
	if (!k->digests || !sg_model_result_copy(&k->result, f->result) || !list_pcs(k, f->model) ||
	    !digest_code(k, &f->world, &k->code)) {
		put(k);
		return NULL;
	}
	k->n_bytes += k->n_pcs * sizeof(*k->pcs);
	return k;
}

static void forget_oldest(struct sg_result_cache *cache)
{
	struct sg_cached_result **at = &cache->newest, *k;

	while ((*at)->next)
		at = &(*at)->next;
	k = *at;
	*at = NULL;
	cache->n--;
	cache->n_bytes -= k->n_bytes;
	put(k);
}

void sg_result_cache_add(struct sg_result_cache *cache, const struct sg_modelled_dispatch *dispatch)
{
	struct sg_cached_result *k;

	if (dispatch->key.n_wgs * sizeof(uint64_t) >
	    MAX_BYTES / 4) /* one result must not evict all others */
		return;
	k = make(dispatch);
	if (!k)
		return;
	pthread_mutex_lock(&cache->lock);
	k->next = cache->newest;
	cache->newest = k;
	cache->n++;
	cache->n_bytes += k->n_bytes;
	while (cache->n > MAX_RESULTS || (cache->n_bytes > MAX_BYTES && cache->n > 1))
		forget_oldest(cache);
	pthread_mutex_unlock(&cache->lock);
}

/* ---- lookups ---- */

static bool same_memory(const struct sg_cached_result *k, const struct sg_dispatch_world *world)
{
	for (uint32_t n = 0; n < k->n_blocks; n++) {
		const struct sg_mem_block *was = &k->blocks[n];
		struct sg_mem_block is;

		world->find_block(world->ctx, was->start, &is);
		if (is.start != was->start || is.size != was->size ||
		    is.pin_place != was->pin_place || memcmp(&is.kind, &was->kind, sizeof(is.kind)))
			return false;
	}
	return true;
}

void sg_cache_lookup_begin(struct sg_cache_lookup *lookup, struct sg_result_cache *cache,
			   const struct sg_dispatch_key *key, const struct sg_dispatch_world *world)
{
	uint32_t n = 0, kept = 0;

	pthread_mutex_lock(&cache->lock);
	for (struct sg_cached_result *k = cache->newest; k && n < SG_MAX_CANDIDATES; k = k->next)
		if (!memcmp(&k->key, key, sizeof(*key))) {
			k->n_users++;
			lookup->at[n++] = k;
		}
	pthread_mutex_unlock(&cache->lock);
	/* compared without the lock, because it reads memory */
	for (uint32_t at = 0; at < n; at++) {
		struct sg_cached_result *k = lookup->at[at];
		uint64_t code;

		if (same_memory(k, world) && digest_code(k, world, &code) && code == k->code) {
			lookup->at[at] = lookup->at[kept];
			lookup->at[kept++] = k;
		}
	}
	pthread_mutex_lock(&cache->lock);
	while (n > kept)
		put(lookup->at[--n]);
	pthread_mutex_unlock(&cache->lock);
	lookup->n = lookup->n_held = kept;
	lookup->excluded = 0;
}

bool sg_cache_lookup_wg(struct sg_cache_lookup *lookup, uint64_t wg, uint64_t digest)
{
	for (uint32_t at = 0; at < lookup->n_held; at++) {
		uint32_t bit = 1u << at;

		/* mostly equal: then nothing is written that other workers read */
		if (lookup->at[at]->digests[wg] != digest &&
		    !(atomic_fetch_or(&lookup->excluded, bit) & bit))
			atomic_fetch_sub(&lookup->n, 1);
	}
	return atomic_load_explicit(&lookup->n, memory_order_relaxed);
}

static bool is_left(const struct sg_cache_lookup *lookup, uint32_t at)
{
	return !(lookup->excluded >> at & 1);
}

bool sg_cache_lookup_take(const struct sg_cache_lookup *lookup, struct sg_model *model,
			  struct sg_model_result *out)
{
	const struct sg_cached_result *k;
	uint32_t at = 0;

	while (!is_left(lookup, at)) /* other candidates that are left have the same result */
		at++;
	k = lookup->at[at];
	if (!sg_model_result_copy(out, &k->result))
		return false;
	if (k->caches)
		sg_model_set_state(model, k->caches);
	return true;
}

static void to_front(struct sg_result_cache *cache, struct sg_cached_result *k)
{
	for (struct sg_cached_result **at = &cache->newest; *at; at = &(*at)->next)
		if (*at == k) {
			*at = k->next;
			k->next = cache->newest;
			cache->newest = k;
			return;
		}
}

void sg_cache_lookup_end(struct sg_cache_lookup *lookup, struct sg_result_cache *cache)
{
	if (!lookup->n_held)
		return;
	pthread_mutex_lock(&cache->lock);
	while (lookup->n_held) {
		struct sg_cached_result *k = lookup->at[--lookup->n_held];

		if (is_left(lookup, lookup->n_held))
			to_front(cache, k);
		put(k);
	}
	pthread_mutex_unlock(&cache->lock);
	lookup->n = 0;
}
