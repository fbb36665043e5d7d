/* What the files of the program share: calls to record, and what else it can do. */
#ifndef WS_TESTS_COLLECTOR_PROGRAM_H
#define WS_TESTS_COLLECTOR_PROGRAM_H

#include "collector/collector_priv.h"

/* program.c */
void outer(void); /* a call with another one inside */
void outers(long n);
void threads(long n, long n_calls); /* at once; they have ended on return */

/* program_hurt.c */
void cut(long n_bytes, const char *handler);
void resend(void);
void sandbox(const char *how);

#endif
