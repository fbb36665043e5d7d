/* The front end's catalogue and the software GPU's, which share data but no code. */
#include "base/util.h"
#include "counters/catalogue.h"
#include "softgpu/timing/model.h"
#include "tests/unit/unit.h"

#include <stdio.h>

#include <string.h>

static const struct {
	const char *arch;
	const struct sg_hw *hw;
	unsigned target, n_cus;
} gpus[] = {
	{ "gfx908", &sg_hw_mi100, 1, 120 },  { "gfx90a", &sg_hw_mi210, 2, 104 },
	{ "gfx90a", &sg_hw_mi250x, 2, 110 }, { "gfx942", &sg_hw_mi300x, 4, 304 },
	{ "gfx950", &sg_hw_mi350x, 8, 256 },
};

static void what_it_counts_is_in_the_catalogue_with_as_many_instances(void **state)
{
	size_t n_checked = 0;

	for (size_t g = 0; g < WS_ARRAY_LEN(gpus); g++) {
		struct gpu_agent agent = { .is_gpu = true,
					   .simd_count = gpus[g].n_cus * 4,
					   .simd_per_cu = 4,
					   .array_count = sg_hw_n_engines(gpus[g].hw),
					   .simd_arrays_per_engine = 1,
					   .num_xcc = gpus[g].hw->n_xcc,
					   .soft = true };
		struct cnt_catalogue *cat;
		struct ws_err err;

		snprintf(agent.arch, sizeof(agent.arch), "%s", gpus[g].arch);
		assert_int_equal(cnt_catalogue_create(&agent, &cat, &err), WS_OK);
		for (size_t i = 0; i < sg_n_counters; i++) {
			const struct sg_counter_info *info = &sg_counters[i];
			const struct cnt_counter_def *def = cnt_catalogue_find(cat, info->name);

			if (!(info->targets & gpus[g].target))
				continue;
			assert_non_null(def);
			assert_string_equal(def->block->name, sg_blocks[info->block].name);
			assert_int_equal(def->block->limit, sg_blocks[info->block].limit);
			assert_int_equal(cnt_shape_size(&def->shape),
					 sg_hw_instances(gpus[g].hw, info->block));
			assert_int_equal(def->is_level, info->fidelity == SG_LEVEL_COUNTER);
			assert_int_equal(def->fidelity == CNT_FIDELITY_UNSUPPORTED,
					 !sg_counter_is_supported(info, gpus[g].target));
			if (def->fidelity != CNT_FIDELITY_UNSUPPORTED)
				assert_int_equal(def->fidelity == CNT_FIDELITY_EXACT,
						 info->fidelity == SG_EXACT);
			assert_string_equal(def->fidelity_text,
					    sg_counter_text(info, gpus[g].target));
			n_checked++;
		}
		cnt_catalogue_destroy(cat);
	}
	assert_in_range(n_checked, 500, 3000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_counts_is_in_the_catalogue_with_as_many_instances),
	};

	return RUN(tests);
}
