/*
 * convert: the captures of a run become the files that were asked for, and the ledger
 * tells what became of what.
 */
#ifndef WS_CMD_ROCPROFV3_CONVERT_H
#define WS_CMD_ROCPROFV3_CONVERT_H

#include "cmd/rocprofv3/options.h"
#include "launch/claim.h"
#include "launch/placeholder.h"
#include "launch/rundir.h"
#include "launch/running.h"
#include "trace/trace.h"

#include <stdbool.h>
#include <stdint.h>

struct rp_convert {
	const struct rp_args *args;  /* groups opened */
	const struct rp_args *asked; /* as a person named things */
	uint32_t env_formats;        /* OUTPUT_BIT()s of ROCPROF_OUTPUT_FORMAT */
	const char *folder;          /* below the output directory, or "" */
	const struct launch_place *place;
	struct timespec since; /* when the run began, by launch_claim_now() */
	bool recovering;       /* the run was another one: nothing of ours is its parent */
	bool again;            /* other output of it was written before: the accounts are known */
	bool shared;           /* and there is more: captures stay */
};

#define RP_RUNNING_MAX 8u

struct rp_outcome {
	uint64_t seen[CAP_DOMAIN_COUNT];
	uint64_t n_lost;       /* records seen and not written, for whatever reason */
	uint64_t n_unended;    /* kernels that were submitted, and nobody knows of their end */
	unsigned n_processes;  /* with something in their capture */
	unsigned n_idle;       /* that used no GPU at all */
	unsigned n_failed;     /* captures or formats that gave no output */
	unsigned n_unrecorded; /* that had no place for a capture */
	unsigned n_cut;        /* whose capture somebody truncated while they ran */
	unsigned n_running;    /* still going on, so their output is not the last word */
	struct launch_running running[RP_RUNNING_MAX]; /* the first of these */
	bool short_of_strict;                          /* named and not seen, or lost */
};

/* Prints results and the ledger on stderr as it goes. Fails only when nothing can be done. */
enum ws_status rp_convert(const struct rp_convert *how, const struct launch_rundir *dir,
			  struct rp_outcome *out_outcome, struct ws_err *err);

/* ROCPROF_OUTPUT_FORMAT and -f as bits. */
uint32_t rp_format_bits(const struct ws_strv *words);

/* ledger.c: one process, and the end of a run. */
struct output_result;
void rp_ledger_process(const struct rp_convert *how, const struct trc_process *process,
		       uint32_t formats, const struct output_result *result,
		       struct rp_outcome *outcome);
const char *rp_base_name(const struct trc_process *process); /* of its program */
void rp_ledger_end(const struct rp_convert *how, struct rp_outcome *outcome);

#endif
