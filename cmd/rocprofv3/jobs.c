#include "cmd/rocprofv3/jobs.h"

#include "base/doc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

#define JOBS_MAX 10000u
#define ARENA_MAX (64u << 20)

/* ---- merging ---- */

static size_t field_bytes(const struct ws_opt *opt)
{
	switch (opt->kind) {
	case WS_OPT_KIND_BOOL:
		return sizeof(bool);
	case WS_OPT_KIND_TRI:
		return sizeof(enum ws_tri);
	case WS_OPT_KIND_STR:
		return sizeof(const char *);
	case WS_OPT_KIND_MANY:
	case WS_OPT_KIND_SETS:
		return sizeof(struct ws_strv);
	default:
		return 0;
	}
}

/* A value as one text, for comparing and for messages; NULL entries stand between sets. */
static void print_value(const struct ws_opt *opt, const struct rp_args *args, struct ws_buf *out)
{
	const void *field = (const char *)args + opt->offset;
	const struct ws_strv *list = field;

	if (opt->kind == WS_OPT_KIND_TRI)
		ws_buf_add(out, *(const enum ws_tri *)field == WS_TRI_YES ? "True" : "False");
	else if (opt->kind == WS_OPT_KIND_STR)
		ws_buf_add(out, *(const char *const *)field);
	else
		for (size_t i = 0; i < list->n; i++)
			if (list->at[i])
				ws_buf_printf(out, "%s%s", out->n ? " " : "", list->at[i]);
}

static enum ws_status check_agreement(const struct ws_opt *opt, const struct rp_args *typed,
				      const struct rp_args *file, struct ws_err *err)
{
	struct ws_buf a, b;
	enum ws_status st = WS_OK;

	ws_buf_init(&a, 1 << 20);
	ws_buf_init(&b, 1 << 20);
	print_value(opt, typed, &a);
	print_value(opt, file, &b);
	if (strcmp(a.at, b.at) != 0)
		st = ws_fail(err, WS_E_STATE,
			     "conflicting value for %s : %s vs %s: remove it from the command line "
			     "or the input file",
			     opt->name, a.at, b.at);
	ws_buf_fini(&a);
	ws_buf_fini(&b);
	return st;
}

static enum ws_status merge_rows(struct ws_opts opts, const struct rp_args *typed,
				 const struct rp_args *file, const struct rp_args *env,
				 struct rp_args *out_args, struct ws_err *err)
{
	for (size_t i = 0; i < opts.n; i++) {
		const struct ws_opt *opt = &opts.at[i];
		const struct rp_args *from = env;
		enum ws_status st;

		if (rp_is_set(opt, file))
			from = file;
		if (rp_is_set(opt, typed)) {
			/* --pmc may come on top of a file's jobs: each is a run of its own. */
			if (from == file && opt->offset != offsetof(struct rp_args, pmc)) {
				st = check_agreement(opt, typed, file, err);
				if (st)
					return st;
			}
			from = typed;
		}
		memcpy((char *)out_args + opt->offset, (const char *)from + opt->offset,
		       field_bytes(opt));
	}
	return WS_OK;
}

enum ws_status rp_merge(const struct rp_args *typed, const struct rp_args *file,
			const struct rp_args *env, struct rp_args *out_args, struct ws_err *err)
{
	enum ws_status st;

	memset(out_args, 0, sizeof(*out_args));
	st = merge_rows(rp_opts, typed, file, env, out_args, err);
	if (!st)
		st = merge_rows(rp_file_opts, typed, file, env, out_args, err);
	/* The environment's periods are in nanoseconds; that unit is not for others'. */
	if (out_args->collection_period.at != env->collection_period.at)
		out_args->collection_period_unit = typed->collection_period_unit
							   ? typed->collection_period_unit
							   : file->collection_period_unit;
	return st;
}

/* ---- input files ---- */

