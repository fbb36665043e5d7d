#include "cmd/sys/options.h"

#include "base/str.h"
#include "base/util.h"

#include <stdio.h>
#include <string.h>

/* ---- tables ---- */

/* clang-format off */
#define A struct sys_args
#define ONE(...) __VA_ARGS__,
#define NONE(...)

#define GROUP(who, heading)                   WHO_##who(WS_OPT_GROUP(heading))
#define TRI(who, id, ch, name, help)          WHO_##who(WS_OPT_SWITCH(A, by[SET_##id].tri, ch, name, help))
#define STR(who, id, ch, name, arg, help)     WHO_##who(WS_OPT_STR(A, by[SET_##id].text, ch, name, arg, help))
#define WORDS(who, id, ch, name, arg, help)   WHO_##who(WS_OPT_WORDS(A, by[SET_##id].words, ch, name, arg, help))
#define MY_TRI(who, field, ch, name, help)    WHO_##who(WS_OPT_SWITCH(A, field, ch, name, help))
#define MY_STR(who, field, ch, name, arg, help)   WHO_##who(WS_OPT_STR(A, field, ch, name, arg, help))
#define MY_WORDS(who, field, ch, name, arg, help) WHO_##who(WS_OPT_WORDS(A, field, ch, name, arg, help))
#define MY_FLAG(who, field, ch, name, help)   WHO_##who(WS_OPT_BOOL(A, field, ch, name, help))
#define ALL_ROWS SYS_OPTION_TABLE(GROUP, TRI, STR, WORDS, MY_TRI, MY_STR, MY_WORDS, MY_FLAG)

/* Settings without a row above. */
#define SETTING_TRI(id, ch, name, arg, help)   WS_OPT_SWITCH(A, by[SET_##id].tri, ch, name, help),
#define SETTING_STR(id, ch, name, arg, help)   WS_OPT_STR(A, by[SET_##id].text, ch, name, arg, help),
#define SETTING_WORDS(id, ch, name, arg, help) WS_OPT_WORDS(A, by[SET_##id].words, ch, name, arg, help),

const struct ws_opt sys_run_rows[SYS_N_RUN_ROWS] = {
#define WHO_RS ONE
#define WHO_R ONE
#define WHO_S NONE
	ALL_ROWS
#undef WHO_RS
#undef WHO_R
#undef WHO_S
	WS_OPT_GROUP("All other settings"),
	SET_OPTION_TABLE(SETTING_TRI, SETTING_STR, SETTING_WORDS)
};

const struct ws_opt sys_sample_rows[SYS_N_SAMPLE_ROWS] = {
#define WHO_RS ONE
#define WHO_R NONE
#define WHO_S ONE
	ALL_ROWS
};
/* clang-format on */

/* ---- from options to settings ---- */

struct applying {
	enum sys_program program;
	const struct sys_args *args;
	struct set_values *values;
	struct ws_err *err;
};

static enum ws_status put(struct applying *a, enum set_id id, const char *text)
{
	return text ? set_put(a->values, id, text, SET_FROM_COMMAND_LINE, a->err) : WS_OK;
}

static enum ws_status put_bool(struct applying *a, enum set_id id, bool on)
{
	return put(a, id, on ? "true" : "false");
}

/* Word @i of a list, without the NULLs between occurrences; NULL: there are fewer. */
static const char *word_at(const struct ws_strv *words, size_t i)
{
	for (size_t k = 0; k < words->n; k++)
		if (words->at[k] && i-- == 0)
			return words->at[k];
	return NULL;
}

static bool has(const struct ws_strv *words, const char *word)
{
	for (size_t i = 0; word_at(words, i); i++)
		if (strcmp(word_at(words, i), word) == 0)
			return true;
	return false;
}

static enum ws_status put_words(struct applying *a, enum set_id id, const struct ws_strv *words,
				size_t first, char between)
{
	struct ws_buf text;
	enum ws_status st;

	ws_buf_init(&text, 1u << 20);
	for (size_t i = first; word_at(words, i); i++)
		ws_buf_printf(&text, "%.1s%s", text.n ? &between : "", word_at(words, i));
	st = ws_buf_status(&text, a->err);
	if (!st)
		st = put(a, id, text.at);
	ws_buf_fini(&text);
	return st;
}

/* Options that are settings. */
static enum ws_status apply_settings(struct applying *a)
{
	enum ws_status st = WS_OK;

	for (unsigned id = 0; id < SET_COUNT && !st; id++) {
		const union sys_option *value = &a->args->by[id];

		if (set_defs[id].type == SET_TYPE_BOOL && value->tri != WS_TRI_UNSET)
			st = put_bool(a, id, value->tri == WS_TRI_YES);
		else if (set_defs[id].type == SET_TYPE_LIST && value->words.n)
			st = put_words(a, id, &value->words, 0,
				       id == SET_TRACE_PERIODS ? ' ' : ',');
		else if (set_defs[id].type != SET_TYPE_BOOL && set_defs[id].type != SET_TYPE_LIST)
			st = put(a, id, value->text);
	}
	return st;
}

