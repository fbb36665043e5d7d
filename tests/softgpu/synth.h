/*
 * synth: kernels written down as a list of instructions, and the traces their waves would leave; so that
 * the models can be tested without the executor.
 */
#ifndef WS_TESTS_SOFTGPU_SYNTH_H
#define WS_TESTS_SOFTGPU_SYNTH_H

#include "softgpu/counters/catalogue.h"
#include "softgpu/timing/model.h"

struct synth_inst {
	const char *mnemonic;
	uint8_t dwords;
	uint16_t simm;
	bool glc, sc1;      /* glc: sc0 from gfx942 on */
	uint8_t vdst, sdst; /* registers, as sg_decoded_insn has them */
	uint16_t src[3];
	/*
	 * memory: address of lane l is base + wg * per_wg + wave * per_wave + turn * per_turn + l * per_lane; of rows of 16
	 * lanes (per_row is not 0), l % 16 * per_lane + l / 16 * per_row
	 */
	uint64_t base;
	int64_t per_wg, per_wave, per_turn, per_lane, per_row;
};

struct synth_kernel {
	const struct synth_inst *insts;
	uint32_t n_insts;
	/* insts[loop_from .. loop_to] are run `turns` times; loop_to jumps back */
	uint32_t loop_from, loop_to, turns;
	uint64_t code;      /* address of the first one */
	uint64_t host_from; /* addresses from here on are not in the device's memory (0: none) */
	struct sg_memory_kind host_kind; /* but in this */
};

struct synth_run {
	const struct synth_kernel *kernel;
	struct sg_model_dispatch d;
	uint64_t n_released;
	bool cut;                       /* the traces end too early */
	struct sg_mem_block block;      /* that the model asked about last */
	uint32_t first_wave_lanes;      /* lanes of every wave; 0: 64 */
	uint32_t (*lanes)(uint64_t wg); /* of its waves; NULL: first_wave_lanes */
};

/* The row of the tables; also by the global_ spelling. Fails the program when there is none. */
const struct sg_isa_row *synth_row(const char *mnemonic);

/* Fills run->d; the caller may change resources before sg_model_run(). */
void synth_prepare(struct synth_run *run, const struct synth_kernel *k, uint64_t n_wgs,
		   uint32_t waves_per_wg);

/*
 * The first counter that follows from the instructions and differs; NULL: all are equal. Adds how many are not 0 to *n.
 */
const struct sg_counter_info *synth_first_different(const struct sg_hw *hw,
						    const struct sg_model_result *a,
						    const struct sg_model_result *b, uint32_t *n);

/* What each CU counts by type of memory is what it has requested, and so much has arrived at L2. */
bool synth_requests_balance(const struct sg_hw *hw, const struct sg_model_result *r);

#define SYNTH_CODE 0x7f0000010000ull
#define SYNTH_VRAM 0x7f0010000000ull /* aligned to a page of 2 MiB */
#define SYNTH_HOST 0x7ff000000000ull

/* vcopy in the recorded instruction mix: n doubles */
extern const struct synth_inst synth_vcopy_insts[24];
struct synth_kernel synth_vcopy(void);
/* ... of MI300 and MI350; its arguments are on the host, or in the GPU's own memory */
struct synth_kernel synth_vcopy_mi300(bool own_arguments);

#endif
