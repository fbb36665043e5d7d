/* wavescope merge: the captures or databases of all ranks as one trace with one clock. */
#include "cmd/merge_inputs.h"

#include "base/file.h"
#include "base/log.h"
#include "base/opt.h"
#include "base/str.h"
#include "base/util.h"
#include "cmd/wavescope/wavescope.h"
#include "output/output.h"
#include "output/systrace.h"
#include "profile/frames.h"
#include "ranks/report.h"
#include "rocpd/rocpd.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define ROWS_DEFAULT 10
#define PID_STEP (1u << 22) /* Linux has no larger pids */
#define TEXT_MAX (16u << 20)

enum merge_format { MERGE_PFTRACE, MERGE_ROCPD, MERGE_CSV, MERGE_JSON, MERGE_FORMAT_COUNT };
static const char *const format_words[] = { "pftrace", "rocpd", "csv", "json", NULL };

struct merge_args {
	struct ws_strv formats;
	const char *output_file, *output_path;
	struct rnk_align_opts align;
	uint64_t rows;
};

static const struct ws_opt merge_opts[] = {
	WS_OPT_GROUP("Output"),
	WS_OPT_STR(struct merge_args, output_file, 'o', "output-file", "NAME",
		   "beginning of the file names. Default: merged"),
	WS_OPT_STR(struct merge_args, output_path, 'd', "output-path", "DIR",
		   "folder of the files. Default: the current one"),
	WS_OPT_SOME_OF(struct merge_args, formats, 'f', "output-format", "FORMAT", format_words,
		       "pftrace, rocpd, csv, json: one or more. Default: pftrace csv json"),
	WS_OPT_U64(struct merge_args, rows, 'n', "rows", "N",
		   "rows of each printed table; 0: all. Default: 10"),
	WS_OPT_GROUP("Clocks of several nodes"),
	WS_OPT_BOOL(struct merge_args, align.assume_aligned, 0, "assume-aligned",
		    "CLOCK_REALTIME is the same on all nodes (NTP, PTP): use it instead of an "
		    "estimate. The output says so"),
	WS_OPT_STR(struct merge_args, align.collective_kernels, 0, "collective-kernels", "REGEX",
		   "kernels that all ranks run together, in the same order, such as "
		   "'ncclDevKernel_AllReduce': they align clocks, and have waits"),
};

static void set_defaults(void *values)
{
	((struct merge_args *)values)->rows = ROWS_DEFAULT;
}

/* ---- the job, and its files ---- */

struct merge {
	const struct merge_args *args;
	struct trc_trace *trace;
	struct rnk_job *job;
	struct rnk_imbalance *imbalance;
	char prefix[PATH_MAX];
	uint32_t formats; /* bit per enum merge_format */
	uint64_t n_events;
};

static uint32_t chosen_formats(const struct merge_args *args)
{
	uint32_t formats = 0;

	for (size_t i = 0; i < args->formats.n; i++)
		for (unsigned k = 0; k < MERGE_FORMAT_COUNT; k++)
			if (strcmp(args->formats.at[i], format_words[k]) == 0)
				formats |= 1u << k;
	return formats ? formats : 1u << MERGE_PFTRACE | 1u << MERGE_CSV | 1u << MERGE_JSON;
}

static enum ws_status path_of(const struct merge *m, const char *suffix, char out[PATH_MAX],
			      struct ws_err *err)
{
	if (snprintf(out, PATH_MAX, "%s%s", m->prefix, suffix) >= PATH_MAX)
		return ws_fail(err, WS_E_LIMIT, "'%s%s' is too long", m->prefix, suffix);
	return WS_OK;
}

static void say_written(const char *path)
{
	ws_print(stdout, "  %s\n", path);
}

/* ---- Perfetto: a group of tracks per process, called after its rank ---- */

static enum ws_status append_file(const char *path, FILE *to, struct ws_err *err)
{
	static char bytes[1 << 18];
	FILE *from = fopen(path, "rb");
	size_t n;

	if (!from)
		return ws_fail(err, WS_E_IO, "cannot read '%s'", path);
	while ((n = fread(bytes, 1, sizeof(bytes), from)))
		if (fwrite(bytes, 1, n, to) != n)
			break;
	fclose(from);
	return WS_OK; /* what could not be written is reported at the end */
}

static bool has_stacks(const struct trc_process *process)
{
	return process->ledger[CAP_DOMAIN_CALL_STACK_SAMPLING].written ||
	       process->ledger[CAP_DOMAIN_REGIONS].written;
}

