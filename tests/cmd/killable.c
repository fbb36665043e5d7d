/*
 * killable: marks from several threads until somebody ends it, for tests that do.
 *
 *	killable FILE
 *
 * FILE gets a line of counters, one per thread: how many marks the thread has made so
 * far. A counter moves after roctxMarkA() has returned, so what it says was recorded.
 */
#include "collector/roctx/include/roctx.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4

struct progress {
	uint64_t tid, n_marks;
};

static void *make_marks(void *arg)
{
	struct progress *own = arg;
	char text[32];

	__atomic_store_n(&own->tid, (uint64_t)syscall(SYS_gettid), __ATOMIC_RELAXED);
	for (uint64_t i = 0;; i++) {
		snprintf(text, sizeof(text), "%llu", (unsigned long long)i);
		roctxMarkA(text);
		__atomic_store_n(&own->n_marks, i + 1, __ATOMIC_RELEASE);
		/* leaves time for the other threads, and files of a size that tests can read */
		if (i % 16 == 0)
			nanosleep(&(struct timespec){ 0, 20000 }, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;
	struct progress *all;
	pthread_t thread;

	if (fd < 0 || ftruncate(fd, THREADS * sizeof(*all)))
		return 2;
	all = mmap(NULL, THREADS * sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (all == MAP_FAILED)
		return 2;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, make_marks, &all[i]))
			return 2;
	for (;;)
		pause();
}
