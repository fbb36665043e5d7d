#include "base/util.h"
#include "counters/catalogue.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cnt_catalogue *make(const char *arch)
{
	struct cnt_catalogue *cat = NULL;
	struct ws_err err;

	if (cnt_catalogue_create_typical(arch, &cat, &err))
		fail_msg("%s: %s", arch, err.text);
	return cat;
}

static void architectures_are_found_by_any_spelling(void **state)
{
	static const char *const names[] = { "gfx90a", "gfx90a:sramecc+:xnack-", "gfx90a:xnack-",
					     "amdgcn-amd-amdhsa--gfx90a:sramecc+" };
	struct cnt_catalogue *cat;
	struct ws_err err;

	for (size_t i = 0; i < WS_ARRAY_LEN(names); i++) {
		cat = make(names[i]);
		assert_string_equal(cnt_catalogue_arch(cat), "gfx90a");
		cnt_catalogue_destroy(cat);
	}
	assert_fails_with(cnt_catalogue_create_typical("gfx90b", &cat, &err), WS_E_NOTFOUND, &err,
			  "supported are gfx908, gfx90a, gfx940, gfx941, gfx942, gfx950");
	assert_fails_with(cnt_catalogue_create_typical("", &cat, &err), WS_E_NOTFOUND, &err, "''");
}

/* Every counter that rocprof-compute's tables need is there, under the event they say. */
static void all_that_rocprof_compute_needs_is_there(void **state)
{
	FILE *f = fopen(getenv("WS_COUNTERS_NEEDED"), "r");
	struct cnt_catalogue *cat = NULL;
	char line[512], arch[16], name[128], what[128], *blank;
	size_t n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		const struct cnt_counter_def *def;
		char have[160];

		if (line[0] == '#')
			continue;
		assert_int_equal(sscanf(line, "%15s\t%127s\t%127[^\t]", arch, name, what), 3);
		if ((blank = strchr(what, ' ')))
			memmove(blank, blank + 1, strlen(blank));
		if (!cat || strcmp(cnt_catalogue_arch(cat), arch) != 0) {
			cnt_catalogue_destroy(cat);
			cat = make(arch);
		}
		if (strstr(name, "[]"))
			*strstr(name, "[]") = '\0';
		def = cnt_catalogue_find(cat, name);
		if (!def && strcmp(what, "-") != 0)
			fail_msg("%s has no %s", arch, name);
		if (!def)
			continue;
		if (def->kind == CNT_COUNTER_HARDWARE)
			snprintf(have, sizeof(have), "%s:%u", def->block->name, def->event);
		else
			snprintf(have, sizeof(have), "%s", def->expression);
		/* The other spelling of the interface to memory is the same counter. */
		if (strcmp(have, what) != 0 && !strstr(name, "TCC_EA"))
			fail_msg("%s: %s is %s, not %s", arch, name, have, what);
		n++;
	}
	fclose(f);
	cnt_catalogue_destroy(cat);
	assert_in_range(n, 1400, 2000);
}

static void every_definition_is_complete(void **state)
{
	const char *arch;

	for (size_t a = 0; (arch = cnt_catalogue_arch_name(a)); a++) {
		struct cnt_catalogue *cat = make(arch);

		for (size_t i = 0; i < cnt_catalogue_n(cat); i++) {
			const struct cnt_counter_def *def = cnt_catalogue_at(cat, i);

			assert_int_equal(def->id, i + 1);
			assert_ptr_equal(cnt_catalogue_find(cat, def->name), def);
			assert_in_range(strlen(def->text), 6, 400);
			assert_int_equal(def->kind == CNT_COUNTER_HARDWARE, def->block != NULL);
			assert_int_equal(def->kind == CNT_COUNTER_DERIVED, def->expression != NULL);
			assert_int_equal(def->kind == CNT_COUNTER_CONSTANT, def->shape.n_dims == 0);
			assert_non_null(def->fidelity_text);
			if (def->fidelity == CNT_FIDELITY_UNSUPPORTED)
				assert_true(*def->fidelity_text);
		}
		cnt_catalogue_destroy(cat);
	}
	assert_int_equal(strcmp(cnt_catalogue_arch_name(1), "gfx90a"), 0);
}

