#include "cmd/rocprofv3/convert.h"

#include "base/log.h"
#include "base/map.h"
#include "base/path.h"
#include "base/str.h"
#include "base/unit.h"
#include "capture/reader.h"
#include "cmd/rocprofv3/config_json.h"
#include "cmd/rocprofv3/counting.h"
#include "cmd/rocprofv3/pc.h"
#include "cmd/rocprofv3/services.h"
#include "counters/derived.h"
#include "counters/over_time.h"
#include "launch/fallback_agents.h"
#include "output/output.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_STEM "%hostname%/%pid%"
#define PFTRACE_END ".pftrace"

struct conversion {
	const struct rp_convert *how;
	struct rp_outcome *outcome;
	struct output_config cfg; /* but for the prefix, the same for all processes */
	struct ws_arena arena;
	struct ws_map prefixes;    /* given out in this run */
	struct rp_pc pc;           /* of the process that is being converted */
	struct launch_claim claim; /* on its name */
	struct launch_claim pftrace_claim;
	struct launch_fallback_agents fallback;
	bool replaced; /* the program of this process, by another one */
};

uint32_t rp_format_bits(const struct ws_strv *words)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < words->n; i++) {
		enum output_format format;

		if (output_by_word(words->at[i], &format))
			bits |= 1u << format;
	}
	return bits;
}

/* A progress line that overwrites itself, on terminals only. */
static bool progress_shown;

static void hide_progress(void)
{
	if (progress_shown)
		fputs("\r\033[K", stderr);
	progress_shown = false;
}

static void show_progress(size_t i, size_t n)
{
	if (n < 2 || !ws_colour_ok(STDERR_FILENO))
		return;
	hide_progress();
	fprintf(stderr, "rocprofv3: writing the output of process %zu of %zu", i + 1, n);
	progress_shown = true;
}

static void say_opened(void *ctx, const char *path, const char *guid)
{
	(void)ctx;
	hide_progress();
	if (guid)
		ws_print(stderr, "Opened result file: %s (UUID=%s)\n", path, guid);
	else
		ws_print(stderr, "Opened result file: %s\n", path);
}

static uint64_t number(const char *text, uint64_t otherwise)
{
	uint64_t value;

	return text && ws_str_u64(ws_str_from(text), &value) ? value : otherwise;
}

static void configure(struct conversion *c)
{
	const struct rp_args *args = c->how->args;
	struct output_config *cfg = &c->cfg;

	output_config_init(cfg);
	cfg->formats = c->how->env_formats | rp_format_bits(&args->output_format);
	if (rp_given(args->perfetto_trace_filename))
		cfg->formats |= OUTPUT_BIT(PFTRACE);
	if (!cfg->formats) {
		cfg->formats = OUTPUT_BIT(ROCPD);
		/* The database has no table for samples, and none for statistics. */
		if ((args->pc_sampling_beta_enabled == WS_TRI_YES &&
		     args->pc_report != WS_TRI_YES) ||
		    args->stats == WS_TRI_YES)
			cfg->formats |= OUTPUT_BIT(CSV);
	}
	if (args->benchmark_mode)
		cfg->formats = 0;
	else if (args->stats == WS_TRI_YES && !c->how->again &&
		 !(cfg->formats & (OUTPUT_BIT(CSV) | OUTPUT_BIT(JSON))))
		ws_log_warn("--stats has no effect on these formats: add -f csv");
	cfg->stream_fd = ws_stream_fd(args->output_directory);
	if (cfg->stream_fd < 0)
		cfg->stream_fd = ws_stream_fd(args->output_file);
	cfg->stats = args->stats == WS_TRI_YES;
	cfg->summary = args->summary == WS_TRI_YES && !args->benchmark_mode;
	cfg->summary_per_domain = args->summary_per_domain == WS_TRI_YES && !args->benchmark_mode;
	cfg->summary_groups = args->summary_groups.at;
	cfg->n_summary_groups = args->benchmark_mode ? 0 : args->summary_groups.n;
	cfg->summary_file = args->summary_output_file;
	ws_time_unit_parse(args->summary_units, &cfg->summary_unit);
	for (unsigned i = 0; trc_agent_index_words[i]; i++)
		if (args->agent_index && strcmp(args->agent_index, trc_agent_index_words[i]) == 0)
			cfg->agent_index = (enum trc_agent_index)i;
	cfg->group_by_queue = args->group_by_queue == WS_TRI_YES;
	cfg->kernel_rename = args->kernel_rename == WS_TRI_YES;
	cfg->minimum_bytes = number(args->minimum_output_data, 0) * 1024;
	cfg->opened = say_opened;
	cfg->decoder = &c->pc.decoder;
	cfg->perfetto_buffer_size_kb =
		number(args->perfetto_buffer_size, cfg->perfetto_buffer_size_kb);
	cfg->perfetto_shmem_size_hint_kb =
		number(args->perfetto_shmem_size_hint, cfg->perfetto_shmem_size_hint_kb);
	if (args->perfetto_backend)
		cfg->perfetto_backend = args->perfetto_backend;
	if (args->perfetto_buffer_fill_policy)
		cfg->perfetto_buffer_fill_policy = args->perfetto_buffer_fill_policy;
}

