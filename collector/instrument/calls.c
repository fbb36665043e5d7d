/*
 * calls: the beginning and the end of calls, as records.
 *
 * Compiled without vector registers: hooks.S does not save them. What needs more than this file and
 * the inline functions that append records goes through col_instrument_keeping().
 *
 * A thread has a list of its open calls. Control flow does not depend on it: return addresses are
 * in the mirror. It serves to record the ends of calls that do not return, because of
 * longjmp() or an exception: a call whose slot is at or below that of a new call, or below that
 * of one that returns, has ended. The exception is a function that was jumped to at the end of
 * another (a tail call): both have the same slot, which holds our return address already.
 */
#include "collector/instrument/instrument_priv.h"

#include "base/util.h"

struct open_call {
	const uint64_t *slot;
	uint32_t number;
	uint32_t region;
};

#define OPEN_MAX (1u << 18)

struct thread_calls {
	struct open_call *open; /* OPEN_MAX of them, touched as calls nest */
	uint32_t depth;
	/* Where a call is being recorded: the slot. A handler on top of it has lower ones. */
	const uint64_t *busy;
};

static __thread struct thread_calls self __attribute__((tls_model("initial-exec")));

bool col_instrument_has_xsave;
uint8_t *col_calls_blocks;

#define BLOCK(slot) (((uint64_t)(slot)-COL_CALLS_STACKS) >> 20)
#define MIRROR(slot) ((uint64_t *)((uint64_t)(slot)-COL_CALLS_MIRROR))

static bool record(uint32_t region, uint32_t tag)
{
	struct cap_lane *lane = col_thread_lane(&col_thread_self_);
	/* Other clocks are read by functions that may use vector registers. */
	bool here = lane && __atomic_load_n(&cap_tick_kind, __ATOMIC_RELAXED) == CAP_TICKS_TSC;
	struct cap_rec *rec = here ? cap_lane_reserve_here(lane, sizeof(*rec)) : NULL;

	if (__builtin_expect(!rec, 0)) {
		struct col_slow_record slow = { .region = region, .tag = tag };

		col_instrument_keeping(col_slow_record, &slow);
		return slow.done;
	}
	col_fetch_to_write((const char *)rec + COL_LANE_AHEAD);
	rec->what = region;
	rec->time = cap_ticks();
	cap_lane_commit(lane, rec, tag);
	return true;
}

static void close_last(struct thread_calls *t)
{
	uint32_t region = t->open[--t->depth].region;

	record(region, CAP_REC_FIXED_TAG(LEAVE, struct cap_rec_leave));
}

/* Stacks elsewhere have no mirror: what runs on them is not recorded. */
static bool has_mirror(const uint64_t *slot)
{
	struct col_slow_mirror mirror = { .slot = slot };
	uint64_t block = COL_CALLS_BLOCK(slot);
	uint8_t state;

	if (__builtin_expect(block >= COL_CALLS_BLOCKS, 0))
		return false;
	state = __atomic_load_n(&col_calls_blocks[block], __ATOMIC_ACQUIRE);
	if (__builtin_expect(state == COL_CALLS_READY, 1))
		return true;
	if (state == COL_CALLS_UNKNOWN)
		col_instrument_keeping(col_slow_mirror, &mirror);
	return mirror.done;
}

/* Room for another open call. */
static bool has_room(struct thread_calls *t)
{
	if (__builtin_expect(!t->open, 0)) {
		struct col_slow_pages pages = { .n_bytes = OPEN_MAX * sizeof(*t->open) };

		col_instrument_keeping(col_slow_pages, &pages);
		t->open = pages.at;
	}
	return t->open && t->depth < OPEN_MAX;
}

static void open_call(struct thread_calls *t, uint32_t number, uint64_t *slot)
{
	uint32_t region = col_instrumented_at[number].region;
	bool tail = *slot == (uint64_t)col_instrument_return;

	if (!has_mirror(slot) || !has_room(t)) {
		col_instrument_keeping(col_slow_lost, NULL);
		return;
	}
	if (tail) {
		/* A jump to the beginning of the same function is a loop. */
		if (t->depth && t->open[t->depth - 1].slot == slot &&
		    t->open[t->depth - 1].number == number)
			return;
	} else {
		while (t->depth && t->open[t->depth - 1].slot <= slot)
			close_last(t);
	}
	if (!record(region, CAP_REC_FIXED_TAG(ENTER, struct cap_rec_enter)))
		return;
	t->open[t->depth++] = (struct open_call){ slot, number, region };
	if (!tail) {
		*MIRROR(slot) = *slot;
		__atomic_signal_fence(__ATOMIC_SEQ_CST); /* an unwinder finds either complete */
		*slot = (uint64_t)col_instrument_return;
	}
}

