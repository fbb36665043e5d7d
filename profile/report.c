/* The files of a report, and in which order. */
#include "profile/report.h"

#include "base/file.h"
#include "profile/flame.h"
#include "profile/folded.h"
#include "profile/frames.h"
#include "profile/report_priv.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define ARENA_BYTES (1u << 30)

bool prof_memory_unit_parse(const char *word, enum prof_memory_unit *out_unit)
{
	static const char *const words[] = {
#define PROF_MEMORY_UNIT_WORD(id, word, bytes) word,
		PROF_MEMORY_UNIT_TABLE(PROF_MEMORY_UNIT_WORD)
#undef PROF_MEMORY_UNIT_WORD
	};

	for (size_t i = 0; word && i < WS_ARRAY_LEN(words); i++) {
		if (strcasecmp(words[i], word))
			continue;
		*out_unit = (enum prof_memory_unit)i;
		return true;
	}
	return false;
}

void prof_report_opts_init(struct prof_report_opts *opts)
{
	*opts = (struct prof_report_opts){
		.folder = ".",
		.prefix = "",
		.suffix = "",
		.files = true,
		.text = true,
		.json = true,
		.tree = true,
		.profile = true,
		.max_depth = 65535,
		.keep_internal = true,
		.time_unit = WS_TIME_SEC,
		.memory_unit = PROF_MEMORY_MB,
		.number = { .precision = -1, .width = -1 },
		.timing = { .precision = 6, .width = -1 },
		.memory = { .precision = -1, .width = -1 },
		.max_width = 120,
	};
}

/* ---- files ---- */

void prof_report_failed(struct prof_report *r, enum ws_status st, const struct ws_err *err)
{
	if (r->st)
		return;
	r->st = st;
	if (r->err)
		*r->err = *err;
}

void prof_report_say(struct prof_report *r, const char *fmt, ...)
{
	char text[512];
	va_list args;

	if (!r->opts->say)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	r->opts->say(r->opts->ctx, text);
}

int prof_report_rank(const struct prof_report *r, size_t process)
{
	return r->opts->ranks ? r->opts->ranks[process] : (int)process;
}

const char *prof_report_path(struct prof_report *r, const char *name, const char *extension)
{
	return ws_arena_printf(&r->arena, "%s/%s%s%s.%s", r->opts->folder, r->opts->prefix, name,
			       r->opts->suffix, extension);
}

FILE *prof_report_begin(struct prof_report *r, const char *path)
{
	struct ws_err err = { 0 };
	enum ws_status st = WS_OK;
	FILE *file = NULL;
	char *folder;

	if (path && !r->opts->files)
		return NULL;
	folder = path ? ws_arena_strdup(&r->arena, path) : NULL;
	if (!folder) {
		ws_fail(&err, WS_E_NOMEM, "no memory for the path of a file");
		prof_report_failed(r, WS_E_NOMEM, &err);
		return NULL;
	}
	*strrchr(folder, '/') = '\0';
	if (*folder)
		st = ws_mkdirs(folder, &err);
	if (!st)
		st = ws_file_begin(path, &file, &err);
	if (st)
		prof_report_failed(r, st, &err);
	return st ? NULL : file;
}

void prof_report_finish(struct prof_report *r, FILE *file, const char *format, const char *label,
			const char *path)
{
	struct prof_report_result *result = r->result;
	struct prof_report_file *more, done = { format, strdup(label), strdup(path) };
	struct ws_err err = { 0 };
	enum ws_status st = ws_file_commit(path, file, &err);

	if (!st && result->n_files == result->cap_files) {
		more = realloc(result->files, (result->cap_files * 2 + 16) * sizeof(*more));
		if (more) {
			result->files = more;
			result->cap_files = result->cap_files * 2 + 16;
		}
	}
	if (!st && (result->n_files == result->cap_files || !done.label || !done.path))
		st = ws_fail(&err, WS_E_NOMEM, "no memory for the list of files");
	if (st) {
		free((void *)done.label);
		free((void *)done.path);
		prof_report_failed(r, st, &err);
		return;
	}
	result->files[result->n_files++] = done;
	if (r->opts->written)
		r->opts->written(r->opts->ctx, &result->files[result->n_files - 1]);
}

void prof_report_result_fini(struct prof_report_result *result)
{
	for (size_t i = 0; i < result->n_files; i++) {
		free((void *)result->files[i].label);
		free((void *)result->files[i].path);
	}
	free(result->files);
	*result = (struct prof_report_result){ 0 };
}

