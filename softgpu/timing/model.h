/*
 * model: replays the wave traces of a dispatch on a modelled chip and counts.
 *
 * One thread. The clock advances in windows of the time that a request takes to reach L2. Within a window
 * the CUs do not depend on each other, so each simulates it alone. Then the L2 channels serve the requests in
 * the order of time; their answers arrive after the window. Workgroups are launched in order.
 *
 *	model = sg_model_create(&sg_hw_mi210)
 *	sg_model_run(model, &dispatch, &result)     one dispatch; caches keep what hardware keeps
 *
 * The result depends only on the dispatches that the model has run so far.
 */
#ifndef WS_SOFTGPU_TIMING_MODEL_H
#define WS_SOFTGPU_TIMING_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softgpu/counters/catalogue.h"
#include "softgpu/hw/hw.h"
#include "softgpu/mem/mem_block.h"
#include "softgpu/trace/timing_insn.h"
#include "softgpu/trace/wave_trace.h"

struct sg_model;

struct sg_wg_traces {
	uint32_t n_waves;
	struct sg_wave_trace *waves;
	struct sg_wg_traces *next_spare; /* used by the owner */
};

/* Why a wave did not issue at the time of a sample. */
enum sg_stall {
	SG_STALL_NONE,       /* it issued */
	SG_STALL_NOT_CHOSEN, /* another wave was issued to the unit */
	SG_STALL_UNIT,       /* the unit was busy */
	SG_STALL_WAITCNT,    /* s_waitcnt, or the end waits for stores */
	SG_STALL_BARRIER,
	SG_STALL_FETCH, /* the instruction has not been fetched */
	SG_STALL_QUEUE, /* the memory pipeline is full */
	SG_STALL_SLEEP,
	SG_STALL_DEPENDENCY, /* the result of an instruction before it is not there */
};

struct sg_pc_sample {
	uint64_t cycle; /* since the start of the dispatch */
	uint64_t wg;
	uint64_t pc;
	uint64_t exec;
	uint32_t wave;       /* in the workgroup */
	uint8_t xcc, se, cu; /* the die, its shader engine, and the CU of that engine */
	uint8_t simd, slot;  /* slot: wave slot of the SIMD */
	uint8_t unit;        /* enum sg_unit */
	uint8_t insn_class;  /* enum sg_insn_class */
	bool taken;          /* a branch that continues elsewhere */
	uint8_t stall;       /* enum sg_stall */
	uint8_t waves;       /* resident on the CU */
};

struct sg_model_dispatch {
	uint64_t n_wgs;
	uint32_t waves_per_wg;
	uint32_t vgprs, sgprs; /* allocated per wave (gfx90a: both kinds of VGPRs) */
	uint32_t lds_bytes;
	uint32_t scratch_wave_bytes; /* distance between the scratch of two waves */
	uint32_t scratch_waves;      /* waves that have scratch; 0: the kernel needs none */
	bool cold; /* first dispatch of this kernel: instruction cache and clock are cold */
	bool system_release;    /* the end writes L2 back, and that is counted */
	bool every_window;      /* simulate also what repeats (steady.c): to compare */
	bool apart;             /* simulate each engine, also where all do the same (lockstep.c) */
	uint64_t sample_cycles; /* 0: no PC samples */
	uint64_t
		origin; /* subtracted from addresses, so that results do not depend on where memory begins */
	uint64_t extent; /* of the device's memory; other addresses are host memory */

	/* The next workgroup, in order; valid until release(). NULL: it failed, stop. */
	struct sg_wg_traces *(*next)(void *ctx, uint64_t wg);
	void (*release)(void *ctx, uint64_t wg, struct sg_wg_traces *traces);
	/* The instruction at this address. False: there is none, and the dispatch fails. */
	bool (*instruction)(void *ctx, uint64_t pc, struct sg_decoded_insn *out);
	/* The block around an address, valid until the next call; size 0: none. NULL: all memory is the
	 * device's. */
	const struct sg_mem_block *(*memory)(void *ctx, uint64_t addr);
	void (*sample)(void *ctx, const struct sg_pc_sample *sample);
	/* Asked now and then; true: so many cycles are too many, and the dispatch fails. NULL: none are. */
	bool (*is_too_long)(void *ctx, uint64_t cycles);
	void *ctx;
};

struct sg_model_result {
	uint64_t *values[SG_N_BLOCKS]; /* [instance * sg_blocks[b].n + place] */
	uint64_t *accumulated; /* of the level counters of SQ: same places as values[SG_BLOCK_SQ] */
	uint32_t n_instances[SG_N_BLOCKS];
	uint64_t cycles; /* from the first wave's launch to the last wave's end and the release */
	uint32_t mhz;    /* the clock of these cycles */
	uint64_t duration_ns;
};

/* NULL: no memory. */
struct sg_model *sg_model_create(const struct sg_hw *hw);
void sg_model_destroy(struct sg_model *model);
const struct sg_hw *sg_model_hw(const struct sg_model *model);

/* False: a workgroup is missing or its trace is damaged; the values are invalid then. */
bool sg_model_run(struct sg_model *model, const struct sg_model_dispatch *dispatch,
		  struct sg_model_result *result);
void sg_model_result_free(struct sg_model_result *result);
bool sg_model_result_copy(struct sg_model_result *out,
			  const struct sg_model_result *from); /* false: no memory */
size_t sg_model_result_bytes(const struct sg_model_result *result);

/* The state that one dispatch leaves to the next (instruction caches, Infinity Cache), to repeat a dispatch from it. */
bool sg_model_save(struct sg_model *model);      /* false: no memory */
void sg_model_restore(struct sg_model *model);   /* to the state saved last */
uint64_t sg_model_state(struct sg_model *model); /* a digest of the state */
/* A copy for sg_model_set_state(); the caller frees it. Adds its size to *n_bytes. NULL: no memory. */
uint64_t *sg_model_copy_state(const struct sg_model *model, size_t *n_bytes);
void sg_model_set_state(struct sg_model *model, const uint64_t *state);

/* Windows of SIMDs in the last dispatch that repeated an earlier one and were not simulated. */
uint64_t sg_model_n_repeated(const struct sg_model *model);

/*
 * Shader engines that were simulated for themselves at the end of the last dispatch: 1, where all did the same (lockstep.c);
 * one of each die; or all.
 */
uint32_t sg_model_n_leaders(const struct sg_model *model);
/* Vector memory instructions of the last dispatch that were looked up with those of all other engines (joint.c). */
uint64_t sg_model_n_joint(const struct sg_model *model);

/* Calls each() for every instruction that the last dispatch executed, in a fixed order. */
void sg_model_code(const struct sg_model *model, void (*each)(void *ctx, uint64_t pc), void *ctx);

uint32_t sg_hw_instances(const struct sg_hw *hw, enum sg_block block);
/* Sum over all instances. */
uint64_t sg_model_sum(const struct sg_model_result *r, enum sg_block block, uint32_t place);
uint64_t sg_model_accumulated(const struct sg_model_result *r, uint32_t sq_place);
#define SG_SUM(r, block, name) sg_model_sum((r), SG_BLOCK_##block, SG_C_##name)

#endif
