/*
 * hook: where calls of AMD's compiler library become calls of the cache.
 *
 * Programs on the software GPU spend most of their start in AMD's compiler library (libamd_comgr): HIP
 * compiles its own kernels in every process, always the same ones. The cache keeps the results in files,
 * also those of hipRTC. Results are kept only of actions that depend on nothing but their inputs.
 *
 * HIP opens the library when a program first uses a GPU, and looks its functions up by name. So it is
 * given another dlsym() (companion/companion.h), from which it gets wrappers of a few functions, and
 * AMD's own of all others. No file, path or variable changes, so HIP finds the library it would find anyway.
 *
 * HIP 5.7 as Debian builds it is linked with the library instead: then its calls are replaced (base/got.h).
 *
 * The getters of the library crash for settings that were not set. So the functions that make, change and
 * delete the settings of an action ("infos") have wrappers as well, which remember what was set.
 * An action with settings that the key does not cover is passed on.
 *
 * WAVESCOPE_CODE_CACHE: "off", or the folder to use instead of ~/.cache/wavescope/code.
 *
 * Threads  any. There is one lock, held for a few instructions.
 */
#ifndef WS_CODECACHE_HOOK_H
#define WS_CODECACHE_HOOK_H

#include <stdbool.h>
#include <stdint.h>

bool cc_hook_wanted(void); /* it is not off */
/* A line per event; NULL: none. Before the first lookup. */
void cc_hook_set_log(void (*log)(const char *text));
/* The library whose file name begins so calls the cache where it calls the compiler library directly; how many functions. */
uint32_t cc_hook_link(const char *client);
/* As dlsym(). */
void *cc_hook_look_up(void *restrict library, const char *restrict name);

#endif