static enum ws_status add_job(struct rp_jobs *jobs, struct rp_job **out_job, struct ws_err *err)
{
	static const struct rp_job empty;
	enum ws_status st = ws_vec_push(&jobs->list, empty, err);

	if (!st)
		*out_job = &jobs->list.at[jobs->list.n - 1];
	return st;
}

static enum ws_status add_text(const struct ws_opt *opt, const char *text, struct rp_args *args,
			       struct ws_err *err)
{
	char shown[64];

	snprintf(shown, sizeof(shown), "%s", opt->name);
	return ws_opt_set(opt, shown, text, args, err);
}

/* Counter names of one line: blanks and commas separate. */
static enum ws_status add_counters(const struct ws_opt *opt, struct ws_str names,
				   struct rp_jobs *jobs, struct rp_args *args, struct ws_err *err)
{
	char *copy = ws_arena_strndup(&jobs->arena, names.at, names.n), *save = NULL;
	enum ws_status st =
		copy ? add_text(opt, NULL, args, err) : ws_fail(err, WS_E_NOMEM, "out of memory");

	for (char *word = copy ? strtok_r(copy, " \t\r,", &save) : NULL; word && !st;
	     word = strtok_r(NULL, " \t\r,", &save))
		st = add_text(opt, word, args, err);
	return st;
}

/* Every line with "pmc:" is a run; what follows '#' is a comment. */
static enum ws_status read_txt(const char *path, struct rp_jobs *jobs, struct ws_err *err)
{
	const struct ws_opt *pmc = ws_opt_find(rp_opts, "pmc");
	struct ws_str rest, line;
	struct ws_buf text;
	enum ws_status st;

	ws_buf_init(&text, 16 << 20);
	st = ws_file_read(path, &text, err);
	rest = ws_buf_view(&text);
	while (!st && ws_str_next(&rest, '\n', &line)) {
		struct rp_job *job;
		struct ws_str names = line;
		const char *at;

		ws_str_next(&(struct ws_str){ line.at, line.n }, '#', &names);
		at = names.n ? memmem(names.at, names.n, "pmc:", 4) : NULL;
		if (!at)
			continue; /* also a comment with pmc: in it */
		names = (struct ws_str){ at + 4, names.n - (size_t)(at + 4 - names.at) };
		st = add_job(jobs, &job, err);
		if (!st)
			st = add_counters(pmc, names, jobs, &job->own, err);
		if (!st) {
			snprintf(job->folder, sizeof(job->folder), "pmc_%zu", jobs->list.n);
			job->shares = true;
		}
	}
	ws_buf_fini(&text);
	if (!st && !jobs->list.n)
		st = ws_fail(err, WS_E_FORMAT, "'%s' has no 'pmc:' line", path);
	return st;
}

static const struct ws_opt *find_key(const char *key)
{
	char name[64];
	const struct ws_opt *opt;
	size_t n = strlen(key);

	if (n >= sizeof(name) || strchr(key, '-'))
		return NULL;
	for (size_t i = 0; i <= n; i++)
		name[i] = key[i] == '_' ? '-' : key[i];
	opt = ws_opt_find(rp_opts, name);
	return opt ? opt : ws_opt_find(rp_file_opts, name);
}

static enum ws_status wrong_kind(const struct ws_doc *doc, const char *wanted, struct ws_err *err)
{
	return ws_fail(err, WS_E_FORMAT, "line %u: %s is %s, not %s", doc->line, doc->key,
		       ws_doc_kind_name(doc->kind), wanted);
}

static enum ws_status set_list(const struct ws_opt *opt, const struct ws_doc *doc,
			       struct rp_jobs *jobs, struct rp_args *args, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	if (opt->kind == WS_OPT_KIND_SETS && doc->n && doc->at[0]->kind != WS_DOC_LIST)
		st = add_text(opt, NULL, args, err);
	for (size_t i = 0; i < doc->n && !st; i++) {
		const struct ws_doc *item = doc->at[i];

		if (item->kind == WS_DOC_LIST && opt->kind == WS_OPT_KIND_SETS)
			st = set_list(opt, item, jobs, args, err);
		else if (item->kind == WS_DOC_LIST || item->kind == WS_DOC_MAP)
			st = wrong_kind(doc, "a list of words", err);
		else
			st = add_text(opt, item->text, args, err);
	}
	return st;
}

