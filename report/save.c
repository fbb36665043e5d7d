/* The report as text, and as files: CSV per table, JSON, SQLite. */
#include "base/file.h"
#include "base/utf8.h"
#include "report/report.h"
#include "workload/names.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Call @write for every table that has rows, in order; also for those not printed. */
static enum ws_status each_grid(struct rpt_report *rpt, void *of,
				enum ws_status (*write)(struct rpt_report *rpt, void *of,
							const struct ana_table *table,
							struct rpt_grid *grid, struct ws_err *err),
				struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (size_t b = 0; !st && b < rpt->metrics->n_blocks; b++) {
		const struct ana_block *block = rpt->metrics->blocks[b];

		for (size_t t = 0; !st && t < block->n_tables; t++) {
			const struct ana_table *table = block->tables[t];
			struct rpt_grid grid;

			if (!rpt_shows_table(rpt, table))
				continue;
			if (rpt->n_runs > 1 && table->kind != ANA_TABLE_SYSINFO)
				st = rpt_compare_grid(rpt, table, &grid, err);
			else
				st = rpt_metric_grid(rpt, &rpt->runs[0], table, true, &grid, err);
			if (!st && grid.n_rows)
				st = write(rpt, of, table, &grid, err);
		}
	}
	return st;
}

static enum ws_status write_csv(struct rpt_report *rpt, void *of, const struct ana_table *table,
				struct rpt_grid *grid, struct ws_err *err)
{
	const struct ana_block *block = ana_block_find(rpt->metrics, table->block);
	char *path = ws_arena_printf(&rpt->arena, "%s/%u.%u_%s.csv", (const char *)of, table->block,
				     table->index, table->title[0] ? table->title : block->title);
	struct ws_buf text;
	enum ws_status st;

	if (!path)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (char *c = path + strlen(of) + 1; *c; c++)
		if (*c == ' ' || *c == '/')
			*c = '_';
	if (table->kind != ANA_TABLE_SYSINFO) /* there the labels are the names */
		rpt_grid_drop_labels(grid);
	ws_buf_init(&text, SIZE_MAX);
	st = rpt_grid_csv(grid, &text, err);
	if (!st)
		st = ws_file_replace(path, text.at, text.n, err);
	ws_buf_fini(&text);
	return st;
}

enum ws_status rpt_save_csv(struct rpt_report *rpt, const char *dir, struct ws_err *err)
{
	enum ws_status st = ws_mkdirs(dir, err);

	if (st)
		return st;
	return each_grid(rpt, (void *)(uintptr_t)dir, write_csv, err);
}

/* JSON */

static void json_text(struct ws_buf *to, const char *text)
{
	struct ws_buf utf8;

	ws_buf_init(&utf8, SIZE_MAX);
	ws_buf_add_utf8(&utf8, text, strlen(text));
	ws_buf_add(to, "\"");
	for (const char *at = utf8.at; *at; at++) {
		if (*at == '"' || *at == '\\')
			ws_buf_printf(to, "\\%c", *at);
		else if ((unsigned char)*at < 32)
			ws_buf_printf(to, "\\u%04x", (unsigned)*at);
		else
			ws_buf_add_n(to, at, 1);
	}
	ws_buf_add(to, "\"");
	ws_buf_fini(&utf8);
}

/* The shortest digits that read back as the same number; what JSON cannot say is text. */
static void json_number(struct ws_buf *to, double number)
{
	char text[40];

	if (isinf(number)) {
		ws_buf_add(to, number < 0 ? "\"-inf\"" : "\"inf\"");
		return;
	}
	for (int digits = 6; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, number);
		if (strtod(text, NULL) == number)
			break;
	}
	ws_buf_add(to, text);
}

static void json_cell(struct ws_buf *to, const struct rpt_cell *cell)
{
	if (cell->kind == RPT_CELL_TEXT)
		json_text(to, cell->text);
	else if (cell->kind == RPT_CELL_NONE || isnan(cell->number))
		ws_buf_add(to, "null");
	else
		json_number(to, cell->number);
}

static enum ws_status write_json(struct rpt_report *rpt, void *of, const struct ana_table *table,
				 struct rpt_grid *grid, struct ws_err *err)
{
	struct ws_buf *to = of;

	ws_buf_printf(to, "%s\n    {\"id\": \"%u.%u\", \"title\": ",
		      to->at[to->n - 1] == '[' ? "" : ",", table->block, table->index);
	json_text(to, table->title);
	ws_buf_add(to, ", \"columns\": [");
	for (size_t c = 0; c < grid->n_columns; c++) {
		ws_buf_add(to, c ? ", " : "");
		json_text(to, grid->headers[c][0] ? grid->headers[c] : "index");
	}
	ws_buf_add(to, "], \"rows\": [");
	for (size_t r = 0; r < grid->n_rows; r++) {
		ws_buf_add(to, r ? ",\n      [" : "\n      [");
		for (size_t c = 0; c < grid->n_columns; c++) {
			ws_buf_add(to, c ? ", " : "");
			json_cell(to, &grid->cells[r * grid->n_columns + c]);
		}
		ws_buf_add(to, "]");
	}
	ws_buf_add(to, "]}");
	return ws_buf_status(to, err);
}

