/*
 * writer: appends records to the capture file of this process.
 *
 * A thread borrows a lane and appends to it:
 *
 *	struct cap_lane *lane = t->lane;
 *	struct cap_rec_call *rec = cap_lane_reserve(&lane, sizeof(*rec));
 *	if (rec) {
 *		rec->h.what = op;
 *		...                             every field
 *		cap_lane_commit(lane, &rec->h, CAP_REC_FIXED_TAG(CALL, struct cap_rec_call));
 *	} else {
 *		cap_writer_count(writer, CAP_DOMAIN_HSA_API, CAP_LEDGER_DROPPED, 1);
 *	}
 *
 * Reserve and commit take no lock, make no system call and allocate nothing. When
 * a chunk is full the lane takes the next from a pool that a helper thread keeps
 * filled, mapped and touched; only when the pool is empty does it make one itself
 * (a few system calls). When that fails (disk full, size limit) reserve
 * returns NULL until there is space again, and the caller counts the dropped record.
 *
 * Threads  a lane: the thread that borrowed it. Everything else: any.
 * Signals  reserve and commit may run in a handler, also between a reserve and a
 *          commit of the same lane: the handler is moved to a second lane, which is
 *          why reserve takes the address of the pointer. A handler inside a handler
 *          inside an append gets NULL. cap_writer_count() too may run anywhere.
 * Fork     the child calls cap_writer_forked() before anything else and opens its own.
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

struct cap_writer;

struct cap_writer_opts {
	uint64_t max_bytes; /* ceiling for the file; 0: none */
	uint32_t n_spare;   /* chunks the helper keeps ready; 0: 4 */
	bool no_helper;     /* the caller calls cap_writer_tend() itself, or nobody does */
	uint64_t domains;   /* requested, for the ledger: bit per enum cap_domain */
	/*
	 * The records were made elsewhere, by process @pid, and are written again here. Times
	 * are nanoseconds (CAP_TICKS_NS). The caller writes the CLOCK and END records, which
	 * would otherwise describe this process; there is no helper.
	 */
	bool imported;
	uint32_t pid; /* of an imported capture; so are the following */
	uint8_t boot_id[16];
	uint64_t created_ns, created_realtime_ns; /* as in struct cap_file_head */
};

enum ws_status cap_writer_open(const char *path, const struct cap_writer_opts *opts,
			       struct cap_writer **out_writer, struct ws_err *err);

/*
 * Final clock pair and CAP_REC_END (neither when imported), `closed`. Lanes in use stay usable: late records
 * still land. Takes the lock of the facts: not from signal handlers.
 */
void cap_writer_end(struct cap_writer *writer, enum cap_end_cause cause);

/* Unmaps everything; nobody may append any more. NULL is fine. Does not imply end. */
void cap_writer_close(struct cap_writer *writer);

/* In a forked child: let go of the parent's file without touching it, and free all. */
void cap_writer_forked(struct cap_writer *writer);

const char *cap_writer_path(const struct cap_writer *writer);
uint64_t cap_writer_file_bytes(const struct cap_writer *writer);

/* What the helper does, every now and then: a clock pair, spare chunks. */
void cap_writer_tend(struct cap_writer *writer);

/* ---- clock ---- */

/* The counter that `_ticks` fields hold. Inline when the machine has a usable one. */
extern enum cap_tick_kind cap_tick_kind; /* set by the first cap_writer_open(); constant then */
uint64_t cap_ticks_slow(void);

static inline uint64_t cap_ticks(void)
{
#if defined(__x86_64__)
	if (__builtin_expect(__atomic_load_n(&cap_tick_kind, __ATOMIC_RELAXED) == CAP_TICKS_TSC, 1))
		return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t t;

	if (__builtin_expect(__atomic_load_n(&cap_tick_kind, __ATOMIC_RELAXED) == CAP_TICKS_ARM,
			     1)) {
		__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
		return t;
	}
#endif
	return cap_ticks_slow();
}

/* ---- facts: rare, under a lock, not from signal handlers ---- */

/* Append a whole record to the META lane; false (and counted in the file) if there is no space. */
bool cap_writer_meta(struct cap_writer *writer, const struct cap_rec *rec);
bool cap_writer_fact(struct cap_writer *writer, enum cap_fact fact, const char *text);

