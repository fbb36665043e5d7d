#include "cmd/compute/profile_files.h"

#include "analysis/metric.h"
#include "workload/config.h"
#include "workload/names.h"
#include "workload/sysinfo.h"

#include <stdio.h>
#include <string.h>

enum ws_status pf_write_sysinfo(struct pf *pf, bool roofline, struct ws_err *err)
{
	const struct wl_sysinfo_run run = { pf->name, pf->command, roofline };
	struct wl_sysinfo info;
	enum ws_status st = wl_sysinfo_look("", pf->gpu, &run, &pf->arena, &info, err);

	return st ? st : wl_sysinfo_write(&info, pf->args->merge, pf->dir, err);
}

/* Options whose key is not their name. */
static const struct {
	const char *option, *key;
} keys[] = {
	{ "block", "filter_blocks" },
	{ "set", "set_selected" },
};

static void key_of(const struct ws_opt *opt, char *out, size_t room)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(keys); i++)
		if (strcmp(opt->name, keys[i].option) == 0) {
			snprintf(out, room, "%s", keys[i].key);
			return;
		}
	snprintf(out, room, "%s", opt->name);
	for (char *c = out; *c; c++)
		if (*c == '-')
			*c = '_';
}

/* An option that takes several words is null when it was not given, as in AMD's file. */
static void put_list(struct wl_config *config, const char *key, const struct ws_strv *list)
{
	if (list->n)
		wl_config_list(config, key, list->at, list->n);
	else
		wl_config_text(config, key, NULL);
}

static void put_option(struct wl_config *config, const struct ws_opt *opt,
		       const struct pf_args *args)
{
	const void *field = (const char *)args + opt->offset;
	char key[64];

	key_of(opt, key, sizeof(key));
	switch (opt->kind) {
	case WS_OPT_KIND_BOOL:
		wl_config_bool(config, key, *(const bool *)field);
		break;
	case WS_OPT_KIND_STR:
		wl_config_text(config, key, *(const char *const *)field);
		break;
	case WS_OPT_KIND_CHOICE:
		wl_config_text(config, key, opt->choices[*(const int *)field]);
		break;
	case WS_OPT_KIND_U64:
		wl_config_int(config, key, (int64_t) * (const uint64_t *)field);
		break;
	case WS_OPT_KIND_I64:
		wl_config_int(config, key, *(const int64_t *)field);
		break;
	case WS_OPT_KIND_F64:
		wl_config_real(config, key, *(const double *)field);
		break;
	case WS_OPT_KIND_LIST:
	case WS_OPT_KIND_MANY:
		put_list(config, key, field);
		break;
	default: /* optional values: written below */
		break;
	}
}

/* Blocks and tables of @sections, by number, each once; in the arena. */
static enum ws_status find_tables(struct pf *pf, const struct ws_strv *sections,
				  struct ws_strv *out_tables, struct ws_err *err)
{
	enum ws_status st = pf_load_metrics(pf, err);

	for (size_t i = 0; i < sections->n && !st; i++) {
		struct ana_metric_id id;
		const char *text;
		bool known = false;

		if (!ana_metric_id_parse(pf->metrics, sections->at[i], &id))
			continue;
		text = id.table < 0 ? ws_arena_printf(&pf->arena, "%u", id.block)
				    : ws_arena_printf(&pf->arena, "%u.%d", id.block, id.table);
		if (!text)
			st = ws_fail(err, WS_E_NOMEM, "out of memory");
		for (size_t k = 0; !st && k < out_tables->n; k++)
			known |= strcmp(out_tables->at[k], text) == 0;
		if (!st && !known)
			st = ws_vec_push(out_tables, text, err);
	}
	return st;
}

/*
 * The requested blocks. A folder with --merge is for versions up to 3.3, and those up
 * to 3.2 read a mapping from blocks and tables to the word metric_id; 3.3 reads both.
 */
static enum ws_status put_blocks(struct pf *pf, struct wl_config *config,
				 const struct ws_strv *sections, struct ws_err *err)
{
	struct ws_strv tables;
	enum ws_status st;

	if (!pf->args->merge) {
		wl_config_list(config, "filter_blocks", sections->at, sections->n);
		return WS_OK;
	}
	ws_vec_init(&tables, 1 << 20);
	st = find_tables(pf, sections, &tables, err);
	wl_config_set(config, "filter_blocks", tables.at, tables.n, "metric_id");
	ws_vec_fini(&tables);
	return st;
}

enum ws_status pf_write_config(struct pf *pf, const struct ws_strv *sections, struct ws_err *err)
{
	static const char *const policies[] = { NULL, "kernel", "kernel_launch_params" };
	const struct pf_args *args = pf->args;
	struct ws_strv remaining;
	struct wl_config config;
	enum ws_status st;

	wl_config_init(&config);
	for (size_t i = 0; i < pf_opts.n; i++)
		if (pf_opts.at[i].kind != WS_OPT_KIND_GROUP)
			put_option(&config, &pf_opts.at[i], args);
	wl_config_int(&config, "pc_sampling_interval", (int64_t)pf->pc_interval);
	wl_config_text(&config, "mode", "profile");
	wl_config_text(&config, "name", pf->name);
	wl_config_text(&config, "output_directory", pf->dir);
	wl_config_text(&config, "path", pf->dir);
	wl_config_text(&config, "iteration_multiplexing", policies[pf_multiplex_of(args)]);
	st = put_blocks(pf, &config, sections, err);
	if (!args->attach_pid)
		wl_config_text(&config, "attach_pid", NULL);
	if (!args->attach_msec)
		wl_config_text(&config, "attach_duration_msec", NULL);
	ws_vec_init(&remaining, 1 << 20);
	if (!st)
		st = ws_vec_push(&remaining, "--", err);
	for (size_t i = 0; pf->argv[i] && !st; i++)
		st = ws_vec_push(&remaining, pf->argv[i], err);
	wl_config_list(&config, "remaining", remaining.at, remaining.n);
	if (!st)
		st = wl_config_write(&config, pf->dir, WL_FILE_CONFIG, err);
	ws_vec_fini(&remaining);
	wl_config_fini(&config);
	return st;
}
