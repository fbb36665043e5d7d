/*
 * Text tables as AMD's tool prints them: a title over the whole width, centred headings, and
 * columns as wide as what is in them.
 */
#include "base/utf8.h"
#include "profile/report_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELL_MAX 128u

static const char *const titles[] = {
#define PROF_COLUMN_TITLE(id, title) title,
	PROF_COLUMN_TABLE(PROF_COLUMN_TITLE)
#undef PROF_COLUMN_TITLE
};

/* Columns of whole numbers, units and shares are at least this wide. */
#define WIDTH_MIN 6u

static bool has(const struct prof_sheet *sheet, unsigned column)
{
	return sheet->columns >> column & 1;
}

static bool is_number(unsigned column)
{
	return column >= PROF_COLUMN_SUM && column <= PROF_COLUMN_STDDEV;
}

/* Characters, which is what a terminal counts. */
static size_t n_chars(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

/* Cuts after @n characters. */
static void cut(struct ws_buf *text, size_t n)
{
	size_t i = 0;

	for (size_t seen = 0; i < text->n; i++)
		if (((unsigned char)text->at[i] & 0xc0) != 0x80 && seen++ == n)
			break;
	if (i < text->n) {
		text->n = i;
		text->at[i] = '\0';
	}
}

/* The label as it is shown: without controls, and not wider than allowed. */
static void shown_label(const struct prof_sheet *sheet, const char *label, struct ws_buf *out)
{
	ws_buf_clear(out);
	ws_buf_add_shown(out, label, strlen(label), "");
	if (!sheet->max_width || n_chars(out->at) <= sheet->max_width)
		return;
	if (sheet->max_width > 20) { /* below, dots would leave nothing to read */
		cut(out, sheet->max_width - 3);
		ws_buf_add(out, "...");
	} else {
		cut(out, sheet->max_width);
	}
}

static double number_of(const struct prof_sheet *sheet, unsigned column, const struct prof_row *row)
{
	switch (column) {
	case PROF_COLUMN_SUM:
		return row->stat.sum / sheet->unit;
	case PROF_COLUMN_MEAN:
		return row->mean / sheet->unit;
	case PROF_COLUMN_MIN:
		return row->stat.min / sheet->unit;
	case PROF_COLUMN_MAX:
		return row->stat.max / sheet->unit;
	case PROF_COLUMN_VAR:
		return prof_stat_variance(&row->stat) / sheet->unit / sheet->unit;
	default:
		return sqrt(prof_stat_variance(&row->stat)) / sheet->unit;
	}
}

static void make_cell(const struct prof_sheet *sheet, unsigned column, const struct prof_row *row,
		      char to[CELL_MAX])
{
	if (column == PROF_COLUMN_DEPTH) {
		snprintf(to, CELL_MAX, "%u", row->depth);
	} else if (!row->stat.n && !row->stat.sum) {
		strcpy(to, "-");
	} else if (column == PROF_COLUMN_LAPS) {
		snprintf(to, CELL_MAX, "%lld", (long long)row->stat.n);
	} else if (column == PROF_COLUMN_METRIC) {
		snprintf(to, CELL_MAX, "%s", sheet->label);
	} else if (column == PROF_COLUMN_UNITS) {
		snprintf(to, CELL_MAX, "%s", sheet->unit_text);
	} else if (column == PROF_COLUMN_SELF) {
		snprintf(to, CELL_MAX, "%.1f", row->self_percent);
	} else {
		snprintf(to, CELL_MAX, sheet->scientific ? "%.*e" : "%.*f", sheet->precision,
			 number_of(sheet, column, row));
	}
}

void prof_table_measure(struct prof_table *table, const char *label, const struct prof_row *row)
{
	const struct prof_sheet *sheet = table->sheet;
	struct ws_buf text;
	char cell[CELL_MAX];

	ws_buf_init(&text, 1u << 20);
	shown_label(sheet, label, &text);
	table->widths[PROF_COLUMN_LABEL] =
		WS_MAX(table->widths[PROF_COLUMN_LABEL], n_chars(text.at));
	table->failed |= text.failed != WS_OK;
	ws_buf_fini(&text);
	for (unsigned column = PROF_COLUMN_LABEL + 1; column < PROF_COLUMN_COUNT; column++) {
		make_cell(sheet, column, row, cell);
		table->widths[column] = WS_MAX(table->widths[column], n_chars(cell));
	}
}

static size_t width_of(const struct prof_table *table, unsigned column)
{
	size_t width = WS_MAX(table->widths[column], strlen(titles[column]));

	if (is_number(column) && table->sheet->width > 0)
		width = WS_MAX(width, (size_t)table->sheet->width);
	return column == PROF_COLUMN_LABEL ? width : WS_MAX(width, (size_t)WIDTH_MIN);
}

/* Between the outer bars. */
static size_t total_width(const struct prof_table *table)
{
	size_t total = 0;

	for (unsigned column = 0; column < PROF_COLUMN_COUNT; column++)
		if (has(table->sheet, column))
			total += width_of(table, column) + 3;
	return total - 1;
}

static void put_times(FILE *to, char c, size_t n)
{
	while (n--)
		fputc(c, to);
}

static void put_rule(const struct prof_table *table, char between, FILE *to)
{
	char bar = '|';

	for (unsigned column = 0; column < PROF_COLUMN_COUNT; column++) {
		if (!has(table->sheet, column))
			continue;
		fputc(bar, to);
		put_times(to, '-', width_of(table, column) + 2);
		bar = between;
	}
	fputs("|\n", to);
}

static void put_banner_line(const char *text, size_t n, size_t total, FILE *to)
{
	size_t left = (total + 1) / 2 > n / 2 ? (total + 1) / 2 - n / 2 : 0;

	fputc('|', to);
	put_times(to, ' ', left);
	fwrite(text, 1, n, to);
	put_times(to, ' ', total > left + n ? total - left - n : 0);
	fputs("|\n", to);
}

/* The description in capitals; as many lines as it needs. */
static void put_banner(struct prof_table *table, const char *description, FILE *to)
{
	size_t total = total_width(table), n = strlen(description), from = 0;
	char *text = strdup(description);

	if (!text) {
		table->failed = true;
		return;
	}
	for (size_t i = 0; i < n; i++)
		if (text[i] >= 'a' && text[i] <= 'z')
			text[i] = (char)(text[i] - 'a' + 'A');
	while (from < n) {
		size_t end = n;

		if (n - from + 1 > total)
			for (size_t i = from; i < n && (i - from + 1 <= total || end == n); i++)
				end = text[i] == ' ' ? i : end;
		put_banner_line(text + from, end - from, total, to);
		from = end + (end < n);
	}
	free(text);
}

/* Titles are one to the left of the middle where they leave a choice. */
static void put_title(const char *title, size_t width, FILE *to)
{
	int full = (int)width + 2, n = (int)strlen(title);
	int left = full / 2 - (n + 1) / 2;

	if (n + left > full - 3)
		left = full - 3 - n;
	left = left > 0 ? left - 1 : 0;
	fprintf(to, "| %*s%-*s ", left, "", (int)width - left, title);
}

void prof_table_head(struct prof_table *table, const char *description, FILE *to)
{
	put_rule(table, '-', to);
	put_banner(table, description, to);
	put_rule(table, '-', to);
	for (unsigned column = 0; column < PROF_COLUMN_COUNT; column++)
		if (has(table->sheet, column))
			put_title(titles[column], width_of(table, column), to);
	fputs("|\n", to);
	put_rule(table, '|', to);
}

void prof_table_row(struct prof_table *table, const char *label, const struct prof_row *row,
		    FILE *to)
{
	char cell[CELL_MAX];
	struct ws_buf text;

	ws_buf_init(&text, 1u << 20);
	shown_label(table->sheet, label, &text);
	table->failed |= text.failed != WS_OK;
	fprintf(to, "| %-*s", (int)(width_of(table, PROF_COLUMN_LABEL) + text.n - n_chars(text.at)),
		text.at);
	ws_buf_fini(&text);
	for (unsigned column = PROF_COLUMN_LABEL + 1; column < PROF_COLUMN_COUNT; column++) {
		bool left = column == PROF_COLUMN_METRIC || column == PROF_COLUMN_UNITS;

		if (!has(table->sheet, column))
			continue;
		make_cell(table->sheet, column, row, cell);
		/* A row without values has dashes, which are texts. */
		left |= !strcmp(cell, "-");
		fprintf(to, left ? " | %-*s" : " | %*s", (int)width_of(table, column), cell);
	}
	fputs(" |\n", to);
}

void prof_table_foot(const struct prof_table *table, FILE *to)
{
	put_rule(table, '-', to);
}

bool prof_sheet_text(const struct prof_sheet *sheet, FILE *to)
{
	struct prof_table table = { .sheet = sheet };
	struct prof_row_walk walk;

	prof_rows_begin(&walk, sheet);
	while (prof_rows_next(&walk))
		prof_table_measure(&table, walk.label.at, &walk.row);
	prof_rows_end(&walk);
	prof_table_head(&table, sheet->description, to);
	prof_rows_begin(&walk, sheet);
	while (prof_rows_next(&walk))
		prof_table_row(&table, walk.label.at, &walk.row, to);
	table.failed |= walk.failed;
	prof_rows_end(&walk);
	prof_table_foot(&table, to);
	if (sheet->note)
		fprintf(to, "%s\n", sheet->note);
	return !table.failed;
}
