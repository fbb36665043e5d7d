/*
 * model_priv: the parts of the model, shared by the files of this folder.
 */
#ifndef WS_SOFTGPU_TIMING_MODEL_PRIV_H
#define WS_SOFTGPU_TIMING_MODEL_PRIV_H

#include <string.h>

#include "softgpu/mem/cache.h"
#include "softgpu/mem/coalesce.h"
#include "softgpu/mem/lds.h"
#include "softgpu/mem/request.h"
#include "softgpu/mem/tcc.h"
#include "softgpu/timing/code_map.h"
#include "softgpu/timing/due.h"
#include "softgpu/timing/model.h"
#include "softgpu/timing/reuse.h"
#include "softgpu/timing/scoreboard.h"
#include "softgpu/timing/vmem.h"

#define SG_QUAD 4    /* cycles from one issue to the next */
#define SG_MAX_VM 64 /* vmcnt counts to 63 */
#define SG_MAX_LGKM 16
#define SG_MAX_GROUP_CUS 3
#define SG_MAX_OUTSIDE 16 /* kinds of host memory in one dispatch */
#define SG_MAX_WG_WAVES 16
#define SG_UNIT_ENDING SG_N_UNITS

struct sg_cu;
struct sg_issue_counts;
struct sg_scalar_group;
struct sg_steady;

/* A memory counter of a wave: instructions, in order of issue. */
struct sg_done_ring {
	uint32_t n_issued, n_retired; /* retired: everything before is known and in the past */
};

/*
 * Counters of issue and of instruction fetches. A wave counts here for each of `engines`: for its own, or, where engines
 * are in step, for all that have such a wave (lockstep.c).
 */
struct sg_count_set {
	uint64_t *sq, *level; /* SQ's, and their accumulations */
	uint32_t count_at;    /* place in sg_map_page.count */
	uint32_t engines;     /* from the leader on, a bit for each; 0: its own */
};

struct sg_model_wg {
	uint64_t id;
	struct sg_wg_traces *traces;
	uint32_t n_waves, n_alive, n_at_barrier;
	/* while it is held (bundle.c): equal for those that take the same path; bundles launched before */
	uint32_t path, held_at;
	/* where engines are in step: a list of those of other engines, which end with it */
	struct sg_model_wg *followers, *next;
	uint32_t parted; /* how often engines had parted when it was counted then */
};

/* A wave's trace, as far as it has been read. */
struct sg_wave_reader {
	struct sg_trace_reader reader;
	struct sg_list_digests lists;
};

/* The part of it that memory instructions read. */
struct sg_memory_trace {
	struct sg_trace_records *records;
	struct sg_list_digests *lists;
};

/*
 * A wave of another engine that does the same as its leader (lockstep.c): it has its own memory, and no time. There are up to
 * 31 for each leader, which every memory instruction reads, so that this is half a line of the host's cache.
 */
struct sg_follower {
	struct sg_trace_records records;
	uint16_t cu;
	uint8_t engine, xcc;
};
_Static_assert(sizeof(struct sg_follower) == 32, "half a line");

/* What few followers need, or all of them when engines part. */
struct sg_follower_rest {
	struct sg_model_wg *wg;     /* while engines part, as the next one */
	struct sg_model_wave *wave; /* that it is, or follows, when they have */
	struct sg_list_digests lists;
};

/*
 * A GPU has thousands of waves, which do not fit the host's L1 cache. Members are in the order of how often they
 * are used, by lines of 64 bytes: what every issue needs, what memory instructions need, the rest.
 */
