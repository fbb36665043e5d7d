/* Opening a workload: the facts of the machine, the record of how it was profiled. */
#include "workload/workload_priv.h"

#include "base/doc.h"
#include "base/file.h"
#include "base/path.h"
#include "workload/names.h"
#include "workload/peaks.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FACTS_BYTES_MAX (1u << 20)

const char *wl_workload_fact(const struct wl_workload *load, const char *name)
{
	for (size_t i = 0; i < load->n_facts; i++)
		if (strcmp(load->facts[i].name, name) == 0)
			return load->facts[i].text;
	return NULL;
}

/* Our profile says in sysinfo.csv what made the numbers. */
bool wl_workload_is_sampled(const struct wl_workload *load)
{
	const char *vbios = wl_workload_fact(load, "vbios");

	return vbios && strcasestr(vbios, "software GPU") && strcasestr(vbios, "sampled");
}

bool wl_workload_is_modelled(const struct wl_workload *load)
{
	const char *vbios = wl_workload_fact(load, "vbios");

	return vbios && strcasestr(vbios, "software GPU");
}

bool wl_workload_number(const struct wl_workload *load, const char *name, double *out)
{
	const char *text = wl_workload_fact(load, name);
	struct ws_str view = ws_str_trim(ws_str_from(text));
	double value;

	if (!text || !view.n || !ws_str_f64(view, &value) || isnan(value))
		return false;
	*out = value;
	return true;
}

static enum ws_status read_facts(struct wl_workload *load, const char *path, struct ws_err *err)
{
	const char **names, **texts, *at, *end;
	size_t n_names, n_texts;
	struct ws_buf text;
	enum ws_status st;

	ws_buf_init(&text, FACTS_BYTES_MAX);
	st = ws_file_read(path, &text, err);
	at = text.at;
	end = text.at + text.n;
	if (!st && (!wl_csv_record(&at, end, &load->arena, &names, &n_names) ||
		    !wl_csv_record(&at, end, &load->arena, &texts, &n_texts)))
		st = ws_fail(err, WS_E_FORMAT,
			     "'%s' is truncated: a header and one row are expected", path);
	if (!st && n_texts < n_names)
		st = ws_fail(err, WS_E_FORMAT, "'%s' is truncated: %zu of %zu fields", path,
			     n_texts, n_names);
	if (!st) {
		load->facts = ws_arena_array(&load->arena, n_names, sizeof(*load->facts));
		if (!load->facts)
			st = ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	for (size_t i = 0; !st && i < n_names; i++)
		load->facts[load->n_facts++] = (struct wl_fact){ names[i], texts[i] };
	ws_buf_fini(&text);
	return st;
}

/* "name:digits,name: digits": digits only, as the option has always been read. */
static enum ws_status correct(struct wl_workload *load, const char *text, struct ws_err *err)
{
	struct ws_str rest = ws_str_from(text), part;

	while (ws_str_next(&rest, ',', &part)) {
		struct ws_str name, value = ws_str_trim(part);
		bool found = false;
		size_t n = 0;

		if (!value.n)
			continue;
		if (!ws_str_next(&value, ':', &name))
			name = value;
		name = ws_str_trim(name);
		value = ws_str_trim(value);
		while (n < value.n && value.at[n] >= '0' && value.at[n] <= '9')
			n++;
		if (!n)
			return ws_fail(err, WS_E_USAGE,
				       "--specs-correction requires name:number, not '%.*s'",
				       WS_STR_ARGS(part));
		for (size_t i = 0; i < load->n_facts; i++)
			if (ws_str_is(name, load->facts[i].name)) {
				load->facts[i].text = ws_arena_strndup(&load->arena, value.at, n);
				found = true;
			}
		if (!found)
			return ws_fail(err, WS_E_USAGE,
				       "--specs-correction: '%.*s' is not a field of sysinfo.csv",
				       WS_STR_ARGS(name));
	}
	return WS_OK;
}

static bool is_on(const struct ws_doc *doc, const char *key)
{
	const struct ws_doc *value = ws_doc_get(doc, key);

	return value && ((value->kind == WS_DOC_BOOL && value->on) ||
			 (value->kind == WS_DOC_TEXT && value->text[0]));
}

/* profiling_config.yaml: which blocks were profiled, and how. It may be missing. */
static enum ws_status read_config(struct wl_workload *load, const char *dir, struct ws_err *err)
{
	const struct ws_doc *blocks, *join;
	struct ws_doc *doc;
	const char **list;
	char path[PATH_MAX];
	enum ws_status st = ws_path_join(dir, WL_FILE_CONFIG, path, err);

