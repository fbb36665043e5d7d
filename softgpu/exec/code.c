#include "softgpu/exec/code.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "softgpu/exec/lower.h"
#include "softgpu/isa/isa.h"

#define N_BUCKETS 64
#define FIELDS_PER_CHUNK 256
#define WINDOW_MAP_BYTES ((SG_WINDOW_SLOTS + 4) * sizeof(struct sg_exec_insn))

struct fields_chunk {
	struct fields_chunk *next;
	unsigned used;
	struct sg_decoded_insn fields[FIELDS_PER_CHUNK];
};

/* one generation */
struct sg_code {
	const struct sg_mem_map *mem;
	enum sg_isa_target target;
	_Atomic unsigned n_users;
	pthread_mutex_t lock; /* windows, chunks, and the writing of slots */
	struct sg_code_window *windows[N_BUCKETS];
	struct fields_chunk *chunks;
};

struct sg_code_cache {
	const struct sg_mem_map *mem;
	enum sg_isa_target target;
	pthread_mutex_t lock; /* current */
	struct sg_code *current;
};

/* ---- generations ---- */

static struct sg_code *new_generation(const struct sg_code_cache *cache)
{
	struct sg_code *code = calloc(1, sizeof(*code));

	if (!code)
		return NULL;
	code->mem = cache->mem;
	code->target = cache->target;
	code->n_users = 1;
	pthread_mutex_init(&code->lock, NULL);
	return code;
}

struct sg_code_cache *sg_code_cache_create(const struct sg_mem_map *mem, enum sg_isa_target target)
{
	struct sg_code_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	cache->mem = mem;
	cache->target = target;
	pthread_mutex_init(&cache->lock, NULL);
	cache->current = new_generation(cache);
	if (!cache->current) {
		free(cache);
		return NULL;
	}
	return cache;
}