struct sg_model_wave {
	/* what runs next */
	struct sg_map_page *page;
	uint32_t slot, lanes;
	uint64_t ready_at;  /* cycle at which it may issue; SG_NEVER: depends on an answer */
	uint64_t issued_at; /* cycle after the last instruction */
	uint64_t fetch_block;
	uint8_t simd, wave_slot, age; /* age: place among the waves of the SIMD, the oldest is 0 */
	uint8_t stall;        /* enum sg_stall, the reason for ready_at; NONE: it executes */
	bool ending, waiting; /* waiting: at an s_waitcnt whose end is not known */
	bool waits;           /* for a counter, a barrier, a time or code, not for its turn */
	uint8_t wait_vm, wait_lgkm;
	uint8_t n_followers;
	uint64_t last_pc; /* of the last instruction */
	/* 64 */
	uint64_t exec;
	struct sg_done_ring vm, lgkm;
	struct sg_wave_reader trace;
	const struct sg_count_set *set;
	uint64_t not_before; /* during a fetch: the time that other waits end */
	uint64_t started;
	/* cu issues it; home executes its memory instructions: the same, or one in step with it */
	struct sg_cu *cu, *home;
	struct sg_model_wg *wg;
	uint32_t index; /* in the workgroup */
	struct sg_scoreboard late;
	/* of the rings: when each instruction is done; SG_NEVER: not known yet */
	uint64_t lgkm_done[SG_MAX_LGKM], vm_done[SG_MAX_VM];
	bool followers_have_lists;
	struct sg_follower *followers; /* one allocation with `rest`; NULL: never had any */
	struct sg_follower_rest *rest;
} __attribute__((aligned(64)));

struct sg_simd {
	/* by age, the oldest wave first */
	uint8_t due[SG_DUE_ROOM] __attribute__((aligned(SG_DUE_ROOM))); /* ready[], in the window */
	uint8_t unit[SG_DUE_ROOM]; /* of the next instruction; SG_UNIT_ENDING: none is left */
	uint64_t ready[SG_MAX_SIMD_WAVES]; /* when to look at it */
	struct sg_model_wave *waves[SG_MAX_SIMD_WAVES];
	uint32_t n_waves, slots_used;
	uint32_t in_group; /* its place in the group's next[] and due[] */
	uint64_t valu_free, matrix_free;
	uint64_t fetch_free;  /* 1/16 cycles */
	uint8_t steady_pause; /* windows in which it is not compared with earlier ones */
	bool is_new;          /* the window began in a state that none did before */
};

struct sg_cu {
	struct sg_model *model;
	struct sg_scalar_group *group;
	uint32_t index, se, xcc, in_group;
	bool missing;
	struct sg_simd simd[4];
	struct sg_tcp tcp;
	uint32_t n_waves, n_wgs, lds_used, barriers_used;
	uint32_t next_simd;
	uint64_t lds_free;       /* 1/16 cycles */
	struct sg_busy lds_full; /* instructions wait for its queue */
	uint64_t busy_from;      /* first wave of the current busy period */
	struct sg_busy busy;
	uint64_t common_end;            /* of the last wave that counts in `set` */
	struct sg_count_set own;        /* of its shader engine */
	const struct sg_count_set *set; /* that most of its waves count in */
	uint64_t next_sample;
	uint32_t sample_rr;
};

#define SG_COMMON_LINES 4
#define SG_MAX_PENDING 16 /* lines in flight to one scalar cache */
struct sg_pending_line {
	uint64_t line, ready; /* SG_NEVER: not answered */
	uint32_t waiting;     /* accesses that found it in flight */
	uint32_t engines;     /* code: that it is on its way to, from this one on; a bit for each */
	bool used;
	/* by CU of the group: loads that could not enter the cache, and the time of the first; 0: none */
	uint32_t n_behind[SG_MAX_GROUP_CUS];
	uint64_t behind_since[SG_MAX_GROUP_CUS];
};

/* a scalar load that waits for a line */
struct sg_scalar_wait {
	struct sg_model_wave *wave;
	uint32_t lgkm_slot;
	uint64_t issued, line;
	bool fetch; /* an instruction fetch */
};

/* instruction or data cache */
struct sg_scalar_side {
	struct sg_cache tags;
	struct sg_pending_line pending[SG_MAX_PENDING];
	uint32_t n_pending; /* used ones */
	struct sg_scalar_wait *waits;
	uint32_t n_waits, waits_room;
};

