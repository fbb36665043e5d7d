/* Where the results of a profile go, and what to do with what is there already. */
#include "cmd/compute/profile.h"

#include "base/path.h"
#include "base/str.h"
#include "cmd/compute/profile_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Longest text that may come out of placeholders; longer paths do not exist anyway. */
#define DIR_MAX (PATH_MAX - 64)

/* "%env{NAME}%" at @at: its value is appended, and where the text goes on returned; NULL: none. */
static const char *expand_env(const char *at, struct ws_buf *out)
{
	const char *end, *value;
	char name[256];

	if (strncmp(at, "%env{", 5) != 0 || !(end = strstr(at, "}%")))
		return NULL;
	if ((size_t)(end - at - 5) >= sizeof(name))
		return NULL;
	snprintf(name, sizeof(name), "%.*s", (int)(end - at - 5), at + 5);
	value = getenv(name);
	ws_buf_add(out, value ? value : "");
	return end + 2;
}

static const char *expand_at(const struct pf *pf, const char *at, struct ws_buf *out)
{
	char host[256];

	if (strncmp(at, "%hostname%", 10) == 0) {
		if (gethostname(host, sizeof(host)) != 0)
			strcpy(host, "localhost");
		host[sizeof(host) - 1] = '\0';
		ws_buf_add(out, host);
		return at + 10;
	}
	if (strncmp(at, "%gpumodel%", 10) == 0) {
		ws_buf_add(out, pf->target);
		return at + 10;
	}
	if (strncmp(at, "%rank%", 6) == 0) {
		if (pf->rank.known) {
			ws_buf_printf(out, "%llu", (unsigned long long)pf->rank.rank);
			return at + 6;
		}
		pf_log(PF_LOG_WARNING,
		       "%%rank%% in --output-directory is removed: this process has no MPI rank");
		return at + 6 + (at[6] == '/');
	}
	return expand_env(at, out);
}

static void add_rank(const struct pf *pf, const char *text, struct ws_buf *out)
{
	if (pf->rank.known && !strstr(text, "%rank%"))
		ws_buf_printf(out, "%s%llu", out->n && out->at[out->n - 1] == '/' ? "" : "/",
			      (unsigned long long)pf->rank.rank);
}

static void fill_in(const struct pf *pf, const char *text, struct ws_buf *out)
{
	for (const char *at = text; *at;) {
		const char *after = *at == '%' ? expand_at(pf, at, out) : NULL;

		/* A placeholder that stands for nothing leaves no empty name. */
		if (!after && !(*at == '/' && at > text && out->n && out->at[out->n - 1] == '/'))
			ws_buf_add_c(out, *at, 1);
		at = after ? after : at + 1;
	}
}

/* -p and --subpath, as they were before --output-directory. */
static void old_path(const struct pf *pf, struct ws_buf *out)
{
	const struct pf_args *args = pf->args;
	char host[256] = "";

	pf_log(PF_LOG_WARNING, "--path and --subpath are deprecated: use --output-directory, with "
			       "%%hostname%%, %%gpumodel%% and %%rank%%");
	ws_buf_add(out, args->path);
	if (args->subpath && strcmp(args->subpath, "node_name") == 0) {
		gethostname(host, sizeof(host) - 1);
		ws_buf_printf(out, "/%s", host);
	} else if (args->subpath && strcmp(args->subpath, "gpu_model") == 0) {
		ws_buf_printf(out, "/%s", pf->target);
	}
	add_rank(pf, args->path, out);
}

static void default_path(const struct pf *pf, struct ws_buf *out)
{
	ws_buf_printf(out, "workloads/%s/", pf->args->name);
	if (pf->rank.known)
		ws_buf_printf(out, "%llu", (unsigned long long)pf->rank.rank);
	else
		ws_buf_add(out, pf->target);
}

/* The workload is called by --name, or by the folder it is in. */
static const char *folder_name(struct pf *pf, const char *dir)
{
	size_t n = strlen(dir);
	const char *slash;

	while (n > 1 && dir[n - 1] == '/')
		n--;
	slash = memrchr(dir, '/', n);
	return ws_arena_strndup(&pf->arena, slash ? slash + 1 : dir,
				slash ? n - (size_t)(slash + 1 - dir) : n);
}

enum ws_status pf_choose_dir(struct pf *pf, struct ws_err *err)
{
	const struct pf_args *args = pf->args;
	char cwd[PATH_MAX];
	struct ws_buf text;
	enum ws_status st = WS_OK;

	ws_buf_init(&text, DIR_MAX);
	if (args->output_directory) {
		if (args->name)
			pf_log(PF_LOG_WARNING, "--name is ignored: --output-directory is used");
		fill_in(pf, args->output_directory, &text);
		add_rank(pf, args->output_directory, &text);
	} else if (args->path) {
		old_path(pf, &text);
	} else {
		default_path(pf, &text);
	}
	st = ws_buf_status(&text, err);
	if (!st && !text.n)
		st = ws_fail(err, WS_E_USAGE,
			     "--output-directory '%s' is empty after replacing placeholders",
			     args->output_directory);
	if (!st && !getcwd(cwd, sizeof(cwd)))
		st = ws_fail(err, WS_E_STATE, "there is no working directory");
	if (!st)
		st = ws_path_join(cwd, text.at, pf->dir, err);
	if (!st) {
		size_t n = strlen(pf->dir);

		while (n > 1 && pf->dir[n - 1] == '/')
			pf->dir[--n] = '\0';
		pf->name = args->name && !args->output_directory ? args->name
								 : folder_name(pf, pf->dir);
		if (!pf->name)
			st = ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	ws_buf_fini(&text);
	return st;
}