static enum ws_status put_member(struct merge *m, const struct rnk_member *member,
				 const char *piece, FILE *to, struct ws_err *err)
{
	const struct rnk_node *node = &m->job->nodes[member->node];
	struct prof_frames_opts how = { .drop_internal = true };
	struct output_systrace_opts opts = { .annotations = true };
	struct output_systrace_result result;
	char name[256], label[96];
	enum ws_status st = WS_OK;

	if (member->ranked)
		snprintf(name, sizeof(name), "rank %" PRIu64 "%s: %s", member->rank,
			 member->first ? "" : " (child)", trc_process_program(member->process));
	else
		snprintf(name, sizeof(name), "no rank: %s", trc_process_program(member->process));
	if (m->job->n_nodes > 1)
		snprintf(name + strlen(name), sizeof(name) - strlen(name), " on %s", node->host);
	rnk_clock_text(node, label, sizeof(label));
	opts.process_name = name;
	opts.label = *label ? label : NULL;
	opts.pid_base = (uint32_t)member->node * PID_STEP;
	if (has_stacks(member->process))
		st = prof_frames_open(member->process, &how, &opts.frames, err);
	if (!st)
		st = output_systrace_write(m->trace, member->process, &opts, piece, &result, err);
	prof_frames_close(opts.frames);
	if (!st)
		st = append_file(piece, to, err);
	unlink(piece);
	return st;
}

static enum ws_status write_pftrace(struct merge *m, struct ws_err *err)
{
	char path[PATH_MAX], piece[PATH_MAX];
	FILE *file = NULL;
	enum ws_status st = path_of(m, "_results.pftrace", path, err);

	if (!st)
		st = path_of(m, "_results.pftrace.rank", piece, err);
	if (!st)
		st = ws_file_begin(path, &file, err);
	for (size_t i = 0; !st && i < m->job->n_members; i++)
		st = put_member(m, &m->job->members[i], piece, file, err);
	if (st) {
		ws_file_discard(path, file);
		return st;
	}
	st = ws_file_commit(path, file, err);
	if (!st)
		say_written(path);
	return st;
}

/* ---- a database, with the clocks as metadata ---- */

static enum ws_status write_rocpd(struct merge *m, const char *json_path, struct ws_err *err)
{
	const struct trc_process **processes = calloc(m->job->n_members, sizeof(*processes));
	struct output_result result = { .n_files = 0 };
	struct output_config cfg;
	struct ws_buf json;
	enum ws_status st;

	if (!processes)
		return ws_fail(err, WS_E_NOMEM, "%zu processes", m->job->n_members);
	for (size_t i = 0; i < m->job->n_members; i++)
		processes[i] = m->job->members[i].process;
	ws_buf_init(&json, (size_t)1 << 30);
	output_config_init(&cfg);
	cfg.formats = OUTPUT_BIT(ROCPD);
	cfg.prefix = m->prefix;
	st = output_write(m->trace, processes, m->job->n_members, &cfg, &result, err);
	if (!st)
		st = ws_file_read(json_path, &json, err);
	for (size_t i = 0; !st && i < result.n_files; i++) {
		st = rpd_add_metadata(result.files[i].path, "wavescope_ranks", json.at, err);
		if (!st)
			say_written(result.files[i].path);
	}
	output_result_fini(&result);
	ws_buf_fini(&json);
	free(processes);
	return st;
}

static enum ws_status write_report(struct merge *m, enum rnk_file file, bool say,
				   char out_path[PATH_MAX], struct ws_err *err)
{
	enum ws_status st = path_of(m, rnk_file_suffixes[file], out_path, err);

	if (!st)
		st = rnk_report_write(m->job, m->imbalance, file, out_path, err);
	if (!st && say)
		say_written(out_path);
	return st;
}

static enum ws_status write_files(struct merge *m, struct ws_err *err)
{
	bool csv = m->formats >> MERGE_CSV & 1, json = m->formats >> MERGE_JSON & 1;
	bool rocpd = m->formats >> MERGE_ROCPD & 1;
	char path[PATH_MAX];
	enum ws_status st = WS_OK;

	printf("\nFiles\n");
	if (m->formats >> MERGE_PFTRACE & 1)
		st = write_pftrace(m, err);
	for (unsigned i = 0; !st && csv && i < RNK_FILE_JSON; i++)
		st = write_report(m, i, true, path, err);
	if (!st && (json || rocpd))
		st = write_report(m, RNK_FILE_JSON, json, path, err);
	if (!st && rocpd)
		st = write_rocpd(m, path, err);
	if (rocpd && !json)
		unlink(path);
	return st;
}

/* ---- the command ---- */

