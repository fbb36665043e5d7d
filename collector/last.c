/*
 * last: a program whose main thread has left ends with its last thread.
 *
 * After pthread_exit() in the main thread, libc ends the process when no thread is left. It counts ours as
 * well, which never end. So when the main thread leaves, one more thread of ours looks whether
 * threads of the program are left, and then calls exit(0), as libc would have.
 */
#include "collector/collector_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TASKS "/proc/self/task"
#define LOOK_NS 10000000 /* as often as this */

static struct {
	pthread_key_t key;
	bool has_key;
	sigset_t mask; /* of the main thread, when it left */
} last;

/* "PID (NAME) STATE": is it a thread of the program, and alive? */
static bool is_program(const char *stat)
{
	static const char *const ours[] = { "wavescope", "omni.sampler" };
	const char *name = strchr(stat, '('), *end = strrchr(stat, ')');

	if (!name || !end || end[1] != ' ' || end[2] == 'Z' || end[2] == 'X')
		return false;
	for (unsigned i = 0; i < WS_ARRAY_LEN(ours); i++) {
		if (!strncmp(name + 1, ours[i], strlen(ours[i])))
			return false;
	}
	return true;
}

/* Also true if it cannot be known. */
static bool is_any_left(void)
{
	DIR *tasks = opendir(TASKS);
	const struct dirent *task;
	bool any = !tasks;

	while (!any && (task = readdir(tasks))) {
		char path[sizeof(TASKS) + sizeof(task->d_name) + 8] = TASKS "/", stat[128];
		ssize_t n;
		int fd;

		if (task->d_name[0] == '.')
			continue;
		strcat(strcat(path, task->d_name), "/stat");
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue; /* gone meanwhile */
		n = read(fd, stat, sizeof(stat) - 1);
		close(fd);
		stat[n > 0 ? n : 0] = '\0';
		any = is_program(stat);
	}
	if (tasks)
		closedir(tasks);
	return any;
}

static void *watch(void *arg)
{
	while (is_any_left())
		nanosleep(&(struct timespec){ 0, LOOK_NS }, NULL);
	pthread_sigmask(SIG_SETMASK, &last.mask, NULL);
	exit(0);
}

/* Destructor of the key, in the main thread. exit() does not come here. */
static void main_leaves(void *arg)
{
	int saved_errno = errno;
	sigset_t all;
	pthread_t thread;

	if (syscall(SYS_gettid) == getpid() && !col_threads_sandboxed()) {
		/* With a stack of the usual size: handlers of the program run on it. */
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &last.mask);
		if (pthread_create(&thread, NULL, watch, NULL) == 0)
			pthread_setname_np(thread, "wavescope-last");
		pthread_sigmask(SIG_SETMASK, &last.mask, NULL);
	}
	errno = saved_errno;
}

void col_last_start(void)
{
	last.has_key = pthread_key_create(&last.key, main_leaves) == 0;
	col_last_forked();
}

/* The thread that forked is the main thread of the child. */
void col_last_forked(void)
{
	if (last.has_key && syscall(SYS_gettid) == getpid())
		pthread_setspecific(last.key, &last);
}
