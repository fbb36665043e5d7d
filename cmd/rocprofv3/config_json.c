#include "cmd/rocprofv3/config_json.h"

#include "base/file.h"
#include "base/log.h"
#include "base/utf8.h"
#include "base/util.h"
#include "cmd/rocprofv3/version.h"
#include "launch/rundir.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* jansson refuses what is no UTF-8; an argument or a path may be anything. */
static json_t *text_of(const char *text)
{
	struct ws_buf utf8;
	json_t *made;

	if (!text)
		return json_null();
	ws_buf_init(&utf8, SIZE_MAX);
	ws_buf_add_utf8(&utf8, text, strlen(text));
	made = json_string(utf8.at);
	ws_buf_fini(&utf8);
	return made;
}

static json_t *value_of(const struct ws_opt *opt, const struct rp_args *args)
{
	const void *field = (const char *)args + opt->offset;
	const struct ws_strv *list = field;
	const char *text;
	json_t *array;

	switch (opt->kind) {
	case WS_OPT_KIND_TRI:
		return json_boolean(*(const enum ws_tri *)field == WS_TRI_YES);
	case WS_OPT_KIND_STR:
		text = *(const char *const *)field;
		return text ? text_of(text) : json_null();
	case WS_OPT_KIND_MANY:
	case WS_OPT_KIND_SETS:
		array = json_array();
		for (size_t i = 0; i < list->n; i++)
			if (list->at[i])
				json_array_append_new(array, text_of(list->at[i]));
		return array;
	default:
		return NULL;
	}
}

/* The field's name: a long name with '_'. */
static void key_of(const struct ws_opt *opt, char *to, size_t room)
{
	size_t i = 0;

	for (; opt->name[i] && i + 1 < room; i++)
		to[i] = opt->name[i] == '-' ? '_' : opt->name[i];
	to[i] = '\0';
}

static json_t *config_of(const struct rp_args *args, const struct output_config *cfg)
{
	json_t *config = json_object();

	for (size_t i = 0; i < rp_opts.n; i++) {
		json_t *value = value_of(&rp_opts.at[i], args);
		char key[64];

		key_of(&rp_opts.at[i], key, sizeof(key));
		if (value)
			json_object_set_new(config, key, value);
	}
	json_object_set_new(config, "output_path", text_of(cfg->output_path));
	json_object_set_new(config, "raw_output_path", text_of(cfg->raw_output_path));
	json_object_set_new(config, "output_file", text_of(cfg->output_file));
	json_object_set_new(config, "raw_output_file", text_of(cfg->raw_output_file));
	return config;
}

static json_t *environment_of(const struct trc_process *process)
{
	json_t *env = json_object();

	for (size_t i = 0; i < process->n_env; i++) {
		const char *equals = strchr(process->env[i], '=');
		char name[256];

		if (!equals || (size_t)(equals - process->env[i]) >= sizeof(name))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(equals - process->env[i]),
			 process->env[i]);
		json_object_set_new(env, name, text_of(equals + 1));
	}
	return env;
}

static json_t *build_spec(void)
{
	return json_pack("{s:i, s:i, s:i, s:s, s:s, s:s, s:s, s:s}", "version_major",
			 RP_VERSION_MAJOR, "version_minor", RP_VERSION_MINOR, "version_patch",
			 RP_VERSION_PATCH, "compiler_id", RP_COMPILER_ID, "compiler_version",
			 __VERSION__, "library_arch", RP_LIBRARY_ARCH, "system_name", "Linux",
			 "system_version", "wavescope " WS_VERSION);
}

static enum ws_status write_json(const json_t *root, const char *path, struct ws_err *err)
{
	char *text = json_dumps(root, JSON_INDENT(2));
	enum ws_status st;

	if (!text)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	st = ws_file_replace(path, text, strlen(text), err);
	free(text);
	return st;
}

enum ws_status rp_write_config(const struct rp_args *args, const struct trc_process *process,
			       const struct output_config *cfg, struct ws_err *err)
{
	json_t *command = json_array(), *metadata, *root;
	char path[PATH_MAX], folder[PATH_MAX];
	enum ws_status st = WS_OK;
	char *slash;

	for (size_t i = 0; i < process->n_argv; i++)
		json_array_append_new(command, text_of(process->argv[i]));
	metadata = json_pack("{s:I, s:I, s:I, s:o, s:o, s:o, s:s, s:o}", "pid",
			     (json_int_t)process->pid, "init_time", (json_int_t)process->init_ns,
			     "fini_time", (json_int_t)process->fini_ns, "config",
			     config_of(args, cfg), "command", command, "build_spec", build_spec(),
			     "profile", "", "environment", environment_of(process));
	root = json_pack("{s:[{s:o}]}", "rocprofiler-sdk-tool", "metadata", metadata);
	snprintf(path, sizeof(path), "%s_config.json", cfg->prefix);
	snprintf(folder, sizeof(folder), "%s", cfg->prefix);
	slash = strrchr(folder, '/');
	if (slash) {
		*slash = '\0';
		st = ws_mkdirs(folder, err);
	}
	if (!st && !root)
		st = ws_fail(err, WS_E_NOMEM, "out of memory");
	if (!st)
		st = write_json(root, path, err);
	if (!st)
		ws_print(stderr, "Opened result file: %s\n", path);
	json_decref(root);
	return st;
}

void rp_print_settings(const struct rp_args *args)
{
	for (size_t i = 0; i < rp_opts.n; i++) {
		const struct ws_opt *opt = &rp_opts.at[i];
		json_t *value = rp_is_set(opt, args) ? value_of(opt, args) : NULL;
		char key[64], *text;

		if (!value)
			continue;
		key_of(opt, key, sizeof(key));
		text = json_dumps(value, JSON_ENCODE_ANY);
		fprintf(stderr, "    %-32s : %s\n", key, text ? text : "?");
		free(text);
		json_decref(value);
	}
}
