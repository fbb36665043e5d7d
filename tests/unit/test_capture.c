/* Writer and reader against each other: what was committed comes back, whatever happens. */
#include "tests/unit/unit.h"

#include "capture/reader.h"
#include "capture/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char dir[64], path[128];

static int make_dir(void **state)
{
	strcpy(dir, "/tmp/ws-capture-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/a.wscap", dir);
	return 0;
}

static int drop_dir(void **state)
{
	unlink(path);
	return rmdir(dir);
}

static struct ws_writer *open_writer(const struct ws_writer_opts *opts)
{
	struct ws_writer *writer = NULL;
	struct ws_err err = { 0 };

	unlink(path);
	if (ws_writer_open(path, opts, &writer, &err))
		fail_msg("%s", err.text);
	return writer;
}

static struct ws_reader *open_reader(void)
{
	struct ws_reader *reader = NULL;
	struct ws_err err = { 0 };

	if (ws_reader_open(path, &reader, &err))
		fail_msg("%s", err.text);
	return reader;
}

/* A call whose fields all follow from its number, so that a torn one shows. */
static bool put_call(struct ws_lane *lane, uint32_t thread, uint64_t i)
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

static void check_call(const struct ws_rec *rec)
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
static struct sum read_calls(uint64_t *next, size_t n_threads)
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

/* ---- in good times ---- */

static void committed_records_come_back_in_order(void **state)
{
	struct ws_writer *writer = open_writer(&quiet);
	struct ws_lane *lane = ws_lane_get(writer, 7);
	uint64_t next[1] = { 0 };
	struct sum sum;

	for (uint64_t i = 0; i < 100000; i++) /* 4 MB: all chunk sizes */
		assert_true(put_call(lane, 0, i));
	ws_writer_end(writer, WS_END_EXIT);
	ws_writer_close(writer);
	sum = read_calls(next, 1);
	assert_int_equal(sum.n_calls, 100000);
	assert_false(ws_damage_any(&sum.damage));
}

static void a_reserved_record_is_not_there_until_committed(void **state)
{
	struct ws_writer *writer = open_writer(&quiet);
	struct ws_lane *lane = ws_lane_get(writer, 7), *same = lane;
	struct ws_rec_call *rec;

	put_call(lane, 0, 0);
	rec = ws_lane_reserve(&same, sizeof(*rec));
	memset(rec, 0xff, sizeof(*rec));
	assert_int_equal(read_calls(NULL, 0).n_calls, 1);
	ws_lane_cancel(same, sizeof(*rec));
	put_call(lane, 0, 1);
	assert_int_equal(read_calls(NULL, 0).n_calls, 2);
	ws_writer_close(writer);
}

static void an_append_on_top_of_an_append_goes_to_the_lane_above(void **state)
{
	struct ws_writer *writer = open_writer(&quiet);
	struct ws_lane *lane = ws_lane_get(writer, 7), *outer = lane, *inner = lane, *third;
	struct ws_rec_call *a = ws_lane_reserve(&outer, sizeof(*a)), *b;
	uint64_t next[2] = { 0, 0 };

	b = ws_lane_reserve(&inner, sizeof(*b));
	assert_non_null(b);
	assert_ptr_not_equal(inner, outer);
	third = lane;
	assert_null(ws_lane_reserve(&third, sizeof(*b)));
	*b = (struct ws_rec_call){ .h.what = 1, .end_ticks = 1, .ancestor_id = UINT64_MAX };
	ws_lane_commit(inner, &b->h, WS_REC_FIXED_TAG(CALL, struct ws_rec_call));
	/* the inner one is safe although the outer never finishes */
	assert_int_equal(read_calls(next, 2).n_calls, 1);
	assert_int_equal(next[1], 1);
	*a = (struct ws_rec_call){ .end_ticks = 1, .ancestor_id = UINT64_MAX };
	ws_lane_commit(outer, &a->h, WS_REC_FIXED_TAG(CALL, struct ws_rec_call));
	assert_int_equal(read_calls(NULL, 0).n_calls, 2);
	ws_writer_close(writer);
}

