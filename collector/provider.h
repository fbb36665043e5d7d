/*
 * provider: the interface for the parts of the collector that record one library each.
 *
 * A provider (hsa/, hip/, roctx/, rccl/) intercepts the calls into a library.
 * For each call it checks whether the service is being recorded, and if so it
 * brackets the call:
 *
 *	if (!col_on(COL_SERVICE_HIP_RUNTIME) || col_op_off(OP))
 *		return real(...);
 *	struct col_call call;
 *	struct col_thread *t = col_call_begin(&call);
 *	ret = real(...);
 *	col_call_end(t, &call, OP, CAP_DOMAIN_HIP_API);
 *
 * Calls nest by themselves: a call made inside another one, by the same thread, in
 * any provider, gets it as its ancestor, and GPU work submitted inside gets the
 * innermost one's id.
 *
 * Threads  everything may be called from any thread at any time after the library's
 *          constructor, also while the program exits. A struct col_thread is its thread's.
 * Signals  begin, end, marks and col_cause() may run in signal handlers.
 * errno    kept.
 * Memory   hot paths allocate nothing. What providers keep comes from col_pages().
 * Failure  there is none to see: what cannot be recorded is counted in the ledger and
 *          the program goes on. t may be NULL between begin and end; both accept it.
 */
#ifndef WS_COLLECTOR_PROVIDER_H
#define WS_COLLECTOR_PROVIDER_H

#include "capture/record.h"
#include "capture/writer.h"
#include "collector/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The collector exports all of it, because wrapper libraries are separate and preloaded on request. */
#pragma GCC visibility push(default)

/* ---- is it recorded? ---- */

/* Bit per enum col_service. All 0 until something was asked, and while recording is off. */
extern uint32_t col_switches;

static inline uint32_t col_switches_now(void)
{
	return __atomic_load_n(&col_switches, __ATOMIC_RELAXED);
}

static inline bool col_on(enum col_service service)
{
	return __builtin_expect(col_switches_now() >> service & 1, 0);
}

/* What the user requested, even if paused. Constant: use it to decide what to set up. */
bool col_asked(enum col_service service);
bool col_asked_any(uint32_t services); /* COL_SERVICE_BIT()s */
const struct col_collect_config *col_config(void);

/* ---- the thread ---- */

struct col_marker_stack;

struct col_thread {
	struct cap_lane *lane;    /* NULL: not met yet, or it cannot be recorded */
	uint64_t corr_id;         /* of the innermost open call; 0: none */
	uint64_t next_id, end_id; /* correlation ids set aside for this thread */
	uint64_t external_id;     /* what GPU work is renamed to; 0: nothing */
	uint32_t stream;          /* of the innermost call that has one; 0: none */
	uint32_t tid;
	struct col_marker_stack *markers; /* open push ranges */
	uint64_t retry_ticks;             /* no lane was available: do not retry before this */
	uint32_t name_str;                /* given by the program, see col_thread_name() */
	uint32_t meeting;   /* inside col_thread_meet_(): a handler on top gets NULL */
	uint64_t met_ticks; /* first seen */
	uint32_t roll;      /* place on the roll of living threads, from 1 */
	uint32_t n_exits;   /* number of exit notifications */
};

/* Initial-exec: reading it calls nothing and allocates nothing. */
extern __thread struct col_thread col_thread_self_ __attribute__((tls_model("initial-exec")));
struct col_thread *col_thread_meet_(struct col_thread *t);

/* Its lane. A detach may remove it at any moment, so call this once per append. */
static inline struct cap_lane *col_thread_lane(const struct col_thread *t)
{
	return __atomic_load_n(&t->lane, __ATOMIC_ACQUIRE);
}

/* The calling thread, ready to record; NULL when it cannot be. Opens the capture if need be. */
static inline struct col_thread *col_thread(void)
{
	struct col_thread *t = &col_thread_self_;

	return __builtin_expect(col_thread_lane(t) != NULL, 1) ? t : col_thread_meet_(t);
}

/* The program gave the calling thread a name (roctxNameOsThread). */
void col_thread_name(const char *name);

/* ---- correlation ---- */

