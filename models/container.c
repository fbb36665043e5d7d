#include "models/container.h"

#include "base/doc_edit.h"
#include "base/log.h"
#include "base/path.h"
#include "base/proc.h"
#include "gpu/present.h"
#include "models/shell.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define LINE_BYTES_MAX (1u << 20)
#define ENGINE_TIMEOUT_MS 10000
#define START_TIMEOUT_S 600.0 /* the first start of an image unpacks it */
#define SHORT_TIMEOUT_S 60.0

/* The file in the container that has the pid of the command that runs. */
#define PID_FILE "/tmp/.madengine.pid"

extern char **environ;

struct container {
	struct mdl_carrier carrier;
	const char *engine;
	const struct mdl_job *job; /* NULL: not started */
	struct ws_arena *arena;
	const char *name;
};

/* ---- the engine ---- */

static const char *const engines[] = { "docker", "podman" };

/* docker is a client: without its service it cannot start anything. */
static bool answers(const char *engine, char *out_why, size_t room)
{
	char *argv[] = { (char *)engine, "info", "--format", "ok", NULL };
	struct ws_err err = { .status = WS_OK };
	struct ws_proc_end end;
	struct ws_buf out;
	bool ok;

	ws_buf_init(&out, 1u << 16);
	ok = !ws_proc_read(engine, argv, environ, WS_PROC_STDERR_JOIN, ENGINE_TIMEOUT_MS, &out,
			   &end, &err) &&
	     !end.exit_code;
	if (!ok)
		snprintf(out_why, room, "%.*s",
			 WS_STR_ARGS(err.status ? ws_str_from(err.text)
						: ws_str_last_line(ws_buf_view(&out))));
	ws_buf_fini(&out);
	return ok;
}

static const char *look_for_engine(void)
{
	const char *asked = getenv("MAD_CONTAINER_ENGINE");
	char path[PATH_MAX], why[200];

	if (asked && !strcmp(asked, "none"))
		return NULL;
	for (size_t i = 0; i < WS_ARRAY_LEN(engines); i++) {
		if (asked && *asked && strcmp(asked, engines[i]) != 0)
			continue;
		if (ws_path_program(engines[i], path, NULL))
			continue;
		if (answers(engines[i], why, sizeof(why)))
			return engines[i];
		ws_log_warn("%s is installed but does not work: %s", engines[i], why);
	}
	return NULL;
}

const char *mdl_container_engine(void)
{
	static const char *engine;
	static bool looked;

	if (!looked)
		engine = look_for_engine();
	looked = true;
	return engine;
}

/* ---- the command line ---- */

/* clang-format off */
static const struct vendor {
	const char *name;
	const char *options;
} vendors[] = {
	{ "AMD",    "--network host -u root --group-add video --cap-add=SYS_PTRACE "
		    "--cap-add SYS_ADMIN --device /dev/fuse --security-opt seccomp=unconfined "
		    "--security-opt apparmor=unconfined --ipc=host" },
	{ "NVIDIA", "-u root --cap-add=SYS_PTRACE --cap-add SYS_ADMIN --cap-add SYS_NICE "
		    "--device /dev/fuse --security-opt seccomp=unconfined "
		    "--security-opt apparmor=unconfined --network host --ipc=host" },
};
/* clang-format on */

const char *mdl_container_name(const char *image, struct ws_arena *arena)
{
	const char *rank = getenv("MAD_IN_SLURM_JOB") ? getenv("NODE_RANK") : NULL;
	char *name = ws_arena_printf(arena, "container_%s%s%s", image, rank ? "_node" : "",
				     rank ? rank : "");

	for (char *c = name; c && *c; c++) {
		if (!isalnum((unsigned char)*c) && !strchr("_.-", *c))
			*c = '_';
	}
	return name;
}

static void add_word(const char *option, const char *value, struct ws_buf *out)
{
	ws_buf_printf(out, " %s ", option);
	mdl_shell_word(value, out);
}

static enum ws_status add_amd_gpus(const struct mdl_gpus *gpus, const struct gpu_agents *present,
				   struct ws_buf *out, struct ws_err *err)
{
	ws_buf_add(out, " --device=/dev/kfd");
	for (size_t i = 0; i < gpus->n; i++) {
		unsigned gpu = gpus->at[i];

		if (gpu >= present->n)
			return ws_fail(err, WS_E_USAGE,
				       "docker_gpus names GPU %u: this machine has %zu", gpu,
				       present->n);
		ws_buf_printf(out, " --device=/dev/dri/renderD%llu",
			      (unsigned long long)present->at[gpu].drm_render_minor);
	}
	return WS_OK;
}

