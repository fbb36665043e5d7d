/*
 * vmem: vector memory instructions on their way through a CU: the address unit, look-ups in L1, and the return of data (tcp.c, l1.c),
 * and what engines in step do together there (joint.c).
 */
#ifndef WS_SOFTGPU_TIMING_VMEM_H
#define WS_SOFTGPU_TIMING_VMEM_H

#include <stddef.h>

#include "softgpu/mem/cache.h"
#include "softgpu/mem/coalesce.h"
#include "softgpu/mem/request.h"
#include "softgpu/mem/tcc.h"
#include "softgpu/trace/timing_insn.h"

#define SG_MAX_SLOTS 256 /* 64-byte reads in flight of one L1 */

struct sg_burst;
struct sg_model;
struct sg_model_wave;

/* Memory of one kind, in the model's addresses. */
struct sg_model_range {
	uint64_t from, size;
	struct sg_memory_kind kind;
};

/*
 * A vector memory instruction in flight. Thousands of them share the host's caches: what its answers need is one line of
 * those, and what its look-ups need another one.
 */
struct sg_vmem_op {
	struct sg_model_wave *wave; /* or the leader of the one whose it is; NULL: that has ended */
	struct sg_vmem_op *next;
	uint64_t issued, looked_up, done;
	uint32_t n_pending, bytes;
	uint32_t vm_slot; /* in the wave's ring */
	uint32_t n_lines;
	uint8_t kind; /* enum sg_mem_kind */
	bool slc, glc;
	bool follows;     /* no wave waits for it */
	uint8_t per_line; /* lanes in order, see sg_accesses; lines[] is not filled then */
	uint8_t last_lines;
	uint16_t span; /* of a joint one: from its lowest line, `first`, to its highest */

	uint32_t at; /* next line */
	uint32_t room;
	uint64_t first;
	uint64_t last_line;            /* that was sent for, and last_lines: how many */
	uint64_t written;              /* bytes of the next line that go along with it */
	struct sg_model_range memory;  /* around the line that was looked up last */
	struct sg_joint_op *joint;     /* of all engines in step; NULL: of one CU */
	struct sg_line_access lines[]; /* `room` of them */
} __attribute__((aligned(64)));
_Static_assert(offsetof(struct sg_vmem_op, last_lines) < 64 && sizeof(struct sg_vmem_op) == 128,
	       "two lines");

/* Who takes part in an instruction of all engines in step, see joint.c. */
struct sg_joint_op {
	struct sg_tcp *home;           /* whose lines are those of the instruction */
	struct sg_vmem_counts *counts; /* of all that take part */
	uint32_t n;
	uint8_t engine;          /* the home's */
	int32_t lowest, highest; /* of `by`; 0 is between them */
	bool is_alike; /* requests of members differ from the home's in address, owner and die only */
	bool shares_l1; /* a load: the joint pipeline's L1 is looked up, see joint_l1.c */
	int32_t l1_at;  /* ...: chunks from that one's lines to the home's */
	struct sg_spread_to members[];
};

#define SG_TA_CYCLES 20 /* address unit: 64 lanes by 16, and the way to it */

/* When it can be looked up. */
static inline uint64_t sg_op_arrived(const struct sg_vmem_op *op)
{
	return op->issued + SG_TA_CYCLES;
}

struct sg_op_queue {
	struct sg_vmem_op *head, **tail;
	uint32_t n;
};

#define SG_MAX_LOOKUPS 64    /* a power of two */
#define SG_LOOKUPS_BEHIND 16 /* more than hw->ta_queue, of a CU that follows another one */

/* Instructions that wait for look-ups, in order. */
struct sg_lookup_queue {
	uint32_t first, n;
	struct sg_vmem_op *at[SG_MAX_LOOKUPS]; /* from first on, modulo the size */
};

/* Instructions of one kind, from which sg_tcp_finish() derives counters. */
struct sg_vmem_tally {
	uint64_t n, n_requests, n_lines;
	uint64_t n_shared; /* instructions whose lanes shared requests */
};

/* Of the memory instructions of a CU, or of those that CUs in step have in common (joint.c). */
struct sg_vmem_counts {
	uint64_t *tcp, *ta, *td;
	struct sg_vmem_tally tally[2][SG_N_MEM_KINDS]; /* of buffer instructions; of flat ones */
	uint64_t n_returned;                           /* bytes to the registers */
	uint64_t n_sent, n_written;                    /* reads and writes, to L2 */
	uint64_t in_flight;                            /* cycles, of all instructions */
	struct sg_busy ta_busy, td_busy;
};

struct sg_tcp {
	struct sg_model *model;
	uint16_t source; /* of its requests */
	uint8_t xcc;
	bool follows; /* another engine's CU issues for it, see lockstep.c */
	struct sg_lookup_queue queue;
	struct sg_op_queue loads, stores; /* in order, until answered */
	struct sg_cache tags, pages;
	uint64_t now; /* 1/16 cycles: next look-up */
	uint32_t n_reads;
	uint64_t last_sent, data_free;  /* data_free: 1/16 cycles */
	uint64_t last_page, page_ready; /* when the translation of the last miss is there */
	uint32_t under_miss;
	bool translated;                    /* the line to look up next has its page */
	bool blocked;                       /* waits for an answer */
	struct sg_busy ta_busy, td_busy;    /* of a joint one, by whatever engines */
	struct sg_vmem_counts own, *counts; /* counts: of the instruction that is looked up */
	bool touched;                       /* what follows, and the caches, have been used */
	uint64_t slot_free[SG_MAX_SLOTS];   /* when read n - l1_misses is answered */
};

