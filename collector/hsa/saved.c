#include "collector/hsa/saved.h"

#include "collector/hsa/copier.h"
#include "collector/hsa/hsa_priv.h"
#include "collector/hsa/own_queue.h"
#include "collector/hsa/packet_memory.h"
#include "collector/hsa/ranges.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PARTS_MAX 65536u
#define PART_ALIGN 256u
#define CHUNK_BYTES (1u << 20)
#define GIVE_BACK_NS 2000000000ull /* that an allocation of the program waits for a replay */
#define LOOK_NS 100000u

/* A range that was saved. */
struct part {
	uint64_t address, n_bytes, number;
	uint64_t at; /* in the buffer */
};

static struct {
	struct col_lock buffers; /* the buffer itself: after the lock of the ranges */
	void *buffer;
	uint64_t n_buffer;
	uint32_t made_for;           /* agent */
	bool used;                   /* by a replay */
	bool told;                   /* that it is in memory of the host */
	uint32_t agent;              /* of the replay */
	struct col_own_queue *queue; /* that copies */
	struct part *parts;          /* PARTS_MAX */
	uint32_t n_parts;
	struct col_copy *copies; /* PARTS_MAX */
	char *chunk;             /* CHUNK_BYTES */
	uint64_t n_saved;        /* times */
} saved;

static uint64_t limit_bytes(void)
{
	static uint64_t limit;
	const char *text = getenv("WAVESCOPE_REPLAY_MB");
	uint64_t mb = text ? strtoull(text, NULL, 10) : COL_SAVED_MB;

	if (!limit)
		limit = WS_MAX(mb, (uint64_t)1) << 20;
	return limit;
}

/* ---- the buffer ---- */

static hsa_agent_t agent_of(uint32_t id)
{
	return (hsa_agent_t){ id ? col_agent_facts(id)->handle : col_agent_first_cpu() };
}

static bool allocate(uint32_t holder, uint64_t n_bytes)
{
	uint32_t flag = holder ? HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED
			       : HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED;
	hsa_amd_memory_pool_t pool = { col_packet_pool(agent_of(holder).handle, flag) };
	hsa_agent_t gpu = agent_of(saved.agent);
	void *memory = NULL;

	if (!pool.handle ||
	    col_hsa.hsa_amd_memory_pool_allocate(pool, n_bytes, 0, &memory) != HSA_STATUS_SUCCESS)
		return false;
	if (!holder &&
	    col_hsa.hsa_amd_agents_allow_access(1, &gpu, NULL, memory) != HSA_STATUS_SUCCESS) {
		col_hsa.hsa_amd_memory_pool_free(memory);
		return false;
	}
	saved.buffer = memory;
	saved.n_buffer = n_bytes;
	saved.made_for = saved.agent;
	return true;
}

static void free_buffer(void)
{
	if (saved.buffer)
		col_hsa.hsa_amd_memory_pool_free(saved.buffer);
	saved.buffer = NULL;
	saved.n_buffer = 0;
}

/* Copies through the bus: the user should know why a run takes so long. */
static void note_host(bool done)
{
	if (done && !saved.told)
		col_note("counters: the GPU has no memory left, so kernel replay saves its memory "
			 "in "
			 "that of the host, which is slower");
	saved.told |= done;
}

static bool need_buffer(uint64_t n_bytes)
{
	bool done;

	col_lock(&saved.buffers);
	/* What was allocated for another GPU may not be reachable for this one. */
	if (saved.n_buffer < n_bytes || saved.made_for != saved.agent)
		free_buffer();
	done = saved.buffer || allocate(saved.agent, n_bytes);
	if (!done) {
		done = allocate(0, n_bytes);
		note_host(done);
	}
	saved.used = done;
	col_unlock(&saved.buffers);
	return done;
}

bool col_saved_give_back(void)
{
	uint64_t deadline_ns = col_now_ns() + GIVE_BACK_NS;
	bool has;

	col_lock(&saved.buffers);
	while (saved.used && col_now_ns() < deadline_ns) {
		col_unlock(&saved.buffers);
		nanosleep(&(struct timespec){ 0, LOOK_NS }, NULL);
		col_lock(&saved.buffers);
	}
	has = saved.buffer && !saved.used;
	if (has)
		free_buffer();
	col_unlock(&saved.buffers);
	return has;
}

void col_saved_done(void)
{
	col_lock(&saved.buffers);
	saved.used = false;
	col_unlock(&saved.buffers);
}

/* The runtime takes it along. */
void col_saved_unload(void)
{
	saved.buffers = (struct col_lock){ 0 };
	saved.buffer = NULL;
	saved.n_buffer = 0;
	saved.used = false;
}

/* ---- copies ---- */

static bool ready(void)
{
	if (!saved.parts)
		saved.parts = col_pages(PARTS_MAX * sizeof(*saved.parts));
	if (!saved.chunk)
		saved.chunk = col_pages(CHUNK_BYTES);
	if (!saved.copies)
		saved.copies = col_pages(PARTS_MAX * sizeof(*saved.copies));
	return saved.parts && saved.chunk && saved.copies;
}

