/*
 * cmd: the commands a person types. All are one program, which looks at the name
 * it was called by; main.c has the table.
 */
#ifndef WS_CMD_CMD_H
#define WS_CMD_CMD_H

#include "base/cmd.h"

extern const struct ws_cmd cmd_wavescope;
extern const struct ws_cmd cmd_madengine;
extern const struct ws_cmd cmd_rocprofv3;
extern const struct ws_cmd cmd_rocprofv3_avail;
extern const struct ws_cmd cmd_rocpd;
extern const struct ws_cmd cmd_rocpd2csv;
extern const struct ws_cmd cmd_rocpd2otf2;
extern const struct ws_cmd cmd_rocpd2pftrace;
extern const struct ws_cmd cmd_rocpd2summary;
extern const struct ws_cmd cmd_rocprof_compute;
extern const struct ws_cmd cmd_rocprof_sys_avail;
extern const struct ws_cmd cmd_rocprof_sys_instrument;
extern const struct ws_cmd cmd_rocprof_sys_merge_output;
extern const struct ws_cmd cmd_rocprof_sys_python;
extern const struct ws_cmd cmd_rocprof_sys_run;
extern const struct ws_cmd cmd_rocprof_sys_sample;

#endif