/* Where a member of a joint instruction has the line. */
static inline uint64_t sg_joint_line(uint64_t line, int32_t by)
{
	return line + (uint64_t)((int64_t)by * (SG_CHUNK / 64));
}

/* Where the instruction counts. */
static inline struct sg_vmem_counts *sg_counts_of(struct sg_tcp *tcp, const struct sg_vmem_op *op)
{
	return op->joint ? op->joint->counts : &tcp->own;
}

/* joint.c */
bool sg_joint_create(struct sg_model *m); /* false: no memory */
void sg_joint_destroy(struct sg_model *m);
void sg_joint_begin(struct sg_model *m);
/* The access of the wave that is in m->accesses, and those of its followers, as one: they are taken from the traces. home: where the
 * wave's record was. NULL: they are different, or no memory (m->failed). */
struct sg_joint_op *sg_joint_gather(struct sg_model *m, struct sg_model_wave *w,
				    const struct sg_trace_records *home);
/* joint_distance.c: how far the next accesses of all followers are from that of the wave's home, in chunks; its lines are in
 * m->accesses. ends: of their records. False: they are not all like it. */
bool sg_joint_distances(const struct sg_model *m, const struct sg_model_wave *w,
			const struct sg_trace_records *home, int32_t *by, size_t *ends);
/* From now on each CU has its own instructions, and those of the joint pipelines that have not been looked up. */
void sg_joint_end(struct sg_model *m);
/* The home is about to look up the first line: the pages of the others, at the same time, and whether all share L1. */
void sg_joint_begin_look_ups(struct sg_tcp *tcp, struct sg_vmem_op *op);
/* The home has looked up these requests, and sends them or not: sends its own, and those of the others. */
void sg_joint_look_up(struct sg_tcp *tcp, struct sg_vmem_op *op, enum sg_req_kind kind,
		      const struct sg_burst *b, uint64_t bytes, bool sends);
/* At the end of a dispatch: what was counted once is added to each CU. After sg_lockstep_finish(). */
void sg_joint_finish(struct sg_model *m);
/* joint_l1.c */
bool sg_joint_l1_create(struct sg_model *m); /* false: no memory */
void sg_joint_l1_destroy(struct sg_model *m);
void sg_joint_l1_begin(struct sg_model *m);
/* Look-ups of a load of the CUs with this number begin: decides whether it shares L1. */
void sg_joint_l1_load(struct sg_model *m, uint32_t number, struct sg_vmem_op *op);
/* From now on each of these CUs has its own lines in L1. */
void sg_joint_l1_part(struct sg_model *m, uint32_t number);
/* tcp.c */
/* Before a dispatch: everything but where its counters are. */
void sg_tcp_begin(struct sg_tcp *tcp, struct sg_model *m, uint32_t source, uint32_t xcc);
bool sg_tcp_room(struct sg_tcp *tcp, uint64_t t);
/* There is no room, nor will there be up to this cycle. */
uint64_t sg_tcp_full_until(const struct sg_tcp *tcp);
/* The lines of an instruction's active lanes. joint: owned by the pipeline from now on; NULL: it is one of the CU alone. */
void sg_tcp_issue(struct sg_tcp *tcp, struct sg_model_wave *w, const struct sg_timing_insn *inst,
		  const struct sg_accesses *lines, struct sg_joint_op *joint, uint32_t n_lanes,
		  bool is_scratch, uint64_t t);
/* An instruction that maintains L1. */
void sg_tcp_control(struct sg_tcp *tcp, struct sg_model_wave *w, const struct sg_timing_insn *inst,
		    uint64_t t);
/* A flat instruction with lanes in LDS only: the address unit counts it and does not forward it. */
void sg_tcp_pass(struct sg_tcp *tcp, const struct sg_timing_insn *inst);
/* All lines have been looked up: it waits for its answers. */
void sg_tcp_sent(struct sg_tcp *tcp, struct sg_vmem_op *op);
/* l1.c */
void sg_tcp_advance(struct sg_tcp *tcp, uint64_t until);
/* When CUs no longer have a joint pipeline: the CU continues in its state, and then its instructions are theirs. */
void sg_tcp_part(struct sg_tcp *joint, struct sg_tcp *tcp);
void sg_tcp_end_joint(struct sg_tcp *joint);
/* At the end of a dispatch: completes its counters. */
void sg_tcp_finish(struct sg_vmem_counts *counts);
void sg_tcp_answer(struct sg_tcp *tcp, const struct sg_request *r, const struct sg_answers *a);
/* The CU's translation of another page than the last one. It has been counted as a hit. False: it is not in UTCL1. */
bool sg_tcp_translate(struct sg_tcp *tcp, uint64_t page, uint64_t now);
/* The n-th instruction that waits for look-ups. */
static inline struct sg_vmem_op *sg_tcp_lookup(const struct sg_tcp *tcp, uint32_t n)
{
	return tcp->queue.at[(tcp->queue.first + n) % SG_MAX_LOOKUPS];
}

/* What a read of so many 64-byte lines counts as: from MI300 on, a line of 128 bytes is one request. */
static inline uint32_t sg_tcp_requests(const struct sg_hw *hw, uint32_t lines)
{
	return hw->l1_line == 128 ? 1 : lines;
}

#endif