static void fidelity_is_that_of_the_software_gpu(void **state)
{
	struct cnt_catalogue *mi200 = make("gfx90a"), *mi300 = make("gfx942"),
			     *mi100 = make("gfx908"), *early = make("gfx941");

	assert_int_equal(cnt_catalogue_find(mi200, "SQ_WAVES")->fidelity, CNT_FIDELITY_EXACT);
	assert_int_equal(cnt_catalogue_find(mi200, "TCC_HIT")->fidelity, CNT_FIDELITY_MODELLED);
	assert_int_equal(cnt_catalogue_find(mi200, "TCC_HIT_sum")->fidelity, CNT_FIDELITY_MODELLED);
	assert_int_equal(cnt_catalogue_find(mi200, "Wavefronts")->fidelity, CNT_FIDELITY_EXACT);
	assert_int_equal(cnt_catalogue_find(mi200, "L2CacheHit")->fidelity, CNT_FIDELITY_MODELLED);
	assert_int_equal(cnt_catalogue_find(mi200, "TCA_BUSY")->fidelity, CNT_FIDELITY_UNSUPPORTED);
	assert_int_equal(cnt_catalogue_find(mi200, "TCA_BUSY_sum")->fidelity,
			 CNT_FIDELITY_UNSUPPORTED);
	assert_non_null(
		strstr(cnt_catalogue_find(mi200, "TCA_BUSY_sum")->fidelity_text, "TCA_BUSY"));
	assert_int_equal(cnt_catalogue_find(mi300, "SQ_WAVES")->fidelity, CNT_FIDELITY_EXACT);
	assert_int_equal(cnt_catalogue_find(early, "SQ_WAVES")->fidelity, CNT_FIDELITY_NO_SOFTGPU);
	assert_int_equal(cnt_catalogue_find(mi100, "SQ_WAVES")->fidelity, CNT_FIDELITY_EXACT);
	assert_string_equal(cnt_fidelity_word(CNT_FIDELITY_MODELLED), "modelled");
	cnt_catalogue_destroy(mi200);
	cnt_catalogue_destroy(mi300);
	cnt_catalogue_destroy(mi100);
	cnt_catalogue_destroy(early);
}

static void shape_is(const struct cnt_catalogue *cat, const char *name, const char *expected)
{
	const struct cnt_shape *shape = &cnt_catalogue_find(cat, name)->shape;
	char have[160] = "";
	size_t n = 0;

	for (unsigned d = 0; d < shape->n_dims; d++)
		n += (size_t)snprintf(have + n, sizeof(have) - n, "%s%s=%u", d ? " " : "",
				      cnt_dim_name(shape->at[d].dim) + strlen("DIMENSION_"),
				      shape->at[d].n);
	assert_string_equal(have, expected);
}

static void dimensions_follow_the_agent(void **state)
{
	struct gpu_agent mi250x = { .arch = "gfx90a",
				    .is_gpu = true,
				    .array_count = 8,
				    .simd_arrays_per_engine = 1,
				    .cu_per_simd_array = 16,
				    .simd_count = 440,
				    .simd_per_cu = 4,
				    .num_xcc = 1 };
	struct cnt_catalogue *cat = make("gfx90a");
	struct ws_err err;

	shape_is(cat, "GRBM_COUNT", "INSTANCE=1");
	shape_is(cat, "SQ_WAVES", "SHADER_ENGINE=8 INSTANCE=1");
	shape_is(cat, "SQC_ICACHE_REQ", "SHADER_ENGINE=8 INSTANCE=1");
	shape_is(cat, "TCP_READ_TAGCONFLICT_STALL_CYCLES", "SHADER_ENGINE=8 INSTANCE=13");
	shape_is(cat, "TCC_HIT", "INSTANCE=32");
	shape_is(cat, "TCC_HIT_sum", "INSTANCE=1");
	shape_is(cat, "MfmaFlops", "SHADER_ENGINE=8 INSTANCE=1");
	shape_is(cat, "simd_count", "");
	cnt_catalogue_destroy(cat);
	cat = make("gfx942");
	shape_is(cat, "GRBM_COUNT", "XCC=8 INSTANCE=1");
	shape_is(cat, "SQ_WAVES", "XCC=8 SHADER_ENGINE=4 INSTANCE=1");
	shape_is(cat, "TCC_HIT", "XCC=8 INSTANCE=16");
	cnt_catalogue_destroy(cat);
	assert_int_equal(cnt_catalogue_create(&mi250x, &cat, &err), WS_OK);
	shape_is(cat, "TA_TA_BUSY", "SHADER_ENGINE=8 INSTANCE=14");
	assert_true(cnt_catalogue_find(cat, "simd_count")->constant == 440);
	cnt_catalogue_destroy(cat);
}