/* Id of a text, written to the capture at its first use; 0 for "", NULL or no space. */
uint32_t cap_writer_intern(struct cap_writer *writer, const char *text, size_t n_bytes);

/* An image, in pieces, to the BULK lane; false: not enough space, and it cannot be used. */
bool cap_writer_code_bytes(struct cap_writer *writer, uint32_t code_object, const void *bytes,
			   uint64_t n_bytes);

/*
 * In a handler of SIGBUS: was that a page of a truncated capture? True: there is
 * memory in its place, and the access may be repeated. The file says that it was cut.
 */
bool cap_writers_truncated(void *address);

/* ---- ledger ---- */

enum cap_ledger_column {
	CAP_LEDGER_ASKED,
	CAP_LEDGER_DROPPED,
	CAP_LEDGER_PAUSED,
	CAP_LEDGER_FAILED,
	CAP_LEDGER_LEFT_OUT
};

void cap_writer_count(struct cap_writer *writer, enum cap_domain domain,
		      enum cap_ledger_column column, uint64_t n);
/* A kernel was submitted; when it has ended there will be a record, or a count of its loss. */
void cap_writer_submitted(struct cap_writer *writer);

/* ---- lanes ---- */

struct cap_lane {
	char *next, *end;             /* free room of the chunk; both NULL before the first */
	struct cap_chunk_head *chunk; /* mapped */
	uint32_t busy;                /* between reserve and commit */
	uint32_t id;
	uint32_t tid;  /* borrower */
	uint32_t kind; /* enum cap_chunk_kind */
	uint32_t seq;  /* of the next chunk */
	uint32_t next_free, is_above;
	struct cap_lane *above; /* for handlers that run on top of an append */
	struct cap_writer *writer;
	uint64_t retry_ns; /* after a failed turn: not before this */
} __attribute__((aligned(64)));

/* A lane for thread @tid, with a chunk ready; NULL if there is no memory or disk space. */
struct cap_lane *cap_lane_get(struct cap_writer *writer, uint32_t tid);
/* The thread ends: another may go on where it stopped. NULL is fine. */
void cap_lane_put(struct cap_lane *lane);

/* Slow halves of reserve: a new chunk; the lane above. */
bool cap_lane_turn_(struct cap_lane *lane, uint32_t n_bytes);
void *cap_lane_reserve_above_(struct cap_lane **lane, uint32_t n_bytes);

/*
 * Space for a record of @n_bytes (a multiple of 8, at most CAP_REC_BYTES_MAX), or
 * NULL. The memory is zero. Each success is followed by one commit or cancel.
 */
static inline void *cap_lane_reserve(struct cap_lane **lane, uint32_t n_bytes)
{
	struct cap_lane *l = *lane;

	if (__builtin_expect(l->busy, 0))
		return cap_lane_reserve_above_(lane, n_bytes);
	l->busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect((uint64_t)(l->end - l->next) < n_bytes, 0) &&
	    !cap_lane_turn_(l, n_bytes)) {
		l->busy = 0;
		return NULL;
	}
	return l->next;
}

/* The same where there is nothing to do for it, else NULL: then ask cap_lane_reserve(). */
static inline void *cap_lane_reserve_here(struct cap_lane *lane, uint32_t n_bytes)
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
static inline void cap_lane_commit(struct cap_lane *lane, struct cap_rec *rec, uint32_t tag)
{
	struct cap_chunk_head *chunk = lane->chunk;

	rec->tag = tag;
	lane->next += (tag >> 8 & 0xffff) * CAP_REC_ALIGN;
	if (__builtin_expect(!(chunk->types >> (tag & 63) & 1), 0))
		chunk->types |= 1ull << (tag & 63);
	__atomic_store_n(&chunk->valid_bytes, (uint64_t)(lane->next - (char *)chunk),
			 __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	lane->busy = 0;
}

/* Release reserved space; the caller clears what it wrote: @n_bytes from the start. */
void cap_lane_cancel(struct cap_lane *lane, uint32_t n_bytes);

/* The same in one call for a record built elsewhere; false when it was lost. */
bool cap_lane_append(struct cap_lane *lane, const struct cap_rec *rec);

#pragma GCC visibility pop

#endif
