/*
 * last: a program whose main thread has left ends with its last thread.
 *
 * After pthread_exit() in the main thread, libc ends the process when no thread is left. It counts ours as
 * well, which never end. So when the main thread leaves, one more thread of ours looks whether
 * threads of the program are left, and then calls exit(0), as libc would have.
 *
 * A main thread can also end by the system call alone. In strict mode of seccomp it has no other
 * way. The kernel then ends the process with its last thread, and with the main thread's status;
 * again ours would keep it. Entering strict mode is seen; otherwise a thread of ours that is awake
 * anyway looks every second.
 */
#include "collector/collector_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TASKS "/proc/self/task"
#define LOOK_NS 10000000         /* as often as this */
#define LOOK_MAIN_NS 1000000000u /* for a main thread that has ended unseen */
#define STAT_BYTES 1024

static struct {
	pthread_key_t key;
	bool has_key;
	sigset_t mask;    /* of the main thread, when it left */
	uint64_t look_ns; /* when to look for the main thread next */
} last;

/* "PID (NAME) STATE": is it a thread of the program, and alive? */
static bool is_program(const char *stat)
{
	const char *name = strchr(stat, '('), *end = strrchr(stat, ')');

	return name && end && end[1] == ' ' && end[2] != 'Z' && end[2] != 'X' &&
	       !col_is_helper(name + 1);
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

static void wait_for_all(void)
{
	while (is_any_left())
		nanosleep(&(struct timespec){ 0, LOOK_NS }, NULL);
}

static void *watch(void *arg)
{
	wait_for_all();
	pthread_sigmask(SIG_SETMASK, &last.mask, NULL);
	exit(0);
}

/* ---- main threads that ended without libc ---- */

/* Has it ended? out_status: as waitpid() returns it; the last number of /proc/self/stat. */
static bool main_has_ended(int *out_status)
{
	char stat[STAT_BYTES];
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, stat, sizeof(stat) - 1) : -1;
	const char *end;

	if (fd >= 0)
		close(fd);
	stat[n > 0 ? n : 0] = '\0';
	end = strrchr(stat, ')');
	if (!end || end[1] != ' ' || end[2] != 'Z')
		return false;
	end = strrchr(stat, ' ');
	*out_status = 0;
	while (*++end >= '0' && *end <= '9')
		*out_status = *out_status * 10 + (*end - '0');
	return true;
}

/* The process ends as it would have without us. */
static void end_as(int status)
{
	wait_for_all();
	if (status & 0x7f) {
		signal(status & 0x7f, SIG_DFL);
		kill(getpid(), status & 0x7f);
	}
	_exit(status >> 8 & 0xff);
}

static void *watch_strict(void *arg)
{
	int status;

	while (!main_has_ended(&status))
		nanosleep(&(struct timespec){ 0, LOOK_NS }, NULL);
	end_as(status);
	return NULL;
}

void col_last_strict(void)
{
	/* Where system calls are filtered already, a thread may not be permitted. */
	if (syscall(SYS_gettid) == getpid() && syscall(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0) == 0)
		col_spawn(watch_strict, NULL, "wavescope-last");
}

void col_last_look(uint64_t now_ns)
{
	int status;

	if (now_ns < __atomic_load_n(&last.look_ns, __ATOMIC_RELAXED) || col_threads_sandboxed())
		return;
	__atomic_store_n(&last.look_ns, now_ns + LOOK_MAIN_NS, __ATOMIC_RELAXED);
	if (main_has_ended(&status) && !is_any_left())
		end_as(status);
}

/* ---- main threads that leave ---- */

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