static void instances_are_numbered_with_the_last_dimension_fastest(void **state)
{
	struct cnt_catalogue *cat = make("gfx942");
	const struct cnt_shape *shape = &cnt_catalogue_find(cat, "TCC_HIT")->shape;
	uint32_t index[CNT_SHAPE_MAX];

	assert_int_equal(cnt_shape_size(shape), 128);
	cnt_shape_index(shape, 17, index);
	assert_int_equal(index[0], 1);
	assert_int_equal(index[1], 1);
	assert_int_equal(cnt_dim_find(ws_str_from("DIMENSION_XCC")), CNT_DIM_XCC);
	assert_int_equal(cnt_dim_find(ws_str_from("INSTANCE")), CNT_DIM_INSTANCE);
	assert_int_equal(cnt_dim_find(ws_str_from("DIMENSION_NONE")), CNT_DIM_NONE);
	cnt_catalogue_destroy(cat);
}

static void both_spellings_of_the_memory_interface_are_one_counter(void **state)
{
	struct cnt_catalogue *mi200 = make("gfx90a"), *mi300 = make("gfx942");

	assert_string_equal(cnt_catalogue_find(mi200, "TCC_EA0_WRREQ_sum")->name,
			    "TCC_EA_WRREQ_sum");
	assert_string_equal(cnt_catalogue_find(mi300, "TCC_EA_RDREQ")->name, "TCC_EA0_RDREQ");
	assert_non_null(strstr(cnt_catalogue_find(mi300, "WRITE_SIZE")->expression, "TCC_EA0_"));
	assert_null(cnt_catalogue_find(mi200, "TCC_EA0_"));
	cnt_catalogue_destroy(mi200);
	cnt_catalogue_destroy(mi300);
}

static void a_wrong_name_has_a_near_one_or_another_home(void **state)
{
	struct cnt_catalogue *cat = make("gfx90a");

	assert_string_equal(cnt_catalogue_nearest(cat, "SQ_WAVE"), "SQ_WAVES");
	assert_string_equal(cnt_catalogue_nearest(cat, "TCC_HITS_sum"), "TCC_HIT_sum");
	assert_null(cnt_catalogue_nearest(cat, "quite another thing"));
	assert_string_equal(cnt_catalogue_elsewhere(cat, "SQ_INSTS_VALU_MFMA_F8"),
			    "gfx940, gfx941, gfx942, gfx950");
	assert_string_equal(cnt_catalogue_elsewhere(cat, "TCC_EA0_RDREQ_128B"), "gfx950");
	assert_null(cnt_catalogue_elsewhere(cat, "NONSENSE"));
	cnt_catalogue_destroy(cat);
}

/* ---- definitions of a person ---- */

#define HEAD "rocprofiler-sdk:\n  counters-schema-version: 1\n  counters:\n"

static enum ws_status add(struct cnt_catalogue *cat, const char *text, struct ws_err *err)
{
	return cnt_catalogue_add_text(cat, "my.yaml", ws_str_from(text), err);
}

