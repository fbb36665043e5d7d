/* The ROCPROF_ variables: settings that come before the command line's. */
#include "cmd/rocprofv3/options.h"

#include "base/str.h"
#include "base/unit.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* All digits: not zero. Otherwise everything is true but a few words; nothing is an error. */
static enum ws_status env_bool(const char *name, const char *text, enum ws_tri *out,
			       struct ws_err *err)
{
	static const char *const no[] = { "off", "false", "no", "n", "f", "0" };
	size_t n = strlen(text);

	if (!n)
		return ws_fail(err, WS_E_USAGE, "%s is empty: set it to 0 or 1, or unset it", name);
	*out = WS_TRI_YES;
	if (strspn(text, "0123456789") == n && strspn(text, "0") == n)
		*out = WS_TRI_NO;
	for (size_t i = 0; i < WS_ARRAY_LEN(no); i++)
		if (strcasecmp(text, no[i]) == 0)
			*out = WS_TRI_NO;
	return WS_OK;
}

/* Words between any of @seps, into a list option; empty ones are left out. */
static enum ws_status env_words(const char *name, const char *text, const char *seps,
				const char *option, struct rp_args *args, struct ws_arena *arena,
				struct ws_err *err)
{
	const struct ws_opt *opt = ws_opt_find(rp_opts, option);
	char *copy = ws_arena_strdup(arena, text), *save = NULL;
	enum ws_status st = WS_OK;

	if (!copy)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (char *word = strtok_r(copy, seps, &save); word && !st;
	     word = strtok_r(NULL, seps, &save))
		st = ws_opt_set(opt, name, word, args, err);
	return st;
}

static enum ws_status env_groups(struct rp_args *args, struct ws_arena *arena, struct ws_err *err)
{
	const char *text = getenv("ROCPROF_STATS_SUMMARY_GROUPS");
	const struct ws_opt *opt = ws_opt_find(rp_opts, "summary-groups");
	enum ws_status st = WS_OK;

	while (text && *text && !st) {
		const char *end = strstr(text, "##@@##");
		size_t n = end ? (size_t)(end - text) : strlen(text);
		char *word = ws_arena_strndup(arena, text, n);

		if (!word)
			return ws_fail(err, WS_E_NOMEM, "out of memory");
		if (n)
			st = ws_opt_set(opt, "ROCPROF_STATS_SUMMARY_GROUPS", word, args, err);
		text = end ? end + 6 : NULL;
	}
	return st;
}

/* Variables whose text is not the option's. */
static enum ws_status env_special(struct rp_args *args, struct ws_arena *arena, struct ws_err *err)
{
	const char *text = getenv("ROCPROF_OUTPUT_FORMAT");
	enum ws_tri tri;
	enum ws_status st = WS_OK;

	if (text)
		st = env_words("ROCPROF_OUTPUT_FORMAT", text, " \t,;:", "output-format", args,
			       arena, err);
	if (!st)
		st = env_groups(args, arena, err);
	text = getenv("ROCPROF_KERNEL_FILTER_RANGE");
	if (!st && text && *text)
		st = ws_opt_set(ws_opt_find(rp_opts, "kernel-iteration-range"), "range", text, args,
				err);
	text = getenv("ROCPROF_PRELOAD");
	if (!st && text)
		st = env_words("ROCPROF_PRELOAD", text, ":", "preload", args, arena, err);
	text = getenv("ROCPROF_COLLECTION_PERIOD");
	if (!st && text) {
		st = env_words("ROCPROF_COLLECTION_PERIOD", text, ";", "collection-period", args,
			       arena, err);
		args->collection_period_unit = ws_time_unit_words[WS_TIME_NSEC];
	}
	text = getenv("ROCPROF_DEMANGLE_KERNELS");
	if (!st && text) {
		st = env_bool("ROCPROF_DEMANGLE_KERNELS", text, &tri, err);
		if (!st)
			args->mangled_kernels = tri == WS_TRI_YES ? WS_TRI_NO : WS_TRI_YES;
	}
	text = getenv("ROCPROF_MINIMUM_OUTPUT_BYTES");
	if (!st && text) {
		uint64_t n_bytes;

		if (!ws_str_u64(ws_str_from(text), &n_bytes))
			return ws_fail(err, WS_E_USAGE,
				       "ROCPROF_MINIMUM_OUTPUT_BYTES: '%s' is not a whole number",
				       text);
		args->minimum_output_data =
			ws_arena_printf(arena, "%llu",
					(unsigned long long)((n_bytes + 1023) / 1024));
	}
	text = getenv("ROCPROFILER_PC_SAMPLING_BETA_ENABLED");
	if (!st && text)
		st = env_bool("ROCPROFILER_PC_SAMPLING_BETA_ENABLED", text,
			      &args->pc_sampling_beta_enabled, err);
	return st;
}

enum ws_status rp_from_environment(struct rp_args *args, struct ws_arena *arena, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (size_t i = 0; i < rp_opts.n && !st; i++) {
		const struct ws_opt *opt = &rp_opts.at[i];
		char name[64];
		const char *text;

		if (!rp_opt_variable(i))
			continue;
		snprintf(name, sizeof(name), "ROCPROF_%s", rp_opt_variable(i));
		text = getenv(name);
		if (!text)
			continue;
		if (opt->kind == WS_OPT_KIND_TRI)
			st = env_bool(name, text, (enum ws_tri *)((char *)args + opt->offset), err);
		else if (*text)
			st = ws_opt_set(opt, name, text, args, err);
	}
	return st ? st : env_special(args, arena, err);
}
