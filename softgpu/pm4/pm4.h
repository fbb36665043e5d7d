/*
 * pm4: executes PM4 command buffers, the packets by which a profiler programs and reads the counters.
 *
 * AMD's aqlprofile library writes them, and ROCr a few more, for its code cache and its buffers of PC samples. A vendor-specific AQL packet carries one PM4
 * packet, mostly INDIRECT_BUFFER, which continues in memory:
 *
 *	sg_pm4_begin(&run, words, n)           the words of the AQL packet
 *	sg_pm4_step(pm4, &run, &world)         until it is SG_PM4_DONE
 *
 * struct sg_pm4 is the registers of one GPU, which all its queues share. What a counter has counted comes
 * from a `struct sg_pm4_counts`: it is the count since the counters were last reset, whatever was selected.
 *
 * Every die of a GPU executes a stream, and writes its own registers. PRED_EXEC limits the packets behind it to
 * some of the dies. What several dies would copy from a register to one place is here what the first of them has;
 * on hardware, the order decides.
 *
 * As on hardware: a write to a register that means nothing here is kept and has no effect; a register that
 * was never written reads 0; an opcode that is not known stops the queue. A log message reports each of them,
 * the first two at level "info" and once per register.
 *
 * Threads  any; a lock inside guards the registers. A run belongs to its queue.
 */
#ifndef WS_SOFTGPU_PM4_PM4_H
#define WS_SOFTGPU_PM4_PM4_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softgpu/counters/catalogue.h"
#include "softgpu/hw/hw.h"

struct sg_pm4;

enum sg_pm4_window {
	SG_PM4_RESET, /* CP_PERFMON_CNTL 0: the counters are off, and 0 */
	SG_PM4_COUNT,
	SG_PM4_FREEZE, /* they keep what they have */
};

/* Where the counters get their values. */
struct sg_pm4_counts {
	void (*control)(void *ctx, enum sg_pm4_window window);
	/* accumulated: of a level counter, added up over all cycles */
	uint64_t (*value)(void *ctx, const struct sg_counter_info *counter, uint32_t instance,
			  bool accumulated);
	void *ctx;
};

/* What packets reach besides the registers. */
struct sg_pm4_world {
	void *(*memory)(void *ctx, uint64_t addr, uint64_t size); /* NULL: not accessible */
	void (*invalidate_code)(void *ctx);
	uint64_t (*clock)(void);
	void (*complain)(void *ctx, bool is_error, const char *text);
	void *ctx;
};

enum sg_pm4_result {
	SG_PM4_DONE,
	SG_PM4_WAITS, /* for memory or a register, or only for the other queues: step again */
	SG_PM4_BAD_PACKET,
	SG_PM4_FAULT, /* run.fault_address is not accessible */
};

#define SG_PM4_DEPTH 3 /* the AQL packet, its buffer, and one that the buffer calls */
#define SG_PM4_FIRST_WORDS 4

struct sg_pm4_run {
	uint32_t first[SG_PM4_FIRST_WORDS];
	struct {
		uint64_t addr; /* of the next word; of level 0: an index of `first` */
		uint64_t n_words;
		uint32_t n_skip[SG_MAX_XCC]; /* words from the next on that a die leaves out */
	} level[SG_PM4_DEPTH];
	uint32_t depth;
	uint64_t fault_address;
	uint64_t atomic_return; /* of the last ATOMIC_MEM */
	bool active;            /* begun, and not done */
};

struct sg_pm4 *sg_pm4_create(const struct sg_hw *hw,
			     const struct sg_pm4_counts *counts); /* NULL: no memory */
void sg_pm4_destroy(struct sg_pm4 *pm4);

void sg_pm4_begin(struct sg_pm4_run *run, const uint32_t words[SG_PM4_FIRST_WORDS]);
/* A bounded amount of work. */
enum sg_pm4_result sg_pm4_step(struct sg_pm4 *pm4, struct sg_pm4_run *run,
			       const struct sg_pm4_world *world);

#endif
