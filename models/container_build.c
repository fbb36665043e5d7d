#include "base/doc_edit.h"
#include "base/file.h"
#include "base/path.h"
#include "base/proc.h"
#include "models/container.h"
#include "models/context.h"
#include "models/shell.h"

#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define BUILD_LINE_MAX (256u << 10)
#define DOCKERFILE_BYTES_MAX (4u << 20)
#define HEADER_LINES 5 /* in which a dockerfile says which context it is for */
#define INSPECT_TIMEOUT_MS 30000

extern char **environ;

const char *mdl_registry_image(const char *registry, const char *image, struct ws_arena *arena)
{
	/* Docker Hub has no host in its names. */
	if (!strcasecmp(registry, "docker.io") || !strcasecmp(registry, "dockerhub"))
		return image;
	return ws_arena_printf(arena, "%s/%s", registry, image);
}

/* ---- which dockerfiles ---- */

/* "# CONTEXT {'gpu_vendor': 'AMD', 'guest_os': 'UBUNTU'}": all that it names must be so. */
static enum ws_status fits_context(const char *path, struct ws_str text,
				   const struct ws_doc *context, struct ws_arena *arena,
				   bool *out_fits, struct ws_err *err)
{
	static const char mark[] = "# CONTEXT ";
	struct ws_str line;

	*out_fits = true;
	for (int i = 0; i < HEADER_LINES && text.n && ws_str_next(&text, '\n', &line); i++) {
		struct ws_doc *wants;
		enum ws_status st;

		if (!ws_str_starts(line, mark))
			continue;
		line = (struct ws_str){ line.at + sizeof(mark) - 1, line.n - sizeof(mark) + 1 };
		st = mdl_context_parse(path, ws_str_trim(line), arena, &wants, err);
		if (st)
			return st;
		for (size_t k = 0; wants->kind == WS_DOC_MAP && k < wants->n; k++) {
			const char *have = ws_doc_get_scalar(context, wants->at[k]->key, NULL);

			if (have && strcasecmp(have, wants->at[k]->text) != 0)
				*out_fits = false;
		}
	}
	return WS_OK;
}

/* The value of "ARG BASE_DOCKER=..." of a dockerfile; "" where there is none. In @arena. */
static const char *find_base(struct ws_str text, struct ws_arena *arena)
{
	static const char mark[] = "ARG BASE_DOCKER=";
	struct ws_str line;

	while (text.n && ws_str_next(&text, '\n', &line)) {
		line = ws_str_trim(line);
		if (ws_str_starts(line, mark))
			return ws_arena_strndup(arena, line.at + sizeof(mark) - 1,
						line.n - sizeof(mark) + 1);
	}
	return "";
}

/* ---- one image ---- */

struct image {
	const char *engine;
	const struct mdl_model *model;
	const struct ws_doc *context;
	const struct mdl_build_options *options;
	struct ws_doc *manifest;
	struct ws_arena *arena;
	const char *dockerfile; /* absolute */
	const char *base;
	const char *arch; /* NULL: not asked for */
	const char *name; /* key of the manifest */
	const char *tag;  /* name for the engine, which wants lower case */
	char log[PATH_MAX];
};

/* The command line of the engine that builds @image. */
static enum ws_status build_line(const struct image *image, struct ws_buf *out, struct ws_err *err)
{
	const struct ws_doc *args = ws_doc_get(image->context, "docker_build_arg");
	const char *dir = *image->model->dockercontext ? image->model->dockercontext : "docker";
	char path[PATH_MAX];
	enum ws_status st;

	ws_buf_printf(out, "%s build %s--network=host ", image->engine,
		      image->options->no_cache ? "--no-cache " : "");
	st = ws_path_join(image->options->root, "docker/common", path, err);
	if (st)
		return st;
	if (ws_path_exists(path)) {
		ws_buf_add(out, "--build-context tools=");
		mdl_shell_word(path, out);
		ws_buf_add(out, " ");
	}
	ws_buf_add(out, "-t ");
	mdl_shell_word(image->tag, out);
	/* podman's --pull fails for a base that is on this machine only. */
	ws_buf_printf(out, " --pull%s -f ", strcmp(image->engine, "podman") ? "" : "=newer");
	mdl_shell_word(image->dockerfile, out);
	for (size_t i = 0; args && args->kind == WS_DOC_MAP && i < args->n; i++) {
		ws_buf_add(out, " --build-arg ");
		mdl_shell_word(args->at[i]->key, out);
		ws_buf_add(out, "=");
		mdl_shell_word(args->at[i]->text ? args->at[i]->text : "", out);
	}
	if (image->arch) {
		ws_buf_add(out, " --build-arg MAD_SYSTEM_GPU_ARCHITECTURE=");
		mdl_shell_word(image->arch, out);
	}
	st = ws_path_join(image->options->root, dir, path, err);
	if (st)
		return st;
	ws_buf_add(out, " ");
	mdl_shell_word(path, out);
	return ws_buf_status(out, err);
}

