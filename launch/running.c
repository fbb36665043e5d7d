#include "launch/running.h"

#include "base/file.h"
#include "base/str.h"
#include "base/util.h"
#include "capture/chunk.h"
#include "collector/config.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ENVIRON_MAX (4u << 20) /* what execve() takes is of this order */
#define SHOWN_MAX 4u
#define SLACK_NS 1000000000u /* start times are in hundredths of a second */
#define QUIET_S 1.0          /* most of what is left behind is just about to end */
#define FIRST_PAUSE_NS 2000000
#define EXEC_NS 2000000 /* execve() is through by then */
#define EXEC_TRIES 3
#define KERNEL_THREAD 0x00200000u /* PF_KTHREAD of the flags in stat */
#define LAST_PAUSE_NS 200000000

/* ---- one process ---- */

struct stat_line {
	char state;
	bool is_kernel;    /* a thread of the kernel's own */
	uint64_t start_ns; /* CLOCK_BOOTTIME */
	char name[64];
};

static bool read_stat(pid_t pid, struct stat_line *out)
{
	char path[64], line[1024];
	unsigned long long ticks;
	unsigned flags;
	char *open, *close;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	/* "pid (name) S ...": the name may hold anything, so look from both ends. */
	if (!ws_file_line(path, line, sizeof(line)) || !(open = strchr(line, '(')) ||
	    !(close = strrchr(line, ')')) ||
	    sscanf(close + 1,
		   " %c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
		   "%llu",
		   &out->state, &flags, &ticks) != 3)
		return false;
	out->is_kernel = flags & KERNEL_THREAD;
	*close = '\0';
	snprintf(out->name, sizeof(out->name), "%s", open + 1);
	out->start_ns = ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
	return true;
}

static bool is_alive(const struct stat_line *stat)
{
	return stat->state != 'Z' && stat->state != 'X' && stat->state != 'x';
}

bool launch_running_process(const struct trc_process *process)
{
	struct stat_line stat;
	uint8_t boot_id[16] = { 0 };

	if (process->ended)
		return false;
	cap_boot_id(boot_id);
	return memcmp(boot_id, process->boot_id, sizeof(boot_id)) == 0 &&
	       read_stat((pid_t)process->pid, &stat) && is_alive(&stat) &&
	       stat.start_ns <= process->init_ns + SLACK_NS;
}

/* ---- those of a run ---- */

static bool records_to(const char *text, const char *dir)
{
	static struct col_collect_config config; /* kilobytes */
	size_t n = strlen(dir);

	return col_collect_parse(text, &config) && strncmp(config.dir, dir, n) == 0 &&
	       (config.dir[n] == '\0' || config.dir[n] == '/');
}

/*
 * What the process was started with; a process that has cleared it cannot be identified.
 * *@out_empty: nothing is there, as in the middle of an execve().
 */
static bool is_of_run(pid_t pid, const char *dir, bool *out_empty)
{
	static const char variable[] = COL_COLLECT_VARIABLE "=";
	char path[64];
	struct ws_str rest, word;
	struct ws_buf text;
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	ws_buf_init(&text, ENVIRON_MAX);
	*out_empty = false;
	if (!ws_file_read(path, &text, NULL)) {
		*out_empty = !text.n;
		rest = ws_buf_view(&text);
		while (!found && ws_str_next(&rest, '\0', &word))
			found = ws_str_starts(word, variable) &&
				records_to(word.at + sizeof(variable) - 1, dir);
	}
	ws_buf_fini(&text);
	return found;
}

static size_t look(const struct launch_rundir *dir, struct launch_running *out, size_t room,
		   bool *out_unsure)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	size_t n = 0;

	*out_unsure = false;
	while (proc && (entry = readdir(proc))) {
		pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;
		bool empty = false,
		     ours = pid && pid != getpid() && is_of_run(pid, dir->path, &empty);
		struct stat_line stat;

		if (!pid || pid == getpid() || (!ours && !empty) || !read_stat(pid, &stat) ||
		    !is_alive(&stat) || stat.is_kernel)
			continue;
		*out_unsure |= !ours;
		if (!ours)
			continue;
		if (n < room) {
			out[n].pid = pid;
			snprintf(out[n].name, sizeof(out[n].name), "%s", stat.name);
		}
		n++;
	}
	if (proc)
		closedir(proc);
	return n;
}

