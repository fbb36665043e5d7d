/* wavescope: what its sub-commands share. */
#ifndef WS_CMD_WAVESCOPE_WAVESCOPE_H
#define WS_CMD_WAVESCOPE_WAVESCOPE_H

#include "base/cmd.h"

#include <stdbool.h>

extern const struct ws_cmd ws_run_cmd;
extern const struct ws_cmd ws_info_cmd;
extern const struct ws_cmd ws_doctor_cmd;
extern const struct ws_cmd ws_fidelity_cmd;
extern const struct ws_cmd ws_agents_cmd; /* hidden: the child of info and doctor */

/*
 * The name of the hidden command. It talks to AMD's runtime, which may abort, so
 * info and doctor run it as a child.
 */
#define WS_AGENTS_NAME "_agents"

#endif
