/*
 * cmd: the commands a person types. All are one program, which looks at the name
 * it was called by; main.c has the table.
 */
#ifndef WS_CMD_CMD_H
#define WS_CMD_CMD_H

#include "base/cmd.h"

extern const struct ws_cmd ws_wavescope_cmd;
extern const struct ws_cmd ws_rocprofv3_cmd;
extern const struct ws_cmd ws_rocprofv3_avail_cmd;
extern const struct ws_cmd ws_rocpd_cmd;
extern const struct ws_cmd ws_rocpd2csv_cmd;
extern const struct ws_cmd ws_rocpd2otf2_cmd;
extern const struct ws_cmd ws_rocpd2pftrace_cmd;
extern const struct ws_cmd ws_rocpd2summary_cmd;
extern const struct ws_cmd ws_rocprof_compute_cmd;

#endif
