/*
 * events: CPU events of the sampled threads, whose counts the samples carry.
 *
 * The events of a thread are one group of perf events: one read() returns all of them, of the
 * same moment. The group is pinned: the kernel counts it all the time, or not at all, and never
 * estimates. Each event takes a file descriptor per thread, so they stay in the upper quarter of
 * what the process may open, and threads beyond that are not counted.
 *
 * A program may close all descriptors and use their numbers again. So an event is known by its
 * id, too, and a descriptor is only read or closed while it has that id.
 */
#include "collector/sample/sample_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FLOOR_MAX 4096u /* a table of descriptors up to a limit of millions would be large */

/* clang-format off */
/* Why an event is not counted; the first row that has the error applies. 0: any. */
static const struct {
	int error;
	const char *text;
} refusals[] = {
	{ EACCES, "not permitted: see /proc/sys/kernel/perf_event_paranoid" },
	{ EPERM,  "not permitted: see /proc/sys/kernel/perf_event_paranoid" },
	{ EMFILE, "the limit of open files is reached (ulimit -n)" },
	{ ENFILE, "the system has too many open files" },
	{ E2BIG,  "it does not fit beside the others: request fewer" },
	{ 0,      "this machine cannot count it" },
};
/* clang-format on */
#define REFUSALS WS_ARRAY_LEN(refusals)

static struct {
	uint32_t n;                        /* events that are counted */
	uint32_t used[COL_CPU_EVENTS_MAX]; /* which of those that are requested */
	char names[COL_CPU_EVENTS_MAX * COL_CPU_EVENT_NAME_MAX]; /* separated by ',' */
	char refused[REFUSALS][512];                             /* names, by reason */
	uint32_t noted;
} events;

/* ---- descriptors ---- */

int col_perf_floor(void)
{
	struct rlimit limit = { .rlim_cur = 1024 };

	getrlimit(RLIMIT_NOFILE, &limit);
	return (int)WS_MIN(limit.rlim_cur / 4 * 3, FLOOR_MAX);
}

int col_perf_open(struct perf_event_attr *attr, uint32_t tid, int group)
{
	int low = (int)syscall(SYS_perf_event_open, attr, (pid_t)tid, -1, group,
			       PERF_FLAG_FD_CLOEXEC);
	int high, error;

	if (low < 0)
		return -1;
	high = fcntl(low, F_DUPFD_CLOEXEC, col_perf_floor());
	error = errno;
	close(low);
	errno = high < 0 && error == EINVAL ? EMFILE : error;
	return high;
}

/* In handlers, too. */
static bool is_ours(const struct col_event_fd *event)
{
	uint64_t id = 0;

	return ioctl(event->fd, PERF_EVENT_IOC_ID, &id) == 0 && id == event->id;
}

static bool counts_kernel_only(const struct col_cpu_event *event)
{
	return event->type == PERF_TYPE_SOFTWARE &&
	       (event->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		event->config == PERF_COUNT_SW_CPU_MIGRATIONS);
}

/*
 * Hardware is counted in user mode, as PAPI does. What the kernel counts itself includes its own
 * part where that is permitted; without that part some would always be 0.
 */
static int open_event(const struct col_cpu_event *event, uint32_t tid, int group)
{
	struct perf_event_attr attr = {
		.type = event->type,
		.size = sizeof(attr),
		.config = event->config,
		.disabled = group < 0,
		.pinned = group < 0,
		.exclude_kernel = event->type != PERF_TYPE_SOFTWARE,
		.exclude_hv = 1,
		.read_format = PERF_FORMAT_GROUP,
	};
	int fd = col_perf_open(&attr, tid, group);

	if (fd >= 0 || (errno != EACCES && errno != EPERM) || attr.exclude_kernel ||
	    counts_kernel_only(event))
		return fd;
	attr.exclude_kernel = 1;
	return col_perf_open(&attr, tid, group);
}

/* ---- which of them ---- */

static void append(char *to, size_t room, const char *separator, const char *text)
{
	size_t n = strlen(to);

	snprintf(to + n, room - n, "%s%s", n ? separator : "", text);
}

