#include "programs/roofline/measure.h"

#include "base/log.h"
#include "base/util.h"

#include <math.h>

#define MAX_EXPERIMENTS 1000
#define LOADS_PER_TURN 8
#define LOAD_BYTES 1024u /* of a wave */
#define MAX_TURNS (1u << 28)
#define MAX_BUFFER ((uint64_t)8 << 30)
#define STEADY 0.02   /* the rate of twice the turns may differ by so much */
#define PRECISE 0.005 /* half the interval, of the mean */

/*
 * A modelled clock has no noise, and a clock frequency that does not ramp up: some microseconds
 * will do. Hardware's stamps have 10 ns, and it takes milliseconds to settle.
 */
#define MODELLED_NS 8000
#define REAL_NS 5000000
#define MODELLED_EXPERIMENTS 2
#define REAL_EXPERIMENTS 10

/* ---- what a kernel reads ---- */

static uint64_t bytes_per_turn(const struct roof_device *d)
{
	return (uint64_t)d->n_workgroups * ROOF_WAVES * LOADS_PER_TURN * LOAD_BYTES;
}

static uint64_t last_cache(const struct roof_device *d)
{
	return WS_MAX(d->agent->l2_kib, d->agent->l3_kib) << 10;
}

/* The largest power of two that is not larger. */
static uint32_t floor_power(uint64_t n)
{
	return n ? 1u << (63 - __builtin_clzll(n)) : 1;
}

/*
 * Where waves go through a part that a cache holds, each goes from block to block of its load by a
 * step that has no factor in common with their number, and is no small multiple of what lies
 * between two waves of a CU; or they would find each other's blocks in L1.
 */
static uint32_t step_in(uint32_t part_bytes)
{
	uint32_t blocks = part_bytes / LOAD_BYTES;

	return ((uint32_t)(0.618 * blocks) | 1) * LOAD_BYTES;
}

static void choose_place(const struct roof_device *d, const struct roof_bench *bench,
			 uint32_t turns, struct roof_run *run)
{
	uint32_t part = 0;

	*run = (struct roof_run){ .kernel = bench->kernel, .turns = turns };
	switch (bench->place) {
	case ROOF_NOTHING:
		return;
	case ROOF_STREAM:
		run->step = (uint32_t)(bytes_per_turn(d) / LOADS_PER_TURN);
		run->buffer_bytes = turns * bytes_per_turn(d);
		return;
	case ROOF_IN_L3:
		/* a model takes long to fill it, and has no other traffic: 16 times an L2 is enough */
		part = floor_power(d->agent->soft ? 16 * d->agent->l2_kib << 10
						  : (d->agent->l3_kib << 10) / 2);
		break;
	case ROOF_IN_L2:
		part = floor_power((d->agent->l2_kib << 10) / 4);
		break;
	case ROOF_IN_L1:
		part = 4096;
		break;
	}
	run->mask = part - 1;
	run->step = step_in(part);
	run->buffer_bytes = part;
}

/*
 * A model of a last-level cache of 256 MB takes a minute for four times as much. There each dispatch reads what the
 * ones before it have not read, which does the same.
 */
static bool goes_on(const struct roof_device *d, const struct roof_bench *bench)
{
	return bench->place == ROOF_STREAM && d->agent->soft && d->agent->l3_kib;
}

static void go_on(const struct roof_device *d, uint64_t *next, struct roof_run *run)
{
	uint64_t n_bytes = run->buffer_bytes;

	run->buffer_bytes = WS_MAX(3 * last_cache(d), n_bytes);
	if (*next + n_bytes > run->buffer_bytes)
		*next = 0;
	run->offset = *next;
	*next += n_bytes;
}

/* Streams begin with four times what the caches hold: less would be found in them the next time. */
static uint32_t first_turns(const struct roof_device *d, const struct roof_bench *bench)
{
	if (bench->place != ROOF_STREAM || goes_on(d, bench))
		return 1;
	return (uint32_t)WS_MAX(1, 4 * last_cache(d) / bytes_per_turn(d));
}

static uint32_t most_turns(const struct roof_device *d, const struct roof_bench *bench)
{
	uint64_t most = WS_MIN(MAX_BUFFER, (d->agent->mem_kib << 10) / 2);

	return bench->place == ROOF_STREAM ? (uint32_t)(most / bytes_per_turn(d)) : MAX_TURNS;
}

/* ---- experiments ---- */

