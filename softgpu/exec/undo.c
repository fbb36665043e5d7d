#include "softgpu/exec/undo.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LINE 64u /* a mask of 64 bits says which of its bytes were saved */
#define PAGE 4096u
#define LINES (PAGE / LINE)
#define N_BUCKETS (1u << 16)

struct after {
	uint64_t mask[LINES];
	uint8_t bytes[PAGE];
};

struct page {
	uintptr_t base;
	struct page *next; /* constant once it is in its bucket */
	struct after *after;
	_Atomic uint64_t mask[LINES];
	uint8_t bytes[PAGE];
};

struct sg_undo {
	uint64_t max_pages;
	_Atomic uint64_t n_pages;
	_Atomic bool lost;
	_Atomic(struct page *) buckets[N_BUCKETS];
};

struct sg_undo *sg_undo_create(uint64_t max_bytes)
{
	struct sg_undo *u = calloc(1, sizeof(*u));

	if (u)
		u->max_pages = max_bytes / (sizeof(struct page) + sizeof(struct after));
	return u;
}

void sg_undo_destroy(struct sg_undo *u)
{
	if (!u)
		return;
	for (uint32_t b = 0; b < N_BUCKETS; b++)
		for (struct page *p = atomic_load_explicit(&u->buckets[b], memory_order_relaxed);
		     p;) {
			struct page *next = p->next;

			free(p->after);
			free(p);
			p = next;
		}
	free(u);
}

static struct page *find(struct page *p, uintptr_t base)
{
	while (p && p->base != base)
		p = p->next;
	return p;
}

static struct page *page_of(struct sg_undo *u, uintptr_t base)
{
	uint32_t hash = (uint32_t)((base / PAGE * 0x9e3779b97f4a7c15ull) >> 48) % N_BUCKETS;
	_Atomic(struct page *) *bucket = &u->buckets[hash];
	struct page *head = atomic_load_explicit(bucket, memory_order_acquire);
	struct page *p = find(head, base), *made;

	if (p)
		return p;
	if (atomic_fetch_add_explicit(&u->n_pages, 1, memory_order_relaxed) >= u->max_pages)
		return NULL;
	made = calloc(1, sizeof(*made));
	if (!made)
		return NULL;
	made->base = base;
	do {
		p = find(head, base); /* another thread may have made it in the meantime */
		if (p) {
			free(made);
			return p;
		}
		made->next = head;
	} while (!atomic_compare_exchange_weak_explicit(bucket, &head, made, memory_order_acq_rel,
							memory_order_acquire));
	return made;
}

/*
 * First the bytes are read, then they are claimed. Nobody writes a byte before it is claimed, so who
 * claims it has read what was there before the kernel.
 */
static void save_line(struct page *p, uint32_t line, const uint8_t *at, uint32_t from, uint32_t n)
{
	uint64_t want = (n == LINE ? ~0ull : (1ull << n) - 1) << from, mine;
	uint8_t was[LINE];

	if ((atomic_load_explicit(&p->mask[line], memory_order_relaxed) & want) == want)
		return;
	memcpy(was + from, at, n);
	mine = want & ~atomic_fetch_or(&p->mask[line], want);
	if (mine == want) {
		memcpy(p->bytes + line * LINE + from, was + from, n);
		return;
	}
	for (; mine; mine &= mine - 1) {
		unsigned b = (unsigned)__builtin_ctzll(mine);

		p->bytes[line * LINE + b] = was[b];
	}
}

void sg_undo_save(struct sg_undo *u, const void *at, size_t n_bytes)
{
	const uint8_t *from = at;
	struct page *p = NULL;

	while (n_bytes) {
		uintptr_t base = (uintptr_t)from / PAGE * PAGE;
		uint32_t offset = (uint32_t)((uintptr_t)from - base), in_line = offset % LINE;
		uint32_t n = n_bytes < LINE - in_line ? (uint32_t)n_bytes : LINE - in_line;

		if (!p || p->base != base)
			p = page_of(u, base);
		if (!p) {
			atomic_store(&u->lost, true);
			return;
		}
		save_line(p, offset / LINE, from, in_line, n);
		from += n;
		n_bytes -= n;
	}
}

bool sg_undo_lost(const struct sg_undo *u)
{
	return atomic_load(&u->lost);
}

/* Calls visit for every page; stops at the first false. */
static bool each_page(const struct sg_undo *u, bool (*visit)(struct page *p, void *arg), void *arg)
{
	for (uint32_t b = 0; b < N_BUCKETS; b++)
		for (struct page *p = atomic_load_explicit(&u->buckets[b], memory_order_acquire); p;
		     p = p->next)
			if (!visit(p, arg))
				return false;
	return true;
}

static bool count_page(struct page *p, void *arg)
{
	uint64_t *n = arg;

	for (uint32_t k = 0; k < LINES; k++)
		*n += (uint64_t)__builtin_popcountll(p->mask[k]);
	return true;
}

uint64_t sg_undo_n_bytes(const struct sg_undo *u)
{
	uint64_t n = 0;

	each_page(u, count_page, &n);
	return n;
}

static void copy_line(uint8_t *to, const uint8_t *from, uint64_t mask)
{
	if (mask == ~0ull) {
		memcpy(to, from, LINE);
		return;
	}
	while (mask) { /* run by run: bytes in between may have been written by others */
		unsigned first = (unsigned)__builtin_ctzll(mask);
		uint64_t gap = ~(mask >> first);
		unsigned n = gap ? (unsigned)__builtin_ctzll(gap) : LINE - first;

		memcpy(to + first, from + first, n);
		mask &= first + n == LINE ? 0 : ~0ull << (first + n);
	}
}

static bool keep_page(struct page *p, void *arg)
{
	if (!p->after)
		p->after = malloc(sizeof(*p->after));
	if (!p->after)
		return false;
	for (uint32_t k = 0; k < LINES; k++) {
		p->after->mask[k] = p->mask[k];
		copy_line(p->after->bytes + k * LINE, (const uint8_t *)p->base + k * LINE,
			  p->mask[k]);
	}
	return true;
}

bool sg_undo_keep(struct sg_undo *u)
{
	if (each_page(u, keep_page, NULL))
		return true;
	atomic_store(&u->lost, true);
	return false;
}

static bool restore_page(struct page *p, void *arg)
{
	for (uint32_t k = 0; k < LINES; k++)
		copy_line((uint8_t *)p->base + k * LINE, p->bytes + k * LINE, p->mask[k]);
	return true;
}

void sg_undo_restore(const struct sg_undo *u)
{
	each_page(u, restore_page, NULL);
}

static bool redo_page(struct page *p, void *arg)
{
	for (uint32_t k = 0; p->after && k < LINES; k++)
		copy_line((uint8_t *)p->base + k * LINE, p->after->bytes + k * LINE,
			  p->after->mask[k]);
	return true;
}

void sg_undo_redo(const struct sg_undo *u)
{
	sg_undo_restore(u); /* a later run may have gone where the first one did not */
	each_page(u, redo_page, NULL);
}
