/*
 * slots: arguments as the capture stores them; see enum cap_arg_kind.
 *
 * For generated wrappers. Texts are truncated at CAP_ARG_STR_MAX; a text takes at most
 * COL_SLOTS_TEXT slots, which the caller provides.
 */
#ifndef WS_COLLECTOR_INTERPOSE_SLOTS_H
#define WS_COLLECTOR_INTERPOSE_SLOTS_H

#include "capture/record.h"

#include <stdint.h>
#include <string.h>

#define COL_SLOTS_TEXT (1 + CAP_ARG_STR_MAX / 8)

struct col_dim3 {
	uint32_t x, y, z;
};

static inline uint64_t col_slot_f32(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* The characters from @start, just behind slots[0], to @end: length, padding; slots used. */
static inline uint32_t col_slot_close(uint64_t *slots, char *start, char *end)
{
	uint64_t n_bytes = (uint64_t)(end - start);

	slots[0] = n_bytes;
	while (n_bytes % 8)
		start[n_bytes++] = 0;
	return 1 + (uint32_t)(n_bytes / 8);
}

static inline uint32_t col_slot_text(uint64_t *slots, const char *text)
{
	char *start = (char *)(slots + 1);
	size_t n;

	if (!text) {
		slots[0] = CAP_ARG_STR_NULL;
		return 1;
	}
	n = strnlen(text, CAP_ARG_STR_MAX);
	memcpy(start, text, n);
	return col_slot_close(slots, start, start + n);
}

static inline uint32_t col_slot_hex(uint64_t *slots, const char *bytes, uint32_t n_bytes)
{
	char *start = (char *)(slots + 1);
	char *to = start;

	for (uint32_t i = 0; i < n_bytes; i++) {
		*to++ = "0123456789abcdef"[(uint8_t)bytes[i] >> 4];
		*to++ = "0123456789abcdef"[bytes[i] & 15];
	}
	return col_slot_close(slots, start, to);
}

/* @label, then the number; where to go on. No printf: it may allocate, and it is the program's. */
static inline char *col_text_base(char *to, const char *label, uint64_t value, unsigned base)
{
	char digits[20];
	unsigned n = 0;

	while (*label)
		*to++ = *label++;
	do {
		digits[n++] = "0123456789abcdef"[value % base];
	} while (value /= base);
	while (n)
		*to++ = digits[--n];
	return to;
}

static inline char *col_text_u64(char *to, const char *label, uint64_t value)
{
	return col_text_base(to, label, value, 10);
}

static inline char *col_text_i64(char *to, const char *label, int64_t value)
{
	if (value >= 0)
		return col_text_base(to, label, (uint64_t)value, 10);
	to = col_text_base(to, label, 0, 10) - 1; /* the sign goes where the 0 is */
	return col_text_base(to, "-", -(uint64_t)value, 10);
}

static inline char *col_text_ptr(char *to, const char *label, const void *value)
{
	to = col_text_base(to, label, 0, 10);
	return col_text_base(to, "x", (uintptr_t)value, 16);
}

#endif
