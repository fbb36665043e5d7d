#include "report/svg.h"

#include "base/utf8.h"

#include <string.h>

void rpt_svg_escape(struct ws_buf *out, const char *text)
{
	size_t left = strlen(text), n;

	for (; left; text += n, left -= n) {
		n = ws_utf8_length(text, left);
		/*
		 * Text of others, or cut off within a character: one byte that is none makes the
		 * whole file unreadable. Of the control characters XML 1.0 has but two.
		 */
		if (!n || ((unsigned char)*text < 0x20 && *text != '\t' && *text != '\n')) {
			ws_buf_add(out, "\xef\xbf\xbd");
			n = 1;
		} else if (*text == '&') {
			ws_buf_add(out, "&amp;");
		} else if (*text == '<') {
			ws_buf_add(out, "&lt;");
		} else if (*text == '>') {
			ws_buf_add(out, "&gt;");
		} else if (*text == '"') {
			ws_buf_add(out, "&quot;");
		} else {
			ws_buf_add_n(out, text, n);
		}
	}
}

void rpt_svg_begin(struct ws_buf *out, double w, double h, const char *title, const char *about,
		   const char *css, const char *dark_css)
{
	ws_buf_printf(
		out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%g\" "
		"height=\"%g\" role=\"img\" font-family=\"" RPT_SVG_FONT "\">\n<title>",
		w, h, w, h);
	rpt_svg_escape(out, title);
	ws_buf_add(out, "</title>\n<desc>");
	rpt_svg_escape(out, about);
	ws_buf_printf(out,
		      "</desc>\n<style>\n%s@media (prefers-color-scheme: dark) {\n%s}\n</style>\n",
		      css, dark_css);
}

void rpt_svg_end(struct ws_buf *out)
{
	ws_buf_add(out, "</svg>\n");
}

void rpt_svg_rect(struct ws_buf *out, double x, double y, double w, double h, double radius,
		  const char *cls)
{
	ws_buf_printf(out,
		      "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" rx=\"%g\" "
		      "class=\"%s\"/>\n",
		      x, y, w, h, radius, cls);
}

void rpt_svg_line(struct ws_buf *out, double x0, double y0, double x1, double y1, const char *cls)
{
	ws_buf_printf(out, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" class=\"%s\"/>\n",
		      x0, y0, x1, y1, cls);
}

void rpt_svg_text(struct ws_buf *out, double x, double y, const char *anchor, const char *cls,
		  const char *text)
{
	ws_buf_printf(out, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\" class=\"%s\">", x, y,
		      anchor, cls);
	rpt_svg_escape(out, text);
	ws_buf_add(out, "</text>\n");
}

void rpt_svg_text_turned(struct ws_buf *out, double x, double y, double degrees, const char *anchor,
			 const char *cls, const char *text)
{
	ws_buf_printf(out,
		      "<text transform=\"translate(%.2f %.2f) rotate(%.2f)\" text-anchor=\"%s\" "
		      "class=\"%s\">",
		      x, y, degrees, anchor, cls);
	rpt_svg_escape(out, text);
	ws_buf_add(out, "</text>\n");
}