uint64_t col_corr_refill_(struct col_thread *t);

/*
 * A fresh correlation id. Threads take blocks of ids, so that they do not meet on one
 * cache line; in a program with one thread they count 1, 2, 3.
 */
static inline uint64_t col_corr_new(struct col_thread *t)
{
	uint64_t id = t->next_id;

	if (__builtin_expect(id == t->end_id, 0))
		return col_corr_refill_(t);
	t->next_id = id + 1;
	return id;
}

/* Why GPU work was submitted: fields that its record will carry. */
struct col_cause {
	uint64_t corr_id, external_id;
	uint32_t stream, tid;
};

/* For work submitted by the calling thread right now. Outside of any call it gets an id of its own. */
static inline struct col_cause col_cause(struct col_thread *t)
{
	return (struct col_cause){ t->corr_id ? t->corr_id : col_corr_new(t), t->external_id,
				   t->stream, t->tid };
}

/* ---- operations that are left out ---- */

/* Where each provider's operation indices begin, so that they are constants in its code. */
enum col_op_base {
	COL_OP_HSA = 1,
	COL_OP_HIP = 1024,
	COL_OP_ROCTX = 4096,
	COL_OP_RCCL = 4352,
	COL_OP_ROCDECODE = 4608,
	COL_OP_ROCJPEG = 4864,
	/* not in captures: what has an enumeration of its own in record.h */
	COL_OP_COPY = 5120,
	COL_OP_ALLOC = 5136,
	COL_OP_MARKER = 5152,
	COL_OP_END = 5168,
};

/* Bit per operation that the user does not want recorded. Constant after the configuration is read. */
extern uint8_t col_ops_off[COL_OP_END / 8];

static inline bool col_op_off(uint32_t op)
{
	return __builtin_expect(col_ops_off[op / 8] >> op % 8 & 1, 0);
}

/* ---- API calls ---- */

struct col_call {
	uint64_t start_ticks;
	uint64_t corr_id, ancestor_id;
};

static inline struct col_thread *col_call_begin(struct col_call *call)
{
	struct col_thread *t = col_thread();

	if (!t) {
		*call = (struct col_call){ 0 };
		return NULL;
	}
	call->ancestor_id = t->corr_id;
	call->corr_id = t->corr_id = col_corr_new(t);
	call->start_ticks = cap_ticks();
	return t;
}

void col_call_lost_(struct col_thread *t, enum cap_domain domain);
#define COL_LANE_AHEAD 1024

/* What compilers make of a prefetch for writing is one for reading, on any x86-64 but their newest. */
static inline void col_fetch_to_write(const void *at)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)at));
#else
	__builtin_prefetch(at, 1);
#endif
}

/* @op: the operation's index, base of its table included. */
static inline void col_call_end(struct col_thread *t, const struct col_call *call, uint32_t op,
				enum cap_domain domain)
{
	uint64_t end_ticks = cap_ticks();
	struct cap_rec_call *rec = NULL;
	struct cap_lane *lane;

	if (__builtin_expect(!t, 0)) {
		col_call_lost_(NULL, domain);
		return;
	}
	t->corr_id = call->ancestor_id;
	lane = col_thread_lane(t); /* NULL in the child of a fork inside the call */
	if (__builtin_expect(lane != NULL, 1))
		rec = cap_lane_reserve(&lane, sizeof(*rec));
	if (__builtin_expect(!rec, 0)) {
		col_call_lost_(t, domain);
		return;
	}
	/* Fresh pages are in another core's cache, or in none: fetch the line well ahead. */
	col_fetch_to_write((const char *)rec + COL_LANE_AHEAD);
	rec->h.what = op;
	rec->h.time = call->start_ticks;
	rec->end_ticks = end_ticks;
	rec->corr_id = call->corr_id;
	rec->ancestor_id = call->ancestor_id;
	cap_lane_commit(lane, &rec->h, CAP_REC_FIXED_TAG(CALL, struct cap_rec_call));
}

/* What a call with arguments has besides. */
struct col_call_facts {
	uint64_t end_ticks, retval;
	const uint64_t *slots; /* the argument blob, encoded as the operation's col_arg_kinds say */
	uint32_t n_slots, op;
};

