/* From report blocks to counters; apart from profile.h, which need not know the planner. */
#ifndef WS_CMD_COMPUTE_PROFILE_SELECT_H
#define WS_CMD_COMPUTE_PROFILE_SELECT_H

#include "cmd/compute/profile.h"
#include "workload/sheet.h"

#define PF_BLOCK_ROOFLINE 4u
#define PF_BLOCK_PC_SAMPLING 21u

/*
 * The counters of pf->sections (none: of everything), sorted by name; in pf's arena. A
 * section that is not there is said and skipped; one that is no id is WS_E_USAGE.
 */
enum ws_status pf_select(struct pf *pf, struct wl_want **out_wants, size_t *out_n,
			 struct ws_err *err);

#endif
