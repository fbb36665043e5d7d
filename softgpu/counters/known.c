#include "softgpu/counters/known.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/timing/trace_digest.h"

#define MAX_BYTES (64ull << 20)
#define MAX_KNOWN 256 /* they are looked through one by one */

struct sg_known {
	struct sg_known *next; /* met longer ago */
	uint32_t n_users;      /* the store, and guesses */
	size_t n_bytes;
	struct sg_known_key key;
	struct sg_model_result result;
	uint64_t *digests; /* [n_wgs] */
	uint64_t *caches;  /* afterwards; NULL: as before */
	uint64_t *pcs;     /* of the code that was executed */
	size_t n_pcs;
	uint64_t code; /* what stood there */
	struct sg_mem_block blocks[SG_MAX_MEM_BLOCKS];
	uint32_t n_blocks;
};

struct sg_known_store {
	pthread_mutex_t lock;
	struct sg_known *newest;
	size_t n_bytes;
	uint32_t n;
};

struct sg_known_store *sg_known_create(void)
{
	struct sg_known_store *store = calloc(1, sizeof(*store));

	if (store)
		pthread_mutex_init(&store->lock, NULL);
	return store;
}

static void put(struct sg_known *k)
{
	if (!k || --k->n_users)
		return;
	sg_model_result_free(&k->result);
	free(k->digests);
	free(k->caches);
	free(k->pcs);
	free(k);
}

void sg_known_destroy(struct sg_known_store *store)
{
	if (!store)
		return;
	while (store->newest) {
		struct sg_known *k = store->newest;

		store->newest = k->next;
		put(k);
	}
	pthread_mutex_destroy(&store->lock);
	free(store);
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

static bool list_pcs(struct sg_known *k, const struct sg_model *model)
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

/* False: some of it is not there any more. */
static bool digest_code(const struct sg_known *k, const struct sg_known_world *world,
			uint64_t *digest)
{
	*digest = 0;
	for (size_t n = 0; n < k->n_pcs; n++) {
		struct sg_decoded_insn insn;

		if (!world->instruction(world->ctx, k->pcs[n], &insn))
			return false;
		/* what the model knows of an instruction (timing_insn.h) follows from these */
		const uint64_t what[] = { insn.row->handler, insn.n_dwords, (uint16_t)insn.simm,
					  (uint64_t)insn.offset1 << 8 | insn.offset0,
					  insn.glc | insn.slc << 1 | insn.gds << 2 };

		*digest = sg_digest(*digest, what, sizeof(what));
	}
	return true;
}

/* ---- the store ---- */

static void *copy_of(const void *from, size_t size)
{
	void *copy = malloc(size ? size : 1);

	return copy ? memcpy(copy, from, size) : NULL;
}

static struct sg_known *make(const struct sg_known_facts *f)
{
	struct sg_known *k = calloc(1, sizeof(*k));

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

static void forget_oldest(struct sg_known_store *store)
{
	struct sg_known **at = &store->newest, *k;

	while ((*at)->next)
		at = &(*at)->next;
	k = *at;
	*at = NULL;
	store->n--;
	store->n_bytes -= k->n_bytes;
	put(k);
}

void sg_known_add(struct sg_known_store *store, const struct sg_known_facts *facts)
{
	struct sg_known *k;

	if (facts->key.n_wgs * sizeof(uint64_t) >
	    MAX_BYTES / 4) /* one must not drive out all others */
		return;
	k = make(facts);
	if (!k)
		return;
	pthread_mutex_lock(&store->lock);
	k->next = store->newest;
	store->newest = k;
	store->n++;
	store->n_bytes += k->n_bytes;
	while (store->n > MAX_KNOWN || (store->n_bytes > MAX_BYTES && store->n > 1))
		forget_oldest(store);
	pthread_mutex_unlock(&store->lock);
}

/* ---- guesses ---- */

static bool same_memory(const struct sg_known *k, const struct sg_known_world *world)
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

void sg_guess_begin(struct sg_guess *g, struct sg_known_store *store,
		    const struct sg_known_key *key, const struct sg_known_world *world)
{
	uint32_t kept = 0;

	g->n = 0;
	pthread_mutex_lock(&store->lock);
	for (struct sg_known *k = store->newest; k && g->n < SG_MAX_GUESSES; k = k->next)
		if (!memcmp(&k->key, key, sizeof(*key))) {
			k->n_users++;
			g->at[g->n++] = k;
		}
	pthread_mutex_unlock(&store->lock);
	/* asked without the lock: it means looking at memory */
	for (uint32_t n = 0; n < g->n; n++) {
		struct sg_known *k = g->at[n];
		uint64_t code;

		if (same_memory(k, world) && digest_code(k, world, &code) && code == k->code) {
			g->at[n] = g->at[kept];
			g->at[kept++] = k;
		}
	}
	pthread_mutex_lock(&store->lock);
	while (g->n > kept)
		put(g->at[--g->n]);
	pthread_mutex_unlock(&store->lock);
}

void sg_guess_see(struct sg_guess *g, struct sg_known_store *store, uint64_t wg, uint64_t digest)
{
	for (uint32_t n = g->n; n-- > 0;) {
		struct sg_known *k = g->at[n];

		if (k->digests[wg] == digest)
			continue;
		g->at[n] = g->at[--g->n];
		pthread_mutex_lock(&store->lock);
		put(k);
		pthread_mutex_unlock(&store->lock);
	}
}

bool sg_guess_take(const struct sg_guess *g, struct sg_model *model, struct sg_model_result *out)
{
	const struct sg_known *k = g->at[0]; /* if there are others they say the same */

	if (!sg_model_result_copy(out, &k->result))
		return false;
	if (k->caches)
		sg_model_set_state(model, k->caches);
	return true;
}

static void to_front(struct sg_known_store *store, struct sg_known *k)
{
	for (struct sg_known **at = &store->newest; *at; at = &(*at)->next)
		if (*at == k) {
			*at = k->next;
			k->next = store->newest;
			store->newest = k;
			return;
		}
}

void sg_guess_end(struct sg_guess *g, struct sg_known_store *store)
{
	if (!g->n)
		return;
	pthread_mutex_lock(&store->lock);
	while (g->n) {
		to_front(store, g->at[--g->n]);
		put(g->at[g->n]);
	}
	pthread_mutex_unlock(&store->lock);
}
