/*
 * writer: appends records to the capture file of this process.
 *
 * A thread borrows a lane and appends to it:
 *
 *	struct ws_lane *lane = t->lane;
 *	struct ws_rec_call *rec = ws_lane_reserve(&lane, sizeof(*rec));
 *	if (rec) {
 *		rec->h.what = op;
 *		...                             every field
 *		ws_lane_commit(lane, &rec->h, WS_REC_FIXED_TAG(CALL, struct ws_rec_call));
 *	} else {
 *		ws_writer_count(writer, WS_DOMAIN_HSA_API, WS_LEDGER_DROPPED, 1);
 *	}
 *
 * Reserve and commit take no lock, make no system call and allocate nothing. When
 * a chunk is full the lane takes the next from a pool that a helper thread keeps
 * filled, mapped and touched; only when the pool is empty does it make one itself
 * (a few system calls). When that fails (disk full, size limit) reserve
 * returns NULL until there is room again, and the caller counts the loss.
 *
 * Threads  a lane: the thread that borrowed it. Everything else: any.
 * Signals  reserve and commit may run in a handler, also between a reserve and a
 *          commit of the same lane: the handler is moved to a second lane, which is
 *          why reserve takes the address of the pointer. A handler inside a handler
 *          inside an append gets NULL. ws_writer_count() too may run anywhere.
 * Fork     the child calls ws_writer_forked() before anything else and opens its own.
 * errno    kept as it was by everything but open.
 * Memory   from mmap(), never from malloc: the program's allocator may be traced.
 * Descriptors  one, high, close-on-exec. A program that closes it, or puts a file of
 *          its own there, does no harm: it is checked before use and reopened.
 */
#ifndef WS_CAPTURE_WRITER_H
#define WS_CAPTURE_WRITER_H

#include "base/error.h"
#include "capture/chunk.h"

#include <stdbool.h>
#include <stdint.h>

/* Exported where a shared library is made of this: wrapper libraries append, too. */
#pragma GCC visibility push(default)

struct ws_writer;

struct ws_writer_opts {
	uint64_t max_bytes; /* ceiling for the file; 0: none */
	uint32_t n_spare;   /* chunks the helper keeps ready; 0: 4 */
	bool no_helper;     /* the caller calls ws_writer_tend() itself, or nobody does */
	uint64_t domains;   /* asked for, into the ledger: bit per enum ws_domain */
};

enum ws_status ws_writer_open(const char *path, const struct ws_writer_opts *opts,
			      struct ws_writer **out_writer, struct ws_err *err);

/*
 * Final clock pair, WS_REC_END, `closed`. Lanes in use stay usable: late records
 * still land. Takes the lock of the facts: not from signal handlers.
 */
void ws_writer_end(struct ws_writer *writer, enum ws_end_cause cause);

/* Unmaps everything; nobody may append any more. NULL is fine. Does not imply end. */
void ws_writer_close(struct ws_writer *writer);

/* In a forked child: let go of the parent's file without touching it, and free all. */
void ws_writer_forked(struct ws_writer *writer);

const char *ws_writer_path(const struct ws_writer *writer);
uint64_t ws_writer_file_bytes(const struct ws_writer *writer);

/* What the helper does, every now and then: a clock pair, spare chunks. */
void ws_writer_tend(struct ws_writer *writer);

/* ---- clock ---- */

/* The counter that `_ticks` fields hold. Inline when the machine has a usable one. */
extern enum ws_tick_kind ws_tick_kind; /* set by the first ws_writer_open(); constant then */
uint64_t ws_ticks_slow(void);

static inline uint64_t ws_ticks(void)
{
#if defined(__x86_64__)
	if (__builtin_expect(__atomic_load_n(&ws_tick_kind, __ATOMIC_RELAXED) == WS_TICKS_TSC, 1))
		return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t t;

	if (__builtin_expect(__atomic_load_n(&ws_tick_kind, __ATOMIC_RELAXED) == WS_TICKS_ARM, 1)) {
		__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
		return t;
	}
#endif
	return ws_ticks_slow();
}

/* ---- facts: rare, under a lock, not from signal handlers ---- */

/* Append a whole record to the META lane; false (and counted in the file) when there is no room. */
bool ws_writer_meta(struct ws_writer *writer, const struct ws_rec *rec);
bool ws_writer_fact(struct ws_writer *writer, enum ws_fact fact, const char *text);