static enum ws_status set_key(const struct ws_opt *opt, const struct ws_doc *doc,
			      struct rp_jobs *jobs, struct rp_args *args, struct ws_err *err)
{
	bool many = opt->kind == WS_OPT_KIND_MANY || opt->kind == WS_OPT_KIND_SETS;

	if (doc->kind == WS_DOC_NULL || opt->kind == WS_OPT_KIND_BOOL)
		return WS_OK;
	if (doc->kind == WS_DOC_MAP || (doc->kind == WS_DOC_LIST && !many))
		return wrong_kind(doc, many ? "a list" : "one value", err);
	if (doc->kind == WS_DOC_LIST)
		return set_list(opt, doc, jobs, args, err);
	if (opt->kind == WS_OPT_KIND_SETS)
		return add_counters(opt, ws_str_from(doc->text), jobs, args, err);
	return add_text(opt, doc->text, args, err);
}

static const char *next_name(const void *list, size_t i)
{
	(void)list;
	if (i >= rp_opts.n)
		return NULL;
	return rp_opts.at[i].kind == WS_OPT_KIND_GROUP ? "" : rp_opts.at[i].name;
}

/* As with AMD's tool it is passed over; but a slip of the pen is seen. */
static void warn_of_key(const char *path, const struct ws_doc *doc)
{
	char name[64];
	const char *near;

	snprintf(name, sizeof(name), "%s", doc->key);
	for (char *c = name; *c; c++)
		*c = *c == '_' ? '-' : *c;
	near = ws_str_nearest(name, next_name, NULL);
	if (!near)
		ws_log_warn("%s:%u: unknown option '%s' is ignored", path, doc->line, doc->key);
	snprintf(name, sizeof(name), "%s", near ? near : "");
	for (char *c = name; *c; c++)
		*c = *c == '-' ? '_' : *c;
	if (near)
		ws_log_warn("%s:%u: unknown option '%s' is ignored: did you mean '%s'?", path,
			    doc->line, doc->key, name);
}

static enum ws_status read_doc(const char *path, struct rp_jobs *jobs, struct ws_err *err)
{
	const struct ws_doc *list;
	struct ws_doc *doc;
	enum ws_status st = ws_doc_read(path, &jobs->arena, &doc, err);

	if (st)
		return st;
	list = ws_doc_get(doc, "jobs");
	if (!list || list->kind != WS_DOC_LIST || !list->n)
		return ws_fail(err, WS_E_FORMAT, "'%s' has no list 'jobs' at its top level", path);
	for (size_t i = 0; i < list->n && !st; i++) {
		const struct ws_doc *map = list->at[i];
		struct rp_job *job;

		if (map->kind != WS_DOC_MAP)
			return ws_fail(err, WS_E_FORMAT, "%s: job %zu is %s, not a mapping", path,
				       i + 1, ws_doc_kind_name(map->kind));
		st = add_job(jobs, &job, err);
		for (size_t k = 0; k < map->n && !st; k++) {
			const struct ws_opt *opt = find_key(map->at[k]->key);

			if (opt)
				st = set_key(opt, map->at[k], jobs, &job->own, err);
			else
				warn_of_key(path, map->at[k]);
		}
		if (st)
			return ws_fail_in(err, st, "%s", path);
		if (list->n > 1 || job->own.pmc.n > 1)
			snprintf(job->folder, sizeof(job->folder), "pass_%zu", i + 1);
	}
	return st;
}

static enum ws_status read_input(const char *path, struct rp_jobs *jobs, struct ws_err *err)
{
	static const char *const known[] = { ".json", ".yaml", ".yml" };
	struct ws_str name = ws_str_from(path);

