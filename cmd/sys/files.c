#include "cmd/sys/files.h"

#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "base/unit.h"
#include "cmd/sys/avail.h"
#include "cmd/sys/summary.h"
#include "output/systrace.h"
#include "profile/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 256u

/* What is written, and what of it others want to know. */
struct writing {
	const struct sys_files *files;
	struct sys_files_result *result;
	struct ws_arena arena;
	struct prof_report_file others[3];
	size_t n_others;
	const struct trc_process *const *processes; /* of the profile */
	size_t n_processes;
	struct prof_frames
		*frames; /* names for the trace and the database; NULL: none are needed */
};

void sys_files_say(const struct set_values *values, uint32_t pid, const char *label,
		   const char *path, const char *more)
{
	if (set_int(values, SET_VERBOSE) >= 0)
		ws_print(stderr, "[rocprof-sys][%u][%s]> Outputting '%s'%s\n", pid, label, path,
			 more);
}

static void report(struct writing *w, enum ws_status st, const struct ws_err *err)
{
	if (!st)
		return;
	ws_log_error("%s", err->text);
	w->result->n_failed++;
}

static enum ws_status make_folder_of(const char *path, struct ws_err *err)
{
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), "%s", path);
	ws_path_parent(folder);
	return ws_mkdirs(folder, err);
}

/* A list setting as an array, NULL at the end; NULL: it is empty. */
static const char *const *words_of(struct writing *w, enum set_id id, size_t *out_n)
{
	struct ws_str rest = ws_str_from(set_text(w->files->values, id)), word;
	const char **words = ws_arena_array(&w->arena, WORDS_MAX + 1, sizeof(*words));

	*out_n = 0;
	while (words && *out_n < WORDS_MAX && set_next_word(&rest, false, &word)) {
		words[*out_n] = ws_arena_strndup(&w->arena, word.at, word.n);
		if (words[*out_n])
			++*out_n;
	}
	return *out_n ? words : NULL;
}

/* "perfetto-trace.proto" and a suffix: "perfetto-trace-4711.proto". */
static enum ws_status trace_path(const struct writing *w, char out[PATH_MAX], struct ws_err *err)
{
	struct ws_buf name;
	const char *dot, *slash;
	char ext[64] = "";
	enum ws_status st;

	ws_buf_init(&name, PATH_MAX - 1);
	st = set_expand(w->files->values, w->files->place,
			set_text(w->files->values, SET_PERFETTO_FILE), &name, err);
	dot = strrchr(name.at, '.');
	slash = strrchr(name.at, '/');
	if (dot && dot != name.at && (!slash || dot > slash + 1) && strlen(dot) < sizeof(ext)) {
		strcpy(ext, dot + 1);
		name.at[dot - name.at] = '\0';
	}
	if (!st)
		st = set_names_path(w->files->names, name.at, ext, out, err);
	ws_buf_fini(&name);
	return st;
}

/* Names for what the trace and the database have of functions. */
static enum ws_status open_frames(struct writing *w, struct ws_err *err)
{
	const struct set_values *values = w->files->values;
	const struct trc_ledger_sum *ledger = w->files->process->ledger;
	struct prof_frames_opts how = {
		.inlines = set_on(values, SET_SAMPLING_INCLUDE_INLINES),
		.drop_internal = !set_on(values, SET_SAMPLING_KEEP_INTERNAL),
	};

	if (!ledger[CAP_DOMAIN_CALL_STACK_SAMPLING].written && !ledger[CAP_DOMAIN_REGIONS].written)
		return WS_OK;
	return prof_frames_open(w->files->process, &how, &w->frames, err);
}

static enum ws_status write_trace(struct writing *w, struct ws_err *err)
{
	const struct sys_files *f = w->files;
	struct output_systrace_opts opts = {
		.frames = w->frames,
		.annotations = set_on(f->values, SET_PERFETTO_ANNOTATIONS),
		.group_by_queue = set_on(f->values, SET_ROCM_GROUP_BY_QUEUE),
		.max_bytes = (uint64_t)set_int(f->values, SET_PERFETTO_BUFFER_SIZE_KB) * 1024,
		.fill = strcmp(set_text(f->values, SET_PERFETTO_FILL_POLICY), "discard") == 0
				? OUTPUT_SYSTRACE_DISCARD
				: OUTPUT_SYSTRACE_RING,
		.ranked = set_is_ranked(f->place),
		.rank = f->place->rank.rank,
	};
	struct output_systrace_result result = { .n_bytes = 0 };
	char path[PATH_MAX], size[96];
	enum ws_status st;
	size_t n;