struct sg_scalar_group {
	struct sg_model *model;
	uint32_t index, se, xcc, n_cus;
	struct sg_cu *cus[SG_MAX_GROUP_CUS];
	/* of each SIMD: there is nothing to do before; due[]: within the window that is being simulated */
	uint64_t next[4 * SG_MAX_GROUP_CUS];
	uint8_t due[SG_DUE_ROOM] __attribute__((aligned(SG_DUE_ROOM)));
	bool has_woken; /* one of them is due earlier than it was */
	struct sg_scalar_side inst, data;
	/* of an engine that leads: lines + 1 that the data caches of all that it leads have, most recent in their sets, while
	 * nothing is on its way to them; 0: none */
	uint64_t common[SG_COMMON_LINES];
};

#define SG_MAX_HELD (4 * SG_MAX_SE)

/* Workgroup i is for die i modulo their number; each die launches its own in order. */
struct sg_spi_die {
	uint64_t next_wg;
	uint32_t se;  /* of the die, whose turn it is */
	bool in_step; /* its engines; the first one leads (lockstep.c) */
	/* from this one on, whose engines are led by the first one's, too; 0: that of a die before it leads */
	uint32_t n_dies;
	uint32_t n_led;  /* engines that its first one leads, with itself */
	uint32_t n_sets; /* of counters, while it leads */
	/* have been read and not launched (bundle.c), of all these dies */
	struct sg_model_wg *held[SG_MAX_HELD];
	uint32_t n_held, n_paths, n_bundles, n_alone;
};

/* Workgroups that are launched together, on CUs in step; the leader waits for answers to the first one. */
struct sg_bundle {
	uint32_t n;
	struct sg_cu *cus[SG_MAX_SE];
	struct sg_model_wg *wgs[SG_MAX_SE];
	const struct sg_count_set *set; /* that their waves count in */
};

struct sg_spi {
	struct sg_spi_die dies[SG_MAX_XCC];
	uint64_t n_left; /* workgroups to launch */
	uint32_t next_cu[SG_MAX_SE];
	uint64_t launch_free[SG_MAX_SE];
	uint32_t simd_cap, vgpr_cap, sgpr_cap;         /* waves of a SIMD */
	uint32_t lds_bytes;                            /* that a workgroup takes */
	uint32_t scratch_cap, scratch_used[SG_MAX_SE]; /* waves of an engine */
	uint64_t first, last;                          /* launches */
	uint32_t n_parted;                             /* times that engines in step have parted */
	uint64_t se_from[SG_MAX_SE];
	uint32_t se_waves[SG_MAX_SE];
	struct sg_busy se_busy[SG_MAX_SE];
	uint64_t *c; /* [se * SG_N_SPI + place] */
};

/* An access of lanes in order: all that is different for the waves that follow is where it begins. */
struct sg_in_order {
	uint64_t base;
	int32_t stride;
	bool is_known;
};
#define SG_MOVES_BY SG_CHUNK /* bytes: elsewhere by a multiple of these, its lines are the same */

struct sg_model {
	const struct sg_hw *hw;
	struct sg_code_map code;
	struct sg_tcc tcc;
	struct sg_cu *cus;
	struct sg_scalar_group *groups;
	uint32_t n_cus, n_groups;
	struct sg_spi spi;
	struct sg_reuse waves, wgs;
	struct sg_reuse followers;   /* arrays of them, one for each engine but one */
	struct sg_reuse ops[3];      /* without room for lines; for few; for all there can be */
	struct sg_accesses accesses; /* of the instruction that is being issued */
	struct sg_lds_seen lds_seen;
	struct sg_in_order in_order; /* the same, if it is one */
	struct sg_steady *steady;
	struct sg_issue_counts *issue_counts; /* of the engines in step */
	/* joint.c: a pipeline for each CU of the engine that leads; what each counts, by sets of engines */
	struct sg_tcp *joint;
	struct sg_joint_l1 *joint_l1;
	struct sg_joint_counts *joint_counts;
	uint32_t n_joint_sets;
	bool joins; /* all loads and stores so far were joint ones */
	uint64_t n_joint;
	uint32_t joint_turn; /* who sends first */
	struct sg_reuse joint_ops;
	uint64_t *saved; /* tags of all instruction caches, see sg_model_save() */
	uint64_t state;  /* sg_model_state() */
	bool state_is_known;

