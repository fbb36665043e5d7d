/* Rows of a query, for people and for programs. */
#include "rocpd/rocpd_priv.h"

#include "base/arena.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/vec.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 512

struct printing {
	FILE *to;
	sqlite3_stmt *stmt;
	int n, widths[COLUMNS_MAX];
	uint64_t row;
	struct ws_buf utf8; /* the last text that had to be made fit */
};

/* A value as text; numbers as SQLite has them, NULL as nothing. */
static const char *cell(sqlite3_stmt *stmt, int i)
{
	const char *text = (const char *)sqlite3_column_text(stmt, i);

	return text ? text : "";
}

/* The same for formats that are UTF-8: a database may be anybody's. */
static const char *utf8_cell(struct printing *p, int i, bool header)
{
	const char *text = header ? sqlite3_column_name(p->stmt, i) : cell(p->stmt, i);

	ws_buf_clear(&p->utf8);
	ws_buf_add_utf8(&p->utf8, text, strlen(text));
	return p->utf8.at;
}

/* What people see instead of nothing. */
static const char *shown(sqlite3_stmt *stmt, int i)
{
	return sqlite3_column_type(stmt, i) == SQLITE_NULL ? "None" : cell(stmt, i);
}

static const char *utf8_shown(struct printing *p, int i, bool header)
{
	bool none = !header && sqlite3_column_type(p->stmt, i) == SQLITE_NULL;

	return none ? "None" : utf8_cell(p, i, header);
}

/* Columns on the screen: what follows a UTF-8 lead byte takes none. */
static int width(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static void csv_cell(FILE *to, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, to);
		return;
	}
	rpd_put_quoted(to, text);
}

static void html_text(FILE *to, const char *text)
{
	for (; *text; text++) {
		const char *entity = *text == '<'   ? "&lt;"
				     : *text == '>' ? "&gt;"
				     : *text == '&' ? "&amp;"
						    : NULL;

		if (entity)
			fputs(entity, to);
		else
			fputc(*text, to);
	}
}

static void md_text(FILE *to, const char *text)
{
	for (; *text; text++)
		fputs(*text == '|' ? "\\|" : *text == '\n' ? " " : (char[]){ *text, 0 }, to);
}

