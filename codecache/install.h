/*
 * install: the interface of the code cache, a library that the software GPU loads.
 *
 * Programs on the software GPU spend most of their start in AMD's compiler library (libamd_comgr): HIP
 * compiles its own kernels in every process, always the same ones. The cache keeps the results in files,
 * also those of hipRTC. Results are kept only of actions that depend on nothing but their inputs.
 *
 * WAVESCOPE_CODE_CACHE: the folder to use instead of ~/.cache/wavescope/code. If it is "off", the software
 * GPU does not load the library.
 */
#ifndef WS_CODECACHE_INSTALL_H
#define WS_CODECACHE_INSTALL_H

#include "base/util.h"

#include <stdbool.h>

/*
 * From now on. True: there is nothing more to do. False: HIP is not loaded yet. @log gets a line per
 * event; it may be NULL.
 *
 * Threads  one at a time; the program's may run meanwhile.
 */
WS_PUBLIC bool codecache_install(void (*log)(const char *text));

#endif
