/* A plan of any bytes: what passes the check can be read everywhere it points to. */
#include "collector/instrument/plan.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static size_t touched;

static void read_function(const struct col_plan *plan, const struct col_plan_function *f)
{
	CHECK(strlen(plan->bytes + f->name_at) <= f->n_name);
	CHECK(strlen(plan->bytes + f->file_at) <= f->n_file);
	if (f->how != COL_PLAN_PATCH)
		return;
	CHECK(f->patch_at + f->n_patch <= f->size);
	for (uint32_t i = 0; i < f->n_patch + f->n_code; i++)
		touched += (uint8_t)plan->bytes[f->code_at + i];
	for (uint32_t i = 0; i < f->n_fixups; i++) {
		const struct col_plan_fixup *fixup = &plan->fixups[f->first_fixup + i];

		CHECK(fixup->at + 4u <= f->n_code && fixup->end <= f->n_code);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct col_plan plan;
	void *copy = malloc(n + 1); /* aligned, and as long as it is */

	CHECK(copy);
	memcpy(copy, bytes, n);
	if (col_plan_check(copy, n, &plan)) {
		for (uint32_t i = 0; i < plan.n_functions; i++)
			read_function(&plan, &plan.functions[i]);
		for (uint32_t i = 0; i < plan.n_modules; i++) {
			const struct col_plan_module *m = &plan.modules[i];

			CHECK(strlen(plan.bytes + m->path_at) <= m->n_path);
			CHECK(m->first_function + m->n_functions <= plan.n_functions);
		}
	}
	free(copy);
	return 0;
}
