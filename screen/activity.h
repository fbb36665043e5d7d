/*
 * activity: what the GPUs of a trace do, or did: for a screen that is looked at while the program runs.
 *
 * The events of a trace are added up. While a program runs, traces of what is new are added to the
 * same sums (trc_mark), so that a refresh does not depend on how long the program has been running.
 * Rates and shares are of the recent past while a process runs, and of the whole time from the first
 * event to the last one afterwards.
 *
 *	scr_activity_init(&activity);
 *	st = scr_activity_add(&activity, trace, now_ns, err);      again with what is new
 *
 * Memory   everything lives until scr_activity_fini(); names are copied, so the trace may be closed.
 * Threads  one at a time.
 * Failure  WS_E_NOMEM; the sums are wrong then, and to be finished.
 */
#ifndef WS_SCREEN_ACTIVITY_H
#define WS_SCREEN_ACTIVITY_H

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trc_trace;
struct trc_process;

#define SCR_RECENT_NS 5000000000u
#define SCR_SLOTS 60u /* of the history */
#define SCR_BUCKET_NS 500000000u
#define SCR_BUCKETS (SCR_RECENT_NS / SCR_BUCKET_NS + 1) /* the recent past, and the one at hand */

/* The recent past of a GPU or a kernel: a ring by number of the bucket, end_ns / SCR_BUCKET_NS. */
struct scr_bucket {
	uint64_t number;
	uint64_t n, busy_ns, copied_bytes;
};

/* A GPU that a process used. */
struct scr_gpu_activity {
	uint32_t pid, agent; /* id of the agent in the process */
	uint32_t node;       /* as findings number GPUs */
	const char *program, *name;
	uint64_t n_kernels, n_copies;
	uint64_t busy_ns; /* a kernel or a copy runs */
	uint64_t copied_bytes;
	uint64_t n_recent, recent_busy_ns, recent_copied_bytes;
	struct scr_bucket buckets[SCR_BUCKETS];
	uint64_t slots[SCR_SLOTS]; /* busy time of each part of the history */
	bool memory_known;         /* allocations were recorded */
	uint64_t memory_bytes, memory_peak_bytes;
	uint64_t busy_until_ns;
};

struct scr_kernel_activity {
	const char *name;
	uint64_t n, n_recent;
	uint64_t sum_ns, min_ns, max_ns;
	struct scr_bucket buckets[SCR_BUCKETS];
};

struct scr_activity {
	WS_VEC(struct scr_gpu_activity) gpus;
	WS_VEC(struct scr_kernel_activity) kernels;
	size_t n_processes, n_running;
	const char *program; /* of the first process */
	uint32_t pid;
	const char *times;          /* trc_gpu_times_word() of the first process */
	uint64_t first_ns, last_ns; /* of events; equal: there are none */
	uint64_t from_ns, to_ns;    /* what rates are about */
	uint64_t slots_from_ns, slot_ns;
	uint64_t kernels_ns;     /* sum of all kernels */
	uint64_t n_dropped;      /* records */
	struct ws_map kernel_of; /* name: index + 1 */
	struct ws_map allocated; /* hash of process and address: what is allocated there */
	struct ws_arena arena;
};

void scr_activity_init(struct scr_activity *activity);
/* @now_ns: CLOCK_BOOTTIME, for processes that run. */
enum ws_status scr_activity_add(struct scr_activity *activity, const struct trc_trace *trace,
				uint64_t now_ns, struct ws_err *err);

/* Both at once, of a whole trace; on failure there is nothing to finish. */
enum ws_status scr_activity_read(const struct trc_trace *trace, uint64_t now_ns,
				 struct scr_activity *out, struct ws_err *err);
void scr_activity_fini(struct scr_activity *activity); /* a zeroed or finished one is fine */

/* Of this machine and not ended. */
bool scr_process_runs(const struct trc_process *process);

#endif
