/* Traces are read as they were written. */
#include "tests/unit/unit.h"

#include <string.h>

#include "softgpu/trace/trace_digest.h"
#include "softgpu/trace/wave_trace.h"

static void straight_code_needs_no_records(void **state)
{
	struct sg_wave_trace t;
	struct sg_trace_reader r;

	sg_trace_init(&t);
	sg_trace_start(&t, 0x1000, ~0ull);
	for (int k = 0; k < 1000; k++)
		sg_trace_step(&t, 0, ~0ull);
	sg_trace_end(&t);
	assert_true(t.control.size <= 3);
	sg_trace_read(&r, &t);
	assert_true(sg_trace_next(&r));
	assert_int_equal(r.run, 1000);
	assert_int_equal(r.op, SG_TRACE_END);
	assert_false(sg_trace_next(&r));
	sg_trace_free(&t);
}

static void a_loop_is_one_record_and_a_count(void **state)
{
	struct sg_wave_trace t;
	struct sg_trace_reader r;
	uint32_t turns = 0;

	sg_trace_init(&t);
	sg_trace_start(&t, 0, 1);
	for (int turn = 0; turn < 100000; turn++)
		for (int k = 0; k < 10; k++)
			sg_trace_step(&t, k == 9 ? -12 : 0, 1);
	sg_trace_step(&t, 0, 1);
	sg_trace_end(&t);
	assert_true(t.control.size < 16);
	sg_trace_read(&r, &t);
	while (sg_trace_next(&r) && r.op == SG_TRACE_JUMP) {
		assert_int_equal(r.run, 10);
		assert_int_equal(r.jump, -12);
		turns++;
	}
	assert_int_equal(turns, 100000);
	assert_int_equal(r.op, SG_TRACE_END);
	assert_int_equal(r.run, 1);
	sg_trace_free(&t);
}

static void changes_of_exec_are_where_they_happened(void **state)
{
	struct sg_wave_trace t;
	struct sg_trace_reader r;

	sg_trace_init(&t);
	sg_trace_start(&t, 0, ~0ull);
	sg_trace_step(&t, 0, ~0ull);
	sg_trace_step(&t, 5, 0xff); /* a jump and a change at once */
	sg_trace_step(&t, 0, 0xff);
	sg_trace_end(&t);
	sg_trace_read(&r, &t);
	assert_true(sg_trace_next(&r) && r.op == SG_TRACE_JUMP && r.run == 2 && r.jump == 5);
	assert_true(sg_trace_next(&r) && r.op == SG_TRACE_EXEC && r.run == 0 && r.exec == 0xff);
	assert_true(sg_trace_next(&r) && r.op == SG_TRACE_END && r.run == 1);
	sg_trace_free(&t);
}

static void check_access(uint64_t exec, uint64_t mask, const uint64_t *addr, size_t most_bytes)
{
	struct sg_trace_access a;
	struct sg_trace_reader r;
	struct sg_wave_trace t;

	sg_trace_init(&t);
	sg_trace_start(&t, 0, exec);
	sg_trace_lanes(&t, SG_SPACE_GLOBAL, mask, addr);
	assert_true(t.memory.size <= most_bytes);
	sg_trace_read(&r, &t);
	assert_true(sg_trace_memory(&r.memory, exec, &a));
	sg_trace_expand(&a);
	assert_true(a.mask == mask);
	for (unsigned l = 0; l < 64; l++)
		if (mask >> l & 1)
			assert_true(a.addr[l] == addr[l]);
	assert_false(sg_trace_memory(&r.memory, exec, &a));
	sg_trace_free(&t);
}

static void addresses_survive_in_every_form(void **state)
{
	uint64_t addr[64];

	for (unsigned l = 0; l < 64; l++)
		addr[l] = 0x7f0000000000ull + 8 * l;
	check_access(~0ull, ~0ull, addr, 13);
	check_access(~0ull, 0x8001000000000100ull, addr, 21);
	check_access(0, 0, addr, 21);
	for (unsigned l = 0; l < 64; l++)
		addr[l] = 0x7f0000000000ull - 16 * l; /* downwards is affine too */
	check_access(~0ull, ~0ull, addr, 13);
	for (unsigned l = 0; l < 64; l++)
		addr[l] = 0x7f0000000000ull + l * l * 64;
	check_access(~0ull, ~0ull, addr, 9 + 256);
	check_access(0xff, 0x55, addr, 17 + 16);
	for (unsigned l = 0; l < 64; l++)
		addr[l] = (uint64_t)l * l << 40;
	check_access(~0ull, ~0ull, addr, 1 + 512);
}