/* ---- names ---- */

/* The process as its files are named. */
static struct launch_place place_of(const struct rp_convert *how, const struct trc_process *process)
{
	struct launch_place place = *how->place;

	place.argv = process->argv;
	place.n_argv = process->n_argv;
	place.pid = process->pid;
	/* We stand between the program and its parent, which users count ranks by. */
	if (how->recovering || process->ppid != (uint32_t)getpid())
		place.ppid = process->ppid;
	if (process->n_env)
		place.env = launch_lookup_list(process->env);
	launch_rank_find(place.env, &place.rank);
	if (how->args
		    ->mpi_world_rank_variable) /* what is wrong with them was said before the run */
		launch_rank_named(place.env, how->args->mpi_world_rank_variable,
				  how->args->mpi_world_size_variable, &place.rank,
				  &(struct ws_err){ 0 });
	if (*process->facts[CAP_FACT_HOSTNAME])
		place.hostname = process->facts[CAP_FACT_HOSTNAME];
	if (how->recovering)
		place.launched =
			(time_t)(((int64_t)process->init_ns + process->realtime_offset_ns) /
				 1000000000);
	return place;
}

/*
 * Two processes never share a name, be they of one run or of several at the same time: the
 * later one gets its pid, or a number.
 */
static enum ws_status make_unique(struct conversion *c, const struct trc_process *process,
				  struct launch_claim *claim, struct ws_buf *prefix,
				  struct ws_err *err)
{
	bool files = c->cfg.stream_fd < 0, other_run = false;
	size_t n = prefix->n;
	char *kept;

	for (unsigned i = 0;; i++) {
		bool ours = ws_map_get(&c->prefixes, prefix->at);

		if (!ours && (!files || launch_claim_take(claim, prefix->at, c->how->since)))
			break;
		other_run |= !ours;
		prefix->n = n;
		prefix->at[n] = '\0';
		ws_buf_printf(prefix, i ? "_%u_%u" : "_%u", process->pid, i);
		if (ws_buf_status(prefix, err))
			return err->status;
	}
	if (other_run) {
		hide_progress();
		ws_log_warn("%.*s_* belong to another run at the same time: this run writes %s_*; "
			    "use %%rank%% or %%pid%% in -o to separate them",
			    (int)n, prefix->at, prefix->at);
	}
	kept = ws_arena_strdup(&c->arena, prefix->at);
	if (!kept)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	return ws_map_put(&c->prefixes, ws_str_from(kept), kept, err);
}

/* Folder by folder, without those that lead nowhere: "./out//x" is "/out/x". */
static void add_folders(struct ws_buf *prefix, const char *path)
{
	struct ws_str rest = ws_str_from(path), part;

	while (ws_str_next(&rest, '/', &part))
		if (part.n && !ws_str_is(part, "."))
			ws_buf_printf(prefix, "/%.*s", WS_STR_ARGS(part));
}