	/* the dispatch that is being run */
	const struct sg_model_dispatch *d;
	struct sg_model_result *r;
	uint32_t mhz, utcl2_cycles, walk_cycles;
	struct sg_cache walked; /* pages that the shared translation cache has */
	struct sg_memory_kind outside[SG_MAX_OUTSIDE]; /* kinds of host memory met so far */
	uint32_t n_outside;
	uint64_t walk_page, walk_ready;
	uint64_t n_alive;    /* waves that are simulated */
	uint64_t n_behind;   /* vector memory instructions, or requests, that no wave waits for */
	uint64_t n_issued;   /* instructions */
	uint64_t n_repeated; /* windows of SIMDs */
	uint64_t last_end;
	uint64_t window_start, window_end;
	bool failed;
};

/* cu.c */
void sg_cu_window(struct sg_scalar_group *group, uint64_t end);
/* Their memory pipelines, up to the end of the window. */
void sg_cu_end_window(struct sg_scalar_group *group, uint64_t end);
/* One quad-cycle of the SIMD, in which some of its waves are due. Returns when it is due again. */
uint32_t sg_simd_quad(struct sg_cu *cu, struct sg_simd *simd, uint64_t t);
/* steady.c */
struct sg_steady *sg_steady_create(void);         /* NULL: no memory */
void sg_steady_destroy(struct sg_steady *steady); /* NULL is fine */
/* Before a dispatch: what is kept depends on its code. */
void sg_steady_clear(struct sg_steady *steady);
/* True: the SIMD's window is done, because an earlier one began in the same state. */
bool sg_steady_repeat(struct sg_cu *cu, struct sg_simd *simd);
/* Simulates the window of simd->is_new, as far as it concerns the SIMD alone, and keeps it for others. */
void sg_steady_keep(struct sg_cu *cu, struct sg_simd *simd);
/* lockstep.c */
struct sg_issue_counts *sg_lockstep_create(const struct sg_hw *hw); /* NULL: no memory */
void sg_lockstep_begin(struct sg_model *m);
/* The CU of another engine, from the leader's on, that does what this one does; NULL: the engine has none. */
struct sg_cu *sg_lockstep_cu(const struct sg_cu *leader, uint32_t engine);
/* Which one of the first die's sets it is: less than the number of engines. */
uint32_t sg_lockstep_number(const struct sg_count_set *set);
/* The counters of waves that the CUs of these engines have, which are in step with it. NULL: there are too many such sets. */
const struct sg_count_set *sg_lockstep_set(struct sg_model *m, const struct sg_cu *cu,
					   uint32_t engines);
/* A workgroup of the CU follows the one of these waves, which have just been launched, with room for followers. */
void sg_lockstep_join(struct sg_model_wave *const *leaders, struct sg_cu *cu,
		      struct sg_model_wg *wg);
/* Adds up what has been counted for the engines that the die's first one leads. */
void sg_lockstep_share(struct sg_model *m, uint32_t xcc);
/* Of the die: its sets, and what its CUs do. */
void sg_lockstep_begin_die(struct sg_model *m, uint32_t xcc);
/* At the end of a dispatch: completes the counters of engines in step. */
void sg_lockstep_finish(struct sg_model *m);
/* part.c */
/* Before a window: from now on a leader of several dies leads one, and each die has its own; or each engine of the die is
 * simulated. */
