/* rocprof-compute: the modes, and the options that may stand before them. */
#include "cmd/compute/compute.h"

#include "analysis/metric.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

/* One row per mode. */
static const struct ws_cmd *const modes[] = {
	&compute_profile_cmd,
	&compute_analyze_cmd,
	NULL,
};

static const struct ws_opt opts[] = { COMPUTE_GENERAL_OPTS(struct compute_general) };

static enum ws_status set_level(const struct compute_general *general, struct ws_err *err)
{
	static const struct {
		const char *word;
		enum ws_log_level level;
	} levels[] = { { "error", WS_LOG_ERROR },
		       { "info", WS_LOG_INFO },
		       { "debug", WS_LOG_DEBUG },
		       { "trace", WS_LOG_TRACE } };
	const char *asked = getenv("ROCPROFCOMPUTE_LOGLEVEL");

	if (general->verbose)
		ws_log_set_level(WS_LOG_DEBUG);
	if (general->quiet)
		ws_log_set_level(WS_LOG_ERROR);
	if (!asked || !asked[0])
		return WS_OK;
	for (size_t i = 0; i < WS_ARRAY_LEN(levels); i++)
		if (strcasecmp(asked, levels[i].word) == 0) {
			ws_log_set_level(levels[i].level);
			return WS_OK;
		}
	return ws_fail(err, WS_E_USAGE,
		       "ROCPROFCOMPUTE_LOGLEVEL is '%s': error, info, debug and trace are known",
		       asked);
}

enum ws_status compute_general_apply(const struct compute_general *general, const char *mode,
				     bool *out_done, struct ws_err *err)
{
	enum ws_status st = set_level(general, err);

	*out_done = false;
	if (st)
		return st;
	if (general->version) {
		printf("----------------------------------------\n"
		       "rocprofiler-compute version: " COMPUTE_VERSION " (wavescope " WS_VERSION
		       ")\n"
		       "----------------------------------------\n");
		*out_done = true;
	}
	return WS_OK;
}

enum ws_status compute_list(const struct compute_general *general, bool with_help,
			    struct ws_err *err)
{
	const char *arch = general->list_metrics ? general->list_metrics : general->list_blocks;
	struct ana_metrics *metrics;
	struct ws_buf text;
	enum ws_status st = ana_metrics_load(arch, general->config_dir, &metrics, err);

	if (st)
		return st;
	ws_buf_init(&text, 16u << 20);
	if (general->list_metrics)
		rpt_list_metrics(metrics, with_help, &text);
	else
		rpt_list_blocks(metrics, &text);
	st = ws_buf_status(&text, err);
	if (!st)
		fputs(text.at, stdout);
	ws_buf_fini(&text);
	ana_metrics_free(metrics);
	return st;
}

/*
 * `rocprof-compute -V analyze ...`: a mode after options. The options are put behind
 * it, where the mode's own table reads them.
 */
static enum ws_status run_mode(const struct ws_cmd_call *call, const struct compute_general *g,
			       int *exit_code, struct ws_err *err)
{
	char **argv = calloc((size_t)call->rest.n + 16, sizeof(*argv));
	const struct {
		bool on;
		const char *word, *value;
	} words[] = {
		{ g->version, "--version", NULL },
		{ g->verbose, "--verbose", NULL },
		{ g->quiet, "--quiet", NULL },
		{ g->specs, "--specs", NULL },
		{ g->experimental, "--experimental", NULL },
		{ g->list_metrics, "--list-metrics", g->list_metrics },
		{ g->list_blocks, "--list-blocks", g->list_blocks },
		{ g->config_dir, "--config-dir", g->config_dir },
	};
	int argc = 0;

	if (!argv)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	argv[argc++] = (char *)(uintptr_t)cmd_rocprof_compute.name;
	argv[argc++] = call->rest.operands[0];
	for (size_t i = 0; i < WS_ARRAY_LEN(words); i++) {
		if (words[i].on)
			argv[argc++] = (char *)(uintptr_t)words[i].word;
		if (words[i].on && words[i].value)
			argv[argc++] = (char *)(uintptr_t)words[i].value;
	}
	for (int i = 1; i < call->rest.n; i++)
		argv[argc++] = call->rest.operands[i];
	*exit_code = ws_cmd_main(&cmd_rocprof_compute, "wavescope " WS_VERSION, argc, argv);
	free(argv);
	return WS_OK;
}

static enum ws_status run_compute(const struct ws_cmd_call *call, int *exit_code,
				  struct ws_err *err)
{
	const struct compute_general *general = call->values;
	enum ws_status st;
	bool done;

	if (call->rest.n)
		return run_mode(call, general, exit_code, err);
	st = compute_general_apply(general, "release", &done, err);
	if (st || done)
		return st;
	if (general->list_metrics || general->list_blocks)
		return compute_list(general, false, err);
	if (general->specs)
		return compute_print_specs(err);
	return ws_fail(err, WS_E_USAGE,
		       "a mode is required: 'rocprof-compute profile -n NAME -- PROGRAM', then "
		       "'rocprof-compute analyze -p DIR'; see --help");
}

const struct ws_cmd cmd_rocprof_compute = {
	.name = "rocprof-compute",
	.summary = "profile kernels with hardware counters, and analyze the results",
	.usage = "[general options] MODE [options]",
	.about = "Collects hardware counters of GPU kernels in as many passes as needed, and "
		 "reports metrics as tables, a memory chart and a roofline.",
	.opts = { opts, WS_ARRAY_LEN(opts) },
	.order = WS_OPT_FIRST,
	.values_bytes = sizeof(struct compute_general),
	.subs = modes,
	.run = run_compute,
};
