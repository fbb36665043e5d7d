#include "counters/catalogue.h"

/* AMD's own texts, which scripts look for. */
enum ws_status cnt_counter_word(const char *word, struct ws_str *out_name, uint64_t *out_devices,
				struct ws_err *err)
{
	struct ws_str rest = ws_str_from(word), name, list, part, key;
	uint64_t devices = 0, number;

	ws_str_next(&rest, ':', &name);
	if (!name.n)
		return ws_fail(err, WS_E_USAGE, "Invalid counter name");
	while (ws_str_next(&rest, ':', &list)) {
		if (rest.at)
			return ws_fail(err, WS_E_USAGE, "Invalid format for pmc-check");
		while (ws_str_next(&list, ',', &part)) {
			if (!ws_str_next(&part, '=', &key) || !ws_str_is(key, "device") ||
			    !ws_str_u64(part, &number))
				return ws_fail(err, WS_E_USAGE,
					       "Incorrect input format for device index");
			if (number >= 64)
				return ws_fail(err, WS_E_USAGE, "Invalid device id : %llu",
					       (unsigned long long)number);
			devices |= UINT64_C(1) << number;
		}
	}
	*out_name = name;
	*out_devices = devices;
	return WS_OK;
}
