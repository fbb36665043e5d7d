/* wavescope view: a trace or a profile in a browser, from a server on this machine. */
#include "cmd/wavescope/wavescope.h"

#include "base/util.h"
#include "cmd/compute/analyze.h"
#include "cmd/merge_inputs.h"
#include "serve/server.h"
#include "serve/trace.h"
#include "trace/trace.h"
#include "workload/folder.h"

#include <stdio.h>
#include <unistd.h>

struct view_args {
	const char *config_dir;
	uint64_t port;
};

static const struct ws_opt view_opts[] = {
	WS_OPT_U64(struct view_args, port, 0, "port", "N",
		   "listen on port N of this machine; 0: any that is free (the default)"),
	WS_OPT_STR(struct view_args, config_dir, 0, "config-dir", "DIR",
		   "use the .finding and .metrics files of DIR as well"),
};

/* On a terminal, in the line that the next one replaces. */
static void print_progress(void *ctx, double done)
{
	(void)ctx;
	fprintf(stderr, "\rreading the trace: %3.0f %%", 100 * done);
}

static enum ws_status open_trace(const struct ws_opt_rest *paths, struct trc_trace **out_trace,
				 struct ws_err *err)
{
	struct merge_inputs inputs = { .folder = "" };
	enum ws_status st =
		merge_inputs_find(paths->operands, (size_t)paths->n, NULL, &inputs, err);

	if (!st)
		st = trc_open(inputs.captures.at, inputs.captures.n, NULL, out_trace, err);
	/* The trace has its files open: temporary ones can go, and are not left after Ctrl-C. */
	merge_inputs_release(&inputs);
	return st;
}

static enum ws_status view_trace(const struct view_args *args, const struct ws_opt_rest *paths,
				 struct ws_err *err)
{
	struct srv_server *server = NULL;
	struct trc_trace *trace = NULL;
	struct srv_trace *site = NULL;
	bool shows_progress = isatty(STDERR_FILENO);
	/* First: what a server lacks should be known before a large trace is read. */
	enum ws_status st = srv_server_open((uint16_t)args->port, &server, err);

	if (!st)
		st = open_trace(paths, &trace, err);
	if (!st)
		st = srv_trace_create(trace, shows_progress ? print_progress : NULL, NULL, &site,
				      err);
	if (shows_progress)
		fprintf(stderr, "\r\033[K");
	if (!st)
		st = srv_server_run(server, &(struct srv_site){ srv_trace_answer, site }, err);
	srv_server_close(server);
	srv_trace_destroy(site);
	trc_close(trace);
	return st;
}

static enum ws_status run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct view_args *args = call->values;
	int n_profiles = 0;
	char port[24];

	(void)exit_code;
	if (!call->rest.n)
		return ws_fail(err, WS_E_USAGE,
			       "name a profile folder, a capture, a database or a folder of these");
	if (args->port > UINT16_MAX)
		return ws_fail(err, WS_E_USAGE, "--port requires a number up to 65535");
	for (int i = 0; i < call->rest.n; i++)
		n_profiles += wl_folder_is_profile(call->rest.operands[i]);
	snprintf(port, sizeof(port), "%u", (unsigned)args->port);
	if (n_profiles == call->rest.n)
		return an_look_around(call->rest.operands, (size_t)call->rest.n, args->config_dir,
				      port, err);
	if (n_profiles)
		return ws_fail(
			err, WS_E_USAGE,
			"profiles and traces are different pages: name one kind or the other");
	return view_trace(args, &call->rest, err);
}

const struct ws_cmd wavescope_view_cmd = {
	.name = "view",
	.summary = "a trace or a profile in a browser, from a server on this machine",
	.usage = "[options] DIR|CAPTURE|DATABASE...",
	.about = "Shows a trace (captures that --keep-captures left, or rocpd databases) or "
		 "profiles of 'rocprof-compute profile' in a browser. The pages are those of "
		 "'-f html' and 'analyze --output-format html', with every event: the browser "
		 "loads what is looked at. Prints the address. Only browsers on this machine "
		 "reach it, and only with that address; ssh -L forwards it. Ctrl-C stops it.",
	.notes = "Examples:\n"
		 "  wavescope view trace_results.db\n"
		 "  wavescope view --port 8051 out\n"
		 "  wavescope view workloads/vcopy/before workloads/vcopy/after\n"
		 "Exit codes: 0 after Ctrl-C, 1 for a failure, 2 for wrong usage.\n",
	.opts = { view_opts, WS_ARRAY_LEN(view_opts) },
	.order = WS_OPT_MIXED,
	.values_bytes = sizeof(struct view_args),
	.run = run,
};
