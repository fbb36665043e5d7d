#include "cmd/sys/counting.h"

#include <string.h>

bool sys_counts(const struct set_values *values)
{
	struct ws_str rest = ws_str_from(set_text(values, SET_ROCM_EVENTS)), word;

	return set_on(values, SET_USE_ROCM) && set_next_word(&rest, false, &word);
}

enum ws_status sys_count_args(const struct set_values *values, struct ws_arena *arena,
			      struct rp_args *out_args, struct ws_err *err)
{
	struct ws_str rest = ws_str_from(set_text(values, SET_ROCM_EVENTS)), word;
	enum ws_status st = WS_OK;

	memset(out_args, 0, sizeof(*out_args));
	out_args->pmc.max_n = 65536;
	while (!st && set_next_word(&rest, false, &word)) {
		const char *text = ws_arena_strndup(arena, word.at, word.n);

		st = text ? ws_vec_push(&out_args->pmc, text, err)
			  : ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	return st;
}
