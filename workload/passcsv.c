/* <pass>.csv, results_<pass>.csv and timestamps.csv: the rows of a pass. */
#include "workload/names.h"
#include "workload/outfile.h"
#include "workload/sheet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *wl_pass_file(const char *name, size_t number, bool long_form, struct ws_arena *arena)
{
	return long_form ? ws_arena_printf(arena, WL_LONG_PREFIX "%zu" WL_CSV, number)
			 : ws_arena_printf(arena, "%s" WL_CSV, name);
}

/* Values of one row; a counter with all its channels is small. */
#define ROW_BYTES_MAX (64u << 20)

/* What a dispatch takes: seven columns that both layouts have in this order. */
#define SIZE_COLUMNS                                                                               \
	WL_COL_GRID "," WL_COL_WORKGROUP "," WL_COL_LDS "," WL_COL_SCRATCH "," WL_COL_ARCH_VGPR    \
		    "," WL_COL_ACCUM_VGPR "," WL_COL_SGPR ","

static const char fact_header[] =
	WL_COL_DISPATCH "," WL_COL_GPU "," WL_COL_QUEUE "," WL_COL_PID "," WL_COL_TID
			"," SIZE_COLUMNS WL_COL_WAVE_SIZE "," WL_COL_KERNEL "," WL_COL_START
			"," WL_COL_END "," WL_COL_CORRELATION "," WL_COL_KERNEL_ID;

static const char long_header[] =
	WL_COL_GPU "," WL_COL_DISPATCH "," SIZE_COLUMNS WL_COL_KERNEL "," WL_COL_START
		   "," WL_COL_END "," WL_COL_KERNEL_ID "," WL_COL_COUNTER "," WL_COL_VALUE "\n";

static uint64_t volume(const uint32_t size[3])
{
	return (uint64_t)size[0] * WS_MAX(size[1], 1u) * WS_MAX(size[2], 1u);
}

static void print_size(FILE *to, const struct trc_counted_row *row)
{
	const struct cap_rec_kernel *kernel = row->kernel->info;

	wl_put_u64(to, volume(row->grid), ',');
	wl_put_u64(to, volume(row->workgroup), ',');
	wl_put_u64(to, row->group_bytes, ',');
	wl_put_u64(to, row->private_bytes, ',');
	wl_put_u64(to, kernel ? kernel->arch_vgpr_count : 0, ',');
	wl_put_u64(to, kernel ? kernel->accum_vgpr_count : 0, ',');
	wl_put_u64(to, kernel ? kernel->sgpr_count : 0, ',');
}

static void print_facts(FILE *to, const struct trc_counted_row *row, size_t number, char end)
{
	const struct cap_rec_agent *agent = row->agent ? row->agent->info : NULL;

	wl_put_u64(to, number, ',');
	wl_put_u64(to, agent && agent->gpu_index > 0 ? (uint64_t)agent->gpu_index : 0, ',');
	wl_put_u64(to, row->queue->id, ',');
	wl_put_u64(to, row->process->pid, ',');
	wl_put_u64(to, row->thread->tid, ',');
	print_size(to, row);
	wl_put_u64(to, agent ? agent->wave_front_size : 0, ',');
	wl_put_text(to, row->kernel->formatted, ',');
	wl_put_u64(to, row->start_ns, ',');
	wl_put_u64(to, row->end_ns, ',');
	wl_put_u64(to, row->corr_id, ',');
	wl_put_u64(to, row->kernel->id, end);
}

/* What a row's samples are, read by read; and the values of requests made from them. */
struct reader {
	const struct wl_sheets *sheets;
	const struct trc_counted *table;
	const struct trc_counted_column **of_read; /* NULL: not counted */
	struct cnt_plan_sample *samples;
	struct ws_arena arena;
};

static enum ws_status reader_init(struct reader *r, const struct wl_sheets *sheets,
				  const struct trc_counted *table, struct ws_err *err)
{
	size_t n = sheets->plan->n_reads;

	*r = (struct reader){ .sheets = sheets, .table = table };
	ws_arena_init(&r->arena, ROW_BYTES_MAX);
	r->of_read = calloc(n + 1, sizeof(*r->of_read));
	r->samples = calloc(n + 1, sizeof(*r->samples));
	if (!r->of_read || !r->samples)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t i = 0; i < n; i++)
		r->of_read[i] = trc_counted_find(table, sheets->plan->reads[i].spelling);
	return WS_OK;
}

static void reader_fini(struct reader *r)
{
	free(r->of_read);
	free(r->samples);
	ws_arena_fini(&r->arena);
}

/* Point the samples at one row. Instances that this row's GPU does not have are NaN at the end. */
static void reader_seek(struct reader *r, const struct wl_sheet_rows *rows, size_t row)
{
	const struct cnt_plan *plan = r->sheets->plan;

	ws_arena_reset(&r->arena);
	for (size_t i = 0; i < plan->n_reads; i++) {
		const struct trc_counted_column *column = r->of_read[i];
		const double *cells;
		size_t from = row;

		if (rows && rows->from)
			from = rows->from[row * plan->n_passes + plan->reads[i].pass];
		r->samples[i] = (struct cnt_plan_sample){ NULL, 0 };
		cells = from == WL_NO_ROW ? NULL : trc_counted_cells(r->table, from);
		if (!column || !column->n || !cells || isnan(cells[column->first]))
			continue;
		r->samples[i] = (struct cnt_plan_sample){ cells + column->first, column->n };
		while (r->samples[i].n && isnan(r->samples[i].at[r->samples[i].n - 1]))
			r->samples[i].n--;
	}
}