	if (ws_str_ends(name, ".txt"))
		return read_txt(path, jobs, err);
	for (size_t i = 0; i < WS_ARRAY_LEN(known); i++)
		if (ws_str_ends(name, known[i]))
			return read_doc(path, jobs, err);
	return ws_fail(err, WS_E_USAGE,
		       "Fatal error: Input file '%s' does not have a recognized extension "
		       "(.txt, .json, .yaml, .yml)",
		       path);
}

/* ---- the list ---- */

/* Repeated --pmc: one run for each, after those of the file. */
static enum ws_status add_typed_sets(struct rp_jobs *jobs, const struct rp_args *typed,
				     struct ws_err *err)
{
	const struct ws_opt *opt = ws_opt_find(rp_opts, "pmc");
	const struct ws_strv *words = &typed->pmc;
	size_t n_sets = 0;
	enum ws_status st = WS_OK;
	struct rp_job *job = NULL;

	for (size_t i = 0; i < words->n; i++)
		n_sets += words->at[i] == NULL;
	if (!jobs->list.n && n_sets < 2)
		return add_job(jobs, &job, err);
	for (size_t i = 0; i < words->n && !st; i++) {
		if (!words->at[i]) {
			st = add_job(jobs, &job, err);
			if (!st) {
				snprintf(job->folder, sizeof(job->folder), "pass_%zu",
					 jobs->list.n);
				/* A file's jobs may have options of their own. */
				job->shares = true;
			}
		}
		if (!st)
			st = add_text(opt, words->at[i], &job->own, err);
	}
	return st;
}

enum ws_status rp_jobs_init(struct rp_jobs *out_jobs, const struct rp_args *typed,
			    struct ws_err *err)
{
	struct rp_args common = *typed; /* --pmc, where it makes runs, is in these already */
	enum ws_status st;
	size_t n_file;

	memset(out_jobs, 0, sizeof(*out_jobs));
	ws_arena_init(&out_jobs->arena, ARENA_MAX);
	ws_vec_init(&out_jobs->list, JOBS_MAX);
	st = rp_from_environment(&out_jobs->env, &out_jobs->arena, err);
	if (!st && typed->input)
		st = read_input(typed->input, out_jobs, err);
	n_file = out_jobs->list.n;
	if (!st)
		st = add_typed_sets(out_jobs, typed, err);
	if (st)
		return st;
	if (out_jobs->list.n > 1 || n_file)
		common.pmc = (struct ws_strv){ .max_n = 0 };
	ws_vec_each(job, &out_jobs->list) {
		st = rp_merge(&common, &job->own, &out_jobs->env, &job->args, err);
		if (st)
			return st;
		job->asked = job->args;
		rp_expand(&job->args);
	}
	return WS_OK;
}

size_t rp_jobs_together(const struct rp_jobs *jobs, size_t first)
{
	size_t n = 1;

	while (jobs->list.at[first].shares && first + n < jobs->list.n &&
	       jobs->list.at[first + n].shares)
		n++;
	return n;
}

enum ws_status rp_jobs_merged(const struct rp_job *jobs, size_t n, const struct rp_args *from,
			      struct rp_args *out_args, struct ws_err *err)
{
	struct ws_strv all = { .max_n = 1 << 20 };
	enum ws_status st = WS_OK;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < jobs[i].args.pmc.n && !jobs[i].skipped && !st; k++)
			st = ws_vec_push(&all, jobs[i].args.pmc.at[k], err);
	*out_args = *from;
	out_args->pmc = all;
	return st;
}

void rp_jobs_fini(struct rp_jobs *jobs)
{
	ws_vec_each(job, &jobs->list)
		rp_args_fini(&job->own);
	ws_vec_fini(&jobs->list);
	rp_args_fini(&jobs->env);
	ws_arena_fini(&jobs->arena);
}
