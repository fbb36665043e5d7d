/*
 * control: whether recording is on right now.
 *
 * There is one state for the process, on or off, as there is one for AMD's tool:
 * roctxProfilerPause and Resume and the collection periods all set it, the last one
 * wins. On means that col_switches holds the requested services; off means it is 0.
 */
#include "collector/collector_priv.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint32_t col_switches;

static struct {
	const struct col_collect_config *config;
	struct col_lock lock;
	bool on;
	int depth; /* with region-ref-count: regions that are open */
} control;

static void write_state(struct cap_writer *writer, enum cap_control_cause cause)
{
	struct cap_rec_control rec = {
		.h = { CAP_REC_FIXED_TAG(CONTROL, struct cap_rec_control), control.on,
		       cap_ticks() },
		.cause = cause,
		.tid = (uint32_t)syscall(SYS_gettid),
	};

	cap_writer_meta(writer, &rec.h);
}

void col_control_set(bool on, enum cap_control_cause cause)
{
	struct cap_writer *writer;

	if (!__atomic_load_n(&control.config, __ATOMIC_ACQUIRE))
		return;
	col_lock(&control.lock);
	if (on != control.on) {
		control.on = on;
		__atomic_store_n(&col_switches, on ? control.config->services : 0,
				 __ATOMIC_RELAXED);
		writer =
			col_capture_now(); /* col_control_opened() says it when there is none yet */
		if (writer)
			write_state(writer, cause);
	}
	col_unlock(&control.lock);
}

void col_control_region(bool enter)
{
	bool on = enter;

	if (!control.config)
		return;
	if (control.config->flags & COL_COLLECT_FLAG(REGION_REF_COUNT)) {
		col_lock(&control.lock);
		control.depth += enter ? 1 : -1;
		if (control.depth < 0)
			control.depth = 0;
		on = control.depth > 0;
		col_unlock(&control.lock);
	}
	col_control_set(on, CAP_CONTROL_ROCTX);
}

/* ---- collection periods ---- */

static clockid_t clock_of(const struct col_collect_period *period)
{
	return period->cpu_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_BOOTTIME;
}

static void sleep_until(clockid_t clock, uint64_t at_ns)
{
	struct timespec at = { (time_t)(at_ns / 1000000000u), (long)(at_ns % 1000000000u) };

	while (clock_nanosleep(clock, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

/*
 * Times count from when the library was loaded, not from when this thread started:
 * a program that takes a second to find its GPU has used up a second of the delay. CPU time counts
 * from the start of the process. Where periods change the clock, it is read anew.
 */
static uint64_t start_of(uint32_t i)
{
	const struct col_collect_period *periods = control.config->periods;
	struct timespec now;

	if (!i)
		return periods->cpu_time ? 0 : col_load_ns();
	clock_gettime(clock_of(&periods[i]), &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void *run_periods(void *arg)
{
	uint64_t now_ns = 0;

	for (uint32_t i = 0; i < control.config->n_periods; i++) {
		const struct col_collect_period *period = &control.config->periods[i];
		clockid_t clock = clock_of(period);

		if (!i || period->cpu_time != period[-1].cpu_time)
			now_ns = start_of(i);
		for (uint64_t n = 0; period->repeat == 0 || n < period->repeat; n++) {
			now_ns += period->delay_ns;
			sleep_until(clock, now_ns);
			col_control_set(true, CAP_CONTROL_PERIOD);
			now_ns += period->duration_ns;
			sleep_until(clock, now_ns);
			col_control_set(false, CAP_CONTROL_PERIOD);
			/* 0:0:0 would be a busy loop */
			if (period->delay_ns + period->duration_ns == 0)
				break;
		}
	}
	return NULL;
}

void col_control_opened(struct cap_writer *writer)
{
	bool periods = false; /* the configuration may be another one without the lock */

	col_lock(&control.lock);
	if (control.config) {
		periods = control.config->n_periods;
		write_state(writer, periods ? CAP_CONTROL_PERIOD : CAP_CONTROL_ROCTX);
	}
	col_unlock(&control.lock);
	if (periods && !col_spawn(run_periods, NULL, "wavescope-time"))
		col_note("collection periods: cannot start a thread, nothing is recorded");
}

void col_control_forked(void)
{
	control.lock = (struct col_lock){ 0 };
}

/* Regions and periods are for programs that were started with us. */
void col_control_attach(const struct col_collect_config *config)
{
	col_lock(&control.lock);
	__atomic_store_n(&control.config, config, __ATOMIC_RELEASE);
	control.depth = 1;
	col_unlock(&control.lock);
	col_control_set(true, CAP_CONTROL_ATTACH);
}

void col_control_detach(void)
{
	col_control_set(false, CAP_CONTROL_ATTACH);
}

void col_control_start(const struct col_collect_config *config)
{
	control.config = config;
	if (config->n_periods || config->flags & COL_COLLECT_FLAG(SELECTED_REGIONS))
		return;
	control.on = true;
	control.depth = 1;
	col_switches = config->services;
}
