#include "collector/instrument/plan.h"

/* No libc and no errors in words: this runs in the profiled program, and in the front end. */

static bool inside(uint32_t at, uint32_t n, uint32_t limit)
{
	return at <= limit && n <= limit - at;
}

/* A text that a zero ends. */
static bool check_text(const struct col_plan *plan, uint32_t at, uint32_t n)
{
	return inside(at, n, plan->n_bytes) && inside(at + n, 1, plan->n_bytes) &&
	       plan->bytes[at + n] == 0;
}

static bool check_fixup(const struct col_plan_fixup *fixup, uint32_t n_code)
{
	return fixup->kind < COL_PLAN_FIXUP_COUNT && inside(fixup->at, 4, n_code) &&
	       fixup->end >= fixup->at + 4u && fixup->end <= n_code;
}

static bool check_function(const struct col_plan *plan, const struct col_plan_function *function)
{
	if (!check_text(plan, function->name_at, function->n_name) || !function->n_name ||
	    !check_text(plan, function->file_at, function->n_file) || !function->size)
		return false;
	if (function->how == COL_PLAN_COMPILED)
		return true;
	if (function->how != COL_PLAN_PATCH || function->n_patch < COL_PLAN_PATCH_BYTES ||
	    function->n_patch > COL_PLAN_PATCH_MAX || function->n_code > COL_PLAN_CODE_MAX ||
	    !inside(function->patch_at, function->n_patch, function->size) ||
	    !inside(function->code_at, function->n_patch + function->n_code, plan->n_bytes) ||
	    !inside(function->first_fixup, function->n_fixups, plan->n_fixups))
		return false;
	for (uint32_t i = 0; i < function->n_fixups; i++)
		if (!check_fixup(&plan->fixups[function->first_fixup + i], function->n_code))
			return false;
	return true;
}

static bool check_module(const struct col_plan *plan, const struct col_plan_module *module)
{
	const struct col_plan_function *f = plan->functions + module->first_function;

	if (!check_text(plan, module->path_at, module->n_path) || !module->n_path ||
	    !inside(module->first_function, module->n_functions, plan->n_functions) ||
	    module->n_build_id > COL_PLAN_BUILD_ID_MAX || module->start > module->end)
		return false;
	for (uint32_t i = 0; i < module->n_functions; i++)
		if (f[i].offset < module->start || f[i].offset >= module->end ||
		    f[i].size > module->end - f[i].offset ||
		    (i && f[i].offset < f[i - 1].offset + f[i - 1].size))
			return false;
	return true;
}

bool col_plan_check(const void *file, size_t n_file, struct col_plan *out_plan)
{
	const struct col_plan_head *head = file;
	uint64_t n = sizeof(*head);
	struct col_plan plan;

	if (n_file < sizeof(*head) || __builtin_memcmp(head->magic, COL_PLAN_MAGIC, 8) != 0 ||
	    head->n_functions > COL_PLAN_FUNCTIONS_MAX)
		return false;
	n += (uint64_t)head->n_modules * sizeof(*plan.modules);
	n += (uint64_t)head->n_functions * sizeof(*plan.functions);
	n += (uint64_t)head->n_fixups * sizeof(*plan.fixups);
	n += head->n_bytes;
	if (n != n_file)
		return false;
	plan.modules = (const void *)(head + 1);
	plan.functions = (const void *)(plan.modules + head->n_modules);
	plan.fixups = (const void *)(plan.functions + head->n_functions);
	plan.bytes = (const void *)(plan.fixups + head->n_fixups);
	plan.n_modules = head->n_modules;
	plan.n_functions = head->n_functions;
	plan.n_fixups = head->n_fixups;
	plan.n_bytes = head->n_bytes;
	for (uint32_t i = 0; i < plan.n_functions; i++)
		if (!check_function(&plan, &plan.functions[i]))
			return false;
	for (uint32_t i = 0; i < plan.n_modules; i++)
		if (!check_module(&plan, &plan.modules[i]))
			return false;
	*out_plan = plan;
	return true;
}
