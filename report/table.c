#include "report/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_ROOM 2 /* a column is at least this much wider than its header */

struct rpt_cell rpt_cell_number(double number)
{
	return isnan(number) ? (struct rpt_cell){ .kind = RPT_CELL_NONE }
			     : (struct rpt_cell){ .kind = RPT_CELL_NUMBER, .number = number };
}

enum ws_status rpt_grid_init(struct rpt_grid *grid, struct ws_arena *arena,
			     const char *const *headers, size_t n_columns, struct ws_err *err)
{
	*grid = (struct rpt_grid){
		.arena = arena, .n_columns = n_columns, .decimals = 2, .none = "N/A"
	};
	grid->headers = ws_arena_array(arena, n_columns + 1, sizeof(*grid->headers));
	if (!grid->headers)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	if (n_columns)
		memcpy(grid->headers, headers, n_columns * sizeof(*headers));
	return WS_OK;
}

struct rpt_cell *rpt_grid_row(struct rpt_grid *grid)
{
	if (grid->n_rows == grid->cap_rows) {
		size_t cap = grid->cap_rows ? grid->cap_rows * 2 : 16;
		struct rpt_cell *grown =
			ws_arena_array(grid->arena, cap * grid->n_columns, sizeof(*grown));

		if (!grown)
			return NULL;
		if (grid->n_rows)
			memcpy(grown, grid->cells, grid->n_rows * grid->n_columns * sizeof(*grown));
		grid->cells = grown;
		grid->cap_rows = cap;
	}
	return &grid->cells[grid->n_rows++ * grid->n_columns];
}

double rpt_round_half_even(double number, int decimals)
{
	char text[400];

	if (!isfinite(number) || decimals < 0 || decimals > 40 || fabs(number) > 1e300)
		return number;
	/* The C library rounds the exact binary value, as Python does. */
	snprintf(text, sizeof(text), "%.*f", decimals, number);
	return strtod(text, NULL);
}

