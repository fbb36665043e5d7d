/*
 * pb: protocol buffers' wire format, forwards only.
 *
 * Each function writes at @p and returns the end; the caller has made room. A message
 * inside a message is begun with its length left open: four bytes when its size is not
 * known (the padded form that Perfetto itself writes), one byte when it is under 128.
 */
#ifndef WS_OUTPUT_PB_H
#define WS_OUTPUT_PB_H

#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

static inline char *output_pb_varint(char *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (char)(v | 0x80);
		v >>= 7;
	}
	*p++ = (char)v;
	return p;
}

static inline char *output_pb_u64(char *p, unsigned field, uint64_t v)
{
	p = output_pb_varint(p, field << 3);
	return output_pb_varint(p, v);
}

static inline char *output_pb_fixed64(char *p, unsigned field, uint64_t v)
{
	p = output_pb_varint(p, field << 3 | 1);
	memcpy(p, &v, sizeof(v)); /* little-endian, as all machines this runs on */
	return p + sizeof(v);
}

static inline char *output_pb_f64(char *p, unsigned field, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return output_pb_fixed64(p, field, bits);
}

static inline char *output_pb_bytes(char *p, unsigned field, const void *bytes, size_t n)
{
	p = output_pb_varint(p, field << 3 | 2);
	p = output_pb_varint(p, n);
	memcpy(p, bytes, n);
	return p + n;
}

/* A protobuf string is UTF-8, or readers refuse the packet: what is none becomes '?'. */
static inline char *output_pb_text(char *p, unsigned field, const char *text, size_t n)
{
	size_t at = 0;

	p = output_pb_bytes(p, field, text, n);
	for (char *copy = p - n; at < n;) {
		size_t length =
			(unsigned char)copy[at] < 0x80 ? 1 : ws_utf8_length(copy + at, n - at);

		if (!length)
			copy[at] = '?';
		at += length ? length : 1;
	}
	return p;
}

static inline char *output_pb_begin(char *p, unsigned field, char **out_length)
{
	p = output_pb_varint(p, field << 3 | 2);
	*out_length = p;
	return p + 4;
}

static inline void output_pb_end(const char *p, char *length)
{
	uint32_t n = (uint32_t)(p - length - 4);

	length[0] = (char)(n | 0x80);
	length[1] = (char)(n >> 7 | 0x80);
	length[2] = (char)(n >> 14 | 0x80);
	length[3] = (char)(n >> 21);
}

static inline char *output_pb_begin_short(char *p, unsigned field, char **out_length)
{
	p = output_pb_varint(p, field << 3 | 2);
	*out_length = p;
	return p + 1;
}

static inline void output_pb_end_short(const char *p, char *length)
{
	*length = (char)(p - length - 1);
}

#endif