/* The rare ways: a full chunk, a handler on top of an append, no lane at all. */
void col_call_end_slowly_(struct col_thread *t, const struct col_call *call,
			  struct col_call_facts facts, enum cap_domain domain);

static inline __attribute__((always_inline)) void col_call_fill_(struct cap_rec_call_args *rec,
								 const struct col_thread *t,
								 const struct col_call *call,
								 struct col_call_facts facts)
{
	rec->call.h.what = facts.op;
	rec->call.h.time = call->start_ticks;
	rec->call.end_ticks = facts.end_ticks;
	rec->call.corr_id = call->corr_id;
	rec->call.ancestor_id = call->ancestor_id;
	rec->external_id = t->external_id;
	rec->retval = facts.retval;
	rec->stream = t->stream;
	rec->n_arg_bytes = facts.n_slots * 8;
	if (facts.n_slots) /* a call without arguments has no slots to point at */
		__builtin_memcpy(rec + 1, facts.slots, facts.n_slots * 8);
}

/*
 * The same for calls that carry arguments and a return value. Inlined into every wrapper,
 * where the number of slots is a constant, mostly, and what is rare is elsewhere: one function
 * for all has half as many instructions again, and six registers to save.
 */
static inline __attribute__((always_inline)) void col_call_end_args(
	struct col_thread *t, const struct col_call *call, uint32_t op, enum cap_domain domain,
	uint64_t retval, const uint64_t *slots, uint32_t n_slots)
{
	const struct col_call_facts facts = { cap_ticks(), retval, slots, n_slots, op };
	uint32_t n_bytes = (uint32_t)sizeof(struct cap_rec_call_args) + n_slots * 8;
	struct cap_lane *lane = __builtin_expect(t != NULL, 1) ? col_thread_lane(t) : NULL;
	struct cap_rec_call_args *rec = NULL;

	if (__builtin_expect(lane != NULL && n_bytes <= CAP_REC_BYTES_MAX, 1))
		rec = cap_lane_reserve_here(lane, n_bytes);
	if (__builtin_expect(!rec, 0)) {
		col_call_end_slowly_(t, call, facts, domain);
		return;
	}
	/* Fresh pages are in another core's cache, or in none: fetch the line well ahead. */
	col_fetch_to_write((const char *)rec + COL_LANE_AHEAD);
	t->corr_id = call->ancestor_id;
	col_call_fill_(rec, t, call, facts);
	cap_lane_commit(lane, &rec->call.h, CAP_REC_TAG(CAP_REC_CALL_ARGS, n_bytes));
}

/*
 * Streams: a call that names one sets it for itself and for what happens inside.
 *
 *	uint32_t before = col_stream_enter(t, id);    after begin
 *	col_call_end_args(...);
 *	col_stream_leave(t, before);
 */
static inline uint32_t col_stream_enter(struct col_thread *t, uint32_t stream)
{
	uint32_t before;

	if (!t)
		return 0;
	before = t->stream;
	t->stream = stream;
	return before;
}

static inline void col_stream_leave(struct col_thread *t, uint32_t before)
{
	if (t)
		t->stream = before;
}

/* ---- markers ---- */

/*
 * roctx in terms of records; the service switch, kernel renaming and pause/resume are
 * seen to inside, so call these always. Push and pop return the depth as roctx does
 * (-1: cannot); ranges that were opened while recording was off are not recorded.
 */
void col_marker_mark(const char *text);
int col_marker_push(const char *text);
int col_marker_pop(void);
uint64_t col_marker_start(const char *text); /* an id, never 0 */
void col_marker_stop(uint64_t id);           /* from any thread; unknown ids are ignored */
int32_t col_marker_thread_id(void);          /* of the caller, as the kernel counts */
void col_marker_pause(void);
void col_marker_resume(void);

/* ---- operations ---- */

struct col_arg_def {
	const char *name, *type; /* type as C spells it */
	enum cap_arg_kind kind;
};

struct col_op_def {
	const char *name; /* NULL: a gap, nothing is written */
	const struct col_arg_def *args;
	uint16_t kind;    /* enum cap_kind */
	uint16_t id;      /* position in AMD's enumeration of that kind */
	uint8_t domain;   /* enum cap_domain */
	uint8_t ret_kind; /* enum cap_arg_kind */
	uint16_t n_args;
};

