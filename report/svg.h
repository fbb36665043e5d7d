/*
 * svg: the few elements that our drawings are made of, as text.
 *
 * Looks are CSS classes given once in the head, with a second set for readers who
 * prefer dark; drawings name classes only. Coordinates are user units.
 *
 * Failure  the buffer's: ws_buf_status() in the end.
 */
#ifndef WS_REPORT_SVG_H
#define WS_REPORT_SVG_H

#include "base/str.h"

#define RPT_SVG_FONT "system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif"

/* @css is plain; @dark_css replaces what differs under prefers-color-scheme: dark. */
void rpt_svg_begin(struct ws_buf *out, double w, double h, const char *title, const char *about,
		   const char *css, const char *dark_css);
void rpt_svg_end(struct ws_buf *out);

/* Text with &, <, > and quotes escaped, and what XML forbids replaced. */
void rpt_svg_escape(struct ws_buf *out, const char *text);

void rpt_svg_rect(struct ws_buf *out, double x, double y, double w, double h, double radius,
		  const char *cls);
void rpt_svg_line(struct ws_buf *out, double x0, double y0, double x1, double y1, const char *cls);
/* @anchor: "start", "middle" or "end" */
void rpt_svg_text(struct ws_buf *out, double x, double y, const char *anchor, const char *cls,
		  const char *text);
void rpt_svg_text_turned(struct ws_buf *out, double x, double y, double degrees, const char *anchor,
			 const char *cls, const char *text);

#endif
