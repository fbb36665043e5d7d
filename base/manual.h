/*
 * manual: the manual page of a command, from the tables that --help is printed from.
 *
 * One page per program, sub-commands as sections of it. The text is roff with the man macros, which
 * groff and mandoc format without a warning.
 */
#ifndef WS_BASE_MANUAL_H
#define WS_BASE_MANUAL_H

#include "base/cmd.h"

struct ws_manual {
	const char *version;         /* shown in the footer: "wavescope 0.1.0" */
	const char *date;            /* year-month-day */
	const char *const *see_also; /* names of other pages, NULL at the end; may be NULL */
};

void ws_manual_print(FILE *to, const struct ws_cmd *cmd, const struct ws_manual *manual);

#endif
