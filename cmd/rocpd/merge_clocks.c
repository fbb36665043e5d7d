/* rocpd merge: databases of several machines on one clock. */
#include "cmd/rocpd/merge_clocks.h"

#include "base/file.h"
#include "base/log.h"
#include "cmd/merge_inputs.h"
#include "ranks/report.h"
#include "rocpd/clock.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX (1u << 20)

static const char *guid_of(const struct trc_process *process)
{
	size_t n = strlen(RPD_GUID_CONFIG);

	for (size_t i = 0; i < process->n_config; i++)
		if (strncmp(process->config[i], RPD_GUID_CONFIG, n) == 0)
			return process->config[i] + n;
	return "";
}

/* Once per run: its processes are all of one machine. */
static enum ws_status move_runs(const struct rnk_job *job, const char *path, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (size_t i = 0; !st && i < job->n_members; i++) {
		const char *guid = guid_of(job->members[i].process);
		bool done = false;

		for (size_t k = 0; !done && k < i; k++)
			done = strcmp(guid_of(job->members[k].process), guid) == 0;
		if (!done && job->nodes[job->members[i].node].from != RNK_CLOCK_REFERENCE)
			st = rpd_clock_move(path, guid,
					    &job->nodes[job->members[i].node].offset.line, err);
	}
	return st;
}

static enum ws_status write_clocks(const struct rnk_job *job, const char *path, struct ws_err *err)
{
	static const struct rnk_imbalance none;
	char temporary[PATH_MAX + 16];
	struct ws_buf json, text;
	enum ws_status st;

	snprintf(temporary, sizeof(temporary), "%s.clocks", path);
	ws_buf_init(&json, (size_t)1 << 26);
	ws_buf_init(&text, TEXT_MAX);
	st = rnk_report_write(job, &none, RNK_FILE_JSON, temporary, err);
	if (!st)
		st = ws_file_read(temporary, &json, err);
	remove(temporary);
	if (!st)
		st = rpd_add_metadata(path, "wavescope_ranks", json.at, err);
	rnk_report_text(job, &none, 80, 0, &text);
	if (!st)
		ws_print(stdout, "%s", text.at);
	ws_buf_fini(&json);
	ws_buf_fini(&text);
	return st;
}

enum ws_status rocpd_merge_align(const struct ws_strv *files, const struct rnk_align_opts *opts,
				 const char *path, struct ws_err *err)
{
	struct merge_inputs inputs = { .folder = "" };
	struct trc_trace *trace = NULL;
	struct rnk_job *job = NULL;
	enum ws_status st;

	st = merge_inputs_find((char *const *)files->at, files->n, NULL, &inputs, err);
	if (!st)
		st = trc_open(inputs.captures.at, inputs.captures.n, NULL, &trace, err);
	if (!st)
		st = rnk_job_open(trace, &job, err);
	if (!st)
		st = rnk_job_align(job, opts, err);
	if (!st)
		st = rpd_merge_files(files, path, err);
	if (!st) {
		st = move_runs(job, path, err);
		if (!st)
			st = write_clocks(job, path, err);
		if (st)
			remove(path);
	}
	rnk_job_close(job);
	trc_close(trace);
	merge_inputs_release(&inputs);
	return st;
}
