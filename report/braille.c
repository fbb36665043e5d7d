#include "report/braille.h"

#include <math.h>
#include <stdlib.h>

#define COORDINATE_MAX 1e5

/* Bit of the dot at [column][row from the bottom]. */
static const uint8_t dot_bits[2][4] = { { 0x40, 0x04, 0x02, 0x01 }, { 0x80, 0x20, 0x10, 0x08 } };

enum ws_status rpt_braille_init(struct rpt_braille *canvas, unsigned n_cols, unsigned n_rows,
				struct ws_err *err)
{
	*canvas = (struct rpt_braille){ .n_cols = n_cols, .n_rows = n_rows };
	canvas->cells = calloc((size_t)n_cols * n_rows, sizeof(*canvas->cells));
	if (!canvas->cells)
		return ws_fail(err, WS_E_NOMEM, "no memory for a drawing of %u x %u characters",
			       n_cols, n_rows);
	for (size_t i = 0; i < (size_t)n_cols * n_rows; i++)
		canvas->cells[i].colour = RPT_BRAILLE_PLAIN;
	return WS_OK;
}

void rpt_braille_fini(struct rpt_braille *canvas)
{
	free(canvas->cells);
	*canvas = (struct rpt_braille){ 0 };
}

static struct rpt_braille_cell *cell_at(struct rpt_braille *canvas, long col, long row)
{
	if (col < 0 || row < 0 || col >= (long)canvas->n_cols || row >= (long)canvas->n_rows)
		return NULL;
	return &canvas->cells[(size_t)row * canvas->n_cols + (size_t)col];
}

void rpt_braille_dot(struct rpt_braille *canvas, long dot_x, long dot_y, int colour)
{
	struct rpt_braille_cell *cell;

	if (dot_x < 0 || dot_y < 0)
		return; /* -1 / 2 is 0 */
	cell = cell_at(canvas, dot_x / 2, dot_y / 4);
	if (!cell)
		return;
	cell->dots |= dot_bits[dot_x % 2][dot_y % 4];
	if (!cell->text)
		cell->colour = (int16_t)colour;
}

static void draw_dots(struct rpt_braille *canvas, double x0, double y0, double x1, double y1,
		      int colour)
{
	/* lrint() rounds halves to even, as the drawing this one must equal does. */
	long from_x = lrint(x0 * 2), from_y = lrint(y0 * 4);
	long dx = lrint(x1 * 2) - from_x, dy = lrint(y1 * 4) - from_y;
	long n_steps = WS_MAX(labs(dx), labs(dy));

	rpt_braille_dot(canvas, from_x, from_y, colour);
	for (long i = 1; i < n_steps; i++)
		rpt_braille_dot(canvas, from_x + lrint((double)(dx * i) / (double)n_steps),
				from_y + lrint((double)(dy * i) / (double)n_steps), colour);
	rpt_braille_dot(canvas, from_x + dx, from_y + dy, colour);
}

void rpt_braille_line(struct rpt_braille *canvas, double x0, double y0, double x1, double y1,
		      int colour)
{
	/* What lies far outside is as good as missing, and must not take for ever. */
	if (fabs(x0) < COORDINATE_MAX && fabs(y0) < COORDINATE_MAX && fabs(x1) < COORDINATE_MAX &&
	    fabs(y1) < COORDINATE_MAX)
		draw_dots(canvas, x0, y0, x1, y1, colour);
}

void rpt_braille_rect(struct rpt_braille *canvas, double x0, double y0, double x1, double y1,
		      int colour)
{
	rpt_braille_line(canvas, x0, y0, x1, y0, colour);
	rpt_braille_line(canvas, x0, y1, x1, y1, colour);
	rpt_braille_line(canvas, x0, y0, x0, y1, colour);
	rpt_braille_line(canvas, x1, y0, x1, y1, colour);
}

/* The code point at *@at, which moves past it; a stray byte stands for itself. */
static uint32_t next_code(const char **at)
{
	const unsigned char *p = (const unsigned char *)*at;
	unsigned n = p[0] >= 0xf0 ? 3 : p[0] >= 0xe0 ? 2 : p[0] >= 0xc0 ? 1 : 0;
	uint32_t code = n ? p[0] & (0x3fu >> n) : p[0];

	for (unsigned i = 1; i <= n; i++) {
		if ((p[i] & 0xc0) != 0x80) {
			*at += 1;
			return 0xfffd;
		}
		code = code << 6 | (p[i] & 0x3f);
	}
	*at += 1 + n;
	return code;
}

void rpt_braille_text(struct rpt_braille *canvas, double x, double y, const char *utf8, int colour)
{
	long col = lrint(x * 2) / 2, row = lrint(y * 4) / 4;

	for (; *utf8; col++) {
		uint32_t code = next_code(&utf8);
		struct rpt_braille_cell *cell = cell_at(canvas, col, row);

		if (cell) {
			cell->text = code;
			cell->colour = (int16_t)colour;
		}
	}
}

void rpt_braille_put(struct ws_buf *out, uint32_t code)
{
	if (code < 0x80)
		ws_buf_add_c(out, (char)code, 1);
	else if (code < 0x800)
		ws_buf_printf(out, "%c%c", 0xc0 | code >> 6, 0x80 | (code & 0x3f));
	else if (code < 0x10000)
		ws_buf_printf(out, "%c%c%c", 0xe0 | code >> 12, 0x80 | (code >> 6 & 0x3f),
			      0x80 | (code & 0x3f));
	else
		ws_buf_printf(out, "%c%c%c%c", 0xf0 | code >> 18, 0x80 | (code >> 12 & 0x3f),
			      0x80 | (code >> 6 & 0x3f), 0x80 | (code & 0x3f));
}

static bool is_blank(const struct rpt_braille_cell *cell)
{
	return !cell->dots && (!cell->text || cell->text == ' ');
}

void rpt_braille_row(const struct rpt_braille *canvas, unsigned row, enum rpt_braille_blank blank,
		     bool colours, struct ws_buf *out)
{
	const struct rpt_braille_cell *cells = &canvas->cells[(size_t)row * canvas->n_cols];
	unsigned n = canvas->n_cols;
	int shown = RPT_BRAILLE_PLAIN;

	if (blank == RPT_BRAILLE_BLANK_SPACES)
		while (n && is_blank(&cells[n - 1]))
			n--;
	for (unsigned col = 0; col < n; col++) {
		const struct rpt_braille_cell *cell = &cells[col];
		int colour = cell->text || cell->dots ? cell->colour : RPT_BRAILLE_PLAIN;

		if (colours && colour != shown) {
			if (colour == RPT_BRAILLE_PLAIN)
				ws_buf_add(out, "\033[0m");
			else
				ws_buf_printf(out, "\033[38;5;%dm", colour);
			shown = colour;
		}
		if (cell->text)
			rpt_braille_put(out, cell->text);
		else if (cell->dots || blank == RPT_BRAILLE_BLANK_DOTS)
			rpt_braille_put(out, 0x2800u + cell->dots);
		else
			ws_buf_add_c(out, ' ', 1);
	}
	if (shown != RPT_BRAILLE_PLAIN)
		ws_buf_add(out, "\033[0m");
}

void rpt_braille_print(const struct rpt_braille *canvas, enum rpt_braille_blank blank, bool colours,
		       struct ws_buf *out)
{
	for (unsigned row = canvas->n_rows; row-- > 0;) {
		rpt_braille_row(canvas, row, blank, colours, out);
		ws_buf_add_c(out, '\n', 1);
	}
}