/* --perfetto-trace-filename: a name of its own, in the folder of the other files. */
static enum ws_status name_pftrace(struct conversion *c, const struct trc_process *process,
				   const struct launch_place *place, struct ws_err *err)
{
	const char *asked = c->how->args->perfetto_trace_filename;
	struct ws_buf name, path;
	enum ws_status st;

	ws_buf_init(&name, PATH_MAX);
	ws_buf_init(&path, PATH_MAX - 16);
	st = launch_place_expand(place, asked, &name, err);
	if (name.at[0] != '/')
		ws_buf_printf(&path, "%s/", c->cfg.output_path);
	ws_buf_printf(&path, "%.*s",
		      (int)(name.n - (ws_str_ends(ws_buf_view(&name), PFTRACE_END)
					      ? strlen(PFTRACE_END)
					      : 0)),
		      name.at);
	if (!st)
		st = ws_buf_status(&path, err);
	if (!st)
		st = make_unique(c, process, &c->pftrace_claim, &path, err);
	c->cfg.pftrace_path = ws_arena_printf(&c->arena, "%s" PFTRACE_END, path.at);
	if (!st && !c->cfg.pftrace_path)
		st = ws_fail(err, WS_E_NOMEM, "out of memory");
	ws_buf_fini(&name);
	ws_buf_fini(&path);
	return st;
}

static enum ws_status name_files(struct conversion *c, const struct trc_process *process,
				 struct ws_buf *prefix, struct ws_err *err)
{
	const struct rp_args *args = c->how->args;
	struct launch_place place = place_of(c->how, process);
	const char *dir = rp_given(args->output_directory) ? args->output_directory : place.cwd;
	const char *stem = rp_given(args->output_file) ? args->output_file : DEFAULT_STEM;
	struct ws_buf path, file;
	const char *name, *folder;
	enum ws_status st;

	ws_buf_init(&path, PATH_MAX);
	ws_buf_init(&file, PATH_MAX);
	st = launch_place_expand(&place, dir, &path, err);
	if (!st)
		st = launch_place_expand(&place, stem, &file, err);
	name = file.at;
	folder = path.at;
	/* A name with a path from the root has its folder in it. */
	if (file.n && file.at[0] == '/') {
		char *slash = strrchr(file.at, '/');

		*slash = '\0';
		folder = file.at;
		name = slash + 1;
	} else if (path.n && path.at[0] != '/') {
		add_folders(prefix, c->how->place->cwd);
	}
	add_folders(prefix, folder);
	if (*c->how->folder)
		ws_buf_printf(prefix, "/%s", c->how->folder);
	c->cfg.output_path = ws_arena_strdup(&c->arena, prefix->at);
	c->cfg.output_file = ws_arena_strdup(&c->arena, name);
	c->cfg.raw_output_path = dir;
	c->cfg.raw_output_file = stem;
	ws_buf_printf(prefix, "/%s", name);
	if (!st)
		st = ws_buf_status(prefix, err);
	if (!st)
		st = make_unique(c, process, &c->claim, prefix, err);
	if (!st && rp_given(args->perfetto_trace_filename))
		st = name_pftrace(c, process, &place, err);
	ws_buf_fini(&path);
	ws_buf_fini(&file);
	return st;
}

/* ---- one capture ---- */

static bool has_data(const struct trc_process *process)
{
	for (unsigned d = 0; d < CAP_DOMAIN_COUNT; d++)
		if (process->ledger[d].written)
			return true;
	return false;
}

/* Every file that could not be written, with its sentence; true when there was none. */
static bool report_failures(const struct output_result *result, enum ws_status st,
			    const struct ws_err *err)
{
	bool reported = false;

	for (size_t i = 0; i < result->n_files; i++)
		if (result->files[i].err.status) {
			ws_log_error("%s", result->files[i].err.text);
			reported = true;
		}
	if (st && !reported)
		ws_log_error("%s", err->text);
	return !st && !reported;
}

static void account(struct conversion *c, const struct trc_process *process,
		    const struct output_result *result)
{
	struct output_ledger_how how = {
		.formats = c->cfg.formats,
		.is_running = launch_running_process(process) && !c->replaced,
		.replaced = c->replaced,
		.silent = c->how->again,
		/* The user's wish: nothing is lost. */
		.no_files = result->below_minimum          ? "less than --minimum-output-data"
			    : c->how->args->benchmark_mode ? "--benchmark-mode"
							   : NULL,
	};

	/* The listing on the terminal holds every sample. */
	if (c->how->args->pc_report == WS_TRI_YES)
		how.elsewhere = TRC_DOMAIN_BIT(PC_SAMPLING_HOST_TRAP) |
				TRC_DOMAIN_BIT(PC_SAMPLING_STOCHASTIC);
	output_ledger_process(&c->outcome->ledger, process, result, &how, stderr);
}

