#include "collector/hsa/ranges.h"

#include "collector/hsa/hsa_priv.h"
#include "collector/hsa/turns.h"

#include <hsa/amd_hsa_signal.h>
#include <string.h>
#include <time.h>

#define RANGES_MAX 65536u
#define COPIES_MAX 1024u
#define COPY_WAITS_MAX 4u       /* signals that one waits for and that are looked at */
#define GATE_NS 1000000000ull   /* that a copy of the program waits for a replay */
#define SETTLE_NS 2000000000ull /* that a replay waits for copies that run */
#define LOOK_NS 20000u

/* A copy of the program's into saved memory. */
struct copy {
	uint64_t signal;
	int64_t value;
	uint64_t waits_for[COPY_WAITS_MAX];
	uint32_t n_waits_for;
};

static struct {
	struct col_lock lock; /* all of it */
	bool kept;
	struct col_range *all; /* RANGES_MAX, by address */
	uint32_t n;
	uint64_t n_numbers;
	struct copy *copies; /* COPIES_MAX */
	uint32_t n_copies;   /* read without the lock, too */
	uint32_t n_writers;  /* calls that are about to write */
	uint32_t replaying;  /* agent; 0: none */
	bool interrupted;
	uint64_t
		gpus; /* that the program has queues on: a bit per agent, the last for all others */
	/* What no later call undoes. */
	bool overflowed, fine_grained, pageable, shared;
} ranges;

static void nap(void)
{
	nanosleep(&(struct timespec){ 0, LOOK_NS }, NULL);
}

static uint64_t bit_of(uint32_t agent)
{
	return 1ull << WS_MIN(agent, 63u);
}

bool col_ranges_kept(void)
{
	return __atomic_load_n(&ranges.kept, __ATOMIC_RELAXED);
}

/* Whether GPUs can use what malloc() returns. */
static bool pageable(void)
{
	bool is = false;

	return col_hsa.hsa_system_get_info(HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT, &is) ==
		       HSA_STATUS_SUCCESS &&
	       is;
}

void col_ranges_load(void)
{
	bool wanted = col_count_replays();

	col_lock(&ranges.lock);
	if (wanted && !ranges.all) {
		ranges.all = col_pages(RANGES_MAX * sizeof(*ranges.all));
		ranges.copies = col_pages(COPIES_MAX * sizeof(*ranges.copies));
	}
	ranges.overflowed = !ranges.all || !ranges.copies;
	ranges.pageable = wanted && pageable();
	__atomic_store_n(&ranges.kept, wanted && !ranges.overflowed, __ATOMIC_RELAXED);
	col_unlock(&ranges.lock);
}

void col_ranges_unload(void)
{
	col_lock(&ranges.lock);
	ranges.n = ranges.n_copies = ranges.n_writers = 0;
	ranges.gpus = 0;
	ranges.fine_grained = ranges.shared = false;
	col_unlock(&ranges.lock);
}

void col_ranges_forked(void)
{
	ranges.lock = (struct col_lock){ 0 };
	ranges.replaying = 0;
	col_ranges_unload();
}

void col_ranges_hold(void)
{
	col_lock(&ranges.lock);
}

void col_ranges_release(void)
{
	col_unlock(&ranges.lock);
}

/* ---- the table ---- */

