#include "gpu/agent.h"

#include "base/util.h"

#include <stdio.h>

const struct gpu_agent_property gpu_agent_properties[GPU_AGENT_N_PROPERTIES] = {
#define ROW(name) { #name, offsetof(struct gpu_agent, name) },
	GPU_AGENT_PROPERTY_TABLE(ROW)
#undef ROW
};

/* Also fails to build when the number of properties is not that of the table. */
#define ONE(name) +1
_Static_assert(0 GPU_AGENT_PROPERTY_TABLE(ONE) == GPU_AGENT_N_PROPERTIES, "count the properties");
#undef ONE

uint64_t gpu_agent_property(const struct gpu_agent *agent, size_t i)
{
	return *(const uint64_t *)((const char *)agent + gpu_agent_properties[i].offset);
}

void gpu_agent_set_property(struct gpu_agent *agent, size_t i, uint64_t value)
{
	*(uint64_t *)((char *)agent + gpu_agent_properties[i].offset) = value;
}

/* Old drivers do not say how many SIMDs a compute unit has: then each counts as one. */
uint64_t gpu_agent_n_cus(const struct gpu_agent *agent)
{
	return agent->is_gpu ? agent->simd_count / WS_MAX(agent->simd_per_cu, 1u)
			     : agent->cpu_cores_count;
}

uint64_t gpu_agent_n_ses(const struct gpu_agent *agent)
{
	return agent->array_count / WS_MAX(agent->simd_arrays_per_engine, 1u);
}

uint64_t gpu_agent_waves_per_cu(const struct gpu_agent *agent)
{
	return agent->max_waves_per_simd * WS_MAX(agent->simd_per_cu, 1u);
}

void gpu_agent_of_model(const struct gpu_model *model, bool soft, struct gpu_agent *out_agent)
{
	*out_agent = (struct gpu_agent){
		.is_gpu = true,
		.soft = soft,
		.freq_mhz = model->freq_mhz,
		.l2_kib = model->l2_kib,
		.mem_kib = (uint64_t)model->mem_gib << 20,
		.model = model,
		.simd_count = (uint64_t)model->n_cus * model->n_simds,
		.simd_per_cu = model->n_simds,
		.max_waves_per_simd = model->max_waves,
		.array_count = model->n_ses,
		.simd_arrays_per_engine = 1,
		.wave_front_size = 64,
		.lds_size_in_kb = model->lds_kib,
		.num_xcc = model->n_xcds,
		.device_id = model->chip_id,
	};
	snprintf(out_agent->arch, sizeof(out_agent->arch), "%s", model->arch);
}

uint64_t gpu_agent_n_xccs(const struct gpu_agent *agent)
{
	const struct gpu_model *model = agent->model;

	if (agent->num_xcc || !model)
		return WS_MAX(agent->num_xcc, 1u);
	return model->n_cus && gpu_agent_n_cus(agent)
		       ? WS_MAX(gpu_agent_n_cus(agent) * model->n_xcds / model->n_cus, 1u)
		       : model->n_xcds;
}

void gpu_agent_of_soft(const struct gpu_soft *soft, struct gpu_agent *out_agent)
{
	const unsigned n_parts = soft->model->n_xcds / soft->n_xcds;

	gpu_agent_of_model(soft->model, true, out_agent);
	out_agent->num_xcc = soft->n_xcds;
	out_agent->simd_count /= n_parts;
	out_agent->array_count /= n_parts;
	out_agent->mem_kib /= n_parts;
}

void gpu_agent_line(const struct gpu_agent *agent, size_t number, char *out_text, size_t n_bytes)
{
	snprintf(out_text, n_bytes, "agent %-3zu %s  %-8s %s, %llu %s, %u MHz, %.0f GiB", number,
		 agent->is_gpu ? "GPU" : "CPU", agent->is_gpu ? agent->arch : "", agent->product,
		 (unsigned long long)gpu_agent_n_cus(agent), agent->is_gpu ? "CUs" : "cores",
		 agent->freq_mhz, (double)agent->mem_kib / (1 << 20));
}