void sg_lockstep_part(struct sg_model *m, uint32_t xcc);
/* bundle.c */
/* What to launch on the CU, which has room. False: a workgroup is missing. */
bool sg_bundle_next(struct sg_model *m, struct sg_cu *cu, struct sg_bundle *out);
/* Workgroups that have not been launched: of the dies that this one leads; of one that is led, with those held for it. */
uint64_t sg_bundle_n_left(const struct sg_model *m, const struct sg_spi_die *die);
uint64_t sg_bundle_n_left_of(const struct sg_model *m, const struct sg_spi_die *leader,
			     uint32_t xcc);
/* fetch.c */
bool sg_wave_begin(struct sg_cu *cu, struct sg_model_wave *w, uint64_t time);
/* Advances past the instruction just executed: EXEC changes, jumps. False: the trace is damaged. */
bool sg_wave_follow(struct sg_cu *cu, struct sg_model_wave *w, uint64_t pc, uint64_t t);
/* memory.c: the instruction that the wave is at, with the addresses of `trace`: its own, at its home, or, on another CU,
 * those of a follower. False: the trace is damaged. */
typedef bool sg_memory_fn(struct sg_cu *cu, struct sg_model_wave *w, struct sg_memory_trace trace,
			  const struct sg_timing_insn *inst, uint64_t t);
sg_memory_fn sg_local_memory;
/* Of the wave and those that follow it. */
bool sg_scalar_memory(struct sg_model_wave *w, const struct sg_timing_insn *inst, uint64_t t);
bool sg_vector_memory(struct sg_model_wave *w, const struct sg_timing_insn *inst, uint64_t t);
/* wait.c */
void sg_wave_wait(struct sg_model_wave *w,
		  uint64_t t); /* as wait_vm and wait_lgkm say, from t on */
void sg_wave_answered(struct sg_model_wave *w,
		      uint64_t now); /* a time that the wave may wait for is known */
/* sqc.c */
void sg_sqc_wait(struct sg_scalar_group *g, struct sg_scalar_side *side,
		 struct sg_scalar_wait wait);
/* Code that is on its way to other caches; the engine of this one counts it. */
void sg_sqc_request_code(struct sg_scalar_group *g, uint64_t line, uint64_t t);
/* When the instruction at pc is available. SG_NEVER: unknown; the answer will wake the wave. */
uint64_t sg_sqc_fetch(struct sg_cu *cu, struct sg_model_wave *w, uint64_t pc, uint64_t t);
/* The same, if it is a hit that changes only counters; false: nothing was done. */
bool sg_sqc_fetch_again(struct sg_cu *cu, const struct sg_count_set *set, uint64_t pc);
void sg_sqc_load(struct sg_cu *cu, struct sg_model_wave *w, const struct sg_timing_insn *inst,
		 uint64_t addr, uint64_t t);
/* The same, of the wave and those that follow it, from one address. False: they are not all hits that change nothing, and nothing
 * was done. */
bool sg_sqc_load_common(struct sg_model_wave *w, const struct sg_timing_insn *inst, uint64_t addr,
			uint64_t t);
/* They have all executed a load of this address: from now on they may be such hits. */
void sg_sqc_note_common(struct sg_model_wave *w, uint64_t addr);
/* t, if the scalar cache can take a load of the CU at t; otherwise when to try again. */
uint64_t sg_sqc_ready(const struct sg_cu *cu, uint64_t t);
void sg_sqc_answer(struct sg_scalar_group *g, const struct sg_request *r, uint64_t time);
/* spi.c */
bool sg_spi_begin(struct sg_model *m);
void sg_spi_window(struct sg_model *m, uint64_t from, uint64_t to);
void sg_spi_wave_done(struct sg_cu *cu, struct sg_model_wave *w, uint64_t t);
/* Workgroups that fit an empty CU. */
uint32_t sg_spi_room(const struct sg_model *m);
/* Of a workgroup, not launched. NULL: no memory. */
struct sg_model_wave *sg_spi_new_wave(struct sg_cu *cu, struct sg_model_wg *wg, uint32_t index);
/* Room for the followers of a wave that has none. False: no memory. */
bool sg_spi_new_followers(struct sg_model_wave *w);
/* Of a wave that may have none, and that goes. */
void sg_spi_put_followers(struct sg_model_wave *w);
/* insn_counts.c: into the counters of SQ */
void sg_insn_counts(struct sg_model *m);
/* result.c */
bool sg_result_init(struct sg_model *m, struct sg_model_result *r);
void sg_result_finish(struct sg_model *m, uint64_t end);
/* sample.c */
void sg_sample_window(struct sg_cu *cu, uint64_t t);