/* Runs @line with the log of the build; its failure names the log. */
static enum ws_status run_logged(const struct image *image, const char *line, const char *what,
				 double *out_seconds, struct ws_err *err)
{
	char *argv[] = { "bash", "-c", (char *)line, NULL };
	struct mdl_log log = { .live = image->options->live_output };
	struct mdl_child_end end = { 0 };
	struct ws_buf said;
	enum ws_status st;

	ws_buf_init(&said, 1u << 16);
	log.also = &said;
	st = ws_file_append_stream(image->log, &log.file, err);
	if (!st) {
		mdl_log_line(&log, "+ %s", line);
		ws_buf_clear(&said);
		st = mdl_child_run(argv, environ, NULL, 0, &log, &end, err);
	}
	if (log.file && fclose(log.file) && !st)
		st = ws_fail(err, WS_E_IO, "cannot write %s", image->log);
	if (!st && end.interrupted)
		st = ws_fail(err, WS_E_STATE, "interrupted");
	else if (!st && end.exit_code)
		st = ws_fail(err, WS_E_STATE, "%s failed: %.*s: the log is %s", what,
			     WS_STR_ARGS(ws_str_last_line(ws_buf_view(&said))), image->log);
	*out_seconds = end.seconds;
	ws_buf_fini(&said);
	return st;
}

/* The digest of the base image, where this machine has it; "" otherwise. In @arena. */
static const char *find_digest(const struct image *image)
{
	char *argv[] = { (char *)image->engine, "image", "inspect", "--format", "{{.RepoDigests}}",
			 (char *)image->base,   NULL };
	struct ws_proc_end end;
	struct ws_buf out;
	struct ws_str text, digest = { "", 0 };
	const char *found = "";

	if (!*image->base)
		return "";
	ws_buf_init(&out, 1u << 16);
	if (!ws_proc_read(image->engine, argv, environ, WS_PROC_STDERR_DROP, INSPECT_TIMEOUT_MS,
			  &out, &end, NULL) &&
	    !end.exit_code) {
		/* [docker.io/rocm/pytorch@sha256:0123...] */
		text = ws_buf_view(&out);
		for (size_t i = 0; i + 7 < text.n && !digest.n; i++) {
			if (!strncmp(text.at + i, "sha256:", 7))
				digest = (struct ws_str){
					text.at + i, strspn(text.at + i + 7, "0123456789abcdef") + 7
				};
		}
		if (digest.n)
			found = ws_arena_strndup(image->arena, digest.at, digest.n);
	}
	ws_buf_fini(&out);
	return found;
}

/* Tags and pushes; a push that fails is in the manifest, and the image stays usable here. */
static enum ws_status push_image(const struct image *image, struct ws_doc *built,
				 struct ws_err *err)
{
	const char *registry = image->options->registry;
	const char *far = mdl_registry_image(registry, image->tag, image->arena);
	struct ws_buf line;
	double seconds;
	enum ws_status st;

	if (!far)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	ws_buf_init(&line, BUILD_LINE_MAX);
	if (strcmp(far, image->tag) != 0) {
		ws_buf_printf(&line, "%s tag ", image->engine);
		mdl_shell_word(image->tag, &line);
		ws_buf_add(&line, " ");
		mdl_shell_word(far, &line);
		ws_buf_add(&line, " && ");
	}
	ws_buf_printf(&line, "%s push ", image->engine);
	mdl_shell_word(far, &line);
	st = ws_buf_status(&line, err);
	if (!st)
		st = run_logged(image, line.at, "the push", &seconds, err);
	ws_buf_fini(&line);
	if (!st && (!ws_doc_put_text(built, "registry_image", far, image->arena) ||
		    !ws_doc_put_text(built, "registry", registry, image->arena)))
		st = ws_fail(err, WS_E_NOMEM, "out of memory");
	return st;
}

