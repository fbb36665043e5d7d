#include "base/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <stdlib.h>

/*
 * Backtracking ends after so many steps, 20 ms or so: enough for any sensible pattern and a name
 * of 20,000 characters, and a program with a thousand kernels still starts.
 */
#define STEPS_MAX 1000000u
#define HEAP_MAX_KIB 16384u

/* \u0041, unset groups and '$' as in ECMAScript; names are bytes, whatever the pattern says. */
#define OPTIONS                                                                                    \
	(PCRE2_ALT_BSUX | PCRE2_MATCH_UNSET_BACKREF | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_UTF |     \
	 PCRE2_NEVER_UCP)

struct ws_pattern {
	pcre2_code *code;
	pcre2_match_context *limits;
};

static enum ws_status no_memory(struct ws_err *err)
{
	return ws_fail(err, WS_E_NOMEM, "out of memory");
}

static enum ws_status compile(const char *text, enum ws_pattern_part part, pcre2_code **out_code,
			      struct ws_err *err)
{
	uint32_t ends = part == WS_PATTERN_WHOLE ? PCRE2_ANCHORED | PCRE2_ENDANCHORED : 0;
	PCRE2_SIZE at = 0;
	PCRE2_UCHAR why[128];
	int error = 0;

	*out_code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, OPTIONS | ends, &error,
				  &at, NULL);
	if (*out_code)
		return WS_OK;
	if (error == PCRE2_ERROR_HEAP_FAILED)
		return no_memory(err);
	pcre2_get_error_message(error, why, sizeof(why));
	return ws_fail(err, WS_E_USAGE, "'%s' is not a regular expression: position %zu: %s", text,
		       (size_t)at + 1, (const char *)why);
}

enum ws_status ws_pattern_create(const char *text, enum ws_pattern_part part,
				 struct ws_pattern **out_pattern, struct ws_err *err)
{
	struct ws_pattern *pattern = calloc(1, sizeof(*pattern));
	enum ws_status st = pattern ? compile(text, part, &pattern->code, err) : no_memory(err);

	if (!st) {
		pattern->limits = pcre2_match_context_create(NULL);
		if (!pattern->limits)
			st = no_memory(err);
	}
	if (st) {
		ws_pattern_destroy(pattern);
		return st;
	}
	pcre2_set_match_limit(pattern->limits, STEPS_MAX);
	pcre2_set_heap_limit(pattern->limits, HEAP_MAX_KIB);
	*out_pattern = pattern;
	return WS_OK;
}

void ws_pattern_destroy(struct ws_pattern *pattern)
{
	if (!pattern)
		return;
	pcre2_match_context_free(pattern->limits);
	pcre2_code_free(pattern->code);
	free(pattern);
}

enum ws_status ws_pattern_match(const struct ws_pattern *pattern, const char *name,
				bool *out_matches, struct ws_err *err)
{
	pcre2_match_data *data = pcre2_match_data_create(1, NULL);
	int result;

	if (!data)
		return no_memory(err);
	result = pcre2_match(pattern->code, (PCRE2_SPTR)name, PCRE2_ZERO_TERMINATED, 0, 0, data,
			     pattern->limits);
	pcre2_match_data_free(data);
	if (result == PCRE2_ERROR_NOMEMORY)
		return no_memory(err);
	if (result < 0 && result != PCRE2_ERROR_NOMATCH)
		return ws_fail(
			err, WS_E_LIMIT,
			"gave up matching '%.80s' with a regular expression that has too many "
			"ways to match: simplify nested repetitions such as (a+)+",
			name);
	*out_matches = result >= 0;
	return WS_OK;
}
