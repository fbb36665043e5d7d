#include "cmd/rocpd/rocpd.h"

#include "base/file.h"
#include "base/util.h"
#include "cmd/cmd.h"
#include "cmd/rocprofv3/version.h"
#include "launch/placeholder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- input ---- */

static void print_bounds(const char *label, int64_t a, int64_t b)
{
	printf("# %8s time bounds: %lld : %lld nsec (delta=%lld nsec)\n", label, (long long)a,
	       (long long)b, (long long)(b - a));
}

static enum ws_status narrow(struct rpd_db *db, const struct rocpd_common *common,
			     struct ws_err *err)
{
	struct rpd_window window = common->window;
	enum ws_tri inclusive = WS_TRI_YES;
	struct rpd_bounds b;
	enum ws_status st;
	double span, left;

	if (common->inclusive && !ws_tri_parse(common->inclusive, &inclusive))
		return ws_fail(err, WS_E_USAGE, "--inclusive: '%s' is not true or false",
			       common->inclusive);
	window.overlapping = inclusive == WS_TRI_NO;
	st = rpd_narrow(db, &window, &b, err);
	if (st)
		return st;
	print_bounds("Initial", b.first_ns, b.last_ns);
	print_bounds("Windowed", b.from_ns, b.to_ns);
	span = (double)(b.last_ns - b.first_ns);
	left = (double)(b.to_ns - b.from_ns);
	printf("# Time windowing reduced the duration by %6.2f%%\n",
	       span > 0 ? 100.0 * (1 - left / span) : 0.0);
	return WS_OK;
}

enum ws_status rocpd_open(struct rpd_db *db, const struct rocpd_common *common, struct ws_err *err)
{
	enum ws_status st = rpd_open(db, &common->input, err);

	if (!st && !rpd_window_is_open(&common->window))
		st = narrow(db, common, err);
	return st;
}

/* ---- output ---- */

static const char *or_variable(const char *typed, const char *variable, const char *otherwise)
{
	const char *set = getenv(variable);

	return typed ? typed : set && *set ? set : otherwise;
}

static enum ws_status make_path(const char *dir, const char *stem, const char *suffix,
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
	/* An absolute name includes its folder, as for rocprofv3. */
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

static const char *output_dir(const struct rocpd_common *common)
{
	return or_variable(common->output_path, "ROCPD_OUTPUT_PATH", "./rocpd-output-data");
}

enum ws_status rocpd_output_path(const struct rocpd_common *common, const char *stem,
				 const char *suffix, struct ws_buf *out, struct ws_err *err)
{
	return make_path(output_dir(common),
			 or_variable(common->output_file, "ROCPD_OUTPUT_NAME", stem), suffix, out,
			 err);
}

enum ws_status rocpd_output_path_of(const struct rocpd_common *common, const char *name,
				    const char *suffix, struct ws_buf *out, struct ws_err *err)
{
	const char *typed = or_variable(common->output_file, "ROCPD_OUTPUT_NAME", "");
	struct ws_buf stem;
	enum ws_status st;

	ws_buf_init(&stem, PATH_MAX);
	ws_buf_printf(&stem, "%s%s%s", typed, *typed ? "_" : "", name);
	st = ws_buf_status(&stem, err);
	if (!st)
		st = make_path(output_dir(common), stem.at, suffix, out, err);
	ws_buf_fini(&stem);
	return st;
}

const char *const rocpd_format_names[] = { "console", "csv",       "json",      "md", "html",
					   "pdf",     "dashboard", "clipboard", NULL };

enum ws_status rocpd_check_format(int format, struct ws_err *err)
{
	if (format < RPD_FORMAT_COUNT)
		return WS_OK;
	return ws_fail(err, WS_E_UNSUPPORTED,
		       "--format %s is not supported: html and md can be printed or pasted",
		       rocpd_format_names[format]);
}

enum ws_status rocpd_write_rows(const char *path, int format, sqlite3_stmt *stmt,
				uint64_t *out_rows, struct ws_err *err)
{
	FILE *file = stdout;
	enum ws_status st = path ? ws_file_create_stream(path, &file, err) : WS_OK;

	if (st)
		return st;
	st = rpd_print(file, (enum rpd_format)format, stmt, out_rows, err);
	if (path && fclose(file) != 0 && !st)
		st = ws_fail_errno(err, errno, "cannot write '%s'", path);
	return st;
}

/* ---- the command ---- */

struct rocpd_args {
	bool version;
};

static const struct ws_opt opts[] = {
	WS_OPT_BOOL(struct rocpd_args, version, 'v', "version", "show the version and exit"),
};

static const struct ws_cmd *const subs[] = {
	&rocpd_convert_cmd, &rocpd_query_cmd,   &rocpd_summary_cmd,
	&rocpd_merge_cmd,   &rocpd_package_cmd, NULL,
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
	.summary = "query, summarize, merge and convert rocpd databases",
	.usage = "COMMAND [options]",
	.about = "Works on the databases that 'rocprofv3 -f rocpd' writes. Several are read as "
		 "one; none is ever changed.",
	.notes = "'rocpd COMMAND --help' describes the options of a command.",
	.opts = { opts, WS_ARRAY_LEN(opts) },
	.values_bytes = sizeof(struct rocpd_args),
	.subs = subs,
	.run = run,
};
