/*
 * monitor: figures of the process, the CPUs and the GPUs, read at a given rate.
 *
 * A helper thread does it, from shortly after the library is loaded. It sleeps on a futex,
 * reads, and writes all values of a reading as one record to a lane of its own. One more
 * reading is taken when the program ends, by the thread that ends it.
 *
 * Whoever reads holds `reading`. Those who have to be sure that nobody does (the program
 * exits and AMD's libraries with it, or is about to restrict its system calls, or is detached
 * from) say so in `state` first and then wait until it is free.
 */
#include "collector/monitor/monitor_priv.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_LEAST_NS 100000u /* shorter ones would measure only this thread */
#define SETTLE_NS 100000000u    /* programs that are shorter are not looked at */
#define PATIENCE_NS 1000000000u /* limit of the wait for a reading in progress */
#define WAIT_STEP_NS 100000
#define SLEEP_MOST_NS 3600000000000ull

enum state {
	READS,
	ENDS,  /* the thread returns */
	PARKS, /* the program restricts its system calls: the thread never returns */
};

static struct {
	uint32_t state;   /* enum state; a futex */
	uint32_t reading; /* held by who reads */
	uint32_t runs;    /* the thread is there */
	uint32_t epoch;   /* col_epoch() that it was started for: once, it may have ended since */
	uint32_t gpus_off;
	bool forked;
	bool began; /* there was a reading; under `reading` */
	struct col_monitor_list *list;
	/* of the capture that the values go to */
	struct cap_writer *writer;
	struct cap_lane *lane;
	uint32_t n_told; /* metrics of the list that it knows */
	bool at_exit;
} monitor;

static enum state state_now(void)
{
	return (enum state)__atomic_load_n(&monitor.state, __ATOMIC_SEQ_CST);
}

/* ---- who reads ---- */

static void nap(void)
{
	struct timespec step = { 0, WAIT_STEP_NS };

	nanosleep(&step, NULL);
}

static bool take_reading(uint64_t deadline_ns)
{
	for (;;) {
		uint32_t was = 0;

		if (__atomic_compare_exchange_n(&monitor.reading, &was, 1, false, __ATOMIC_SEQ_CST,
						__ATOMIC_SEQ_CST))
			return true;
		if (col_now_ns() >= deadline_ns)
			return false;
		nap();
	}
}

static void leave_reading(void)
{
	__atomic_store_n(&monitor.reading, 0, __ATOMIC_SEQ_CST);
}