/* The next access of a trace, if it is one of lanes in order and of all active ones, in the program's addresses. */
static inline bool sg_next_in_order(const struct sg_trace_records *records, struct sg_in_order *out)
{
	const uint8_t *record = records->bytes + records->at;

	if (records->size - records->at < SG_TRACE_SHORT_BYTES ||
	    *record != (SG_TRACE_AFFINE | SG_SPACE_GLOBAL << 2))
		return false;
	memcpy(&out->base, record + 1, sizeof(out->base));
	memcpy(&out->stride, record + 1 + sizeof(out->base), sizeof(out->stride));
	out->is_known = true;
	return true;
}

/* It begins in the memory of the device. */
static inline bool sg_is_own_memory(const struct sg_model *m, const struct sg_in_order *access,
				    uint64_t exec)
{
	uint64_t first = access->base + (uint64_t)((int64_t)access->stride * __builtin_ctzll(exec));

	return first - m->d->origin < m->d->extent;
}

static inline struct sg_memory_trace sg_memory_of(struct sg_model_wave *w)
{
	return (struct sg_memory_trace){ &w->trace.reader.memory, &w->trace.lists };
}

/* Of the k-th follower, for an instruction that may read lists. */
static inline struct sg_memory_trace sg_memory_of_follower(struct sg_model_wave *w, uint32_t k)
{
	w->followers_have_lists = true;
	return (struct sg_memory_trace){ &w->followers[k].records, &w->rest[k].lists };
}

/* How many engines the die's first one leads, with itself. */
static inline uint32_t sg_lockstep_n(const struct sg_model *m, uint32_t xcc)
{
	return m->spi.dies[xcc].n_led;
}

static inline struct sg_cu *sg_follower_cu(const struct sg_model_wave *w, uint32_t k)
{
	return &w->cu->model->cus[w->followers[k].cu];
}

/* The joint pipeline of the CU, if its engine leads. */
static inline struct sg_tcp *sg_joint_of(const struct sg_cu *cu)
{
	return cu->se ? NULL : &cu->model->joint[cu->index];
}

static inline uint64_t sg_quads_up(uint64_t t)
{
	return (t + SG_QUAD - 1) / SG_QUAD * SG_QUAD;
}

static inline struct sg_timing_insn *sg_wave_inst(const struct sg_model_wave *w)
{
	return &w->page->inst[w->slot];
}

/* When to look at a wave of the SIMD. */
static inline void sg_simd_ready(const struct sg_model *m, struct sg_simd *simd, uint32_t age,
				 uint64_t time)
{
	simd->ready[age] = time;
	simd->due[age] = sg_due_at(time, m->window_start, m->window_end);
}

/* w->ready_at has changed: updates the SIMD's copy. */
static inline void sg_wave_wake(struct sg_model_wave *w)
{
	struct sg_simd *simd = &w->cu->simd[w->simd];
	struct sg_scalar_group *group = w->cu->group;

	sg_simd_ready(group->model, simd, w->age, w->ready_at);
	simd->unit[w->age] = w->ending ? SG_UNIT_ENDING : sg_wave_inst(w)->unit;
	if (w->ready_at < group->next[simd->in_group])
		group->next[simd->in_group] = w->ready_at;
	if (simd->due[w->age] < group->due[simd->in_group]) {
		group->due[simd->in_group] = simd->due[w->age];
		group->has_woken = true;
	}
}

