/*
 * timers: what makes a thread take a sample.
 *
 * Each thread has a timer of its CPU time, a timer of real time and a perf event, as
 * requested, each of which sends it a signal. All are made by system calls: libc has no
 * timer of another thread's CPU time. Delay and duration count from the start of the process.
 */
#include "collector/sample/sample_priv.h"
#include "collector/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FDS_MAX 65536u
#define NS_PER_S 1000000000u
#define PERIOD_MIN_NS 100000u /* a thread that does nothing but take samples is of no use */

static struct {
	struct sampler {
		const struct col_sampler_config *config; /* NULL: not requested */
		int signal;
		uint64_t begin_ns, end_ns; /* CLOCK_BOOTTIME; end 0: none */
		bool begun, ended;         /* under the lock of the threads */
	} samplers[CAP_SAMPLER_COUNT];
	uint64_t signals;       /* bit n - 1: signal n */
	uint64_t shared;        /* of these, those that the program uses without a handler */
	uint32_t *thread_of_fd; /* FDS_MAX: index of its place + 1; 0: not ours */
	int fds_end, fds_floor; /* above the highest that was; the lowest there can be */
	uint32_t noted;
} timers;

enum { NOTED_TIMERS = 1, NOTED_EVENTS };

static void note_once(uint32_t what, const char *text)
{
	if (!(__atomic_fetch_or(&timers.noted, what, __ATOMIC_RELAXED) & what))
		col_note(text);
}

/* ---- signals ---- */

static int default_signal(enum cap_sampler sampler)
{
	switch (sampler) {
	case CAP_SAMPLER_CPU_TIME:
		return SIGPROF;
	case CAP_SAMPLER_REAL_TIME:
		return SIGRTMIN;
	default:
		return SIGRTMIN + 1;
	}
}

static void hold(int number)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS };
	struct sigaction ours = { .sa_sigaction = col_sample_on_signal,
				  .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };

	/*
	 * All that can be is blocked in the handler: signals of libc, which cancel threads, and the
	 * program's, so that a call which both interrupted is known by the one that is pending.
	 */
	memset(&ours.sa_mask, 0xff, sizeof(ours.sa_mask));
	for (unsigned i = 0; i < WS_ARRAY_LEN(faults); i++)
		sigdelset(&ours.sa_mask, faults[i]);
	if (col_signal_hold(number, &ours, COL_SIGNAL_TICKS))
		timers.signals |= 1ull << (number - 1);
}

bool col_timers_start(void)
{
	const struct col_collect_config *config = col_config();
	bool any = false;

	timers.noted = 0;
	timers.signals = timers.shared = 0;
	for (unsigned i = 0; i < CAP_SAMPLER_COUNT; i++) {
		struct sampler *sampler = &timers.samplers[i];

		*sampler = (struct sampler){ 0 };
		if (!config->samplers[i].period)
			continue;
		sampler->signal = (int)config->samplers[i].signal;
		if (sampler->signal <= 0 || sampler->signal > SIGRTMAX)
			sampler->signal = default_signal(i);
		sampler->begin_ns = col_load_ns() + config->samplers[i].delay_ns;
		if (config->samplers[i].duration_ns)
			sampler->end_ns = sampler->begin_ns + config->samplers[i].duration_ns;
		sampler->config = &config->samplers[i];
		any = true;
		hold(sampler->signal);
	}
	if (timers.samplers[CAP_SAMPLER_OVERFLOW].config) {
		/* The kernel sends this one instead when it cannot queue the other. */
		hold(SIGIO);
		if (!timers.thread_of_fd)
			timers.thread_of_fd = col_pages(FDS_MAX * sizeof(*timers.thread_of_fd));
		timers.fds_floor = col_perf_floor();
	}
	return any;
}

void col_timers_release(void)
{
	for (int number = 1; number <= SIGRTMAX; number++) {
		if (timers.signals >> (number - 1) & 1)
			col_signal_release(number);
	}
	timers.signals = 0;
}

/* Timers are not inherited; perf's descriptors are, and count in the parent. */
void col_timers_forked(void)
{
	for (int fd = 0; fd < timers.fds_end; fd++) {
		if (!timers.thread_of_fd[fd])
			continue;
		timers.thread_of_fd[fd] = 0;
		close(fd);
	}
}