/* The first that begins behind @address. */
static uint32_t after(uint64_t address)
{
	uint32_t low = 0, high = ranges.n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (ranges.all[middle].address > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

struct col_range *col_ranges_at(uint64_t address)
{
	uint32_t at = after(address);
	struct col_range *range = at ? &ranges.all[at - 1] : NULL;

	return range && address - range->address < range->n_bytes ? range : NULL;
}

const struct col_range *col_ranges_all(size_t *out_n)
{
	*out_n = ranges.n;
	return ranges.all;
}

void col_ranges_add(uint64_t address, uint64_t n_bytes, uint32_t agent, enum col_range_kind kind)
{
	uint32_t at;

	if (!col_ranges_kept() || !address || !n_bytes)
		return;
	col_lock(&ranges.lock);
	at = after(address);
	/* Registered twice: the larger one counts, and what could change it at any time. */
	if (at && ranges.all[at - 1].address == address) {
		struct col_range *same = &ranges.all[at - 1];

		same->n_locks += !same->agent && !agent;
		same->n_bytes = WS_MAX(same->n_bytes, n_bytes);
		same->number = ++ranges.n_numbers;
		same->kind = (uint8_t)kind;
		same->agent = agent;
	} else if (ranges.n == RANGES_MAX) {
		ranges.overflowed = true;
	} else {
		memmove(&ranges.all[at + 1], &ranges.all[at],
			(ranges.n - at) * sizeof(ranges.all[0]));
		ranges.all[at] = (struct col_range){ .address = address,
						     .n_bytes = n_bytes,
						     .number = ++ranges.n_numbers,
						     .agent = agent,
						     .kind = (uint8_t)kind };
		ranges.n++;
	}
	col_unlock(&ranges.lock);
}

void col_ranges_remove(uint64_t address)
{
	uint32_t at;

	if (!col_ranges_kept())
		return;
	col_lock(&ranges.lock);
	at = after(address);
	if (at && ranges.all[at - 1].address == address && ranges.all[at - 1].n_locks) {
		ranges.all[at - 1].n_locks--;
	} else if (at && ranges.all[at - 1].address == address) {
		memmove(&ranges.all[at - 1], &ranges.all[at],
			(ranges.n - at) * sizeof(ranges.all[0]));
		ranges.n--;
	}
	col_unlock(&ranges.lock);
}

void col_ranges_remove_in(uint64_t address, uint64_t n_bytes)
{
	uint32_t first, end;

	if (!col_ranges_kept() || !address || !n_bytes)
		return;
	col_lock(&ranges.lock);
	first = after(address - 1);
	end = after(address + n_bytes - 1);
	memmove(&ranges.all[first], &ranges.all[end], (ranges.n - end) * sizeof(ranges.all[0]));
	ranges.n -= end - first;
	col_unlock(&ranges.lock);
}

/* What a pool of the runtime is made of; its regions have the same handles. */
void col_ranges_allocated(uint64_t address, uint64_t n_bytes, uint64_t pool)
{
	uint32_t agent = col_agent_of_pool(pool), flags = 0;
	bool is_gpu = agent && col_agent_is_gpu(agent);

	if (!col_ranges_kept())
		return;
	col_hsa.hsa_amd_memory_pool_get_info((hsa_amd_memory_pool_t){ pool },
					     HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
	if (is_gpu && !(flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED)) {
		col_lock(&ranges.lock);
		ranges.fine_grained = true;
		col_unlock(&ranges.lock);
	}
	col_ranges_add(address, n_bytes, agent,
		       flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT ? COL_RANGE_CONSTANT
		       : is_gpu                                             ? COL_RANGE_SAVED
									    : COL_RANGE_COMPARED);
}

void col_ranges_kernarg(uint64_t address)
{
	struct col_range *range;

	if (!col_ranges_kept() || !address)
		return;
	col_lock(&ranges.lock);
	range = col_ranges_at(address);
	if (range)
		range->kind = COL_RANGE_CONSTANT;
	col_unlock(&ranges.lock);
}

void col_ranges_queue(uint32_t agent)
{
	col_lock(&ranges.lock);
	ranges.gpus |= bit_of(agent);
	col_unlock(&ranges.lock);
}

void col_ranges_shared(void)
{
	col_lock(&ranges.lock);
	ranges.shared = true;
	col_unlock(&ranges.lock);
}

void col_ranges_allowed(uint64_t address, uint32_t agent)
{
	struct col_range *range;

	if (!col_ranges_kept())
		return;
	col_lock(&ranges.lock);
	range = col_ranges_at(address);
	if (range && agent != range->agent && col_agent_is_gpu(agent))
		range->peers = true;
	else if (range && agent != range->agent && range->kind == COL_RANGE_SAVED)
		range->kind = COL_RANGE_COMPARED;
	col_unlock(&ranges.lock);
}

/* ---- copies of the program's ---- */

static int64_t value_of(uint64_t signal)
{
	return __atomic_load_n(&((const amd_signal_t *)(uintptr_t)signal)->value, __ATOMIC_ACQUIRE);
}

static void drop_copy(uint32_t i)
{
	ranges.copies[i] = ranges.copies[ranges.n_copies - 1];
	__atomic_store_n(&ranges.n_copies, ranges.n_copies - 1, __ATOMIC_RELAXED);
}

static void drop_done_copies(void)
{
	for (uint32_t i = ranges.n_copies; i-- > 0;) {
		if (value_of(ranges.copies[i].signal) < ranges.copies[i].value)
			drop_copy(i);
	}
}

bool col_ranges_write_begin(uint64_t address)
{
	const struct col_range *range;
	uint64_t deadline_ns = 0;
	bool saved;

	if (!col_ranges_kept())
		return false;
	col_lock(&ranges.lock);
	for (;;) {
		range = col_ranges_at(address);
		saved = range && range->kind == COL_RANGE_SAVED;
		if (!saved || ranges.replaying != range->agent || ranges.interrupted)
			break;
		if (!deadline_ns)
			deadline_ns = col_now_ns() + GATE_NS;
		if (col_now_ns() > deadline_ns) {
			ranges.interrupted = true;
			break;
		}
		col_unlock(&ranges.lock);
		nap();
		col_lock(&ranges.lock);
	}
	ranges.n_writers += saved;
	col_unlock(&ranges.lock);
	return saved;
}

void col_ranges_write_end(uint64_t signal, int64_t value, const uint64_t *waits_for, uint32_t n)
{
	col_lock(&ranges.lock);
	if (ranges.n_writers)
		ranges.n_writers--;
	if (signal && ranges.n_copies == COPIES_MAX)
		drop_done_copies();
	if (signal && ranges.n_copies == COPIES_MAX) {
		ranges.overflowed = true;
	} else if (signal) {
		struct copy *copy = &ranges.copies[ranges.n_copies];

		*copy = (struct copy){ .signal = signal,
				       .value = value,
				       .n_waits_for = WS_MIN(n, COPY_WAITS_MAX) };
		memcpy(copy->waits_for, waits_for, copy->n_waits_for * sizeof(*waits_for));
		__atomic_store_n(&ranges.n_copies, ranges.n_copies + 1, __ATOMIC_RELAXED);
	}
	col_unlock(&ranges.lock);
}

void col_ranges_signal_reused(uint64_t signal)
{
	if (__atomic_load_n(&ranges.n_copies, __ATOMIC_RELAXED) == 0)
		return;
	col_lock(&ranges.lock);
	for (uint32_t i = ranges.n_copies; i-- > 0;) {
		if (ranges.copies[i].signal == signal)
			drop_copy(i);
	}
	col_unlock(&ranges.lock);
}

enum copies { NONE_RUN, SOME_RUN, SOME_MAY_RUN };

/* One that waits for kernels of @agent does not begin; for what else, is not known here. */
static enum copies look_at_copies(uint32_t agent)
{
	enum copies found = NONE_RUN;

	for (uint32_t i = 0; i < ranges.n_copies; i++) {
		const struct copy *copy = &ranges.copies[i];
		bool waits = false, held = false;

		for (uint32_t k = 0; k < copy->n_waits_for && !held; k++) {
			bool open = value_of(copy->waits_for[k]) != 0;

			waits |= open;
			held = open && col_turns_hold(agent, copy->waits_for[k]);
		}
		if (!held)
			found = WS_MAX(found, waits ? SOME_MAY_RUN : SOME_RUN);
	}
	return found;
}

/* ---- replays ---- */

static enum col_obstacle lasting_obstacle(uint32_t agent)
{
	bool several = (ranges.gpus & ~bit_of(agent)) != 0;

	if (ranges.overflowed)
		return COL_OBSTACLE_TOO_MANY;
	if (col_hsa_attached())
		return COL_OBSTACLE_ATTACHED;
	if (ranges.pageable)
		return COL_OBSTACLE_PAGEABLE;
	if (ranges.shared)
		return COL_OBSTACLE_PROCESSES;
	if (ranges.fine_grained)
		return COL_OBSTACLE_FINE_GRAINED;
	for (uint32_t i = 0; i < ranges.n; i++) {
		const struct col_range *range = &ranges.all[i];

		/* Of other GPUs: this one can write them, and they are not saved. */
		if (range->kind == COL_RANGE_SAVED && range->peers &&
		    (several || range->agent != agent))
			return COL_OBSTACLE_PEERS;
	}
	return COL_OBSTACLE_NONE;
}

enum col_obstacle col_ranges_begin(uint32_t agent)
{
	uint64_t deadline_ns = col_now_ns() + SETTLE_NS;
	enum col_obstacle obstacle;

	col_lock(&ranges.lock);
	ranges.interrupted = false;
	ranges.replaying = agent;
	obstacle = lasting_obstacle(agent);
	for (;;) {
		enum copies copies;

		drop_done_copies();
		copies = look_at_copies(agent);
		if (obstacle || (copies == NONE_RUN && !ranges.n_writers))
			break;
		if (copies == SOME_MAY_RUN || col_now_ns() > deadline_ns) {
			obstacle = COL_OBSTACLE_COPY_WAITS;
			break;
		}
		col_unlock(&ranges.lock);
		nap();
		col_lock(&ranges.lock);
	}
	if (obstacle)
		ranges.replaying = 0;
	col_unlock(&ranges.lock);
	return obstacle;
}

void col_ranges_end(void)
{
	col_lock(&ranges.lock);
	ranges.replaying = 0;
	col_unlock(&ranges.lock);
}

bool col_ranges_interrupted(void)
{
	return ranges.interrupted;
}
