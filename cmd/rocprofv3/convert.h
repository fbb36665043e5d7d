/*
 * convert: the captures of a run become the requested files, and the ledger says what was
 * observed, written and dropped.
 */
#ifndef WS_CMD_ROCPROFV3_CONVERT_H
#define WS_CMD_ROCPROFV3_CONVERT_H

#include "cmd/rocprofv3/options.h"
#include "launch/claim.h"
#include "launch/placeholder.h"
#include "launch/rundir.h"
#include "launch/running.h"
#include "output/ledger.h"
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

struct rp_outcome {
	struct output_ledger ledger;
	unsigned n_failed;                 /* captures or formats that gave no output */
	unsigned n_unrecorded;             /* processes that could not create a capture */
	struct launch_running_set running; /* still going on: their output is not the last word */
	bool short_of_strict;              /* named and not seen, or lost */
};

/* Prints results and the ledger on stderr as it goes. Fails only when nothing can be done. */
enum ws_status rp_convert(const struct rp_convert *how, const struct launch_rundir *dir,
			  struct rp_outcome *out_outcome, struct ws_err *err);

/* ROCPROF_OUTPUT_FORMAT and -f as bits. */
uint32_t rp_format_bits(const struct ws_strv *words);

#endif
