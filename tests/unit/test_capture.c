/* The capture in good times: what is appended comes back, from any number of threads. */
#include "tests/unit/capture_rig.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- in good times ---- */

static void committed_records_come_back_in_order(void **state)
{
	struct cap_writer *writer = open_writer(&quiet);
	struct cap_lane *lane = cap_lane_get(writer, 7);
	uint64_t next[1] = { 0 };
	struct sum sum;

	for (uint64_t i = 0; i < 100000; i++) /* 4 MB: all chunk sizes */
		assert_true(put_call(lane, 0, i));
	cap_writer_end(writer, CAP_END_EXIT);
	cap_writer_close(writer);
	sum = read_calls(next, 1);
	assert_int_equal(sum.n_calls, 100000);
	assert_false(cap_damage_any(&sum.damage));
}

static void a_reserved_record_is_not_there_until_committed(void **state)
{
	struct cap_writer *writer = open_writer(&quiet);
	struct cap_lane *lane = cap_lane_get(writer, 7), *same = lane;
	struct cap_rec_call *rec;

	put_call(lane, 0, 0);
	rec = cap_lane_reserve(&same, sizeof(*rec));
	memset(rec, 0xff, sizeof(*rec));
	assert_int_equal(read_calls(NULL, 0).n_calls, 1);
	cap_lane_cancel(same, sizeof(*rec));
	put_call(lane, 0, 1);
	assert_int_equal(read_calls(NULL, 0).n_calls, 2);
	cap_writer_close(writer);
}

static void an_append_on_top_of_an_append_goes_to_the_lane_above(void **state)
{
	struct cap_writer *writer = open_writer(&quiet);
	struct cap_lane *lane = cap_lane_get(writer, 7), *outer = lane, *inner = lane, *third;
	struct cap_rec_call *a = cap_lane_reserve(&outer, sizeof(*a)), *b;
	uint64_t next[2] = { 0, 0 };

	b = cap_lane_reserve(&inner, sizeof(*b));
	assert_non_null(b);
	assert_ptr_not_equal(inner, outer);
	third = lane;
	assert_null(cap_lane_reserve(&third, sizeof(*b)));
	*b = (struct cap_rec_call){ .h.what = 1, .end_ticks = 1, .ancestor_id = UINT64_MAX };
	cap_lane_commit(inner, &b->h, CAP_REC_FIXED_TAG(CALL, struct cap_rec_call));
	/* the inner one is safe although the outer never finishes */
	assert_int_equal(read_calls(next, 2).n_calls, 1);
	assert_int_equal(next[1], 1);
	*a = (struct cap_rec_call){ .end_ticks = 1, .ancestor_id = UINT64_MAX };
	cap_lane_commit(outer, &a->h, CAP_REC_FIXED_TAG(CALL, struct cap_rec_call));
	assert_int_equal(read_calls(NULL, 0).n_calls, 2);
	cap_writer_close(writer);
}

static void a_lane_changes_hands_with_its_owner(void **state)
{
	struct cap_writer *writer = open_writer(&quiet);
	struct cap_lane *lane = cap_lane_get(writer, 11), *again;
	struct cap_reader *reader;
	struct cap_view view = { 0 };
	const struct cap_rec *rec;
	uint32_t seen = 0;

	put_call(lane, 11, 0);
	cap_lane_put(lane);
	again = cap_lane_get(writer, 12);
	assert_ptr_equal(again, lane);
	put_call(again, 12, 0);
	cap_writer_close(writer);

	reader = open_reader();
	for (size_t i = 0; i < cap_reader_n_chunks(reader); i++) {
		assert_int_equal(cap_reader_load(reader, i, &view, NULL), WS_OK);
		while (view.kind == CAP_CHUNK_EVENT && (rec = cap_view_next(&view))) {
			assert_int_equal(view.tid, rec->what);
			seen++;
		}
	}
	assert_int_equal(seen, 2);
	cap_view_fini(&view);
	cap_reader_close(reader);
}

static void texts_are_interned_once(void **state)
{
	struct cap_writer *writer = open_writer(&quiet);
	char text[32];
	uint32_t first = cap_writer_intern(writer, "hipMalloc", 9);

	assert_int_equal(first, 1);
	assert_int_equal(cap_writer_intern(writer, "hipMalloc", 9), first);
	assert_int_equal(cap_writer_intern(writer, "", 0), 0);
	assert_int_equal(cap_writer_intern(writer, NULL, 0), 0);
	for (int i = 0; i < 20000; i++) {
		snprintf(text, sizeof(text), "text %d", i);
		assert_int_equal(cap_writer_intern(writer, text, strlen(text)), i + 2);
	}
	for (int i = 0; i < 20000; i++) {
		snprintf(text, sizeof(text), "text %d", i);
		assert_int_equal(cap_writer_intern(writer, text, strlen(text)), i + 2);
	}
	cap_writer_close(writer);
	assert_int_equal(read_calls(NULL, 0).n_meta, 20001 + 2); /* and two clock pairs */
}

