/* rocpd merge and package: several databases in one file, or one folder. */
#include "cmd/rocpd/rocpd.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/util.h"
#include "cmd/rocpd/merge_clocks.h"
#include "rocpd/clock.h"

#define ARENA_MAX (64u << 20)

/* ---- merge ---- */

struct merge_args {
	struct rocpd_common common;
	struct rnk_align_opts align;
};

static const struct ws_opt merge_opts[] = {
	ROCPD_INPUT_OPTS(struct merge_args),
	WS_OPT_GROUP("Output"),
	ROCPD_OUTPUT_OPTS(struct merge_args),
	WS_OPT_GROUP("Clocks of several nodes"),
	WS_OPT_BOOL(struct merge_args, align.assume_aligned, 0, "assume-aligned",
		    "CLOCK_REALTIME is the same on all nodes: use it instead of an estimate"),
	WS_OPT_STR(struct merge_args, align.collective_kernels, 0, "collective-kernels", "REGEX",
		   "kernels that all ranks run together, in the same order: they align clocks"),
};

static enum ws_status run_merge(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct merge_args *args = call->values;
	const struct rocpd_common *common = &args->common;
	struct ws_strv files = { .max_n = 0 };
	struct ws_arena arena;
	struct ws_buf path;
	size_t n_clocks = 0;
	enum ws_status st;

	(void)exit_code;
	ws_arena_init(&arena, ARENA_MAX);
	ws_buf_init(&path, PATH_MAX);
	st = rpd_inputs(&common->input, &arena, &files, err);
	if (!st)
		st = rocpd_output_path(common, "merged", ".db", &path, err);
	if (!st)
		st = rpd_clocks_count(&files, &n_clocks, err);
	if (!st)
		st = n_clocks > 1 ? rocpd_merge_align(&files, &args->align, path.at, err)
				  : rpd_merge_files(&files, path.at, err);
	if (!st)
		printf("Merged %zu databases into %s\nDone. Exiting...\n", files.n, path.at);
	ws_vec_fini(&files);
	ws_buf_fini(&path);
	ws_arena_fini(&arena);
	return st;
}

const struct ws_cmd rocpd_merge_cmd = {
	.name = "merge",
	.summary = "merge several databases into one",
	.usage = "-i FILE... [-o NAME] [-d DIR]",
	.about =
		"Databases of several nodes are aligned to one clock if they have kernels that all "
		"ranks run together (--collective-kernels). If their clocks are not known, nothing "
		"is merged.",
	.opts = { merge_opts, WS_ARRAY_LEN(merge_opts) },
	.values_bytes = sizeof(struct merge_args),
	.run = run_merge,
};

/* ---- package ---- */

struct package_args {
	struct rocpd_common common;
	bool consolidate, copy;
};

static const struct ws_opt package_opts[] = {
	ROCPD_INPUT_OPTS(struct package_args),
	WS_OPT_GROUP("Output"),
	WS_OPT_STR(struct package_args, common.output_path, 'd', "output-path", "DIR",
		   "the package; .rpdb is added. Default: rocpd"),
	WS_OPT_BOOL(struct package_args, consolidate, 'c', "consolidate",
		    "merge into one database"),
	WS_OPT_BOOL(struct package_args, copy, 0, "copy",
		    "copy the databases into the package; else it refers to them"),
};

static enum ws_status run_package(const struct ws_cmd_call *call, int *exit_code,
				  struct ws_err *err)
{
	const struct package_args *args = call->values;
	const char *name = args->common.output_path ? args->common.output_path : "rocpd";
	enum rpd_package_how how = args->consolidate ? RPD_PACKAGE_MERGE
				   : args->copy      ? RPD_PACKAGE_COPY
						     : RPD_PACKAGE_REFER;
	struct ws_strv files = { .max_n = 0 };
	char folder[PATH_MAX];
	struct ws_arena arena;
	enum ws_status st;

	(void)exit_code;
	ws_arena_init(&arena, ARENA_MAX);
	snprintf(folder, sizeof(folder), "%s%s", name,
		 ws_str_ends(ws_str_from(name), ".rpdb") ? "" : ".rpdb");
	st = rpd_inputs(&args->common.input, &arena, &files, err);
	if (!st)
		st = ws_mkdirs(folder, err);
	if (!st)
		st = rpd_package_write(&files, folder, how, err);
	if (!st)
		printf("Packaged %zu databases in %s\nDone. Exiting...\n", files.n, folder);
	ws_vec_fini(&files);
	ws_arena_fini(&arena);
	return st;
}

const struct ws_cmd rocpd_package_cmd = {
	.name = "package",
	.summary = "make a package: a folder that stands for several databases",
	.usage = "-i FILE... [-d DIR] [--copy | --consolidate]",
	.opts = { package_opts, WS_ARRAY_LEN(package_opts) },
	.values_bytes = sizeof(struct package_args),
	.run = run_package,
};
