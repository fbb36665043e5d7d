/*
 * hsa_priv: what the files of this provider tell each other.
 *
 *	load.c      the tools interface: tables in, wrappers out
 *	attach.c    the same tables, found in a runtime that is up already
 *	agents.c    the machine's agents as facts; names.c: what the program calls them
 *	code.c      code objects and kernels as facts, kernel ids by address
 *	image.c     the bytes of code objects, for those who print instructions
 *	queue.c     queues, and the packets that go through them; old_queue.c: queues from before
 *	told.c      queues of a GPU that tells when a kernel has ended
 *	pending.c   GPU work in the air; done.c: from its signal to its record
 *	memory.c    copies and allocations
 *	scratch.c   scratch memory; scratch_told.c, scratch_seen.c: the two ways to know of it
 */
#ifndef WS_COLLECTOR_HSA_PRIV_H
#define WS_COLLECTOR_HSA_PRIV_H

#include "collector/collector_priv.h"
#include "collector/count/count.h"
#include "collector/hsa/tables.h"
#include "ws_hsa_api.h" /* generated */

/* ---- load.c ---- */

enum ws_hsa_hook {
	WS_HSA_HOOK_NONE,
	WS_HSA_HOOK_ALWAYS,
	WS_HSA_HOOK_DISPATCH,
	WS_HSA_HOOK_COPY,
	WS_HSA_HOOK_SIGNAL,
	WS_HSA_HOOK_ALLOC,
	WS_HSA_HOOK_DOORBELL,
	WS_HSA_HOOK_RESERVE,
};

struct ws_hsa_function {
	size_t real; /* offset in struct ws_hsa_api */
	void (*wrapper)(void);
	uint8_t table; /* enum ws_hsa_table_id */
	int16_t at_52; /* position in ROCr 5.2's table; -1: not there */
	int16_t at;    /* position in later ones */
	uint8_t hook;  /* enum ws_hsa_hook */
};

extern const struct ws_hsa_function ws_hsa_functions[WS_HSA_FUNCTIONS];
extern const struct ws_op_def ws_hsa_ops[WS_HSA_FUNCTIONS];

bool ws_hsa_loaded(void); /* between OnLoad and OnUnload */
bool ws_hsa_attached(void); /* loaded, but late */
uint32_t ws_hsa_table_functions(const struct ws_hsa_table *table); /* how many it has */
void ws_hsa_take(struct ws_hsa_table *const tables[], uint64_t runtime_version);
void ws_hsa_take_again(struct ws_hsa_table *const tables[]);

/* ---- attach.c ---- */

void ws_hsa_attach(void); /* the runtime is up already, maybe: take its calls from now on */

/* Whether anything hangs on kernel dispatches. */
static inline bool ws_dispatches_asked(void)
{
	return ws_asked(WS_SERVICE_KERNEL) || ws_counting();
}

/* ---- agents.c ---- */

void ws_agents_load(void);
void ws_agents_state(struct ws_writer *writer);
uint32_t ws_agent_of_pool(uint64_t pool);     /* a memory pool's or region's agent, 0 unknown */
uint32_t ws_agent_by_node(uint32_t node);     /* 0: none that HSA shows */
uint64_t ws_agent_first_cpu(void);            /* its hsa_agent_t */
bool ws_agent_is_gpu(uint32_t id);
const char *ws_agent_isa(uint32_t id); /* "gfx90a" */

/* ---- names.c ---- */

void ws_agent_names_state(struct ws_writer *writer);
void ws_agent_names_forked(void);

/* ---- code.c ---- */

void ws_code_load(void);
void ws_code_attach(void); /* what was loaded before we were */
void ws_code_match(void);  /* all kernels against the patterns of a new request */
void ws_code_state(struct ws_writer *writer);
void ws_code_forked(void);
uint32_t ws_kernel_by_object(uint64_t kernel_object); /* 0: unknown. Any thread, no lock */

/* ---- image.c: under code.c's lock ---- */

/* The bytes of a code object into the capture, where that is asked for and they fit. */
void ws_image_keep(struct ws_writer *writer, const struct ws_rec_code_object *rec, const char *uri);
void ws_image_fresh(void); /* a new capture: nothing is in it yet */

/* ---- queue.c ---- */

void ws_queues_state(struct ws_writer *writer);
void ws_queues_unload(void);
void ws_queues_attach(void); /* there may be queues that were not made through us */
void ws_queues_forked(void);

