/*
 * counting: one GPU's counting: what is wanted, the model, and the results.
 *
 * For the command processor a counted dispatch is a struct sg_count_run:
 *
 *	sg_counting_begin(counting, &info, &run)    run NULL: this one is not counted
 *	traces = sg_count_run_start(run)            before a workgroup starts
 *	sg_count_run_done(run, wg, traces, n)       after it is done
 *	sg_count_run_pass(run)                      when all are; waits for the model
 *	sg_count_run_again(run)                     kernel replay: and once more, from the same caches
 *	sg_count_run_end(run, &duration_ns)
 *
 * The model runs on a thread of its own and takes the workgroups in order; those that are ahead of it
 * wait in memory, up to a limit.
 *
 * Threads  workers call start and done at the same time; begin, pass, again and end are one thread's.
 */
#ifndef WS_SOFTGPU_COUNTERS_COUNTING_H
#define WS_SOFTGPU_COUNTERS_COUNTING_H

#include <stdbool.h>
#include <stdint.h>

#include "softgpu/counters/mem_block.h"
#include "softgpu/counters/service.h"
#include "softgpu/timing/model.h"

struct sg_counting;
struct sg_count_run;

struct sg_count_info {
	struct softgpu_dispatch dispatch; /* as the chooser sees it */
	struct sg_model_dispatch shape;   /* n_wgs, waves_per_wg, registers, LDS, system_release */
	uint64_t origin, extent;          /* of the device aperture: sg_model_dispatch's */
	bool (*instruction)(void *ctx, uint64_t pc, struct sg_decoded_insn *out);
	/* The block around an address. NULL: everything is the device's. */
	void (*find_block)(void *ctx, uint64_t addr, struct sg_mem_block *out);
	void (*room)(void *ctx); /* workgroups may be started again */
	void *ctx;
};

struct sg_counting *sg_counting_create(const struct sg_hw *hw); /* NULL: no memory */
void sg_counting_destroy(struct sg_counting *c);

bool sg_counting_wanted(struct sg_counting *c);
/* The user asked for simulated times also of what nobody counts (WAVESCOPE_GPU_TIME). */
bool sg_counting_simulates_times(const struct sg_counting *counting);
/* Counters are wanted: hardware's count for the whole GPU, so that its kernels run one at a time. */
bool sg_counting_alone(struct sg_counting *c);
/* Asks the chooser. False: it ought to be counted, but there is no memory or no thread for it. */
bool sg_counting_begin(struct sg_counting *c, const struct sg_count_info *info,
		       struct sg_count_run **out_run);
/* May workgroup wg start now? */
bool sg_count_run_may_start(struct sg_count_run *run, uint64_t wg);
/* Is this one of the workgroups that are modelled? All are, unless WAVESCOPE_SAMPLE_WAVES says less. */
bool sg_count_run_models(const struct sg_count_run *run, uint64_t wg);
struct sg_wg_traces *sg_count_run_start(struct sg_count_run *run); /* NULL: no memory */
void sg_count_run_done(struct sg_count_run *run, uint64_t wg, struct sg_wg_traces *traces,
		       uint32_t n_waves);
void sg_count_run_discard(struct sg_wg_traces *traces);
/* The dispatch failed or was stopped: this pass does not count. */
void sg_count_run_cancel(struct sg_count_run *run);

/* Only every stride-th workgroup need be executed: 1, or more when nobody needs the results. */
uint64_t sg_count_run_stride(const struct sg_count_run *run);
/* How many passes it wants: more than one is kernel replay. */
uint32_t sg_count_run_n_passes(const struct sg_count_run *run);
/* Ends the pass. False: it could not be counted (cancelled, or no memory for its traces). */
bool sg_count_run_pass(struct sg_count_run *run);
/* Begins the next pass. False: no thread for it. */
bool sg_count_run_again(struct sg_count_run *run);
/* What replaying took so far. */
void sg_count_run_cost(struct sg_count_run *run, uint64_t saved_bytes, uint64_t host_ns);
/*
 * Makes the result and frees the run. Sets whose pass did not come to pass have their values from the
 * first one. False: not even that was counted, and there is no result.
 */
bool sg_count_run_end(struct sg_count_run *run, uint64_t *duration_ns);

/* the service, for one GPU */
size_t sg_counting_list(struct sg_counting *c, struct softgpu_counter *out, size_t room);
int sg_counting_choose(struct sg_counting *c, const struct softgpu_set *sets, size_t n,
		       softgpu_choose *choose, void *user, char *error, size_t error_bytes);
int sg_counting_sample(struct sg_counting *c, uint64_t cycles);
int sg_counting_result(struct sg_counting *c, uint64_t queue, uint64_t packet,
		       struct softgpu_result *out);
int sg_counting_next(struct sg_counting *c, uint64_t after, struct softgpu_result *out);
void sg_counting_drop(struct sg_counting *c, uint64_t sequence);
size_t sg_counting_samples(struct sg_counting *c, uint64_t sequence, uint64_t first,
			   struct softgpu_pc_sample *out, size_t room);

#endif