static enum ws_status check_any(struct merge *m, struct ws_err *err)
{
	for (size_t i = 0; i < m->job->n_members; i++)
		for (unsigned d = 0; d < CAP_DOMAIN_COUNT; d++)
			m->n_events += m->job->members[i].process->ledger[d].written;
	return m->n_events ? WS_OK
			   : ws_fail(err, WS_E_NOTFOUND,
				     "%zu captures, and no event in any of them: nothing to merge",
				     m->job->n_members);
}

static enum ws_status print_report(const struct merge *m, struct ws_err *err)
{
	struct ws_buf text;
	enum ws_status st;

	ws_buf_init(&text, TEXT_MAX);
	ws_buf_printf(&text, "%zu ranks on %zu %s, %zu processes, %" PRIu64 " events\n\n",
		      m->job->n_ranks, m->job->n_nodes, m->job->n_nodes == 1 ? "node" : "nodes",
		      m->job->n_members, m->n_events);
	rnk_report_text(m->job, m->imbalance, ws_help_columns(), m->args->rows, &text);
	st = ws_buf_status(&text, err);
	if (!st)
		ws_print(stdout, "%s", text.at);
	ws_buf_fini(&text);
	return st;
}

static enum ws_status merge_captures(struct merge *m, const struct merge_inputs *inputs,
				     struct ws_err *err)
{
	const struct ws_strv *captures = &inputs->captures;
	struct rnk_align_opts align = m->args->align;
	enum ws_status st = trc_open(captures->at, captures->n, NULL, &m->trace, err);

	align.stamp_files = &inputs->clocks;
	if (!st)
		st = rnk_job_open(m->trace, &m->job, err);
	if (!st)
		st = check_any(m, err);
	if (!st)
		st = rnk_job_align(m->job, &align, err);
	for (size_t i = 0; m->job && i < m->job->notes.n; i++)
		ws_log_warn("%s", m->job->notes.at[i]);
	if (!st)
		st = rnk_imbalance_create(m->job, m->args->align.collective_kernels, &m->imbalance,
					  err);
	if (!st)
		st = print_report(m, err);
	return st ? st : write_files(m, err);
}

static enum ws_status run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct merge_args *args = call->values;
	const char *name = args->output_file ? args->output_file : "merged";
	struct merge m = { .args = args, .formats = chosen_formats(args) };
	struct merge_inputs inputs = { .folder = "" };
	struct rlimit limit;
	char own[PATH_MAX];
	enum ws_status st = WS_OK;

	if (!call->rest.n)
		return ws_fail(err, WS_E_USAGE,
			       "nothing to merge: name the output folders, captures or databases "
			       "of all ranks");
	/* One file per rank is open, and the usual limit is 1024. */
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (snprintf(m.prefix, sizeof(m.prefix), "%s%s%s",
		     args->output_path ? args->output_path : "", args->output_path ? "/" : "",
		     name) >= (int)sizeof(m.prefix))
		return ws_fail(err, WS_E_USAGE, "--output-path and --output-file are too long");
	if (args->output_path)
		st = ws_mkdirs(args->output_path, err);
	if (!st)
		st = path_of(&m, "_results.db", own, err);
	if (!st)
		st = merge_inputs_find(call->rest.operands, call->rest.n, own, &inputs, err);
	if (!st)
		st = merge_captures(&m, &inputs, err);
	rnk_imbalance_destroy(m.imbalance);
	rnk_job_close(m.job);
	trc_close(m.trace);
	merge_inputs_release(&inputs);
	return st;
}

const struct ws_cmd wavescope_merge_cmd = {
	.name = "merge",
	.summary = "merge the recordings of many ranks into one trace",
	.usage = "[options] DIR|FILE...",
	.about =
		"Merges the captures (*.wcap) or rocpd databases (*.db) of all ranks of a parallel "
		"program. The clocks of several nodes are aligned by the collectives of MPI "
		"and RCCL that ranks ran together: none ends before the last rank has entered. "
		"Prints the "
		"offset of each clock with its uncertainty, and which ranks the others wait for.",
	.notes = "Examples:\n"
		 "  mpirun -n 8 rocprof-sys-run --keep-captures -T -o out -- ./app\n"
		 "  wavescope merge out\n"
		 "\n"
		 "  mpirun -n 8 rocprofv3 --kernel-trace -d out -- ./app\n"
		 "  wavescope merge out --assume-aligned\n"
		 "\n"
		 "Exit code:\n"
		 "  1 if nothing can be merged, or the clocks of the nodes are not known;\n"
		 "  2 for wrong options.",
	.opts = { merge_opts, WS_ARRAY_LEN(merge_opts) },
	.values_bytes = sizeof(struct merge_args),
	.set_defaults = set_defaults,
	.run = run,
};
