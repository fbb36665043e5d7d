/*
 * provider: the sampler as a provider: when it starts and stops, and what captures are told.
 */
#include "collector/sample/sample_priv.h"

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

/* Begins and ends samplers, and looks for threads and interpreters that appeared. */
static void *help(void *arg)
{
	uint32_t run = (uint32_t)(uintptr_t)arg;

	while (__atomic_load_n(&sample.run, __ATOMIC_ACQUIRE) == run) {
		uint64_t now_ns = col_now_ns(), due_ns = col_timers_due(now_ns);
		struct timespec at;

		col_sampled_search();
		col_python_search();
		due_ns = WS_MIN(due_ns, now_ns + SEARCH_NS);
		at.tv_sec = (time_t)(due_ns / 1000000000u);
		at.tv_nsec = (long)(due_ns % 1000000000u);
		clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &at, NULL);
	}
	return NULL;
}

/* With memory, a capture, signals and this thread's timers; false: samples cannot be taken. */
static bool begin(void)
{
	uint32_t run = __atomic_add_fetch(&sample.run, 1, __ATOMIC_ACQ_REL);

	if (!col_sampled_start() || !col_modules_start() || !col_stacks_start() ||
	    !col_unwind_start() || !col_capture() || !col_timers_start())
		return false;
	__atomic_store_n(&sample.active, 1, __ATOMIC_RELEASE);
	col_timers_due(col_now_ns()); /* without a delay it begins with the first thread */
	col_python_search();
	col_sampled_first();
	if (!col_spawn(help, (void *)(uintptr_t)run, "wavescope-stack"))
		col_note("call-stack sampling: cannot start a thread: no delay or duration");
	return true;
}

static void start(void)
{
	int saved_errno = errno;

	if (!col_asked(COL_SERVICE_CALL_STACKS))
		return;
	col_lock(&sample.lock);
	if (!sample.active && !begin())
		col_timers_release();
	col_unlock(&sample.lock);
	errno = saved_errno;
}

void col_sample_start(void)
{
	start();
}

static void stop(void)
{
	if (!col_sample_active())
		return;
	__atomic_store_n(&sample.active, 0, __ATOMIC_RELEASE);
	__atomic_add_fetch(&sample.run, 1, __ATOMIC_ACQ_REL);
	col_sampled_stop();
}

/* The process ends; a signal that is on its way finds its handler. */
__attribute__((destructor)) static void unload(void)
{
	stop();
}

static void state(struct cap_writer *writer)
{
	const struct col_collect_config *config = col_config();
	const char *event = config->overflow_event.name;

	if (!col_asked(COL_SERVICE_CALL_STACKS))
		return;
	for (unsigned i = 0; i < CAP_SAMPLER_COUNT; i++) {
		struct cap_rec_sampler rec = {
			.h = { CAP_REC_FIXED_TAG(SAMPLER, struct cap_rec_sampler), i, 0 },
			.period = config->samplers[i].period,
		};

		if (!rec.period)
			continue;
		if (i == CAP_SAMPLER_OVERFLOW)
			rec.event_str = cap_writer_intern(writer, event, strlen(event));
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
	if (was_active && !begin())
		col_timers_release();
}

static void detach(void)
{
	col_lock(&sample.lock);
	stop();
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
	.attach = start,
	.detach = detach,
};