	if (st || !ws_path_exists(path))
		return st;
	st = ws_doc_read(path, &load->arena, &doc, err);
	if (st)
		return st;
	load->torch_trace = is_on(doc, "torch_trace");
	load->multiplexed = is_on(doc, "iteration_multiplexing");
	join = ws_doc_get(doc, "join_type");
	load->by_kernel = join && join->kind == WS_DOC_TEXT && strcmp(join->text, "kernel") == 0;
	blocks = ws_doc_get(doc, "filter_blocks");
	if (!blocks || (blocks->kind != WS_DOC_LIST && blocks->kind != WS_DOC_MAP))
		return WS_OK;
	list = ws_arena_array(&load->arena, blocks->n + 1, sizeof(*list));
	if (!list)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t i = 0; i < blocks->n; i++) {
		const struct ws_doc *item = blocks->at[i];

		if (blocks->kind == WS_DOC_LIST)
			list[load->n_recorded_blocks++] = item->text;
		else if (item->text && strcmp(item->text, "metric_id") == 0)
			list[load->n_recorded_blocks++] = item->key;
	}
	load->recorded_blocks = list;
	return WS_OK;
}

static bool has_data(const char *dir)
{
	static const char *const names[] = { WL_FILE_MERGED, "pmc_perf_0.csv", "results_0.csv" };
	char path[PATH_MAX];

	for (size_t i = 0; i < WS_ARRAY_LEN(names); i++)
		if (!ws_path_join(dir, names[i], path, NULL) && ws_path_exists(path))
			return true;
	return !ws_path_join(dir, WL_FILE_SYSINFO, path, NULL) && ws_path_exists(path);
}