/* Nobody reads after this, unless a reading takes longer than there is patience for. */
static void change_state(enum state state)
{
	int saved_errno = errno;

	__atomic_store_n(&monitor.state, state, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &monitor.state, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
	if (take_reading(col_now_ns() + PATIENCE_NS))
		leave_reading();
	errno = saved_errno;
}

/* ---- values ---- */

void col_monitor_put(struct col_monitor_list *list, uint32_t *id,
		     const struct col_monitor_kind *kind, int32_t device, uint32_t flags,
		     double value)
{
	struct col_monitor_metric *metric;

	if (!*id) {
		if (list->n == COL_MONITOR_METRICS_MAX)
			return;
		metric = &list->at[list->n];
		snprintf(metric->name, sizeof(metric->name), kind->format, (unsigned)device);
		metric->unit = kind->unit;
		metric->category = kind->category;
		metric->device = device;
		metric->flags = flags;
		*id = ++list->n;
	}
	metric = &list->at[*id - 1];
	metric->value = value;
	metric->has = true;
}

/* Facts of the metrics that the capture does not know yet. */
static void tell_metrics(struct cap_writer *writer)
{
	for (; monitor.n_told < monitor.list->n; monitor.n_told++) {
		const struct col_monitor_metric *metric = &monitor.list->at[monitor.n_told];
		struct cap_rec_metric rec = {
			.h = { CAP_REC_FIXED_TAG(METRIC, struct cap_rec_metric), monitor.n_told + 1,
			       0 },
			.name_str = cap_writer_intern(writer, metric->name, strlen(metric->name)),
			.category = metric->category,
			.unit_str = cap_writer_intern(writer, metric->unit, strlen(metric->unit)),
			.device = metric->device,
			.flags = metric->flags,
		};

		cap_writer_meta(writer, &rec.h);
	}
}

static void write_values(struct cap_writer *writer, uint64_t ticks)
{
	struct cap_lane *lane = monitor.lane;
	struct cap_metric_value *values;
	struct cap_rec_metrics *rec;
	uint32_t n = 0, n_bytes;

	for (uint32_t i = 0; i < monitor.list->n; i++)
		n += monitor.list->at[i].has;
	if (!n)
		return;
	n_bytes = (uint32_t)(sizeof(*rec) + n * sizeof(*values));
	rec = lane ? cap_lane_reserve(&lane, n_bytes) : NULL;
	if (!rec) {
		cap_writer_count(writer, CAP_DOMAIN_METRICS, CAP_LEDGER_DROPPED, 1);
		return;
	}
	rec->h.what = 0;
	rec->h.time = ticks;
	rec->n_values = n;
	values = (struct cap_metric_value *)(rec + 1);
	for (uint32_t i = 0; i < monitor.list->n; i++) {
		if (monitor.list->at[i].has)
			*values++ = (struct cap_metric_value){ .metric = i + 1,
							       .value = monitor.list->at[i].value };
		monitor.list->at[i].has = false;
	}
	cap_lane_commit(lane, &rec->h, CAP_REC_TAG(CAP_REC_METRICS, n_bytes));
}

/* ---- a reading ---- */

static void leave_capture(void)
{
	cap_lane_put(monitor.lane);
	monitor.lane = NULL;
	monitor.writer = NULL;
	monitor.n_told = 0;
}

static void enter_capture(struct cap_writer *writer)
{
	if (monitor.writer == writer && monitor.lane)
		return;
	monitor.n_told = monitor.writer == writer ? monitor.n_told : 0;
	monitor.writer = writer;
	monitor.lane = cap_lane_get(writer, (uint32_t)syscall(SYS_gettid));
}

static bool has_values(void)
{
	for (uint32_t i = 0; i < monitor.list->n; i++)
		if (monitor.list->at[i].has)
			return true;
	return false;
}

/*
 * `reading` is held. @last: the program ends; only what cannot do harm then. The capture is opened
 * when there is something to write. False: this process is not to be recorded.
 */
static bool read_once(bool last)
{
	const struct col_collect_config *config = col_config();
	bool ours = config->flags & COL_COLLECT_FLAG(SOFTGPU);
	struct cap_writer *writer = col_capture_now();
	uint64_t ticks, now_ns;

	if (!col_on(COL_SERVICE_METRICS)) {
		if (writer)
			cap_writer_count(writer, CAP_DOMAIN_METRICS, CAP_LEDGER_PAUSED, 1);
		return true;
	}
	ticks = cap_ticks();
	now_ns = col_now_ns();
	col_monitor_process_read(monitor.list, config->monitor.what);
	col_monitor_cpu_read(monitor.list, &config->monitor);
	if (!last && !__atomic_load_n(&monitor.gpus_off, __ATOMIC_SEQ_CST))
		col_monitor_gpu_read(monitor.list, &config->monitor, ours, now_ns);
	if (!has_values())
		return true;
	if (!writer) {
		writer = col_capture();
		ticks = cap_ticks(); /* which counter it is, is known from here on */
	}
	if (!writer)
		return false;
	enter_capture(writer);
	tell_metrics(writer);
	write_values(writer, ticks);
	return true;
}

/*
 * AMD's libraries end in exit handlers that were registered when they were loaded. This one
 * is registered after that, so it comes first.
 */
static void stop_gpus(void)
{
	__atomic_store_n(&monitor.gpus_off, 1, __ATOMIC_SEQ_CST);
	if (take_reading(col_now_ns() + PATIENCE_NS))
		leave_reading();
}

/* ---- the thread ---- */

/* Until @at_ns or a change of state. */
static void sleep_until(uint64_t at_ns)
{
	uint64_t now_ns;

	while (state_now() == READS && (now_ns = col_now_ns()) < at_ns) {
		uint64_t ns = at_ns - now_ns < SLEEP_MOST_NS ? at_ns - now_ns : SLEEP_MOST_NS;
		struct timespec wait = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };

		syscall(SYS_futex, &monitor.state, FUTEX_WAIT_PRIVATE, READS, &wait, NULL, 0);
	}
}

/*
 * The next turn of the same rhythm. One that was late by turns is not made up for, and a
 * turn that is nearly there is left out: shares of time need some time to be of.
 */
static uint64_t next_after(uint64_t due_ns, uint64_t now_ns, uint64_t period_ns)
{
	uint64_t late_ns = now_ns > due_ns ? now_ns - due_ns : 0;

	return due_ns + ((late_ns + period_ns / 2) / period_ns + 1) * period_ns;
}

static void park(void)
{
	for (;;)
		syscall(SYS_futex, &monitor.state, FUTEX_WAIT_PRIVATE, PARKS, NULL, NULL, 0);
}

/*
 * Shells start many programs that last for some milliseconds, and a forked child mostly calls exec
 * at once. They are not worth a capture, nor the time to load AMD's libraries.
 */
