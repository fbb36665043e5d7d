#include "cmd/rocpd/rocpd.h"

#include "base/file.h"
#include "cmd/cmd.h"
#include "cmd/rocprofv3/version.h"
#include "launch/placeholder.h"
#include "launch/rundir.h"

#include <stdlib.h>
#include <string.h>

const char *rpd_default(const char *typed, const char *variable, const char *otherwise)
{
	const char *set = getenv(variable);

	return typed ? typed : set && *set ? set : otherwise;
}

enum ws_status rpd_output_path(const char *dir, const char *stem, const char *suffix,
			       struct ws_buf *out, struct ws_err *err)
{
	static char hostname[256], cwd[PATH_MAX];
	static const char *const argv[] = { "rocpd" };
	char folder[PATH_MAX];
	struct launch_place place;
	struct ws_buf name;
	enum ws_status st;
	char *slash;

	launch_place_init(&place, hostname, cwd);
	place.argv = argv;
	place.n_argv = 1;
	launch_place_warn("-d", dir);
	launch_place_warn("-o", stem);
	ws_buf_init(&name, PATH_MAX);
	st = launch_place_expand(&place, stem, &name, err);
	/* A name from the root has its folder in it, as for rocprofv3. */
	if (!st && *name.at != '/')
		st = launch_place_expand(&place, dir, out, err);
	ws_buf_printf(out, "%s%s%s", st || *name.at == '/' ? "" : "/", name.at, suffix);
	ws_buf_fini(&name);
	if (!st)
		st = ws_buf_status(out, err);
	if (st)
		return st;
	snprintf(folder, sizeof(folder), "%s", out->at);
	slash = strrchr(folder, '/');
	*slash = '\0';
	return ws_mkdirs(folder, err);
}

struct rocpd_args {
	bool version;
};

static const struct ws_opt opts[] = {
	WS_OPT_BOOL(struct rocpd_args, version, 'v', "version", "show the version and exit"),
};

static const struct ws_cmd *const subs[] = {
	&rpd_convert_cmd, &rpd_query_cmd, &rpd_summary_cmd, &rpd_merge_cmd, &rpd_package_cmd, NULL,
};

static enum ws_status run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct rocpd_args *args = call->values;

	(void)exit_code;
	(void)err;
	if (args->version)
		rp_print_version();
	else
		ws_help_print(stdout, &cmd_rocpd, "rocpd", ws_help_columns());
	return WS_OK;
}

const struct ws_cmd cmd_rocpd = {
	.name = "rocpd",
	.summary = "look into rocpd databases, and convert them",
	.usage = "COMMAND [options]",
	.about =
		"Works on the databases that 'rocprofv3 -f rocpd' writes. Several are seen as one; "
		"none is ever changed.",
	.notes = "'rocpd COMMAND --help' tells more about a command.",
	.opts = { opts, WS_ARRAY_LEN(opts) },
	.values_bytes = sizeof(struct rocpd_args),
	.subs = subs,
	.run = run,
};
