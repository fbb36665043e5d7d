#include "gpu/pc_sampler.h"

#include <stddef.h>
#include <string.h>

/* clang-format off */
static const struct gpu_pc_sampler samplers[] = {
	{ true,  NULL,     "host_trap",  "time",  1,   UINT64_MAX,  false },
	{ true,  "gfx942", "stochastic", "cycle", 64,  2147483648u, true  },
	{ true,  "gfx950", "stochastic", "cycle", 64,  2147483648u, true  },
	{ false, "gfx90a", "host_trap",  "time",  1,   UINT64_MAX,  false },
	{ false, "gfx942", "host_trap",  "time",  1,   UINT64_MAX,  false },
	{ false, "gfx942", "stochastic", "cycle", 256, 2147483648u, true  },
	{ false, "gfx950", "host_trap",  "time",  1,   UINT64_MAX,  false },
	{ false, "gfx950", "stochastic", "cycle", 256, 2147483648u, true  },
};
/* clang-format on */
#define END (samplers + sizeof(samplers) / sizeof(samplers[0]))

const struct gpu_pc_sampler *gpu_pc_sampler_next(const char *arch, bool soft,
						 const struct gpu_pc_sampler *before)
{
	const struct gpu_pc_sampler *s = before ? before + 1 : samplers;

	while (s < END && (s->soft != soft || (s->arch && strcmp(s->arch, arch) != 0)))
		s++;
	return s < END ? s : NULL;
}

bool gpu_pc_sampler_has(const char *arch, bool soft, const char *method)
{
	for (const struct gpu_pc_sampler *s = NULL; (s = gpu_pc_sampler_next(arch, soft, s));)
		if (strcmp(s->method, method) == 0)
			return true;
	return false;
}
