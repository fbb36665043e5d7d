#include "workload/merge.h"

#include "base/arena.h"
#include "base/path.h"
#include "workload/names.h"
#include "workload/outfile.h"
#include "workload/sheet.h"
#include "workload/workload.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void wl_merge_remove(const char *dir)
{
	char path[PATH_MAX];

	if (!ws_path_join(dir, WL_FILE_MERGED, path, NULL))
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

static enum ws_status write_frame(const struct wl_workload *load, const char *dir,
				  struct ws_err *err)
{
	const struct wl_frame *frame = load->frames[0];
	const char *arch = load->arch;
	struct wl_outfile file;
	enum ws_status st = wl_outfile_open(&file, dir, WL_FILE_MERGED, err);

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

enum ws_status wl_merge_long(const char *dir, size_t *out_n, struct ws_err *err)
{
	struct wl_outfile file;
	struct ws_arena arena;
	enum ws_status st = wl_outfile_open(&file, dir, WL_FILE_MERGED, err);

	if (st)
		return st;
	*out_n = 0;
	ws_arena_init(&arena, 16u << 20);
	for (size_t i = 0; !st; i++) {
		const char *name = wl_pass_file("", i, true, &arena);
		char path[PATH_MAX];

		st = name ? ws_path_join(dir, name, path, err)
			  : ws_fail(err, WS_E_NOMEM, "out of memory");
		if (!st && !ws_path_exists(path))
			break;
		if (!st)
			st = append_rows(file.to, path, i == 0, err);
		*out_n = i + 1;
	}
	ws_arena_fini(&arena);
	if (!st)
		return wl_outfile_commit(&file, err);
	wl_outfile_abandon(&file);
	return st;
}

enum ws_status wl_merge_wide(const char *dir, enum trc_alike alike, size_t *out_n,
			     struct ws_err *err)
{
	const struct wl_workload_how how = {
		.kernel_verbose = 5, /* names as they are */
		.join = alike == TRC_ALIKE_KERNEL ? "kernel" : "grid",
	};
	struct wl_workload *load = NULL;
	enum ws_status st;

	wl_merge_remove(dir); /* the reader would take it for the profile */
	st = wl_workload_open(dir, &how, &load, err);
	if (!st)
		st = write_frame(load, dir, err);
	if (!st)
		*out_n = load->frames[0]->n_rows;
	wl_workload_close(load);
	return st;
}
