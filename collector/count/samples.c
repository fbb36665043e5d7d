#include "collector/count/samples.h"

#include "collector/collector_priv.h"
#include "collector/count/samples_record.h"
#include "softgpu/counters/service.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define AT_ONCE 256u

static struct {
	int (*sample)(uint32_t, uint64_t);
	size_t (*read)(uint32_t, uint64_t, uint64_t, struct softgpu_pc_sample *, size_t);
} service;

bool col_samples_asked(void)
{
	return col_config()->pc_interval &&
	       (col_asked(COL_SERVICE_PC_HOST_TRAP) || col_asked(COL_SERVICE_PC_STOCHASTIC));
}

void col_samples_find(void *library)
{
	*(void **)&service.sample = dlsym(library, "softgpu_pc_sampling");
	*(void **)&service.read = dlsym(library, "softgpu_pc_samples");
}

void col_samples_start(uint32_t node, uint32_t agent)
{
	uint64_t interval = col_config()->pc_interval;
	char text[128];

	if (!col_samples_asked())
		return;
	if (col_samples_domain() == CAP_DOMAIN_PC_SAMPLING_HOST_TRAP) /* microseconds */
		interval *= col_agent_facts(agent)->max_engine_clk_fcompute;
	if (service.sample && service.read && service.sample(node, interval) == 0)
		return;
	snprintf(text, sizeof(text), "PC sampling: not supported on agent %u", agent);
	col_note(text);
}

void col_samples_stop(uint32_t node)
{
	if (service.sample)
		service.sample(node, 0);
}

static struct col_sample sample_of(const struct softgpu_pc_sample *s,
				   const struct softgpu_result *result,
				   const struct cap_rec_dispatch *d)
{
	struct col_sample sample = { .pc = s->pc,
				     .exec = s->exec,
				     .wave = s->wave,
				     .hw_id = s->hw_id,
				     .xcc_id = s->xcc_id,
				     .snapshot = s->snapshot,
				     .snapshot1 = s->snapshot1 };
	uint32_t groups[2];

	for (unsigned i = 0; i < 2; i++)
		groups[i] =
			d->workgroup[i] ? (d->grid[i] + d->workgroup[i] - 1) / d->workgroup[i] : 1;
	sample.workgroup[0] = (uint32_t)(s->workgroup % groups[0]);
	sample.workgroup[1] = (uint32_t)(s->workgroup / groups[0] % groups[1]);
	sample.workgroup[2] = (uint32_t)(s->workgroup / groups[0] / groups[1]);
	sample.time_ns = d->h.time + (result->clock_mhz ? s->cycle * 1000 / result->clock_mhz : 0);
	/* The model rounds the end of a dispatch to whole nanoseconds. */
	if (sample.time_ns > d->end_ns)
		sample.time_ns = d->end_ns;
	return sample;
}

void col_samples_write(uint32_t node, const struct softgpu_result *result,
		       const struct cap_rec_dispatch *dispatch)
{
	struct softgpu_pc_sample samples[AT_ONCE];
	struct cap_writer *writer = col_capture_now();
	struct cap_rec_code_object code;
	bool has_code = col_code_of_kernel(dispatch->h.what, &code);
	uint64_t first = 0, n_lost = 0;
	size_t n;

	if (!result->n_pc_samples || !service.read || !writer)
		return;
	while ((n = service.read(node, result->sequence, first, samples, AT_ONCE))) {
		for (size_t i = 0; i < n; i++) {
			struct col_sample sample = sample_of(&samples[i], result, dispatch);

			n_lost += !col_sample_write(&sample, dispatch, has_code ? &code : NULL);
		}
		first += n;
	}
	if (n_lost)
		cap_writer_count(writer, col_samples_domain(), CAP_LEDGER_DROPPED, n_lost);
}
