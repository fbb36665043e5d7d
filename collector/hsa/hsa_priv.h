/*
 * hsa_priv: declarations shared by the files of this provider.
 *
 *	load.c             the tools interface: reads the tables, installs wrappers
 *	attach.c           the same tables, found in a running runtime
 *	agents.c           agents as metadata records; names.c: names given by the program
 *	code.c             code objects and kernels as metadata records, kernel ids by address
 *	image.c            the bytes of code objects, for disassembly
 *	queue.c            intercepted queues and their packets
 *	queue_room.c       free slots of such queues
 *	queue_reported.c   queues of the software GPU, which reports when a kernel has ended
 *	queue_attached.c   queues that existed before an attach
 *	pending.c          GPU work in flight
 *	turns.c            kernels one at a time, with packets that count
 *	replay.c           such kernels, once per set of counters
 *	saved.c            the contents of memory, saved and restored for that
 *	copier.c           by copies of ours, in a queue of ours (own_queue.c)
 *	ranges.c           what memory there is, from the calls in reach.c and memory.c
 *	packet_memory.c    memory for such packets
 *	pcs.c              PC samples by the runtime; pcs_dispatches.c: which dispatch they are of
 *	completion.c       completed GPU work: from its signal to its record
 *	memory.c           copies and allocations
 *	scratch.c          scratch memory, by scratch_events.c or scratch_locks.c
 */
#ifndef WS_COLLECTOR_HSA_PRIV_H
#define WS_COLLECTOR_HSA_PRIV_H

#include "col_hsa_api.h" /* generated */
#include "collector/collector_priv.h"
#include "collector/count/count.h"
#include "collector/hsa/tables.h"

/* ---- load.c ---- */

enum col_hsa_hook {
	COL_HSA_HOOK_NONE,
	COL_HSA_HOOK_ALWAYS,
	COL_HSA_HOOK_DISPATCH,
	COL_HSA_HOOK_COPY,
	COL_HSA_HOOK_SIGNAL,
	COL_HSA_HOOK_ALLOC,
	COL_HSA_HOOK_DOORBELL,
	COL_HSA_HOOK_REACH,
	COL_HSA_HOOK_RESERVE,
	COL_HSA_HOOK_LIST,
	COL_HSA_HOOK_LISTED,
};

struct col_hsa_function {
	size_t real; /* offset in struct col_hsa_api */
	void (*wrapper)(void);
	uint8_t table; /* enum col_hsa_table_id */
	int16_t at_52; /* position in ROCr 5.2's table; -1: not there */
	int16_t at;    /* position in later ones */
	uint8_t hook;  /* enum col_hsa_hook */
};

extern const struct col_hsa_function col_hsa_functions[COL_HSA_FUNCTIONS];
extern const struct col_op_def col_hsa_ops[COL_HSA_FUNCTIONS];

bool col_hsa_loaded(void);   /* between OnLoad and OnUnload */
bool col_hsa_attached(void); /* loaded, but late */
uint32_t col_hsa_table_functions(const struct col_hsa_table *table); /* how many it has */
/* The tables that the root names; those that this ROCr does not have keep their value. NULL: none. */
void col_hsa_root_tables(const struct col_hsa_root *root, struct col_hsa_table *tables[]);
/* ROCr starts and offers its tables, possibly twice. */
void col_hsa_take(const struct col_hsa_root *root, uint64_t runtime_version);
void col_hsa_install(struct col_hsa_table *const tables[], uint64_t runtime_version);
void col_hsa_reinstall(struct col_hsa_table *const tables[]);

/* ---- listing.c ---- */

/* The caller is in an enumeration of symbols, and its call is counted instead of recorded. */
bool col_hsa_is_listed(void);

/* ---- attach.c ---- */

void col_hsa_attach(void); /* the runtime is up already, maybe: take its calls from now on */

/* Whether anything hangs on kernel dispatches. */
static inline bool col_dispatches_asked(void)
{
	return col_asked(COL_SERVICE_KERNEL) || col_counting();
}

/* ---- agents.c ---- */

void col_agents_load(void);
void col_agents_state(struct cap_writer *writer);
uint32_t col_agent_of_pool(uint64_t pool); /* a memory pool's or region's agent, 0 unknown */
uint32_t col_agent_by_node(uint32_t node); /* 0: none that HSA shows */
uint64_t col_agent_first_cpu(void);        /* its hsa_agent_t */
bool col_agent_is_gpu(uint32_t id);
const char *col_agent_isa(uint32_t id); /* "gfx90a" */

/* ---- names.c ---- */

void col_agent_names_state(struct cap_writer *writer);
void col_agent_names_forked(void);

/* ---- code.c ---- */

void col_code_load(void);
void col_code_attach(void); /* what was loaded before we were */
void col_code_match(void);  /* all kernels against the patterns of a new request */
void col_code_state(struct cap_writer *writer);
void col_code_forked(void);
uint32_t col_kernel_by_object(uint64_t kernel_object); /* 0: unknown. Any thread, no lock */
/* Its symbol, "" if unknown, for ever; @out_kernarg_bytes: of its arguments. Takes the lock. */
const char *col_kernel_symbol(uint32_t kernel, uint32_t *out_kernarg_bytes);

