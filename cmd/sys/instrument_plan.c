/* instrument_plan: the plan as a file. */
#include "cmd/sys/instrument.h"

#include "base/file.h"

#include <stdio.h>
#include <string.h>

#define BYTES_MAX (256u << 20)
#define FIXUPS_MAX (8u << 20)
#define MODULES_MAX 4096u

void sys_plan_init(struct sys_plan *plan)
{
	ws_vec_init(&plan->modules, MODULES_MAX);
	ws_vec_init(&plan->functions, COL_PLAN_FUNCTIONS_MAX);
	ws_vec_init(&plan->fixups, FIXUPS_MAX);
	ws_buf_init(&plan->bytes, BYTES_MAX);
}

void sys_plan_fini(struct sys_plan *plan)
{
	ws_vec_fini(&plan->modules);
	ws_vec_fini(&plan->functions);
	ws_vec_fini(&plan->fixups);
	ws_buf_fini(&plan->bytes);
}

static uint32_t add_text(struct sys_plan *plan, const char *text)
{
	uint32_t at = (uint32_t)plan->bytes.n;

	ws_buf_add_n(&plan->bytes, text, strlen(text) + 1);
	return at;
}

enum ws_status sys_plan_add_module(struct sys_plan *plan, const char *path,
				   const struct code_functions *functions, struct ws_err *err)
{
	struct col_plan_module module = {
		.path_at = add_text(plan, path),
		.n_path = (uint32_t)strlen(path),
		.first_function = (uint32_t)plan->functions.n,
		.start = functions->start,
		.end = functions->end,
		.n_build_id = functions->n_build_id,
	};

	memcpy(module.build_id, functions->build_id, functions->n_build_id);
	return ws_vec_push(&plan->modules, module, err);
}

static enum ws_status add_code(struct sys_plan *plan, struct col_plan_function *function,
			       const struct code_moved *moved, struct ws_err *err)
{
	static const uint32_t kinds[] = {
		[CODE_FIXUP_RELATIVE] = COL_PLAN_RELATIVE,
		[CODE_FIXUP_LOW] = COL_PLAN_LOW,
		[CODE_FIXUP_HIGH] = COL_PLAN_HIGH,
	};
	enum ws_status st = WS_OK;

	function->how = COL_PLAN_PATCH;
	function->patch_at = moved->patch_at;
	function->n_patch = moved->n_patch;
	function->n_code = moved->n_code;
	function->code_at = (uint32_t)plan->bytes.n;
	function->first_fixup = (uint32_t)plan->fixups.n;
	function->n_fixups = moved->n_fixups;
	ws_buf_add_n(&plan->bytes, moved->original, moved->n_patch);
	ws_buf_add_n(&plan->bytes, moved->code, moved->n_code);
	for (uint32_t i = 0; i < moved->n_fixups && !st; i++) {
		const struct code_fixup *f = &moved->fixups[i];
		struct col_plan_fixup fixup = { f->target, f->at, f->end, kinds[f->kind] };

		st = ws_vec_push(&plan->fixups, fixup, err);
	}
	return st;
}

enum ws_status sys_plan_add(struct sys_plan *plan, const struct code_host_function *f,
			    const struct code_moved *moved, const char *name, const char *file,
			    uint32_t line, struct ws_err *err)
{
	struct col_plan_function function = {
		.offset = f->offset,
		.size = (uint32_t)f->size,
		.name_at = add_text(plan, name),
		.n_name = (uint32_t)strlen(name),
		.file_at = add_text(plan, file),
		.n_file = (uint32_t)strlen(file),
		.line = line,
		.how = COL_PLAN_COMPILED,
	};
	enum ws_status st = moved ? add_code(plan, &function, moved, err) : WS_OK;

	if (!st)
		st = ws_vec_push(&plan->functions, function, err);
	if (!st)
		plan->modules.at[plan->modules.n - 1].n_functions++;
	return st;
}

/* An empty part has no address. A failure is reported by ws_file_commit(). */
static void write_part(FILE *file, const void *at, size_t bytes, size_t n)
{
	if (n)
		fwrite(at, bytes, n, file);
}

enum ws_status sys_plan_write(const struct sys_plan *plan, const char *path, struct ws_err *err)
{
	struct col_plan_head head = {
		.magic = COL_PLAN_MAGIC,
		.n_modules = (uint32_t)plan->modules.n,
		.n_functions = (uint32_t)plan->functions.n,
		.n_fixups = (uint32_t)plan->fixups.n,
		.n_bytes = (uint32_t)plan->bytes.n,
	};
	enum ws_status st = ws_buf_status(&plan->bytes, err);
	FILE *file;

	if (!st)
		st = ws_file_begin(path, &file, err);
	if (st)
		return st;
	write_part(file, &head, sizeof(head), 1);
	write_part(file, plan->modules.at, sizeof(*plan->modules.at), plan->modules.n);
	write_part(file, plan->functions.at, sizeof(*plan->functions.at), plan->functions.n);
	write_part(file, plan->fixups.at, sizeof(*plan->fixups.at), plan->fixups.n);
	write_part(file, plan->bytes.at, 1, plan->bytes.n);
	return ws_file_commit(path, file, err);
}