/* An event of the group of @group failed to open with @error: why? */
static void refuse(const struct col_cpu_event *event, int group, int error)
{
	uint32_t row = 0;
	int alone;

	if (group >= 0 && error != EMFILE && error != ENFILE) {
		alone = open_event(event, 0, -1);
		if (alone >= 0)
			error = E2BIG;
		close(alone);
	}
	while (refusals[row].error && refusals[row].error != error)
		row++;
	if (row == 1)
		row = 0; /* two errors, one reason */
	append(events.refused[row], sizeof(events.refused[row]), ", ", event->name);
}

const char *col_events_choose(void)
{
	const struct col_collect_config *config = col_config();
	int fds[COL_CPU_EVENTS_MAX], group = -1;
	int saved_errno = errno;

	events.n = 0;
	events.names[0] = '\0';
	memset(events.refused, 0, sizeof(events.refused));
	for (uint32_t i = 0; i < config->n_cpu_events; i++) {
		int fd = open_event(&config->cpu_events[i], 0, group);

		if (fd < 0) {
			refuse(&config->cpu_events[i], group, errno);
			continue;
		}
		if (group < 0)
			group = fd;
		append(events.names, sizeof(events.names), ",", config->cpu_events[i].name);
		fds[events.n] = fd;
		events.used[events.n++] = i;
	}
	for (uint32_t i = 0; i < events.n; i++)
		close(fds[i]);
	errno = saved_errno;
	return events.names;
}

void col_events_note(void)
{
	char text[sizeof(events.refused[0]) + 128];

	events.noted = 0;
	for (uint32_t i = 0; i < REFUSALS; i++) {
		if (!events.refused[i][0])
			continue;
		snprintf(text, sizeof(text), "CPU events: %s is not counted: %s", events.refused[i],
			 refusals[i].text);
		col_note(text);
	}
}

/* ---- of a thread ---- */

void col_events_add(struct col_sampled *thread)
{
	const struct col_collect_config *config = col_config();
	uint32_t n = 0;

	for (; n < events.n; n++) {
		struct col_event_fd *event = &thread->events[n];

		event->fd = open_event(&config->cpu_events[events.used[n]], thread->tid,
				       n ? thread->events[0].fd : -1);
		if (event->fd < 0)
			break;
		if (ioctl(event->fd, PERF_EVENT_IOC_ID, &event->id) != 0) {
			close(event->fd);
			break;
		}
	}
	__atomic_store_n(&thread->n_events, n, __ATOMIC_RELEASE);
	if (n == events.n)
		return;
	col_events_remove(thread); /* all or nothing: counts have no names of their own */
	if (!__atomic_exchange_n(&events.noted, 1, __ATOMIC_RELAXED))
		col_note("CPU events: the limit of open files is reached (ulimit -n): some threads "
			 "are not counted");
}

void col_events_run(struct col_sampled *thread)
{
	if (thread->n_events)
		ioctl(thread->events[0].fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
}

void col_events_remove(struct col_sampled *thread)
{
	uint32_t n = __atomic_exchange_n(&thread->n_events, 0, __ATOMIC_ACQ_REL);

	if (col_threads_sandboxed())
		return; /* the program may have forbidden it; they end with the process */
	for (uint32_t i = 0; i < n; i++)
		if (is_ours(&thread->events[i]))
			close(thread->events[i].fd);
}

uint32_t col_events_read(const struct col_sampled *thread, uint64_t *counts)
{
	uint32_t n = __atomic_load_n(&thread->n_events, __ATOMIC_ACQUIRE);
	uint64_t group[1 + COL_CPU_EVENTS_MAX]; /* their number first */
	size_t n_bytes = (1 + n) * sizeof(group[0]);

	/* A group that the kernel could not count all the time has nothing to read. */
	if (!n || col_threads_sandboxed() || !is_ours(&thread->events[0]) ||
	    read(thread->events[0].fd, group, n_bytes) != (ssize_t)n_bytes || group[0] != n)
		return 0;
	memcpy(counts, group + 1, n * sizeof(group[0]));
	return n;
}
