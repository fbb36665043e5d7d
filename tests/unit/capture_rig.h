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

static inline struct ws_writer *open_writer(const struct ws_writer_opts *opts)
{
	struct ws_writer *writer = NULL;
	struct ws_err err = { 0 };

	unlink(path);
	if (ws_writer_open(path, opts, &writer, &err))
		fail_msg("%s", err.text);
	return writer;
}

static inline struct ws_reader *open_reader(void)
{
	struct ws_reader *reader = NULL;
	struct ws_err err = { 0 };

	if (ws_reader_open(path, &reader, &err))
		fail_msg("%s", err.text);
	return reader;
}

/* A call whose fields all follow from its number, so that a torn one shows. */
static inline bool put_call(struct ws_lane *lane, uint32_t thread, uint64_t i)
{
	struct ws_rec_call *rec = ws_lane_reserve(&lane, sizeof(*rec));

	if (!rec)
		return false;
	rec->h.what = thread;
	rec->h.time = i * 3;
	rec->end_ticks = i * 3 + 1;
	rec->corr_id = i;
	rec->ancestor_id = ~i;
	ws_lane_commit(lane, &rec->h, WS_REC_FIXED_TAG(CALL, struct ws_rec_call));
	return true;
}

static inline void check_call(const struct ws_rec *rec)
{
	const struct ws_rec_call *call = (const struct ws_rec_call *)rec;

	assert_int_equal(ws_rec_type(rec), WS_REC_CALL);
	assert_int_equal(call->h.time, call->corr_id * 3);
	assert_int_equal(call->end_ticks, call->corr_id * 3 + 1);
	assert_int_equal(call->ancestor_id, ~call->corr_id);
}

struct sum {
	uint64_t n_calls, n_meta, n_other;
	struct ws_damage damage;
};

/* Reads all; calls of each thread must be 0, 1, 2, ... in order; next[] is how many there are. */
static inline struct sum read_calls(uint64_t *next, size_t n_threads)
{
	struct ws_reader *reader = open_reader();
	struct ws_view view = { 0 };
	struct sum sum = { .damage = *ws_reader_damage(reader) };
	const struct ws_rec *rec;

	for (size_t i = 0; i < ws_reader_n_chunks(reader); i++) {
		assert_int_equal(ws_reader_load(reader, i, &view, NULL), WS_OK);
		while ((rec = ws_view_next(&view))) {
			if (view.kind != WS_CHUNK_EVENT) {
				sum.n_meta++;
			} else if (ws_rec_type(rec) == WS_REC_CALL) {
				check_call(rec);
				sum.n_calls++;
				if (rec->what < n_threads) {
					assert_int_equal(((const struct ws_rec_call *)rec)->corr_id,
							 next[rec->what]);
					next[rec->what]++;
				}
			} else {
				sum.n_other++;
			}
		}
	}
	ws_damage_add(&sum.damage, &view.damage);
	ws_view_fini(&view);
	ws_reader_close(reader);
	return sum;
}

static const struct ws_writer_opts quiet = { .no_helper = true };
static const struct ws_writer_opts helped = { 0 };

#endif
