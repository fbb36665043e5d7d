/* The counting service (counters/service.h), by node. */
#include <errno.h>
#include <stdio.h>

#include "softgpu/core/machine.h"
#include "softgpu/counting/counting.h"

#define EXPORT __attribute__((visibility("default")))

static struct sg_counting *counting_of(uint32_t node)
{
	struct sg_machine *machine = sg_machine_current();

	return machine && sg_machine_is_gpu(machine, node)
		       ? sg_device_counting(sg_machine_device(machine, node))
		       : NULL;
}

EXPORT size_t softgpu_counters(uint32_t node, struct softgpu_counter *out, size_t room)
{
	struct sg_counting *c = counting_of(node);

	return c ? sg_counting_list(c, out, room) : 0;
}

EXPORT int softgpu_count_sets(uint32_t node, const struct softgpu_set *sets, size_t n,
			      softgpu_choose *choose, void *user, char *error, size_t error_bytes)
{
	struct sg_counting *c = counting_of(node);

	if (c)
		return sg_counting_choose(c, sets, n, choose, user, error, error_bytes);
	snprintf(error, error_bytes, "node %u is not a software GPU", node);
	return ENODEV;
}

EXPORT int softgpu_count(uint32_t node, const char *const *names, size_t n, char *error,
			 size_t error_bytes)
{
	struct softgpu_set set = { .names = names, .n = n };

	return softgpu_count_sets(node, &set, n != 0, NULL, NULL, error, error_bytes);
}

EXPORT int softgpu_result(uint32_t node, uint64_t queue, uint64_t packet,
			  struct softgpu_result *out)
{
	struct sg_counting *c = counting_of(node);

	return c ? sg_counting_result(c, queue, packet, out) : ENODEV;
}

EXPORT int softgpu_next_result(uint32_t node, uint64_t after, struct softgpu_result *out)
{
	struct sg_counting *c = counting_of(node);

	return c ? sg_counting_next(c, after, out) : ENODEV;
}

EXPORT void softgpu_drop(uint32_t node, uint64_t sequence)
{
	struct sg_counting *c = counting_of(node);

	if (c)
		sg_counting_drop(c, sequence);
}

EXPORT int softgpu_total_open(uint32_t node, const char *const *names, size_t n, char *error,
			      size_t error_bytes)
{
	struct sg_counting *c = counting_of(node);

	if (c)
		return sg_counting_total_open(c, names, n, error, error_bytes);
	snprintf(error, error_bytes, "node %u is not a software GPU", node);
	return ENODEV;
}

EXPORT int softgpu_total_read(uint32_t node, struct softgpu_result *out)
{
	struct sg_counting *c = counting_of(node);

	return c ? sg_counting_total_read(c, out) : ENODEV;
}

EXPORT void softgpu_total_close(uint32_t node)
{
	struct sg_counting *c = counting_of(node);

	if (c)
		sg_counting_total_close(c);
}

EXPORT int softgpu_pc_sampling(uint32_t node, uint64_t cycles)
{
	struct sg_counting *c = counting_of(node);

	return c ? sg_counting_sample(c, cycles) : ENODEV;
}

EXPORT size_t softgpu_pc_samples(uint32_t node, uint64_t sequence, uint64_t first,
				 struct softgpu_pc_sample *out, size_t room)
{
	struct sg_counting *c = counting_of(node);

	return c ? sg_counting_samples(c, sequence, first, out, room) : 0;
}