static enum ws_status add_gpus(const struct mdl_job *job, bool nvidia,
			       const struct gpu_agents *present, const char *prefix,
			       struct ws_buf *out, struct ws_err *err)
{
	if (nvidia) {
		ws_buf_add(out, " --gpus '\"device=");
		for (size_t i = 0; i < job->gpus->n; i++)
			ws_buf_printf(out, "%u,", job->gpus->at[i]);
		ws_buf_add(out, "\"'");
		return WS_OK;
	}
	if (!job->machine->simulated)
		return add_amd_gpus(job->gpus, present, out, err);
	ws_buf_add(out, " -v ");
	mdl_shell_word(prefix, out);
	ws_buf_add(out, ":" MDL_CONTAINER_PREFIX ":ro");
	return WS_OK;
}

/* A file of wavescope has another path inside. */
static void add_value(const char *value, const char *prefix, struct ws_buf *out)
{
	size_t n = strlen(prefix);
	struct ws_buf inside;

	if (strncmp(value, prefix, n) != 0 || value[n] != '/') {
		mdl_shell_word(value, out);
		return;
	}
	ws_buf_init(&inside, LINE_BYTES_MAX);
	ws_buf_printf(&inside, MDL_CONTAINER_PREFIX "%s", value + n);
	mdl_shell_word(inside.at, out);
	if (inside.failed)
		out->failed = inside.failed;
	ws_buf_fini(&inside);
}

static enum ws_status add_env(const struct mdl_job *job, const char *prefix, struct ws_buf *out,
			      struct ws_err *err)
{
	const struct ws_doc *env = job->env;

	for (size_t i = 0; env && i < env->n; i++) {
		const char *value = env->at[i]->text ? env->at[i]->text : "";

		if (!mdl_shell_name_ok(env->at[i]->key))
			return ws_fail(err, WS_E_USAGE, "'%s' cannot be the name of a variable",
				       env->at[i]->key);
		/* The engine reads a variable without a value from our environment. */
		ws_buf_printf(out, " --env %s", env->at[i]->key);
		if (mdl_is_secret(env->at[i]->key) && getenv(env->at[i]->key))
			continue;
		ws_buf_add_c(out, '=', 1);
		if (job->machine->simulated)
			add_value(value, prefix, out);
		else
			mdl_shell_word(value, out);
	}
	return WS_OK;
}

enum ws_status mdl_container_line(const char *engine, const struct mdl_job *job, const char *name,
				  const struct gpu_agents *present, const char *prefix,
				  struct ws_buf *out, struct ws_err *err)
{
	const char *vendor = ws_doc_get_text(job->context, "gpu_vendor", "AMD");
	const char *cpus = ws_doc_get_scalar(job->context, "docker_cpus", "");
	const struct ws_doc *mounts = ws_doc_get(job->context, "docker_mounts");
	const char *image = ws_doc_get_text(job->built, "docker_image", "");
	const struct vendor *row = NULL;
	enum ws_status st;

	for (size_t i = 0; i < WS_ARRAY_LEN(vendors); i++) {
		if (!strcasecmp(vendors[i].name, vendor))
			row = &vendors[i];
	}
	if (!row)
		return ws_fail(err, WS_E_USAGE, "gpu_vendor is '%s': AMD and NVIDIA are known",
			       vendor);
	ws_buf_printf(out, "%s run -t -d %s", engine, row->options);
	st = add_gpus(job, row == &vendors[1], present, prefix, out, err);
	if (st)
		return st;
	if (*cpus) {
		ws_buf_add(out, " --cpuset-cpus ");
		for (const char *c = cpus; *c; c++) {
			if (!isdigit((unsigned char)*c) && !strchr(",- ", *c))
				return ws_fail(err, WS_E_USAGE,
					       "docker_cpus is '%s': give a list as "
					       "\"0-3,8\"",
					       cpus);
			if (*c != ' ')
				ws_buf_add_n(out, c, 1);
		}
	}
	st = add_env(job, prefix, out, err);
	if (st)
		return st;
	for (size_t i = 0; mounts && mounts->kind == WS_DOC_MAP && i < mounts->n; i++) {
		add_word("-v", mounts->at[i]->text, out);
		ws_buf_add(out, ":");
		mdl_shell_word(mounts->at[i]->key, out);
	}
	if (*job->model->additional_docker_run_options)
		ws_buf_printf(out, " %s", job->model->additional_docker_run_options);
	add_word("-v", job->workspace, out);
	ws_buf_add(out, ":/myworkspace/ --workdir /myworkspace/");
	add_word("--name", name, out);
	ws_buf_add(out, " ");
	mdl_shell_word(image, out);
	ws_buf_add(out, " cat");
	return ws_buf_status(out, err);
}

