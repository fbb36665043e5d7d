/*
 * Any bytes as a code object that was loaded: what is kept of it is what is there, and the variables that are found are
 * inside of where it was loaded. The seeds are real ones.
 */
#include "collector/hsa/hsa_priv.h"
#include "collector/hsa/ranges.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

#define LOAD_BASE 0x7f0000000000u
#define AGENT 2u

static struct {
	const uint8_t *data;
	size_t size;
	uint64_t load_size;
	uint64_t n_variables, n_kept;
} fuzzed;

/* ---- the collector, as far as image.c uses it ---- */

const struct col_collect_config *col_config(void)
{
	static struct col_collect_config config = { .flags = COL_COLLECT_FLAG(CODE_BYTES) };

	return &config;
}

/* Of exactly that size, so that a sanitizer sees a read past its end. */
void *col_pages(size_t n_bytes)
{
	return malloc(n_bytes);
}

void col_pages_free(void *pages, size_t n_bytes)
{
	free(pages);
}

bool col_ranges_kept(void)
{
	return true;
}

bool col_agent_is_gpu(uint32_t id)
{
	return id == AGENT;
}

void col_ranges_add(uint64_t address, uint64_t n_bytes, uint32_t agent, enum col_range_kind kind)
{
	CHECK(agent == AGENT && kind == COL_RANGE_SAVED);
	CHECK(address >= LOAD_BASE && n_bytes <= fuzzed.load_size &&
	      address - LOAD_BASE <= fuzzed.load_size - n_bytes);
	fuzzed.n_variables++;
}

bool cap_writer_meta(struct cap_writer *writer, const struct cap_rec *rec)
{
	CHECK(((const struct cap_rec_code_same *)rec)->same_as == 1);
	return true;
}

bool cap_writer_code_bytes(struct cap_writer *writer, uint32_t code_object, const void *bytes,
			   uint64_t n_bytes)
{
	CHECK(n_bytes == fuzzed.size && memcmp(bytes, fuzzed.data, n_bytes) == 0);
	fuzzed.n_kept++;
	return true;
}

/* ---- the fuzzer ---- */

static void try_size(const uint8_t *data, size_t size, uint64_t load_size)
{
	struct cap_rec_code_object rec = { .h = { .what = 1 },
					   .agent = AGENT,
					   .load_base = LOAD_BASE,
					   .load_delta = LOAD_BASE,
					   .load_size = load_size,
					   .memory_base = (uint64_t)(uintptr_t)data,
					   .memory_size = size };

	fuzzed.data = data;
	fuzzed.size = size;
	fuzzed.load_size = load_size;
	fuzzed.n_variables = fuzzed.n_kept = 0;
	col_image_fresh();
	col_image_keep(NULL, &rec, "memory://1#offset=0&size=1");
	CHECK(fuzzed.n_kept <= 1);
	if (fuzzed.n_kept) { /* the same again is a reference */
		col_image_keep(NULL, &rec, "memory://1#offset=0&size=1");
		CHECK(fuzzed.n_kept == 1);
	}
	col_image_variables(&rec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t load_sizes[] = { 0, 0x1000, 0x3000, 0x4000, 0x5000, UINT64_MAX };

	for (size_t i = 0; i < WS_ARRAY_LEN(load_sizes); i++)
		try_size(data, size, load_sizes[i]);
	return 0;
}
