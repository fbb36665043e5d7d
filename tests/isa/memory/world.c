#include "tests/isa/memory/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static bool nothing_more(void *ctx, uint64_t addr, uint64_t size)
{
	return false;
}

struct world *world_create(void)
{
	struct world *w = aligned_alloc(64, (sizeof(*w) + 63) / 64 * 64);

	if (!w)
		abort();
	memset(w, 0, sizeof(*w));
	w->mem = mmap(NULL, MEM_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	w->mem_expect = malloc(MEM_BYTES);
	if (w->mem == MAP_FAILED || !w->mem_expect)
		abort();
	w->map = (struct sg_mem_map){ .host_base = (uint64_t)(uintptr_t)w->mem - MEM_AT,
				      .start = MEM_AT,
				      .end = MEM_AT + MEM_BYTES,
				      .reachable = nothing_more };
	w->random = 1;
	return w;
}

void world_destroy(struct world *w)
{
	munmap(w->mem, MEM_BYTES);
	free(w->mem_expect);
	free(w);
}

uint64_t world_random(struct world *w)
{
	uint64_t z = w->random += 0x9e3779b97f4a7c15ull; /* splitmix64 */

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

uint32_t world_below(struct world *w, uint32_t n)
{
	return (uint32_t)(world_random(w) % n);
}

static void randomize(struct world *w, void *p, size_t n_bytes)
{
	uint64_t *words = p;

	for (size_t k = 0; k < n_bytes / 8; k++)
		words[k] = world_random(w);
}

void world_reset(struct world *w, unsigned variant)
{
	sg_step_init(&w->step);
	randomize(w, w->step.vgpr, 64 * sizeof(w->step.vgpr[0]));
	randomize(w, w->step.agpr, 64 * sizeof(w->step.agpr[0]));
	randomize(w, w->step.sgpr, 102 * 4);
	randomize(w, w->mem, MEM_BYTES);
	randomize(w, w->lds, LDS_BYTES);
	w->step.lds = w->lds;
	w->step.lds_bytes = LDS_BYTES;
	w->step.shared_hi = SHARED_HI;
	w->step.private_hi = PRIVATE_HI;
	w->step.scratch = SCRATCH_AT;
	w->step.scratch_bytes = 64 * SCRATCH_LANE_BYTES;
	w->step.sgpr[102] = (uint32_t)SCRATCH_AT;
	w->step.sgpr[103] = (uint32_t)(SCRATCH_AT >> 32);
	w->step.sgpr[124] = world_below(w, 256) * 4;
	w->step.mem = &w->map;
	uint64_t exec = variant % 3 == 0   ? ~0ull
			: variant % 3 == 1 ? world_random(w) & world_random(w)
					   : 1ull << world_below(w, 64);

	w->step.sgpr[126] = (uint32_t)exec;
	w->step.sgpr[127] = (uint32_t)(exec >> 32);
}

bool world_active(const struct world *w, unsigned lane)
{
	return w->before.sgpr[126 + lane / 32] >> lane % 32 & 1;
}

void world_fork(struct world *w)
{
	w->before = w->expect = w->step;
	memcpy(w->mem_expect, w->mem, MEM_BYTES);
	memcpy(w->lds_expect, w->lds, LDS_BYTES);
}

void world_fail(struct world *w, const char *what, const char *why)
{
	if (++w->n_failures <= 40)
		printf("%s %s, %s: %s\n", sg_isa_target_name(w->target),
		       w->row ? w->row->mnemonic : "-", what, why);
}

static size_t first_difference(const void *a, const void *b, size_t n_bytes)
{
	const uint8_t *p = a, *q = b;

	for (size_t k = 0; k < n_bytes; k++)
		if (p[k] != q[k])
			return k;
	return n_bytes;
}

static bool same(struct world *w, const char *what, const char *where, const void *got,
		 const void *expected, size_t n_bytes)
{
	char why[120];
	size_t at;

	if (!memcmp(got, expected, n_bytes))
		return true;
	at = first_difference(got, expected, n_bytes) & ~(size_t)3;
	snprintf(why, sizeof(why),
		 "%s differs at dword %zu (register %zu lane %zu): got %08x, expected %08x", where,
		 at / 4, at / 256, at / 4 % 64, *(const uint32_t *)((const char *)got + at),
		 *(const uint32_t *)((const char *)expected + at));
	world_fail(w, what, why);
	return false;
}

bool world_check(struct world *w, const uint32_t *words, size_t n_words, const char *what)
{
	enum sg_fault_kind kind = sg_step_run(w->target, words, n_words, &w->step);
	char why[160];

	if (kind != w->expect.fault.kind) {
		snprintf(why, sizeof(why), "fault %d instead of %d, at %llx: %s", kind,
			 w->expect.fault.kind, (unsigned long long)w->step.fault.address,
			 w->step.fault.text);
		world_fail(w, what, why);
		return false;
	}
	return same(w, what, "vgpr", w->step.vgpr, w->expect.vgpr, sizeof(w->step.vgpr)) &&
	       same(w, what, "agpr", w->step.agpr, w->expect.agpr, sizeof(w->step.agpr)) &&
	       same(w, what, "sgpr", w->step.sgpr, w->expect.sgpr, sizeof(w->step.sgpr)) &&
	       same(w, what, "memory", w->mem, w->mem_expect, MEM_BYTES) &&
	       same(w, what, "lds", w->lds, w->lds_expect, LDS_BYTES);
}
