#include "programs/roofline/device.h"

#include "base/util.h"
#include "gpu/hsa_agents.h"
#include "softgpu/counters/service.h"

extern const struct gpu_runner_code roof_codes[]; /* made of kernels.s */

/* As kernels.s reads them. */
struct arguments {
	uint64_t buffer;
	uint32_t turns, step, mask, unused;
};

/* The counters of @node, or none of them: counting is what turns the model of time on. */
static enum ws_status model_times(uint32_t node, struct ws_err *err)
{
	static const char *const any[] = { "GRBM_COUNT" };
	__typeof__(&softgpu_count) count;
	char text[160] = "it has no counters";

	*(void **)&count = gpu_soft_function("softgpu_count");
	if (!count || count(node, any, 1, text, sizeof(text)))
		return ws_fail(err, WS_E_STATE,
			       "the software GPU does not support simulated times: %s", text);
	return WS_OK;
}

enum ws_status roof_device_open(struct roof_device *d, uint32_t index, struct ws_err *err)
{
	enum ws_status st = gpu_runner_open(index, roof_codes, &d->runner, err);
	uint64_t waves;

	if (st)
		return st;
	d->agent = gpu_runner_agent(d->runner);
	d->family = roof_family(d->agent->arch);
	/* the kernels are small: wave slots decide. 32 of them are enough where a CU has 40. */
	waves = WS_MIN(gpu_agent_waves_per_cu(d->agent), (uint64_t)32);
	d->n_workgroups = (uint32_t)(gpu_agent_n_cus(d->agent) * waves / ROOF_WAVES);
	if (d->agent->soft)
		st = model_times(d->agent->node, err);
	if (st)
		roof_device_close(d);
	return st;
}

void roof_device_close(struct roof_device *d)
{
	gpu_runner_close(d->runner);
	d->runner = NULL;
}

enum ws_status roof_device_run(struct roof_device *d, const struct roof_run *run, uint64_t *out_ns,
			       struct ws_err *err)
{
	struct arguments arguments = { .turns = run->turns, .step = run->step, .mask = run->mask };
	struct gpu_runner_call call = {
		.kernel = run->kernel,
		.arguments = &arguments,
		.n_arguments = sizeof(arguments),
		.grid = ROOF_WORKGROUP * d->n_workgroups,
		.workgroup = ROOF_WORKGROUP,
	};
	enum ws_status st = WS_OK;

	if (run->buffer_bytes)
		st = gpu_runner_buffer(d->runner, run->buffer_bytes, &arguments.buffer, err);
	arguments.buffer += run->offset;
	return st ? st : gpu_runner_run(d->runner, &call, out_ns, err);
}