/* True: everything of it is in the output, and its capture may go. */
static bool convert_process(struct conversion *c, const struct trc_trace *trace,
			    const struct trc_process *process, const struct cnt_derived *derived)
{
	struct output_result result = { .n_files = 0 };
	struct ws_err err = { WS_OK, "" };
	enum ws_status st = WS_OK;
	struct ws_buf prefix;
	bool good;

	ws_buf_init(&prefix, PATH_MAX - 64);
	c->claim.fd = c->pftrace_claim.fd = -1;
	rp_pc_init(&c->pc);
	if (has_data(process) || c->how->args->output_config == WS_TRI_YES) {
		st = name_files(c, process, &prefix, &err);
		c->cfg.prefix = prefix.at;
		if (!st)
			st = output_write(trace, &process, 1, &c->cfg, &result, &err);
		if (!st && c->how->args->output_config == WS_TRI_YES)
			st = rp_write_config(c->how->args, process, &c->cfg, &err);
	}
	if (!st && c->how->args->pc_report == WS_TRI_YES)
		st = rp_pc_report(&c->pc, trace, process, &err);
	launch_claim_release(&c->claim);
	launch_claim_release(&c->pftrace_claim);
	if (c->cfg.pftrace_path) { /* there may be no other file in the folder of the claim */
		ws_path_parent(prefix.at);
		rmdir(prefix.at);
	}
	hide_progress();
	good = report_failures(&result, st, &err);
	c->outcome->n_failed += !good;
	if (launch_running_process(process) && !c->replaced) {
		launch_running_add(&c->outcome->running, (pid_t)process->pid,
				   trc_process_program(process));
		good = false;
	}
	account(c, process, &result);
	if (derived)
		cnt_derived_report(derived, process, c->how->shared ? c->how->folder : "", stderr);
	rp_pc_fini(&c->pc);
	output_result_fini(&result);
	ws_buf_fini(&prefix);
	return good;
}

static struct trc_opts trace_opts(const struct conversion *c)
{
	return (struct trc_opts){
		.mangled_names = c->how->args->mangled_kernels == WS_TRI_YES,
		.truncated_names = c->how->args->truncate_kernels == WS_TRI_YES,
	};
}

/* Counters of whole GPUs: the requested ones, instead of those that were read. */
static bool show_over_time(const struct conversion *c, struct trc_trace *trace,
			   struct cnt_over_time **out_over_time)
{
	struct launch_count_request request;
	struct ws_err err;

	if (!rp_counts_over_time(c->how->args))
		return true;
	if (!rp_count_request(c->how->args, &request, &err) &&
	    !cnt_over_time_create(trace, 0, &request.words, out_over_time, &err))
		return true;
	ws_log_error("%s", err.text);
	return false;
}

static bool convert_one(struct conversion *c, const char *path)
{
	struct cnt_over_time *over_time = NULL;
	struct trc_opts opts = trace_opts(c);
	struct trc_trace *trace = NULL;
	struct ws_err err = { WS_OK, "" };
	enum ws_status st = trc_open(&path, 1, &opts, &trace, &err);
	bool good = false;

	if (st && cap_unbegun(path)) {
		ws_log_debug("%s: the process was killed before it recorded anything", path);
		good = true;
	} else if (st || !trc_n_processes(trace)) {
		hide_progress();
		ws_log_error("%s: %s", path, st ? err.text : "it contains no process");
		c->outcome->n_failed++;
	} else {
		if (has_data(trc_process_at(trace, 0)))
			launch_fallback_agents_add(&c->fallback, trace, 0);
		if (!show_over_time(c, trace, &over_time))
			c->outcome->n_failed++;
		else
			good = convert_process(c, trace, trc_process_at(trace, 0), NULL);
	}
	trc_close(trace);
	cnt_over_time_destroy(over_time);
	return good;
}

