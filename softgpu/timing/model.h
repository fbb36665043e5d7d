/*
 * model: replays the wave traces of a dispatch on a modelled chip and counts.
 *
 * One thread. The clock advances in windows as long as a request takes to reach L2: within a window the
 * CUs do not depend on each other, so each runs it through alone; then the L2 channels serve what was
 * sent, in the order of time, and their answers lie behind the window. Workgroups are launched in order.
 *
 *	model = ws_model_create(&ws_hw_mi210)
 *	ws_model_run(model, &dispatch, &result)     one dispatch; caches keep what hardware keeps
 *
 * The result is a function of the dispatches run on the model so far, and of nothing else.
 */
#ifndef WS_SOFTGPU_TIMING_MODEL_H
#define WS_SOFTGPU_TIMING_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softgpu/counters/catalogue.h"
#include "softgpu/counters/mem_block.h"
#include "softgpu/timing/hw.h"
#include "softgpu/timing/inst.h"
#include "softgpu/timing/wave_trace.h"

struct ws_model;

struct ws_wg_traces {
	uint32_t n_waves;
	struct ws_wave_trace *waves;
	struct ws_wg_traces *next_spare; /* the owner's */
};

/* Why a wave did not issue at the time of a sample. */
enum ws_stall {
	WS_STALL_NONE,        /* it did */
	WS_STALL_NOT_CHOSEN,  /* another wave was issued to the unit */
	WS_STALL_UNIT,        /* the unit was busy */
	WS_STALL_WAITCNT,     /* s_waitcnt, or the end waits for stores */
	WS_STALL_BARRIER,
	WS_STALL_FETCH,       /* no instruction yet */
	WS_STALL_QUEUE,       /* the memory pipeline takes no more */
	WS_STALL_SLEEP,
};

struct ws_pc_sample {
	uint64_t cycle;       /* since the start of the dispatch */
	uint64_t wg;
	uint64_t pc;
	uint64_t exec;
	uint32_t wave;        /* in the workgroup */
	uint16_t cu, simd;
	uint8_t slot;         /* wave slot of the SIMD */
	uint8_t unit;         /* enum ws_unit */
	uint8_t scalar;       /* enum ws_scalar_kind */
	bool matrix, taken;   /* of branches: it goes elsewhere */
	uint8_t stall;        /* enum ws_stall */
	uint8_t waves;        /* resident on the SIMD */
};

struct ws_model_dispatch {
	uint64_t n_wgs;
	uint32_t waves_per_wg;
	uint32_t vgprs, sgprs;        /* allocated per wave (gfx90a: both kinds of VGPRs) */
	uint32_t lds_bytes;
	uint32_t scratch_wave_bytes;  /* from one wave's scratch to the next */
	uint32_t scratch_waves;       /* that there is scratch for; 0: the kernel needs none */
	bool cold;                    /* first dispatch of this kernel: instruction cache and clock are cold */
	bool system_release;          /* the end writes L2 back, and that is counted */
	uint64_t sample_cycles;       /* 0: no PC samples */
	uint64_t origin;              /* addresses count from here: where memory begins must not matter */
	uint64_t extent;              /* of the device's memory; what is not in it is the program's own */

	/* The next workgroup, in order; valid until release(). NULL: it failed, stop. */
	struct ws_wg_traces *(*next)(void *ctx, uint64_t wg);
	void (*release)(void *ctx, uint64_t wg, struct ws_wg_traces *traces);
	/* What stands at this address? False: nothing is known (the dispatch is given up). */
	bool (*instruction)(void *ctx, uint64_t pc, struct ws_inst_source *out);
	/* The block around an address, until the next call; of no size: nobody knows it. NULL: everything is
	 * the device's own. */
	const struct ws_mem_block *(*memory)(void *ctx, uint64_t addr);
	void (*sample)(void *ctx, const struct ws_pc_sample *sample);
	void *ctx;
};

struct ws_model_result {
	uint64_t *values[WS_N_BLOCKS]; /* [instance * ws_blocks[b].n + place] */
	uint64_t *accumulated;        /* of the level counters of SQ: same places as values[WS_BLOCK_SQ] */
	uint32_t n_instances[WS_N_BLOCKS];
	uint64_t cycles;              /* first wave's launch to last wave's end and the release */
	uint32_t mhz;                 /* the clock they were run at */
	uint64_t duration_ns;
};

/* ENOMEM: NULL. */
struct ws_model *ws_model_create(const struct ws_hw *hw);
void ws_model_destroy(struct ws_model *model);
const struct ws_hw *ws_model_hw(const struct ws_model *model);

/* False: a workgroup could not be had, or its trace is damaged; the values are of no use then. */
bool ws_model_run(struct ws_model *model, const struct ws_model_dispatch *dispatch,
		  struct ws_model_result *result);
void ws_model_result_free(struct ws_model_result *result);
bool ws_model_result_copy(struct ws_model_result *out, const struct ws_model_result *from); /* false: no memory */
size_t ws_model_result_bytes(const struct ws_model_result *result);

/* What one dispatch leaves to the next (the instruction caches), so that one can be run again from there. */
bool ws_model_save(struct ws_model *model); /* false: no memory */
void ws_model_restore(struct ws_model *model); /* what was saved last */
uint64_t ws_model_state(struct ws_model *model); /* a digest of it */
/* A copy for ws_model_set_state(), the caller's to free, whose size is added to *n_bytes. NULL: no memory. */
uint64_t *ws_model_copy_state(const struct ws_model *model, size_t *n_bytes);
void ws_model_set_state(struct ws_model *model, const uint64_t *state);

/* Each instruction that the last dispatch executed, in the same order every time. */
void ws_model_code(const struct ws_model *model, void (*each)(void *ctx, uint64_t pc), void *ctx);

uint32_t ws_hw_instances(const struct ws_hw *hw, enum ws_block block);
/* Sum over all instances. */
uint64_t ws_model_sum(const struct ws_model_result *r, enum ws_block block, uint32_t place);
uint64_t ws_model_accumulated(const struct ws_model_result *r, uint32_t sq_place);
#define WS_SUM(r, block, name) ws_model_sum((r), WS_BLOCK_##block, WS_C_##name)

#endif
