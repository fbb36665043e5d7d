/*
 * say: what a profile run tells, on stdout and in log.txt.
 *
 * ROCPROFCOMPUTE_COLOR chooses how a line looks: 0 bare, only errors are marked; 1 (the
 * default) the level in colour; 2 the level without colour; 3 bare, other levels in colour.
 * Colour only on a terminal. ROCPROFCOMPUTE_LOGLEVEL (debug, trace, info, error) comes
 * before -V and -q. log.txt gets every line from INFO up, the text alone, in any case.
 *
 * Threads  any: a line is written whole.
 */
#ifndef WS_CMD_COMPUTE_SAY_H
#define WS_CMD_COMPUTE_SAY_H

#include "base/error.h"
#include "base/util.h"

#include <stdbool.h>
#include <stdint.h>

enum say_level { SAY_TRACE, SAY_DEBUG, SAY_INFO, SAY_WARNING, SAY_ERROR };

/* Reads the two variables; a wrong value is WS_E_USAGE. */
enum ws_status say_init(bool verbose, bool quiet, struct ws_err *err);
void say_fini(void); /* closes the log */

/* Ranks of one launch share a terminal: lines on stdout say from now on whose they are. */
void say_name_rank(uint64_t rank);

/* Lines go to dir/log.txt as well from now on; those said before are written there first. */
enum ws_status say_open_log(const char *dir, bool append, struct ws_err *err);

void say(enum say_level level, const char *fmt, ...) WS_PRINTF(2, 3);
bool say_shows(enum say_level level);
/* For the log alone: what the command prints on stderr when it ends. */
void say_to_log(const char *text);

/* Where stdout was when we started: what say() writes to, also while it is redirected. */
int say_stdout(void);

#endif