static enum ws_status apply_general(struct applying *a)
{
	static const enum set_id waits[] = { SET_TRACE_DELAY, SET_SAMPLING_DELAY };
	static const enum set_id durations[] = { SET_TRACE_DURATION, SET_SAMPLING_DURATION };
	const struct sys_args *args = a->args;
	enum ws_status st = WS_OK;

	if (args->config.n)
		st = put_words(a, SET_CONFIG_FILE, &args->config, 0, ':');
	if (!st && args->output.n) {
		st = put(a, SET_OUTPUT_PATH, word_at(&args->output, 0));
		if (!st)
			st = put(a, SET_OUTPUT_PREFIX, word_at(&args->output, 1));
	}
	/* -w is for both; what names one of them is more particular. */
	for (size_t i = 0; i < WS_ARRAY_LEN(waits) && !st; i++) {
		if (!args->by[waits[i]].text)
			st = put(a, waits[i], args->wait);
		if (!st && !args->by[durations[i]].text)
			st = put(a, durations[i], args->duration);
	}
	return st;
}

static enum ws_status apply_profile(struct applying *a)
{
	static const struct {
		const char *word;
		enum set_id id;
	} formats[] = {
		{ "text", SET_TEXT_OUTPUT },
		{ "json", SET_JSON_OUTPUT },
		{ "console", SET_COUT_OUTPUT },
	};
	const struct sys_args *args = a->args;
	bool tree = args->by[SET_PROFILE].tri != WS_TRI_UNSET;
	enum ws_status st = WS_OK;

	if (args->flat_profile != WS_TRI_UNSET) {
		if (tree)
			return ws_fail(a->err, WS_E_USAGE,
				       "--profile and --flat-profile exclude each other: use one");
		st = put_bool(a, SET_PROFILE, args->flat_profile == WS_TRI_YES);
		if (!st)
			st = put_bool(a, SET_FLAT_PROFILE, args->flat_profile == WS_TRI_YES);
	}
	if (!st && args->profile_format.n) {
		if (!tree && args->flat_profile == WS_TRI_UNSET)
			return ws_fail(a->err, WS_E_USAGE,
				       "--profile-format needs --profile or --flat-profile");
		st = put_bool(a, SET_PROFILE, true);
		for (size_t i = 0; i < WS_ARRAY_LEN(formats) && !st; i++)
			st = put_bool(a, formats[i].id,
				      has(&args->profile_format, formats[i].word));
		for (size_t i = 0; word_at(&args->profile_format, i) && !st; i++) {
			const char *word = word_at(&args->profile_format, i);

			if (strcmp(word, "text") && strcmp(word, "json") && strcmp(word, "console"))
				st = ws_fail(
					a->err, WS_E_USAGE,
					"option '--profile-format': no choice '%s': use text, json "
					"or console",
					word);
		}
	}
	if (!st && args->profile_diff.n) {
		st = put_bool(a, SET_DIFF_OUTPUT, true);
		if (!st)
			st = put(a, SET_INPUT_PATH, word_at(&args->profile_diff, 0));
		if (!st)
			st = put(a, SET_INPUT_PREFIX, word_at(&args->profile_diff, 1));
	}
	return st;
}

/* -H and -D: one of them alone turns the other kind of metrics off. */
static enum ws_status apply_metrics(struct applying *a)
{
	const struct sys_args *args = a->args;
	bool host = args->host == WS_TRI_YES, device = args->device == WS_TRI_YES;
	enum ws_status st = WS_OK;

	if (args->by[SET_SAMPLING_CPUS].words.n && !host)
		return ws_fail(a->err, WS_E_USAGE, "--cpus needs --host");
	if (args->by[SET_SAMPLING_GPUS].words.n && !device)
		return ws_fail(a->err, WS_E_USAGE, "--gpus needs --device");
	if (args->host == WS_TRI_UNSET && args->device == WS_TRI_UNSET)
		return WS_OK;
	st = put_bool(a, SET_USE_PROCESS_SAMPLING, host || device);
	if (!st)
		st = put_bool(a, SET_CPU_FREQ_ENABLED, host);
	return st ? st : put_bool(a, SET_USE_AMD_SMI, device);
}

/* One kind of sampling: [HZ] [DELAY] [TIDS...]. */
static enum ws_status apply_timer(struct applying *a, const struct ws_strv *words, enum set_id on,
				  enum set_id first, enum set_id second, enum set_id tids)
{
	enum ws_status st;