enum ws_status rpt_save_json(struct rpt_report *rpt, const char *path, struct ws_err *err)
{
	struct ws_buf text;
	enum ws_status st;

	ws_buf_init(&text, SIZE_MAX);
	ws_buf_add(&text, "{\n  \"format\": \"rocprof-compute-analysis\",\n  \"version\": 1,\n"
			  "  \"workloads\": [");
	for (size_t r = 0; r < rpt->n_runs; r++) {
		const struct rpt_run *run = &rpt->runs[r];

		ws_buf_add(&text, r ? ",\n    {\"path\": " : "\n    {\"path\": ");
		json_text(&text, run->path);
		ws_buf_printf(&text,
			      ", \"arch\": \"%s\", \"dispatches\": %zu, \"selected\": %zu, "
			      "\"rows_left_out\": %zu}",
			      run->load->arch, run->load->n_rows, run->rows.n,
			      run->load->n_rows_bad);
	}
	ws_buf_printf(&text,
		      "],\n  \"normal_unit\": \"%s\",\n  \"time_unit\": \"%s\",\n  \"tables\": [",
		      ana_norm_words[rpt->how->norm], rpt_time_word(rpt->how));
	st = each_grid(rpt, &text, write_json, err);
	ws_buf_add(&text, "]\n}\n");
	if (!st)
		st = ws_buf_status(&text, err);
	if (!st)
		st = ws_file_replace(path, text.at, text.n, err);
	ws_buf_fini(&text);
	return st;
}

/* SQLite: one row per cell, so that any question is one SELECT. */

static const char schema[] =
	"BEGIN;"
	"CREATE TABLE workload(id INTEGER PRIMARY KEY, path TEXT, arch TEXT, dispatches INTEGER,"
	" selected INTEGER);"
	"CREATE TABLE report_table(id TEXT PRIMARY KEY, title TEXT);"
	"CREATE TABLE cell(table_id TEXT, row INTEGER, row_id TEXT, name TEXT, column TEXT,"
	" column_index INTEGER, number REAL, text TEXT);"
	"CREATE VIEW metric AS SELECT row_id AS id, name, column, number FROM cell"
	" WHERE number IS NOT NULL AND row_id LIKE '%.%.%';";

static enum ws_status sql(sqlite3 *db, int rc, struct ws_err *err)
{
	return rc == SQLITE_OK || rc == SQLITE_DONE || rc == SQLITE_ROW
		       ? WS_OK
		       : ws_fail(err, WS_E_IO, "database: %s", sqlite3_errmsg(db));
}

static enum ws_status insert(sqlite3 *db, const char *text, const struct rpt_cell *values, int n,
			     struct ws_err *err)
{
	sqlite3_stmt *stmt = NULL;
	enum ws_status st = sql(db, sqlite3_prepare_v2(db, text, -1, &stmt, NULL), err);

	for (int i = 0; !st && i < n; i++) {
		if (values[i].kind == RPT_CELL_TEXT)
			sqlite3_bind_text(stmt, i + 1, values[i].text, -1, SQLITE_STATIC);
		else if (values[i].kind == RPT_CELL_INT)
			sqlite3_bind_int64(stmt, i + 1, (sqlite3_int64)values[i].number);
		else if (values[i].kind == RPT_CELL_NUMBER)
			sqlite3_bind_double(stmt, i + 1, values[i].number);
	}
	if (!st)
		st = sql(db, sqlite3_step(stmt), err);
	sqlite3_finalize(stmt);
	return st;
}

static enum ws_status write_db(struct rpt_report *rpt, void *of, const struct ana_table *table,
			       struct rpt_grid *grid, struct ws_err *err)
{
	const char *id = ws_arena_printf(&rpt->arena, "%u.%u", table->block, table->index);
	struct rpt_cell head[] = { rpt_cell_text(id), rpt_cell_text(table->title) };
	enum ws_status st = insert(of, "INSERT INTO report_table VALUES(?,?)", head, 2, err);

	for (size_t r = 0; !st && r < grid->n_rows; r++)
		for (size_t c = 1; !st && c < grid->n_columns; c++) {
			const struct rpt_cell *row = &grid->cells[r * grid->n_columns];
			struct rpt_cell cell[] = {
				rpt_cell_text(id),
				rpt_cell_int((int64_t)r),
				row[0].kind == RPT_CELL_TEXT ? row[0] : rpt_cell_number(NAN),
				row[1].kind == RPT_CELL_TEXT ? row[1] : rpt_cell_number(NAN),
				rpt_cell_text(grid->headers[c]),
				rpt_cell_int((int64_t)c),
				row[c].kind != RPT_CELL_TEXT ? row[c] : rpt_cell_number(NAN),
				row[c].kind == RPT_CELL_TEXT ? row[c] : rpt_cell_number(NAN),
			};

			st = insert(of, "INSERT INTO cell VALUES(?,?,?,?,?,?,?,?)", cell, 8, err);
		}
	return st;
}

