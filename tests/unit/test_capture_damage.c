/* The capture when its file is damaged: the rest is read. */
#include "tests/unit/capture_rig.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- damage ---- */

static char *slurp(size_t *out_n)
{
	struct stat st;
	int fd = open(path, O_RDONLY);
	char *bytes;

	assert_true(fd >= 0);
	fstat(fd, &st);
	bytes = test_malloc((size_t)st.st_size);
	assert_int_equal(read(fd, bytes, (size_t)st.st_size), st.st_size);
	close(fd);
	*out_n = (size_t)st.st_size;
	return bytes;
}

static void spill(const char *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), (ssize_t)n);
	close(fd);
}

static void write_sample(uint64_t n)
{
	struct cap_writer *writer = open_writer(&quiet);
	struct cap_lane *lane = cap_lane_get(writer, 7);

	for (uint64_t i = 0; i < n; i++)
		assert_true(put_call(lane, 0, i));
	cap_writer_end(writer, CAP_END_EXIT);
	cap_writer_close(writer);
}

static void cut_files_give_what_is_left(void **state)
{
	unsigned seed = 42;
	uint64_t before = 0;
	char *bytes;
	size_t n;

	write_sample(10000);
	bytes = slurp(&n);
	for (size_t cut = n, step; cut > sizeof(struct cap_file_head); cut -= WS_MIN(cut, step)) {
		struct sum sum;

		step = 1 + (size_t)rand_r(&seed) % 20000;
		spill(bytes, cut);
		sum = read_calls(NULL, 0);
		assert_true(before == 0 || sum.n_calls <= before);
		before = sum.n_calls;
	}
	spill(bytes, 20);
	struct cap_reader *reader;
	struct ws_err err = { 0 };
	assert_fails_with(cap_reader_open(path, &reader, &err), WS_E_FORMAT, &err, "truncated");
	spill("hello, world", 12);
	assert_fails_with(cap_reader_open(path, &reader, &err), WS_E_FORMAT, &err, "not a capture");
	test_free(bytes);
}

static void broken_tags_cost_their_neighbourhood_only(void **state)
{
	unsigned seed = 99;
	char *bytes;
	size_t n;

	write_sample(10000);
	bytes = slurp(&n);
	/* one tag after another in the first event chunk, found by walking it */
	size_t chunk = CAP_FILE_HEAD_BYTES + CAP_CHUNK_ALIGN;
	for (int k = 0; k < 20; k++) {
		size_t rec = chunk + sizeof(struct cap_chunk_head) + sizeof(struct cap_rec_owner) +
			     (size_t)(rand_r(&seed) % 1000) * sizeof(struct cap_rec_call);
		uint32_t bit = 1u << rand_r(&seed) % 32;
		struct cap_reader *reader;
		struct cap_view view = { 0 };
		uint64_t n_calls = 0;
		const struct cap_rec *r;

		*(uint32_t *)(bytes + rec) ^= bit;
		spill(bytes, n);
		*(uint32_t *)(bytes + rec) ^= bit;
		reader = open_reader();
		for (size_t i = 0; i < cap_reader_n_chunks(reader); i++) {
			assert_int_equal(cap_reader_load(reader, i, &view, NULL), WS_OK);
			while ((r = cap_view_next(&view)))
				n_calls += cap_rec_type(r) == CAP_REC_CALL;
		}
		assert_true(n_calls >= 10000 - 3 && n_calls < 10000);
		assert_true(cap_damage_any(&view.damage));
		cap_view_fini(&view);
		cap_reader_close(reader);
	}
	/* and a chunk head: that chunk is gone, the others are not */
	bytes[chunk + 4] ^= 1;
	spill(bytes, n);
	struct cap_reader *reader = open_reader();
	assert_true(cap_reader_damage(reader)->n_heads == 1);
	assert_true(cap_reader_damage(reader)->n_skipped_bytes == CAP_CHUNK_ALIGN);
	cap_reader_close(reader);
	test_free(bytes);
}

static void flipped_bits_never_break_the_reader(void **state)
{
	unsigned seed = 7;
	char *bytes;
	size_t n;

	write_sample(3000);
	bytes = slurp(&n);
	for (int round = 0; round < 200; round++) {
		char *copy = test_malloc(n);
		struct cap_reader *reader = NULL;
		struct cap_view view = { 0 };

		memcpy(copy, bytes, n);
		for (int flips = 1 + rand_r(&seed) % 50; flips; flips--)
			copy[(size_t)rand_r(&seed) % n] ^= (char)(1 << rand_r(&seed) % 8);
		spill(copy, n);
		if (cap_reader_open(path, &reader, NULL) == WS_OK) {
			for (size_t i = 0; i < cap_reader_n_chunks(reader); i++) {
				assert_int_equal(cap_reader_load(reader, i, &view, NULL), WS_OK);
				while (cap_view_next(&view))
					;
			}
		}
		cap_view_fini(&view);
		cap_reader_close(reader);
		test_free(copy);
	}
	test_free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_files_give_what_is_left),
		cmocka_unit_test(broken_tags_cost_their_neighbourhood_only),
		cmocka_unit_test(flipped_bits_never_break_the_reader),
	};

	return RUN_WITH(tests, make_dir, drop_dir);
}
