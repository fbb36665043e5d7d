#include "softgpu/isa/isa.h"

#include <string.h>

static const char *const names[SG_ISA_N_TARGETS] = { "gfx908", "gfx90a", "gfx942", "gfx950" };

const char *sg_isa_target_name(enum sg_isa_target target)
{
	return names[__builtin_ctz(target)];
}

enum sg_isa_target sg_isa_target_find(const char *name)
{
	for (unsigned t = 0; t < SG_ISA_N_TARGETS; t++)
		if (!strcmp(names[t], name))
			return (enum sg_isa_target)(1 << t);
	return 0;
}
