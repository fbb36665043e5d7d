/*
 * --merge: pmc_perf.csv, all passes joined, for ROCm Compute Profiler 3.3 and before, whose
 * analyze does not join passes itself. Analyze's own reader joins them here, so there is one
 * set of rules. Of the long form, which 3.3 knows as well, one file is the rows of all.
 */
#include "cmd/compute/profile.h"

#include "base/path.h"
#include "cmd/compute/say.h"
#include "workload/names.h"
#include "workload/outfile.h"
#include "workload/workload.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MERGED_NAME WL_FILE_MERGED

void pf_merge_forget(const struct pf *pf)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", pf->dir, MERGED_NAME);
	unlink(path);
}

static void put_cell(FILE *to, const struct wl_workload *load, const struct wl_column *column,
		     size_t row, char end)
{
	if (strcmp(column->name, WL_COL_KERNEL) == 0)
		wl_put_text(to, load->kernels[load->kernel_of[row]].name, end);
	else
		wl_put_number(to, column->is_text ? NAN : column->at[row], end);
}

/*
 * On gfx908 formulas ask for TCC_EA_ counters up to 3.2 and for TCC_EA0_ in 3.3. They are the
 * same counters, so the file has them under both names.
 */
static bool has_two_names(const char *arch, const char *counter)
{
	return strcmp(arch, "gfx908") == 0 && strncmp(counter, "TCC_EA0_", 8) == 0;
}

static enum ws_status write_frame(const struct wl_workload *load, const struct pf *pf,
				  struct ws_err *err)
{
	const struct wl_frame *frame = load->frames[0];
	const char *arch = pf->gpu->arch;
	struct wl_outfile file;
	enum ws_status st = wl_outfile_open(&file, pf->dir, MERGED_NAME, err);

	if (st)
		return st;
	for (size_t c = 0; c < frame->n_columns; c++) {
		const char *name = frame->columns[c].name;

		if (has_two_names(arch, name))
			fprintf(file.to, "TCC_EA_%s,", name + strlen("TCC_EA0_"));
		wl_put_text(file.to, name, c + 1 < frame->n_columns ? ',' : '\n');
	}
	for (size_t i = 0; i < frame->n_rows; i++)
		for (size_t c = 0; c < frame->n_columns; c++) {
			const struct wl_column *column = &frame->columns[c];

			if (has_two_names(arch, column->name))
				put_cell(file.to, load, column, i, ',');
			put_cell(file.to, load, column, i, c + 1 < frame->n_columns ? ',' : '\n');
		}
	return wl_outfile_commit(&file, err);
}

static enum ws_status append_rows(FILE *to, const char *path, bool with_header, struct ws_err *err)
{
	FILE *from = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	if (!from)
		return ws_fail_errno(err, errno, "'%s'", path);
	for (bool first = true; (n = getline(&line, &room, from)) > 0; first = false)
		if (!first || with_header)
			fwrite(line, 1, (size_t)n, to);
	free(line);
	fclose(from);
	return WS_OK;
}

static enum ws_status write_long(const char *dir, size_t *out_n, struct ws_err *err)
{
	struct wl_outfile file;
	char path[2 * PATH_MAX];
	enum ws_status st = wl_outfile_open(&file, dir, MERGED_NAME, err);

	if (st)
		return st;
	for (size_t i = 0; !st; i++) {
		snprintf(path, sizeof(path), "%s/results_%zu.csv", dir, i);
		if (!ws_path_exists(path))
			break;
		st = append_rows(file.to, path, i == 0, err);
		*out_n = i + 1;
	}
	if (st) {
		wl_outfile_abandon(&file);
		return st;
	}
	return wl_outfile_commit(&file, err);
}

enum ws_status pf_merge(const struct pf *pf, struct ws_err *err)
{
	const struct wl_workload_how how = {
		.kernel_verbose = 5, /* names as they are */
		.join = pf_join_names[pf->args->join_type],
	};
	struct wl_workload *load = NULL;
	size_t n = 0;
	enum ws_status st;

	if (!pf->args->merge)
		return WS_OK;
	pf_merge_forget(pf);
	if (pf->args->format == PF_FORMAT_ROCPD) {
		st = write_long(pf->dir, &n, err);
		if (!st)
			say(SAY_INFO, "%s has the rows of %zu passes", MERGED_NAME, n);
		return st ? ws_fail_in(err, st, "--merge") : WS_OK;
	}
	st = wl_workload_open(pf->dir, &how, &load, err);
	if (!st)
		st = write_frame(load, pf, err);
	if (!st)
		say(SAY_INFO, "%s has %zu dispatches, all passes joined", MERGED_NAME,
		    load->frames[0]->n_rows);
	wl_workload_close(load);
	return st ? ws_fail_in(err, st, "--merge") : WS_OK;
}
