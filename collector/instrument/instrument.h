/*
 * instrument: records when functions of the profiled program begin and end.
 *
 * A plan (plan.h) says which. Functions are patched when the program starts, before main(), and
 * when it opens a library, before the library's constructors. The program's files are not changed.
 *
 * This part is in the collector. libwavescope-regions.so (wrap.c) is preloaded beside it; it
 * starts this, and has the functions that programs call which were compiled for
 * instrumentation: mcount, __fentry__, __cyg_profile_func_enter. x86-64 only.
 *
 * Threads  calls of functions: any. start: once, in a constructor.
 * Signals  instrumented functions may be called in handlers. A handler that interrupts the
 *          recording of a call is not recorded.
 * errno    kept.
 * Failure  what cannot be patched is left as it is, and counted in a note.
 */
#ifndef WS_COLLECTOR_INSTRUMENT_H
#define WS_COLLECTOR_INSTRUMENT_H

#include <stdint.h>

#pragma GCC visibility push(default)

/* The library was loaded: read the plan, patch what is loaded, watch for libraries. */
void col_instrument_start(void);

/* Where mcount and __fentry__ go. They take no arguments and change no register. */
void col_instrument_mcount(void);
void col_instrument_fentry(void);

/* __cyg_profile_func_enter and _exit. @slot: an address in the frame of whoever called these. */
void col_instrument_enter(uint64_t function, const uint64_t *slot);
void col_instrument_exit(uint64_t function);

#pragma GCC visibility pop

/* Where instrumented functions return to. Of this library only; unwinders leave it out. */
void col_instrument_return(void);

#endif