/* The same where the file may lack something because there was no memory. */
static void finish_if(struct prof_report *r, bool whole, FILE *file, const char *format,
		      const char *label, const char *path)
{
	struct ws_err err = { 0 };

	if (whole) {
		prof_report_finish(r, file, format, label, path);
		return;
	}
	ws_file_discard(path, file);
	prof_report_failed(r, ws_fail(&err, WS_E_NOMEM, "no memory to write '%s'", path), &err);
}

/* ---- tables ---- */

struct prof_sheet prof_report_new_sheet(struct prof_report *r, const char *name)
{
	struct prof_sheet sheet = {
		.name = name,
		.label = name,
		.description = "",
		.unit_text = "",
		.unit = 1,
		.width = r->opts->number.width,
		.scientific = r->opts->number.scientific,
		.columns = PROF_COLUMNS_ALL,
		.n_ranks = r->opts->collapse_processes ? 1 : r->n_processes,
		.tree = r->opts->tree,
		.max_width = r->opts->max_width,
	};

	for (size_t i = 0; i < r->n_processes; i++)
		sheet.n_threads += (uint32_t)r->processes[i]->threads.n;
	return sheet;
}

static void write_diff(struct prof_report *r, const struct prof_sheet *sheet)
{
	struct prof_before *before = NULL;
	struct ws_err err = { 0 };
	const char *then = ws_arena_printf(&r->arena, "%s/%s%s%s.json", r->opts->diff_folder,
					   r->opts->diff_prefix ? r->opts->diff_prefix : "",
					   sheet->name, r->opts->suffix);
	const char *plain =
		ws_arena_printf(&r->arena, "%s/%s%s.json", r->opts->diff_folder,
				r->opts->diff_prefix ? r->opts->diff_prefix : "", sheet->name);
	const char *path = prof_report_path(r, sheet->name, "diff.txt");
	FILE *to;

	if (!then || !plain)
		return;
	/* Another process has another suffix; without one the file is that of any process. */
	if (prof_before_read(access(then, F_OK) ? plain : then, sheet->label, &before, &err)) {
		prof_report_say(r, "no difference for %s: %s", sheet->name, err.text);
		return;
	}
	to = prof_report_begin(r, path);
	if (to && prof_diff_text(sheet, before, to, &err)) {
		ws_file_discard(path, to);
		prof_report_failed(r, err.status, &err);
	} else if (to) {
		prof_report_finish(r, to, "text", sheet->label, path);
	}
	prof_before_destroy(before);
}

void prof_report_sheet(struct prof_report *r, struct prof_sheet *sheet)
{
	const char *path;
	FILE *to;

	if (prof_sheet_empty(sheet))
		return;
	if (r->opts->to_stdout) {
		prof_sheet_text(sheet, stdout);
		fflush(stdout);
	}
	path = prof_report_path(r, sheet->name, "json");
	to = r->opts->json ? prof_report_begin(r, path) : NULL;
	if (to)
		finish_if(r, prof_sheet_json(sheet, to), to, "json", sheet->label, path);
	path = prof_report_path(r, sheet->name, "txt");
	to = r->opts->text ? prof_report_begin(r, path) : NULL;
	if (to)
		finish_if(r, prof_sheet_text(sheet, to), to, "text", sheet->label, path);
	if (r->opts->diff_folder)
		write_diff(r, sheet);
}

void prof_report_style_time(const struct prof_report *r, struct prof_sheet *sheet)
{
	const struct prof_report_opts *opts = r->opts;

	sheet->unit_text = ws_time_unit_words[opts->time_unit];
	sheet->unit = (double)ws_time_unit_ns(opts->time_unit);
	sheet->precision = opts->timing.precision >= 0   ? opts->timing.precision
			   : opts->number.precision >= 0 ? opts->number.precision
							 : 6;
	sheet->width = opts->timing.width >= 0 ? opts->timing.width : opts->number.width;
	sheet->scientific = opts->timing.scientific || opts->number.scientific;
}

static void time_sheet(struct prof_report *r, const char *name, const char *description,
		       enum prof_value value, const struct prof_tree *tree)
{
	struct prof_sheet sheet = prof_report_new_sheet(r, name);

	sheet.description = description;
	prof_report_style_time(r, &sheet);
	sheet.value = value;
	sheet.trees[0] = tree;
	sheet.n_trees = 1;
	prof_report_sheet(r, &sheet);
}

