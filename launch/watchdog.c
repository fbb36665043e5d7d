#include "launch/watchdog.h"

#include "base/file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define GRACE_S 5.0
#define FAMILY_MAX 4096

static pid_t parent_of(const char *pid)
{
	char path[300], line[512];
	const char *paren;
	int ppid;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	/* "pid (name) S ppid": the name may hold anything, so look from the end. */
	if (!ws_file_line(path, line, sizeof(line)) || !(paren = strrchr(line, ')')) ||
	    sscanf(paren + 1, " %*c %d", &ppid) != 1)
		return 0;
	return ppid;
}

/* Our descendants, parents before children; the first entry is ourselves. */
static size_t family(pid_t *out, size_t room)
{
	size_t n = 1, before = 0;

	out[0] = getpid();
	while (n != before && n < room) {
		DIR *proc = opendir("/proc");
		struct dirent *entry;

		before = n;
		while (proc && n < room && (entry = readdir(proc))) {
			pid_t pid =
				isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;
			pid_t parent = pid ? parent_of(entry->d_name) : 0;
			bool known = false, related = false;

			for (size_t i = 0; i < n && parent; i++) {
				known |= out[i] == pid;
				related |= out[i] == parent;
			}
			if (related && !known)
				out[n++] = pid;
		}
		if (proc)
			closedir(proc);
	}
	return n;
}

static void signal_family(int sig)
{
	static pid_t pids[FAMILY_MAX];
	size_t n = family(pids, FAMILY_MAX);

	while (n > 1)
		kill(pids[--n], sig);
}

/* Waits until it is over, or the time has passed: then false. */
static bool wait_for_end(struct launch_watchdog *dog, double seconds)
{
	struct timespec until;
	int error = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += (time_t)seconds;
	until.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	while (!dog->over && error != ETIMEDOUT)
		error = pthread_cond_timedwait(&dog->wake, &dog->lock, &until);
	return dog->over;
}

static void *watch(void *of)
{
	struct launch_watchdog *dog = of;

	pthread_mutex_lock(&dog->lock);
	if (!wait_for_end(dog, dog->seconds)) {
		dog->fired = true;
		signal_family(SIGTERM);
		while (!wait_for_end(dog, GRACE_S))
			signal_family(SIGKILL);
	}
	pthread_mutex_unlock(&dog->lock);
	return NULL;
}

enum ws_status launch_watchdog_start(struct launch_watchdog *dog, double seconds,
				     struct ws_err *err)
{
	pthread_condattr_t attr;
	sigset_t all, old;
	int error;

	*dog = (struct launch_watchdog){ .seconds = seconds };
	if (seconds <= 0)
		return WS_OK;
	pthread_mutex_init(&dog->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&dog->wake, &attr);
	pthread_condattr_destroy(&attr);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(&dog->thread, NULL, watch, dog);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (error) {
		dog->seconds = 0;
		return ws_fail_errno(err, error, "cannot watch the program");
	}
	return WS_OK;
}

bool launch_watchdog_stop(struct launch_watchdog *dog)
{
	if (dog->seconds <= 0)
		return false;
	pthread_mutex_lock(&dog->lock);
	dog->over = true;
	pthread_cond_signal(&dog->wake);
	pthread_mutex_unlock(&dog->lock);
	pthread_join(dog->thread, NULL);
	pthread_cond_destroy(&dog->wake);
	pthread_mutex_destroy(&dog->lock);
	dog->seconds = 0;
	return dog->fired;
}
