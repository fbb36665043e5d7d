/* Shared by the files of the counting service. */
#ifndef WS_SOFTGPU_COUNTING_COUNTING_PRIV_H
#define WS_SOFTGPU_COUNTING_COUNTING_PRIV_H

#include <pthread.h>
#include <stdatomic.h>

#include "softgpu/counting/counter_sets.h"
#include "softgpu/counting/counting.h"
#include "softgpu/counting/result_cache.h"
#include "softgpu/counting/trace_store.h"

/* One model per queue: a queue runs one dispatch at a time, so it never waits for its model. */
struct sg_queue_model {
	struct sg_queue_model *next;
	uint64_t queue;
	struct sg_model *model;
};

struct sg_kept_result {
	struct sg_kept_result *next;
	struct softgpu_result public;
	struct softgpu_value *values;
	uint64_t *numbers;
	char *names;
	struct softgpu_pc_sample *samples;
};

/* Per queue, like the models: the order in which several queues run a kernel is not deterministic. */
struct sg_seen_kernel {
	uint64_t queue, kernel;
};

/* What the registers have counted, see sg_counting_window(). */
struct sg_count_tally {
	bool is_open;
	uint64_t n_resets;          /* a dispatch from before the last one is not added */
	struct sg_model_result sum; /* values NULL: nothing was counted yet */
};

/* What the service reads of the tally, see softgpu_total_open(). */
struct sg_count_total {
	struct sg_selection selection; /* items NULL: not open */
	struct softgpu_value *values;
	uint64_t *numbers;
};

struct sg_counting {
	const struct sg_hw *hw;
	/* held while counter_sets->choose runs and while counter_sets changes; taken before `lock` */
	pthread_mutex_t choosing;
	pthread_mutex_t lock;                 /* everything but the models */
	struct sg_counter_sets *counter_sets; /* NULL: nothing is counted */
	uint64_t sample_cycles, trap_cycles;
	_Atomic bool is_wanted, is_alone;
	struct sg_kept_result *oldest, **newest;
	uint32_t n_results;
	uint64_t sequence;
	struct sg_seen_kernel *seen; /* those that have run: their code is warm */
	size_t n_seen, seen_room;
	struct sg_queue_model *models;
	struct sg_trace_spares spares;
	struct sg_result_cache *result_cache; /* NULL: every dispatch is modelled */
	struct sg_count_tally tally;
	struct sg_count_total total;

	/* from the environment, which is read once */
	bool every_engine;     /* is simulated, also where all do the same */
	uint64_t sample_waves; /* model about this many waves of a dispatch; 0: all */
	bool sample_only;      /* ... and execute only those */
	bool times;            /* model also dispatches that are not counted, for their duration */
};

struct sg_counted_dispatch {
	struct sg_counting *counting;
	struct sg_counter_sets *counter_sets; /* NULL: only samples are wanted */
	uint32_t choice;                      /* number of a set, or SOFTGPU_REPLAY */
	struct sg_count_info info;
	bool quiet; /* modelled for its duration or the tally only: no result is kept */
	bool is_tallied, is_trapped;
	uint64_t n_resets; /* of the tally, when it began */
	struct sg_model *model;
	struct sg_model_dispatch d;
	uint64_t n_wgs, stride; /* of the dispatch; every stride-th is modelled */

	/* passes: one, or with kernel replay one for each set */
	uint32_t n_passes, n_done; /* wanted; counted so far */
	struct sg_model_result *passes;
	uint64_t saved_bytes, replay_host_ns;

	/* the kernel's own run, on the host's clock; the second is 0 while it runs */
	uint64_t started_ns;
	_Atomic uint64_t ended_ns;
	bool too_long;

	/* the current pass */
	pthread_t thread;
	bool counted;
	struct sg_model_result r;
	pthread_mutex_t lock;
	pthread_cond_t arrived;
	struct sg_trace_store store;
	struct sg_wg_traces *_Atomic *traces; /* [wg], NULL: not done, or buffers that were taken */
	_Atomic uint64_t n_buffers;           /* of those, not packed */
	uint64_t *digests;                    /* [wg] */
	_Atomic uint64_t wanted;              /* the model has requested all workgroups below it */
	_Atomic uint64_t
		awaited; /* the model sleeps until this workgroup is done; UINT64_MAX: it does not sleep */
	_Atomic bool cancelled, starved; /* written with the lock held */

	/* comparison with dispatches that were modelled before */
	struct sg_dispatch_key key;
	struct sg_dispatch_world world;
	struct sg_cache_lookup lookup;
	_Atomic bool is_compared;                      /* there are candidates */
	_Atomic uint64_t n_compared;                   /* workgroups */
	struct sg_mem_block blocks[SG_MAX_MEM_BLOCKS]; /* that the model requested */
	uint32_t n_blocks, last_block;
	bool has_digests;    /* the traces are compared; read by the workers */
	bool is_uncacheable; /* written by the model: the result depends on more than is compared */
	bool was_cached;

	struct softgpu_pc_sample *samples;
	size_t n_samples, samples_room;
};

/* gpu_counting.c: makes the result of a dispatch whose passes are done, and keeps it for the reader. */
void sg_counting_keep(struct sg_counted_dispatch *run);
struct sg_model *sg_counting_model(struct sg_counting *c, uint64_t queue); /* NULL: no memory */
/* Wanted are the counters of a set, samples, times, or an open window. The lock is held. */
void sg_counting_update_wanted(struct sg_counting *c);

/* pc_samples.c: the model took a sample of the run that is `ctx`. */
void sg_counted_dispatch_sample(void *ctx, const struct sg_pc_sample *sample);

/* tally.c: adds the values of a dispatch. */
void sg_counting_add(struct sg_counted_dispatch *run);
/* True: the kernel has not run on its queue before. The lock is held. */
bool sg_counting_first_time(struct sg_counting *c, uint64_t queue, uint64_t kernel);

#endif