static uint64_t first_turn(uint64_t delay_ns)
{
	uint64_t start_ns = monitor.forked ? col_now_ns() : col_load_ns();

	if (col_epoch() > 1) /* attached: it is the program that is meant */
		return col_now_ns() + delay_ns;
	return start_ns + (delay_ns > SETTLE_NS ? delay_ns : SETTLE_NS);
}

static void *run(void *arg)
{
	const struct col_collect_monitor config = col_config()->monitor;
	uint64_t period_ns =
		config.period_ns > PERIOD_LEAST_NS ? config.period_ns : PERIOD_LEAST_NS;
	uint64_t next_ns = first_turn(config.delay_ns), end_ns = UINT64_MAX;
	bool recorded = true;

	while (recorded) {
		uint64_t now_ns;

		sleep_until(next_ns);
		if (state_now() != READS || (now_ns = col_now_ns()) >= end_ns)
			break;
		col_last_look(now_ns);
		if (take_reading(0)) {
			/* the state may have changed in between */
			recorded = state_now() != READS || read_once(false);
			monitor.began = true;
			leave_reading();
			if (!monitor.at_exit)
				monitor.at_exit = atexit(stop_gpus) == 0;
		}
		if (end_ns == UINT64_MAX && config.duration_ns)
			end_ns = now_ns + config.duration_ns;
		next_ns = next_after(next_ns, now_ns, period_ns);
	}
	if (state_now() == PARKS)
		park();
	__atomic_store_n(&monitor.runs, 0, __ATOMIC_SEQ_CST);
	return NULL;
}

static void start(void)
{
	int saved_errno = errno;

	if (!col_asked(COL_SERVICE_METRICS) || !col_config()->monitor.period_ns)
		return;
	if (__atomic_exchange_n(&monitor.epoch, col_epoch(), __ATOMIC_SEQ_CST) == col_epoch())
		return;
	if (__atomic_exchange_n(&monitor.runs, 1, __ATOMIC_SEQ_CST)) {
		/* that of the last attach is held up in a reading */
		col_note("metrics: not recorded: an earlier reading has not ended");
		return;
	}
	if (!monitor.list)
		monitor.list = col_pages(sizeof(*monitor.list));
	__atomic_store_n(&monitor.gpus_off, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&monitor.state, READS, __ATOMIC_SEQ_CST);
	if (!monitor.list || !col_spawn(run, NULL, "omni.sampler")) {
		__atomic_store_n(&monitor.runs, 0, __ATOMIC_SEQ_CST);
		col_note("metrics: not recorded: cannot start a thread");
	}
	errno = saved_errno;
}

/* After that of core.c, which reads the configuration. */
__attribute__((constructor(102))) static void load(void)
{
	start();
}

/* ---- the provider ---- */

static void forked(void)
{
	monitor.reading = monitor.runs = monitor.gpus_off = monitor.epoch = 0;
	monitor.forked = true;
	monitor.began = false;
	monitor.writer = NULL;
	monitor.lane = NULL;
	monitor.n_told = 0;
	col_monitor_process_forked();
	col_monitor_cpu_forked();
	col_monitor_gpu_forked();
	if (monitor.state == READS && !(col_config()->flags & COL_COLLECT_FLAG(NO_CHILDREN)))
		start();
}

static void finish(uint64_t deadline_ns)
{
	if (!monitor.list)
		return;
	__atomic_store_n(&monitor.gpus_off, 1, __ATOMIC_SEQ_CST);
	if (!take_reading(deadline_ns))
		return;
	/* the program may be one that is not looked at, or the duration over and the thread gone */
	if (monitor.began && state_now() == READS &&
	    __atomic_load_n(&monitor.runs, __ATOMIC_SEQ_CST))
		read_once(true);
	leave_reading();
}

static void detach(void)
{
	uint64_t deadline_ns = col_now_ns() + PATIENCE_NS;

	if (!monitor.list || state_now() == PARKS)
		return;
	change_state(ENDS);
	while (__atomic_load_n(&monitor.runs, __ATOMIC_SEQ_CST) && col_now_ns() < deadline_ns)
		nap();
	if (take_reading(deadline_ns)) {
		leave_capture();
		leave_reading();
	}
}

static void sandboxed(void)
{
	if (monitor.list && state_now() == READS) {
		change_state(PARKS);
		col_note("metrics: end here: the program is about to restrict its system calls");
	}
}

const struct col_provider col_provider_monitor = {
	.name = "monitor",
	.forked = forked,
	.finish = finish,
	.attach = start,
	.detach = detach,
	.sandboxed = sandboxed,
};
