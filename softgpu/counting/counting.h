/*
 * counting: the counters of one GPU: the selected sets, the timing model, and the results.
 *
 * The command processor calls, for each dispatch:
 *
 *	sg_counting_begin(counting, &info, &run)        run NULL: this one is not counted
 *	traces = sg_counted_dispatch_start(run)         before a workgroup starts, unless there are some
 *	sg_counted_dispatch_done(run, wg, traces, n)    when it is done
 *	sg_counted_dispatch_discard(traces)             before the pass ends
 *	sg_counted_dispatch_pass(run)                   when all are done; waits for the model
 *	sg_counted_dispatch_again(run)                  kernel replay: the next pass, from the same caches
 *	sg_counted_dispatch_end(run, &duration_ns)
 *
 * The model has its own thread and reads the workgroups in order. Workgroups that it has not read yet
 * are kept in memory, up to a limit.
 *
 * Threads  start, done: any worker, concurrently. begin, pass, again, end: one thread.
 */
#ifndef WS_SOFTGPU_COUNTING_COUNTING_H
#define WS_SOFTGPU_COUNTING_COUNTING_H

#include <stdbool.h>
#include <stdint.h>

#include "softgpu/counters/service.h"
#include "softgpu/mem/mem_block.h"
#include "softgpu/timing/model.h"

struct sg_counting;
struct sg_counted_dispatch;

struct sg_count_info {
	struct softgpu_dispatch dispatch; /* as passed to the chooser */
	struct sg_model_dispatch shape;   /* n_wgs, waves_per_wg, registers, LDS, system_release */
	uint64_t origin, extent;          /* of the device aperture, see sg_model_dispatch */
	bool (*instruction)(void *ctx, uint64_t pc, struct sg_decoded_insn *out);
	/* The block around an address. NULL: everything is the device's. */
	void (*find_block)(void *ctx, uint64_t addr, struct sg_mem_block *out);
	void (*room)(void *ctx); /* workgroups may be started again */
	void *ctx;
};

struct sg_counting *sg_counting_create(const struct sg_hw *hw); /* NULL: no memory */
void sg_counting_destroy(struct sg_counting *c);

bool sg_counting_wanted(struct sg_counting *c);
/* Simulated times were requested also for dispatches that are not counted (WAVESCOPE_GPU_TIME). */
bool sg_counting_simulates_times(const struct sg_counting *counting);
/* Counters are selected. They count for the whole GPU, so its kernels run one at a time. */
bool sg_counting_alone(struct sg_counting *c);
/* Calls the chooser. False: no memory or no thread to count the dispatch. */
bool sg_counting_begin(struct sg_counting *c, const struct sg_count_info *info,
		       struct sg_counted_dispatch **out_run);
/* May workgroup wg start now? */
bool sg_counted_dispatch_may_start(struct sg_counted_dispatch *run, uint64_t wg);
/* Whether the workgroup is modelled: all are, unless WAVESCOPE_SAMPLE_WAVES limits them. */
bool sg_counted_dispatch_models(const struct sg_counted_dispatch *run, uint64_t wg);
struct sg_wg_traces *sg_counted_dispatch_start(
	struct sg_counted_dispatch *run); /* NULL: no memory */
/* True: the traces were copied and can be written again, by the next workgroup of this pass. */
bool sg_counted_dispatch_done(struct sg_counted_dispatch *run, uint64_t wg,
			      struct sg_wg_traces *traces, uint32_t n_waves);
void sg_counted_dispatch_discard(struct sg_wg_traces *traces);
/* The dispatch failed or was stopped: the pass is discarded. */
void sg_counted_dispatch_cancel(struct sg_counted_dispatch *run);

/* Every stride-th workgroup has to be executed: 1, or more when the kernel's output is not needed. */
uint64_t sg_counted_dispatch_stride(const struct sg_counted_dispatch *run);
/* Number of passes; more than one is kernel replay. */
uint32_t sg_counted_dispatch_n_passes(const struct sg_counted_dispatch *run);
/* Ends the pass. False: it was not counted (cancelled, or no memory for its traces). */
bool sg_counted_dispatch_pass(struct sg_counted_dispatch *run);
/*
 * Whether it was not because the kernel spun, for something that the host or another GPU does, so long that
 * the model would not come to an end. Only of a dispatch that is modelled for its duration alone.
 */
bool sg_counted_dispatch_too_long(const struct sg_counted_dispatch *run);
/* Begins the next pass. False: no thread for it. */
bool sg_counted_dispatch_again(struct sg_counted_dispatch *run);
/* The samples of sg_counting_sample_traps(), for the caller to free, and the clock of their cycles. NULL: none. */
struct softgpu_pc_sample *sg_counted_dispatch_trapped(const struct sg_counted_dispatch *run,
						      size_t *out_n, uint32_t *out_mhz);
/* Adds to the cost of kernel replay that the result reports. */
void sg_counted_dispatch_cost(struct sg_counted_dispatch *run, uint64_t saved_bytes,
			      uint64_t host_ns);
/*
 * Makes the result and frees the run. Sets whose pass did not run take their values from the first
 * pass. False: the first pass was not counted either, and there is no result; of a kernel that took too long,
 * *duration_ns is the real duration.
 */
bool sg_counted_dispatch_end(struct sg_counted_dispatch *run, uint64_t *duration_ns);

/*
 * Counting by registers (softgpu/pm4). While the window is open, every dispatch that starts in it is modelled,
 * and its values are added to the tally when it ends. Nothing of this depends on the service.
 */
enum sg_count_window { SG_WINDOW_RESET, SG_WINDOW_OPEN, SG_WINDOW_CLOSED };
void sg_counting_window(struct sg_counting *c, enum sg_count_window window); /* reset also closes */
uint64_t sg_counting_tally(struct sg_counting *c, const struct sg_counter_info *counter,
			   uint32_t instance, bool accumulated);

/* the service (counters/service.h), for one GPU */
int sg_counting_total_open(struct sg_counting *c, const char *const *names, size_t n, char *error,
			   size_t error_bytes);
int sg_counting_total_read(struct sg_counting *c, struct softgpu_result *out);
void sg_counting_total_close(struct sg_counting *c);
size_t sg_counting_list(struct sg_counting *c, struct softgpu_counter *out, size_t room);
int sg_counting_choose(struct sg_counting *c, const struct softgpu_set *sets, size_t n,
		       softgpu_choose *choose, void *user, char *error, size_t error_bytes);
int sg_counting_sample(struct sg_counting *c, uint64_t cycles);
/* Samples that are not the service's, of every dispatch; the service's interval takes precedence. 0: none. */
int sg_counting_sample_traps(struct sg_counting *c, uint64_t cycles);
int sg_counting_result(struct sg_counting *c, uint64_t queue, uint64_t packet,
		       struct softgpu_result *out);
int sg_counting_next(struct sg_counting *c, uint64_t after, struct softgpu_result *out);
void sg_counting_drop(struct sg_counting *c, uint64_t sequence);
size_t sg_counting_samples(struct sg_counting *c, uint64_t sequence, uint64_t first,
			   struct softgpu_pc_sample *out, size_t room);

#endif
