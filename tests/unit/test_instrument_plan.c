#include "base/util.h"
#include "collector/instrument/plan.h"
#include "tests/unit/unit.h"

#include <string.h>

/* A plan of one module and two functions: one patched, one compiled for instrumentation. */
struct plan_file {
	struct col_plan_head head;
	struct col_plan_module module;
	struct col_plan_function functions[2];
	struct col_plan_fixup fixup;
	char bytes[32]; /* 0: "/a"; 3: "f"; 5: ""; 6: code */
};

static struct plan_file valid(void)
{
	struct plan_file file = {
		.head = { COL_PLAN_MAGIC, 1, 2, 1, sizeof(file.bytes) },
		.module = { 0, 2, 0, 2, 0x1000, 0x2000, 0, 0, { 0 } },
		.functions = {
			{ .offset = 0x1000, .size = 16, .name_at = 3, .n_name = 1, .file_at = 5,
			  .how = COL_PLAN_PATCH, .code_at = 6, .n_patch = 5, .n_code = 9,
			  .n_fixups = 1 },
			{ .offset = 0x1010, .size = 8, .name_at = 3, .n_name = 1, .file_at = 5,
			  .how = COL_PLAN_COMPILED },
		},
		.fixup = { 0x1800, 5, 9, COL_PLAN_RELATIVE },
		.bytes = "/a\0f",
	};

	return file;
}

static bool passes(const struct plan_file *file)
{
	struct col_plan plan;

	return col_plan_check(file, sizeof(*file), &plan);
}

static void a_valid_plan_is_read_in_place(void **state)
{
	struct plan_file file = valid();
	struct col_plan plan;

	assert_true(col_plan_check(&file, sizeof(file), &plan));
	assert_ptr_equal(plan.modules, &file.module);
	assert_ptr_equal(plan.functions, file.functions);
	assert_ptr_equal(plan.fixups, &file.fixup);
	assert_string_equal(plan.bytes + plan.functions[0].name_at, "f");
	assert_int_equal(plan.n_functions, 2);
}

static void a_plan_of_another_length_is_refused(void **state)
{
	struct plan_file file = valid();
	struct col_plan plan;

	for (size_t n = 0; n < sizeof(file); n++)
		assert_false(col_plan_check(&file, n, &plan));
}

/* Each of these leads out of the file, of its module or of its function. */
static void fields_that_lead_outside_are_refused(void **state)
{
	struct plan_file file;

#define REFUSED(change)                                                                            \
	do {                                                                                       \
		file = valid();                                                                    \
		file.change;                                                                       \
		assert_false(passes(&file));                                                       \
	} while (0)
	REFUSED(head.magic[6]++);
	REFUSED(head.n_functions = UINT32_MAX);
	REFUSED(module.path_at = 31);
	REFUSED(module.n_path = 0);
	REFUSED(module.n_path = 1); /* no zero there */
	REFUSED(module.n_functions = 3);
	REFUSED(module.first_function = UINT32_MAX);
	REFUSED(module.end = 0x1014);
	REFUSED(module.n_build_id = COL_PLAN_BUILD_ID_MAX + 1);
	REFUSED(functions[0].size = 17); /* overlaps the next */
	REFUSED(functions[0].size = 4);  /* the patch is longer */
	REFUSED(functions[1].size = 0);
	REFUSED(functions[0].name_at = UINT32_MAX);
	REFUSED(functions[0].n_name = 0);
	REFUSED(functions[0].how = COL_PLAN_HOW_COUNT);
	REFUSED(functions[0].n_patch = COL_PLAN_PATCH_BYTES - 1);
	REFUSED(functions[0].n_patch = COL_PLAN_PATCH_MAX + 1);
	REFUSED(functions[0].n_code = COL_PLAN_CODE_MAX + 1);
	REFUSED(functions[0].code_at = 20);
	REFUSED(functions[0].patch_at = 12);
	REFUSED(functions[0].patch_at = UINT32_MAX - 3);
	REFUSED(functions[0].first_fixup = 1);
	REFUSED(fixup.kind = COL_PLAN_FIXUP_COUNT);
	REFUSED(fixup.at = 6);
	REFUSED(fixup.end = 10);
	REFUSED(fixup.end = 8);
#undef REFUSED
	file = valid();
	assert_true(passes(&file));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_valid_plan_is_read_in_place),
		cmocka_unit_test(a_plan_of_another_length_is_refused),
		cmocka_unit_test(fields_that_lead_outside_are_refused),
	};

	return RUN(tests);
}
