/* rocprofv3-avail pmc-check: a set of counters, checked as a set. */
#include "cmd/avail/avail.h"

#include "base/log.h"
#include "base/vec.h"
#include "counters/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int av_fatal(const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fputs("Fatal error: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	return 1;
}

static const struct av_gpu *find_gpu(const struct av_machine *machine, uint64_t number)
{
	for (size_t i = 0; i < machine->n; i++)
		if (machine->gpus[i].number == number)
			return &machine->gpus[i];
	return NULL;
}

/* Gives the name to the GPUs that are to count it. */
static enum ws_status deal(const struct av_machine *machine, int64_t device, const char *word,
			   struct ws_strv *shares, struct ws_arena *arena, int *exit_code,
			   struct ws_err *err)
{
	struct ws_err why;
	struct ws_str name;
	uint64_t devices;
	char *copy;

	if (cnt_counter_word(word, &name, &devices, &why)) {
		*exit_code = av_fatal("%s", why.text);
		return WS_OK;
	}
	if (!devices && device >= 0)
		devices = UINT64_C(1) << device;
	for (unsigned d = 0; d < 64; d++)
		if (devices >> d & 1 && !find_gpu(machine, d)) {
			*exit_code = av_fatal("Invalid device id : %u", d);
			return WS_OK;
		}
	copy = ws_arena_strndup(arena, name.at, name.n);
	if (!copy)
		return ws_fail(err, WS_E_NOMEM, "out of memory for names");
	for (size_t i = 0; i < machine->n; i++) {
		unsigned number = machine->gpus[i].number;

		if (devices && !(number < 64 && devices >> number & 1))
			continue;
		if (ws_vec_push(&shares[i], copy, err))
			return WS_E_NOMEM;
	}
	return WS_OK;
}

static void say_no(const struct av_gpu *gpu, const struct ws_strv *names, const char *why)
{
	fflush(stdout);
	fputs("Fatal error:", stderr);
	for (size_t i = 0; i < names->n; i++)
		fprintf(stderr, " %s", names->at[i]);
	fprintf(stderr, " not collected on agent %s\n", gpu->agent->name);
	ws_log_error("%s", why);
}

static bool check_gpu(const struct av_gpu *gpu, const struct ws_strv *names)
{
	struct cnt_plan_group group = { names->at, names->n };
	struct cnt_plan *plan = NULL;
	struct ws_err err;
	enum ws_status st;

	if (!gpu->cat) {
		say_no(gpu, names, "no counters are defined for this architecture");
		return false;
	}
	st = cnt_plan_make(gpu->cat, &group, 1, CNT_PLAN_FIXED, &plan, &err);
	cnt_plan_destroy(plan);
	if (st == WS_E_NOTFOUND) {
		av_fatal("Invalid counter name");
		ws_log_error("%s", err.text);
	} else if (st) {
		say_no(gpu, names, err.text);
	}
	return !st;
}

enum ws_status av_check(const struct av_machine *machine, int64_t device, char *const *words,
			size_t n_words, int *exit_code, struct ws_err *err)
{
	static struct ws_strv shares[AV_GPUS_MAX];
	struct ws_arena arena;
	enum ws_status st = WS_OK;

	ws_arena_init(&arena, 16u << 20);
	for (size_t i = 0; i < machine->n; i++)
		ws_vec_init(&shares[i], 65536);
	for (size_t i = 0; i < n_words && !st && !*exit_code; i++)
		st = deal(machine, device, words[i], shares, &arena, exit_code, err);
	for (size_t i = 0; i < machine->n && !st && !*exit_code; i++)
		if (shares[i].n && !check_gpu(&machine->gpus[i], &shares[i]))
			*exit_code = 1;
	for (size_t i = 0; i < machine->n && !st && !*exit_code; i++) {
		if (!shares[i].n)
			continue;
		printf("Following input counters can be collected together on GPU:%u",
		       machine->gpus[i].number);
		for (size_t k = 0; k < shares[i].n; k++)
			printf("\t%s", shares[i].at[k]);
		printf("\n");
	}
	for (size_t i = 0; i < machine->n; i++)
		ws_vec_fini(&shares[i]);
	ws_arena_fini(&arena);
	return st;
}