/* ---- the carrier ---- */

/*
 * A command line of the engine, into the log. @what is for its failure. NULL: it may fail, and
 * what it says then would only alarm.
 */
static enum ws_status run_line(struct container *c, const char *line, const char *what,
			       double timeout_s, struct ws_err *err)
{
	char *argv[] = { "bash", "-c", (char *)line, NULL };
	struct mdl_child_end end = { 0 };
	struct mdl_log log = { 0 };
	struct ws_buf said;
	enum ws_status st;

	ws_buf_init(&said, 1u << 16);
	if (what)
		log = *c->job->log;
	log.also = &said;
	if (what)
		mdl_log_line(c->job->log, "+ %s", line);
	st = mdl_child_run(argv, environ, NULL, timeout_s, &log, &end, err);
	if (!st && what && end.timed_out)
		st = ws_fail(err, WS_E_TIMEOUT, "%s took more than %.0f s", what, timeout_s);
	else if (!st && what && end.exit_code)
		st = ws_fail(err, WS_E_STATE, "%s: %.*s", what,
			     WS_STR_ARGS(ws_str_last_line(ws_buf_view(&said))));
	ws_buf_fini(&said);
	return st;
}

/* <engine> <verb> <name> */
static enum ws_status run_verb(struct container *c, const char *verb, const char *name,
			       const char *what, double timeout_s, struct ws_err *err)
{
	struct ws_buf line;
	enum ws_status st;

	ws_buf_init(&line, LINE_BYTES_MAX);
	ws_buf_printf(&line, "%s %s ", c->engine, verb);
	mdl_shell_word(name, &line);
	st = ws_buf_status(&line, err);
	if (!st)
		st = run_line(c, line.at, what, timeout_s, err);
	ws_buf_fini(&line);
	return st;
}

/* An image that is not on this machine comes from its registry. */
static enum ws_status need_image(struct container *c, const char *image, struct ws_err *err)
{
	const char *far = ws_doc_get_text(c->job->built, "registry_image", NULL);
	enum ws_status st;

	if (!run_verb(c, "image inspect -f '{{.Id}}'", image, "the image is not here",
		      SHORT_TIMEOUT_S, NULL))
		return WS_OK;
	st = run_verb(c, "pull", far && *far ? far : image, "the image cannot be pulled", 0, err);
	if (!st && far && *far && strcmp(far, image) != 0) {
		char tag[PATH_MAX];

		if (snprintf(tag, sizeof(tag), "tag %s", far) >= (int)sizeof(tag))
			return ws_fail(err, WS_E_LIMIT, "the name of the image is too long");
		st = run_verb(c, tag, image, "the image cannot be named", SHORT_TIMEOUT_S, err);
	}
	return st;
}

/* The folder that bin/wavescope is in. */
static enum ws_status find_prefix(char out_path[PATH_MAX], struct ws_err *err)
{
	enum ws_status st = ws_path_self(out_path, err);

	if (st)
		return st;
	ws_path_parent(out_path);
	ws_path_parent(out_path);
	return WS_OK;
}

/* A wavescope that does not start in the image would make every command fail, without a word why. */
static enum ws_status check_wavescope(struct container *c, const char *image, struct ws_err *err)
{
	char verb[PATH_MAX];
	enum ws_status st;

	snprintf(verb, sizeof(verb), "exec %s " MDL_CONTAINER_PREFIX "/bin/wavescope", c->name);
	st = run_verb(c, verb, "--version", "wavescope does not start", SHORT_TIMEOUT_S, err);
	if (st)
		return ws_fail_in(err, st,
				  "image %s (install what is missing in it, or set "
				  "MAD_CONTAINER_ENGINE=none)",
				  image);
	return WS_OK;
}

/* Its only process of our own is `cat`, which does not react to SIGTERM. */
static void remove_container(struct container *c)
{
	run_verb(c, "kill", c->name, NULL, SHORT_TIMEOUT_S, NULL);
	run_verb(c, "rm -f", c->name, NULL, SHORT_TIMEOUT_S, NULL);
}

