/* pftrace_priv: what the slices and the counter tracks of a Perfetto trace share. */
#ifndef WS_OUTPUT_PFTRACE_PRIV_H
#define WS_OUTPUT_PFTRACE_PRIV_H

#include "output/output_priv.h"
#include "output/pf_file.h"

/* A series of values; see pftrace_counters.c. */
struct output_pf_counters;

struct output_pf_gpu_slice {
	uint64_t start_ns, end_ns, seq;
	bool settled; /* its times will not change */
	struct trc_event ev;
	union {
		struct cap_rec_dispatch dispatch;
		struct cap_rec_copy copy;
	} info;
	struct output_counter_sum *sums;
	size_t n_sums, cap_sums;
	struct output_pf_gpu_slice **last; /* where its queue keeps it */
	struct output_pf_gpu_slice *next_free;
};

struct output_pf {
	struct output_run *run;
	struct output_pf_file file;
	/* of the process being written */
	struct output_pf_counters *counters;
	bool queue_mode;
	/* by index and id; NULL: not seen yet */
	struct output_pf_track **threads, **streams, **queues;
	struct output_pf_gpu_slice **last; /* by queue id */
	struct ws_map copies;              /* (agent, thread) to struct output_pf_track */
	struct output_pf_gpu_slice **heap;
	size_t n_heap, cap_heap;
	struct output_pf_gpu_slice *free;
	uint64_t seq;
};

/* ---- tracks: pftrace_tracks.c ---- */

/* Tracks are described at their first use; NULL: no memory. */
/* Add what the program calls it to a track's name, unless it is "" or the trace a database's. */
void output_pf_call_it(const struct output_pf *pf, char *name, size_t n_bytes, const char *given);
struct output_pf_track *output_pf_thread_track(struct output_pf *pf,
					       const struct trc_thread *thread);
struct output_pf_track *output_pf_stream_track(struct output_pf *pf, const struct trc_event *ev);
struct output_pf_track *output_pf_queue_track(struct output_pf *pf, const struct trc_event *ev);
struct output_pf_track *output_pf_copy_track(struct output_pf *pf, const struct trc_event *ev);

/* ---- GPU work, held back until its times are settled: pftrace_gpu.c ---- */

enum ws_status output_pf_take_gpu(struct output_pf *pf, const struct trc_event *ev);
/* Nothing that begins before @now_ns is still to come. */
enum ws_status output_pf_release(struct output_pf *pf, uint64_t now_ns);
/* pftrace.c */
enum ws_status output_pf_put_gpu(struct output_pf *pf, const struct output_pf_gpu_slice *slice);

/* ---- counter tracks: pftrace_counters.c ---- */

struct output_pf_counters *output_pf_counters_create(struct output_pf *pf);
void output_pf_counters_destroy(struct output_pf_counters *counters);
/* Every copy, allocation, scratch event and counted dispatch, by start. */
/* An output_interval_fn; @ctx: the counters. */
enum ws_status output_pf_counters_interval(void *ctx, const struct output_interval *interval);
enum ws_status output_pf_counters_event(struct output_pf_counters *counters,
					const struct trc_event *ev);
enum ws_status output_pf_counters_flush(struct output_pf_counters *counters);

#endif
