/* What the files of the program share. */
#ifndef WS_TESTS_COLLECTOR_SAMPLE_PROGRAM_H
#define WS_TESTS_COLLECTOR_SAMPLE_PROGRAM_H

#include <signal.h>
#include <stdbool.h>
#include <time.h>

/* sample_program.c */
extern volatile sig_atomic_t n_signals;                                   /* of the program's own */
__attribute__((format(printf, 1, 2))) void fail(const char *format, ...); /* ends the program */
double seconds(clockid_t clock);

/* sample_waits.c */
void waits(void);

/* sample_ends.c */
void leave(void);
void strict(void);
void end_raw(bool in_strict_mode);

/* sample_counts.c */
void counts(void);
void reuse(void);

#endif