	if (!words->n)
		return WS_OK;
	st = put_bool(a, on, true);
	if (!st)
		st = put(a, first, word_at(words, 0));
	if (!st)
		st = put(a, second, word_at(words, 1));
	if (!st && word_at(words, 2))
		st = put_words(a, tids, words, 2, ',');
	return st;
}

static enum ws_status apply_sampling(struct applying *a)
{
	const struct sys_args *args = a->args;
	enum ws_status st = WS_OK;

	if (a->program == SYS_SAMPLE || args->sample.n || args->cputime.n || args->realtime.n ||
	    args->overflow.n)
		st = put_bool(a, SET_USE_SAMPLING, true);
	for (size_t i = 0; word_at(&args->sample, i) && !st; i++) {
		const char *word = word_at(&args->sample, i);

		if (strcmp(word, "cputime") == 0)
			st = put_bool(a, SET_SAMPLING_CPUTIME, true);
		else if (strcmp(word, "realtime") == 0)
			st = put_bool(a, SET_SAMPLING_REALTIME, true);
		else
			st = ws_fail(a->err, WS_E_USAGE,
				     "option '--sample': no choice '%s': use cputime or realtime",
				     word);
	}
	if (!st)
		st = apply_timer(a, &args->cputime, SET_SAMPLING_CPUTIME, SET_SAMPLING_CPUTIME_FREQ,
				 SET_SAMPLING_CPUTIME_DELAY, SET_SAMPLING_CPUTIME_TIDS);
	if (!st)
		st = apply_timer(a, &args->realtime, SET_SAMPLING_REALTIME,
				 SET_SAMPLING_REALTIME_FREQ, SET_SAMPLING_REALTIME_DELAY,
				 SET_SAMPLING_REALTIME_TIDS);
	if (!st)
		st = apply_timer(a, &args->overflow, SET_SAMPLING_OVERFLOW,
				 SET_SAMPLING_OVERFLOW_EVENT, SET_SAMPLING_OVERFLOW_FREQ,
				 SET_SAMPLING_OVERFLOW_TIDS);
	if (!st && a->program == SYS_SAMPLE && args->realtime.n && !args->cputime.n)
		st = put_bool(a, SET_SAMPLING_CPUTIME, false);
	return st;
}

static enum ws_status apply_back_ends(struct applying *a, const struct ws_strv *words, bool on)
{
	static const struct {
		const char *name;
		enum set_id id;
	} back_ends[] = {
		{ "kokkosp", SET_USE_KOKKOSP },
		{ "mpip", SET_USE_MPIP },
		{ "ompt", SET_USE_OMPT },
		{ "rcclp", SET_USE_RCCLP },
		{ "amd-smi", SET_USE_AMD_SMI },
		{ "rocm", SET_USE_ROCM },
		{ "mutex-locks", SET_TRACE_THREAD_LOCKS },
		{ "spin-locks", SET_TRACE_THREAD_SPIN_LOCKS },
		{ "rw-locks", SET_TRACE_THREAD_RW_LOCKS },
	};
	enum ws_status st = WS_OK;

	for (size_t i = 0; word_at(words, i) && !st; i++) {
		const char *word = word_at(words, i);
		bool all = strcmp(word, "all") == 0, known = all;

		for (size_t k = 0; k < WS_ARRAY_LEN(back_ends) && !st; k++)
			if (all || strcmp(word, back_ends[k].name) == 0) {
				known = true;
				st = put_bool(a, back_ends[k].id, on);
			}
		if (!st && !known)
			st = ws_fail(a->err, WS_E_USAGE,
				     "option '--%s': no back end '%s': --help lists them",
				     on ? "include" : "exclude", word);
	}
	return st;
}

static enum ws_status apply_interrupt(struct applying *a)
{
	const char *text = a->args->hsa_interrupt;
	enum ws_status st;

	if (!text)
		return WS_OK;
	if (strcmp(text, "0") && strcmp(text, "1"))
		return ws_fail(a->err, WS_E_USAGE, "option '--hsa-interrupt': '%s' is not 0 or 1",
			       text);
	st = ws_vec_push(&a->values->exports, "HSA_ENABLE_INTERRUPT", a->err);
	return st ? st : ws_vec_push(&a->values->exports, text, a->err);
}

enum ws_status sys_apply(enum sys_program program, const struct sys_args *args,
			 struct set_values *values, struct ws_err *err)
{
	struct applying a = { program, args, values, err };
	enum ws_status st = apply_settings(&a);

	if (!st)
		st = apply_general(&a);
	if (!st)
		st = apply_profile(&a);
	if (!st)
		st = apply_metrics(&a);
	if (!st)
		st = apply_sampling(&a);
	if (!st)
		st = apply_back_ends(&a, &args->include, true);
	if (!st)
		st = apply_back_ends(&a, &args->exclude, false);
	return st ? st : apply_interrupt(&a);
}
