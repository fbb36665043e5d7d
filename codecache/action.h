/*
 * action: one call of the compiler library, answered from the store.
 *
 * The key is a digest of the compiler's files, the action, its settings and every input. The value is
 * the objects that the action produced: kind, name and bytes of each, the log included. Only
 * successful actions are kept, and none whose result contains an input object itself.
 *
 * Threads  any; the library's own rules apply to the objects.
 */
#ifndef WS_CODECACHE_ACTION_H
#define WS_CODECACHE_ACTION_H

#include "base/str.h"
#include "codecache/comgr.h"
#include "codecache/digest.h"
#include "codecache/store.h"

#include <stdatomic.h>

struct cc_cache {
	struct cc_comgr comgr;
	struct cc_store store;
	uint8_t compiler[CC_DIGEST_BYTES]; /* cc_compiler_digest() */
	void (*log)(const char *text);     /* what happened, for whoever debugs */
	atomic_bool off;                   /* something was met that the key cannot cover */
};

/*
 * What compiles, by path, size, time and build ID of the files: the one with that function, and those
 * of LLVM. False: some file is not there any more.
 */
bool cc_compiler_digest(const void *function, uint8_t out[CC_DIGEST_BYTES]);

/* As amd_comgr_do_action(), while the cache is not off. @info must have an ISA name. */
int cc_action_run(struct cc_cache *cache, int kind, struct cc_handle info, struct cc_handle input,
		  struct cc_handle result);

/*
 * The bytes of an entry. The next object at *@rest; false: no more, or no objects. What a damaged entry
 * would contain is read within its bounds.
 */
struct cc_object {
	uint32_t kind;
	struct ws_str name; /* terminated behind its end */
	struct ws_str bytes;
};
void cc_object_write(const struct cc_object *object, struct ws_buf *out);
bool cc_object_read(struct ws_str *rest, struct cc_object *out);

#endif