static void definitions_of_a_person_are_added(void **state)
{
	struct cnt_catalogue *cat = make("gfx90a");
	const struct cnt_counter_def *def;
	struct ws_err err;
	size_t before = cnt_catalogue_n(cat);

	assert_int_equal(add(cat,
			     HEAD "  - name: LATER_USED\n"
				  "    description: uses a later one\n"
				  "    properties: []\n"
				  "    definitions:\n"
				  "    - architectures: [gfx942, gfx90a]\n"
				  "      expression: 100*MY_EVENT_PER_WAVE // percent\n"
				  "  - name: MY_EVENT_PER_WAVE\n"
				  "    description: ratio\n"
				  "    definitions:\n"
				  "    - architectures: [gfx90a]\n"
				  "      expression: reduce(MY_EVENT,sum)/reduce(SQ_WAVES,sum)\n"
				  "  - name: MY_EVENT\n"
				  "    definitions:\n"
				  "    - architectures:\n"
				  "      - gfx90a\n"
				  "      block: SQ\n"
				  "      event: 26\n"
				  "  - name: OF_ANOTHER\n"
				  "    definitions:\n"
				  "    - architectures: [gfx1100]\n"
				  "      block: GL2C\n"
				  "      event: 3\n"
				  "  - name: TCC_HIT[17]\n"
				  "    definitions:\n"
				  "    - architectures: [gfx90a]\n"
				  "      expression: select(TCC_HIT,[DIMENSION_XCC=[0], "
				  "DIMENSION_INSTANCE=[17]])\n",
			     &err),
			 WS_OK);
	assert_int_equal(cnt_catalogue_n(cat), before + 4);
	def = cnt_catalogue_find(cat, "LATER_USED");
	assert_string_equal(def->from, "my.yaml:9");
	assert_int_equal(def->fidelity, CNT_FIDELITY_EXACT);
	def = cnt_catalogue_find(cat, "MY_EVENT");
	assert_string_equal(def->same_as->name, "SQ_INSTS_VALU");
	assert_string_equal(def->text, "");
	assert_null(cnt_catalogue_find(cat, "OF_ANOTHER"));
	assert_non_null(cnt_catalogue_find(cat, "TCC_HIT[17]"));
	cnt_catalogue_destroy(cat);
}

static void a_definition_file_is_taken_whole_or_not_at_all(void **state)
{
	struct cnt_catalogue *cat = make("gfx90a");
	const struct cnt_counter_def *old = cnt_catalogue_find(cat, "L2CacheHit");
	struct ws_err err;
	size_t before = cnt_catalogue_n(cat);

	assert_fails_with(add(cat,
			      HEAD "  - name: L2CacheHit\n    definitions:\n"
				   "    - architectures: [gfx90a]\n      expression: 1.5\n"
				   "  - name: BAD\n    definitions:\n"
				   "    - architectures: [gfx90a]\n      expression: SQ_WAVE*2\n",
			      &err),
			  WS_E_NOTFOUND, &err,
			  "my.yaml:11: counter 'BAD': column 1: no counter 'SQ_WAVE'");
	assert_int_equal(cnt_catalogue_n(cat), before);
	assert_ptr_equal(cnt_catalogue_find(cat, "L2CacheHit"), old);
	assert_null(cnt_catalogue_find(cat, "BAD"));
	assert_int_equal(add(cat,
			     HEAD "  - name: L2CacheHit\n    definitions:\n"
				  "    - architectures: [gfx90a]\n      expression: 1.5\n",
			     &err),
			 WS_OK);
	assert_ptr_not_equal(cnt_catalogue_find(cat, "L2CacheHit"), old);
	cnt_catalogue_destroy(cat);
}

static void mistakes_in_a_definition_file_are_named(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "a: [", "my.yaml:" },
		{ "- 1\n", "my.yaml:1: a definition file begins with 'rocprofiler-sdk:'" },
		{ "counters: []\n", "my.yaml:1: 'rocprofiler-sdk:' is missing" },
		{ "rocprofiler-sdk: 3\n",
		  "my.yaml:1: 'rocprofiler-sdk:' is a mapping, not a whole number" },
		{ "rocprofiler-sdk:\n  counters-schema-version: 2\n  counters: []\n",
		  "my.yaml:2: schema version 2 is not supported" },
		{ HEAD "  - 7\n", "my.yaml:4: a counter is a map" },
		{ HEAD "  - description: x\n", "my.yaml:4: 'name:' is missing" },
		{ HEAD "  - name: 'A B'\n    definitions: []\n",
		  "my.yaml:4: 'A B' cannot be the name of a counter" },
		{ HEAD "  - name: A\n", "my.yaml:4: 'definitions:' is missing" },
		{ HEAD "  - name: A\n    definitions:\n    - architectures: gfx90a\n",
		  "my.yaml:6: 'architectures:' is a list, not a text" },
		{ HEAD "  - name: A\n    definitions:\n    - architectures: [gfx90a]\n",
		  "my.yaml:6: 'A' has neither 'expression:' nor 'block:' and 'event:'" },
		{ HEAD
		  "  - name: A\n    definitions:\n    - architectures: [gfx90a]\n      block: SQ\n",
		  "my.yaml:6: 'event:' is missing" },
		{ HEAD
		  "  - name: A\n    definitions:\n    - architectures: [gfx90a]\n      block: XX\n"
		  "      event: 1\n",
		  "my.yaml:7: no block 'XX' on gfx90a" },
		{ HEAD
		  "  - name: A\n    definitions:\n    - architectures: [gfx90a]\n      block: SQ\n"
		  "      event: -1\n",
		  "my.yaml:8: event -1 is out of range" },
		{ HEAD "  - name: A\n    definitions:\n    - architectures: [gfx90a]\n      "
		       "expression: 1\n"
		       "    - architectures: [gfx90a]\n      expression: 2\n",
		  "my.yaml:8: 'A' has two definitions for gfx90a" },
		{ HEAD "  - name: A\n    definitions:\n    - architectures: [gfx90a]\n"
		       "      expression: 2*A\n",
		  "my.yaml:7: counter 'A': in 'A', column 3: 'A' refers to itself" },
	};
	struct cnt_catalogue *cat = make("gfx90a");
	size_t before = cnt_catalogue_n(cat);
	struct ws_err err;

	for (size_t i = 0; i < WS_ARRAY_LEN(cases); i++) {
		assert_int_not_equal(add(cat, cases[i].text, &err), WS_OK);
		if (!strstr(err.text, cases[i].message))
			fail_msg("'%s' does not contain '%s'", err.text, cases[i].message);
		assert_int_equal(cnt_catalogue_n(cat), before);
	}
	assert_fails_with(cnt_catalogue_add_file(cat, "/nowhere/x.yaml", &err), WS_E_NOTFOUND, &err,
			  "/nowhere/x.yaml");
	cnt_catalogue_destroy(cat);
}

