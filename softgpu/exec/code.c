#include "softgpu/exec/code.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "softgpu/exec/lower.h"
#include "softgpu/isa/isa.h"

#define N_BUCKETS 64
#define FIELDS_PER_CHUNK 256
#define WINDOW_MAP_BYTES ((WS_WINDOW_SLOTS + 4) * sizeof(struct ws_inst))

struct fields_chunk {
	struct fields_chunk *next;
	unsigned used;
	struct ws_insn fields[FIELDS_PER_CHUNK];
};

struct ws_code { /* one generation */
	const struct ws_mem_map *mem;
	enum ws_isa_target target;
	_Atomic unsigned n_users;
	pthread_mutex_t lock; /* windows, chunks, and the writing of slots */
	struct ws_code_window *windows[N_BUCKETS];
	struct fields_chunk *chunks;
};

struct ws_code_cache {
	const struct ws_mem_map *mem;
	enum ws_isa_target target;
	pthread_mutex_t lock; /* current */
	struct ws_code *current;
};

/* ---- generations ---- */

static struct ws_code *new_generation(const struct ws_code_cache *cache)
{
	struct ws_code *code = calloc(1, sizeof(*code));

	if (!code)
		return NULL;
	code->mem = cache->mem;
	code->target = cache->target;
	code->n_users = 1;
	pthread_mutex_init(&code->lock, NULL);
	return code;
}

struct ws_code_cache *ws_code_cache_create(const struct ws_mem_map *mem, enum ws_target target)
{
	struct ws_code_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	cache->mem = mem;
	cache->target = target == WS_GFX90A ? WS_ISA_GFX90A : WS_ISA_GFX908;
	pthread_mutex_init(&cache->lock, NULL);
	cache->current = new_generation(cache);
	if (!cache->current) {
		free(cache);
		return NULL;
	}
	return cache;
}

void ws_code_cache_destroy(struct ws_code_cache *cache)
{
	if (!cache)
		return;
	ws_code_put(cache->current);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

void ws_code_cache_invalidate(struct ws_code_cache *cache)
{
	struct ws_code *fresh = new_generation(cache), *old = NULL;

	if (!fresh) /* the old instructions may be wrong now, and running them would be worse */
		abort();
	pthread_mutex_lock(&cache->lock);
	old = cache->current;
	cache->current = fresh;
	pthread_mutex_unlock(&cache->lock);
	ws_code_put(old);
}

struct ws_code *ws_code_get(struct ws_code_cache *cache)
{
	struct ws_code *code;

	pthread_mutex_lock(&cache->lock);
	code = cache->current;
	atomic_fetch_add(&code->n_users, 1);
	pthread_mutex_unlock(&cache->lock);
	return code;
}

void ws_code_put(struct ws_code *code)
{
	if (!code || atomic_fetch_sub(&code->n_users, 1) != 1)
		return;
	for (unsigned b = 0; b < N_BUCKETS; b++)
		while (code->windows[b]) {
			struct ws_code_window *window = code->windows[b];

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

static struct ws_code_window *map_window(struct ws_code *code, uint64_t gpu_base)
{
	struct ws_code_window *window = calloc(1, sizeof(*window));
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
		window->slots[WS_WINDOW_SLOTS + n].head = ws_extra_handler(WS_X_WINDOW_END);
	return window;
}

struct ws_code_window *ws_code_window(struct ws_code *code, uint64_t address)
{
	uint64_t gpu_base = address & ~(uint64_t)(WS_WINDOW_BYTES - 1);
	struct ws_code_window **bucket = &code->windows[gpu_base / WS_WINDOW_BYTES % N_BUCKETS];
	struct ws_code_window *window;

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

static struct ws_insn *new_fields(struct ws_code *code)
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
 * this function through a jump. A second dword is read only for an instruction that has one.
 */
static unsigned read_words(enum ws_isa_target target, const uint32_t *from, uint32_t words[2])
{
	struct ws_insn probe;

	words[0] = __atomic_load_n(&from[0], __ATOMIC_RELAXED);
	if (ws_isa_decode(target, words, 1, &probe))
		return 1;
	words[1] = __atomic_load_n(&from[1], __ATOMIC_RELAXED);
	return 2;
}

static void decode_slot(struct ws_code_window *window, uint32_t slot, const uint32_t *words,
			    unsigned n_words)
{
	struct ws_code *code = window->code;
	struct ws_inst *i = &window->slots[slot];
	uint32_t head = atomic_load_explicit(&i->head, memory_order_relaxed);
	struct ws_insn *fields;

	if (head) /* another thread was faster */
		return;
	fields = new_fields(code);
	if (fields && ws_isa_decode(code->target, words, n_words, fields))
		head = ws_lower(fields, slot, WS_WINDOW_SLOTS, window->gpu_base + 4 * (uint64_t)slot, i);
	else
		head = ws_extra_handler(WS_X_ILLEGAL) | 1u << 16;
	atomic_store_explicit(&i->head, head, memory_order_release);
}

enum ws_stop ws_code_decode_only(struct ws_wave *w, const struct ws_inst *i)
{
	struct ws_code_window *window = w->window;
	uint32_t slot = (uint32_t)(i - window->slots), words[2] = { 0 };
	uint64_t pc = window->gpu_base + 4 * (uint64_t)slot;
	unsigned n_words;

	w->pc = i;
	if (pc - w->launch->mem->start >= w->launch->mem->end - w->launch->mem->start &&
	    !w->launch->mem->reachable(w->launch->mem->ctx, pc, 4))
		return ws_wave_fault(w, i, WS_FAULT_MEMORY, pc, false);
	n_words = read_words(window->code->target, (const uint32_t *)(pc + w->launch->mem->host_base), words);
	pthread_mutex_lock(&window->code->lock);
	decode_slot(window, slot, words, n_words);
	pthread_mutex_unlock(&window->code->lock);
	return WS_GO;
}

enum ws_stop ws_code_decode_here(struct ws_wave *w, const struct ws_inst *i)
{
	enum ws_stop stop = ws_code_decode_only(w, i);
	uint32_t head = atomic_load_explicit(&i->head, memory_order_acquire);

	if (stop != WS_GO)
		return stop;
	w->pc = i + WS_HEAD_DWORDS(head);
	return w->handlers[head & WS_HEAD_HANDLER](w, i);
}