/* The register of LDS addresses number k: in order, two lists, one that wraps around with an offset. */
static void fill_register(uint32_t lane[64], unsigned k)
{
	for (unsigned l = 0; l < 64; l++)
		lane[l] = k == 0   ? 4 * l
			  : k == 1 ? l / 16 * 64
			  : k == 2 ? l * l
				   : UINT32_MAX - l % 5;
}

/* Every register with many offsets and masks, some of them known, some forgotten meanwhile. */
static void lds_patterns_are_read_as_written(void **state)
{
	static struct sg_trace_patterns patterns;
	static const uint64_t masks[] = { ~0ull, 0xf0f0, 1, 0, 1ull << 63 | 2 };
	struct sg_wave_trace t;
	struct sg_trace_reader r;
	uint32_t lane[64];
	size_t sizes[3];

	sg_trace_init(&t);
	/* without patterns, with them, and with them in storage that was used */
	for (unsigned turn = 0; turn < 3; turn++) {
		t.patterns = turn ? &patterns : NULL;
		sg_trace_start(&t, 0, ~0ull);
		for (unsigned n = 0; n < 4000; n++) {
			fill_register(lane, n % 4);
			sg_trace_local(&t, n % 4, masks[n / 64 % 5], lane, n % 7 * 132);
		}
		sizes[turn] = t.memory.size;
		sg_trace_read(&r, &t);
		for (unsigned n = 0; n < 4000; n++) {
			struct sg_trace_access a;
			uint64_t mask, base;
			enum sg_trace_form form;
			size_t size, end;
			const uint8_t *payload =
				sg_trace_peek(&r.memory, ~0ull, &mask, &base, &form, &size, &end);

			fill_register(lane, n % 4);
			assert_non_null(payload);
			assert_true(sg_trace_memory(&r.memory, ~0ull, &a));
			assert_int_equal(r.memory.at, end);
			assert_int_equal(a.space, SG_SPACE_LDS);
			assert_true(a.mask == masks[n / 64 % 5] && mask == a.mask);
			sg_trace_expand(&a);
			for (uint64_t m = a.mask; m; m &= m - 1) {
				unsigned l = (unsigned)__builtin_ctzll(m);

				assert_true(a.addr[l] == (uint32_t)(lane[l] + n % 7 * 132));
			}
		}
		assert_false(r.memory.at < t.memory.size);
	}
	assert_true(sizes[1] < sizes[0] * 3 / 4 && sizes[2] == sizes[1]);
	sg_trace_free(&t);
}

/* All lanes or some, that move together in each turn, and by more than 4 GiB in the last ones. */
static void lists_that_move_are_written_once(void **state)
{
	static struct sg_trace_patterns patterns;
	static const uint64_t masks[] = { ~0ull, 0x8000f00f00000016ull };
	struct sg_wave_trace t;
	struct sg_trace_reader r;
	uint64_t addr[64];

	sg_trace_init(&t);
	t.patterns = &patterns;
	for (unsigned m = 0; m < 2; m++) {
		uint64_t exec = masks[m];

		sg_trace_start(&t, 0, exec);
		for (unsigned n = 0; n < 50; n++) {
			size_t before = t.memory.size;

			for (unsigned l = 0; l < 64; l++)
				addr[l] = (1ull << (n < 40 ? 30 : 45)) * n +
					  (exec >> l & 1 ? 0x7f0000000000ull + l / 4 * 4096 + l % 4
							 : n * l); /* others do as they like */
			sg_trace_lanes(&t, SG_SPACE_GLOBAL, exec, addr);
			assert_true(!n || t.memory.size - before == 13);
		}
		sg_trace_read(&r, &t);
		for (unsigned n = 0; n < 50; n++) {
			struct sg_trace_access a;

			assert_true(sg_trace_memory(&r.memory, exec, &a) && a.mask == exec);
			for (unsigned l = 0; l < 64; l++)
				assert_true(!(exec >> l & 1) ||
					    a.addr[l] == (1ull << (n < 40 ? 30 : 45)) * n +
								 0x7f0000000000ull + l / 4 * 4096 +
								 l % 4);
		}
		assert_true(r.memory.at == t.memory.size);
	}
	sg_trace_free(&t);
}

