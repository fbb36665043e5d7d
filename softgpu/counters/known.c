#include "softgpu/counters/known.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/timing/trace_digest.h"

#define MAX_BYTES (64ull << 20)
#define MAX_KNOWN 256 /* they are looked through one by one */

struct ws_known {
	struct ws_known *next;        /* met longer ago */
	uint32_t n_users;             /* the store, and guesses */
	size_t n_bytes;
	struct ws_known_key key;
	struct ws_model_result result;
	uint64_t *digests;            /* [n_wgs] */
	uint64_t *caches;             /* afterwards; NULL: as before */
	uint64_t *pcs;                /* of the code that was executed */
	size_t n_pcs;
	uint64_t code;                /* what stood there */
	struct ws_mem_block blocks[WS_MAX_MEM_BLOCKS];
	uint32_t n_blocks;
};

struct ws_known_store {
	pthread_mutex_t lock;
	struct ws_known *newest;
	size_t n_bytes;
	uint32_t n;
};

struct ws_known_store *ws_known_create(void)
{
	struct ws_known_store *store = calloc(1, sizeof(*store));

	if (store)
		pthread_mutex_init(&store->lock, NULL);
	return store;
}

static void put(struct ws_known *k)
{
	if (!k || --k->n_users)
		return;
	ws_model_result_free(&k->result);
	free(k->digests);
	free(k->caches);
	free(k->pcs);
	free(k);
}

void ws_known_destroy(struct ws_known_store *store)
{
	if (!store)
		return;
	while (store->newest) {
		struct ws_known *k = store->newest;

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

static bool list_pcs(struct ws_known *k, const struct ws_model *model)
{
	struct pc_list list = { 0 };

	ws_model_code(model, add_pc, &list);
	list.pcs = malloc((list.n + 1) * sizeof(*list.pcs));
	list.n = 0;
	if (list.pcs)
		ws_model_code(model, add_pc, &list);
	k->pcs = list.pcs;
	k->n_pcs = list.n;
	return k->pcs;
}

/* False: some of it is not there any more. */
static bool digest_code(const struct ws_known *k, const struct ws_known_world *world, uint64_t *digest)
{
	*digest = 0;
	for (size_t n = 0; n < k->n_pcs; n++) {
		struct ws_inst_source src;

		if (!world->instruction(world->ctx, k->pcs[n], &src))
			return false;
		/* mnemonics stand in a table: the same place is the same name */
		const uint64_t what[] = { (uintptr_t)src.mnemonic, src.dwords, src.simm,
					  (uint64_t)src.offset1 << 8 | src.offset0,
					  src.gfx90a | src.glc << 1 | src.slc << 2 | src.lds << 3 | src.gds << 4 };

		*digest = ws_digest(*digest, what, sizeof(what));
	}
	return true;
}

/* ---- the store ---- */

static void *copy_of(const void *from, size_t size)
{
	void *copy = malloc(size ? size : 1);

	return copy ? memcpy(copy, from, size) : NULL;
}

static struct ws_known *make(const struct ws_known_facts *f)
{
	struct ws_known *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->n_users = 1;
	k->key = f->key;
	k->digests = copy_of(f->digests, f->key.n_wgs * sizeof(*k->digests));
	k->n_blocks = f->n_blocks;
	memcpy(k->blocks, f->blocks, f->n_blocks * sizeof(*k->blocks));
	k->n_bytes = sizeof(*k) + f->key.n_wgs * sizeof(*k->digests) + ws_model_result_bytes(f->result);
	if (f->key.cold || ws_model_state(f->model) != f->key.caches) {
		k->caches = ws_model_copy_state(f->model, &k->n_bytes);
		if (!k->caches) {
			put(k);
			return NULL;
		}
	}
	if (!k->digests || !ws_model_result_copy(&k->result, f->result) || !list_pcs(k, f->model) ||
	    !digest_code(k, &f->world, &k->code)) {
		put(k);
		return NULL;
	}
	k->n_bytes += k->n_pcs * sizeof(*k->pcs);
	return k;
}

static void forget_oldest(struct ws_known_store *store)
{
	struct ws_known **at = &store->newest, *k;

	while ((*at)->next)
		at = &(*at)->next;
	k = *at;
	*at = NULL;
	store->n--;
	store->n_bytes -= k->n_bytes;
	put(k);
}

void ws_known_add(struct ws_known_store *store, const struct ws_known_facts *facts)
{
	struct ws_known *k;

	if (facts->key.n_wgs * sizeof(uint64_t) > MAX_BYTES / 4) /* one must not drive out all others */
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

static bool same_memory(const struct ws_known *k, const struct ws_known_world *world)
{
	for (uint32_t n = 0; n < k->n_blocks; n++) {
		const struct ws_mem_block *was = &k->blocks[n];
		struct ws_mem_block is;

		world->find_block(world->ctx, was->start, &is);
		if (is.start != was->start || is.size != was->size ||
		    is.pin_place != was->pin_place || memcmp(&is.kind, &was->kind, sizeof(is.kind)))
			return false;
	}
	return true;
}

void ws_guess_begin(struct ws_guess *g, struct ws_known_store *store, const struct ws_known_key *key,
		    const struct ws_known_world *world)
{
	uint32_t kept = 0;

	g->n = 0;
	pthread_mutex_lock(&store->lock);
	for (struct ws_known *k = store->newest; k && g->n < WS_MAX_GUESSES; k = k->next)
		if (!memcmp(&k->key, key, sizeof(*key))) {
			k->n_users++;
			g->at[g->n++] = k;
		}
	pthread_mutex_unlock(&store->lock);
	/* asked without the lock: it means looking at memory */
	for (uint32_t n = 0; n < g->n; n++) {
		struct ws_known *k = g->at[n];
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

void ws_guess_see(struct ws_guess *g, struct ws_known_store *store, uint64_t wg, uint64_t digest)
{
	for (uint32_t n = g->n; n-- > 0;) {
		struct ws_known *k = g->at[n];

		if (k->digests[wg] == digest)
			continue;
		g->at[n] = g->at[--g->n];
		pthread_mutex_lock(&store->lock);
		put(k);
		pthread_mutex_unlock(&store->lock);
	}
}

bool ws_guess_take(const struct ws_guess *g, struct ws_model *model, struct ws_model_result *out)
{
	const struct ws_known *k = g->at[0]; /* if there are others they say the same */

	if (!ws_model_result_copy(out, &k->result))
		return false;
	if (k->caches)
		ws_model_set_state(model, k->caches);
	return true;
}

static void to_front(struct ws_known_store *store, struct ws_known *k)
{
	for (struct ws_known **at = &store->newest; *at; at = &(*at)->next)
		if (*at == k) {
			*at = k->next;
			k->next = store->newest;
			store->newest = k;
			return;
		}
}

void ws_guess_end(struct ws_guess *g, struct ws_known_store *store)
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