/* "node.1" beside "node": an earlier profile of it, which profile has put aside. */
static bool is_aside(const char *path)
{
	const char *dot = strrchr(path, '.');
	char now[PATH_MAX];

	if (!dot || !dot[1] || dot[1 + strspn(dot + 1, "0123456789")])
		return false;
	snprintf(now, sizeof(now), "%.*s", (int)(dot - path), path);
	return has_data(now);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

enum ws_status wl_workload_nodes(const char *dir, struct ws_arena *arena, const char ***out_names,
				 size_t *out_n, struct ws_err *err)
{
	DIR *open_dir = opendir(dir);
	const char **names = NULL;
	struct dirent *entry;
	size_t n = 0, cap = 0;
	char path[PATH_MAX];
	struct stat info;

	if (!open_dir)
		return ws_fail_errno(err, errno, "cannot read the directory '%s'", dir);
	while ((entry = readdir(open_dir))) {
		if (entry->d_name[0] == '.' || ws_path_join(dir, entry->d_name, path, NULL) ||
		    stat(path, &info) != 0 || !S_ISDIR(info.st_mode) || !has_data(path) ||
		    is_aside(path))
			continue;
		if (n == cap) {
			const char **grown;

			cap = cap ? cap * 2 : 16;
			grown = ws_arena_array(arena, cap, sizeof(*grown));
			if (!grown)
				break;
			if (n)
				memcpy(grown, names, n * sizeof(*names));
			names = grown;
		}
		names[n++] = ws_arena_strdup(arena, entry->d_name);
	}
	closedir(open_dir);
	if (n)
		qsort(names, n, sizeof(*names), by_text);
	*out_names = names;
	*out_n = n;
	return WS_OK;
}

/* "not a workload", and what the person may have meant. */
static enum ws_status not_a_workload(struct wl_workload *load, const char *dir, const char *what,
				     struct ws_err *err)
{
	const char **nodes;
	size_t n;

	if (!wl_workload_nodes(dir, &load->arena, &nodes, &n, NULL) && n)
		return ws_fail(err, WS_E_NOTFOUND, "'%s' %s: did you mean '%s/%s'?", dir, what, dir,
			       nodes[0]);
	return ws_fail(err, WS_E_NOTFOUND,
		       "'%s' %s: use the directory that 'rocprof-compute profile' wrote", dir,
		       what);
}

static enum ws_status open_facts(struct wl_workload *load, const char *dir,
				 const struct wl_workload_how *how, struct ws_err *err)
{
	char path[PATH_MAX];
	struct stat info;
	enum ws_status st;

	if (stat(dir, &info) != 0)
		return ws_fail_errno(err, errno, "invalid directory '%s'", dir);
	if (!S_ISDIR(info.st_mode))
		return ws_fail(err, WS_E_USAGE, "invalid directory '%s': it is a file", dir);
	st = ws_path_join(dir, WL_FILE_SYSINFO, path, err);
	if (st)
		return st;
	if (!ws_path_exists(path))
		return not_a_workload(load, dir, "is not a workload, it has no sysinfo.csv", err);
	st = read_facts(load, path, err);
	if (!st && how->corrections)
		st = correct(load, how->corrections, err);
	if (st)
		return st;
	load->arch = wl_workload_fact(load, "gpu_arch");
	if (!load->arch || !load->arch[0])
		return ws_fail(err, WS_E_FORMAT,
			       "'%s' does not name the architecture: its field gpu_arch is missing",
			       path);
	return read_config(load, dir, err);
}

/* The machine is that of the first node; its directory stands for all of them. */
static enum ws_status open_nodes(struct wl_workload *load, const char *dir,
				 const struct wl_workload_how *how, struct ws_err *err)
{
	const char *const *names = how->nodes;
	char path[PATH_MAX];
	const char **found;
	size_t n = how->n_nodes;
	enum ws_status st = WS_OK;

	if (!n) {
		st = wl_workload_nodes(dir, &load->arena, &found, &n, err);
		names = found;
		if (!st && !n)
			st = ws_fail(err, WS_E_NOTFOUND,
				     "'%s' has no sub-directories that are workloads", dir);
	}
	if (!st)
		st = ws_path_join(dir, names[0], path, err);
	if (!st)
		st = open_facts(load, path, how, err);
	if (!st && !how->facts_only)
		st = wl_load_nodes(load, dir, names, n, how, err);
	return st;
}

/* Measured peaks are an extra: a missing or damaged file is reported when they are used. */
static enum ws_status open_peaks(struct wl_workload *load, const char *dir, struct ws_err *err)
{
	struct wl_peaks *peaks = ws_arena_new(&load->arena, struct wl_peaks);
	const char *path = ws_arena_printf(&load->arena, "%s/" WL_FILE_PEAKS, dir);
	struct ws_err ignored;

	if (!peaks || !path)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	if (!wl_peaks_read(path, &load->arena, peaks, &ignored))
		load->peaks = peaks;
	return WS_OK;
}

enum ws_status wl_workload_open(const char *dir, const struct wl_workload_how *how,
				struct wl_workload **out_load, struct ws_err *err)
{
	static const struct wl_workload_how plain = { .kernel_verbose = 5 };
	struct wl_workload *load = calloc(1, sizeof(*load));
	enum ws_status st;

	if (!how)
		how = &plain;
	if (load)
		load->priv = calloc(1, sizeof(*load->priv));
	if (!load || !load->priv) {
		free(load);
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	ws_arena_init(&load->arena, SIZE_MAX);
	wl_dict_init(&load->priv->kernels, &load->arena);
	wl_dict_init(&load->priv->counters, &load->arena);
	load->path = ws_arena_strdup(&load->arena, dir);
	if (!load->path)
		st = ws_fail(err, WS_E_NOMEM, "out of memory");
	else if (how->by_nodes || how->spatial)
		st = open_nodes(load, dir, how, err);
	else
		st = open_facts(load, dir, how, err);
	if (!st && !how->facts_only && !load->n_frames)
		st = wl_load_layout(load, dir, how, err);
	if (!st && load->n_frames && how->kernel_verbose < 5)
		st = wl_load_shorten(load, how->kernel_verbose, err);
	if (!st && !how->facts_only && !load->n_frames)
		st = not_a_workload(load, dir, "contains no profiling data", err);
	if (!st && !how->facts_only)
		st = open_peaks(load, dir, err);
	if (st)
		wl_workload_close(load);
	else
		*out_load = load;
	return st;
}

void wl_workload_close(struct wl_workload *load)
{
	struct wl_workload_priv *priv;

	if (!load)
		return;
	priv = load->priv;
	for (size_t i = 0; i < load->n_frames; i++)
		ws_map_fini(&load->frames[i]->by_name);
	for (size_t i = 0; i < priv->n_csvs; i++)
		wl_csv_fini(priv->csvs[i]);
	for (size_t i = 0; i < priv->n_owned; i++)
		wl_doubles_free(priv->owned[i].at, priv->owned[i].n);
	free(priv->csvs);
	free(priv->owned);
	wl_dict_fini(&priv->kernels);
	wl_dict_fini(&priv->counters);
	ws_arena_fini(&load->arena);
	free(priv);
	free(load);
}

const struct wl_frame *wl_workload_frame(const struct wl_workload *load, const char *name)
{
	for (size_t i = 0; i < load->n_frames; i++)
		if (strcmp(load->frames[i]->name, name) == 0)
			return load->frames[i];
	return NULL;
}

const struct wl_column *wl_frame_column(const struct wl_frame *frame, const char *name)
{
	return ws_map_get(&frame->by_name, name);
}