/* Takes the SIMD's fetch port for one block. Returns the cycles to wait for the port. */
static inline uint64_t sg_fetch_queue(const struct sg_cu *cu, struct sg_simd *simd, uint64_t t)
{
	uint64_t start = simd->fetch_free > t << 4 ? simd->fetch_free : t << 4;

	simd->fetch_free = start + SG_QUAD * cu->model->hw->fetch_16ths;
	return (start >> 4) - t;
}

static inline uint64_t sg_model_pc(const struct sg_model_wave *w)
{
	return w->page->base + 4ull * w->slot;
}

/*
 * The model's addresses: device memory from 0, then scratch, then host memory, so that caches and channels do
 * not depend on where the host put them. Host memory has one part per kind: pinned memory is on the host,
 * managed memory may have been migrated to a GPU.
 */
#define SG_SCRATCH_START (1ull << 46)
#define SG_OUTSIDE_START (1ull << 47)
#define SG_OUTSIDE_SHIFT 48

/* The part for a kind of host memory, in the order of first use. */
static inline uint64_t sg_outside_part(struct sg_model *m, struct sg_memory_kind kind)
{
	uint32_t k = 0;

	while (k < m->n_outside && memcmp(&m->outside[k], &kind, sizeof(kind)))
		k++;
	if (k == SG_MAX_OUTSIDE)
		k--; /* share the last part */
	else if (k == m->n_outside)
		m->outside[m->n_outside++] = kind;
	return SG_OUTSIDE_START + ((uint64_t)k << SG_OUTSIDE_SHIFT);
}

static inline uint64_t sg_model_address(struct sg_model *m, uint64_t addr)
{
	uint64_t at = addr - m->d->origin;
	const struct sg_mem_block *block;

	if (__builtin_expect(at < m->d->extent || !m->d->memory, 1))
		return at;
	block = m->d->memory(m->d->ctx, addr);
	return sg_outside_part(m, block->kind) +
	       ((block->pin_place + addr - block->start) & (SG_OUTSIDE_START - 1));
}

/* The range around an address of the model. */
static inline struct sg_model_range sg_model_memory(const struct sg_model *m, uint64_t addr)
{
	const struct sg_mem_block *block;

	if (!m->d->memory)
		return (struct sg_model_range){ .size = UINT64_MAX };
	if (addr >= SG_OUTSIDE_START)
		return (struct sg_model_range){
			.from = addr & ~(SG_OUTSIDE_START - 1),
			.size = SG_OUTSIDE_START,
			.kind = m->outside[addr >> SG_OUTSIDE_SHIFT & (SG_MAX_OUTSIDE - 1)]
		};
	block = m->d->memory(m->d->ctx, addr + m->d->origin);
	if (!block->size)
		return (struct sg_model_range){ .from = addr, .size = 64, .kind = block->kind };
	return (struct sg_model_range){ .from = block->start - m->d->origin,
					.size = block->size,
					.kind = block->kind };
}

/* The next vector memory instruction (a flat one) has lanes in LDS. */
static inline bool sg_reaches_lds(const struct sg_trace_records *records,
				  const struct sg_timing_insn *inst)
{
	enum sg_trace_space space;

	if (!(inst->flags & SG_INSN_FLATSEG))
		return false;
	space = sg_trace_space(records);
	return space == SG_SPACE_LDS || space == SG_SPACE_LDS_TOO;
}

/* Adds an entry, whose time is not known yet. */
static inline uint32_t sg_push_vm(struct sg_model_wave *w)
{
	uint32_t slot = w->vm.n_issued++ % SG_MAX_VM;

	w->vm_done[slot] = SG_NEVER;
	return slot;
}

static inline uint32_t sg_push_lgkm(struct sg_model_wave *w)
{
	uint32_t slot = w->lgkm.n_issued++ % SG_MAX_LGKM;

	w->lgkm_done[slot] = SG_NEVER;
	return slot;
}

#endif
