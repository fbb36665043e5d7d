/* The order of one run. */
#include "models/run.h"

#include "base/doc_edit.h"
#include "base/file.h"
#include "base/path.h"
#include "base/proc.h"
#include "models/folder.h"
#include "models/run_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static enum ws_status no_memory(struct ws_err *err)
{
	return ws_fail(err, WS_E_NOMEM, "out of memory");
}

void mdl_run_fail(struct mdl_run *run, const char *fmt, ...)
{
	char text[400];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	mdl_log_line(&run->log, "madengine: %s", text);
	if (!run->failed)
		run->result->reason = ws_arena_strdup(run->arena, text);
	run->failed = true;
}

/* ---- command lines ---- */

/* Quoted for a shell; in the arena. */
static const char *quoted(struct mdl_run *run, const char *text)
{
	size_t room = WS_STR_SHELL_ROOM(strlen(text));
	char *to = ws_arena_alloc(run->arena, room);

	return to ? ws_str_shell(text, to, room) : "";
}

/* What the command said last, as ": text"; "" if it said nothing. */
static const char *last_words(struct mdl_run *run)
{
	char tail[2048];
	struct ws_str line;
	int fd = open(run->log_path, O_RDONLY | O_CLOEXEC);
	off_t end = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
	ssize_t n =
		fd >= 0 ? pread(fd, tail, sizeof(tail), WS_MAX(end - (off_t)sizeof(tail), 0)) : 0;
	const char *text;

	if (fd >= 0)
		close(fd);
	line = ws_str_trim(ws_str_last_line((struct ws_str){ tail, (size_t)WS_MAX(n, 0) }));
	if (!line.n || ws_str_starts(line, "> "))
		return "";
	text = ws_arena_printf(run->arena, ": %.*s", (int)WS_MIN(line.n, (size_t)160), line.at);
	return text ? text : "";
}

static const char the_model[] = "the model";

/* False: it could not be started, failed, or took too long; the reason is set. */
static bool execute(struct mdl_run *run, const char *what, const char *command, double timeout_s)
{
	struct mdl_child_end end;
	struct ws_err err;

	mdl_log_line(&run->log, "> %s", command);
	if (run->carrier->ops->exec(run->carrier, command, timeout_s, &end, &err)) {
		mdl_run_fail(run, "%s: %s", what, err.text);
		return false;
	}
	run->result->interrupted |= end.interrupted;
	if (end.interrupted)
		mdl_run_fail(run, "%s was interrupted", what);
	else if (end.timed_out)
		mdl_run_fail(run, "%s took longer than %g s%s", what, timeout_s,
			     what == the_model ? ": --timeout sets the limit" : "");
	else if (end.exit_code)
		mdl_run_fail(run, "%s ended with exit code %d%s", what, end.exit_code,
			     last_words(run));
	else
		return true;
	return false;
}

/* ---- the run folder ---- */

static const char *run_folder(const struct mdl_model *model, struct ws_arena *arena)
{
	struct ws_str url = ws_str_from(model->url);
	const char *slash;

	while (ws_str_ends(url, "/"))
		url.n--;
	if (ws_str_ends(url, ".git"))
		url.n -= 4;
	slash = url.n ? memrchr(url.at, '/', url.n) : NULL;
	if (!url.n)
		return "run_directory";
	return slash ? ws_arena_strndup(arena, slash + 1, url.n - (size_t)(slash + 1 - url.at))
		     : ws_arena_strndup(arena, url.at, url.n);
}

static bool is_ours(const struct mdl_run *run)
{
	char mark[PATH_MAX];

	return snprintf(mark, sizeof(mark), "%s/%s", run->rd, MDL_MARK) < PATH_MAX &&
	       ws_path_exists(mark);
}