/* ---- image.c: under code.c's lock ---- */

/* The bytes of a code object into the capture, if requested and if they fit. */
void col_image_keep(struct cap_writer *writer, const struct cap_rec_code_object *rec,
		    const char *uri);
void col_image_fresh(void); /* a new capture: nothing is in it yet */
/* Any thread, without the lock. Copy: false: not all of it is mapped. */
bool col_image_copy(void *to, uint64_t from, uint64_t n_bytes);
void col_image_hash(const void *bytes, uint64_t n_bytes, uint64_t out[2]);
/* The variables of a code object that was loaded: where kernels can write. The rest of it is code. */
void col_image_variables(const struct cap_rec_code_object *rec);

/* ---- queue.c ---- */

void col_queues_state(struct cap_writer *writer);
void col_queues_unload(void);
void col_queues_attach(void); /* there may be queues that were not made through us */
void col_queues_forked(void);

/* ---- queue_reported.c ---- */

void col_reported_load(void); /* on or off, depending on the requested services */
bool col_gpu_reports(void);   /* the GPU reports its kernels: queues are not intercepted */
void col_reported_drain(uint64_t deadline_ns);
void col_reported_forked(void);

/* ---- pending.c ---- */

#define COL_COUNTING_NS 20000000000u /* counted kernels are waited for so long: a model is slow */

/*
 * Work that was submitted and whose times the GPU will write into a signal. Two cache lines
 * are all that a plain dispatch needs; what comes after the record is for the others.
 */
struct col_pending {
	uint16_t state;   /* enum in pending_priv.h */
	uint8_t is_copy;  /* which of the two records it becomes */
	uint8_t own;      /* the signal is ours: it may be used again afterwards */
	uint8_t looked;   /* the signal is not ours even to prepare; see queue.c */
	uint8_t forwards; /* a signal of the program's is to be counted down: `forward` */
	uint8_t noted;    /* dispatches: `ticket` is found by the signal */
	uint8_t timed;    /* dispatches: enum col_timed */
	uint64_t signal;
	int64_t value; /* of the signal before, where it is the value that tells */
	union {
		struct cap_rec_dispatch dispatch;
		struct cap_rec_copy copy;
	};
	uint64_t own_signal; /* of this place; 0: not made yet */
	uint64_t forward;
	struct col_count_ticket ticket; /* where it is noted: whether and what is counted of it */
} __attribute__((aligned(64)));
_Static_assert(offsetof(struct col_pending, own_signal) == 128, "a plain dispatch has two lines");

/* Places for one queue's dispatches; its packets come one thread at a time. */
struct col_pending_ring;
struct col_pending_ring *col_pending_ring_create(void);
void col_pending_ring_retire(struct col_pending_ring *ring); /* the queue is gone */

/* A place to fill, or NULL when all are taken (the loss is counted). */
struct col_pending *col_pending_dispatch(struct col_pending_ring *ring);
struct col_pending *col_pending_copy(void);
/* A signal of ours for it; 0 if none is left. Without interrupts: no thread waits on it. */
uint64_t col_pending_own_signal(struct col_pending_ring *ring, struct col_pending *p);
/* The work may be submitted from now on, or it was not after all. */
void col_pending_publish(struct col_pending_ring *ring, struct col_pending *p);
void col_pending_cancel(struct col_pending *p);

/*
 * The program is about to use @signal for something that writes times: take what is
 * there first. false: earlier work is still running on it.
 */
bool col_pending_before_reuse(uint64_t signal);
void col_pending_give_up(uint64_t signal); /* false above, and the signal goes away */
/* A signal of ours that decrements @theirs when it completes; 0: none available. Then publish. */
uint64_t col_pending_forward(struct col_pending *p, uint64_t theirs);
/* Remember that @signal belongs to @p; false: no place, use a signal of our own. */
bool col_pending_mark(uint64_t signal, struct col_pending *p);

struct softgpu_done;
/* A watcher of the software GPU's (softgpu/cp/watch.h), for kernels that are counted or sampled. */
void col_pending_reported(const struct softgpu_done *done);

void col_pending_look(struct col_pending_ring *ring); /* write what is done; NULL is fine */
void col_pending_start(void);                         /* the thread that collects */
void col_pending_hurry(void);                 /* a moment for what is done and not written */
void col_pending_drain(uint64_t deadline_ns); /* wait for work in flight */
void col_pending_unload(void);                /* signals go away with the runtime */
void col_pending_forked(void);

/* ---- memory.c ---- */

void col_memory_load(void);
/* Around a call that allocates or frees, for generated hooks. NULL: it is not recorded. */
struct col_thread *col_alloc_begin(struct col_call *call);
void col_alloc_end(struct col_thread *t, const struct col_call *call, enum cap_alloc_op op,
		   uint64_t address, uint64_t n_bytes, uint32_t agent);

/* ---- scratch.c ---- */

void col_scratch_install(struct col_hsa_table *tools); /* NULL: this runtime has no such table */
/* A queue of the program's, made just now or met; under the queues' lock or not. */
void col_scratch_queue(const hsa_queue_t *handle, uint32_t queue, uint32_t agent);
void col_scratch_drain(uint64_t deadline_ns); /* wait for what is being handled */
void col_scratch_forked(void);

#endif
