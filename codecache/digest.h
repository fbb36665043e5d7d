/*
 * digest: BLAKE2b (RFC 7693) with 32 bytes of output: what an entry is found by, and checked with.
 *
 * A cryptographic hash, because two different inputs with one digest would run the wrong kernel.
 *
 * Threads  one per struct.  Memory  nothing is allocated.
 */
#ifndef WS_CODECACHE_DIGEST_H
#define WS_CODECACHE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define CC_DIGEST_BYTES 32

struct cc_digest {
	uint64_t state[8];
	uint64_t n_bytes;   /* compressed so far */
	uint8_t block[128]; /* not compressed yet: the last block is marked as such */
	size_t n_block;
};

void cc_digest_init(struct cc_digest *digest);
void cc_digest_add(struct cc_digest *digest, const void *bytes, size_t n);
void cc_digest_end(struct cc_digest *digest, uint8_t out[CC_DIGEST_BYTES]);

/* With their length in front, so that what is added one after the other cannot be mixed up. */
void cc_digest_field(struct cc_digest *digest, const void *bytes, size_t n);
void cc_digest_text(struct cc_digest *digest, const char *text); /* NULL is not "" */
void cc_digest_u64(struct cc_digest *digest, uint64_t value);

#endif
