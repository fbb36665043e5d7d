/*
 * Any bytes as call frame information: rules are found and applied without reading anything
 * else, and a packed rule does the same as the rule. replay.c feeds it when there is no
 * libFuzzer.
 */
#include "collector/sample/cfi.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

#define FUNCTIONS_MAX 16

/* Memory that depends on the address only, and is not everywhere. */
static bool read_word(void *arg, uint64_t at, uint64_t *out)
{
	*out = at * 0x9e3779b97f4a7c15u;
	return at % 7 != 3;
}

static void apply(struct col_cfi_work *work, uint64_t pc)
{
	const struct col_cfi_memory memory = { read_word, NULL };
	struct col_cfi_regs full = { .known = (1u << COL_CFI_REGISTERS) - 1 }, quick;
	uint64_t packed = col_cfi_pack(&work->row);
	enum col_cfi_result result;

	for (unsigned i = 0; i < COL_CFI_REGISTERS; i++)
		full.value[i] = pc + i * 4096;
	quick = full;
	result = col_cfi_step(work, memory, &full);
	if (!packed)
		return;
	CHECK(packed & 1);
	CHECK(col_cfi_step_packed(packed, memory, &quick) == result);
	CHECK(result != COL_CFI_OK || full.value[COL_CFI_RSP] == quick.value[COL_CFI_RSP]);
	CHECK(result != COL_CFI_OK || full.value[COL_CFI_RIP] == quick.value[COL_CFI_RIP]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct col_cfi_work work;
	struct col_cfi_ranges ranges = { .n = 1 };
	uint8_t *bytes = malloc(size ? size : 1); /* of the exact size, for the sanitizer */
	uintptr_t header = (uintptr_t)bytes;

	CHECK(bytes);
	memcpy(bytes, data, size);
	ranges.range[0].start = header;
	ranges.range[0].end = header + size;
	/* The table of functions begins at byte 12. */
	for (size_t i = 0; i < FUNCTIONS_MAX && 12 + 8 * i + 8 <= size; i++) {
		int32_t offset;

		memcpy(&offset, bytes + 12 + 8 * i, sizeof(offset));
		for (uint64_t at = 0; at < 24; at++) {
			uint64_t pc = header + (uint64_t)(int64_t)offset + at;

			if (col_cfi_find(&ranges, header, pc, &work))
				apply(&work, pc);
		}
	}
	free(bytes);
	return 0;
}
