/* What the files of the counting service share. */
#ifndef WS_SOFTGPU_COUNTERS_COUNTING_PRIV_H
#define WS_SOFTGPU_COUNTERS_COUNTING_PRIV_H

#include <pthread.h>
#include <stdatomic.h>

#include "softgpu/counters/counting.h"
#include "softgpu/counters/known.h"
#include "softgpu/counters/plan.h"

/* A queue runs one dispatch at a time, so its model is never waited for. */
struct queue_model {
	struct queue_model *next;
	uint64_t queue;
	struct sg_model *model;
};

/* Traces that were read, with their storage: what comes next is like it. */
struct spare_traces {
	pthread_mutex_t lock;
	struct sg_wg_traces *list;
	uint64_t n_bytes;
};

struct result {
	struct result *next;
	struct softgpu_result public;
	struct softgpu_value *values;
	uint64_t *numbers;
	char *names;
	struct softgpu_pc_sample *samples;
};

/* By queue, as the models are: which of several queues is the first to run a kernel is chance. */
struct seen_kernel {
	uint64_t queue, kernel;
};

struct sg_counting {
	const struct sg_hw *hw;
	pthread_mutex_t
		choosing; /* held while plan->choose runs, and to change the plan; before `lock` */
	pthread_mutex_t lock; /* all but the models */
	struct sg_plan *plan; /* NULL: nothing is counted */
	uint64_t sample_cycles;
	_Atomic bool is_wanted, is_alone;
	struct result *oldest, **newest;
	uint32_t n_results;
	uint64_t sequence;
	struct seen_kernel *seen; /* those that have run: their code is warm */
	size_t n_seen, seen_room;
	struct queue_model *models;
	struct spare_traces spares;
	struct sg_known_store *known; /* NULL: every dispatch is modelled */

	/* of the environment, which is read once */
	uint64_t sample_waves; /* model about so many waves of a dispatch; 0: all */
	bool sample_only;      /* ... and execute no others */
	bool times;            /* model also what nobody counts, for its duration */
};

struct sg_count_run {
	struct sg_counting *counting;
	struct sg_plan *plan; /* NULL: only samples are wanted */
	uint32_t choice;      /* number of a set, or SOFTGPU_REPLAY */
	struct sg_count_info info;
	bool quiet; /* for its duration only: there is no result to be kept */
	struct sg_model *model;
	struct sg_model_dispatch d;
	uint64_t n_wgs, stride; /* of the dispatch; every stride-th is modelled */

	/* passes: one, or when replayed one for each set */
	uint32_t n_passes, n_done; /* wanted; counted so far */
	struct sg_model_result *passes;
	uint64_t saved_bytes, replay_host_ns;

	/* the pass under way */
	pthread_t thread;
	bool counted;
	struct sg_model_result r;
	pthread_mutex_t lock;
	pthread_cond_t arrived;
	struct sg_wg_traces **traces; /* [wg], NULL: not done, or taken */
	uint64_t *digests;            /* [wg] */
	uint64_t n_arrived;
	uint64_t wanted;  /* the model has asked for those before it */
	uint64_t awaited; /* the model sleeps until this one is done; UINT64_MAX: it does not */
	uint64_t n_bytes;
	bool cancelled, starved;

	/* is it like one that was modelled before? */
	struct sg_known_key key;
	struct sg_known_world world;
	struct sg_guess guess;
	struct sg_mem_block blocks[SG_MAX_MEM_BLOCKS]; /* that the model asked about */
	uint32_t n_blocks, last_block;
	bool has_digests;   /* the traces are compared; workers read it */
	bool is_unknowable; /* the model's: it depends on more than can be compared */
	bool was_known;

	struct softgpu_pc_sample *samples;
	size_t n_samples, samples_room;
};

/* run.c */
void sg_spare_traces_free(struct spare_traces *spares);

/* counting.c: makes the result of a run whose passes are done, and keeps it for the reader. */
void sg_counting_keep(struct sg_count_run *run);
struct sg_model *sg_counting_model(struct sg_counting *c, uint64_t queue); /* NULL: no memory */
/* Has this kernel not run on its queue before? The lock is held. */
bool sg_counting_first_time(struct sg_counting *c, uint64_t queue, uint64_t kernel);

#endif
