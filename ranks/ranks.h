/*
 * ranks: the captures of a parallel program as one job.
 *
 *	trc_open(paths, n_paths, NULL, &trace, err);
 *	st = rnk_job_open(trace, &job, err);           who is which rank, on which machine
 *	st = rnk_job_align(job, &opts, err);           all clocks on the one of the first rank
 *	st = rnk_imbalance_create(job, ...);           imbalance.h
 *	rnk_job_close(job);
 *
 * A rank is a process whose environment has the rank of a launcher. Processes that it starts
 * have the same environment, and belong to it. Machines are told apart by the id of
 * their clock (cap_file_head.boot_id), which is all that matters here: processes with
 * the same one need no alignment.
 *
 * What is strange but no reason to stop (a rank is missing, a capture is damaged) is a note, for the
 * command to print.
 *
 * Threads  one at a time.
 * Memory   the trace is borrowed; it is closed after the job. Alignment needs up to
 *          RNK_SIGHTINGS_MAX collectives at a time, whatever the number of ranks and events.
 */
#ifndef WS_RANKS_RANKS_H
#define WS_RANKS_RANKS_H

#include "base/error.h"
#include "base/vec.h"
#include "ranks/offset.h"
#include "trace/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RNK_SIGHTINGS_MAX ((size_t)4 << 20)

/* How the clock of a node was placed. */
enum rnk_clock_from {
	RNK_CLOCK_UNKNOWN,
	RNK_CLOCK_REFERENCE,   /* it is the clock of the trace */
	RNK_CLOCK_COLLECTIVES, /* estimated from collectives */
	RNK_CLOCK_STAMPS,      /* estimated from stamps alone (stamps.h) */
	RNK_CLOCK_ASSUMED,     /* the user says that CLOCK_REALTIME is the same everywhere */
};
const char *rnk_clock_from_word(enum rnk_clock_from from); /* "reference", "collectives", ... */
bool rnk_clock_is_estimated(enum rnk_clock_from from);

struct rnk_node {
	const char *host; /* "" unknown */
	uint8_t boot_id[16];
	enum rnk_clock_from from;
	struct rnk_offset offset; /* of its clock; the estimate's fields if it is one */
	size_t n_common;          /* collectives in common with the node it was compared with */
	size_t n_stamps;          /* that one of the two read of the other */
	size_t compared_with;     /* that node */
	size_t n_ranks;
};

struct rnk_member {
	const struct trc_process *process;
	size_t process_at; /* in the trace */
	size_t node;
	bool ranked; /* false: no launcher's rank; in the trace, not in the summary */
	bool first;  /* of the processes of its rank: the others were started by it */
	uint64_t rank;
};

struct rnk_job {
	struct trc_trace *trace;
	struct rnk_member *members; /* by rank, then by start; those without a rank come last */
	size_t n_members;
	struct rnk_node *nodes; /* the first is the one of the first rank */
	size_t n_nodes;
	size_t n_ranks;       /* that are there */
	uint64_t size;        /* that there should be; 0 unknown */
	struct ws_strv notes; /* owned */
};

/*
 * An error: no process, two runs in one (a rank twice, sizes that differ). All clocks are those
 * of the machines then.
 */
enum ws_status rnk_job_open(struct trc_trace *trace, struct rnk_job **out_job, struct ws_err *err);
void rnk_job_close(struct rnk_job *job); /* NULL is fine */

struct rnk_align_opts {
	bool assume_aligned; /* CLOCK_REALTIME is the same everywhere: do not estimate */
	/*
	 * A pattern of kernel names: all ranks run these kernels together, in the same order. NULL:
	 * collectives of MPI only.
	 */
	const char *collective_kernels;
	const struct ws_strv *stamp_files; /* of launch/clock_stamps.h; NULL: none */
};

/*
 * Place the clocks of all nodes. WS_E_NOTFOUND: a node has nothing in common with the others.
 * WS_E_STATE: what they have in common contradicts.
 */
enum ws_status rnk_job_align(struct rnk_job *job, const struct rnk_align_opts *opts,
			     struct ws_err *err);

enum ws_status rnk_job_note(struct rnk_job *job, struct ws_err *err, const char *format, ...)
	WS_PRINTF(3, 4);

/* "0-3,8": of a node's ranks; cut with "..." where there is not enough room. */
void rnk_node_ranks_text(const struct rnk_job *job, size_t node, char *to, size_t room);

#endif