enum ws_status rpt_save_db(struct rpt_report *rpt, const char *path, struct ws_err *err)
{
	sqlite3 *db = NULL;
	enum ws_status st;
	int fd;

	/* SQLite opens what is there; so it is ours before. */
	st = ws_file_create(path, &fd, err);
	if (st)
		return st;
	close(fd);
	st = sql(db, sqlite3_open(path, &db), err);
	if (!st)
		st = sql(db, sqlite3_exec(db, schema, NULL, NULL, NULL), err);
	for (size_t r = 0; !st && r < rpt->n_runs; r++) {
		const struct rpt_run *run = &rpt->runs[r];
		struct rpt_cell row[] = { rpt_cell_int((int64_t)r), rpt_cell_text(run->path),
					  rpt_cell_text(run->load->arch),
					  rpt_cell_int((int64_t)run->load->n_rows),
					  rpt_cell_int((int64_t)run->rows.n) };

		st = insert(db, "INSERT INTO workload VALUES(?,?,?,?,?)", row, 5, err);
	}
	if (!st)
		st = each_grid(rpt, db, write_db, err);
	if (!st)
		st = sql(db, sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), err);
	sqlite3_close(db);
	if (st)
		unlink(path);
	return st ? ws_fail_in(err, st, "%s", path) : WS_OK;
}

/* ---- text, and files beside the data ---- */

bool rpt_may_write(const char *dir)
{
	struct stat st;

	return stat(dir, &st) == 0 && st.st_mode & 0222 && access(dir, W_OK) == 0;
}

/* What analyze has always left beside the data; a workload may be read-only, and that is fine. */
void rpt_leave_top_files(struct rpt_report *rpt)
{
	struct rpt_run *run = &rpt->runs[0];
	static const struct {
		const char *name;
		unsigned table;
	} files[] = { { WL_FILE_TOP_KERNELS, 1 }, { WL_FILE_DISPATCHES, 2 } };

	if (!rpt_may_write(run->path))
		return;
	for (size_t i = 0; i < WS_ARRAY_LEN(files); i++) {
		const struct ana_table *table = ana_table_find(rpt->metrics, 0, files[i].table);
		char *path = ws_arena_printf(&rpt->arena, "%s/%s", run->path, files[i].name);
		struct rpt_grid grid;
		struct ws_buf text;

		ws_buf_init(&text, SIZE_MAX);
		if (path && table && !rpt_metric_grid(rpt, run, table, true, &grid, NULL) &&
		    grid.n_rows) {
			rpt_grid_drop_labels(&grid);
			if (!rpt_grid_csv(&grid, &text, NULL))
				ws_file_replace(path, text.at, text.n, NULL);
		}
		ws_buf_fini(&text);
	}
}

/* The length of a colour of ours ("\033[1;31m") at @at; 0: it is none. */
static size_t colour_length(const char *at)
{
	size_t n = at[0] == '\033' && at[1] == '[' ? 2 + strspn(at + 2, "0123456789;") : 0;

	return n && at[n] == 'm' ? n + 1 : 0;
}

/*
 * Paths, fields of sysinfo.csv and the like come from others. This is the one place through which
 * the report reaches a terminal: what it would obey, but for colours, is written in words.
 */
static void make_shown(struct rpt_report *rpt)
{
	struct ws_buf made;

	if (ws_shown_ok(rpt->out.at, rpt->out.n, "\n\t"))
		return;
	ws_buf_init(&made, SIZE_MAX);
	for (const char *at = rpt->out.at, *end = at + rpt->out.n; at < end;) {
		size_t n = (size_t)(end - at), colour = colour_length(at);
		const char *next = memchr(at + 1, '\033', n - 1);

		n = next ? (size_t)(next - at) : n;
		ws_buf_add_n(&made, at, colour);
		ws_buf_add_shown(&made, at + colour, n - colour, "\n\t");
		at += n;
	}
	ws_buf_fini(&rpt->out);
	rpt->out = made;
}

enum ws_status rpt_save_text(struct rpt_report *rpt, const char *path, struct ws_err *err)
{
	FILE *to = path ? fopen(path, "we") : stdout;
	bool ok;

	if (!to)
		return ws_fail_errno(err, errno, "cannot write '%s'", path);
	make_shown(rpt);
	ok = fwrite(rpt->out.at, 1, rpt->out.n, to) == rpt->out.n;
	if ((to != stdout && fclose(to) != 0) || (path && !ok))
		return ws_fail_errno(err, errno, "cannot write '%s'", path);
	return WS_OK;
}
