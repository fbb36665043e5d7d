/* wavescope: what its sub-commands share. */
#ifndef WS_CMD_WAVESCOPE_WAVESCOPE_H
#define WS_CMD_WAVESCOPE_WAVESCOPE_H

#include "base/cmd.h"

#include <stdbool.h>

extern const struct ws_cmd wavescope_advise_cmd;
extern const struct ws_cmd wavescope_run_cmd;
extern const struct ws_cmd wavescope_info_cmd;
extern const struct ws_cmd wavescope_doctor_cmd;
extern const struct ws_cmd wavescope_fidelity_cmd;
extern const struct ws_cmd wavescope_gpu_info_cmd;
extern const struct ws_cmd wavescope_merge_cmd;
extern const struct ws_cmd wavescope_library_trace_cmd;
extern const struct ws_cmd wavescope_top_cmd;
extern const struct ws_cmd wavescope_view_cmd;
extern const struct ws_cmd wavescope_agents_cmd; /* hidden: see launch/agents.h */

#endif