/* Write CAP_REC_OPERATION for each row; row i is operation base + i. From state() below. */
void col_ops_state(struct cap_writer *writer, uint32_t base, const struct col_op_def *ops,
		   size_t n_ops);
/* Decide which of these rows are left out, by their names. From choose() below. */
void col_ops_choose(uint32_t base, const struct col_op_def *ops, size_t n_ops);

/* ---- the capture ---- */

/*
 * This process's capture, opened by the first caller; NULL when nothing is to be
 * collected or it could not be opened. For facts: cap_writer_meta() and friends.
 */
struct cap_writer *col_capture(void);

/* RUNTIME record, once per runtime and capture: "this program used HIP". */
void col_runtime_used(enum cap_runtime runtime, uint32_t version);

/* Something the user should read in the report; on stderr only when log >= info. */
void col_note(const char *text);

/* ---- what other providers know ---- */

/* Agent ids, known from HSA's initialisation on; 0 before and for what there is not. */
#define COL_AGENT_IDS 65u /* they are from 1 to 64 */
uint32_t col_agent_by_handle(uint64_t hsa_agent);
uint32_t col_agent_by_gpu(uint32_t gpu_index); /* 0, 1, ... in the order HSA lists them */
uint32_t col_agent_node(uint32_t id);          /* its node in the driver's topology */
const struct cap_rec_agent *col_agent_facts(uint32_t id); /* of an id that one of these gave */

/* The program gave an agent a name. A device is HIP's number, which HIP may have been told to shift. */
void col_agent_name_hsa(uint64_t hsa_agent, const char *name);
void col_agent_name_hip(int device, const char *name);

/* The code object that a kernel is in; false: no such kernel. Takes a lock. */
bool col_code_of_kernel(uint32_t kernel, struct cap_rec_code_object *out_code);

/* ---- being a provider ---- */

/*
 * A row of the table in providers.c. Each function may be NULL.
 *
 * choose   operations are selected by name, and nothing is recorded yet: col_ops_choose() for each
 *          table of operations.
 * state    a capture was opened (in a forked child: its own): write every fact that
 *          is known so far, operations first. Other threads may be in calls already, but
 *          have no capture yet: never call col_capture() from here, nor under a lock that
 *          this function takes.
 * forked   in the child, before anything else runs: its other threads do not exist.
 * finish   the program is ending: write work in flight, waiting until @deadline_ns
 *          (CLOCK_BOOTTIME) at most. Calls may still come afterwards.
 * attach   attached to a running process: intercept the library's calls, if it is loaded and
 *          they are not intercepted yet. Called repeatedly while attached.
 * detach   that is over: undo what costs the program something.
 * sandboxed  the program is about to restrict its system calls: make no more than are needed
 *          to append records, on any thread, when this returns.
 * no_clock   the calling thread is about to lose its clock: reading it would end the program.
 * dying    the program aborts. Give those who write records a moment, take no lock, call
 *          nobody: the thread may hold anything.
 */
struct col_provider {
	const char *name;
	void (*choose)(void);
	void (*state)(struct cap_writer *writer);
	void (*forked)(void);
	void (*finish)(uint64_t deadline_ns);
	void (*attach)(void);
	void (*detach)(void);
	void (*dying)(void);
	void (*sandboxed)(void);
	void (*no_clock)(void);
};

/*
 * Call every provider's finish() now, because a library is about to go away. The
 * collector itself does it when the program ends by exit(), quick_exit() or _exit().
 */
void col_settle(void);
void col_leaving(void);                 /* the same in exit(), before libraries are taken down */
void col_end(enum cap_end_cause cause); /* the same, and the last record */

/* ---- small things ---- */

/* Zeroed pages, never given back by name; NULL when there are none. errno kept. */
void *col_pages(size_t n_bytes);
void col_pages_free(void *pages, size_t n_bytes);

uint64_t col_now_ns(void); /* CLOCK_BOOTTIME */

#pragma GCC visibility pop

#endif