static void a_lane_changes_hands_with_its_owner(void **state)
{
	struct ws_writer *writer = open_writer(&quiet);
	struct ws_lane *lane = ws_lane_get(writer, 11), *again;
	struct ws_reader *reader;
	struct ws_view view = { 0 };
	const struct ws_rec *rec;
	uint32_t seen = 0;

	put_call(lane, 11, 0);
	ws_lane_put(lane);
	again = ws_lane_get(writer, 12);
	assert_ptr_equal(again, lane);
	put_call(again, 12, 0);
	ws_writer_close(writer);

	reader = open_reader();
	for (size_t i = 0; i < ws_reader_n_chunks(reader); i++) {
		assert_int_equal(ws_reader_load(reader, i, &view, NULL), WS_OK);
		while (view.kind == WS_CHUNK_EVENT && (rec = ws_view_next(&view))) {
			assert_int_equal(view.tid, rec->what);
			seen++;
		}
	}
	assert_int_equal(seen, 2);
	ws_view_fini(&view);
	ws_reader_close(reader);
}

static void texts_are_interned_once(void **state)
{
	struct ws_writer *writer = open_writer(&quiet);
	char text[32];
	uint32_t first = ws_writer_intern(writer, "hipMalloc", 9);

	assert_int_equal(first, 1);
	assert_int_equal(ws_writer_intern(writer, "hipMalloc", 9), first);
	assert_int_equal(ws_writer_intern(writer, "", 0), 0);
	assert_int_equal(ws_writer_intern(writer, NULL, 0), 0);
	for (int i = 0; i < 20000; i++) {
		snprintf(text, sizeof(text), "text %d", i);
		assert_int_equal(ws_writer_intern(writer, text, strlen(text)), i + 2);
	}
	for (int i = 0; i < 20000; i++) {
		snprintf(text, sizeof(text), "text %d", i);
		assert_int_equal(ws_writer_intern(writer, text, strlen(text)), i + 2);
	}
	ws_writer_close(writer);
	assert_int_equal(read_calls(NULL, 0).n_meta, 20001 + 2); /* and two clock pairs */
}

static void unused_chunks_are_given_back_at_close(void **state)
{
	struct ws_writer *writer = open_writer(&quiet);
	struct stat st;

	ws_writer_tend(writer);
	assert_true(ws_writer_file_bytes(writer) > 4u << 20);
	ws_writer_close(writer);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, WS_FILE_HEAD_BYTES + WS_CHUNK_ALIGN); /* META alone */
}

static void clock_pairs_agree_with_the_clock(void **state)
{
	struct ws_writer *writer = open_writer(&helped);
	struct ws_reader *reader;
	struct ws_view view = { 0 };
	const struct ws_rec_clock *pair;
	struct ws_rec_clock last = { 0 };
	const struct ws_rec *rec;
	int n = 0;

	usleep(30000);
	ws_writer_end(writer, WS_END_EXIT);
	ws_writer_close(writer);
	reader = open_reader();
	assert_true(ws_reader_closed(reader));
	for (size_t i = 0; i < ws_reader_n_chunks(reader); i++) {
		assert_int_equal(ws_reader_load(reader, i, &view, NULL), WS_OK);
		while ((rec = ws_view_next(&view))) {
			if (ws_rec_type(rec) != WS_REC_CLOCK)
				continue;
			pair = (const struct ws_rec_clock *)rec;
			assert_true(pair->h.time > last.h.time);
			assert_true(pair->boottime_ns > last.boottime_ns);
			last = *pair;
			n++;
		}
	}
	assert_true(n >= 4); /* twice at start, 1 ms, 11 ms, end */
	ws_view_fini(&view);
	ws_reader_close(reader);
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
		struct ws_writer *writer = open_writer(i % 10 ? &quiet : &helped);
		struct ws_lane *lane = ws_lane_get(writer, 7);

		put_call(lane, 0, 0);
		ws_writer_intern(writer, "a", 1);
		ws_lane_put(lane);
		ws_writer_end(writer, WS_END_DETACH);
		ws_writer_close(writer);
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
	struct ws_writer *writer;
	uint32_t index;
	uint64_t n_put;
};

