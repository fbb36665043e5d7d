/*
 * softgpu: the library of the software GPU in the profiled program, whichever interface it
 * presents.
 *
 * Threads  any.
 */
#ifndef WS_COLLECTOR_SOFTGPU_H
#define WS_COLLECTOR_SOFTGPU_H

/*
 * A handle for dlsym() and dlclose(), if the program has loaded it; NULL: it has not. The thunk's
 * name may also be that of AMD's own library: look for softgpu_* functions and expect to find
 * none.
 */
void *col_softgpu_open(void);

#endif
