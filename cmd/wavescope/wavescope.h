/* wavescope: what its sub-commands share. */
#ifndef WS_CMD_WAVESCOPE_WAVESCOPE_H
#define WS_CMD_WAVESCOPE_WAVESCOPE_H

#include "base/cmd.h"

#include <stdbool.h>

extern const struct ws_cmd wavescope_run_cmd;
extern const struct ws_cmd wavescope_info_cmd;
extern const struct ws_cmd wavescope_doctor_cmd;
extern const struct ws_cmd wavescope_fidelity_cmd;
extern const struct ws_cmd wavescope_agents_cmd; /* hidden: the child of info and doctor */

/*
 * The name of the hidden command. It talks to AMD's runtime, which may abort, so
 * info and doctor run it as a child.
 */
#define WAVESCOPE_AGENTS_NAME "_agents"

#endif