static void *append_many(void *arg)
{
	struct job *job = arg;
	struct ws_lane *lane = NULL;

	for (uint64_t i = 0; i < PER_THREAD; i++) {
		if (i % 2500 == 0) { /* churn: lanes change hands under load */
			ws_lane_put(lane);
			lane = ws_lane_get(job->writer, job->index + 100);
		}
		if (i % 1000 == 0)
			ws_writer_intern(job->writer, (const char *)&i, sizeof(i));
		job->n_put += put_call(lane, job->index, i);
	}
	ws_lane_put(lane);
	return NULL;
}

static void many_threads_lose_nothing(void **state)
{
	struct ws_writer *writer = open_writer(&helped);
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
	ws_writer_close(writer);
	/* a thread's records are over several lanes now, so count and check each, not their order
	 */
	sum = read_calls(NULL, 0);
	assert_int_equal(sum.n_calls, (uint64_t)N_THREADS * PER_THREAD);
	assert_false(ws_damage_any(&sum.damage));
}

/* A handler that records, on top of a thread that records. */
static struct ws_lane *handler_lane;
static volatile uint64_t n_handled;

static void record_in_handler(int signo)
{
	int saved_errno = errno;

	n_handled += put_call(handler_lane, 1, n_handled);
	errno = saved_errno;
}

static void signal_handlers_record_on_top(void **state)
{
	struct ws_writer *writer = open_writer(&quiet);
	struct sigaction action = { .sa_handler = record_in_handler }, before;
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct itimerspec every = { { 0, 20000 }, { 0, 20000 } };
	uint64_t n = 0, next[1] = { 0 };
	timer_t timer;
	struct sum sum;

	handler_lane = ws_lane_get(writer, 7);
	n_handled = 0;
	sigaction(SIGUSR1, &action, &before);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	timer_settime(timer, 0, &every, NULL);
	while (n_handled < 500)
		n += put_call(handler_lane, 0, n);
	timer_delete(timer);
	sigaction(SIGUSR1, &before, NULL);
	ws_writer_close(writer);
	sum = read_calls(next, 1); /* thread 1's are over two lanes */
	assert_int_equal(next[0], n);
	assert_int_equal(sum.n_calls, n + n_handled);
	assert_false(ws_damage_any(&sum.damage));
}

/* ---- in bad times ---- */

#define KILL_THREADS 4

struct shared {
	uint64_t done[KILL_THREADS]; /* committed, as the child says; shared memory */
};

struct kill_job {
	struct ws_writer *writer;
	struct shared *shared;
	uint32_t index;
};

static void *append_forever(void *arg)
{
	struct kill_job *job = arg;
	struct ws_lane *lane = ws_lane_get(job->writer, job->index);

	for (uint64_t i = 0;; i++) {
		if (put_call(lane, job->index, i))
			__atomic_store_n(&job->shared->done[job->index], i + 1, __ATOMIC_RELEASE);
		if (i % 64 == 0)
			sched_yield();
	}
	return NULL;
}