static void enter(uint32_t number, uint64_t *slot)
{
	struct thread_calls *t = &self;

	/* Not below `busy`: the handler that interrupted us has left by longjmp(). */
	if (__builtin_expect(t->busy && slot < t->busy, 0)) {
		col_instrument_keeping(col_slow_lost, NULL);
		return;
	}
	t->busy = slot;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	open_call(t, number, slot);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->busy = NULL;
}

uint64_t col_calls_enter(uint32_t number, uint64_t *slot)
{
	if (col_on(COL_SERVICE_REGIONS))
		enter(number, slot);
	return col_instrumented_at[number].resume;
}

uint64_t col_calls_leave(uint64_t *slot)
{
	struct thread_calls *t = &self;

	t->busy = slot;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	while (t->depth && t->open[t->depth - 1].slot <= slot)
		close_last(t);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->busy = NULL;
	return *MIRROR(slot);
}

/* ---- functions that were compiled for instrumentation ---- */

#define FOUND_MAX (1u << 16)

/* Function numbers by the addresses that calls come from; written once each. */
struct found_function {
	uint64_t address;
	uint32_t number; /* 0: not instrumented */
	uint32_t zero;
};
static struct found_function found[FOUND_MAX];

static uint32_t number_at(uint64_t address)
{
	struct col_slow_find find = { .address = address };
	uint64_t hash = address * 0x9e3779b97f4a7c15u >> 40;

	for (uint32_t i = 0; i < 16; i++) {
		struct found_function *f = &found[(hash + i) % FOUND_MAX];
		uint64_t known = __atomic_load_n(&f->address, __ATOMIC_ACQUIRE);

		if (known == address)
			return f->number;
		if (known)
			continue;
		col_instrument_keeping(col_slow_find, &find);
		/* Another thread may take the entry meanwhile; then it is looked up again. */
		if (__atomic_compare_exchange_n(&f->address, &known, 1, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED)) {
			f->number = find.number;
			__atomic_store_n(&f->address, address, __ATOMIC_RELEASE);
		}
		return find.number;
	}
	col_instrument_keeping(col_slow_find, &find);
	return find.number;
}

/* @address: in the function. */
void col_calls_compiled(uint64_t address, uint64_t *slot)
{
	uint32_t number;

	if (!col_on(COL_SERVICE_REGIONS) || !col_instrumented_at)
		return;
	number = number_at(address);
	if (number)
		enter(number, slot);
}

/*
 * These call both ends themselves, so no slot is changed. Calls that were inlined have the
 * slot of their caller: only the same function with the same slot has ended by other ways.
 */
void col_instrument_enter(uint64_t function, const uint64_t *slot)
{
	struct thread_calls *t = &self;
	uint32_t number;

	if (!col_on(COL_SERVICE_REGIONS) || !col_instrumented_at || (t->busy && slot < t->busy))
		return;
	number = number_at(function);
	if (!number)
		return;
	t->busy = slot;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (has_room(t)) {
		uint32_t region = col_instrumented_at[number].region;

		while (t->depth && (t->open[t->depth - 1].slot < slot ||
				    (t->open[t->depth - 1].slot == slot &&
				     t->open[t->depth - 1].number == number)))
			close_last(t);
		if (record(region, CAP_REC_FIXED_TAG(ENTER, struct cap_rec_enter)))
			t->open[t->depth++] = (struct open_call){ slot, number, region };
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->busy = NULL;
}

void col_instrument_exit(uint64_t function)
{
	struct thread_calls *t = &self;
	uint32_t number = t->depth ? number_at(function) : 0, depth = t->depth;

	while (depth && t->open[depth - 1].number != number)
		depth--;
	while (depth && number && t->depth >= depth)
		close_last(t);
}

/* The child's capture does not have the calls that are open; they return as before. */
void col_calls_forked(void)
{
	self.depth = 0;
	self.busy = NULL;
	if (self.open)
		col_slow_pages_forked(self.open);
}

/* Libraries come and go: addresses may mean other functions now. */
void col_calls_forget(void)
{
	for (uint32_t i = 0; i < FOUND_MAX; i++)
		if (__atomic_load_n(&found[i].address, __ATOMIC_RELAXED))
			__atomic_store_n(&found[i].address, 0, __ATOMIC_RELAXED);
}
