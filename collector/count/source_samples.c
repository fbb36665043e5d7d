/* source_samples: PC sampling by the runtime alone. It counts nothing, and its samples are recorded by hsa/pcs.c. */
#include "collector/count/source.h"
#include "collector/hsa/pcs.h"

static size_t counters(const struct col_count_target *target, struct softgpu_counter *out,
		       size_t room)
{
	return 0;
}

static bool start(const struct col_count_target *target, char *error, size_t n_error)
{
	return true; /* before its first kernel, see col_pcs_first() */
}

static void stop(const struct col_count_target *target)
{
}

static bool take(const struct col_count_target *target, const struct col_count_ticket *ticket,
		 struct softgpu_result *out_result)
{
	return false;
}

const struct col_count_source col_count_samples = {
	.by_runtime = true,
	.find = col_pcs_find,
	.counters = counters,
	.start = start,
	.stop = stop,
	.take = take,
};
