/* Plans from counters as options spell them: lists, groups, "device=0". */
#include "counters/plan_words.h"

#include "base/arena.h"
#include "base/str.h"

#include <string.h>

#define WORDS_MAX 65536u
#define ARENA_MAX (64u << 20)

/* Names as typed, group by group, for one GPU. */
struct word_list {
	struct ws_arena arena;
	struct ws_strv words;
	WS_VEC(size_t) firsts; /* where each group begins */
};

static enum ws_status add_word(struct word_list *names, struct ws_str word, uint32_t gpu,
			       struct ws_err *err)
{
	char *copy = ws_arena_strndup(&names->arena, word.at, word.n);
	struct ws_str name;
	uint64_t devices;
	enum ws_status st = copy ? cnt_counter_word(copy, &name, &devices, err)
				 : ws_fail(err, WS_E_NOMEM, "out of memory");

	if (st || (devices && !(gpu < 64 && devices >> gpu & 1)))
		return st;
	copy = ws_arena_strndup(&names->arena, name.at, name.n);
	return copy ? ws_vec_push(&names->words, copy, err)
		    : ws_fail(err, WS_E_NOMEM, "out of memory");
}

/* Blanks and commas separate; "device=0,device=2" belongs to the word before it. */
static enum ws_status add_words(struct word_list *names, const char *text, uint32_t gpu,
				struct ws_err *err)
{
	enum ws_status st = WS_OK;

	while (!st && *(text += strspn(text, ", \t"))) {
		size_t n = strcspn(text, ", \t");

		while (strncmp(text + n, ",device=", 8) == 0)
			n += 8 + strcspn(text + n + 8, ", \t");
		st = add_word(names, (struct ws_str){ text, n }, gpu, err);
		text += n;
	}
	return st;
}

static enum ws_status collect_names(struct word_list *names, const struct ws_strv *list,
				    uint32_t gpu, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (size_t i = 0; i < list->n && !st; i++) {
		/* NULL stands before each group. */
		if (!list->at[i] || !names->firsts.n)
			st = ws_vec_push(&names->firsts, names->words.n, err);
		if (!st && list->at[i])
			st = add_words(names, list->at[i], gpu, err);
	}
	return st;
}

enum ws_status cnt_gpu_plan_init(struct cnt_gpu_plan *out_plan, const struct cnt_plan_words *words,
				 uint32_t gpu, const struct gpu_agent *agent, struct ws_err *err)
{
	struct cnt_plan_group *groups = NULL;
	struct word_list names;
	enum ws_status st;

	memset(out_plan, 0, sizeof(*out_plan));
	ws_arena_init(&names.arena, ARENA_MAX);
	ws_vec_init(&names.words, WORDS_MAX);
	ws_vec_init(&names.firsts, WORDS_MAX);
	st = cnt_catalogue_create(agent, &out_plan->cat, err);
	if (!st && words->definitions)
		st = cnt_catalogue_add_file(out_plan->cat, words->definitions, err);
	if (!st)
		st = collect_names(&names, words->list, gpu, err);
	if (!st) {
		groups = ws_arena_array(&names.arena, names.firsts.n + 1, sizeof(*groups));
		if (!groups)
			st = ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	for (size_t i = 0; i < names.firsts.n && !st; i++) {
		size_t end = i + 1 < names.firsts.n ? names.firsts.at[i + 1] : names.words.n;

		groups[i] = (struct cnt_plan_group){ names.words.at + names.firsts.at[i],
						     end - names.firsts.at[i] };
	}
	if (!st)
		st = cnt_plan_make(out_plan->cat, groups, names.firsts.n,
				   words->mode | CNT_PLAN_KEEP_GOING, &out_plan->plan, err);
	ws_vec_fini(&names.words);
	ws_vec_fini(&names.firsts);
	ws_arena_fini(&names.arena);
	return st;
}

void cnt_gpu_plan_fini(struct cnt_gpu_plan *plan)
{
	cnt_plan_destroy(plan->plan);
	cnt_catalogue_destroy(plan->cat);
	memset(plan, 0, sizeof(*plan));
}
