#include "report/json.h"

#include "base/utf8.h"

#include <math.h>
#include <string.h>

void rpt_json_text(struct ws_buf *out, const char *text)
{
	if (!text) {
		ws_buf_add(out, "null");
		return;
	}
	ws_buf_add_c(out, '"', 1);
	ws_buf_add_json(out, text, strlen(text));
	ws_buf_add_c(out, '"', 1);
}

void rpt_json_value(struct ws_buf *out, double value)
{
	if (isinf(value))
		ws_buf_add(out, value < 0 ? "\"-inf\"" : "\"inf\"");
	else if (isnan(value))
		ws_buf_add(out, "null");
	else
		ws_buf_printf(out, "%.10g", value);
}

void rpt_json_member(struct ws_buf *out, const char *key, const char *text)
{
	ws_buf_printf(out, "\"%s\":", key);
	rpt_json_text(out, text);
	ws_buf_add(out, ",");
}

void rpt_json_number(struct ws_buf *out, const char *key, double value)
{
	if (isfinite(value))
		ws_buf_printf(out, "\"%s\":%.15g,", key, value);
	else
		ws_buf_printf(out, "\"%s\":null,", key);
}

void rpt_json_close(struct ws_buf *out, const char *bracket)
{
	if (out->n && out->at[out->n - 1] == '\n')
		out->at[--out->n] = '\0';
	if (out->n && out->at[out->n - 1] == ',')
		out->at[--out->n] = '\0';
	ws_buf_add(out, bracket);
}
