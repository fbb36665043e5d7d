/* The files of a workload folder that describe the profile rather than hold its counters. */
#ifndef WS_CMD_COMPUTE_PROFILE_FILES_H
#define WS_CMD_COMPUTE_PROFILE_FILES_H

#include "cmd/compute/profile.h"

enum ws_status pf_write_sysinfo(struct pf *pf, bool roofline, struct ws_err *err);
/* profiling_config.yaml: every option; @sections are the report blocks that the folder holds. */
enum ws_status pf_write_config(struct pf *pf, const struct ws_strv *sections, struct ws_err *err);

#endif
