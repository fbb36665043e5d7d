/*
 * stacks: gives equal call stacks one id.
 *
 * A table of hashes is shared by all handlers of the process, without locks. Who meets a stack
 * first takes an entry for its hash, writes the record to its own lane, and then stores the id.
 * Who meets the same stack before the id is stored writes it again, under an id of its own: that
 * is rarer than once in a million samples, and nobody ever waits.
 */
#include "collector/sample/sample_priv.h"

#include <string.h>
#include <sys/mman.h>

#define ENTRIES (1u << 20) /* 16 MiB, of which only what is used becomes memory */
#define PROBES 64u

static struct {
	struct col_id_entry *table;
	uint32_t next_id;
} stacks;

uint64_t col_id_hash(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

struct col_id_entry *col_id_entry(struct col_id_entry *table, uint32_t n_entries, uint64_t hash)
{
	hash |= 1; /* 0 is a free entry */
	for (uint32_t i = 0; i < PROBES; i++) {
		struct col_id_entry *entry = &table[((hash >> 20 ^ hash) + i) & (n_entries - 1)];
		uint64_t found = __atomic_load_n(&entry->hash, __ATOMIC_ACQUIRE);

		if (found == hash ||
		    (found == 0 &&
		     (__atomic_compare_exchange_n(&entry->hash, &found, hash, false,
						  __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
		      found == hash)))
			return entry;
	}
	return NULL;
}

bool col_stacks_start(void)
{
	if (!stacks.table)
		stacks.table = col_pages(ENTRIES * sizeof(*stacks.table));
	stacks.next_id = 1;
	return stacks.table != NULL;
}

void col_stacks_forked(void)
{
	if (stacks.table)
		madvise(stacks.table, ENTRIES * sizeof(*stacks.table), MADV_DONTNEED);
	stacks.next_id = 1;
}

static bool write_stack(struct cap_lane *lane, uint32_t id, const uint64_t *frames,
			uint32_t n_frames, uint32_t n_native, uint32_t flags, uint32_t generation)
{
	uint32_t n_bytes = (uint32_t)sizeof(struct cap_rec_stack) + n_frames * 8;
	struct cap_rec_stack *rec = cap_lane_reserve(&lane, n_bytes);

	if (!rec)
		return false;
	rec->h.what = id;
	rec->h.time = 0;
	rec->n_frames = n_frames;
	rec->flags = flags;
	rec->generation = generation;
	rec->n_native = n_native;
	memcpy(rec + 1, frames, n_frames * 8);
	cap_lane_commit(lane, &rec->h, CAP_REC_TAG(CAP_REC_STACK, n_bytes));
	return true;
}

uint32_t col_stack_id(struct cap_lane *lane, const uint64_t *frames, uint32_t n_frames,
		      uint32_t n_native, uint32_t flags, uint32_t generation)
{
	uint64_t hash = col_id_hash((uint64_t)generation << 32 | flags,
				    (uint64_t)n_native << 32 | n_frames);
	struct col_id_entry *entry;
	uint64_t id, none = 0;

	for (uint32_t i = 0; i < n_frames; i++)
		hash = col_id_hash(hash, frames[i]);
	entry = col_id_entry(stacks.table, ENTRIES, hash);
	if (!entry)
		return 0;
	id = __atomic_load_n(&entry->id, __ATOMIC_ACQUIRE);
	if (id)
		return (uint32_t)id;
	id = __atomic_fetch_add(&stacks.next_id, 1, __ATOMIC_RELAXED);
	if (!write_stack(lane, (uint32_t)id, frames, n_frames, n_native, flags, generation))
		return 0;
	__atomic_compare_exchange_n(&entry->id, &none, id, false, __ATOMIC_RELEASE,
				    __ATOMIC_RELAXED);
	return (uint32_t)id;
}