/* Cut off anywhere, or with a list that is said to be where none can be. */
static void damaged_likenesses_are_refused(void **state)
{
	static struct sg_trace_patterns patterns;
	struct sg_trace_access a;
	struct sg_trace_reader r;
	struct sg_wave_trace t;
	uint32_t lane[64], back = 1000;
	size_t first, whole;

	sg_trace_init(&t);
	t.patterns = &patterns;
	sg_trace_start(&t, 0, ~0ull);
	fill_register(lane, 2);
	sg_trace_local(&t, 5, ~0ull, lane, 0);
	first = t.memory.size;
	sg_trace_local(&t, 5, ~0ull, lane, 4);
	whole = t.memory.size;
	assert_int_equal(whole - first, 13);
	for (size_t size = first; size < whole; size++) {
		t.memory.size = size;
		sg_trace_read(&r, &t);
		assert_true(sg_trace_memory(&r.memory, ~0ull, &a));
		assert_false(sg_trace_memory(&r.memory, ~0ull, &a));
	}
	t.memory.size = whole;
	memcpy(t.memory.bytes + whole - 4, &back, 4);
	sg_trace_read(&r, &t);
	assert_true(sg_trace_memory(&r.memory, ~0ull, &a));
	assert_false(sg_trace_memory(&r.memory, ~0ull, &a));
	sg_trace_free(&t);
}

static void damaged_traces_are_refused(void **state)
{
	uint64_t addr[64] = { 1, 5, 2 };
	struct sg_trace_access a;
	struct sg_trace_reader r;
	struct sg_wave_trace t;

	sg_trace_init(&t);
	sg_trace_start(&t, 0, 7);
	sg_trace_lanes(&t, SG_SPACE_GLOBAL, 7, addr);
	for (size_t size = 0; size < 9 + 12; size++) {
		t.memory.size = size;
		sg_trace_read(&r, &t);
		assert_false(sg_trace_memory(&r.memory, 7, &a));
		assert_false(sg_trace_next(&r));
	}
	sg_trace_free(&t);
}

/* A tile that moves: its first record has the list, the others are like it, and only they have a digest. */
static void records_like_earlier_ones_have_its_digest(void **state)
{
	static struct sg_trace_patterns patterns;
	struct sg_list_digests lists = { 0 };
	struct sg_trace_access access;
	struct sg_trace_short next;
	struct sg_trace_reader r;
	struct sg_wave_trace t;
	uint64_t digest = 0, addr[64];

	sg_trace_init(&t);
	t.patterns = &patterns;
	sg_trace_start(&t, 0, ~0ull);
	for (unsigned n = 0; n < 5; n++) { /* the last one is a tile of other rows */
		for (unsigned l = 0; l < 64; l++)
			addr[l] = 0x7f0000000000ull + n * 64 + l / 16 * (n < 4 ? 1024 : 2048) +
				  l % 16 * 4;
		sg_trace_lanes(&t, SG_SPACE_GLOBAL, ~0ull, addr);
	}
	sg_trace_read(&r, &t);
	for (unsigned n = 0; n < 5; n++) {
		bool is_like = n && n < 4;

		assert_false(sg_trace_like(&r.memory, ~0ull, SG_SPACE_LDS, &lists, &next));
		assert_int_equal(sg_trace_like(&r.memory, ~0ull, SG_SPACE_GLOBAL, &lists, &next),
				 is_like);
		/* computed once, and found from then on */
		assert_int_equal(lists.n_added, n > 0);
		assert_int_equal(sg_trace_short(&r.memory, SG_SPACE_GLOBAL, &lists, &next),
				 is_like);
		if (is_like) {
			assert_int_equal(next.form, SG_TRACE_LIST32);
			assert_true(next.base == 0x7f0000000000ull + n * 64);
			assert_true(n == 1 || next.digest == digest);
			digest = next.digest;
		}
		assert_true(sg_trace_memory(&r.memory, ~0ull, &access));
		assert_true(access.addr[17] ==
			    0x7f0000000000ull + n * 64 + (n < 4 ? 1024 : 2048) + 4);
	}
	assert_false(sg_trace_like(&r.memory, ~0ull, SG_SPACE_GLOBAL, &lists, &next)); /* the end */
	sg_trace_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(straight_code_needs_no_records),
		cmocka_unit_test(a_loop_is_one_record_and_a_count),
		cmocka_unit_test(changes_of_exec_are_where_they_happened),
		cmocka_unit_test(addresses_survive_in_every_form),
		cmocka_unit_test(lds_patterns_are_read_as_written),
		cmocka_unit_test(lists_that_move_are_written_once),
		cmocka_unit_test(damaged_likenesses_are_refused),
		cmocka_unit_test(damaged_traces_are_refused),
		cmocka_unit_test(records_like_earlier_ones_have_its_digest),
	};

	return RUN(tests);
}
