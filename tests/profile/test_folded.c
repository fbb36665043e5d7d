/* Folded stacks of a capture, line by line. */
#include "tests/profile/host_rig.h"

#include "profile/folded.h"

#define PY(code) (CAP_FRAME_PYTHON | CAP_FRAME_ENTRY | (uint64_t)(code) << 32 | 0xffffffffu)

static void put_stacks(struct cap_lane *lane)
{
	static const char *const names[] = { "<module>", "train", "odd;name\n" };
	static const uint64_t stacks[][2] = {
		{ PY(2), PY(1) },
		{ PY(3), PY(1) },
		{ PY(2) & ~1ull, PY(1) }, /* another position in the same functions */
	};

	for (uint32_t i = 0; i < 3; i++) {
		rig_python(lane, (struct cap_rec_python_code){ .h.what = i + 1 }, names[i], "a.py",
			   "", 0);
		rig_stack(lane, (struct cap_rec_stack){ .h.what = i + 1, .n_frames = 2 },
			  stacks[i]);
	}
}

static const char *folded(struct prof_folded_opts opts)
{
	static char text[4096];
	struct prof_frames_opts frame_opts = { .inlines = false };
	struct cap_writer *w = rig_start();
	struct cap_lane *main_lane = cap_lane_get(w, 100), *other = cap_lane_get(w, 101);
	struct cap_rec_sample missed = {
		.h = { CAP_REC_FIXED_TAG(SAMPLE, struct cap_rec_sample), 2, 3000 }, .n_missed = 4
	};
	struct cap_rec_sample real = { .h = missed.h, .sampler = CAP_SAMPLER_REAL_TIME };
	struct cap_rec_thread thread = { .h = { CAP_REC_FIXED_TAG(THREAD, struct cap_rec_thread),
						101, 0 },
					 .name_str = cap_writer_intern(w, "worker", 6) };
	struct prof_frames *frames = NULL;
	struct trc_trace *trace;
	struct ws_err err = { 0 };
	FILE *to;

	text[0] = 0; /* an empty stream writes nothing, not even this */
	to = fmemopen(text, sizeof(text), "w");
	assert_non_null(to);
	assert_true(cap_writer_meta(w, &thread.h));
	put_stacks(other);
	rig_sample(main_lane, 1, 1000);
	rig_sample(main_lane, 3, 2000);
	rig_sample(main_lane, 0, 2500);  /* no stack could be recorded */
	rig_sample(main_lane, 99, 2600); /* damage */
	rig_sample(other, 1, 1500);
	assert_true(cap_lane_append(other, &missed.h));
	assert_true(cap_lane_append(other, &real.h));
	cap_lane_put(main_lane);
	cap_lane_put(other);
	trace = rig_trace(w);
	if (prof_frames_open(trc_process_at(trace, 0), &frame_opts, &frames, &err) ||
	    prof_folded_write(trace, trc_process_at(trace, 0), frames, &opts, to, &err))
		fail_msg("%s", err.text);
	fclose(to);
	prof_frames_close(frames);
	trc_close(trace);
	return text;
}

static void equal_stacks_are_one_line(void **state)
{
	assert_string_equal(folded((struct prof_folded_opts){ .threads = false }),
			    "<module>;odd:name  5\n"
			    "<module>;train 3\n"
			    "[unknown] 2\n");
}

static void threads_come_first_on_request(void **state)
{
	assert_string_equal(folded((struct prof_folded_opts){ .threads = true }),
			    "thread (100) 2\n"
			    "thread (100);<module>;train 2\n"
			    "worker (101);<module>;odd:name  5\n"
			    "worker (101);<module>;train 1\n");
}

static void samples_of_other_clocks_do_not_count(void **state)
{
	assert_string_equal(folded((struct prof_folded_opts){ .sampler = CAP_SAMPLER_REAL_TIME }),
			    "<module>;odd:name  1\n");
	assert_string_equal(folded((struct prof_folded_opts){ .sampler = CAP_SAMPLER_OVERFLOW }),
			    "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_stacks_are_one_line),
		cmocka_unit_test(threads_come_first_on_request),
		cmocka_unit_test(samples_of_other_clocks_do_not_count),
	};

	return RUN_WITH(tests, rig_make_dir, rig_drop_dir);
}