/* Id of a text, written to the capture the first time it is seen; 0 for "", NULL or no room. */
uint32_t ws_writer_intern(struct ws_writer *writer, const char *text, size_t n_bytes);

/* An image, in pieces, to the BULK lane; false: no room for all of it, and it cannot be used. */
bool ws_writer_code_bytes(struct ws_writer *writer, uint32_t code_object, const void *bytes,
			  uint64_t n_bytes);

/*
 * In a handler of SIGBUS: was that a page of a capture that somebody truncated? True: there is
 * memory in its place, and the access may be repeated. The file says that it was cut.
 */
bool ws_writers_cut(void *address);

/* ---- ledger ---- */

enum ws_ledger_column { WS_LEDGER_ASKED, WS_LEDGER_DROPPED, WS_LEDGER_PAUSED, WS_LEDGER_FAILED };

void ws_writer_count(struct ws_writer *writer, enum ws_domain domain, enum ws_ledger_column column,
		     uint64_t n);
/* A kernel was submitted; when it has ended there will be a record, or a count of its loss. */
void ws_writer_submitted(struct ws_writer *writer);

/* ---- lanes ---- */

struct ws_lane {
	char *next, *end;            /* free room of the chunk; both NULL before the first */
	struct ws_chunk_head *chunk; /* mapped */
	uint32_t busy;               /* between reserve and commit */
	uint32_t id;
	uint32_t tid;  /* borrower */
	uint32_t kind; /* enum ws_chunk_kind */
	uint32_t seq;  /* of the next chunk */
	uint32_t next_free, is_above;
	struct ws_lane *above; /* for handlers that run on top of an append */
	struct ws_writer *writer;
	uint64_t retry_ns; /* after a failed turn: not before this */
} __attribute__((aligned(64)));

/* A lane for thread @tid, with a chunk ready; NULL when there is no memory or room. */
struct ws_lane *ws_lane_get(struct ws_writer *writer, uint32_t tid);
/* The thread ends: another may go on where it stopped. NULL is fine. */
void ws_lane_put(struct ws_lane *lane);

/* Slow halves of reserve: a new chunk; the lane above. */
bool ws_lane_turn_(struct ws_lane *lane, uint32_t n_bytes);
void *ws_lane_reserve_above_(struct ws_lane **lane, uint32_t n_bytes);

/*
 * Room for a record of @n_bytes (a multiple of 8, at most WS_REC_BYTES_MAX), or
 * NULL. The memory is zero. Each success is followed by one commit or cancel.
 */
static inline void *ws_lane_reserve(struct ws_lane **lane, uint32_t n_bytes)
{
	struct ws_lane *l = *lane;

	if (__builtin_expect(l->busy, 0))
		return ws_lane_reserve_above_(lane, n_bytes);
	l->busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect((uint64_t)(l->end - l->next) < n_bytes, 0) &&
	    !ws_lane_turn_(l, n_bytes)) {
		l->busy = 0;
		return NULL;
	}
	return l->next;
}

/* The same where there is nothing to do for it, else NULL: then ask ws_lane_reserve(). */
static inline void *ws_lane_reserve_here(struct ws_lane *lane, uint32_t n_bytes)
{
	if (__builtin_expect(lane->busy, 0))
		return NULL;
	lane->busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect((uint64_t)(lane->end - lane->next) >= n_bytes, 1)) {
		if (!lane->next)
			__builtin_unreachable(); /* no room, then: one test less in every caller */
		return lane->next;
	}
	lane->busy = 0;
	return NULL;
}

/* Publish: from here on the record survives the process. */
static inline void ws_lane_commit(struct ws_lane *lane, struct ws_rec *rec, uint32_t tag)
{
	struct ws_chunk_head *chunk = lane->chunk;

	rec->tag = tag;
	lane->next += (tag >> 8 & 0xffff) * WS_REC_ALIGN;
	if (__builtin_expect(!(chunk->types >> (tag & 63) & 1), 0))
		chunk->types |= 1ull << (tag & 63);
	__atomic_store_n(&chunk->valid_bytes, (uint64_t)(lane->next - (char *)chunk),
			 __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	lane->busy = 0;
}

/* Give the room back; what was written to it is cleared by the caller: @n_bytes from the start. */
void ws_lane_cancel(struct ws_lane *lane, uint32_t n_bytes);

/* The same in one call for a record built elsewhere; false when it was lost. */
bool ws_lane_append(struct ws_lane *lane, const struct ws_rec *rec);

#pragma GCC visibility pop

#endif
