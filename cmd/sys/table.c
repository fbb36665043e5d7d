#include "cmd/sys/table.h"

#include "base/str.h"
#include "base/util.h"
#include "cmd/sys/filter.h"

#include <string.h>

#define WIDTH_MIN 40u /* a column is not narrowed below this */
#define ROW_MAX (1u << 20)

struct drawing {
	const struct sys_table *table;
	const struct sys_table_style *style;
	size_t widths[SYS_TABLE_COLUMNS_MAX]; /* with the bar at the end */
};

static const char *cell(const struct sys_table *table, size_t row, size_t column)
{
	return table->cells[row * table->n_columns + column];
}

/* One accepted cell is enough, and one rejected cell too much. */
static bool is_selected(const struct sys_table *table, size_t row, const struct sys_filter *filter)
{
	bool accepted = false;

	for (size_t i = 0; i < table->n_columns; i++) {
		if (!table->columns[i].shown)
			continue;
		if (sys_filter_rejects(filter, cell(table, row, i)))
			return false;
		accepted |= sys_filter_accepts(filter, cell(table, row, i));
	}
	return accepted;
}

/* ---- widths ---- */

static void narrow(struct drawing *d)
{
	const struct sys_table *t = d->table;
	size_t sum = 0;

	for (size_t i = 0; i < t->n_columns; i++)
		sum += t->columns[i].shown ? d->widths[i] : 0;
	while (d->style->total_width && sum > d->style->total_width) {
		size_t widest = t->n_columns;

		for (size_t i = 0; i < t->n_columns; i++)
			if (t->columns[i].shown && d->widths[i] > WIDTH_MIN &&
			    (widest == t->n_columns || d->widths[i] > d->widths[widest]))
				widest = i;
		if (widest == t->n_columns)
			break;
		d->widths[widest]--;
		sum--;
	}
	for (size_t i = 0; i < t->n_columns; i++)
		if (d->style->max_width && d->widths[i] > d->style->max_width)
			d->widths[i] = WS_MAX(d->style->max_width, (size_t)10);
}

static void measure(struct drawing *d, const struct sys_filter *filter)
{
	const struct sys_table *t = d->table;

	for (size_t i = 0; i < t->n_columns; i++)
		d->widths[i] = WS_MAX(t->columns[i].at_least,
				      strlen(t->columns[i].label) + d->style->padding);
	for (size_t row = 0; row < t->n_rows; row++)
		for (size_t i = 0; i < t->n_columns && is_selected(t, row, filter); i++)
			d->widths[i] = WS_MAX(d->widths[i], strlen(cell(t, row, i)) + t->extra +
								    d->style->padding);
	for (size_t i = 0; i < t->n_columns; i++)
		if (t->columns[i].exactly)
			d->widths[i] = t->columns[i].exactly;
	narrow(d);
}

/* ---- cells ---- */

static void add_line(const struct drawing *d, struct ws_buf *out)
{
	ws_buf_add_c(out, '|', 1);
	for (size_t i = 0; i < d->table->n_columns; i++)
		if (d->table->columns[i].shown) {
			ws_buf_add_c(out, '-', d->widths[i] - 1);
			ws_buf_add_c(out, '|', 1);
		}
	ws_buf_add_c(out, '\n', 1);
}

static void add_csv_cell(const struct drawing *d, const char *text, struct ws_buf *out)
{
	char quote = !strstr(text, d->style->separator) ? '\0' : strchr(text, '"') ? '\'' : '"';

	if (quote)
		ws_buf_printf(out, "%c%s%c", quote, text, quote);
	else
		ws_buf_add(out, text);
	ws_buf_add(out, d->style->separator);
}

/* @text in @width - 1 characters, and a bar. */
static void add_padded(struct ws_str text, size_t width, bool centered, struct ws_buf *out)
{
	size_t room = width - 1 > text.n ? width - 1 - text.n : 0, left = 0;

	/* One blank less on the left than on the right, where it does not come out even. */
	if (centered && room > 1)
		left = (room - 1) / 2;
	ws_buf_add_c(out, ' ', left);
	ws_buf_add_n(out, text.at, text.n);
	ws_buf_add_c(out, ' ', room - left);
	ws_buf_add_c(out, '|', 1);
}

static void add_cell(const struct drawing *d, const char *text, size_t width, bool centered,
		     bool code, struct ws_buf *out)
{
	const char *tick = code && d->style->markdown ? "`" : "";
	struct ws_buf one;
	size_t n_tick = strlen(tick);

	ws_buf_init(&one, ROW_MAX);
	ws_buf_printf(&one, " %s%s", tick, text);
	if (one.n > width - 2) {
		one.n = width - 5 - n_tick;
		ws_buf_add(&one, "...");
	}
	ws_buf_add(&one, tick);
	add_padded(ws_buf_view(&one), width, centered, out);
	ws_buf_fini(&one);
}