void sg_code_cache_destroy(struct sg_code_cache *cache)
{
	if (!cache)
		return;
	sg_code_put(cache->current);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

void sg_code_cache_invalidate(struct sg_code_cache *cache)
{
	struct sg_code *fresh = new_generation(cache), *old = NULL;

	if (!fresh) /* the old instructions may be wrong now, and running them would be worse */
		abort();
	pthread_mutex_lock(&cache->lock);
	old = cache->current;
	cache->current = fresh;
	pthread_mutex_unlock(&cache->lock);
	sg_code_put(old);
}

struct sg_code *sg_code_get(struct sg_code_cache *cache)
{
	struct sg_code *code;

	pthread_mutex_lock(&cache->lock);
	code = cache->current;
	atomic_fetch_add(&code->n_users, 1);
	pthread_mutex_unlock(&cache->lock);
	return code;
}

void sg_code_put(struct sg_code *code)
{
	if (!code || atomic_fetch_sub(&code->n_users, 1) != 1)
		return;
	for (unsigned b = 0; b < N_BUCKETS; b++)
		while (code->windows[b]) {
			struct sg_code_window *window = code->windows[b];

			code->windows[b] = window->next;
			munmap(window->slots, WINDOW_MAP_BYTES);
			free(window);
		}
	while (code->chunks) {
		struct fields_chunk *chunk = code->chunks;

		code->chunks = chunk->next;
		free(chunk);
	}
	pthread_mutex_destroy(&code->lock);
	free(code);
}

/* ---- windows ---- */

static struct sg_code_window *map_window(struct sg_code *code, uint64_t gpu_base)
{
	struct sg_code_window *window = calloc(1, sizeof(*window));
	void *slots = mmap(NULL, WINDOW_MAP_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (!window || slots == MAP_FAILED) {
		free(window);
		if (slots != MAP_FAILED)
			munmap(slots, WINDOW_MAP_BYTES);
		return NULL;
	}
	window->gpu_base = gpu_base;
	window->slots = slots;
	window->code = code;
	/* an instruction of two dwords may end one slot behind the window */
	for (unsigned n = 0; n < 4; n++)
		window->slots[SG_WINDOW_SLOTS + n].head = sg_extra_handler(SG_X_WINDOW_END);
	return window;
}

struct sg_code_window *sg_code_window(struct sg_code *code, uint64_t address)
{
	uint64_t gpu_base = address & ~(uint64_t)(SG_WINDOW_BYTES - 1);
	struct sg_code_window **bucket = &code->windows[gpu_base / SG_WINDOW_BYTES % N_BUCKETS];
	struct sg_code_window *window;

	pthread_mutex_lock(&code->lock);
	for (window = *bucket; window && window->gpu_base != gpu_base; window = window->next)
		;
	if (!window) {
		window = map_window(code, gpu_base);
		if (window) {
			window->next = *bucket;
			*bucket = window;
		}
	}
	pthread_mutex_unlock(&code->lock);
	return window;
}

/* ---- decoding ---- */

static struct sg_decoded_insn *new_fields(struct sg_code *code)
{
	struct fields_chunk *chunk = code->chunks;

	if (!chunk || chunk->used == FIELDS_PER_CHUNK) {
		chunk = calloc(1, sizeof(*chunk));
		if (!chunk)
			return NULL;
		chunk->next = code->chunks;
		code->chunks = chunk;
	}
	return &chunk->fields[chunk->used++];
}

/*
 * The words are read before the lock is taken: the address may be unmapped, and the guard then leaves
 * this function through a jump. More dwords are read only for an instruction that has them.
 */
static unsigned read_words(enum sg_isa_target target, const uint32_t *from, uint32_t *words)
{
	struct sg_decoded_insn probe;
	unsigned n;

	words[0] = __atomic_load_n(&from[0], __ATOMIC_RELAXED);
	if (sg_isa_decode(target, words, 1, &probe))
		return 1;
	n = sg_isa_is_prefix(target, words[0]) ? SG_ISA_MAX_WORDS : 2;
	for (unsigned k = 1; k < n; k++)
		words[k] = __atomic_load_n(&from[k], __ATOMIC_RELAXED);
	return n;
}

static void decode_slot(struct sg_code_window *window, uint32_t slot, const uint32_t *words,
			unsigned n_words)
{
	struct sg_code *code = window->code;
	struct sg_exec_insn *i = &window->slots[slot];
	uint32_t head = atomic_load_explicit(&i->head, memory_order_relaxed);
	struct sg_decoded_insn *fields;

	if (head) /* another thread was faster */
		return;
	fields = new_fields(code);
	if (fields && sg_isa_decode(code->target, words, n_words, fields))
		head = sg_lower(fields, slot, SG_WINDOW_SLOTS,
				window->gpu_base + 4 * (uint64_t)slot, i);
	else
		head = sg_extra_handler(SG_X_ILLEGAL) | 1u << 16;
	atomic_store_explicit(&i->head, head, memory_order_release);
}

enum sg_stop sg_code_decode_only(struct sg_wave *w, const struct sg_exec_insn *i)
{
	struct sg_code_window *window = w->window;
	uint32_t slot = (uint32_t)(i - window->slots), words[SG_ISA_MAX_WORDS] = { 0 };
	uint64_t pc = window->gpu_base + 4 * (uint64_t)slot;
	unsigned n_words;

	w->pc = i;
	if (pc - w->launch->mem->start >= w->launch->mem->end - w->launch->mem->start &&
	    !w->launch->mem->reachable(w->launch->mem->ctx, pc, 4))
		return sg_wave_fault(w, i, SG_FAULT_MEMORY, pc, false);
	n_words = read_words(window->code->target,
			     (const uint32_t *)(pc + w->launch->mem->host_base), words);
	pthread_mutex_lock(&window->code->lock);
	decode_slot(window, slot, words, n_words);
	pthread_mutex_unlock(&window->code->lock);
	return SG_GO;
}

enum sg_stop sg_code_decode_here(struct sg_wave *w, const struct sg_exec_insn *i)
{
	enum sg_stop stop = sg_code_decode_only(w, i);
	uint32_t head = atomic_load_explicit(&i->head, memory_order_acquire);

	if (stop != SG_GO)
		return stop;
	w->pc = i + SG_HEAD_DWORDS(head);
	return w->handlers[head & SG_HEAD_HANDLER](w, i);
}