static void words_carry_devices(void **state)
{
	struct ws_str name;
	uint64_t devices;
	struct ws_err err;

	assert_int_equal(cnt_counter_word("SQ_WAVES", &name, &devices, &err), WS_OK);
	assert_true(ws_str_is(name, "SQ_WAVES"));
	assert_int_equal(devices, 0);
	assert_int_equal(cnt_counter_word("A:device=0,device=5", &name, &devices, &err), WS_OK);
	assert_true(ws_str_is(name, "A"));
	assert_int_equal(devices, 0x21);
	assert_fails_with(cnt_counter_word(":device=1", &name, &devices, &err), WS_E_USAGE, &err,
			  "Invalid counter name");
	assert_fails_with(cnt_counter_word("A:device=1:x", &name, &devices, &err), WS_E_USAGE, &err,
			  "Invalid format for pmc-check");
	assert_fails_with(cnt_counter_word("A:gpu=1", &name, &devices, &err), WS_E_USAGE, &err,
			  "Incorrect input format for device index");
	assert_fails_with(cnt_counter_word("A:device=", &name, &devices, &err), WS_E_USAGE, &err,
			  "Incorrect input format for device index");
	assert_fails_with(cnt_counter_word("A:device=64", &name, &devices, &err), WS_E_USAGE, &err,
			  "Invalid device id : 64");
}

static void a_lack_of_memory_is_reported(void **state)
{
	FOR_EACH_FAILING_ALLOCATION(n)
	{
		struct cnt_catalogue *cat = NULL;
		struct ws_err err;
		enum ws_status st = cnt_catalogue_create_typical("gfx908", &cat, &err);

		if (allocation_failed())
			assert_int_equal(st, WS_E_NOMEM);
		else
			assert_int_equal(st, WS_OK);
		if (!st)
			cnt_catalogue_destroy(cat);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(architectures_are_found_by_any_spelling),
		cmocka_unit_test(all_that_rocprof_compute_needs_is_there),
		cmocka_unit_test(every_definition_is_complete),
		cmocka_unit_test(fidelity_is_that_of_the_software_gpu),
		cmocka_unit_test(dimensions_follow_the_agent),
		cmocka_unit_test(instances_are_numbered_with_the_last_dimension_fastest),
		cmocka_unit_test(both_spellings_of_the_memory_interface_are_one_counter),
		cmocka_unit_test(a_wrong_name_has_a_near_one_or_another_home),
		cmocka_unit_test(definitions_of_a_person_are_added),
		cmocka_unit_test(a_definition_file_is_taken_whole_or_not_at_all),
		cmocka_unit_test(mistakes_in_a_definition_file_are_named),
		cmocka_unit_test(words_carry_devices),
		cmocka_unit_test(a_lack_of_memory_is_reported),
	};

	return RUN(tests);
}