size_t launch_running_in(const struct launch_rundir *dir, struct launch_running *out, size_t room)
{
	struct timespec moment = { 0, EXEC_NS };
	bool unsure;
	size_t n = look(dir, out, room, &unsure);

	/* One that becomes another program has no environment for a moment. */
	for (int i = 0; i < EXEC_TRIES && !n && unsure; i++) {
		nanosleep(&moment, NULL);
		n = look(dir, out, room, &unsure);
	}
	return n;
}

const char *launch_running_names(const struct launch_running *list, size_t n, char *to, size_t room)
{
	size_t at = (size_t)snprintf(to, room, n == 1 ? "process" : "processes");

	for (size_t i = 0; i < WS_MIN(n, SHOWN_MAX) && at < room; i++)
		at += (size_t)snprintf(to + at, room - at, "%s %d (%s)", i ? "," : "",
				       (int)list[i].pid, list[i].name);
	if (n > SHOWN_MAX && at < room)
		at += (size_t)snprintf(to + at, room - at, " and %zu more", n - SHOWN_MAX);
	if (at < room)
		snprintf(to + at, room - at, n == 1 ? " is" : " are");
	return to;
}

/* ---- waiting ---- */

static volatile sig_atomic_t told_to_go_on;

static void go_on(int sig)
{
	(void)sig;
	told_to_go_on = 1;
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

bool launch_running_wait(const struct launch_rundir *dir, const char *tool, unsigned seconds)
{
	static const int signals[] = { SIGINT, SIGTERM };
	struct sigaction action = { .sa_handler = go_on }, old[WS_ARRAY_LEN(signals)];
	struct launch_running list[SHOWN_MAX];
	struct timespec pause = { 0, FIRST_PAUSE_NS };
	double start_s = now_s();
	char names[512];
	bool announced = false;
	size_t n = launch_running_in(dir, list, SHOWN_MAX);

	if (!n || !seconds)
		return !n;
	told_to_go_on = 0;
	for (size_t i = 0; i < WS_ARRAY_LEN(signals); i++) {
		sigaction(signals[i], NULL, &old[i]);
		if (old[i].sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
	while (n && !told_to_go_on && now_s() - start_s < seconds) {
		if (!announced && now_s() - start_s >= QUIET_S) {
			fprintf(stderr,
				"%s: the program has ended, but %s still running: waiting up to %u "
				"s, Ctrl-C stops waiting\n",
				tool, launch_running_names(list, n, names, sizeof(names)), seconds);
			announced = true;
		}
		nanosleep(&pause, NULL);
		pause.tv_nsec = WS_MIN(pause.tv_nsec * 2, LAST_PAUSE_NS);
		n = launch_running_in(dir, list, SHOWN_MAX);
	}
	for (size_t i = 0; i < WS_ARRAY_LEN(signals); i++)
		sigaction(signals[i], &old[i], NULL);
	return !n;
}

void launch_running_add(struct launch_running_set *set, pid_t pid, const char *name)
{
	for (unsigned i = 0; i < WS_MIN(set->n, LAUNCH_RUNNING_MAX); i++)
		if (set->at[i].pid == pid)
			return;
	if (set->n < LAUNCH_RUNNING_MAX) {
		set->at[set->n].pid = pid;
		snprintf(set->at[set->n].name, sizeof(set->at[set->n].name), "%s", name);
	}
	set->n++;
}

void launch_running_add_all(struct launch_running_set *set, const struct launch_rundir *dir)
{
	struct launch_running list[LAUNCH_RUNNING_MAX];
	size_t n = launch_running_in(dir, list, LAUNCH_RUNNING_MAX);

	for (size_t i = 0; i < WS_MIN(n, (size_t)LAUNCH_RUNNING_MAX); i++)
		launch_running_add(set, list[i].pid, list[i].name);
}
