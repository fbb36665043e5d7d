#include "codecache/digest.h"

#include <string.h>

#define BLOCK_BYTES sizeof(((struct cc_digest *)0)->block)
#define ROUNDS 12

/* clang-format off */
static const uint64_t iv[8] = {
	0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
	0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
};

/* Rounds 10 and 11 repeat the first two. */
static const uint8_t sigma[ROUNDS][16] = {
	{  0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15 },
	{ 14, 10,  4,  8,  9, 15, 13,  6,  1, 12,  0,  2, 11,  7,  5,  3 },
	{ 11,  8, 12,  0,  5,  2, 15, 13, 10, 14,  3,  6,  7,  1,  9,  4 },
	{  7,  9,  3,  1, 13, 12, 11, 14,  2,  6,  5, 10,  4,  0, 15,  8 },
	{  9,  0,  5,  7,  2,  4, 10, 15, 14,  1, 11, 12,  6,  8,  3, 13 },
	{  2, 12,  6, 10,  0, 11,  8,  3,  4, 13,  7,  5, 15, 14,  1,  9 },
	{ 12,  5,  1, 15, 14, 13,  4, 10,  0,  7,  6,  3,  9,  2,  8, 11 },
	{ 13, 11,  7, 14, 12,  1,  3,  9,  5,  0, 15,  4,  8,  6,  2, 10 },
	{  6, 15, 14,  9, 11,  3,  0,  8, 12,  2, 13,  7,  1,  4, 10,  5 },
	{ 10,  2,  8,  4,  7,  6,  1,  5, 15, 11,  9, 14,  3, 12, 13,  0 },
	{  0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15 },
	{ 14, 10,  4,  8,  9, 15, 13,  6,  1, 12,  0,  2, 11,  7,  5,  3 },
};
/* clang-format on */

static inline uint64_t rotate(uint64_t value, unsigned n)
{
	return value >> n | value << (64 - n);
}

static inline void mix(uint64_t v[16], int a, int b, int c, int d, uint64_t x, uint64_t y)
{
	v[a] += v[b] + x;
	v[d] = rotate(v[d] ^ v[a], 32);
	v[c] += v[d];
	v[b] = rotate(v[b] ^ v[c], 24);
	v[a] += v[b] + y;
	v[d] = rotate(v[d] ^ v[a], 16);
	v[c] += v[d];
	v[b] = rotate(v[b] ^ v[c], 63);
}

static void compress(struct cc_digest *digest, const uint8_t *block, uint64_t last)
{
	uint64_t v[16], m[16];

	for (int i = 0; i < 8; i++) {
		v[i] = digest->state[i];
		v[i + 8] = iv[i];
	}
	v[12] ^= digest->n_bytes;
	v[14] ^= last;
	memcpy(m, block, sizeof(m)); /* little endian, as every host of ours */
	for (int r = 0; r < ROUNDS; r++) {
		const uint8_t *s = sigma[r];

		mix(v, 0, 4, 8, 12, m[s[0]], m[s[1]]);
		mix(v, 1, 5, 9, 13, m[s[2]], m[s[3]]);
		mix(v, 2, 6, 10, 14, m[s[4]], m[s[5]]);
		mix(v, 3, 7, 11, 15, m[s[6]], m[s[7]]);
		mix(v, 0, 5, 10, 15, m[s[8]], m[s[9]]);
		mix(v, 1, 6, 11, 12, m[s[10]], m[s[11]]);
		mix(v, 2, 7, 8, 13, m[s[12]], m[s[13]]);
		mix(v, 3, 4, 9, 14, m[s[14]], m[s[15]]);
	}
	for (int i = 0; i < 8; i++)
		digest->state[i] ^= v[i] ^ v[i + 8];
}

void cc_digest_init(struct cc_digest *digest)
{
	*digest = (struct cc_digest){ .n_block = 0 };
	memcpy(digest->state, iv, sizeof(iv));
	digest->state[0] ^= 0x01010000 ^ CC_DIGEST_BYTES; /* no key, sequential */
}

void cc_digest_add(struct cc_digest *digest, const void *bytes, size_t n)
{
	const uint8_t *from = bytes;

	while (n) {
		size_t room = BLOCK_BYTES - digest->n_block, part = n < room ? n : room;

		/* The last block waits for cc_digest_end(): only it is marked. */
		if (!room) {
			digest->n_bytes += BLOCK_BYTES;
			compress(digest, digest->block, 0);
			digest->n_block = 0;
			for (; n > BLOCK_BYTES; from += BLOCK_BYTES, n -= BLOCK_BYTES) {
				digest->n_bytes += BLOCK_BYTES;
				compress(digest, from, 0);
			}
			continue;
		}
		memcpy(digest->block + digest->n_block, from, part);
		digest->n_block += part;
		from += part;
		n -= part;
	}
}

void cc_digest_end(struct cc_digest *digest, uint8_t out[CC_DIGEST_BYTES])
{
	memset(digest->block + digest->n_block, 0, BLOCK_BYTES - digest->n_block);
	digest->n_bytes += digest->n_block;
	compress(digest, digest->block, ~0ull);
	memcpy(out, digest->state, CC_DIGEST_BYTES);
}

void cc_digest_field(struct cc_digest *digest, const void *bytes, size_t n)
{
	cc_digest_u64(digest, n);
	cc_digest_add(digest, bytes, n);
}

void cc_digest_text(struct cc_digest *digest, const char *text)
{
	if (text)
		cc_digest_field(digest, text, strlen(text));
	else
		cc_digest_u64(digest, UINT64_MAX);
}

void cc_digest_u64(struct cc_digest *digest, uint64_t value)
{
	cc_digest_add(digest, &value, sizeof(value));
}
