#include "cmd/sys/counting.h"

#include <string.h>

bool sys_counts(const struct set_values *values)
{
	struct ws_str rest = ws_str_from(set_text(values, SET_ROCM_EVENTS)), word;

	return set_on(values, SET_USE_ROCM) && set_next_word(&rest, false, &word);
}

enum ws_status sys_count_init(struct sys_count *count, const struct set_values *values,
			      struct ws_err *err)
{
	struct ws_str rest = ws_str_from(set_text(values, SET_ROCM_EVENTS)), word;
	enum ws_status st = WS_OK;

	memset(count, 0, sizeof(*count));
	ws_arena_init(&count->arena, 1u << 20);
	count->names.max_n = 65536;
	while (!st && set_next_word(&rest, false, &word)) {
		const char *text = ws_arena_strndup(&count->arena, word.at, word.n);

		st = text ? ws_vec_push(&count->names, text, err)
			  : ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	count->request.words =
		(struct cnt_plan_words){ .list = &count->names, .mode = CNT_PLAN_POOL };
	return st;
}

void sys_count_fini(struct sys_count *count)
{
	ws_vec_fini(&count->names);
	ws_arena_fini(&count->arena);
}
