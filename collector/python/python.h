/*
 * python: calls of Python functions as regions.
 *
 * The package rocprofsys (python/rocprofsys) runs in the program's interpreter and finds
 * these functions with ctypes. It gives col_python_event() to PyEval_SetProfile(), so the
 * interpreter calls it directly: no Python code runs per call. That is the reason why
 * sys.monitoring, whose callbacks are Python callables, is not used; Python 3.12 and later
 * have PyEval_SetProfile(), too.
 *
 * A code object is shown to the package once, in its first call. The package decides whether the
 * function is recorded and under which name, and returns the number of its region or one of
 * COL_PYTHON_*. The answer is kept in a table, and the code object with it. The interpreter is used
 * through functions that are looked up by name, so the collector is linked with no Python.
 *
 * Threads  each event is of the calling thread, which holds the interpreter's lock. Without that
 *          lock (free-threaded Python) the table is read without locks and written under one.
 * errno    kept.
 * Failure  an exception of the package is reported as Python reports those of destructors; the
 *          function is then not recorded.
 */
#ifndef WS_COLLECTOR_PYTHON_PYTHON_H
#define WS_COLLECTOR_PYTHON_PYTHON_H

#include <stdint.h>

#pragma GCC visibility push(default)

#define COL_PYTHON_SKIP 0u              /* the function is not recorded, what it calls is */
#define COL_PYTHON_SKIP_ALL 0xffffffffu /* nor is what it calls */
#define COL_PYTHON_SKIP_OWN 0xfffffffeu /* nor are functions written in C that it calls */

#define COL_PYTHON_C_CALLS 1u  /* functions written in C are recorded */
#define COL_PYTHON_EACH 2u     /* the name depends on arguments: ask at each call, show the frame */
#define COL_PYTHON_ANNOTATE 4u /* with file, line, lasti, argcount, nlocals and stacksize */

/* A Py_tracefunc. @resolver: called with a code object, a frame (EACH) or a C function. */
int col_python_event(void *resolver, void *frame, int what, void *arg);

/* COL_PYTHON_ bits; forgets what the package answered. 0: the interpreter was not found. */
int col_python_configure(uint32_t flags);

/*
 * Profiling of the calling thread begins, and ends: what is open since then ends, too, because
 * no event will end it.
 */
uint32_t col_python_mark(void);
void col_python_rewind(uint32_t mark);

/* Events of the calling thread are ignored while the sum of its changes is positive. */
void col_python_pause(int change);

#pragma GCC visibility pop

#endif