struct experiment {
	struct roof_device *device;
	const struct roof_bench *bench;
	const struct roof_limits *limits;
	uint32_t turns; /* of the shorter dispatch */
	uint64_t next;  /* offset of what no dispatch has read */
};

static double work_of(const struct experiment *e, uint32_t turns)
{
	const struct roof_device *d = e->device;

	return (double)e->bench->work[d->family] * d->n_workgroups * ROOF_WAVES * turns;
}

static enum ws_status run_once(struct experiment *e, uint32_t turns, uint64_t *out_ns,
			       struct ws_err *err)
{
	struct roof_run run;

	choose_place(e->device, e->bench, turns, &run);
	if (goes_on(e->device, e->bench))
		go_on(e->device, &e->next, &run);
	if (e->limits->progress)
		e->limits->progress(e->limits->ctx);
	return roof_device_run(e->device, &run, out_ns, err);
}

/* The rate of the turns by which the second dispatch is longer; 0: it was not. */
static double rate_of(const struct experiment *e, uint64_t short_ns, uint64_t long_ns)
{
	return long_ns > short_ns ? work_of(e, e->turns) / (double)(long_ns - short_ns) : 0;
}

static enum ws_status find_turns(struct experiment *e, double *out_rate, uint64_t *out_ns,
				 struct ws_err *err)
{
	const struct roof_device *d = e->device;
	uint64_t enough_ns = d->agent->soft ? MODELLED_NS : REAL_NS, short_ns = 0, long_ns = 0;
	uint32_t most = most_turns(d, e->bench);
	double before = 0;
	enum ws_status st;

	e->turns = first_turns(d, e->bench);
	/* twice: the first time a kernel is run its instructions come from memory */
	st = run_once(e, e->turns, &short_ns, err);
	if (!st)
		st = run_once(e, e->turns, &short_ns, err);
	while (!st) {
		double rate;

		st = run_once(e, 2 * e->turns, &long_ns, err);
		if (st)
			break;
		rate = rate_of(e, short_ns, long_ns);
		ws_log_debug("%s: %u additional iterations took %llu ns: %.1f %s", e->bench->title,
			     e->turns, (unsigned long long)(long_ns - short_ns), rate,
			     roof_unit_name(e->bench->unit));
		if ((long_ns >= enough_ns && rate && fabs(rate / before - 1) <= STEADY) ||
		    4 * (uint64_t)e->turns > most) {
			*out_rate = rate;
			*out_ns = long_ns;
			break;
		}
		before = rate;
		short_ns = long_ns;
		e->turns *= 2;
	}
	return st;
}

const char *roof_cannot(const struct roof_device *d, const struct roof_bench *bench)
{
	if (!bench->work[d->family])
		return "this GPU has no such unit";
	if (bench->place == ROOF_IN_L3 && !d->agent->l3_kib)
		return "this GPU has no such cache";
	if (!gpu_runner_has(d->runner, bench->kernel))
		return "wavescope has no kernel of it for this GPU";
	return NULL;
}

enum ws_status roof_measure(struct roof_device *device, const struct roof_bench *bench,
			    const struct roof_limits *limits, struct roof_peak *out,
			    struct ws_err *err)
{
	struct experiment e = { .device = device, .bench = bench, .limits = limits };
	bool modelled = device->agent->soft;
	uint32_t min = limits->min ? limits->min
		       : modelled  ? MODELLED_EXPERIMENTS
				   : REAL_EXPERIMENTS;
	uint32_t max = limits->max < MAX_EXPERIMENTS ? limits->max : MAX_EXPERIMENTS;
	double rates[MAX_EXPERIMENTS];
	uint64_t short_ns, long_ns = 0;
	uint32_t n = 0;
	enum ws_status st = find_turns(&e, &rates[n++], &long_ns, err);

	for (;;) {
		roof_statistics(rates, n, out);
		if (st || n >= max || (n >= min && out->high - out->mean <= PRECISE * out->mean))
			break;
		st = run_once(&e, e.turns, &short_ns, err);
		if (!st)
			st = run_once(&e, 2 * e.turns, &long_ns, err);
		if (!st)
			rates[n++] = rate_of(&e, short_ns, long_ns);
	}
	if (st)
		return ws_fail_in(err, st, "%s", bench->title);
	if (!(out->mean > 0))
		return ws_fail(err, WS_E_STATE, "%s: doubling the work did not increase the time",
			       bench->title);
	out->work = work_of(&e, 2 * e.turns);
	out->seconds = (double)long_ns / 1e9;
	return WS_OK;
}