static enum ws_status start_container(struct mdl_carrier *carrier, const struct mdl_job *job,
				      struct ws_err *err)
{
	struct container *c = (struct container *)carrier;
	const char *image = ws_doc_get_text(job->built, "docker_image", "");
	struct gpu_agents *present = ws_arena_new(c->arena, struct gpu_agents);
	char prefix[PATH_MAX];
	struct ws_buf line;
	enum ws_status st;

	c->job = job;
	c->name = mdl_container_name(image, c->arena);
	if (!c->name || !present)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	ws_buf_init(&line, LINE_BYTES_MAX);
	st = find_prefix(prefix, err);
	if (!st && !job->machine->simulated)
		st = gpu_present("/sys", present, err);
	if (!st)
		st = need_image(c, image, err);
	if (!st)
		st = mdl_container_line(c->engine, job, c->name, present, prefix, &line, err);
	if (!st) {
		/* What --keep-alive or a run that was killed has left under this name. */
		remove_container(c);
		st = run_line(c, line.at, "the container does not start", START_TIMEOUT_S, err);
	}
	if (!st && job->machine->simulated)
		st = check_wavescope(c, image, err);
	ws_buf_fini(&line);
	return st;
}

/* The client of a container can be killed, but what runs inside goes on. */
static void end_inside(struct container *c)
{
	/* All descendants are listed first: what loses its parent is no longer found below it. */
	static const char script[] =
		"below() { echo $1; for p in $(cat /proc/$1/task/*/children); do below $p; done; "
		"}; "
		"all=$(below $(cat " PID_FILE ") 2>/dev/null); kill -TERM $all; "
		"for i in 1 2 3 4 5 6 7 8 9 10; do kill -0 $all || exit 0; sleep 0.2; done; "
		"kill -KILL $all";
	char verb[PATH_MAX];

	snprintf(verb, sizeof(verb), "exec %s bash -c", c->name);
	run_verb(c, verb, script, NULL, SHORT_TIMEOUT_S, NULL);
}

static enum ws_status exec_in_container(struct mdl_carrier *carrier, const char *command,
					double timeout_s, struct mdl_child_end *out_end,
					struct ws_err *err)
{
	struct container *c = (struct container *)carrier;
	char *argv[] = { "bash", "-c", NULL, NULL };
	struct ws_buf line, inside;
	enum ws_status st;

	ws_buf_init(&line, LINE_BYTES_MAX);
	ws_buf_init(&inside, LINE_BYTES_MAX);
	ws_buf_printf(&inside, "echo $$ >" PID_FILE "; %s%s",
		      c->job->machine->simulated ? "PATH=" MDL_CONTAINER_PREFIX "/bin:$PATH; " : "",
		      command);
	ws_buf_printf(&line, "exec %s exec %s %sbash -c ", c->engine, c->name,
		      c->job->machine->simulated ? MDL_CONTAINER_PREFIX "/bin/wavescope run -- "
						 : "");
	mdl_shell_word(inside.at, &line);
	st = ws_buf_status(&inside, err);
	if (!st)
		st = ws_buf_status(&line, err);
	argv[2] = line.at;
	if (!st)
		st = mdl_child_run(argv, environ, NULL, timeout_s, c->job->log, out_end, err);
	if (!st && (out_end->timed_out || out_end->interrupted))
		end_inside(c);
	ws_buf_fini(&line);
	ws_buf_fini(&inside);
	return st;
}

static void stop_container(struct mdl_carrier *carrier)
{
	struct container *c = (struct container *)carrier;

	if (!c->job || !c->name)
		return;
	if (c->job->keep_alive) {
		ws_print(stderr,
			 "madengine: container %s stays up.\n"
			 "  enter it   %s exec -it %s bash\n"
			 "  remove it  %s rm -f %s\n",
			 c->name, c->engine, c->name, c->engine, c->name);
		mdl_log_line(c->job->log, "container %s stays up", c->name);
		return;
	}
	remove_container(c);
}

struct mdl_carrier *mdl_carrier_container(const char *engine, struct ws_arena *arena)
{
	/* clang-format off */
	static const struct mdl_carrier_ops ops[WS_ARRAY_LEN(engines)] = {
		{ "docker", start_container, exec_in_container, stop_container },
		{ "podman", start_container, exec_in_container, stop_container },
	};
	/* clang-format on */
	struct container *c = ws_arena_new(arena, struct container);

	if (!c)
		return NULL;
	c->carrier.ops = &ops[!strcmp(engine, "podman")];
	c->engine = engine;
	c->arena = arena;
	return &c->carrier;
}
