/*
 * companion: adapts HIP to a GPU that runs on the cores of the host. A library that the software GPU loads
 * when the runtime opens the driver, if it is beside it.
 *
 * Some of the functions that HIP calls in other libraries are replaced (base/got.h):
 *
 *	dlsym()				results of AMD's compiler library are cached	codecache/hook.h
 *	amd_comgr_*()			the same, where HIP is linked with that library
 *	hsa_signal_wait_*()		threads that wait do not spin			companion/wait.h
 */
#ifndef WS_COMPANION_COMPANION_H
#define WS_COMPANION_COMPANION_H

#include "base/util.h"

#include <stdbool.h>

/*
 * From now on. True: there is nothing more to do. False: HIP is not loaded yet. @log gets a line per
 * event; it may be NULL.
 *
 * Threads  one at a time; the program's may run meanwhile.
 */
WS_PUBLIC bool companion_install(void (*log)(const char *text));

#endif
