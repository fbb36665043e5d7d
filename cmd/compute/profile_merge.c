/*
 * --merge: pmc_perf.csv, all passes joined, for ROCm Compute Profiler 3.3 and before, whose
 * analyze does not join passes itself. Analyze's own reader joins them here, so there is one
 * set of rules.
 */
#include "cmd/compute/profile.h"

#include "analysis/workload.h"
#include "cmd/compute/say.h"
#include "workload/outfile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MERGED_NAME "pmc_perf.csv"

void pf_merge_forget(const struct pf *pf)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", pf->dir, MERGED_NAME);
	unlink(path);
}

static void put_cell(FILE *to, const struct ws_workload *load, const struct ws_column *column,
		     size_t row, char end)
{
	if (strcmp(column->name, "Kernel_Name") == 0)
		ws_put_text(to, load->kernels[load->kernel_of[row]].name, end);
	else
		ws_put_number(to, column->is_text ? NAN : column->at[row], end);
}

static enum ws_status write_frame(const struct ws_workload *load, const char *dir,
				  struct ws_err *err)
{
	const struct ws_frame *frame = load->frames[0];
	struct ws_outfile file;
	enum ws_status st = ws_outfile_open(&file, dir, MERGED_NAME, err);

	if (st)
		return st;
	for (size_t c = 0; c < frame->n_columns; c++)
		ws_put_text(file.to, frame->columns[c].name, c + 1 < frame->n_columns ? ',' : '\n');
	for (size_t i = 0; i < frame->n_rows; i++)
		for (size_t c = 0; c < frame->n_columns; c++)
			put_cell(file.to, load, &frame->columns[c], i,
				 c + 1 < frame->n_columns ? ',' : '\n');
	return ws_outfile_commit(&file, err);
}

enum ws_status pf_merge(const struct pf *pf, struct ws_err *err)
{
	const struct ws_workload_how how = {
		.kernel_verbose = 5, /* names as they are */
		.join = pf_join_names[pf->args->join_type],
	};
	struct ws_workload *load = NULL;
	enum ws_status st;

	if (!pf->args->merge)
		return WS_OK;
	pf_merge_forget(pf);
	st = ws_workload_open(pf->dir, &how, &load, err);
	if (!st)
		st = write_frame(load, pf->dir, err);
	if (!st)
		say(SAY_INFO, "%s has %zu dispatches, all passes joined", MERGED_NAME,
		    load->frames[0]->n_rows);
	ws_workload_close(load);
	return st ? ws_fail_in(err, st, "--merge") : WS_OK;
}