static void unused_chunks_are_given_back_at_close(void **state)
{
	struct cap_writer *writer = open_writer(&quiet);
	struct cap_lane *lane = cap_lane_get(writer, 7);
	struct stat st;

	for (uint64_t i = 0; i < CAP_CHUNK_ALIGN / sizeof(struct cap_rec_call); i++)
		assert_true(put_call(lane, 0, i));
	cap_writer_tend(writer);
	assert_true(cap_writer_file_bytes(writer) > 4u << 20);
	cap_writer_close(writer);
	assert_int_equal(stat(path, &st), 0);
	/* META, and the lane's first two */
	assert_int_equal(st.st_size, CAP_FILE_HEAD_BYTES + (1 + 1 + 2) * CAP_CHUNK_ALIGN);
}

/* Thousands of short processes are to have thousands of small files. */
static void a_process_that_records_little_has_a_small_file(void **state)
{
	struct cap_writer *writer = open_writer(&quiet);
	struct cap_lane *lane;

	cap_writer_tend(writer);
	lane = cap_lane_get(writer, 7);
	assert_true(put_call(lane, 0, 1));
	cap_writer_tend(writer);
	/* META, the lane's, and one for another thread */
	assert_int_equal(cap_writer_file_bytes(writer), CAP_FILE_HEAD_BYTES + 3 * CAP_CHUNK_ALIGN);
	cap_writer_close(writer);
}

static void clock_pairs_agree_with_the_clock(void **state)
{
	struct cap_writer *writer = open_writer(&helped);
	struct cap_reader *reader;
	struct cap_view view = { 0 };
	const struct cap_rec_clock *pair;
	struct cap_rec_clock last = { 0 };
	const struct cap_rec *rec;
	int n = 0;

	usleep(30000);
	cap_writer_end(writer, CAP_END_EXIT);
	cap_writer_close(writer);
	reader = open_reader();
	assert_true(cap_reader_closed(reader));
	for (size_t i = 0; i < cap_reader_n_chunks(reader); i++) {
		assert_int_equal(cap_reader_load(reader, i, &view, NULL), WS_OK);
		while ((rec = cap_view_next(&view))) {
			if (cap_rec_type(rec) != CAP_REC_CLOCK)
				continue;
			pair = (const struct cap_rec_clock *)rec;
			assert_true(pair->h.time > last.h.time);
			assert_true(pair->boottime_ns > last.boottime_ns);
			last = *pair;
			n++;
		}
	}
	assert_true(n >= 4); /* twice at start, 1 ms, 11 ms, end */
	cap_view_fini(&view);
	cap_reader_close(reader);
}

static void an_imported_capture_says_nothing_of_this_process(void **state)
{
	struct cap_writer_opts imported = { .imported = true, .pid = 4711 };
	struct cap_writer *writer = open_writer(&imported);
	struct cap_lane *lane = cap_lane_get(writer, 7);
	const struct cap_file_head *head;
	struct cap_reader *reader;

	assert_true(put_call(lane, 7, 1));
	cap_writer_tend(writer);
	cap_writer_end(writer, CAP_END_EXIT);
	cap_writer_close(writer);
	assert_int_equal(read_calls(NULL, 0).n_meta, 0); /* neither clock pairs nor an end */
	reader = open_reader();
	head = cap_reader_head(reader);
	assert_int_equal(head->pid, 4711);
	assert_int_equal(head->tick_kind, CAP_TICKS_NS);
	assert_int_equal(head->created_ns, 0);
	assert_true(cap_reader_closed(reader));
	cap_reader_close(reader);
}

/* Mappings of this process whose line contains @part. */
static size_t count_maps(const char *part)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];
	size_t n = 0;

	while (f && fgets(line, sizeof(line), f))
		n += strstr(line, part) != NULL;
	if (f)
		fclose(f);
	return n;
}

static void opening_and_closing_leaks_nothing(void **state)
{
	size_t maps = 0;
	int fd = 0;

	for (int i = 0; i < 1000; i++) {
		/* a helper every tenth time: threads are what takes long here */
		struct cap_writer *writer = open_writer(i % 10 ? &quiet : &helped);
		struct cap_lane *lane = cap_lane_get(writer, 7);

		put_call(lane, 0, 0);
		cap_writer_intern(writer, "a", 1);
		cap_lane_put(lane);
		cap_writer_end(writer, CAP_END_DETACH);
		cap_writer_close(writer);
		if (i == 100) { /* thread stacks and the like have settled */
			maps = count_maps("");
			fd = dup(0);
			close(fd);
		}
	}
	assert_int_equal(count_maps(dir), 0);
#ifndef __SANITIZE_THREAD__ /* whose own mappings grow with every address ever used */
	assert_true(count_maps("") <= maps + 2);
#endif
	assert_int_equal(dup(0), fd);
	close(fd);
}

/* ---- many threads ---- */

#define N_THREADS 64
#define PER_THREAD 10000

struct job {
	struct cap_writer *writer;
	uint32_t index;
	uint64_t n_put;
};

