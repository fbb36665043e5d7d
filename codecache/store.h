/*
 * store: the files of the code cache, one per compiled result.
 *
 *	$XDG_CACHE_HOME/wavescope/code/<64 hex digits>		(or ~/.cache/wavescope/code)
 *
 * The name is the digest of everything the result depends on. A file has that digest, the bytes,
 * and a digest of both at its end: what is cut off or damaged does not count, and is written
 * again. A file is complete before it gets its name, so processes may read and write at once.
 * All files together are limited in size; the ones that were not used for longest are removed.
 *
 * The folder is private to the user; without one there is no cache.
 *
 * Threads  any: a store does not change after it was opened.
 */
#ifndef WS_CODECACHE_STORE_H
#define WS_CODECACHE_STORE_H

#include "base/error.h"
#include "base/str.h"
#include "codecache/digest.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define CC_STORE_VARIABLE "WAVESCOPE_CODE_CACHE"
#define CC_STORE_MAX_BYTES (256ull << 20)
#define CC_STORE_ENTRY_MAX (32u << 20) /* a larger result is not kept */

struct cc_store {
	char folder[PATH_MAX];
	uint64_t max_bytes; /* of all entries */
};

/* @folder: an absolute path; NULL: the user's. */
enum ws_status cc_store_open(struct cc_store *store, const char *folder, struct ws_err *err);

/* False: there is none, or it is damaged. */
bool cc_store_get(const struct cc_store *store, const uint8_t key[CC_DIGEST_BYTES],
		  struct ws_buf *out_bytes);
/* Without it the next program compiles again, which is all that is lost: there is no status. */
void cc_store_put(const struct cc_store *store, const uint8_t key[CC_DIGEST_BYTES],
		  const void *bytes, size_t n);

#endif
