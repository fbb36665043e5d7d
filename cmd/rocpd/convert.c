/* rocpd convert: a database in the other formats. */
#include "cmd/rocpd/rocpd.h"

#include "base/file.h"
#include "base/util.h"
#include "cmd/cmd.h"
#include "output/output.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct convert_args {
	struct rocpd_common common;
	struct ws_strv formats;
	int agent_index; /* enum trc_agent_index */
	const char *perfetto_backend, *perfetto_fill_policy;
	uint64_t perfetto_buffer_size, perfetto_shmem_size_hint;
	bool group_by_queue;
};
#define T struct convert_args

static const char *const format_names[] = { "csv", "pftrace", "perfetto", "otf2", "html", NULL };
static const char *const backends[] = { "inprocess", "system", NULL };
static const char *const policies[] = { "discard", "ring_buffer", NULL };

#define FORMAT_OPT                                                                                 \
	WS_OPT_SOME_OF(T, formats, 'f', "output-format", "FORMAT", format_names,                   \
		       "csv, pftrace (or perfetto), otf2, html: one or more"),
/* What all of these take, besides the format. */
#define REST_OPTS                                                                                  \
	ROCPD_OUTPUT_OPTS(T),                                                                      \
		WS_OPT_BOOL(T, common.kernel_rename, 0, "kernel-rename",                           \
			    "name kernels by the roctx range around their launch"),                \
		WS_OPT_CHOICE(T, agent_index, 0, "agent-index-value", "KIND",                      \
			      trc_agent_index_words,                                               \
			      "absolute, relative (the default) or type-relative numbers"),        \
		WS_OPT_BOOL(T, group_by_queue, 0, "group-by-queue",                                \
			    "timelines per queue instead of per stream"),                          \
		WS_OPT_ONE_OF(T, perfetto_backend, 0, "perfetto-backend", "NAME", backends, NULL), \
		WS_OPT_ONE_OF(T, perfetto_fill_policy, 0, "perfetto-buffer-fill-policy", "POLICY", \
			      policies, NULL),                                                     \
		WS_OPT_U64(T, perfetto_buffer_size, 0, "perfetto-buffer-size", "KB", NULL),        \
		WS_OPT_U64(T, perfetto_shmem_size_hint, 0, "perfetto-shmem-size-hint", "KB",       \
			   NULL),                                                                  \
		ROCPD_WINDOW_OPTS(T)

static const struct ws_opt opts[] = { ROCPD_INPUT_OPTS(T), WS_OPT_GROUP("Output"),
				      FORMAT_OPT REST_OPTS };
static const struct ws_opt one_opts[] = { ROCPD_INPUT_OPTS(T), WS_OPT_GROUP("Output"), REST_OPTS };

static void print_path(const char *path)
{
	printf("    %s\n", path);
}

/* pftrace, otf2 and html: as captures, through the writers of rocprofv3. */
static enum ws_status convert_traces(struct rpd_db *db, const struct convert_args *args,
				     enum output_format format, const char *prefix,
				     struct ws_err *err)
{
	struct output_result result = { .n_files = 0 };
	struct output_config cfg;
	struct ws_strv paths = { .max_n = 0 };
	struct trc_trace *trace = NULL;
	char folder[PATH_MAX];
	enum ws_status st = ws_dir_temp("rocpd", folder, err);

	if (st)
		return st;
	output_config_init(&cfg);
	cfg.formats = 1u << format;
	cfg.prefix = prefix;
	cfg.group_by_queue = args->group_by_queue;
	cfg.kernel_rename = args->common.kernel_rename;
	cfg.from_database = true;
	cfg.agent_index = (enum trc_agent_index)args->agent_index;
	st = rpd_import_captures(db, folder, &paths, err);
	if (!st && paths.n)
		st = trc_open(paths.at, paths.n, &(struct trc_opts){ 0 }, &trace, err);
	if (!st && paths.n)
		st = output_write(trace, NULL, 0, &cfg, &result, err);
	for (size_t i = 0; i < result.n_files; i++)
		if (!result.files[i].err.status)
			print_path(result.files[i].path);
	output_result_fini(&result);
	trc_close(trace);
	for (size_t i = 0; i < paths.n; i++) {
		unlink(paths.at[i]);
		free((void *)paths.at[i]);
	}
	ws_vec_fini(&paths);
	rmdir(folder);
	return st;
}

static enum ws_status convert_csv(struct rpd_db *db, const struct convert_args *args,
				  const char *prefix, struct ws_err *err)
{
	struct rpd_csv_opts how = {
		.prefix = prefix,
		.agent_index = (enum trc_agent_index)args->agent_index,
		.kernel_rename = args->common.kernel_rename,
		.written = print_path,
	};

	return rpd_write_csv(db, &how, err);
}

static enum ws_status convert_all(const struct convert_args *args, const char *const *words,
				  size_t n_words, struct ws_err *err)
{
	struct ws_buf prefix;
	struct rpd_db db;
	enum ws_status st = rocpd_open(&db, &args->common, err);

	ws_buf_init(&prefix, PATH_MAX - 64);
	if (!st)
		st = rocpd_output_path(&args->common, "out", "", &prefix, err);
	for (size_t i = 0; i < n_words && !st; i++) {
		/* AMD's tool knows the Perfetto trace under both names. */
		const char *word = strcmp(words[i], "perfetto") ? words[i] : "pftrace";
		enum output_format format;

		if (!output_by_word(word, &format))
			st = ws_fail(err, WS_E_USAGE, "no format '%s'", word);
		if (!st)
			printf("Converting database(s) to %s format:\n", word);
		if (!st && format == OUTPUT_CSV)
			st = convert_csv(&db, args, prefix.at, err);
		else if (!st)
			st = convert_traces(&db, args, format, prefix.at, err);
	}
	if (!st)
		puts("Done. Exiting...");
	ws_buf_fini(&prefix);
	rpd_close(&db);
	return st;
}

static enum ws_status run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct convert_args *args = call->values;

	(void)exit_code;
	if (!args->formats.n)
		return ws_fail(err, WS_E_USAGE,
			       "no format: -f csv, -f pftrace, -f otf2 or -f html");
	return convert_all(args, args->formats.at, args->formats.n, err);
}

const struct ws_cmd rocpd_convert_cmd = {
	.name = "convert",
	.summary = "write a database as CSV, Perfetto trace, OTF2 or page for a browser",
	.usage = "-i FILE... -f FORMAT... [options]",
	.notes = "Example:\n"
		 "  rocpd convert -i host/4711_results.db -f pftrace -o run1 -d .",
	.opts = { opts, WS_ARRAY_LEN(opts) },
	.values_bytes = sizeof(struct convert_args),
	.run = run,
};

/* The same under a name of its own, one per format. */
#define ALONE(id, format)                                                                          \
	static enum ws_status run_##id(const struct ws_cmd_call *call, int *exit_code,             \
				       struct ws_err *err)                                         \
	{                                                                                          \
		(void)exit_code;                                                                   \
		return convert_all(call->values, (const char *const[]){ format }, 1, err);         \
	}                                                                                          \
	const struct ws_cmd cmd_##id = {                                                           \
		.name = #id,                                                                       \
		.summary = "write a database as " format,                                          \
		.usage = "-i FILE... [options]",                                                   \
		.opts = { one_opts, WS_ARRAY_LEN(one_opts) },                                      \
		.values_bytes = sizeof(struct convert_args),                                       \
		.run = run_##id,                                                                   \
	};
ALONE(rocpd2csv, "csv")
ALONE(rocpd2pftrace, "pftrace")
ALONE(rocpd2otf2, "otf2")
