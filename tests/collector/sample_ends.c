/* Threads and programs that end in other ways than by returning. */
#include "tests/collector/sample_program.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile uint64_t sink;

static void *leave_later(void *arg)
{
	usleep(200000);
	puts("ok"); /* written by exit(), which the last thread calls */
	return NULL;
}

/* The process ends with its last thread; a child of fork() with the thread that called it. */
static void *leave_in_child(void *arg)
{
	pthread_t later;
	int status;
	pid_t child = fork();

	if (child == 0)
		return NULL;
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		fail("the child did not end well");
	pthread_create(&later, NULL, leave_later, NULL);
	return NULL;
}

void leave(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, leave_in_child, NULL);
	pthread_exit(NULL);
}

/* Only read, write and exit are left to it, and the time-stamp counter is not. */
static void *strict_main(void *arg)
{
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) != 0)
		fail("seccomp: %s", strerror(errno));
	for (long i = 0; i < 100000000; i++)
		sink++;
	*(bool *)arg = true;
	syscall(SYS_exit, 0);
	return NULL;
}

void strict(void)
{
	bool done = false;
	pthread_t thread;

	pthread_create(&thread, NULL, strict_main, &done);
	pthread_join(thread, NULL);
	if (!done)
		fail("the thread did not reach its end");
}

/* The main thread ends by the system call: no handler runs, and no thread of its own is left. */
void end_raw(bool in_strict_mode)
{
	if (in_strict_mode && prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) != 0)
		fail("seccomp: %s", strerror(errno));
	for (long i = 0; i < 100000000; i++)
		sink++;
	if (write(STDOUT_FILENO, "ok\n", 3) != 3)
		syscall(SYS_exit, 1);
	syscall(SYS_exit, 7);
}