/* Blanks up to the same column of the next line. */
static void add_wrap(const struct drawing *d, size_t column, struct ws_buf *out)
{
	const struct sys_table *t = d->table;

	for (size_t i = column + 1; i < t->n_columns; i++)
		if (t->columns[i].shown)
			add_padded(WS_STR(""), d->widths[i], false, out);
	ws_buf_add(out, "\n|");
	for (size_t i = 0; i < column; i++)
		if (t->columns[i].shown)
			add_padded(WS_STR(""), d->widths[i], false, out);
}

/*
 * A cell that goes on in the next line, indented; what follows it stands in its last line. Lines
 * break at blanks in their second half.
 */
static void add_wrapped(const struct drawing *d, const char *text, size_t column,
			struct ws_buf *out)
{
	size_t width = d->widths[column];
	struct ws_str rest = ws_str_from(text);
	struct ws_buf line;

	ws_buf_init(&line, ROW_MAX);
	ws_buf_add_c(&line, ' ', 1);
	for (;;) {
		size_t indent = line.n, n = width - 3 - indent;

		if (rest.n + indent <= width - 2)
			break;
		while (n > 0 && rest.at[n - 1] != ' ')
			n--;
		n = n && n - 1 + indent >= width / 2 ? n - 1 : width - 3 - indent;
		ws_buf_add_n(&line, rest.at, n);
		add_padded(ws_buf_view(&line), width, false, out);
		add_wrap(d, column, out);
		rest = (struct ws_str){ rest.at + n, rest.n - n };
		ws_buf_clear(&line);
		ws_buf_add(&line, "  ");
		if (*rest.at == ' ') {
			ws_buf_add_c(&line, ' ', 1);
			rest = (struct ws_str){ rest.at + 1, rest.n - 1 };
		}
	}
	ws_buf_add_n(&line, rest.at, rest.n);
	add_padded(ws_buf_view(&line), width, false, out);
	ws_buf_fini(&line);
}

static void add_row(const struct drawing *d, size_t row, struct ws_buf *out)
{
	const struct sys_table *t = d->table;

	for (size_t i = 0; i < t->n_columns; i++) {
		const struct sys_column *c = &t->columns[i];

		if (!c->shown)
			continue;
		if (d->style->csv)
			add_csv_cell(d, cell(t, row, i), out);
		else if (c->wraps && !d->style->markdown)
			add_wrapped(d, cell(t, row, i), i, out);
		else
			add_cell(d, cell(t, row, i), d->widths[i], c->centered, c->code, out);
	}
}

static void add_header(const struct drawing *d, struct ws_buf *out)
{
	const struct sys_table *t = d->table;

	if (!d->style->csv)
		ws_buf_add_c(out, '|', 1);
	for (size_t i = 0; i < t->n_columns; i++) {
		if (!t->columns[i].shown)
			continue;
		if (d->style->csv)
			add_csv_cell(d, t->columns[i].label, out);
		else
			add_cell(d, t->columns[i].label, d->widths[i], true, false, out);
	}
	ws_buf_add_c(out, '\n', 1);
}

static void print_highlighted(FILE *to, const char *row, const struct sys_filter *filter)
{
	struct ws_str match;

	while (sys_filter_match(filter, row, &match)) {
		fprintf(to, "%.*s\033[01;04;36;40m%.*s\033[0m", (int)(match.at - row), row,
			WS_STR_ARGS(match));
		row = match.at + match.n;
	}
	fputs(row, to);
}

enum ws_status sys_table_print(FILE *to, const struct sys_table *table,
			       const struct sys_table_style *style, const struct sys_filter *filter,
			       bool highlight, struct ws_err *err)
{
	struct drawing d = { .table = table, .style = style };
	bool lines = !style->csv && !style->markdown;
	enum ws_status st = WS_OK;
	struct ws_buf out;

	measure(&d, filter);
	ws_buf_init(&out, ROW_MAX);
	if (lines)
		add_line(&d, &out);
	add_header(&d, &out);
	if (!style->csv)
		add_line(&d, &out);
	fputs(out.at, to);
	for (size_t row = 0; row < table->n_rows && !st; row++) {
		if (!is_selected(table, row, filter))
			continue;
		ws_buf_clear(&out);
		if (!style->csv)
			ws_buf_add_c(&out, '|', 1);
		add_row(&d, row, &out);
		st = ws_buf_status(&out, err);
		if (highlight)
			print_highlighted(to, out.at, filter);
		else
			fputs(out.at, to);
		fputc('\n', to);
	}
	ws_buf_clear(&out);
	if (lines)
		add_line(&d, &out);
	fputs(out.at, to);
	ws_buf_fini(&out);
	return st;
}