static void json_value(FILE *to, json_t *value)
{
	json_dumpf(value, to, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
	json_decref(value);
}

static void json_cell(struct printing *p, int i)
{
	sqlite3_stmt *stmt = p->stmt;
	FILE *to = p->to;

	switch (sqlite3_column_type(stmt, i)) {
	case SQLITE_INTEGER:
		fprintf(to, "%lld", sqlite3_column_int64(stmt, i));
		break;
	case SQLITE_FLOAT:
		if (isfinite(sqlite3_column_double(stmt, i)))
			fputs(cell(stmt, i), to);
		else
			fputs("null", to);
		break;
	case SQLITE_NULL:
		fputs("null", to);
		break;
	default:
		json_value(to, json_string(utf8_cell(p, i, false)));
	}
}

/* ---- one row in each format; row 0 is the header ---- */

static void console_cell(struct printing *p, int i, const char *text)
{
	fprintf(p->to, "%s%*s%s%s", i ? " " : "", p->widths[i] - width(text), "", text,
		i == p->n - 1 ? "\n" : "");
}

static void csv_row(struct printing *p, bool header)
{
	for (int i = 0; i < p->n; i++) {
		if (i)
			fputc(',', p->to);
		csv_cell(p->to, header ? sqlite3_column_name(p->stmt, i) : cell(p->stmt, i));
	}
	fputc('\n', p->to);
}

static void json_row(struct printing *p, bool header)
{
	if (header) {
		fputc('[', p->to);
		return;
	}
	fputs(p->row ? ",\n  {" : "\n  {", p->to);
	for (int i = 0; i < p->n; i++) {
		fputs(i ? ",\n    " : "\n    ", p->to);
		json_value(p->to, json_string(utf8_cell(p, i, true)));
		fputs(": ", p->to);
		json_cell(p, i);
	}
	fputs("\n  }", p->to);
}

static void md_row(struct printing *p, bool header)
{
	for (int i = 0; i < p->n; i++) {
		fputs("| ", p->to);
		md_text(p->to, utf8_shown(p, i, header));
		fputc(' ', p->to);
	}
	fputs("|\n", p->to);
	for (int i = 0; header && i < p->n; i++)
		fputs("|:---", p->to);
	if (header)
		fputs("|\n", p->to);
}

static void html_row(struct printing *p, bool header)
{
	const char *tag = header ? "th" : "td";

	if (header)
		fputs("<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<table border=\"1\">\n<thead>\n",
		      p->to);
	fputs("<tr>", p->to);
	for (int i = 0; i < p->n; i++) {
		fprintf(p->to, "<%s>", tag);
		html_text(p->to, utf8_shown(p, i, header));
		fprintf(p->to, "</%s>", tag);
	}
	fputs("</tr>\n", p->to);
	if (header)
		fputs("</thead>\n<tbody>\n", p->to);
}

static const struct {
	void (*row)(struct printing *p, bool header);
	const char *end, *suffix;
} formats[RPD_FORMAT_COUNT] = {
	[RPD_CONSOLE] = { NULL, "", "" },
	[RPD_CSV] = { csv_row, "", ".csv" },
	[RPD_JSON] = { json_row, "\n]\n", ".json" },
	[RPD_MD] = { md_row, "", ".md" },
	[RPD_HTML] = { html_row, "</tbody>\n</table>\n", ".html" },
};

const char *rpd_format_suffix(enum rpd_format format)
{
	return formats[format].suffix;
}

/*
 * Columns are as wide as their widest value, which is known at the end: rows are kept until
 * then, because a statement that changes something, or random(), must not run twice.
 */
static int console_table(struct printing *p, struct ws_arena *arena)
{
	WS_VEC(const char *) cells = { .max_n = SIZE_MAX };
	bool full = false;
	int rc;

	for (int i = 0; i < p->n; i++)
		p->widths[i] = width(sqlite3_column_name(p->stmt, i));
	while (!full && (rc = sqlite3_step(p->stmt)) == SQLITE_ROW) {
		for (int i = 0; i < p->n && !full; i++) {
			const char *text = ws_arena_strdup(arena, shown(p->stmt, i));

			text = text ? ws_shown_text(text, arena) : NULL;
			full = !text || ws_vec_push(&cells, text, NULL);
			p->widths[i] = text ? WS_MAX(p->widths[i], width(text)) : 0;
		}
		p->row += !full;
	}
	for (int i = 0; i < p->n && p->row; i++)
		console_cell(p, i, sqlite3_column_name(p->stmt, i));
	for (size_t k = 0; k < p->row * (size_t)p->n; k++)
		console_cell(p, (int)(k % (size_t)p->n), cells.at[k]);
	ws_vec_fini(&cells);
	return full ? SQLITE_NOMEM : rc;
}

enum ws_status rpd_print(FILE *to, enum rpd_format format, sqlite3_stmt *stmt, uint64_t *out_rows,
			 struct ws_err *err)
{
	struct printing p = { .to = to, .stmt = stmt, .n = sqlite3_column_count(stmt) };
	int rc;

	ws_buf_init(&p.utf8, SIZE_MAX);
	*out_rows = 0;
	if (p.n > COLUMNS_MAX)
		return ws_fail(err, WS_E_LIMIT, "more than %d columns", COLUMNS_MAX);
	if (format == RPD_CONSOLE) {
		struct ws_arena arena;

		ws_arena_init(&arena, (size_t)4 << 30);
		rc = console_table(&p, &arena);
		ws_arena_fini(&arena);
	} else {
		rc = sqlite3_step(stmt);
	}
	/* The header waits for the first row: no rows, no table. */
	for (; rc == SQLITE_ROW; rc = sqlite3_step(stmt)) {
		if (!p.row)
			formats[format].row(&p, true);
		formats[format].row(&p, false);
		p.row++;
	}
	if (p.row)
		fputs(formats[format].end, to);
	*out_rows = p.row;
	ws_buf_fini(&p.utf8);
	if (rc == SQLITE_NOMEM)
		ws_fail(err, WS_E_LIMIT,
			"the table is too large to print: --format csv has no limit");
	else if (rc != SQLITE_DONE)
		ws_fail(err, WS_E_FORMAT, "SQLite: %s", sqlite3_errmsg(sqlite3_db_handle(stmt)));
	sqlite3_reset(stmt);
	return rc == SQLITE_DONE ? WS_OK : WS_E_FORMAT;
}
