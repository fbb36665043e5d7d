/*
 * json: members of a JSON object, for the data of pages.
 *
 * Each is written with a comma after it. rpt_json_close() replaces the last comma, and a line end
 * after it, by the bracket.
 *
 * Failure  the buffer's: ws_buf_status() in the end.
 */
#ifndef WS_REPORT_JSON_H
#define WS_REPORT_JSON_H

#include "base/str.h"

void rpt_json_text(struct ws_buf *out, const char *text); /* quoted, no comma; NULL: null */
void rpt_json_value(struct ws_buf *out, double value);    /* no comma; NaN: null, "inf", "-inf" */
void rpt_json_member(struct ws_buf *out, const char *key, const char *text);
void rpt_json_number(struct ws_buf *out, const char *key, double value); /* not finite: null */
void rpt_json_close(struct ws_buf *out, const char *bracket);

#endif
