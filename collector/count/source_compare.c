/*
 * source_compare: counts every dispatch by packets and by the software GPU's service at once, and compares.
 *
 * Both see the same run of the kernel, so that nothing but the way of counting differs: between two runs of a
 * program its memory may be placed differently, and the counters of the caches depend on that. The values in the
 * capture are those of the packets. For tests: WAVESCOPE_COUNTERS=compare.
 */
#include "collector/collector_priv.h"
#include "collector/count/count_priv.h"
#include "collector/count/source.h"

#include <stdio.h>
#include <string.h>

#define DIFFERENCES_MAX 20u /* that are reported one by one */

static struct {
	uint64_t n_values, n_equal, n_noted, n_dispatches, n_missing;
} compared;

/* GPUs may be read on different threads. */
static uint64_t add(uint64_t *sum, uint64_t n)
{
	return __atomic_add_fetch(sum, n, __ATOMIC_RELAXED);
}

static bool find(const char **out_why)
{
	return col_count_service.find(out_why) && col_count_packets.find(out_why);
}

static bool start(const struct col_count_target *target, char *error, size_t n_error)
{
	return col_count_packets.start(target, error, n_error) &&
	       col_count_service.start(target, error, n_error);
}

static void stop(const struct col_count_target *target)
{
	col_count_service.stop(target);
	col_count_packets.stop(target);
}

static void note_difference(const char *name, uint32_t instance, uint64_t packets, uint64_t service)
{
	char text[240];

	if (add(&compared.n_noted, 1) > DIFFERENCES_MAX)
		return;
	snprintf(text, sizeof(text),
		 "counters: %s, instance %u: %llu by packets, %llu by the service", name, instance,
		 (unsigned long long)packets, (unsigned long long)service);
	col_note(text);
}

static void compare(const struct softgpu_value *packets, const struct softgpu_value *service)
{
	for (uint32_t i = 0; i < packets->n_values; i++) {
		uint64_t other = i < service->n_values ? service->values[i] : UINT64_MAX;

		add(&compared.n_values, 1);
		if (packets->values[i] == other)
			add(&compared.n_equal, 1);
		else
			note_difference(packets->name, i, packets->values[i], other);
	}
}

static bool take_both(const struct col_count_target *target, const struct col_count_ticket *ticket,
		      struct softgpu_result *out_result)
{
	struct softgpu_result service;

	add(&compared.n_dispatches, 1);
	if (!col_count_packets.take(target, ticket, out_result) ||
	    !col_count_service.take(target, ticket, &service) ||
	    service.n_values != out_result->n_values) {
		add(&compared.n_missing, 1);
		return false;
	}
	for (uint32_t i = 0; i < service.n_values; i++)
		compare(&out_result->values[i], &service.values[i]);
	col_count_service.taken(target, &service);
	return true;
}

/* Each pass is compared as a dispatch of its own. */
static void pass(const struct col_count_target *target, const struct col_count_ticket *ticket)
{
	struct softgpu_result result;

	if (take_both(target, ticket, &result))
		col_count_packets.pass(target, ticket);
}

static void replay(const struct col_count_target *target, const struct col_count_replay *how)
{
	col_count_packets.replay(target, how);
}

static bool take(const struct col_count_target *target, const struct col_count_ticket *ticket,
		 struct softgpu_result *out_result)
{
	if (ticket->set == COL_COUNT_REPLAYED)
		return col_count_packets.take(target, ticket, out_result);
	return take_both(target, ticket, out_result);
}

static void report(void)
{
	char text[240];

	if (!compared.n_dispatches)
		return;
	snprintf(text, sizeof(text),
		 "counters: by packets and by the service, %llu of %llu values equal (%llu "
		 "dispatches, %llu without values)",
		 (unsigned long long)compared.n_equal, (unsigned long long)compared.n_values,
		 (unsigned long long)compared.n_dispatches, (unsigned long long)compared.n_missing);
	col_note(text);
	memset(&compared, 0, sizeof(compared));
}

static size_t counters(const struct col_count_target *target, struct softgpu_counter *out,
		       size_t room)
{
	return col_count_packets.counters(target, out, room);
}

const struct col_count_source col_count_compare = {
	.by_packets = true,
	.find = find,
	.counters = counters,
	.start = start,
	.stop = stop,
	.take = take,
	.pass = pass,
	.replay = replay,
	.report = report,
};