	opts.enable = words_of(w, SET_ENABLE_CATEGORIES, &n);
	opts.disable = words_of(w, SET_DISABLE_CATEGORIES, &n);
	st = trace_path(w, path, err);
	if (!st)
		st = make_folder_of(path, err);
	if (!st)
		st = output_systrace_write(f->trace, f->process, &opts, path, &result, err);
	if (st)
		return st;
	if (result.n_lost)
		ws_log_warn("%s: %s", path, result.lost);
	w->result->n_lost = result.n_lost;
	w->result->traced = true;
	strcpy(w->result->trace_path, path);
	snprintf(size, sizeof(size), " (%.2f KB / %.2f MB / %.2f GB)... Done",
		 (double)result.n_bytes / 1e3, (double)result.n_bytes / 1e6,
		 (double)result.n_bytes / 1e9);
	sys_files_say(f->values, f->process->pid, "perfetto", path, size);
	w->others[w->n_others++] = (struct prof_report_file){ "protobuf", "perfetto",
							      ws_arena_strdup(&w->arena, path) };
	return WS_OK;
}

/* The whole recording in one file, beside or instead of the trace. */
struct whole_file {
	unsigned format;          /* OUTPUT_BIT() */
	const char *label, *name; /* for messages; in front of the process id */
	const char *ending;
	const char *folder_variable; /* NULL: it is where the others are */
};

static const struct whole_file rocpd_file = { OUTPUT_BIT(ROCPD), "rocpd", "rocpd", "db",
					      "ROCPROFSYS_DATABASE_DIR" };
static const struct whole_file html_file = { OUTPUT_BIT(HTML), "html", "timeline", "html", NULL };

/* output_write() appends its own ending. */
static enum ws_status write_whole(struct writing *w, const struct whole_file *what,
				  struct output_result *result, struct ws_err *err)
{
	const struct sys_files *f = w->files;
	const char *folder = what->folder_variable ? getenv(what->folder_variable) : NULL;
	char prefix[PATH_MAX], path[PATH_MAX + 8];
	struct set_names names = *f->names;
	struct output_config cfg;
	enum ws_status st;

	if (folder && *folder)
		snprintf(names.folder, sizeof(names.folder), "%s", folder);
	st = set_names_path(&names, what->name, "", prefix, err);
	if (st)
		return st;
	output_config_init(&cfg);
	cfg.formats = what->format;
	cfg.prefix = prefix;
	cfg.group_by_queue = set_on(f->values, SET_ROCM_GROUP_BY_QUEUE);
	cfg.host_data = true;
	cfg.frames = w->frames;
	st = output_write(f->trace, &f->process, 1, &cfg, result, err);
	snprintf(path, sizeof(path), "%s.%s", prefix, what->ending);
	for (size_t i = 0; i < result->n_files && !st; i++)
		if (rename(result->files[i].path, path) != 0)
			st = ws_fail_errno(err, errno, "cannot write '%s'", path);
	if (!st && result->n_files) {
		sys_files_say(f->values, f->process->pid, what->label, path, "");
		w->others[w->n_others++] =
			(struct prof_report_file){ what->label, what->label,
						   ws_arena_strdup(&w->arena, path) };
	}
	return st;
}

static enum ws_status write_html(struct writing *w, struct ws_err *err)
{
	struct output_result result = { .n_files = 0 };
	enum ws_status st = write_whole(w, &html_file, &result, err);

	/* It has all that the trace has. */
	w->result->traced |= !st && result.n_files;
	output_result_fini(&result);
	return st;
}

/* ---- profiles ---- */

static void say_written(void *ctx, const struct prof_report_file *file)
{
	const struct writing *w = ctx;

	sys_files_say(w->files->values, w->files->process->pid, file->label, file->path, "");
}

static void say_sentence(void *ctx, const char *sentence)
{
	(void)ctx;
	ws_log_warn("%s", sentence);
}

static struct prof_number_style style_of(const struct set_values *values, enum set_id precision,
					 enum set_id width, enum set_id scientific)
{
	return (struct prof_number_style){ .precision = (int)set_int(values, precision),
					   .width = (int)set_int(values, width),
					   .scientific = set_on(values, scientific) };
}

/* AMD's words for units of time; base/unit.h has most. */
static enum ws_time_unit time_unit(const char *word)
{
	static const struct {
		const char *word;
		enum ws_time_unit unit;
	} others[] = {
		{ "s", WS_TIME_SEC },   { "ms", WS_TIME_MSEC }, { "us", WS_TIME_USEC },
		{ "ns", WS_TIME_NSEC }, { "hr", WS_TIME_HOUR },
	};
	enum ws_time_unit unit = WS_TIME_SEC;

	for (size_t i = 0; i < WS_ARRAY_LEN(others); i++)
		if (strcmp(word, others[i].word) == 0)
			return others[i].unit;
	ws_time_unit_parse(word, &unit);
	return unit;
}

static enum ws_status write_profile(struct writing *w, struct ws_err *err)
{
	static const struct sys_avail_args all = { .all = WS_TRI_YES, .advanced = WS_TRI_YES };
	const struct sys_files *f = w->files;
	const struct set_values *v = f->values;
	struct sys_avail avail = { .args = &all, .values = v, .place = f->place };
	struct prof_report_opts opts;
	struct prof_report_result result = { .n_files = 0 };
	struct ws_buf settings;
	enum ws_status st;

