/*
 * library: where the loader would find a shared library. Nothing is loaded, because AMD's libraries run code then.
 */
#ifndef WS_LAUNCH_LIBRARY_H
#define WS_LAUNCH_LIBRARY_H

#include "base/str.h"

#include <limits.h>
#include <stdbool.h>

/* The text of `ldconfig -p`, for several searches; empty if it does not run. */
void launch_library_cache(struct ws_buf *out_text);
/* In LD_LIBRARY_PATH, the loader's cache, and ROCm's own folder. */
bool launch_library_find(const struct ws_buf *cache, const char *name, char out_path[PATH_MAX]);

#endif
