/*
 * packed_capture: a capture from the bytes of a fuzzer.
 *
 * A capture is mostly zeros, so inputs are packed: blocks of a 16-bit length and that many bytes,
 * the first for the file head, each further one for a chunk. A length with its top bit set asks for
 * a head that is made right before reading, since no fuzzer guesses checks.
 */
#ifndef WS_TESTS_FUZZ_PACKED_CAPTURE_H
#define WS_TESTS_FUZZ_PACKED_CAPTURE_H

#include "capture/chunk.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define BLOCKS_MAX 32

static inline void repair_file_head(char *bytes)
{
	struct cap_file_head *head = (struct cap_file_head *)bytes;

	memcpy(head->magic, CAP_FILE_MAGIC, sizeof(head->magic));
	head->version = CAP_FILE_VERSION;
	head->order = CAP_FILE_ORDER;
	head->check = cap_check32((const uint32_t *)head,
				  offsetof(struct cap_file_head, end_bytes) / sizeof(uint32_t));
}

static inline void repair_chunk_head(char *bytes)
{
	struct cap_chunk_head *head = (struct cap_chunk_head *)bytes;

	head->magic = CAP_CHUNK_MAGIC;
	head->n_bytes = CAP_CHUNK_ALIGN;
	head->kind %= CAP_CHUNK_KIND_COUNT;
	head->lane = 1 + head->lane % 4;
	head->check = cap_check32(&head->magic, 5);
}

static inline void unpack(int fd, const uint8_t *data, size_t size)
{
	static char block[32768] __attribute__((aligned(8)));
	off_t at = 0;

	CHECK(ftruncate(fd, 0) == 0);
	for (int i = 0; size >= 2 && i < BLOCKS_MAX; i++) {
		unsigned length = data[0] | (unsigned)data[1] << 8;
		size_t n = length & 0x7fff;

		data += 2;
		size -= 2;
		n = n < size ? n : size;
		memset(block, 0, 128);
		memcpy(block, data, n);
		if (length & 0x8000) {
			if (i == 0)
				repair_file_head(block);
			else
				repair_chunk_head(block);
			n = n < 128 ? 128 : n;
		}
		CHECK(pwrite(fd, block, n, at) == (ssize_t)n);
		memset(block, 0, n < 128 ? 128 : n);
		data += n < size ? n : size;
		size -= n < size ? n : size;
		at += i ? CAP_CHUNK_ALIGN : CAP_FILE_HEAD_BYTES;
	}
}

#endif