	ws_buf_init(&settings, 16u << 20);
	sys_settings_json(&avail, true, &settings);
	prof_report_opts_init(&opts);
	opts.folder = f->names->folder;
	opts.prefix = f->names->prefix;
	opts.suffix = f->names->suffix;
	opts.version = WS_VERSION;
	opts.files = set_on(v, SET_FILE_OUTPUT);
	opts.text = set_on(v, SET_TEXT_OUTPUT);
	opts.json = set_on(v, SET_JSON_OUTPUT);
	opts.tree = set_on(v, SET_TREE_OUTPUT);
	opts.to_stdout = set_on(v, SET_COUT_OUTPUT);
	opts.profile = set_on(v, SET_PROFILE) && !f->no_profile;
	/* Without a profile, a flame graph is for those who request it. */
	opts.flame = opts.folded = set_on(v, SET_FLAMEGRAPH_OUTPUT) &&
				   (opts.profile || (!set_on(v, SET_PROFILE) &&
						     set_is_given(v, SET_FLAMEGRAPH_OUTPUT)));
	opts.components = words_of(w, SET_TIMEMORY_COMPONENTS, &opts.n_components);
	opts.flat = set_on(v, SET_FLAT_PROFILE);
	opts.timeline = set_on(v, SET_TIMELINE_PROFILE);
	opts.collapse_threads = set_on(v, SET_COLLAPSE_THREADS);
	opts.collapse_processes = set_on(v, SET_COLLAPSE_PROCESSES);
	opts.max_depth = (uint32_t)WS_MIN(set_int(v, SET_MAX_DEPTH), (int64_t)UINT32_MAX);
	opts.inlines = set_on(v, SET_SAMPLING_INCLUDE_INLINES);
	opts.keep_internal = set_on(v, SET_SAMPLING_KEEP_INTERNAL);
	opts.time_unit = time_unit(set_text(v, SET_TIMING_UNITS));
	prof_memory_unit_parse(set_text(v, SET_MEMORY_UNITS), &opts.memory_unit);
	opts.number = style_of(v, SET_PRECISION, SET_WIDTH, SET_SCIENTIFIC);
	opts.timing = style_of(v, SET_TIMING_PRECISION, SET_TIMING_WIDTH, SET_TIMING_SCIENTIFIC);
	opts.memory = style_of(v, SET_MEMORY_PRECISION, SET_MEMORY_WIDTH, SET_MEMORY_SCIENTIFIC);
	opts.max_width = (uint32_t)WS_MAX(set_int(v, SET_MAX_WIDTH), (int64_t)0);
	if (set_on(v, SET_DIFF_OUTPUT)) {
		opts.diff_folder = set_text(v, SET_INPUT_PATH);
		opts.diff_prefix = set_text(v, SET_INPUT_PREFIX);
	}
	opts.ranked = set_is_ranked(f->place);
	opts.job_rank = f->place->rank.rank;
	opts.job_size = f->place->rank.size_known ? f->place->rank.size : 0;
	opts.settings_json = settings.failed ? NULL : settings.at;
	opts.others = w->others;
	opts.n_others = w->n_others;
	opts.written = say_written;
	opts.say = say_sentence;
	opts.ctx = w;
	st = prof_report_write(f->trace, w->processes, w->n_processes, &opts, &result, err);
	w->result->profiled = !st && opts.profile && !result.n_unplaced;
	if (w->n_processes == 1 && set_int(v, SET_VERBOSE) >= 0)
		sys_summary_print(f->process,
				  (struct sys_summary_found){ result.wall_s, result.cpu_s,
							      result.peak_mb });
	prof_report_result_fini(&result);
	ws_buf_fini(&settings);
	return st;
}

void sys_files_write(const struct sys_files *files, struct sys_files_result *out_result)
{
	struct writing w = {
		.files = files, .result = out_result, .processes = &files->process, .n_processes = 1
	};
	struct ws_err err = { WS_OK, "" };

	memset(out_result, 0, sizeof(*out_result));
	ws_arena_init(&w.arena, 16u << 20);
	if (set_on(files->values, SET_TRACE) || set_on(files->values, SET_USE_ROCPD) ||
	    set_on(files->values, SET_HTML_OUTPUT))
		report(&w, open_frames(&w, &err), &err);
	if (set_on(files->values, SET_TRACE))
		report(&w, write_trace(&w, &err), &err);
	if (set_on(files->values, SET_USE_ROCPD))
		report(&w, write_whole(&w, &rocpd_file, &out_result->rocpd, &err), &err);
	if (set_on(files->values, SET_HTML_OUTPUT))
		report(&w, write_html(&w, &err), &err);
	prof_frames_close(w.frames);
	report(&w, write_profile(&w, &err), &err);
	ws_arena_fini(&w.arena);
}

void sys_files_write_collapsed(const struct sys_files *files,
			       const struct trc_process *const *processes, size_t n_processes,
			       struct sys_files_result *out_result)
{
	struct writing w = { .files = files,
			     .result = out_result,
			     .processes = processes,
			     .n_processes = n_processes };
	struct ws_err err = { WS_OK, "" };

	memset(out_result, 0, sizeof(*out_result));
	ws_arena_init(&w.arena, 16u << 20);
	report(&w, write_profile(&w, &err), &err);
	ws_arena_fini(&w.arena);
}
