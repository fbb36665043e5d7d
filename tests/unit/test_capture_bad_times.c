/* The capture in bad times: kills, limits, full disks, forks. */
#include "tests/unit/capture_rig.h"

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
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- in bad times ---- */

#define KILL_THREADS 4

struct shared {
	uint64_t done[KILL_THREADS]; /* committed, as the child says; shared memory */
};

struct kill_job {
	struct cap_writer *writer;
	struct shared *shared;
	uint32_t index;
};

static void *append_forever(void *arg)
{
	struct kill_job *job = arg;
	struct cap_lane *lane = cap_lane_get(job->writer, job->index);

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
			struct cap_writer *writer;
			pthread_t thread;

			if (cap_writer_open(path, &helped, &writer, NULL))
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
		assert_false(cap_damage_any(&sum.damage));
		total += sum.n_calls;
	}
	assert_true(total > 1000);
	munmap(shared, sizeof(*shared));
}

static void a_size_limit_drops_and_counts(void **state)
{
	struct cap_writer_opts opts = { .no_helper = true, .max_bytes = 400 << 10 };
	struct cap_writer *writer = open_writer(&opts);
	struct cap_lane *lane = cap_lane_get(writer, 7);
	struct cap_reader *reader;
	uint64_t n = 0, lost = 0, next[1] = { 0 };

	for (uint64_t i = 0; i < 20000; i++) {
		if (put_call(lane, 0, n)) {
			n++;
		} else {
			lost++;
			cap_writer_count(writer, CAP_DOMAIN_HSA_API, CAP_LEDGER_DROPPED, 1);
		}
	}
	assert_true(n > 1000 && lost > 1000);
	cap_writer_close(writer);
	assert_int_equal(read_calls(next, 1).n_calls, n);
	reader = open_reader();
	assert_int_equal(cap_reader_head(reader)->ledger[CAP_DOMAIN_HSA_API].dropped, lost);
	cap_reader_close(reader);
}

static void a_file_size_limit_raises_no_signal(void **state)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		struct rlimit limit = { 600 << 10, 600 << 10 };
		struct cap_writer *writer;
		struct cap_lane *lane;
		uint64_t n = 0;

		setrlimit(RLIMIT_FSIZE, &limit);
		unlink(path);
		if (cap_writer_open(path, &helped, &writer, NULL))
			_exit(1);
		lane = cap_lane_get(writer, 7);
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
	struct cap_writer *writer;
	struct cap_lane *lane;
	uint64_t n = 0, before;
	int fd;

	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("tmpfs", dir, "tmpfs", 0, "size=1m") != 0)
		return 77;
	if (cap_writer_open(saved, &helped, &writer, NULL))
		return 1;
	lane = cap_lane_get(writer, 7);
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

	return next[0] == n && !cap_damage_any(&sum.damage) ? 0 : 4;
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
		unit_skip("only root may mount a small file system");
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void descriptors_closed_by_the_program_do_no_harm(void **state)
{
	struct cap_writer *writer = open_writer(&quiet);
	struct cap_lane *lane = cap_lane_get(writer, 7);
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
	cap_writer_close(writer);
	assert_int_equal(fstat(high, &st), 0); /* still open, and nothing was written to it */
	assert_int_equal(st.st_size, 0);
	close(high);
	close(fd);
	unlink(other);
	assert_int_equal(read_calls(NULL, 0).n_calls, 50000);
}

static void a_forked_child_leaves_the_parents_file_alone(void **state)
{
	struct cap_writer *writer = open_writer(&helped);
	struct cap_lane *lane = cap_lane_get(writer, 7);
	int status;
	pid_t pid;

	put_call(lane, 0, 0);
	pid = fork();
	if (pid == 0) {
		char mine[160];
		struct cap_writer *child;

		cap_writer_forked(writer);
		snprintf(mine, sizeof(mine), "%s.child", path);
		if (cap_writer_open(mine, &quiet, &child, NULL))
			_exit(1);
		put_call(cap_lane_get(child, 8), 0, 0);
		cap_writer_close(child);
		unlink(mine);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	put_call(lane, 0, 1);
	cap_writer_close(writer);
	assert_int_equal(read_calls(NULL, 0).n_calls, 2);
}

/* Nothing faults: the head and the chunks are there, and zero. A new chunk would begin where the head is. */
static void a_file_cut_and_made_longer_is_still_a_capture(void **state)
{
	struct cap_writer *writer = open_writer(&quiet);
	struct cap_reader *reader;

	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(truncate(path, 1 << 20), 0);
	put_call(cap_lane_get(writer, 7), 0, 0);
	cap_writer_close(writer);
	reader = open_reader();
	assert_true(cap_reader_damage(reader)->n_pages_cut > 0);
	cap_reader_close(reader);
}

static void an_existing_file_is_not_overwritten(void **state)
{
	struct cap_writer *writer = open_writer(&quiet), *second;
	struct ws_err err = { 0 };

	assert_fails_with(cap_writer_open(path, &quiet, &second, &err), WS_E_EXISTS, &err,
			  "cannot create capture");
	cap_writer_close(writer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(killed_writers_leave_every_committed_record),
		cmocka_unit_test(a_size_limit_drops_and_counts),
		cmocka_unit_test(a_file_size_limit_raises_no_signal),
		cmocka_unit_test(a_full_disk_is_survived_and_left_behind),
		cmocka_unit_test(descriptors_closed_by_the_program_do_no_harm),
		cmocka_unit_test(a_forked_child_leaves_the_parents_file_alone),
		cmocka_unit_test(a_file_cut_and_made_longer_is_still_a_capture),
		cmocka_unit_test(an_existing_file_is_not_overwritten),
	};

	return RUN_WITH(tests, make_dir, drop_dir);
}
