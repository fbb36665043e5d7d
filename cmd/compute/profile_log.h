/*
 * profile_log: the lines that a profile prints, on stdout and in log.txt.
 *
 * ROCPROFCOMPUTE_COLOR chooses how a line looks: 0 bare, only errors are marked; 1 (the
 * default) the level in colour; 2 the level without colour; 3 bare, other levels in colour.
 * Colour only on a terminal. ROCPROFCOMPUTE_LOGLEVEL (debug, trace, info, error) comes
 * before -V and -q. log.txt gets every line from INFO up, the text alone, in any case.
 *
 * Threads  any: a line is written whole.
 */
#ifndef WS_CMD_COMPUTE_PROFILE_LOG_H
#define WS_CMD_COMPUTE_PROFILE_LOG_H

#include "base/error.h"
#include "base/util.h"

#include <stdbool.h>
#include <stdint.h>

enum pf_log_level { PF_LOG_TRACE, PF_LOG_DEBUG, PF_LOG_INFO, PF_LOG_WARNING, PF_LOG_ERROR };

/* Reads the two variables; a wrong value is WS_E_USAGE. */
enum ws_status pf_log_init(bool verbose, bool quiet, struct ws_err *err);
void pf_log_fini(void); /* closes the log */

/* Ranks of one launch share a terminal: from now on, lines on stdout begin with the rank. */
void pf_log_name_rank(uint64_t rank);

/* Lines go to dir/log.txt as well from now on; earlier lines are written there first. */
enum ws_status pf_log_open(const char *dir, bool append, struct ws_err *err);

void pf_log(enum pf_log_level level, const char *fmt, ...) WS_PRINTF(2, 3);
bool pf_log_shows(enum pf_log_level level);
/* To log.txt alone: what the command prints on stderr when it ends. */
void pf_log_to_file(const char *text);

/* Where stdout was when we started: what pf_log() writes to, also while it is redirected. */
int pf_log_stdout(void);

#endif
