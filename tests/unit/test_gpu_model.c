#include "base/error.h"
#include "gpu/model.h"
#include "tests/unit/unit.h"

#include <ctype.h>
#include <string.h>

static void every_row_is_whole_and_unique(void **state)
{
	size_t n;
	const struct gpu_model *models = gpu_models(&n);

	assert_true(n >= 15);
	for (size_t i = 0; i < n; i++) {
		const struct gpu_model *m = &models[i];

		for (const char *c = m->name; *c; c++)
			assert_false(isupper((unsigned char)*c));
		assert_memory_equal(m->arch, "gfx9", 4);
		assert_int_equal(m->n_l2_banks % 16, 0);
		assert_true(m->n_agents && m->n_xcds && m->n_simds && m->max_waves && m->lds_kib);
		/* What the software GPU is made from must be known to the last number. */
		if (m->soft)
			assert_true(m->n_cus && m->n_ses && m->freq_mhz && m->mem_gib &&
				    m->mem_freq_mhz && m->mem_width_bits && m->l2_kib &&
				    m->chip_id);
		for (size_t j = 0; j < i; j++) {
			assert_string_not_equal(m->name, models[j].name);
			assert_true(!m->chip_id || m->chip_id != models[j].chip_id);
			assert_true(!m->chip_id_vf || m->chip_id_vf != models[j].chip_id_vf);
		}
	}
}

static void models_are_found_by_either_name_and_chip(void **state)
{
	assert_string_equal(gpu_model_find("MI250X")->arch, "gfx90a");
	assert_int_equal(gpu_model_find("mi250x")->n_cus, 110);
	assert_string_equal(gpu_model_find("MI300X_A1")->name, "mi300x");
	assert_null(gpu_model_find("mi9"));
	/* Decimal, as the profilers' own tables have them. */
	assert_string_equal(gpu_model_by_chip(29711)->model, "MI210");
	assert_string_equal(gpu_model_by_chip(29580)->model, "MI100");
	assert_string_equal(gpu_model_by_chip(29877)->model, "MI300X_A1");
	assert_string_equal(gpu_model_by_chip(30115)->model, "MI355");
	assert_null(gpu_model_by_chip(0));
	assert_null(gpu_model_by_chip(1));
}

static void targets_are_families_up_to_mi200_and_models_from_mi300(void **state)
{
	static const struct {
		const char *model, *target;
	} cases[] = {
		{ "mi100", "MI100" },      { "mi210", "MI200" },      { "mi250x", "MI200" },
		{ "mi300a", "MI300A_A1" }, { "mi300x", "MI300X_A1" }, { "mi355x", "MI355" },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(cases); i++) {
		const struct gpu_model *m = gpu_model_find(cases[i].model);

		assert_string_equal(gpu_target_name(m->arch, m), cases[i].target);
	}
	assert_string_equal(gpu_target_name("gfx90a", NULL), "MI200");
	assert_string_equal(gpu_target_name("gfx1201", NULL), "gfx1201");
}

static void dies_depend_on_the_partition(void **state)
{
	assert_int_equal(gpu_n_xcds(gpu_model_find("mi300x"), "SPX"), 8);
	assert_int_equal(gpu_n_xcds(gpu_model_find("mi300x"), "cpx"), 1);
	assert_int_equal(gpu_n_xcds(gpu_model_find("mi300x"), "QPX"), 2);
	assert_int_equal(gpu_n_xcds(gpu_model_find("mi300a"), "TPX"), 2);
	assert_int_equal(gpu_n_xcds(gpu_model_find("mi308x"), "DPX"), 2);
	assert_int_equal(gpu_n_xcds(gpu_model_find("mi300x"), "N/A"), 8);
	assert_int_equal(gpu_n_xcds(gpu_model_find("mi300x"), NULL), 8);
	assert_int_equal(gpu_n_xcds(gpu_model_find("mi210"), "CPX"), 1);
}