uint64_t col_timers_signals(void)
{
	uint64_t free = timers.signals & ~__atomic_load_n(&timers.shared, __ATOMIC_RELAXED);

	for (unsigned i = 0; i < CAP_SAMPLER_COUNT; i++) {
		int number = timers.samplers[i].signal;

		if (timers.samplers[i].config && col_signal_theirs(number))
			free &= ~(1ull << (number - 1));
	}
	return free & ~(1ull << (SIGIO - 1));
}

void col_timers_share(uint64_t signals)
{
	if (signals & timers.signals)
		__atomic_fetch_or(&timers.shared, signals, __ATOMIC_RELAXED);
}

/* ---- making them ---- */

static int make_timer(struct col_sampled *thread, enum cap_sampler sampler)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID,
				  .sigev_signo = timers.samplers[sampler].signal };
	/* CPU time of a thread: its number inverted, 2 for scheduler's clock, 4 for a thread */
	clockid_t clock = sampler == CAP_SAMPLER_CPU_TIME ? (clockid_t)(~thread->tid << 3 | 2 | 4)
							  : CLOCK_MONOTONIC;
	int id = -1;

	event.sigev_value.sival_ptr = (char *)thread + sampler;
	event._sigev_un._tid = (pid_t)thread->tid;
	if (syscall(SYS_timer_create, clock, &event, &id) == 0)
		return id;
	note_once(NOTED_TIMERS,
		  errno == EAGAIN ? "call-stack sampling: the limit of pending signals is "
				    "reached (ulimit -i): some threads are not sampled"
				  : "call-stack sampling: timers are not permitted: some threads "
				    "are not sampled");
	return -1;
}

static int open_event(struct col_sampled *thread)
{
	const struct col_cpu_event *what = &col_config()->overflow_event;
	struct f_owner_ex owner = { F_OWNER_TID, (pid_t)thread->tid };
	struct perf_event_attr attr = {
		.type = what->type,
		.size = sizeof(attr),
		.config = what->config,
		.sample_period = col_config()->samplers[CAP_SAMPLER_OVERFLOW].period,
		.sample_type = PERF_SAMPLE_IP,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.wakeup_events = 1,
	};
	int fd = col_perf_open(&attr, thread->tid, -1);

	if (fd < 0) {
		note_once(NOTED_EVENTS,
			  errno == EACCES || errno == EPERM
				  ? "sampling by overflow: perf events are not permitted: see "
				    "/proc/sys/kernel/perf_event_paranoid"
				  : "sampling by overflow: the event cannot be counted on this "
				    "machine");
		return -1;
	}
	if (!timers.thread_of_fd || fd >= (int)FDS_MAX || fcntl(fd, F_SETOWN_EX, &owner) != 0 ||
	    fcntl(fd, F_SETSIG, timers.samplers[CAP_SAMPLER_OVERFLOW].signal) != 0 ||
	    fcntl(fd, F_SETFL, O_ASYNC) != 0) {
		close(fd);
		return -1;
	}
	timers.fds_end = WS_MAX(timers.fds_end, fd + 1);
	__atomic_store_n(&timers.thread_of_fd[fd], col_sampled_index(thread) + 1, __ATOMIC_RELEASE);
	return fd;
}

static bool selected(const struct col_sampler_config *config, uint32_t number)
{
	for (uint32_t i = 0; i < config->n_ranges; i++) {
		if (number >= config->ranges[i].first && number <= config->ranges[i].last)
			return true;
	}
	return config->n_ranges == 0;
}

uint64_t col_timers_period(enum cap_sampler sampler)
{
	uint64_t period = col_config()->samplers[sampler].period;

	return period && sampler != CAP_SAMPLER_OVERFLOW ? WS_MAX(period, PERIOD_MIN_NS) : period;
}