static enum ws_status add_push_failure(const struct image *image, const char *text,
				       struct ws_err *err)
{
	const struct ws_doc *before = ws_doc_get(image->manifest, "push_failures");
	struct ws_doc *list =
		before ? ws_doc_copy(before, image->arena) : ws_doc_list(image->arena);
	struct ws_doc *map = ws_doc_map(image->arena);

	if (!ws_doc_put_text(map, "image", image->tag, image->arena) ||
	    !ws_doc_put_text(map, "error", text, image->arena) ||
	    !ws_doc_add(list, map, image->arena) ||
	    !ws_doc_put(image->manifest, "push_failures", list, image->arena))
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	return WS_OK;
}

static enum ws_status build_image(struct image *image, struct ws_err *err)
{
	struct ws_doc *built = ws_doc_map(image->arena);
	struct ws_err why = { .status = WS_OK };
	struct ws_buf line;
	double seconds;
	bool ok;
	enum ws_status st;

	ws_buf_init(&line, BUILD_LINE_MAX);
	st = build_line(image, &line, err);
	if (!st)
		st = run_logged(image, line.at, "the build", &seconds, err);
	if (st) {
		ws_buf_fini(&line);
		return ws_fail_in(err, st, "image %s", image->tag);
	}
	ok = ws_doc_put_text(built, "docker_image", image->tag, image->arena);
	ok &= ws_doc_put_text(built, "dockerfile", image->dockerfile, image->arena);
	ok &= ws_doc_put_text(built, "base_docker", image->base, image->arena);
	ok &= ws_doc_put_text(built, "docker_sha", find_digest(image), image->arena);
	ok &= ws_doc_put(built, "build_duration", ws_doc_real(seconds, image->arena), image->arena);
	ok &= ws_doc_put_text(built, "build_command", line.at, image->arena);
	ok &= ws_doc_put_text(built, "log_file", image->log, image->arena);
	ok &= ws_doc_put_text(built, "gpu_vendor",
			      ws_doc_get_text(image->context, "gpu_vendor", "AMD"), image->arena);
	if (image->arch)
		ok &= ws_doc_put_text(built, "gpu_architecture", image->arch, image->arena);
	ok &= ws_doc_put_bool(built, "local_image", !image->options->registry, image->arena);
	ws_buf_fini(&line);
	if (!ok)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	if (image->options->registry && push_image(image, built, &why)) {
		st = add_push_failure(image, why.text, err);
		if (!st)
			st = mdl_manifest_add(image->manifest, image->model, image->name, built,
					      image->arena, err);
		return st ? st : ws_fail(err, why.status, "image %s: %s", image->tag, why.text);
	}
	return mdl_manifest_add(image->manifest, image->model, image->name, built, image->arena,
				err);
}

/* Names of an image, and an empty log. */
static enum ws_status name_image(struct image *image, struct ws_err *err)
{
	const char *suffix = image->arch ? image->arch : "";
	const char *base = mdl_image_name(image->model->name, image->dockerfile, image->arena);
	char *tag;

	image->name =
		base ? ws_arena_printf(image->arena, "%s%s%s", base, *suffix ? "_" : "", suffix)
		     : NULL;
	tag = image->name ? ws_arena_strdup(image->arena, image->name) : NULL;
	if (!tag)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (char *c = tag; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	image->tag = tag;
	if (snprintf(image->log, sizeof(image->log), "%s.build.live.log",
		     image->name + sizeof("ci-") - 1) >= (int)sizeof(image->log))
		return ws_fail(err, WS_E_LIMIT, "the name of the image is too long");
	return ws_file_replace(image->log, "", 0, err);
}

static enum ws_status build_for_archs(struct image *image, struct ws_err *err)
{
	struct ws_str rest = ws_str_from(image->options->target_archs), arch;
	enum ws_status st = WS_OK;