/* What machines with these GPUs reported to AMD's profiler. */
static void numbers_are_those_of_real_machines(void **state)
{
	static const struct {
		const char *name;
		unsigned n_cus, n_ses, n_xcds, waves_per_cu, freq_mhz, mem_freq_mhz, l2_kib,
			n_l2_all;
	} seen[] = {
		{ "mi100", 120, 8, 1, 40, 1502, 1200, 8192, 32 },
		{ "mi210", 104, 8, 1, 32, 1700, 1600, 8192, 32 },
		{ "mi300x", 304, 32, 8, 32, 2100, 1300, 4096, 128 },
		{ "mi300a", 228, 24, 6, 32, 2100, 1300, 4096, 96 },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(seen); i++) {
		const struct gpu_model *m = gpu_model_find(seen[i].name);

		assert_int_equal(m->n_cus, seen[i].n_cus);
		assert_int_equal(m->n_ses, seen[i].n_ses);
		assert_int_equal(m->n_xcds, seen[i].n_xcds);
		assert_int_equal(m->n_simds * m->max_waves, seen[i].waves_per_cu);
		assert_int_equal(m->freq_mhz, seen[i].freq_mhz);
		assert_int_equal(m->mem_freq_mhz, seen[i].mem_freq_mhz);
		assert_int_equal(m->l2_kib, seen[i].l2_kib);
		assert_int_equal(m->n_l2_banks * m->n_xcds, seen[i].n_l2_all);
	}
}

static void lists_of_software_gpus_are_checked(void **state)
{
	static const struct {
		const char *list, *text;
	} wrong[] = {
		{ "mi201", "no GPU model 'mi201': did you mean 'mi210'?" },
		{ "mi210,",
		  "empty name in GPU list 'mi210,': use mi100, mi210, mi250x, mi300a, mi300x" },
		{ "", "empty name" },
		{ "h100", "no GPU model 'h100'" },
		{ "geforce", "no GPU model 'geforce': use mi100, mi210, mi250x" },
		{ "mi308x", "no software MI308X yet: use mi100, mi210, mi250x" },
		{ "mi300x:tpx", "no compute partition 'tpx' on MI300X_A1: use SPX, DPX, QPX, CPX" },
		{ "mi300a:", "no compute partition '' on MI300A_A1: use SPX, TPX, CPX" },
		{ "mi210:spx", "MI210 has no compute partitions" },
		{ "mi300x/nps4", "NPS1, or mi300x:cpx/nps4" },
		{ "mi300a:cpx/nps4", "no memory partition 'nps4' on MI300A_A1: only NPS1" },
		{ "mi300x:cpx,mi300x:cpx,mi300x", "more than 16" },
		{ "mi250x,mi250x,mi250x,mi250x,mi250x,mi250x,mi250x,mi250x,mi210", "more than 16" },
	};
	struct ws_err err;
	struct ws_buf out;

	ws_buf_init(&out, 100);
	assert_int_equal(gpu_soft_list("mi210,MI100,mi250X", &out, &err), WS_OK);
	assert_string_equal(out.at, "mi210,mi100,mi250x");
	ws_buf_clear(&out);
	assert_int_equal(gpu_soft_list("MI300X:spx,mi300x:Cpx/NPS4,mi355x:dpx", &out, &err), WS_OK);
	assert_string_equal(out.at, "mi300x,mi300x:CPX/nps4,mi355x:DPX");
	for (size_t i = 0; i < WS_ARRAY_LEN(wrong); i++)
		assert_fails_with(gpu_soft_list(wrong[i].list, &out, &err), WS_E_USAGE, &err,
				  wrong[i].text);
	ws_buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_whole_and_unique),
		cmocka_unit_test(models_are_found_by_either_name_and_chip),
		cmocka_unit_test(targets_are_families_up_to_mi200_and_models_from_mi300),
		cmocka_unit_test(dies_depend_on_the_partition),
		cmocka_unit_test(numbers_are_those_of_real_machines),
		cmocka_unit_test(lists_of_software_gpus_are_checked),
	};

	return RUN(tests);
}
