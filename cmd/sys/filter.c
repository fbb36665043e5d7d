#include "cmd/sys/filter.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* Two expressions, either of which may be missing: POSIX extended, as for grep -E. */
struct sys_filter {
	regex_t accept, reject;
	bool accepts, rejects;
};

/* All words of one kind as alternatives. */
static enum ws_status compile(const struct ws_strv *words, bool rejecting, bool ignore_case,
			      regex_t *out, bool *out_any, struct ws_err *err)
{
	struct ws_buf all;
	enum ws_status st;
	char why[128];
	int code;

	ws_buf_init(&all, 1u << 20);
	for (size_t i = 0; i < words->n; i++) {
		const char *word = words->at[i];

		if (!word || !*word || (*word == '~') != rejecting)
			continue;
		ws_buf_printf(&all, "%s%s", all.n ? "|" : "", word + rejecting);
	}
	st = ws_buf_status(&all, err);
	if (!st && all.n) {
		code = regcomp(out, all.at, REG_EXTENDED | (ignore_case ? REG_ICASE : 0));
		*out_any = !code;
		if (code) {
			regerror(code, out, why, sizeof(why));
			st = ws_fail(err, WS_E_USAGE, "filter '%s': %s", all.at, why);
		}
	}
	ws_buf_fini(&all);
	return st;
}

enum ws_status sys_filter_create(const struct ws_strv *words, bool ignore_case,
				 struct sys_filter **out_filter, struct ws_err *err)
{
	struct sys_filter *filter = calloc(1, sizeof(*filter));
	enum ws_status st;

	if (!filter)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	st = compile(words, false, ignore_case, &filter->accept, &filter->accepts, err);
	if (!st)
		st = compile(words, true, ignore_case, &filter->reject, &filter->rejects, err);
	if (st)
		sys_filter_destroy(filter);
	else
		*out_filter = filter;
	return st;
}

void sys_filter_destroy(struct sys_filter *filter)
{
	if (!filter)
		return;
	if (filter->accepts)
		regfree(&filter->accept);
	if (filter->rejects)
		regfree(&filter->reject);
	free(filter);
}

bool sys_filter_accepts(const struct sys_filter *filter, const char *text)
{
	return !filter || !filter->accepts || regexec(&filter->accept, text, 0, NULL, 0) == 0;
}

bool sys_filter_rejects(const struct sys_filter *filter, const char *text)
{
	return filter && filter->rejects && regexec(&filter->reject, text, 0, NULL, 0) == 0;
}

bool sys_filter_selects(const struct sys_filter *filter, const char *text)
{
	return sys_filter_accepts(filter, text) && !sys_filter_rejects(filter, text);
}

bool sys_filter_match(const struct sys_filter *filter, const char *text, struct ws_str *out_match)
{
	regmatch_t match;

	if (!filter || !filter->accepts || regexec(&filter->accept, text, 1, &match, 0) != 0 ||
	    match.rm_so == match.rm_eo)
		return false;
	*out_match = (struct ws_str){ text + match.rm_so, (size_t)(match.rm_eo - match.rm_so) };
	return true;
}