	if (!image->options->target_archs) {
		st = name_image(image, err);
		return st ? st : build_image(image, err);
	}
	while (!st && ws_str_next(&rest, ',', &arch)) {
		arch = ws_str_trim(arch);
		image->arch = ws_arena_strndup(image->arena, arch.at, arch.n);
		if (!image->arch)
			return ws_fail(err, WS_E_NOMEM, "out of memory");
		st = name_image(image, err);
		if (!st)
			st = build_image(image, err);
	}
	return st;
}

/* Builds for one dockerfile, if it is for this context. */
static enum ws_status build_dockerfile(struct image *image, const char *path, size_t *io_n,
				       struct ws_err *err)
{
	const struct ws_doc *args = ws_doc_get(image->context, "docker_build_arg");
	struct ws_buf text;
	bool fits = false;
	enum ws_status st;

	ws_buf_init(&text, DOCKERFILE_BYTES_MAX);
	st = ws_file_read(path, &text, err);
	if (!st)
		st = fits_context(path, ws_buf_view(&text), image->context, image->arena, &fits,
				  err);
	if (!st && fits) {
		image->dockerfile = ws_arena_strdup(image->arena, path);
		image->base = ws_doc_get_scalar(args, "BASE_DOCKER",
						find_base(ws_buf_view(&text), image->arena));
		if (!image->dockerfile || !image->base)
			st = ws_fail(err, WS_E_NOMEM, "out of memory");
		else
			st = build_for_archs(image, err);
		*io_n += 1;
	}
	ws_buf_fini(&text);
	return st;
}

/* --use-image: nothing is built; "auto" is the image that the model names. */
static enum ws_status use_image(const struct mdl_model *model,
				const struct mdl_build_options *options, struct ws_doc *manifest,
				struct ws_arena *arena, struct ws_err *err)
{
	const struct ws_doc *env = ws_doc_get(model->doc, "env_vars");
	const char *image = options->use_image;
	const char *name = mdl_image_name(model->name, model->dockerfile, arena);
	struct ws_doc *built = ws_doc_map(arena);

	if (!strcmp(image, "auto"))
		image = ws_doc_get_scalar(env, "DOCKER_IMAGE_NAME", NULL);
	if (!image)
		return ws_fail(err, WS_E_NOTFOUND,
			       "model %s names no image: give env_vars.DOCKER_IMAGE_NAME in its "
			       "definition, or --use-image IMAGE",
			       model->name);
	if (!name || !ws_doc_put_text(built, "docker_image", image, arena) ||
	    !ws_doc_put_text(built, "dockerfile", "", arena) ||
	    !ws_doc_put_text(built, "base_docker", image, arena) ||
	    !ws_doc_put_int(built, "build_duration", 0, arena) ||
	    !ws_doc_put_bool(built, "local_image", true, arena))
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	return mdl_manifest_add(manifest, model, name, built, arena, err);
}

static bool is_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

enum ws_status mdl_container_build(const char *engine, const struct mdl_model *model,
				   const struct ws_doc *context,
				   const struct mdl_build_options *options, struct ws_doc *manifest,
				   struct ws_arena *arena, struct ws_err *err)
{
	struct image image = { .engine = engine,
			       .model = model,
			       .context = context,
			       .options = options,
			       .manifest = manifest,
			       .arena = arena };
	/* The file itself, and its variants for vendors and systems. */
	static const char *const forms[] = { "", ".*" };
	char path[PATH_MAX], pattern[PATH_MAX];
	size_t n_built = 0, n_seen = 0;
	enum ws_status st;

	if (options->use_image)
		return use_image(model, options, manifest, arena, err);
	st = ws_path_join(options->root, model->dockerfile, path, err);
	for (size_t f = 0; !st && f < WS_ARRAY_LEN(forms); f++) {
		glob_t files;

		if (snprintf(pattern, sizeof(pattern), "%s%s", path, forms[f]) >=
		    (int)sizeof(pattern))
			return ws_fail(err, WS_E_LIMIT, "the name of the dockerfile is too long");
		if (!glob(pattern, 0, NULL, &files)) {
			n_seen += files.gl_pathc;
			for (size_t i = 0; !st && i < files.gl_pathc; i++) {
				if (is_file(files.gl_pathv[i]))
					st = build_dockerfile(&image, files.gl_pathv[i], &n_built,
							      err);
			}
		}
		globfree(&files);
	}
	if (!st && !n_built)
		st = ws_fail(err, WS_E_NOTFOUND,
			     n_seen ? "no dockerfile %s.* is for this gpu_vendor and guest_os: its "
				      "'# CONTEXT' line says which"
				    : "there is no dockerfile %s.*",
			     path);
	return st;
}
