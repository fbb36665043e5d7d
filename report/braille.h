/*
 * braille: a drawing of dots and text for the terminal, 2 x 4 dots per character cell.
 *
 * World coordinates are cells with y = 0 at the bottom; a point falls on the dot
 * (round(2x), round(4y)), halves to even. Text takes whole cells and hides the dots
 * below it. What lies outside the canvas is not drawn.
 *
 * Colours are indices into the terminal's 256-colour palette; RPT_BRAILLE_PLAIN is none.
 *
 * Threads  one at a time.
 */
#ifndef WS_REPORT_BRAILLE_H
#define WS_REPORT_BRAILLE_H

#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

#define RPT_BRAILLE_PLAIN (-1)

struct rpt_braille_cell {
	uint32_t text;  /* code point; 0: dots */
	int16_t colour; /* of the text, or of the last dot */
	uint8_t dots;   /* Unicode's bit order */
};

struct rpt_braille {
	unsigned n_cols, n_rows;
	struct rpt_braille_cell *cells; /* row 0 is the bottom one */
};

enum ws_status rpt_braille_init(struct rpt_braille *canvas, unsigned n_cols, unsigned n_rows,
				struct ws_err *err);
void rpt_braille_fini(struct rpt_braille *canvas); /* a zeroed or finished canvas is fine */

void rpt_braille_dot(struct rpt_braille *canvas, long dot_x, long dot_y, int colour);
void rpt_braille_line(struct rpt_braille *canvas, double x0, double y0, double x1, double y1,
		      int colour);
void rpt_braille_rect(struct rpt_braille *canvas, double x0, double y0, double x1, double y1,
		      int colour);
void rpt_braille_text(struct rpt_braille *canvas, double x, double y, const char *utf8, int colour);

/* How empty cells are written: as U+2800, or as spaces with those at the line's end cut off. */
enum rpt_braille_blank { RPT_BRAILLE_BLANK_DOTS, RPT_BRAILLE_BLANK_SPACES };

/* One row, from its cells; with @colours in escape sequences. No line end. */
void rpt_braille_row(const struct rpt_braille *canvas, unsigned row, enum rpt_braille_blank blank,
		     bool colours, struct ws_buf *out);

/* All rows, top first, each with a line end. */
void rpt_braille_print(const struct rpt_braille *canvas, enum rpt_braille_blank blank, bool colours,
		       struct ws_buf *out);

/* Append one code point as UTF-8. */
void rpt_braille_put(struct ws_buf *out, uint32_t code);

#endif