static enum ws_status value_of(struct reader *r, const struct wl_sheet_column *column,
			       struct cnt_values *kept, size_t *kept_for, double *out_value,
			       struct ws_err *err)
{
	enum ws_status st = WS_OK;

	*out_value = NAN;
	/* The channels of a counter stand side by side: its value is worked out once. */
	if (*kept_for != column->request) {
		st = cnt_plan_value(r->sheets->plan, column->request, r->samples, &r->arena, kept,
				    err);
		*kept_for = column->request;
	}
	if (st || !kept->n)
		return st;
	if (column->instance >= 0)
		*out_value = (size_t)column->instance < kept->n ? kept->at[column->instance] : NAN;
	else if (!cnt_values_total(kept, out_value))
		*out_value = NAN;
	return WS_OK;
}

enum ws_status wl_sheet_write_csv(const struct wl_sheets *sheets, const struct wl_sheet *sheet,
				  const struct trc_counted *table, const struct wl_sheet_rows *rows,
				  const char *dir, const char *name, struct ws_err *err)
{
	struct wl_outfile file = { .to = NULL };
	struct reader r;
	enum ws_status st = reader_init(&r, sheets, table, err);

	if (!st)
		st = wl_outfile_open(&file, dir, name, err);
	if (!st) {
		fputs(fact_header, file.to);
		for (size_t c = 0; c < sheet->n_columns; c++)
			fprintf(file.to, ",%s", sheet->columns[c].header);
		putc('\n', file.to);
	}
	for (size_t i = 0; i < trc_counted_n_rows(table) && !st; i++) {
		struct cnt_values kept = { .n = 0 };
		size_t kept_for = SIZE_MAX;

		reader_seek(&r, rows, i);
		print_facts(file.to, trc_counted_row(table, i), i, sheet->n_columns ? ',' : '\n');
		for (size_t c = 0; c < sheet->n_columns && !st; c++) {
			double value;

			st = value_of(&r, &sheet->columns[c], &kept, &kept_for, &value, err);
			wl_put_number(file.to, value, c + 1 < sheet->n_columns ? ',' : '\n');
		}
	}
	if (!st)
		st = wl_outfile_commit(&file, err);
	wl_outfile_abandon(&file);
	reader_fini(&r);
	return st;
}

static void print_long(FILE *to, const struct trc_counted_row *row, size_t number,
		       const char *counter, double value)
{
	const struct cap_rec_agent *agent = row->agent ? row->agent->info : NULL;

	wl_put_u64(to, agent ? agent->node_id : 0, ',');
	wl_put_u64(to, number, ',');
	print_size(to, row);
	wl_put_text(to, row->kernel->formatted, ',');
	wl_put_u64(to, row->start_ns, ',');
	wl_put_u64(to, row->end_ns, ',');
	wl_put_u64(to, row->kernel->id, ',');
	wl_put_text(to, counter, ',');
	wl_put_number(to, value, '\n');
}

enum ws_status wl_sheet_each(const struct wl_sheets *sheets, const struct wl_sheet *sheet,
			     const struct trc_counted *table, const struct wl_sheet_rows *rows,
			     void (*each)(void *of, size_t row,
					  const struct wl_sheet_column *column, double value),
			     void *of, struct ws_err *err)
{
	struct reader r;
	enum ws_status st = reader_init(&r, sheets, table, err);

	for (size_t i = 0; i < trc_counted_n_rows(table) && !st; i++) {
		struct cnt_values kept = { .n = 0 };
		size_t kept_for = SIZE_MAX;

		reader_seek(&r, rows, i);
		for (size_t c = 0; c < sheet->n_columns && !st; c++) {
			double value;

			st = value_of(&r, &sheet->columns[c], &kept, &kept_for, &value, err);
			if (!isnan(value))
				each(of, i, &sheet->columns[c], value);
		}
	}
	reader_fini(&r);
	return st;
}

struct long_file {
	FILE *to;
	const struct trc_counted *table;
	const uint32_t *number; /* or NULL */
};

static void put_long(void *of, size_t row, const struct wl_sheet_column *column, double value)
{
	const struct long_file *file = of;

	print_long(file->to, trc_counted_row(file->table, row),
		   file->number ? file->number[row] : row, column->name, value);
}

enum ws_status wl_sheet_write_long(const struct wl_sheets *sheets, const struct wl_sheet *sheet,
				   const struct trc_counted *table,
				   const struct wl_sheet_rows *rows, const char *dir,
				   const char *name, struct ws_err *err)
{
	struct long_file to = { .table = table, .number = rows ? rows->number : NULL };
	struct wl_outfile file;
	enum ws_status st = wl_outfile_open(&file, dir, name, err);

	if (st)
		return st;
	to.to = file.to;
	fputs(long_header, file.to);
	st = wl_sheet_each(sheets, sheet, table, rows, put_long, &to, err);
	if (!st)
		st = wl_outfile_commit(&file, err);
	wl_outfile_abandon(&file);
	return st;
}

enum ws_status wl_timestamps_write(const struct trc_counted *table, const char *dir,
				   struct ws_err *err)
{
	struct wl_outfile file;
	enum ws_status st = wl_outfile_open(&file, dir, WL_FILE_TIMESTAMPS, err);

	if (st)
		return st;
	fprintf(file.to, "%s\n", fact_header);
	for (size_t i = 0; i < trc_counted_n_rows(table); i++)
		print_facts(file.to, trc_counted_row(table, i), i, '\n');
	return wl_outfile_commit(&file, err);
}