static void killed_writers_leave_every_committed_record(void **state)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned seed = 4711;
	uint64_t total = 0;

	assert_ptr_not_equal(shared, MAP_FAILED);
	for (int round = 0; round < 200; round++) {
		uint64_t next[KILL_THREADS] = { 0 };
		struct sum sum;
		pid_t pid;

		memset(shared, 0, sizeof(*shared));
		unlink(path);
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			struct kill_job jobs[KILL_THREADS];
			struct ws_writer *writer;
			pthread_t thread;

			if (ws_writer_open(path, &helped, &writer, NULL))
				_exit(1);
			for (uint32_t i = 0; i < KILL_THREADS; i++) {
				jobs[i] = (struct kill_job){ writer, shared, i };
				if (pthread_create(&thread, NULL, append_forever, &jobs[i]))
					_exit(1);
			}
			for (;;)
				pause();
		}
		/* not before there is a file, then at any moment of the next 20 ms */
		while (!__atomic_load_n(&shared->done[0], __ATOMIC_ACQUIRE))
			usleep(100);
		usleep((useconds_t)(rand_r(&seed) % 20000));
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);

		sum = read_calls(next, KILL_THREADS);
		for (int i = 0; i < KILL_THREADS; i++) {
			assert_true(next[i] >= shared->done[i]);
			assert_true(next[i] <= shared->done[i] + 1);
		}
		assert_false(ws_damage_any(&sum.damage));
		total += sum.n_calls;
	}
	assert_true(total > 1000);
	munmap(shared, sizeof(*shared));
}

static void a_size_limit_drops_and_counts(void **state)
{
	struct ws_writer_opts opts = { .no_helper = true, .max_bytes = 400 << 10 };
	struct ws_writer *writer = open_writer(&opts);
	struct ws_lane *lane = ws_lane_get(writer, 7);
	struct ws_reader *reader;
	uint64_t n = 0, lost = 0, next[1] = { 0 };

	for (uint64_t i = 0; i < 20000; i++) {
		if (put_call(lane, 0, n)) {
			n++;
		} else {
			lost++;
			ws_writer_count(writer, WS_DOMAIN_HSA_API, WS_LEDGER_DROPPED, 1);
		}
	}
	assert_true(n > 1000 && lost > 1000);
	ws_writer_close(writer);
	assert_int_equal(read_calls(next, 1).n_calls, n);
	reader = open_reader();
	assert_int_equal(ws_reader_head(reader)->ledger[WS_DOMAIN_HSA_API].dropped, lost);
	ws_reader_close(reader);
}

static void a_file_size_limit_raises_no_signal(void **state)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		struct rlimit limit = { 600 << 10, 600 << 10 };
		struct ws_writer *writer;
		struct ws_lane *lane;
		uint64_t n = 0;

		setrlimit(RLIMIT_FSIZE, &limit);
		unlink(path);
		if (ws_writer_open(path, &helped, &writer, NULL))
			_exit(1);
		lane = ws_lane_get(writer, 7);
		if (!lane)
			_exit(2);
		for (uint64_t i = 0; i < 100000; i++)
			n += put_call(lane, 0, n);
		_exit(n > 100 && n < 100000 ? 0 : 3);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_true(read_calls(NULL, 0).n_calls > 100);
}

/* A file system of 1 MiB, in a mount namespace of our own. */
static int on_a_full_disk(void)
{
	static char ballast[1 << 20];
	char full[160], *saved = path;
	struct ws_writer *writer;
	struct ws_lane *lane;
	uint64_t n = 0, before;
	int fd;

	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("tmpfs", dir, "tmpfs", 0, "size=1m") != 0)
		return 77;
	if (ws_writer_open(saved, &helped, &writer, NULL))
		return 1;
	lane = ws_lane_get(writer, 7);
	snprintf(full, sizeof(full), "%s/ballast", dir);
	fd = open(full, O_CREAT | O_WRONLY, 0600);
	while (write(fd, ballast, 4096) > 0)
		;
	close(fd);
	for (uint64_t i = 0; i < 100000; i++)
		n += put_call(lane, 0, n);
	if (n >= 100000)
		return 2; /* the disk was not full */
	before = n;
	unlink(full);
	usleep(150000); /* the lane asks again after a while */
	for (uint64_t i = 0; i < 100; i++)
		n += put_call(lane, 0, n);
	if (n == before)
		return 3; /* it did not come back */
	uint64_t next[1] = { 0 };
	struct sum sum = read_calls(next, 1);

	return next[0] == n && !ws_damage_any(&sum.damage) ? 0 : 4;
}

