/* What some options add to the counters: traces of HIP calls, databases, PC samples. */
#include "cmd/compute/profile_collect.h"

#include "base/path.h"
#include "base/str.h"
#include "cmd/compute/profile_log.h"
#include "launch/lines.h"
#include "output/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct col_collect_config *pf_services(const struct pf_args *args)
{
	static struct col_collect_config config;

	config.services = 0;
	config.flags = 0;
	if (args->hip_trace)
		config.services |= COL_SERVICE_BIT(HIP_RUNTIME) | COL_SERVICE_BIT(HIP_COMPILER);
	if (args->torch_trace) {
		config.services |= COL_SERVICE_BIT(MARKER);
		config.flags |= COL_COLLECT_FLAG(KERNEL_RENAME); /* a kernel knows its range */
	}
	return &config;
}

/* Only these of the files that a format makes; others are removed again. */
static const struct wanted {
	const char *suffix; /* of the file */
	const char *target; /* what it is called in the folder: %s is the pass */
} wanted[] = {
	{ "_hip_api_trace.csv", "%s_hip_api_trace.csv" },
	{ "_marker_api_trace.csv", "torch_trace_%s_marker_api_trace.csv" },
	{ "_counter_collection.csv", "torch_trace_%s_counter_collection.csv" },
	{ "_results.db", "%s.db" },
};

static bool keeps(const struct pf_args *args, const struct wanted *file)
{
	if (strncmp(file->target, "torch_trace", 11) == 0)
		return args->torch_trace;
	return ws_str_ends(ws_str_from(file->suffix), ".db") ? args->retain_rocpd : args->hip_trace;
}

static enum ws_status place(struct pf_collect *c, const char *path, const char *name,
			    struct ws_err *err)
{
	char target[256], to[PATH_MAX];
	enum ws_status st;

	for (size_t i = 0; i < WS_ARRAY_LEN(wanted); i++) {
		if (!ws_str_ends(ws_str_from(path), wanted[i].suffix) ||
		    !keeps(c->pf->args, &wanted[i]))
			continue;
		snprintf(target, sizeof(target), wanted[i].target, name);
		st = ws_path_join(c->pf->dir, target, to, err);
		if (!st && rename(path, to) != 0)
			st = ws_fail_errno(err, errno, "cannot write '%s'", to);
		return st;
	}
	unlink(path);
	return WS_OK;
}

enum ws_status pf_extras_write(struct pf_collect *c, const struct trc_counted *table,
			       const char *name, struct ws_err *err)
{
	const struct pf_args *args = c->pf->args;
	struct output_result result = { .n_files = 0 };
	struct output_config config;
	char prefix[2 * PATH_MAX];
	enum ws_status st;

	output_config_init(&config);
	if (args->hip_trace || args->torch_trace)
		config.formats |= OUTPUT_BIT(CSV);
	if (args->retain_rocpd)
		config.formats |= OUTPUT_BIT(ROCPD);
	if (!config.formats)
		return WS_OK;
	snprintf(prefix, sizeof(prefix), "%s/.out-%s", c->pf->dir, name);
	config.prefix = prefix;
	st = output_write(trc_counted_trace(table), NULL, 0, &config, &result, err);
	for (size_t i = 0; i < result.n_files; i++)
		if (result.files[i].path && !st)
			st = place(c, result.files[i].path, name, err);
	output_result_fini(&result);
	return st;
}

/* ---- PC sampling ---- */

static bool wants_samples(const struct pf *pf)
{
	for (size_t i = 0; i < pf->n_sections; i++)
		if (strcmp(pf->sections[i], "21") == 0 ||
		    strcmp(pf->sections[i], "pc_sampling") == 0)
			return true;
	return false;
}

static void sampled_line(void *ctx, const char *text)
{
	pf_log(PF_LOG_INFO, "   |-> [rocprofv3] %s", text);
}

/* rocprofv3 beside us does it, as AMD's does for AMD's. */
static enum ws_status run_sampled(struct pf_collect *c, struct ws_proc_end *out_end,
				  struct ws_err *err)
{
	static const char *const places[] = { ".", NULL };
	bool by_time = strcmp(c->pf->pc_method, "host_trap") == 0;
	char program[PATH_MAX], interval[32];
	/* clang-format off */
	const char *words[] = {
		program, "--kernel-trace", "--pc-sampling-beta-enabled",
		"--pc-sampling-method", c->pf->pc_method,
		"--pc-sampling-unit", by_time ? "time" : "cycles",
		"--pc-sampling-interval", interval,
		"--output-format", "csv", "json", "-d", c->pf->dir, "-o", "ps_file", "--",
	};
	/* clang-format on */
	struct launch_lines lines;
	char **argv;
	size_t n = WS_ARRAY_LEN(words);
	enum ws_status st = ws_path_beside(places, "rocprofv3", program, err);

	snprintf(interval, sizeof(interval), "%llu", (unsigned long long)c->pf->pc_interval);
	for (size_t i = 0; c->pf->argv[i]; i++)
		n++;
	argv = st ? NULL : ws_arena_array(&c->pf->arena, n + 1, sizeof(*argv));
	if (!st && !argv)
		st = ws_fail(err, WS_E_NOMEM, "out of memory");
	if (st)
		return st;
	for (size_t i = 0; i < n; i++)
		argv[i] = i < WS_ARRAY_LEN(words) ? (char *)words[i]
						  : c->pf->argv[i - WS_ARRAY_LEN(words)];
	st = launch_lines_start(&lines, LAUNCH_LINES_BOTH, sampled_line, NULL, err);
	if (st)
		return st;
	st = ws_proc_run(program, argv, environ, out_end, err);
	launch_lines_stop(&lines);
	return st;
}

static bool samples_are_there(const struct pf *pf)
{
	char name[64], path[PATH_MAX];

	snprintf(name, sizeof(name), "ps_file_pc_sampling_%s.csv", pf->pc_method);
	return !ws_path_join(pf->dir, name, path, NULL) && ws_path_exists(path);
}

enum ws_status pf_sample(struct pf_collect *c, struct ws_err *err)
{
	struct ws_proc_end end = { 0 };
	enum ws_status st;

	if (!wants_samples(c->pf))
		return WS_OK;
	if (c->pf->rank.known)
		pf_log(PF_LOG_WARNING, "PC sampling is one more run of the program: one that calls "
				       "MPI_Init may fail");
	pf_log(PF_LOG_INFO, "[Run PC sampling]");
	st = run_sampled(c, &end, err);
	if (!st && end.interrupted) {
		c->stop_signal = end.interrupted;
		return ws_fail(err, WS_E_STATE, "PC sampling: interrupted (%s)",
			       strsignal(end.interrupted));
	}
	if (!st && end.exit_code)
		st = ws_fail(err, WS_E_STATE,
			     "PC sampling failed with exit code %d, see the messages above; remove "
			     "block 21 to skip it",
			     end.exit_code);
	if (!st && !samples_are_there(c->pf))
		pf_log(PF_LOG_WARNING,
		       "no PC samples: no kernel runs as long as %llu %s: use a smaller "
		       "--pc-sampling-interval or larger data",
		       (unsigned long long)c->pf->pc_interval,
		       strcmp(c->pf->pc_method, "stochastic") == 0 ? "cycles" : "microseconds");
	return st;
}
