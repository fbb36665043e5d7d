/*
 * counting: one GPU's counting: what is wanted, the model, and the results.
 *
 * For the command processor a counted dispatch is a struct ws_count_run:
 *
 *	ws_counting_begin(counting, &info, &run)    run NULL: this one is not counted
 *	traces = ws_count_run_start(run)            before a workgroup starts
 *	ws_count_run_done(run, wg, traces, n)       after it is done
 *	ws_count_run_pass(run)                      when all are; waits for the model
 *	ws_count_run_again(run)                     kernel replay: and once more, from the same caches
 *	ws_count_run_end(run, &duration_ns)
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

struct ws_counting;
struct ws_count_run;

struct ws_count_info {
	struct ws_softgpu_dispatch dispatch; /* as the chooser sees it */
	struct ws_model_dispatch shape; /* n_wgs, waves_per_wg, registers, LDS, system_release */
	uint64_t origin, extent;      /* of the device aperture: ws_model_dispatch's */
	bool (*instruction)(void *ctx, uint64_t pc, struct ws_inst_source *out);
	/* The block around an address. NULL: everything is the device's. */
	void (*find_block)(void *ctx, uint64_t addr, struct ws_mem_block *out);
	void (*room)(void *ctx);      /* workgroups may be started again */
	void *ctx;
};

struct ws_counting *ws_counting_create(const struct ws_hw *hw); /* NULL: no memory */
void ws_counting_destroy(struct ws_counting *c);

bool ws_counting_wanted(struct ws_counting *c);
/* The user asked for simulated times also of what nobody counts (WAVESCOPE_GPU_TIME). */
bool ws_counting_simulates_times(const struct ws_counting *counting);
/* Counters are wanted: hardware's count for the whole GPU, so that its kernels run one at a time. */
bool ws_counting_alone(struct ws_counting *c);
/* Asks the chooser. False: it ought to be counted, but there is no memory or no thread for it. */
bool ws_counting_begin(struct ws_counting *c, const struct ws_count_info *info, struct ws_count_run **out_run);
/* May workgroup wg start now? */
bool ws_count_run_may_start(struct ws_count_run *run, uint64_t wg);
/* Is this one of the workgroups that are modelled? All are, unless WAVESCOPE_SAMPLE_WAVES says less. */
bool ws_count_run_models(const struct ws_count_run *run, uint64_t wg);
struct ws_wg_traces *ws_count_run_start(struct ws_count_run *run); /* NULL: no memory */
void ws_count_run_done(struct ws_count_run *run, uint64_t wg, struct ws_wg_traces *traces, uint32_t n_waves);
void ws_count_run_discard(struct ws_wg_traces *traces);
/* The dispatch failed or was stopped: this pass does not count. */
void ws_count_run_cancel(struct ws_count_run *run);

/* Only every stride-th workgroup need be executed: 1, or more when nobody needs the results. */
uint64_t ws_count_run_stride(const struct ws_count_run *run);
/* How many passes it wants: more than one is kernel replay. */
uint32_t ws_count_run_n_passes(const struct ws_count_run *run);
/* Ends the pass. False: it could not be counted (cancelled, or no memory for its traces). */
bool ws_count_run_pass(struct ws_count_run *run);
/* Begins the next pass. False: no thread for it. */
bool ws_count_run_again(struct ws_count_run *run);
/* What replaying took so far. */
void ws_count_run_cost(struct ws_count_run *run, uint64_t saved_bytes, uint64_t host_ns);
/*
 * Makes the result and frees the run. Sets whose pass did not come to pass have their values from the
 * first one. False: not even that was counted, and there is no result.
 */
bool ws_count_run_end(struct ws_count_run *run, uint64_t *duration_ns);

/* the service, for one GPU */
size_t ws_counting_list(struct ws_counting *c, struct ws_softgpu_counter *out, size_t room);
int ws_counting_choose(struct ws_counting *c, const struct ws_softgpu_set *sets, size_t n,
		       ws_softgpu_choose *choose, void *user, char *error, size_t error_bytes);
int ws_counting_sample(struct ws_counting *c, uint64_t cycles);
int ws_counting_result(struct ws_counting *c, uint64_t queue, uint64_t packet, struct ws_softgpu_result *out);
int ws_counting_next(struct ws_counting *c, uint64_t after, struct ws_softgpu_result *out);
void ws_counting_drop(struct ws_counting *c, uint64_t sequence);
size_t ws_counting_samples(struct ws_counting *c, uint64_t sequence, uint64_t first,
			   struct ws_softgpu_pc_sample *out, size_t room);

#endif