/* ---- told.c ---- */

void ws_told_load(void); /* on or off, by what is asked for */
bool ws_told(void);      /* the GPU tells of its kernels: queues are left as they are */
void ws_told_drain(uint64_t deadline_ns);
void ws_told_forked(void);

/* ---- pending.c ---- */

/*
 * Work that was submitted and whose times the GPU will write into a signal. Two cache lines
 * are all that a plain dispatch needs; what comes after the record is for the others.
 */
struct ws_pending {
	uint16_t state;    /* enum in pending_priv.h */
	uint8_t is_copy;   /* which of the two records it becomes */
	uint8_t own;       /* the signal is ours: it may be used again afterwards */
	uint8_t looked;    /* the signal is not ours even to prepare; see queue.c */
	uint8_t forwards;  /* a signal of the program's is to be counted down: `forward` */
	uint8_t noted;     /* dispatches: `ticket` is found by the signal */
	uint8_t timed;     /* dispatches: enum ws_timed */
	uint64_t signal;
	int64_t value; /* of the signal before, where it is the value that tells */
	union {
		struct ws_rec_dispatch dispatch;
		struct ws_rec_copy copy;
	};
	uint64_t own_signal; /* of this place; 0: not made yet */
	uint64_t forward;
	struct ws_count_ticket ticket; /* where it is noted: whether and what is counted of it */
} __attribute__((aligned(64)));
_Static_assert(offsetof(struct ws_pending, own_signal) == 128, "a plain dispatch has two lines");

/* Places for one queue's dispatches; its packets come one thread at a time. */
struct ws_pending_ring;
struct ws_pending_ring *ws_pending_ring_create(void);
void ws_pending_ring_retire(struct ws_pending_ring *ring); /* the queue is gone */

/* A place to fill, or NULL when all are taken (the loss is counted). */
struct ws_pending *ws_pending_dispatch(struct ws_pending_ring *ring);
struct ws_pending *ws_pending_copy(void);
/* A signal of ours for it; 0 when there is none. Without interrupts: nobody waits on it. */
uint64_t ws_pending_own_signal(struct ws_pending_ring *ring, struct ws_pending *p);
/* The work may be submitted from now on, or it was not after all. */
void ws_pending_publish(struct ws_pending_ring *ring, struct ws_pending *p);
void ws_pending_cancel(struct ws_pending *p);

/*
 * The program is about to use @signal for something that writes times: take what is
 * there first. false: earlier work is still running on it.
 */
bool ws_pending_before_reuse(uint64_t signal);
void ws_pending_give_up(uint64_t signal); /* false above, and the signal goes away */
/* A signal of ours that counts down @theirs when it falls; 0: none to be had. Then publish. */
uint64_t ws_pending_forward(struct ws_pending *p, uint64_t theirs);
/* Remember that @signal belongs to @p; false: no place, use a signal of our own. */
bool ws_pending_mark(uint64_t signal, struct ws_pending *p);

struct ws_softgpu_done;
/* A watcher of the software GPU's (softgpu/cp/watch.h), for kernels that are counted or sampled. */
void ws_pending_told(const struct ws_softgpu_done *done);

void ws_pending_look(struct ws_pending_ring *ring); /* write what is done; NULL is fine */
void ws_pending_start(void);                 /* the thread that collects */
void ws_pending_hurry(void);                 /* a moment for what is done and not written */
void ws_pending_drain(uint64_t deadline_ns); /* wait for what is in the air */
void ws_pending_unload(void);                /* signals go away with the runtime */
void ws_pending_forked(void);

/* ---- memory.c ---- */

void ws_memory_load(void);
/* Around a call that allocates or frees, for generated hooks. NULL: it is not recorded. */
struct ws_thread *ws_alloc_begin(struct ws_call *call);
void ws_alloc_end(struct ws_thread *t, const struct ws_call *call, enum ws_alloc_op op,
		  uint64_t address, uint64_t n_bytes, uint32_t agent);

/* ---- scratch.c ---- */

void ws_scratch_take(struct ws_hsa_table *tools); /* NULL: this runtime has no such table */
/* A queue of the program's, made just now or met; under the queues' lock or not. */
void ws_scratch_queue(const hsa_queue_t *handle, uint32_t queue, uint32_t agent);
void ws_scratch_drain(uint64_t deadline_ns); /* wait for what is being handled */
void ws_scratch_forked(void);

#endif