static void remove_run_folder(struct mdl_run *run)
{
	bool failed = run->failed;

	if (is_ours(run))
		execute(run, "removing the run folder",
			ws_arena_printf(run->arena, "rm -rf -- %s", quoted(run, run->rd)),
			MDL_SCRIPT_TIMEOUT_S);
	run->failed = failed;
}

static bool make_run_folder(struct mdl_run *run)
{
	const char *url = run->entry->model.url;
	char mark[PATH_MAX];
	struct ws_err err;
	bool ok;

	if (ws_path_exists(run->rd) && !is_ours(run)) {
		mdl_run_fail(run, "'%s' is in the way, and madengine did not make it: rename it",
			     run->rd);
		return false;
	}
	remove_run_folder(run);
	ok = *url ? execute(run, "git clone",
			    ws_arena_printf(run->arena, "git clone --recursive %s %s",
					    quoted(run, url), quoted(run, run->rd)),
			    MDL_SCRIPT_TIMEOUT_S)
		  : mkdir(run->rd, 0777) == 0;
	if (!ok && !run->failed)
		mdl_run_fail(run, "cannot create '%s': %s", run->rd, strerror(errno));
	if (!ok)
		return false;
	snprintf(mark, sizeof(mark), "%s/%s", run->rd, MDL_MARK);
	if (ws_file_replace(mark, "", 0, &err)) {
		mdl_run_fail(run, "%s", err.text);
		return false;
	}
	return true;
}

/* The commit of a cloned model, for the result. */
static void note_commit(struct mdl_run *run)
{
	char *argv[] = { "git", "-C", (char *)run->rd, "rev-parse", "HEAD", NULL };
	struct ws_proc_end end;
	struct ws_buf text;

	if (!*run->entry->model.url)
		return;
	ws_buf_init(&text, 4096);
	if (!ws_proc_read("git", argv, environ, WS_PROC_STDERR_DROP, 10000, &text, &end, NULL) &&
	    !end.exit_code) {
		struct ws_str commit = ws_str_trim(ws_buf_view(&text));

		run->result->git_commit = ws_arena_strndup(run->arena, commit.at, commit.n);
	}
	ws_buf_fini(&text);
}

