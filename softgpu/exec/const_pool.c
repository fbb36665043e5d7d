#include "softgpu/exec/const_pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "softgpu/exec/wave.h"

/* Two halves, and as much of zero: the widest source that may be a constant has four registers. */
#define ENTRY_DWORDS (4 * SG_LANES)
#define MAX_ENTRIES (1u << 20) /* 1 GiB of address space; touched pages only cost memory */
#define N_BUCKETS (1u << 12)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t *pool;
static uint32_t n_entries;
static struct {
	uint64_t value;
	uint32_t next;
} * index_of;                       /* next: entry + 1 of the same bucket */
static uint32_t buckets[N_BUCKETS]; /* entry + 1 */

static void *reserve(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED) {
		fputs("wavescope: out of address space for constants: raise 'ulimit -v'\n", stderr);
		abort();
	}
	return at;
}

static void map_pool(void)
{
	pool = reserve((size_t)MAX_ENTRIES * ENTRY_DWORDS * 4);
	index_of = reserve((size_t)MAX_ENTRIES * sizeof(*index_of));
}

uint32_t *sg_const_pool(void)
{
	pthread_once(&once, map_pool);
	return pool;
}

static uint32_t add_entry(uint64_t value, uint32_t bucket)
{
	uint32_t e = n_entries;
	uint32_t *at = pool + (size_t)e * ENTRY_DWORDS;

	if (e == MAX_ENTRIES) {
		fputs("wavescope: more than a million different constants in one process\n",
		      stderr);
		abort();
	}
	for (unsigned l = 0; l < SG_LANES; l++) {
		at[l] = (uint32_t)value;
		at[SG_LANES + l] = (uint32_t)(value >> 32);
	}
	index_of[e].value = value;
	index_of[e].next = buckets[bucket];
	buckets[bucket] = e + 1;
	n_entries++;
	return e;
}

uint32_t sg_const_pool_get(uint64_t value)
{
	uint32_t bucket = (uint32_t)(value * 0x9e3779b97f4a7c15u >> 52), e;

	sg_const_pool();
	pthread_mutex_lock(&lock);
	for (e = buckets[bucket]; e && index_of[e - 1].value != value; e = index_of[e - 1].next)
		;
	e = e ? e - 1 : add_entry(value, bucket);
	pthread_mutex_unlock(&lock);
	return e * ENTRY_DWORDS;
}