static void a_full_disk_is_survived_and_left_behind(void **state)
{
	pid_t pid = fork();
	int status;

	unlink(path);
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(on_a_full_disk());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip(); /* mounting is for root */
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void descriptors_closed_by_the_program_do_no_harm(void **state)
{
	struct ws_writer *writer = open_writer(&quiet);
	struct ws_lane *lane = ws_lane_get(writer, 7);
	char other[160];
	struct stat st;
	int fd, high;

	put_call(lane, 0, 0);
	for (fd = 3; fd < 1024; fd++)
		close(fd);
	/* something else of the program's now has our number */
	snprintf(other, sizeof(other), "%s/other", dir);
	fd = open(other, O_CREAT | O_RDWR, 0600);
	high = fcntl(fd, F_DUPFD, 512);
	for (uint64_t i = 1; i < 50000; i++)
		assert_true(put_call(lane, 0, i));
	ws_writer_close(writer);
	assert_int_equal(fstat(high, &st), 0); /* still open, and nothing was written to it */
	assert_int_equal(st.st_size, 0);
	close(high);
	close(fd);
	unlink(other);
	assert_int_equal(read_calls(NULL, 0).n_calls, 50000);
}

static void a_forked_child_leaves_the_parents_file_alone(void **state)
{
	struct ws_writer *writer = open_writer(&helped);
	struct ws_lane *lane = ws_lane_get(writer, 7);
	int status;
	pid_t pid;

	put_call(lane, 0, 0);
	pid = fork();
	if (pid == 0) {
		char mine[160];
		struct ws_writer *child;

		ws_writer_forked(writer);
		snprintf(mine, sizeof(mine), "%s.child", path);
		if (ws_writer_open(mine, &quiet, &child, NULL))
			_exit(1);
		put_call(ws_lane_get(child, 8), 0, 0);
		ws_writer_close(child);
		unlink(mine);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	put_call(lane, 0, 1);
	ws_writer_close(writer);
	assert_int_equal(read_calls(NULL, 0).n_calls, 2);
}

static void an_existing_file_is_not_overwritten(void **state)
{
	struct ws_writer *writer = open_writer(&quiet), *second;
	struct ws_err err = { 0 };

	assert_fails_with(ws_writer_open(path, &quiet, &second, &err), WS_E_EXISTS, &err,
			  "cannot create capture");
	ws_writer_close(writer);
}

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
	struct ws_writer *writer = open_writer(&quiet);
	struct ws_lane *lane = ws_lane_get(writer, 7);

	for (uint64_t i = 0; i < n; i++)
		assert_true(put_call(lane, 0, i));
	ws_writer_end(writer, WS_END_EXIT);
	ws_writer_close(writer);
}

static void cut_files_give_what_is_left(void **state)
{
	unsigned seed = 42;
	uint64_t before = 0;
	char *bytes;
	size_t n;

	write_sample(10000);
	bytes = slurp(&n);
	for (size_t cut = n, step; cut > sizeof(struct ws_file_head); cut -= WS_MIN(cut, step)) {
		struct sum sum;

		step = 1 + (size_t)rand_r(&seed) % 20000;
		spill(bytes, cut);
		sum = read_calls(NULL, 0);
		assert_true(before == 0 || sum.n_calls <= before);
		before = sum.n_calls;
	}
	spill(bytes, 20);
	struct ws_reader *reader;
	struct ws_err err = { 0 };
	assert_fails_with(ws_reader_open(path, &reader, &err), WS_E_FORMAT, &err, "cut off");
	spill("hello, world", 12);
	assert_fails_with(ws_reader_open(path, &reader, &err), WS_E_FORMAT, &err, "not a capture");
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
	size_t chunk = WS_FILE_HEAD_BYTES + WS_CHUNK_ALIGN;
	for (int k = 0; k < 20; k++) {
		size_t rec = chunk + sizeof(struct ws_chunk_head) + sizeof(struct ws_rec_owner) +
			     (size_t)(rand_r(&seed) % 1000) * sizeof(struct ws_rec_call);
		uint32_t bit = 1u << rand_r(&seed) % 32;
		struct ws_reader *reader;
		struct ws_view view = { 0 };
		uint64_t n_calls = 0;
		const struct ws_rec *r;

		*(uint32_t *)(bytes + rec) ^= bit;
		spill(bytes, n);
		*(uint32_t *)(bytes + rec) ^= bit;
		reader = open_reader();
		for (size_t i = 0; i < ws_reader_n_chunks(reader); i++) {
			assert_int_equal(ws_reader_load(reader, i, &view, NULL), WS_OK);
			while ((r = ws_view_next(&view)))
				n_calls += ws_rec_type(r) == WS_REC_CALL;
		}
		assert_true(n_calls >= 10000 - 3 && n_calls < 10000);
		assert_true(ws_damage_any(&view.damage));
		ws_view_fini(&view);
		ws_reader_close(reader);
	}
	/* and a chunk head: that chunk is gone, the others are not */
	bytes[chunk + 4] ^= 1;
	spill(bytes, n);
	struct ws_reader *reader = open_reader();
	assert_true(ws_reader_damage(reader)->n_heads == 1);
	assert_true(ws_reader_damage(reader)->n_skipped_bytes == WS_CHUNK_ALIGN);
	ws_reader_close(reader);
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
		struct ws_reader *reader = NULL;
		struct ws_view view = { 0 };

		memcpy(copy, bytes, n);
		for (int flips = 1 + rand_r(&seed) % 50; flips; flips--)
			copy[(size_t)rand_r(&seed) % n] ^= (char)(1 << rand_r(&seed) % 8);
		spill(copy, n);
		if (ws_reader_open(path, &reader, NULL) == WS_OK) {
			for (size_t i = 0; i < ws_reader_n_chunks(reader); i++) {
				assert_int_equal(ws_reader_load(reader, i, &view, NULL), WS_OK);
				while (ws_view_next(&view))
					;
			}
		}
		ws_view_fini(&view);
		ws_reader_close(reader);
		test_free(copy);
	}
	test_free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(committed_records_come_back_in_order),
		cmocka_unit_test(a_reserved_record_is_not_there_until_committed),
		cmocka_unit_test(an_append_on_top_of_an_append_goes_to_the_lane_above),
		cmocka_unit_test(a_lane_changes_hands_with_its_owner),
		cmocka_unit_test(texts_are_interned_once),
		cmocka_unit_test(unused_chunks_are_given_back_at_close),
		cmocka_unit_test(clock_pairs_agree_with_the_clock),
		cmocka_unit_test(opening_and_closing_leaks_nothing),
		cmocka_unit_test(many_threads_lose_nothing),
		cmocka_unit_test(signal_handlers_record_on_top),
		cmocka_unit_test(killed_writers_leave_every_committed_record),
		cmocka_unit_test(a_size_limit_drops_and_counts),
		cmocka_unit_test(a_file_size_limit_raises_no_signal),
		cmocka_unit_test(a_full_disk_is_survived_and_left_behind),
		cmocka_unit_test(descriptors_closed_by_the_program_do_no_harm),
		cmocka_unit_test(a_forked_child_leaves_the_parents_file_alone),
		cmocka_unit_test(an_existing_file_is_not_overwritten),
		cmocka_unit_test(cut_files_give_what_is_left),
		cmocka_unit_test(broken_tags_cost_their_neighbourhood_only),
		cmocka_unit_test(flipped_bits_never_break_the_reader),
	};

	return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
