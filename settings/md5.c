/* RFC 1321. */
#include "settings/md5.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint32_t rotate(uint32_t value, unsigned n)
{
	return value << n | value >> (32 - n);
}

/* Section 3.4: one block of 64 bytes into the four words of the state. */
static void add_block(uint32_t state[4], const uint8_t *block)
{
	static const uint8_t turns[4][4] = {
		{ 7, 12, 17, 22 }, { 5, 9, 14, 20 }, { 4, 11, 16, 23 }, { 6, 10, 15, 21 }
	};
	uint32_t a = state[0], b = state[1], c = state[2], d = state[3], word[16];

	for (unsigned i = 0; i < 16; i++)
		word[i] = (uint32_t)block[4 * i] | (uint32_t)block[4 * i + 1] << 8 |
			  (uint32_t)block[4 * i + 2] << 16 | (uint32_t)block[4 * i + 3] << 24;
	for (unsigned i = 0; i < 64; i++) {
		/* The table T of the RFC: the integer part of 2^32 * abs(sin(i + 1)). */
		uint32_t t = (uint32_t)(int64_t)floor(4294967296.0 * fabs(sin((double)i + 1)));
		uint32_t mix, next;
		unsigned which;

		switch (i / 16) {
		case 0:
			mix = (b & c) | (~b & d), which = i;
			break;
		case 1:
			mix = (d & b) | (~d & c), which = (5 * i + 1) % 16;
			break;
		case 2:
			mix = b ^ c ^ d, which = (3 * i + 5) % 16;
			break;
		default:
			mix = c ^ (b | ~d), which = 7 * i % 16;
		}
		next = b + rotate(a + mix + t + word[which], turns[i / 16][i % 4]);
		a = d, d = c, c = b, b = next;
	}
	state[0] += a, state[1] += b, state[2] += c, state[3] += d;
}

void set_md5(const void *bytes, size_t n, char out_hex[33])
{
	uint32_t state[4] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 };
	const uint8_t *at = bytes;
	uint8_t tail[128] = { 0 };
	size_t left = n % 64, n_tail = left < 56 ? 64 : 128;

	for (size_t i = 0; i + 64 <= n; i += 64)
		add_block(state, at + i);
	if (left)
		memcpy(tail, at + n - left, left);
	tail[left] = 0x80;
	for (unsigned i = 0; i < 8; i++)
		tail[n_tail - 8 + i] = (uint8_t)((uint64_t)n * 8 >> 8 * i);
	for (size_t i = 0; i < n_tail; i += 64)
		add_block(state, tail + i);
	for (unsigned i = 0; i < 16; i++)
		snprintf(out_hex + 2 * i, 3, "%02x", state[i / 4] >> 8 * (i % 4) & 0xff);
}
