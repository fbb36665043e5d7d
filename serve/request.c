#include "serve/site.h"

#include <inttypes.h>

/* Decimal digits only: what scripts of ours write. */
static bool take_number(const char **at, uint64_t *out_value)
{
	const char *p = *at;
	uint64_t value = 0;

	for (; *p >= '0' && *p <= '9'; p++) {
		if (value > (UINT64_MAX - 9) / 10)
			return false;
		value = value * 10 + (uint64_t)(*p - '0');
	}
	if (p == *at)
		return false;
	*at = p;
	*out_value = value;
	return true;
}

enum ws_status srv_request_number(const struct srv_request *request, const char *key, uint64_t max,
				  uint64_t *out_value, struct ws_err *err)
{
	const char *text = request->value(request->ctx, key, 0);
	uint64_t value;

	if (!text)
		return ws_fail(err, WS_E_USAGE, "%s is missing", key);
	if (!take_number(&text, &value) || *text || value > max)
		return ws_fail(err, WS_E_USAGE, "%s requires a number up to %" PRIu64, key, max);
	*out_value = value;
	return WS_OK;
}

enum ws_status srv_ranges_parse(const char *text, uint64_t max, uint64_t max_n,
				struct srv_range *ranges, size_t room, size_t *out_n,
				struct ws_err *err)
{
	uint64_t n_numbers = 0, next = 0;
	size_t n = 0;

	for (;;) {
		struct srv_range range;

		if (!take_number(&text, &range.first))
			break;
		range.last = range.first;
		if (*text == '-' && (text++, !take_number(&text, &range.last)))
			break;
		if (range.first < next || range.last < range.first || range.last > max)
			return ws_fail(err, WS_E_USAGE,
				       "a list requires ascending numbers up to %" PRIu64, max);
		if (n == room || range.last - range.first >= max_n - n_numbers)
			return ws_fail(err, WS_E_USAGE,
				       "a list has up to %" PRIu64 " numbers in %zu ranges", max_n,
				       room);
		n_numbers += range.last - range.first + 1;
		ranges[n++] = range;
		if (!*text) {
			*out_n = n;
			return WS_OK;
		}
		if (*text++ != ',' || range.last == UINT64_MAX)
			break;
		next = range.last + 1;
	}
	return ws_fail(err, WS_E_USAGE, "a list looks like 3-7,9");
}
