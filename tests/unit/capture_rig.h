/*
 * capture_rig: a capture in a folder of its own, calls to put into it, and what comes back. For
 * the tests of capture/.
 */
#ifndef WS_TESTS_UNIT_CAPTURE_RIG_H
#define WS_TESTS_UNIT_CAPTURE_RIG_H

#include "tests/unit/unit.h"

#include "capture/reader.h"
#include "capture/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char dir[64], path[128];

static inline int make_dir(void **state)
{
	strcpy(dir, "/tmp/ws-capture-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/a.wscap", dir);
	return 0;
}

static inline int drop_dir(void **state)
{
	unlink(path);
	return rmdir(dir);
}

static inline struct cap_writer *open_writer(const struct cap_writer_opts *opts)
{
	struct cap_writer *writer = NULL;
	struct ws_err err = { 0 };

	unlink(path);
	if (cap_writer_open(path, opts, &writer, &err))
		fail_msg("%s", err.text);
	return writer;
}

static inline struct cap_reader *open_reader(void)
{
	struct cap_reader *reader = NULL;
	struct ws_err err = { 0 };

	if (cap_reader_open(path, &reader, &err))
		fail_msg("%s", err.text);
	return reader;
}

/* A call whose fields all follow from its number, so that a torn one shows. */
static inline bool put_call(struct cap_lane *lane, uint32_t thread, uint64_t i)
{
	struct cap_rec_call *rec = cap_lane_reserve(&lane, sizeof(*rec));

	if (!rec)
		return false;
	rec->h.what = thread;
	rec->h.time = i * 3;
	rec->end_ticks = i * 3 + 1;
	rec->corr_id = i;
	rec->ancestor_id = ~i;
	cap_lane_commit(lane, &rec->h, CAP_REC_FIXED_TAG(CALL, struct cap_rec_call));
	return true;
}

static inline void check_call(const struct cap_rec *rec)
{
	const struct cap_rec_call *call = (const struct cap_rec_call *)rec;

	assert_int_equal(cap_rec_type(rec), CAP_REC_CALL);
	assert_int_equal(call->h.time, call->corr_id * 3);
	assert_int_equal(call->end_ticks, call->corr_id * 3 + 1);
	assert_int_equal(call->ancestor_id, ~call->corr_id);
}

struct sum {
	uint64_t n_calls, n_meta, n_other;
	struct cap_damage damage;
};

/* Reads all; calls of each thread must be 0, 1, 2, ... in order; next[] is how many there are. */
static inline struct sum read_calls(uint64_t *next, size_t n_threads)
{
	struct cap_reader *reader = open_reader();
	struct cap_view view = { 0 };
	struct sum sum = { .damage = *cap_reader_damage(reader) };
	const struct cap_rec *rec;

	for (size_t i = 0; i < cap_reader_n_chunks(reader); i++) {
		assert_int_equal(cap_reader_load(reader, i, &view, NULL), WS_OK);
		while ((rec = cap_view_next(&view))) {
			if (view.kind != CAP_CHUNK_EVENT) {
				sum.n_meta++;
			} else if (cap_rec_type(rec) == CAP_REC_CALL) {
				check_call(rec);
				sum.n_calls++;
				if (rec->what < n_threads) {
					assert_int_equal(
						((const struct cap_rec_call *)rec)->corr_id,
						next[rec->what]);
					next[rec->what]++;
				}
			} else {
				sum.n_other++;
			}
		}
	}
	cap_damage_add(&sum.damage, &view.damage);
	cap_view_fini(&view);
	cap_reader_close(reader);
	return sum;
}

static const struct cap_writer_opts quiet = { .no_helper = true };
static const struct cap_writer_opts helped = { 0 };

#endif
