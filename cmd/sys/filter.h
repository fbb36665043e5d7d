/*
 * filter: regular expressions of -r and -R. Several are alternatives; '~' in front rejects.
 */
#ifndef WS_CMD_SYS_FILTER_H
#define WS_CMD_SYS_FILTER_H

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

#include <stdbool.h>

struct sys_filter;

/* NULL entries of @words are skipped. */
enum ws_status sys_filter_create(const struct ws_strv *words, bool ignore_case,
				 struct sys_filter **out_filter, struct ws_err *err);
void sys_filter_destroy(struct sys_filter *filter); /* NULL is fine */

/* Without filters everything is accepted, and nothing is rejected. NULL is fine. */
bool sys_filter_accepts(const struct sys_filter *filter, const char *text);
bool sys_filter_rejects(const struct sys_filter *filter, const char *text);
bool sys_filter_selects(const struct sys_filter *filter, const char *text); /* both */

/* The first match that makes @text selected; false: there is none to show. */
bool sys_filter_match(const struct sys_filter *filter, const char *text, struct ws_str *out_match);

#endif
