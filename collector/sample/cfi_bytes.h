/* cfi_bytes: a cursor over bytes of DWARF, for cfi.c and expression.c. */
#ifndef WS_COLLECTOR_SAMPLE_CFI_BYTES_H
#define WS_COLLECTOR_SAMPLE_CFI_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Reading past the end gives zeros and sets `bad`. */
struct col_cfi_bytes {
	const uint8_t *at, *end;
	bool bad;
};

static inline uint64_t col_cfi_fixed(struct col_cfi_bytes *b, unsigned n)
{
	uint64_t value = 0;

	if ((uint64_t)(b->end - b->at) < n) {
		b->bad = true;
		b->at = b->end;
		return 0;
	}
	memcpy(&value, b->at, n); /* little endian, as x86-64 is */
	b->at += n;
	return value;
}

static inline int64_t col_cfi_signed(struct col_cfi_bytes *b, unsigned n)
{
	unsigned shift = 64 - 8 * n;

	return (int64_t)(col_cfi_fixed(b, n) << shift) >> shift;
}

static inline uint64_t col_cfi_uleb(struct col_cfi_bytes *b)
{
	uint64_t value = 0;

	for (unsigned shift = 0;; shift += 7) {
		uint8_t byte = (uint8_t)col_cfi_fixed(b, 1);

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
}

static inline int64_t col_cfi_sleb(struct col_cfi_bytes *b)
{
	uint64_t value = 0;

	for (unsigned shift = 0;;) {
		uint8_t byte = (uint8_t)col_cfi_fixed(b, 1);

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (byte & 0x80)
			continue;
		if (byte & 0x40 && shift < 64)
			value |= ~0ull << shift;
		return (int64_t)value;
	}
}

struct col_cfi_regs;
struct col_cfi_memory;

/* Value of a DWARF expression; @first is on the stack when it begins. False: it has none. */
struct col_cfi_work;
bool col_cfi_evaluate(struct col_cfi_work *work, const uint8_t *expression, uint32_t n_bytes,
		      uint64_t first, const struct col_cfi_regs *regs,
		      const struct col_cfi_memory *memory, uint64_t *out);

#endif
