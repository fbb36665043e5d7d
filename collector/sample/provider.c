/*
 * provider: the sampler as a provider: when it starts and stops, and what captures are told.
 */
#include "collector/sample/sample_priv.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SEARCH_NS 100000000u

static struct {
	struct col_lock lock;
	uint32_t active;
	uint32_t run; /* which helper is to go on: grows with each start and stop */
} sample;

bool col_sample_active(void)
{
	return __atomic_load_n(&sample.active, __ATOMIC_ACQUIRE);
}

uint64_t col_sample_signals(void)
{
	return col_sample_active() ? col_timers_signals() : 0;
}

void col_sample_share(uint64_t signals)
{
	if (col_sample_active())
		col_timers_share(signals);
}

bool col_sample_is_timer(const void *value)
{
	return col_sampled_at((const void *)((uintptr_t)value & ~(uintptr_t)7)) != NULL;
}

/* ---- the helper ---- */

static void ask_loader(void)
{
	if (!col_loader_enter())
		return;
	if (col_modules_check())
		col_python_search();
	col_loader_leave();
}

/* Begins and ends samplers, and looks for threads and interpreters that appeared. */
static void *help(void *arg)
{
	uint32_t run = (uint32_t)(uintptr_t)arg;

	while (__atomic_load_n(&sample.run, __ATOMIC_ACQUIRE) == run) {
		uint64_t now_ns = col_now_ns(), due_ns = col_timers_due(now_ns);
		struct timespec at;

		col_last_look(now_ns);
		if (!col_threads_sandboxed()) /* opening files may be forbidden */
			col_sampled_search();
		ask_loader();
		due_ns = WS_MIN(due_ns, now_ns + SEARCH_NS);
		at.tv_sec = (time_t)(due_ns / 1000000000u);
		at.tv_nsec = (long)(due_ns % 1000000000u);
		clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &at, NULL);
	}
	return NULL;
}

/* ---- start and stop ---- */

/*
 * With memory, a capture, signals and timers; false: samples cannot be taken.
 * @ours: the calling thread is of the profiler, and the program's are to be found.
 */
static bool begin(bool ours)
{
	uint32_t run = __atomic_add_fetch(&sample.run, 1, __ATOMIC_ACQ_REL);

	if (!col_sampled_start() || !col_modules_start(dlsym(RTLD_DEFAULT, "_dl_find_object")) ||
	    !col_stacks_start() || !col_unwind_start() || !col_capture() || !col_timers_start())
		return false;
	col_events_note();
	__atomic_store_n(&sample.active, 1, __ATOMIC_RELEASE);
	col_timers_due(col_now_ns()); /* without a delay it begins with the first thread */
	col_python_search();
	col_sampled_first(ours);
#if !defined(__x86_64__)
	col_note("call-stack sampling: stacks are unwound on x86-64 only; samples have one frame");
#endif
	if (!col_spawn(help, (void *)(uintptr_t)run, "wavescope-stack"))
		col_note("call-stack sampling: cannot start a thread: no delay or duration");
	return true;
}

static void start(bool ours)
{
	int saved_errno = errno;

	if (!col_asked(COL_SERVICE_CALL_STACKS))
		return;
	col_lock(&sample.lock);
	if (!sample.active && !begin(ours))
		col_timers_release();
	col_unlock(&sample.lock);
	errno = saved_errno;
}

void col_sample_start(void)
{
	start(false);
}

/* Called repeatedly while attached. */
static void attach(void)
{
	start(true);
}

/* The process ends. No lock is taken: exit() may have been called in a handler on top of one. */
__attribute__((destructor)) static void stop(void)
{
	__atomic_store_n(&sample.active, 0, __ATOMIC_RELEASE);
	__atomic_add_fetch(&sample.run, 1, __ATOMIC_ACQ_REL);
}

static void state(struct cap_writer *writer)
{
	const struct col_collect_config *config = col_config();
	const char *event = config->overflow_event.name, *counted;

	if (!col_asked(COL_SERVICE_CALL_STACKS))
		return;
	counted = col_events_choose();
	for (unsigned i = 0; i < CAP_SAMPLER_COUNT; i++) {
		struct cap_rec_sampler rec = {
			.h = { CAP_REC_FIXED_TAG(SAMPLER, struct cap_rec_sampler), i, 0 },
			.period = col_timers_period(i),
		};

		if (!rec.period)
			continue;
		if (i == CAP_SAMPLER_OVERFLOW)
			rec.event_str = cap_writer_intern(writer, event, strlen(event));
		if (*counted)
			rec.count_names_str = cap_writer_intern(writer, counted, strlen(counted));
		cap_writer_meta(writer, &rec.h);
	}
}

/* Timers are not inherited, and the capture is another one. */
static void forked(void)
{
	bool was_active = sample.active;

	sample.lock = (struct col_lock){ 0 };
	sample.active = 0;
	col_timers_forked();
	col_sampled_forked();
	col_modules_forked();
	col_stacks_forked();
	col_python_forked();
	if (was_active && !begin(false))
		col_timers_release();
}

static void detach(void)
{
	col_lock(&sample.lock);
	stop();
	col_sampled_stop();
	col_timers_release();
	col_modules_forked(); /* the next capture has to be told everything again */
	col_stacks_forked();
	col_python_forked();
	col_unlock(&sample.lock);
}

const struct col_provider col_provider_sample = {
	.name = "call-stacks",
	.state = state,
	.forked = forked,
	.attach = attach,
	.detach = detach,
	.no_clock = col_sampled_rest,
};
