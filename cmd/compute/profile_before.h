/*
 * What an earlier profile left in the folder, and what becomes of it.
 *
 * Nothing that took runs of a program is thrown away unless --replace says so: an
 * unfinished profile is continued, a finished one of the same program is added to, and
 * any other is moved aside, to DIR.1, DIR.2, ...
 */
#ifndef WS_CMD_COMPUTE_PROFILE_BEFORE_H
#define WS_CMD_COMPUTE_PROFILE_BEFORE_H

#include "cmd/compute/profile.h"
#include "workload/state.h"

enum pf_before {
	PF_FRESH,  /* the folder is there and empty */
	PF_RESUME, /* some passes are done */
	PF_ADD,    /* a finished profile of the same program: counters are added */
};

/* What makes results of two runs comparable, as one text; in pf's arena. */
const char *pf_how(struct pf *pf);

/*
 * Make the folder ready. @now describes this run; @out_old is what is in the folder, empty
 * when PF_FRESH, and lives in pf's arena; wl_state_fini() is due either way.
 */
enum ws_status pf_prepare_dir(struct pf *pf, const struct wl_state *now, struct wl_state *out_old,
			      enum pf_before *out_before, struct ws_err *err);

/* The run is refused: a folder that was made for it, and is empty, goes. */
void pf_unmake_dir(const struct pf *pf);

#endif