void rpt_number_text(double number, int decimals, char out_text[64])
{
	double value = rpt_round_half_even(number, decimals);
	char digits[40];
	int exponent, precision;
	char *e;

	if (!isfinite(value)) {
		snprintf(out_text, 64, "%s", isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
		return;
	}
	for (precision = 0; precision < 17; precision++) {
		snprintf(digits, sizeof(digits), "%.*e", precision, value);
		if (strtod(digits, NULL) == value)
			break;
	}
	e = strchr(digits, 'e');
	exponent = (int)strtol(e + 1, NULL, 10);
	if (exponent >= 16 || exponent < -4) {
		*e = '\0';
		snprintf(out_text, 64, "%se%s%02d", digits, exponent < 0 ? "-" : "+",
			 abs(exponent));
		return;
	}
	snprintf(out_text, 64, "%.*f", precision > exponent ? precision - exponent : 1, value);
}

/* How many columns of a terminal a stretch of UTF-8 takes. */
static size_t shown_width(const char *text, size_t n)
{
	size_t width = 0;

	for (size_t i = 0; i < n; i++)
		width += ((unsigned char)text[i] & 0xc0) != 0x80;
	return width;
}

struct layout {
	bool *numeric, *pointed; /* per column: numbers on the right; with decimals */
	size_t *widths;
};

/* A cell as text. @room holds numbers; text cells are returned as they are. */
static const char *cell_text(const struct rpt_grid *grid, const struct rpt_cell *cell, bool numeric,
			     char room[400])
{
	switch (cell->kind) {
	case RPT_CELL_TEXT:
		return cell->text ? cell->text : "";
	case RPT_CELL_INT:
		snprintf(room, 400, "%.0f", cell->number);
		return room;
	case RPT_CELL_NUMBER:
		if (!isfinite(cell->number) || !numeric)
			rpt_number_text(cell->number, grid->decimals, room);
		else
			snprintf(room, 400, "%.*f", grid->decimals, cell->number);
		return room;
	default:
		return grid->none;
	}
}

/* Numbers without a point stand where the digits before the point do. */
static size_t pad_right(const struct rpt_grid *grid, const struct rpt_cell *cell, bool pointed)
{
	bool bare = cell->kind == RPT_CELL_NUMBER && !isfinite(cell->number);

	return bare && pointed && grid->decimals > 0 ? (size_t)grid->decimals + 1 : 0;
}

static void measure(const struct rpt_grid *grid, struct layout *layout)
{
	for (size_t c = 0; c < grid->n_columns; c++) {
		bool number = false, text = false, gap = false;
		size_t width =
			shown_width(grid->headers[c], strlen(grid->headers[c])) + HEADER_ROOM;

		for (size_t r = 0; r < grid->n_rows; r++) {
			const struct rpt_cell *cell = &grid->cells[r * grid->n_columns + c];

			number |= cell->kind == RPT_CELL_NUMBER || cell->kind == RPT_CELL_INT;
			text |= cell->kind == RPT_CELL_TEXT;
			gap |= cell->kind == RPT_CELL_NONE;
			layout->pointed[c] |=
				cell->kind == RPT_CELL_NUMBER && isfinite(cell->number);
		}
		layout->numeric[c] = number && !text && !(gap && grid->form == RPT_GRID_OLD);
		for (size_t r = 0; r < grid->n_rows; r++) {
			const struct rpt_cell *cell = &grid->cells[r * grid->n_columns + c];
			char room[400];
			struct ws_str rest = ws_str_from(
					      cell_text(grid, cell, layout->numeric[c], room)),
				      line;
			size_t pad =
				layout->numeric[c] ? pad_right(grid, cell, layout->pointed[c]) : 0;

			while (ws_str_next(&rest, '\n', &line))
				width = WS_MAX(width, shown_width(line.at, line.n) + pad);
		}
		layout->widths[c] = width;
	}
}

static void rule(const struct rpt_grid *grid, const struct layout *layout, struct ws_buf *to,
		 const char *const parts[4])
{
	ws_buf_add(to, parts[0]);
	for (size_t c = 0; c < grid->n_columns; c++) {
		if (c)
			ws_buf_add(to, parts[2]);
		for (size_t i = 0; i < layout->widths[c] + 2; i++)
			ws_buf_add(to, parts[1]);
	}
	ws_buf_add(to, parts[3]);
	ws_buf_add(to, "\n");
}

static void add_field(struct ws_buf *to, struct ws_str text, size_t width, size_t pad, bool right)
{
	size_t used = shown_width(text.at, text.n) + pad;
	size_t left_over = width > used ? width - used : 0;

	ws_buf_add(to, "│ ");
	if (right)
		ws_buf_add_c(to, ' ', left_over);
	ws_buf_add_n(to, text.at, text.n);
	ws_buf_add_c(to, ' ', pad);
	if (!right)
		ws_buf_add_c(to, ' ', left_over);
	ws_buf_add(to, " ");
}

static struct ws_str line_of(const char *text, size_t number)
{
	struct ws_str rest = ws_str_from(text), line = { "", 0 };

	for (size_t i = 0; i <= number; i++)
		if (!ws_str_next(&rest, '\n', &line))
			return (struct ws_str){ "", 0 };
	return line;
}

static void draw_row(const struct rpt_grid *grid, const struct layout *layout, size_t row,
		     struct ws_buf *to)
{
	const struct rpt_cell *cells = &grid->cells[row * grid->n_columns];
	size_t n_lines = 1;
	char room[400];

	for (size_t c = 0; c < grid->n_columns; c++) {
		const char *text = cell_text(grid, &cells[c], layout->numeric[c], room);
		size_t n = 1;

		for (; (text = strchr(text, '\n')); text++)
			n++;
		n_lines = WS_MAX(n_lines, n);
	}
	for (size_t line = 0; line < n_lines; line++) {
		for (size_t c = 0; c < grid->n_columns; c++) {
			bool right = layout->numeric[c];
			const char *text = cell_text(grid, &cells[c], right, room);
			size_t pad = right ? pad_right(grid, &cells[c], layout->pointed[c]) : 0;

			add_field(to, line_of(text, line), layout->widths[c], line ? 0 : pad,
				  right);
		}
		ws_buf_add(to, "│\n");
	}
}

enum ws_status rpt_grid_draw(const struct rpt_grid *grid, struct ws_buf *to, struct ws_err *err)
{
	static const char *const top[] = { "╒", "═", "╤", "╕" };
	static const char *const head[] = { "╞", "═", "╪", "╡" };
	static const char *const middle[] = { "├", "─", "┼", "┤" };
	static const char *const bottom[] = { "╘", "═", "╧", "╛" };
	struct layout layout = {
		.numeric = ws_arena_array(grid->arena, grid->n_columns + 1, sizeof(bool)),
		.pointed = ws_arena_array(grid->arena, grid->n_columns + 1, sizeof(bool)),
		.widths = ws_arena_array(grid->arena, grid->n_columns + 1, sizeof(size_t)),
	};

	if (!layout.numeric || !layout.pointed || !layout.widths)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	measure(grid, &layout);
	rule(grid, &layout, to, top);
	for (size_t c = 0; c < grid->n_columns; c++)
		add_field(to, ws_str_from(grid->headers[c]), layout.widths[c], 0,
			  layout.numeric[c]);
	ws_buf_add(to, "│\n");
	rule(grid, &layout, to, head);
	for (size_t r = 0; r < grid->n_rows; r++) {
		if (r)
			rule(grid, &layout, to, middle);
		draw_row(grid, &layout, r, to);
	}
	rule(grid, &layout, to, bottom);
	return ws_buf_status(to, err);
}

static void csv_field(struct ws_buf *to, const char *text)
{
	if (!strpbrk(text, ",\"\n\r")) {
		ws_buf_add(to, text);
		return;
	}
	ws_buf_add(to, "\"");
	for (; *text; text++)
		ws_buf_add_n(to, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
	ws_buf_add(to, "\"");
}

enum ws_status rpt_grid_csv(const struct rpt_grid *grid, struct ws_buf *to, struct ws_err *err)
{
	char room[400];

	for (size_t c = 0; c < grid->n_columns; c++) {
		ws_buf_add(to, c ? "," : "");
		csv_field(to, grid->headers[c]);
	}
	ws_buf_add(to, "\n");
	for (size_t r = 0; r < grid->n_rows; r++) {
		for (size_t c = 0; c < grid->n_columns; c++) {
			const struct rpt_cell *cell = &grid->cells[r * grid->n_columns + c];

			ws_buf_add(to, c ? "," : "");
			if (cell->kind != RPT_CELL_NONE)
				csv_field(to, cell_text(grid, cell, false, room));
		}
		ws_buf_add(to, "\n");
	}
	return ws_buf_status(to, err);
}