static bool is_component(const struct prof_report *r, const char *name)
{
	for (size_t i = 0; i < r->opts->n_components; i++)
		if (!strcmp(r->opts->components[i], name))
			return true;
	return !r->opts->n_components && !strcmp(name, "wall_clock");
}

/* Python functions are counted in trip_count without being requested, as AMD does. */
static bool has_python(const struct prof_report *r)
{
	for (size_t p = 0; p < r->n_processes; p++)
		for (size_t i = 0; i < r->processes[p]->regions.n; i++)
			if (r->processes[p]->regions.at[i].id &&
			    r->processes[p]->regions.at[i].category == CAP_REGION_PYTHON)
				return true;
	return false;
}

static void trip_sheet(struct prof_report *r, const struct prof_tree *samples)
{
	struct prof_sheet sheet = prof_report_new_sheet(r, "trip_count");

	sheet.description = "Counts number of invocations";
	sheet.columns = PROF_COLUMNS_TRIPS;
	sheet.value = PROF_VALUE_TRIPS;
	if (r->calls->n_calls && (is_component(r, "trip_count") || has_python(r)))
		sheet.trees[sheet.n_trees++] = r->calls;
	if (samples->n_samples)
		sheet.trees[sheet.n_trees++] = samples;
	if (sheet.n_trees)
		prof_report_sheet(r, &sheet);
}

static void percent_sheet(struct prof_report *r)
{
	struct prof_sheet sheet = prof_report_new_sheet(r, "sampling_percent");
	int precision = r->opts->number.precision;

	sheet.description = "Percentage of samples";
	sheet.unit_text = "%";
	sheet.precision = precision >= 0 ? precision : 3;
	sheet.value = PROF_VALUE_PERCENT;
	sheet.trees[0] = r->flat_samples;
	sheet.n_trees = 1;
	sheet.tree = false; /* it is a list */
	prof_report_sheet(r, &sheet);
}

static void write_samples(struct prof_report *r)
{
	const struct prof_tree *tree = r->opts->flat ? r->flat_samples : r->samples;

	trip_sheet(r, tree);
	if (!r->samples->n_samples)
		return;
	time_sheet(r, "sampling_wall_clock", "Wall clock time (via sampling)", PROF_VALUE_WALL,
		   tree);
	time_sheet(r, "sampling_cpu_clock", "CPU clock time (via sampling)", PROF_VALUE_CPU, tree);
	percent_sheet(r);
	prof_report_events(r);
}

/* Files that are written with samples or metrics, whether they are requested or not. */
static bool is_automatic(const char *component)
{
	static const char *const others[] = { "", "trip_count", "wall_clock" };

	for (size_t i = 0; i < WS_ARRAY_LEN(others); i++)
		if (!strcmp(component, others[i]))
			return true;
	return !strncmp(component, "sampling_", 9);
}

bool prof_report_has_component(const char *name)
{
	return *name && (is_automatic(name) || prof_report_is_thread_component(name) ||
			 prof_report_is_process_component(name));
}

static void write_components(struct prof_report *r)
{
	if (is_component(r, "wall_clock"))
		time_sheet(r, "wall_clock", "Real-clock timer (i.e. wall-clock timer)",
			   PROF_VALUE_WALL, r->calls);
	for (size_t i = 0; i < r->opts->n_components; i++) {
		const char *name = r->opts->components[i];

		if (!is_automatic(name) && !prof_report_thread_component(r, name) &&
		    !prof_report_process_component(r, name))
			prof_report_say(r,
					"component '%s' is left out: the recording has no values "
					"for it",
					name);
	}
}

/* ---- pages ---- */

static void write_flame(struct prof_report *r)
{
	const char *path = prof_report_path(r, "flamegraph", "html");
	struct prof_flame_view views[3];
	size_t n = prof_flame_views(r->calls, r->samples, views);
	FILE *to;

	if (!n)
		return;
	to = prof_report_begin(r, path);
	if (!to)
		return;
	finish_if(r, prof_flame_write(views, n, trc_process_program(r->processes[0]), to), to,
		  "html", "flamegraph", path);
}

/* The samples of a clock are those of its own kind. */
static void write_folded(struct prof_report *r, const char *name, enum cap_sampler sampler)
{
	struct prof_folded_opts opts = { .threads = true, .sampler = sampler };
	const char *path = prof_report_path(r, name, "folded");
	struct ws_err err = { 0 };
	enum ws_status st = WS_OK;
	FILE *to;

	if (!r->samples->n_counted[sampler] || !(to = prof_report_begin(r, path)))
		return;
	for (size_t p = 0; !st && p < r->n_processes; p++)
		st = prof_folded_write(r->trace, r->processes[p], r->frames[p], &opts, to, &err);
	if (!st) {
		prof_report_finish(r, to, "folded", name, path);
		return;
	}
	ws_file_discard(path, to);
	prof_report_failed(r, st, &err);
}