static void run(struct col_sampled *thread, enum cap_sampler sampler, bool on)
{
	uint64_t period_ns = on ? col_timers_period(sampler) : 0;
	struct timespec period = { (time_t)(period_ns / NS_PER_S), (long)(period_ns % NS_PER_S) };
	struct itimerspec setting = { period, period };
	int timer = thread->timers[sampler];

	if (timer < 0)
		return;
	if (on)
		col_events_run(thread);
	if (sampler == CAP_SAMPLER_OVERFLOW)
		ioctl(timer, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
	else
		syscall(SYS_timer_settime, timer, 0, &setting, NULL);
}

void col_timers_add(struct col_sampled *thread)
{
	bool counted = false;

	for (unsigned i = 0; i < CAP_SAMPLER_COUNT; i++) {
		const struct sampler *sampler = &timers.samplers[i];

		thread->timers[i] = -1;
		if (!sampler->config || !selected(sampler->config, thread->number))
			continue;
		if (!counted)
			col_events_add(thread);
		counted = true;
		thread->timers[i] =
			i == CAP_SAMPLER_OVERFLOW ? open_event(thread) : make_timer(thread, i);
		if (sampler->begun && !sampler->ended)
			run(thread, i, true);
	}
}

void col_timers_remove(struct col_sampled *thread)
{
	for (unsigned i = 0; i < CAP_SAMPLER_COUNT; i++) {
		int timer = thread->timers[i];

		if (timer < 0)
			continue;
		thread->timers[i] = -1;
		if (i == CAP_SAMPLER_OVERFLOW) {
			ioctl(timer, PERF_EVENT_IOC_DISABLE, 0);
			__atomic_store_n(&timers.thread_of_fd[timer], 0, __ATOMIC_RELEASE);
			close(timer);
		} else {
			syscall(SYS_timer_delete, timer);
		}
	}
	col_events_remove(thread);
}

/* ---- delay and duration ---- */

struct change {
	enum cap_sampler sampler;
	bool on;
};

static void change_one(struct col_sampled *thread, void *arg)
{
	const struct change *change = arg;
	struct sampler *sampler = &timers.samplers[change->sampler];

	if (!thread) { /* before the first: new threads find it so */
		sampler->begun |= change->on;
		sampler->ended |= !change->on;
		return;
	}
	run(thread, change->sampler, change->on);
}

uint64_t col_timers_due(uint64_t now_ns)
{
	uint64_t next_ns = UINT64_MAX;

	for (unsigned i = 0; i < CAP_SAMPLER_COUNT; i++) {
		struct sampler *sampler = &timers.samplers[i];
		struct change begin = { i, true }, end = { i, false };

		if (!sampler->config || sampler->ended)
			continue;
		if (!sampler->begun && now_ns >= sampler->begin_ns)
			col_sampled_each(change_one, &begin);
		if (sampler->begun && sampler->end_ns && now_ns >= sampler->end_ns) {
			col_sampled_each(change_one, &end);
			continue;
		}
		if (!sampler->begun)
			next_ns = WS_MIN(next_ns, sampler->begin_ns);
		else if (sampler->end_ns)
			next_ns = WS_MIN(next_ns, sampler->end_ns);
	}
	return next_ns;
}

/* ---- in handlers ---- */

/* A place may be another thread's by now. Without a system call, which may be forbidden. */
static bool is_caller(const struct col_sampled *thread)
{
	uint32_t tid = __atomic_load_n(&thread->tid, __ATOMIC_ACQUIRE);

	if (tid && thread->thread)
		return thread->thread == &col_thread_self_;
	return tid && tid == (uint32_t)syscall(SYS_gettid);
}

bool col_timers_of(int number, const siginfo_t *info, struct col_sampled **out_thread,
		   enum cap_sampler *out_sampler)
{
	struct col_sampled *thread = NULL;
	uintptr_t at;
	uint32_t index;

	*out_thread = NULL;
	if (info->si_code == SI_TIMER) {
		at = (uintptr_t)info->si_value.sival_ptr;
		*out_sampler = (enum cap_sampler)(at % 8);
		thread = col_sampled_at((const void *)(at - at % 8));
		if (!thread || *out_sampler >= CAP_SAMPLER_OVERFLOW)
			return false;
	} else if (info->si_code > 0 && info->si_code <= POLL_HUP && timers.thread_of_fd &&
		   number == timers.samplers[CAP_SAMPLER_OVERFLOW].signal && info->si_fd >= 0 &&
		   info->si_fd < (int)FDS_MAX) {
		index = __atomic_load_n(&timers.thread_of_fd[info->si_fd], __ATOMIC_ACQUIRE);
		*out_sampler = CAP_SAMPLER_OVERFLOW;
		/* A closed descriptor's last signal: it was one of ours, above the floor. */
		if (!index)
			return info->si_fd >= timers.fds_floor && !col_signal_theirs(number);
		thread = col_sampled_of(index - 1);
	} else {
		/* Instead of ours, see above: it means nothing where the program has no handler. */
		return number == SIGIO && info->si_code == SI_KERNEL &&
		       timers.samplers[CAP_SAMPLER_OVERFLOW].config && !col_signal_theirs(number);
	}
	if (thread && is_caller(thread))
		*out_thread = thread;
	return true;
}
