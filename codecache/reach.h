/*
 * reach: whether a compilation depends on nothing but its inputs.
 *
 * A result may be reused only if no file, no clock and no random name went into it. The compiler
 * does not report what it read, so this is decided before: by the options, of which only those in
 * a table are known to name no file, and by the text of the sources. Whatever is not understood
 * counts as a dependency: it is compiled again each time, as without a cache.
 *
 * Threads  any.
 */
#ifndef WS_CODECACHE_REACH_H
#define WS_CODECACHE_REACH_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

/* What the inputs of an action offer. */
struct cc_reach {
	const char *const *headers; /* names of headers that are inputs */
	size_t n_headers;
	bool has_source;      /* there is source text among the inputs */
	bool has_precompiled; /* there is a precompiled header */
};

/* Each returns NULL, or what the result also depends on, as long as the arguments live. */
const char *cc_reach_options(const struct cc_reach *reach, const char *const *options,
			     size_t n_options);
const char *cc_reach_text(const struct cc_reach *reach, struct ws_str text);

#endif
