/* rocprof-sys-merge-output: one trace and one set of tables of all ranks. */
#include "cmd/sys/merge.h"

#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "base/util.h"
#include "cmd/cmd.h"
#include "output/systrace.h"
#include "profile/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUTPUTS_MAX (1u << 20)
#define ARENA_MAX (256u << 20)

struct merge_args {
	const char *to;
	bool collapse;
	uint64_t wait_s;
};

static const struct ws_opt rows[] = {
	WS_OPT_STR(struct merge_args, to, 'o', "output", "DIR",
		   "write to DIR. Default: the first folder"),
	WS_OPT_BOOL(struct merge_args, collapse, 0, "collapse-processes",
		    "add up the ranks in the tables, instead of a row for each"),
	WS_OPT_U64(struct merge_args, wait_s, 0, "wait", "SECONDS",
		   "wait so long for ranks that are still writing. Default: 0"),
};

/* ---- merging ---- */

static enum ws_status merge_traces(const struct set_output *files, size_t n,
				   const struct sys_merge *how, struct ws_err *err)
{
	const char **paths = calloc(n, sizeof(*paths));
	uint64_t n_bytes;
	char to[PATH_MAX];
	enum ws_status st = paths ? ws_path_join(how->to, "merged.proto", to, err)
				  : ws_fail(err, WS_E_NOMEM, "out of memory");

	for (size_t i = 0; i < n && !st; i++)
		paths[i] = files[i].path;
	if (!st)
		st = output_systrace_combine(paths, n, to, &n_bytes, err);
	if (!st)
		how->written(how->ctx, to);
	free(paths);
	return st;
}

static enum ws_status merge_tables(const struct set_output *files, size_t n,
				   const struct sys_merge *how, struct ws_err *err)
{
	struct prof_ranks_opts opts = { .folder = how->to,
					.collapse = how->collapse,
					.written = how->written,
					.ctx = how->ctx };
	struct prof_rank_file *ranks = calloc(n, sizeof(*ranks));
	enum ws_status st;

	if (!ranks)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t i = 0; i < n; i++)
		ranks[i] = (struct prof_rank_file){ files[i].path, files[i].number };
	st = prof_ranks_write(files->stem, ranks, n, &opts, err);
	free(ranks);
	return st == WS_E_NOTFOUND ? WS_OK : st; /* metadata and the like are no tables */
}

enum ws_status sys_merge_outputs(const struct set_outputs *outputs, const struct sys_merge *how,
				 struct ws_err *err)
{
	enum ws_status st = WS_OK, first = WS_OK;

	for (size_t i = 0, n; i < outputs->n; i += n) {
		const struct set_output *files = &outputs->at[i];
		struct ws_err own = { 0 };

		n = set_outputs_group(outputs, i);
		/* There is one merged trace, also of names with several prefixes. */
		while (strcmp(files->ext, "proto") == 0 && i + n < outputs->n &&
		       strcmp(files[n].ext, "proto") == 0)
			n++;
		if (how->traces && strcmp(files->ext, "proto") == 0)
			st = merge_traces(files, n, how, &own);
		else if (how->profiles && strcmp(files->ext, "json") == 0)
			st = merge_tables(files, n, how, &own);
		else
			continue;
		if (st && first)
			ws_log_error("%s", own.text);
		else if (st)
			*err = own;
		first = first ? first : st;
	}
	return first;
}

/* ---- the ranks ---- */

/* Ranks of the job that wrote nothing, and hosts whose clocks may differ. */
static void check_job(const struct set_outputs *outputs)
{
	struct prof_job job, other = { .known = false };
	uint64_t size = 0, n_ranks = 0;
	bool hosts = false;
	struct ws_err err;

	for (size_t i = 0; i < outputs->n; i++) {
		const struct set_output *at = &outputs->at[i];

		if (strcmp(at->ext, "json") != 0 ||
		    !ws_str_ends(ws_str_from(at->stem), "metadata") ||
		    prof_job_read(at->path, &job, &err) || !job.known)
			continue;
		size = WS_MAX(size, job.size);
		hosts |= n_ranks && strcmp(job.hostname, other.hostname) != 0;
		other = job;
		n_ranks++;
	}
	if (n_ranks < size)
		ws_log_warn("the job had %llu ranks, and there is output of %llu",
			    (unsigned long long)size, (unsigned long long)n_ranks);
	if (hosts)
		ws_log_warn("the ranks ran on several hosts: the clocks of their traces are not "
			    "aligned");
}

static size_t n_processes(const struct set_outputs *outputs)
{
	size_t most = 0;

	for (size_t i = 0, n; i < outputs->n; i += n) {
		n = set_outputs_group(outputs, i);
		most = WS_MAX(most, n);
	}
	return most;
}

static void print_path(void *ctx, const char *path)
{
	(void)ctx;
	printf("%s\n", path);
}

static enum ws_status run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct merge_args *args = call->values;
	struct set_outputs outputs = { .max_n = OUTPUTS_MAX };
	struct sys_merge how = {
		.traces = true, .profiles = true, .collapse = args->collapse, .written = print_path
	};
	struct ws_arena arena;
	enum ws_status st = WS_OK;

	(void)exit_code;
	if (!call->rest.n)
		return ws_fail(err, WS_E_USAGE, "no folder: name the output folder of the ranks");
	how.to = args->to ? args->to : call->rest.operands[0];
	ws_arena_init(&arena, ARENA_MAX);
	for (int i = 0; i < call->rest.n && !st; i++) {
		set_outputs_await(call->rest.operands[i], args->wait_s);
		st = set_outputs_add(&outputs, call->rest.operands[i], &arena, err);
	}
	if (!st)
		st = set_outputs_sort(&outputs, err);
	if (!st && n_processes(&outputs) < 2) {
		puts("There is output of one process only: nothing to merge.");
	} else if (!st) {
		check_job(&outputs);
		if (args->to)
			st = ws_mkdirs(args->to, err);
		if (!st)
			st = sys_merge_outputs(&outputs, &how, err);
	}
	ws_vec_fini(&outputs);
	ws_arena_fini(&arena);
	return st;
}

const struct ws_cmd cmd_rocprof_sys_merge_output = {
	.name = "rocprof-sys-merge-output",
	.summary = "merge the output of the ranks of a job",
	.usage = "[options] DIR...",
	.about = "Reads what rocprof-sys-run or rocprof-sys-sample wrote for each rank of a job, "
		 "and "
		 "writes merged.proto, the traces of all ranks on one timeline, and the tables of "
		 "all "
		 "ranks: merged-wall_clock.txt and merged-wall_clock.json, and the same for every "
		 "other table. Tables are made from JSON files. Name several folders if the ranks "
		 "wrote to several.",
	.notes = "The files of the ranks are kept. In tables, a row begins with the rank and the\n"
		 "thread: |3|0>>> main.\n"
		 "\n"
		 "The ranks of one host share a clock. Traces of several hosts are merged as\n"
		 "they are.\n"
		 "\n"
		 "Example:\n"
		 "  mpirun -n 4 rocprof-sys-sample -TP -o out -- python3 train.py\n"
		 "  rocprof-sys-merge-output out/2026-01-31_12.30",
	.opts = { rows, WS_ARRAY_LEN(rows) },
	.values_bytes = sizeof(struct merge_args),
	.run = run,
};