static void *append_many(void *arg)
{
	struct job *job = arg;
	struct cap_lane *lane = NULL;

	for (uint64_t i = 0; i < PER_THREAD; i++) {
		if (i % 2500 == 0) { /* churn: lanes change hands under load */
			cap_lane_put(lane);
			lane = cap_lane_get(job->writer, job->index + 100);
		}
		if (i % 1000 == 0)
			cap_writer_intern(job->writer, (const char *)&i, sizeof(i));
		job->n_put += put_call(lane, job->index, i);
	}
	cap_lane_put(lane);
	return NULL;
}

static void many_threads_lose_nothing(void **state)
{
	struct cap_writer *writer = open_writer(&helped);
	struct job jobs[N_THREADS];
	pthread_t threads[N_THREADS];
	struct sum sum;

	for (uint32_t i = 0; i < N_THREADS; i++) {
		jobs[i] = (struct job){ writer, i, 0 };
		assert_int_equal(pthread_create(&threads[i], NULL, append_many, &jobs[i]), 0);
	}
	for (uint32_t i = 0; i < N_THREADS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(jobs[i].n_put, PER_THREAD);
	}
	cap_writer_close(writer);
	/* a thread's records are over several lanes now, so count and check each, not their order
	 */
	sum = read_calls(NULL, 0);
	assert_int_equal(sum.n_calls, (uint64_t)N_THREADS * PER_THREAD);
	assert_false(cap_damage_any(&sum.damage));
}

/* A handler that records, on top of a thread that records. */
static struct cap_lane *handler_lane;
static volatile uint64_t n_handled;

static void record_in_handler(int signo)
{
	int saved_errno = errno;

	n_handled += put_call(handler_lane, 1, n_handled);
	errno = saved_errno;
}

static void signal_handlers_record_on_top(void **state)
{
	struct cap_writer *writer = open_writer(&quiet);
	struct sigaction action = { .sa_handler = record_in_handler }, before;
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct itimerspec every = { { 0, 20000 }, { 0, 20000 } };
	uint64_t n = 0, next[1] = { 0 };
	timer_t timer;
	struct sum sum;

	handler_lane = cap_lane_get(writer, 7);
	n_handled = 0;
	sigaction(SIGUSR1, &action, &before);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	timer_settime(timer, 0, &every, NULL);
	while (n_handled < 500)
		n += put_call(handler_lane, 0, n);
	timer_delete(timer);
	sigaction(SIGUSR1, &before, NULL);
	cap_writer_close(writer);
	sum = read_calls(next, 1); /* thread 1's are over two lanes */
	assert_int_equal(next[0], n);
	assert_int_equal(sum.n_calls, n + n_handled);
	assert_false(cap_damage_any(&sum.damage));
}

static long n_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt;
}

/* After a burst that had to make its own chunks, the next one finds them, and their pages, there. */
static void bursts_find_chunks_ready(void **state)
{
	const uint64_t n_burst = (12u << 20) / sizeof(struct cap_rec_call);
	struct cap_writer *writer = open_writer(&quiet);
	struct cap_lane *lane = cap_lane_get(writer, 7);
	uint64_t n = 0, before, next[1] = { 0 };
	struct sum sum;
	long faults;

	for (int burst = 0; burst < 4; burst++) {
		cap_writer_tend(writer); /* as the helper does meanwhile */
		for (uint64_t i = 0; i < n_burst; i++)
			assert_true(put_call(lane, 0, n++));
	}
	cap_writer_tend(writer);
	before = cap_writer_file_bytes(writer);
	faults = n_faults();
	for (uint64_t i = 0; i < n_burst; i++)
		assert_true(put_call(lane, 0, n++));
	assert_in_range(n_faults() - faults, 0, 100); /* 12 MiB have 3072 pages */
	assert_int_equal(cap_writer_file_bytes(writer), before);
	cap_writer_close(writer);
	sum = read_calls(next, 1);
	assert_int_equal(sum.n_calls, n);
	assert_false(cap_damage_any(&sum.damage));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bursts_find_chunks_ready),
		cmocka_unit_test(committed_records_come_back_in_order),
		cmocka_unit_test(a_reserved_record_is_not_there_until_committed),
		cmocka_unit_test(an_append_on_top_of_an_append_goes_to_the_lane_above),
		cmocka_unit_test(a_lane_changes_hands_with_its_owner),
		cmocka_unit_test(texts_are_interned_once),
		cmocka_unit_test(unused_chunks_are_given_back_at_close),
		cmocka_unit_test(a_process_that_records_little_has_a_small_file),
		cmocka_unit_test(clock_pairs_agree_with_the_clock),
		cmocka_unit_test(an_imported_capture_says_nothing_of_this_process),
		cmocka_unit_test(opening_and_closing_leaks_nothing),
		cmocka_unit_test(many_threads_lose_nothing),
		cmocka_unit_test(signal_handlers_record_on_top),
	};

	return RUN_WITH(tests, make_dir, drop_dir);
}
