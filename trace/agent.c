#include "trace/agent.h"

#include <stdio.h>

void trc_agent_describe(const struct trc_agent *agent, struct gpu_agent *out_agent)
{
	const struct cap_rec_agent *info = agent->info;

	*out_agent = (struct gpu_agent){ .is_gpu = info->type == CAP_AGENT_GPU,
					 .soft = info->flags & CAP_AGENT_SOFT,
					 .node = info->node_id,
					 .freq_mhz = info->max_engine_clk_fcompute,
					 .workgroup_max = info->workgroup_max_size,
					 .mem_kib = info->local_mem_size / 1024,
					 .model = gpu_model_by_chip(info->device_id),
#define PROPERTY(name) .name = info->name,
					 GPU_AGENT_PROPERTY_TABLE(PROPERTY)
#undef PROPERTY
	};
	snprintf(out_agent->arch, sizeof(out_agent->arch), "%s", agent->name);
	snprintf(out_agent->product, sizeof(out_agent->product), "%s", agent->product_name);
}