/* All parts, in either direction. The ranges are held. */
static bool copy_parts(bool back)
{
	uint64_t buffer = (uint64_t)(uintptr_t)saved.buffer;
	uint32_t n = 0;

	for (uint32_t i = 0; i < saved.n_parts; i++) {
		const struct part *part = &saved.parts[i];
		const struct col_range *now = col_ranges_at(part->address);

		if (!now || now->number != part->number || now->kind != COL_RANGE_SAVED)
			continue; /* it was freed */
		saved.copies[n++] = (struct col_copy){ back ? part->address : buffer + part->at,
						       back ? buffer + part->at : part->address,
						       part->n_bytes };
	}
	return col_copier_copy(saved.queue, saved.copies, n);
}

/* ---- what is compared ---- */

/* By a system call, which fails where a load would fault: locked memory may have been unmapped. */
static void hash_range(const struct col_range *range, uint64_t out[2])
{
	out[0] = out[1] = 0;
	for (uint64_t at = 0; at < range->n_bytes; at += CHUNK_BYTES) {
		uint64_t n = WS_MIN(range->n_bytes - at, (uint64_t)CHUNK_BYTES), hash[2];

		if (!col_image_copy(saved.chunk, range->address + at, n))
			continue;
		col_image_hash(saved.chunk, n, hash);
		out[0] = out[0] * 0x9e3779b97f4a7c15u + hash[0];
		out[1] = out[1] * 0xc2b2ae3d27d4eb4fu + hash[1];
	}
}

bool col_saved_host_changed(void)
{
	bool changed = false;
	size_t n;

	col_ranges_hold();
	for (const struct col_range *range = col_ranges_all(&n), *end = range + n;
	     range < end && !changed; range++) {
		uint64_t hash[2];

		if (range->kind != COL_RANGE_COMPARED || range->hashed_for != saved.n_saved)
			continue;
		hash_range(range, hash);
		changed = memcmp(hash, range->hash, sizeof(hash)) != 0;
	}
	col_ranges_release();
	return changed;
}

/* ---- save, restore ---- */

static enum col_obstacle list_parts(uint64_t *out_bytes, uint64_t *out_compared)
{
	size_t n;
	const struct col_range *all = col_ranges_all(&n);

	saved.n_parts = 0;
	*out_bytes = *out_compared = 0;
	for (size_t i = 0; i < n; i++) {
		if (all[i].kind == COL_RANGE_COMPARED)
			*out_compared += all[i].n_bytes;
		if (all[i].kind != COL_RANGE_SAVED || all[i].agent != saved.agent)
			continue;
		if (saved.n_parts == PARTS_MAX)
			return COL_OBSTACLE_TOO_MANY;
		saved.parts[saved.n_parts++] = (struct part){ .address = all[i].address,
							      .n_bytes = all[i].n_bytes,
							      .number = all[i].number,
							      .at = *out_bytes };
		*out_bytes += (all[i].n_bytes + PART_ALIGN - 1) / PART_ALIGN * PART_ALIGN;
	}
	return *out_bytes > limit_bytes() || *out_compared > limit_bytes() ? COL_OBSTACLE_TOO_LARGE
									   : COL_OBSTACLE_NONE;
}

static void hash_all(void)
{
	size_t n;
	const struct col_range *all = col_ranges_all(&n);

	for (size_t i = 0; i < n; i++) {
		struct col_range *range = (struct col_range *)&all[i];

		if (range->kind != COL_RANGE_COMPARED)
			continue;
		range->hashed_for = saved.n_saved;
		hash_range(range, range->hash);
	}
}

enum col_obstacle col_saved_save(struct col_own_queue *queue, uint64_t *out_bytes)
{
	uint64_t n_bytes = 0, n_compared;
	enum col_obstacle obstacle;

	saved.queue = queue;
	saved.agent = col_own_queue_agent(queue);
	saved.n_saved++;
	if (!ready())
		return COL_OBSTACLE_NO_MEMORY;
	col_ranges_hold();
	obstacle = list_parts(&n_bytes, &n_compared);
	if (!obstacle && n_bytes && !need_buffer(n_bytes))
		obstacle = COL_OBSTACLE_NO_MEMORY;
	if (!obstacle && !copy_parts(false))
		obstacle = COL_OBSTACLE_FAILED;
	if (!obstacle)
		hash_all();
	col_ranges_release();
	*out_bytes = obstacle ? 0 : n_bytes;
	return obstacle;
}

enum col_obstacle col_saved_restore(void)
{
	enum col_obstacle obstacle = COL_OBSTACLE_NONE;

	col_ranges_hold();
	if (col_ranges_interrupted())
		obstacle = COL_OBSTACLE_COPY_CAME;
	else if (!copy_parts(true))
		obstacle = COL_OBSTACLE_FAILED;
	col_ranges_release();
	return obstacle;
}