/* A file as the user names it: in the working folder, else beside the definitions. */
static const char *find_file(struct mdl_run *run, const char *path)
{
	char *in_root = ws_arena_printf(run->arena, "%s/%s", run->root, path);

	return !ws_path_exists(path) && in_root && ws_path_exists(in_root) ? in_root : path;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* ---- scripts ---- */

static bool run_script(struct mdl_run *run, const struct mdl_script *script, const char *when)
{
	const char *from = find_file(run, script->path);
	const char *slash = strrchr(from, '/'), *name = slash ? slash + 1 : from;
	char *to = ws_arena_printf(run->arena, "%s/%s", run->rd, name);
	char what[300];
	struct ws_err err;

	snprintf(what, sizeof(what), "%s script %s", when, script->path);
	if (!ws_path_exists(from)) {
		mdl_run_fail(run, "%s: there is no such file", what);
		return false;
	}
	if (!to || mdl_copy(from, to, &err)) {
		mdl_run_fail(run, "%s: %s", what, to ? err.text : "out of memory");
		return false;
	}
	return execute(run, what,
		       ws_arena_printf(run->arena, "cd %s && bash %s %s", quoted(run, run->rd),
				       quoted(run, name), script->args),
		       MDL_SCRIPT_TIMEOUT_S);
}

/* After a failure the scripts that end samplers and collect traces still run: partial data is kept. */
static void run_post_scripts(struct mdl_run *run)
{
	for (size_t i = 0; i < run->chain->post.n; i++)
		run_script(run, &run->chain->post.at[i], "post");
}

static void collect_environment(struct mdl_run *run)
{
	const char *mode = ws_doc_get_text(run->context, "rocenv_mode", "lite");
	bool wanted =
		ws_doc_get_bool(run->context, "gen_sys_env_details",
				ws_doc_get_bool(run->context, "generate_sys_env_details", true));
	char path[PATH_MAX];
	struct ws_err err;
	char *at = path;

	if (run->options->no_environment_collector || !wanted)
		return;
	snprintf(path, sizeof(path), "%s_env.csv", run->entry->model.name);
	for (; *at; at++)
		if (*at == '/')
			*at = '_';
	if (mdl_environment_write(path, run->job.machine, run->job.env, strcmp(mode, "full") == 0,
				  &err))
		mdl_log_line(&run->log, "madengine: warning: %s", err.text);
}

/* ---- the model ---- */

static bool ends_in(const char *path, const char *suffix)
{
	return ws_str_ends(ws_str_from(path), suffix);
}

/* The command of the model in the run folder, and the folder its files come from; NULL: none. */
static const char *model_command(struct mdl_run *run, const char **out_from)
{
	const char *scripts = find_file(run, run->entry->model.scripts);
	const char *slash = strrchr(scripts, '/'), *name = slash ? slash + 1 : scripts;

	if (!ws_path_exists(scripts)) {
		mdl_run_fail(run, "there is no '%s', which the model names as its scripts",
			     run->entry->model.scripts);
		return NULL;
	}
	if (is_folder(scripts)) {
		*out_from = scripts;
		return "bash run.sh";
	}
	*out_from = slash ? ws_arena_strndup(run->arena, scripts, (size_t)(slash - scripts)) : ".";
	return ws_arena_printf(run->arena, "%s %s", ends_in(name, ".py") ? "python3" : "bash",
			       quoted(run, name));
}

static double time_limit(const struct mdl_run *run)
{
	double context_s = ws_doc_get_real(run->context, "timeout", -1);

	if (run->options->timeout_s >= 0)
		return run->options->timeout_s;
	if (context_s >= 0)
		return context_s;
	return run->entry->model.timeout_s >= 0 ? run->entry->model.timeout_s
						: MDL_TIMEOUT_DEFAULT_S;
}

/* Whether the working folder, and so the run folder, is inside @folder. */
static bool holds_workspace(const struct mdl_run *run, const char *folder)
{
	char path[PATH_MAX];
	size_t n;

	if (!realpath(folder, path))
		return false;
	n = strlen(path);
	return strncmp(run->job.workspace, path, n) == 0 &&
	       (n == 1 || !run->job.workspace[n] || run->job.workspace[n] == '/');
}

/* The files beside the model's script; only the script where the run folder would be among them. */
static bool lay_model(struct mdl_run *run, const char *from)
{
	const char *script = find_file(run, run->entry->model.scripts);
	const char *slash = strrchr(script, '/');
	bool alone = holds_workspace(run, from);
	char *to = alone ? ws_arena_printf(run->arena, "%s/%s", run->rd, slash ? slash + 1 : script)
			 : NULL;
	struct ws_err err;

	if (alone && (!to || is_folder(script)))
		mdl_run_fail(run,
			     "the model's scripts are the folder that the run is in: move them "
			     "to a folder of their own");
	else if (mdl_copy(alone ? script : from, alone ? to : run->rd, &err))
		mdl_run_fail(run, "cannot copy the model's scripts: %s", err.text);
	return !run->failed;
}

static void run_model_command(struct mdl_run *run, const char *command)
{
	const char *args = run->result->args;
	char *line = ws_arena_printf(run->arena, "cd %s && %s%s%s%s", quoted(run, run->rd),
				     run->chain->prefix, command, *args ? " " : "", args);
	double started_s = mdl_now_s();

	run->output_at = ftello(run->log.file);
	if (!line)
		mdl_run_fail(run, "out of memory");
	else
		execute(run, the_model, line, time_limit(run));
	run->output_end = ftello(run->log.file);
	run->result->test_duration = ws_arena_printf(run->arena, "%.2f", mdl_now_s() - started_s);
	mdl_log_line(&run->log, "Test Duration: %s seconds",
		     run->result->test_duration ? run->result->test_duration : "?");
	mdl_log_line(&run->log, "test_duration: %ss",
		     run->result->test_duration ? run->result->test_duration : "?");
}

/* ---- all of it ---- */

static void carry_out(struct mdl_run *run)
{
	const char *from = NULL, *command;
	bool ready = make_run_folder(run);

	if (!ready)
		return;
	note_commit(run);
	for (size_t i = 0; i < run->chain->pre.n && ready; i++)
		ready = run_script(run, &run->chain->pre.at[i], "pre");
	collect_environment(run);
	command = ready ? model_command(run, &from) : NULL;
	ready = command && lay_model(run, from);
	if (ready)
		mdl_run_read_config(run, from);
	if (ready && run->options->skip_model_run)
		mdl_log_line(&run->log, "madengine: --skip-model-run: the model is not run");
	else if (ready)
		run_model_command(run, command);
	run_post_scripts(run);
	if (!run->options->skip_model_run && !run->failed)
		mdl_run_check_outputs(run);
	if (!run->options->skip_model_run)
		mdl_run_read_log(run);
	mdl_run_collect(run);
	mdl_run_judge(run);
	if (!run->options->keep_run_folder && !run->options->keep_alive)
		remove_run_folder(run);
}

static enum ws_status open_log(struct mdl_run *run, struct ws_err *err)
{
	const char *stem = mdl_log_stem(run->entry, run->arena);
	char *path = stem ? ws_arena_printf(run->arena, "%s.run.live.log", stem) : NULL;

	if (!path)
		return no_memory(err);
	run->log_path = path;
	run->log.live = run->options->live_output;
	return ws_file_create_stream(path, &run->log.file, err);
}

enum ws_status mdl_run_model(const struct mdl_entry *entry, const struct ws_doc *context,
			     const struct mdl_chain *chain, const char *root,
			     const struct mdl_machine *machine, struct mdl_carrier *carrier,
			     const struct mdl_run_options *options, struct ws_arena *arena,
			     struct mdl_result *out_result, struct ws_err *err)
{
	struct mdl_run run = {
		.entry = entry,
		.context = context,
		.chain = chain,
		.root = root,
		.options = options,
		.carrier = carrier,
		.arena = arena,
		.result = out_result,
		.rd = run_folder(&entry->model, arena),
	};
	struct ws_doc *env = NULL;
	char workspace[PATH_MAX];
	struct ws_err why;
	enum ws_status st = mdl_result_begin(entry, context, arena, out_result, err);

	if (st)
		return st;
	if (!run.rd || !getcwd(workspace, sizeof(workspace)))
		return ws_fail_errno(err, errno, "cannot find the working folder");
	st = open_log(&run, err);
	if (st)
		return st;
	run.job = (struct mdl_job){
		.model = &entry->model,
		.built = entry->built,
		.context = context,
		.gpus = &run.gpus,
		.machine = machine,
		.workspace = workspace,
		.log = &run.log,
		.keep_alive = options->keep_alive,
	};
	st = mdl_context_gpus(context, entry->model.n_gpus, mdl_run_n_present(context, machine),
			      &run.gpus, &why);
	if (!st)
		st = mdl_run_columns(&run, &why);
	if (!st)
		st = mdl_run_variables(entry, context, chain, machine, &run.gpus,
				       options->data_file, arena, &env, &why);
	run.job.env = env;
	if (!st) {
		st = carrier->ops->start(carrier, &run.job, &why);
		if (!st)
			carry_out(&run);
		carrier->ops->stop(carrier);
	}
	if (st) /* a model that cannot be set up has a row, too, and the next one goes on */
		mdl_run_fail(&run, "%s", why.text);
	if (fclose(run.log.file) != 0)
		return ws_fail_errno(err, errno, "%s", run.log_path);
	return WS_OK;
}
