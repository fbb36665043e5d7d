/* perfmon/<pass>.txt: what a pass counts, in the form that rocprof takes as its input. */
#include "workload/names.h"
#include "workload/outfile.h"
#include "workload/sheet.h"

#include "base/file.h"
#include "base/path.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* AMD's order of blocks on the pmc: line; SQC counts with SQ. */
static const char *const block_order[] = { "SQ",  "TA",  "TD",  "TCP",  "TCC",
					   "CPC", "CPF", "SPI", "GRBM", "GDS" };

static const char *block_of(const struct wl_sheets *sheets, const struct wl_sheet_column *column)
{
	const struct cnt_counter_def *counter = sheets->plan->requests[column->request].counter;
	const char *name = counter && counter->block ? counter->block->name : "";

	return strcmp(name, "SQC") == 0 ? "SQ" : name;
}

static bool in_order(const char *block)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(block_order); i++)
		if (strcmp(block, block_order[i]) == 0)
			return true;
	return false;
}

static bool is_accumulated(const struct wl_sheet_column *column)
{
	return strcmp(column->name, column->header) != 0;
}

static void print_accumulated(FILE *to, const struct wl_sheet *sheet)
{
	for (size_t i = 0; i < sheet->n_columns; i++)
		if (is_accumulated(&sheet->columns[i]))
			fprintf(to, " %s", sheet->columns[i].name);
}

static void print_names(FILE *to, const struct wl_sheets *sheets, const struct wl_sheet *sheet)
{
	for (size_t b = 0; b <= WS_ARRAY_LEN(block_order); b++)
		for (size_t i = 0; i < sheet->n_columns; i++) {
			const char *block = block_of(sheets, &sheet->columns[i]);

			/* The last round takes blocks that have no place in the order. */
			if (b < WS_ARRAY_LEN(block_order) ? strcmp(block, block_order[b]) != 0
							  : in_order(block))
				continue;
			/* An accumulated level stands behind its level, as rocprof wants it. */
			if (is_accumulated(&sheet->columns[i]))
				continue;
			fprintf(to, " %s", sheet->columns[i].name);
			if (sheet->level && strcmp(sheet->columns[i].name, sheet->level) == 0)
				print_accumulated(to, sheet);
		}
}

static bool has_channels(const struct wl_sheet *sheet)
{
	for (size_t i = 0; i < sheet->n_columns; i++)
		if (sheet->columns[i].instance >= 0)
			return true;
	return false;
}

/* Flat numbers are over all dies: AMD's collector needs to know what they stand for. */
static void print_definitions(FILE *to, const struct wl_sheets *sheets,
			      const struct wl_sheet *sheet)
{
	fputs("rocprofiler-sdk:\n  counters-schema-version: 1\n  counters:\n", to);
	for (size_t i = 0; i < sheet->n_columns; i++) {
		const struct wl_sheet_column *column = &sheet->columns[i];
		const struct cnt_counter_def *counter =
			sheets->plan->requests[column->request].counter;
		uint32_t index[CNT_SHAPE_MAX], xcc = 0, channel = 0;

		if (column->instance < 0)
			continue;
		cnt_shape_index(&counter->shape, (size_t)column->instance, index);
		for (unsigned d = 0; d < counter->shape.n_dims; d++)
			if (counter->shape.at[d].dim == CNT_DIM_XCC)
				xcc = index[d];
			else
				channel = index[d];
		fprintf(to,
			"  - name: %s\n"
			"    description: %s on %uth XCC and %uth channel\n"
			"    properties: []\n"
			"    definitions:\n"
			"    - architectures:\n"
			"      - %s\n"
			"      expression: select(%s,[DIMENSION_XCC=[%u], "
			"DIMENSION_INSTANCE=[%u]])\n",
			column->name, counter->name, xcc, channel,
			cnt_catalogue_arch(sheets->plan->cat), counter->name, xcc, channel);
	}
}

static enum ws_status write_file(const struct wl_sheets *sheets, const struct wl_sheet *sheet,
				 const struct wl_perfmon_filter *filter, const char *dir,
				 const char *suffix, struct ws_err *err)
{
	struct wl_outfile file;
	char name[300];
	enum ws_status st;

	snprintf(name, sizeof(name), "%s.%s", sheet->name, suffix);
	st = wl_outfile_open(&file, dir, name, err);
	if (st)
		return st;
	if (strcmp(suffix, "yaml") == 0) {
		print_definitions(file.to, sheets, sheet);
	} else {
		fputs("pmc:", file.to);
		print_names(file.to, sheets, sheet);
		fprintf(file.to, "\n\ngpu:\nrange:%s%s\nkernel:%s%s\n", filter->ranges ? " " : "",
			filter->ranges ? filter->ranges : "", filter->kernels ? " " : "",
			filter->kernels ? filter->kernels : "");
	}
	return wl_outfile_commit(&file, err);
}

enum ws_status wl_perfmon_write(const struct wl_sheets *sheets, const struct wl_sheet *sheet,
				const struct wl_perfmon_filter *filter, const char *dir,
				struct ws_err *err)
{
	char perfmon[PATH_MAX];
	enum ws_status st = ws_path_join(dir, WL_DIR_PERFMON, perfmon, err);

	if (!st)
		st = ws_mkdirs(perfmon, err);
	if (!st)
		st = write_file(sheets, sheet, filter, perfmon, "txt", err);
	if (!st && has_channels(sheet))
		st = write_file(sheets, sheet, filter, perfmon, "yaml", err);
	return st;
}

void wl_perfmon_remove(const char *dir, const char *name)
{
	static const char *const suffixes[] = { "txt", "yaml" };

	for (size_t i = 0; i < WS_ARRAY_LEN(suffixes); i++) {
		char path[2 * PATH_MAX];

		snprintf(path, sizeof(path), "%s/" WL_DIR_PERFMON "/%s.%s", dir, name, suffixes[i]);
		unlink(path);
	}
}
