/*
 * convert: the captures of a run as the files of rocprof-sys.
 *
 * Per process a Perfetto trace, profiles, metadata and a database, as the settings have it. A
 * file that cannot be written does not keep the others from being written.
 */
#ifndef WS_CMD_SYS_CONVERT_H
#define WS_CMD_SYS_CONVERT_H

#include "launch/claim.h"
#include "launch/placeholder.h"
#include "launch/rundir.h"
#include "launch/running.h"
#include "output/ledger.h"
#include "settings/names.h"
#include "settings/values.h"

struct sys_convert {
	const char *tool;
	const struct set_values *values;
	const struct launch_place *place;
	struct timespec since; /* when the run began, by launch_claim_now() */
	bool recovering;       /* the run was another one: nothing of ours is its parent */
};

struct sys_outcome {
	struct output_ledger ledger;
	unsigned n_failed;     /* captures or files that could not be converted or written */
	unsigned n_unrecorded; /* processes that could not create a capture */
	unsigned n_brief;      /* programs without files: see convert.c */
	struct launch_running_set running; /* still going on: their output is not the last word */
};

/* Prints files and the ledger on stderr as it goes. Fails only when nothing can be done. */
enum ws_status sys_convert(const struct sys_convert *how, const struct launch_rundir *dir,
			   struct sys_outcome *out_outcome, struct ws_err *err);

#endif