/* All runs of all processes together: what one run counted belongs beside another's. */
static enum ws_status convert_counted(struct conversion *c, const struct launch_rundir *dir,
				      struct ws_err *err)
{
	struct trc_opts opts = trace_opts(c);
	struct cnt_derived *derived = NULL;
	struct trc_counted *table = NULL;
	struct launch_count_request request;
	enum ws_status st = rp_count_request(c->how->args, &request, err);

	if (!st)
		st = launch_passes_table_in(dir, &opts, &table, err);
	if (!st)
		st = cnt_derive(table, &request.words, &derived, err);
	if (!st) {
		const struct trc_trace *trace = trc_counted_trace(table);
		size_t n = trc_n_processes(trace);

		for (size_t i = 0; i < n; i++) {
			show_progress(i, n);
			convert_process(c, trace, trc_process_at(trace, i), derived);
		}
		hide_progress();
		c->outcome->short_of_strict |=
			cnt_derived_report_runs(derived, c->how->again ? NULL : stderr);
	}
	trc_counted_close(table);
	cnt_derived_destroy(derived);
	return st;
}

static enum ws_status convert_traced(struct conversion *c, const struct launch_rundir *dir,
				     struct ws_err *err)
{
	bool keep =
		c->how->recovering || c->how->shared || c->how->args->keep_captures == WS_TRI_YES;
	struct ws_strv paths = { .max_n = 0 };
	enum ws_status st = launch_rundir_captures(dir, &c->arena, &paths, err);

	for (size_t i = 0; i < paths.n && !st; i++) {
		show_progress(i, paths.n);
		c->replaced = launch_rundir_replaced(&paths, i);
		/* Removed at once: the next output may need its disk space. */
		if (convert_one(c, paths.at[i]) && !keep)
			unlink(paths.at[i]);
	}
	hide_progress();
	ws_vec_fini(&paths);
	return st;
}

/* What was requested and is not there. */
static void report_end(const struct rp_convert *how, struct rp_outcome *outcome)
{
	struct output_ledger_request requests[RP_REQUESTS_MAX];
	size_t n = rp_requests(how->args, how->asked, requests);

	if (how->again) {
		/* The accounts were printed before. */
	} else if (outcome->n_unrecorded) {
		ws_log_error("%u %s could not create the capture file: ROCPROF_TMPDIR=DIR puts it "
			     "elsewhere",
			     outcome->n_unrecorded,
			     outcome->n_unrecorded == 1 ? "process" : "processes");
	} else if (!outcome->ledger.n_processes && !outcome->ledger.n_cut) {
		fputs(outcome->running.n
			      ? "rocprofv3: no process of the program has used a GPU runtime yet\n"
			      : "rocprofv3: no process of the program used a GPU runtime that "
				"could be traced\n",
		      stderr);
	}
	if (!output_ledger_end(&outcome->ledger, requests, n, how->again ? NULL : stderr))
		outcome->short_of_strict = true;
	outcome->short_of_strict |=
		outcome->n_failed || outcome->n_unrecorded || outcome->running.n;
}

enum ws_status rp_convert(const struct rp_convert *how, const struct launch_rundir *dir,
			  struct rp_outcome *out_outcome, struct ws_err *err)
{
	struct conversion c = { .how = how, .outcome = out_outcome };
	enum ws_status st;

	memset(out_outcome, 0, sizeof(*out_outcome));
	ws_arena_init(&c.arena, 256 << 20);
	ws_map_init(&c.prefixes, WS_MAP_STR, 1 << 20);
	configure(&c);
	if (!how->recovering) /* that may be another machine */
		c.fallback.dir = dir->path;
	st = rp_counts(how->args) && !rp_counts_over_time(how->args) ? convert_counted(&c, dir, err)
								     : convert_traced(&c, dir, err);
	out_outcome->n_unrecorded = launch_rundir_n_unrecorded(dir);
	launch_running_add_all(&out_outcome->running, dir);
	if (!st)
		report_end(how, out_outcome);
	launch_fallback_agents_fini(&c.fallback);
	ws_map_fini(&c.prefixes);
	ws_arena_fini(&c.arena);
	return st;
}