/* ---- all of it ---- */

static bool has_trees(const struct prof_report_opts *opts)
{
	return opts->profile || opts->flame || opts->folded;
}

static enum ws_status build_trees(struct prof_report *r, struct ws_err *err)
{
	const struct prof_report_opts *opts = r->opts;
	struct prof_tree_opts tree_opts = { .flat = opts->flat,
					    .timeline = opts->timeline,
					    .collapse_threads = opts->collapse_threads,
					    .collapse_processes = opts->collapse_processes,
					    .max_depth = opts->max_depth,
					    .domains = opts->domains };
	struct prof_frames_opts frames_opts = { .inlines = opts->inlines,
						.drop_internal = !opts->keep_internal };
	enum ws_status st = prof_tree_create(&tree_opts, &r->calls, err);

	tree_opts.flat = tree_opts.timeline = false;
	if (!st)
		st = prof_tree_create(&tree_opts, &r->samples, err);
	r->frames = ws_arena_array(&r->arena, r->n_processes, sizeof(struct prof_frames *));
	if (!st && !r->frames)
		st = ws_fail(err, WS_E_NOMEM, "no memory for a report");
	for (size_t p = 0; !st && has_trees(opts) && p < r->n_processes; p++) {
		st = prof_frames_open(r->processes[p], &frames_opts, &r->frames[p], err);
		if (!st)
			st = prof_tree_add_events(r->calls, r->trace, r->processes[p],
						  prof_report_rank(r, p), r->frames[p], err);
		if (!st)
			st = prof_tree_add_samples(r->samples, r->trace, r->processes[p],
						   prof_report_rank(r, p), r->frames[p], err);
	}
	return st ? st : prof_tree_flatten(r->samples, &r->flat_samples, err);
}

static void fill_result(struct prof_report *r)
{
	struct prof_report_result *result = r->result;

	result->n_calls = r->calls->n_calls;
	result->n_samples = r->samples->n_samples;
	result->n_unmatched = r->calls->n_unmatched;
	result->n_unplaced = r->calls->n_unplaced + r->samples->n_unplaced;
	prof_report_totals(r);
	if (result->n_unplaced)
		prof_report_say(r,
				"%llu calls and samples are not in the tables: there are more "
				"different call paths than fit; use a smaller maximum depth",
				(unsigned long long)result->n_unplaced);
}

enum ws_status prof_report_write(const struct trc_trace *trace,
				 const struct trc_process *const *processes, size_t n_processes,
				 const struct prof_report_opts *opts,
				 struct prof_report_result *out_result, struct ws_err *err)
{
	struct prof_report r = { .trace = trace,
				 .processes = processes,
				 .n_processes = n_processes,
				 .opts = opts,
				 .result = out_result,
				 .err = err };
	enum ws_status st;

	*out_result = (struct prof_report_result){ .cpu_s = -1, .peak_mb = -1 };
	ws_arena_init(&r.arena, ARENA_BYTES);
	st = n_processes ? build_trees(&r, err)
			 : ws_fail(err, WS_E_USAGE, "there is no process to report");
	if (st)
		goto out;
	prof_report_read_metrics(&r);
	fill_result(&r);
	if (opts->profile) {
		write_components(&r);
		write_samples(&r);
		prof_report_metrics(&r);
		prof_report_counters(&r);
	}
	if (opts->folded) {
		write_folded(&r, "sampling_cpu_clock", CAP_SAMPLER_CPU_TIME);
		write_folded(&r, "sampling_wall_clock", CAP_SAMPLER_REAL_TIME);
		write_folded(&r, "sampling_overflow", CAP_SAMPLER_OVERFLOW);
	}
	if (opts->flame)
		write_flame(&r);
	prof_report_functions(&r);
	prof_report_metadata(&r);
	st = r.st;
out:
	for (size_t p = 0; r.frames && p < n_processes; p++)
		prof_frames_close(r.frames[p]);
	prof_tree_destroy(r.calls);
	prof_tree_destroy(r.samples);
	prof_tree_destroy(r.flat_samples);
	ws_arena_fini(&r.arena);
	return st;
}
