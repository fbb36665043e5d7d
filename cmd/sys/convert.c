#include "cmd/sys/convert.h"

#include "base/log.h"
#include "base/map.h"
#include "base/path.h"
#include "capture/reader.h"
#include "cmd/sys/collect.h"
#include "cmd/sys/counting.h"
#include "cmd/sys/files.h"
#include "cmd/sys/merge.h"
#include "counters/derived.h"
#include "launch/fallback_agents.h"
#include "output/systrace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BRIEF_SAMPLES 10u
#define BRIEF_READINGS 100u /* of metrics: a second, unless requested otherwise */
#define MAIN_RECORDS 2u     /* every program has main(): its beginning and its end */

struct conversion {
	const struct sys_convert *how;
	struct sys_outcome *outcome;
	struct ws_arena arena;
	struct ws_map stems;       /* given out in this run */
	struct launch_claim claim; /* on the one of the process that is being converted */
	struct launch_fallback_agents fallback;
	struct ws_strv traces;   /* Perfetto traces of this run */
	bool collapses;          /* one profile of all processes */
	struct ws_strv recorded; /* captures for it */
	const struct ws_strv *captures;
	struct set_names first; /* of the program itself; "": it has no files */
};

/* ---- names ---- */

/* The process as its files are named. */
static struct launch_place place_of(const struct conversion *c, const struct trc_process *process)
{
	struct launch_place place = *c->how->place;

	place.argv = process->argv;
	place.n_argv = process->n_argv;
	place.pid = process->pid;
	/* We stand between the program and its parent, which users count ranks by. */
	if (c->how->recovering || process->ppid != (uint32_t)getpid())
		place.ppid = process->ppid;
	if (process->n_env)
		place.env = launch_lookup_list(process->env);
	launch_rank_find(place.env, &place.rank);
	if (*process->facts[CAP_FACT_HOSTNAME])
		place.hostname = process->facts[CAP_FACT_HOSTNAME];
	if (c->how->recovering)
		place.launched =
			(time_t)(((int64_t)process->init_ns + process->realtime_offset_ns) /
				 1000000000);
	return place;
}

/*
 * Two processes never share names, be they of one run or of several at the same time: the
 * later one gets its pid, or a number.
 */
static enum ws_status make_names(struct conversion *c, const struct launch_place *place,
				 struct set_names *names, struct ws_err *err)
{
	enum ws_status st = set_names_make(c->how->values, place, names, err);
	char usual[sizeof(names->suffix)], pid[16], stem[PATH_MAX];
	char *kept;

	snprintf(usual, sizeof(usual), "%s", names->suffix);
	snprintf(pid, sizeof(pid), "-%u", (unsigned)place->pid);
	if (strcmp(usual, pid) == 0)
		pid[0] = '\0'; /* it has that already, and gets a number */
	for (unsigned i = 0; !st; i++) {
		st = set_names_path(names, "metadata", "", stem, err);
		if (st || (!ws_map_get(&c->stems, stem) &&
			   launch_claim_take(&c->claim, stem, c->how->since)))
			break;
		snprintf(names->suffix, sizeof(names->suffix), i ? "%.10s-%u-%u" : "%.20s-%u",
			 usual, (unsigned)place->pid, i);
	}
	kept = st ? NULL : ws_arena_strdup(&c->arena, stem);
	if (!st && !kept)
		st = ws_fail(err, WS_E_NOMEM, "out of memory");
	return st ? st : ws_map_put(&c->stems, ws_str_from(kept), kept, err);
}

/* ---- one process ---- */

/* The program itself, and not one that it started. */
static bool is_first(const struct conversion *c, const struct trc_process *process)
{
	for (size_t i = 0; c->captures && i < c->captures->n; i++)
		if (launch_rundir_pid(c->captures->at[i]) == process->ppid)
			return false;
	return true;
}

static bool has_data(const struct trc_process *process)
{
	for (unsigned d = 0; d < CAP_DOMAIN_COUNT; d++)
		if (process->ledger[d].written)
			return true;
	return false;
}

/*
 * A shell that searches for the interpreter, a program that another one replaced after a
 * moment. A few samples are not worth a set of files, except of the program itself.
 */
static bool is_brief(const struct conversion *c, const struct trc_process *process)
{
	/* Metrics of GPUs are the same in every process; those of the process are not. */
	uint64_t few_readings =
		set_on(c->how->values, SET_CPU_FREQ_ENABLED) ? BRIEF_READINGS - 1 : UINT64_MAX;

	for (unsigned d = 0; d < CAP_DOMAIN_COUNT; d++) {
		uint64_t few = d == CAP_DOMAIN_CALL_STACK_SAMPLING ? BRIEF_SAMPLES - 1
			       : d == CAP_DOMAIN_METRICS           ? few_readings
			       : d == CAP_DOMAIN_REGIONS           ? MAIN_RECORDS
								   : 0;

		if (process->ledger[d].written > few)
			return false;
	}
	return true;
}

static void account(struct conversion *c, const struct trc_process *process, bool replaced,
		    const struct sys_files_result *result)
{
	const struct set_values *values = c->how->values;
	struct output_ledger_how how = {
		.formats = set_on(values, SET_USE_ROCPD) ? OUTPUT_BIT(ROCPD) : 0,
		.is_running = launch_running_process(process) && !replaced,
		.replaced = replaced,
		.silent = set_int(values, SET_VERBOSE) < 0,
	};

	/* The trace and the profile have all that was recorded, but for what did not fit. */
	if (result->traced || result->profiled)
		how.elsewhere = ~0u;
	else if (!set_on(values, SET_TRACE) && !set_on(values, SET_PROFILE) &&
		 !set_on(values, SET_HTML_OUTPUT) && !how.formats)
		how.no_files = "TRACE, PROFILE, HTML_OUTPUT and USE_ROCPD are off";
	output_ledger_process(&c->outcome->ledger, process, &result->rocpd, &how, stderr);
	if (!result->profiled)
		c->outcome->ledger.n_lost += result->n_lost;
}

/* True: everything of it is in the output, and its capture may go. */
static bool convert_process(struct conversion *c, const struct trc_trace *trace,
			    const struct trc_process *process, bool replaced,
			    const struct cnt_derived *derived)
{
	struct launch_place place = place_of(c, process);
	bool first = !replaced && is_first(c, process), good = true;
	struct sys_files_result result = { .n_failed = 0 };
	struct set_names names;
	struct ws_err err = { WS_OK, "" };
	enum ws_status st = WS_OK;

	c->claim.fd = -1;
	if (first || has_data(process)) {
		st = make_names(c, &place, &names, &err);
		if (!st && first)
			c->first = names;
		if (st)
			ws_log_error("%s", err.text);
		else
			sys_files_write(&(struct sys_files){ .values = c->how->values,
							     .trace = trace,
							     .process = process,
							     .names = &names,
							     .place = &place,
							     .no_profile = c->collapses },
					&result);
		good = !st && !result.n_failed;
	}
	launch_claim_release(&c->claim);
	if (*result.trace_path) {
		char *path = ws_arena_strdup(&c->arena, result.trace_path);

		if (path)
			ws_vec_push(&c->traces, path, &err);
	}
	c->outcome->n_failed += !good;
	if (launch_running_process(process) && !replaced) {
		launch_running_add(&c->outcome->running, (pid_t)process->pid,
				   trc_process_program(process));
		good = false;
	}
	account(c, process, replaced, &result);
	if (derived)
		cnt_derived_report(derived, process, "", stderr);
	output_result_fini(&result.rocpd);
	return good;
}

static bool convert_one(struct conversion *c, const char *path, bool replaced)
{
	struct trc_trace *trace = NULL;
	struct ws_err err = { WS_OK, "" };
	enum ws_status st = trc_open(&path, 1, &(struct trc_opts){ 0 }, &trace, &err);
	bool good = false;

	if (st && cap_unbegun(path)) {
		ws_log_debug("%s: the process was killed before it recorded anything", path);
		good = true;
	} else if (st || !trc_n_processes(trace)) {
		ws_log_error("%s: %s", path, st ? err.text : "it contains no process");
		c->outcome->n_failed++;
	} else {
		if (trc_process_at(trace, 0)->runtimes)
			launch_fallback_agents_add(&c->fallback, trace, 0);
		const struct trc_process *process = trc_process_at(trace, 0);

		if (is_brief(c, process) &&
		    (replaced || (!is_first(c, process) && !launch_running_process(process)))) {
			c->outcome->n_brief += has_data(process);
			c->outcome->ledger.n_idle += !replaced && !has_data(process);
			trc_close(trace);
			return true;
		}
		good = convert_process(c, trace, trc_process_at(trace, 0), replaced, NULL);
		if (c->collapses && has_data(trc_process_at(trace, 0)) &&
		    ws_vec_push(&c->recorded, path, &err))
			ws_log_error("%s", err.text);
	}
	trc_close(trace);
	return good;
}

/* One profile of all processes that recorded something, under the name of the first. */
static enum ws_status convert_collapsed(struct conversion *c, struct ws_err *err)
{
	struct trc_trace *trace = NULL;
	const struct trc_process **processes;
	struct sys_files_result result;
	struct launch_place place;
	struct set_names names;
	size_t n = 0;
	enum ws_status st;

	if (!c->recorded.n)
		return WS_OK;
	st = trc_open(c->recorded.at, c->recorded.n, &(struct trc_opts){ 0 }, &trace, err);
	n = st ? 0 : trc_n_processes(trace);
	processes = ws_arena_array(&c->arena, n + 1, sizeof(*processes));
	if (!st && !processes)
		st = ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t i = 0; i < n && !st; i++)
		processes[i] = trc_process_at(trace, i);
	if (!st && n) {
		place = place_of(c, processes[0]);
		st = set_names_make(c->how->values, &place, &names, err);
	}
	if (!st && n) {
		sys_files_write_collapsed(&(struct sys_files){ .values = c->how->values,
							       .trace = trace,
							       .process = processes[0],
							       .names = &names,
							       .place = &place },
					  processes, n, &result);
		c->outcome->n_failed += result.n_failed;
	}
	trc_close(trace);
	return st;
}

static enum ws_status convert_traced(struct conversion *c, const struct launch_rundir *dir,
				     struct ws_err *err)
{
	struct ws_strv paths = { .max_n = 0 };
	enum ws_status st = launch_rundir_captures(dir, &c->arena, &paths, err);

	c->captures = &paths;
	c->collapses = paths.n > 1 && set_on(c->how->values, SET_COLLAPSE_PROCESSES) &&
		       set_on(c->how->values, SET_PROFILE);
	for (size_t i = 0; i < paths.n && !st; i++) {
		bool good = convert_one(c, paths.at[i], launch_rundir_replaced(&paths, i));

		/* Removed at once: the next output may need its disk space. */
		if (good && !c->how->recovering && !c->collapses &&
		    !set_on(c->how->values, SET_KEEP_CAPTURES))
			unlink(paths.at[i]);
	}
	if (!st && c->collapses)
		st = convert_collapsed(c, err);
	c->captures = NULL;
	ws_vec_fini(&paths);
	return st;
}

/* All runs of all processes together: what one run counted belongs beside another's. */
static enum ws_status convert_counted(struct conversion *c, const struct launch_rundir *dir,
				      struct ws_err *err)
{
	struct cnt_derived *derived = NULL;
	struct trc_counted *table = NULL;
	struct sys_count count;
	enum ws_status st = sys_count_init(&count, c->how->values, err);

	if (!st)
		st = launch_passes_table_in(dir, &(struct trc_opts){ 0 }, &table, err);
	if (!st)
		st = cnt_derive(table, &count.request.words, &derived, err);
	if (!st) {
		const struct trc_trace *trace = trc_counted_trace(table);

		for (size_t i = 0; i < trc_n_processes(trace); i++)
			convert_process(c, trace, trc_process_at(trace, i), false, derived);
		cnt_derived_report_runs(derived, stderr);
	}
	trc_counted_close(table);
	cnt_derived_destroy(derived);
	sys_count_fini(&count);
	return st;
}

/* ---- all of them ---- */

static void say_merged(void *ctx, const char *path)
{
	const struct conversion *c = ctx;
	const char *ext = strrchr(path, '.');

	sys_files_say(c->how->values, (uint32_t)getpid(),
		      ext && strcmp(ext, ".proto") == 0 ? "perfetto" : "merged", path, "");
}

/* PERFETTO_COMBINE_TRACES: of the processes of this run. */
static enum ws_status combine(struct conversion *c, struct ws_err *err)
{
	char path[PATH_MAX], folder[PATH_MAX];
	uint64_t n_bytes;
	enum ws_status st;

	snprintf(folder, sizeof(folder), "%s", c->traces.at[0]);
	ws_path_parent(folder);
	st = ws_path_join(folder, "merged.proto", path, err);
	if (!st)
		st = output_systrace_combine(c->traces.at, c->traces.n, path, &n_bytes, err);
	if (!st)
		say_merged(c, path);
	return st;
}

/*
 * The same, and COLLAPSE_PROCESSES, of a job whose ranks have a front end each: the one that
 * ends last finds the output of all, and merges it. Nobody waits.
 */
static enum ws_status combine_ranks(struct conversion *c, struct ws_err *err)
{
	const struct set_values *values = c->how->values;
	const struct launch_rank *rank = &c->how->place->rank;
	struct sys_merge how = {
		.traces = set_on(values, SET_PERFETTO_COMBINE_TRACES) && set_on(values, SET_TRACE),
		.profiles = set_on(values, SET_COLLAPSE_PROCESSES) && set_on(values, SET_PROFILE),
		.collapse = true,
		.written = say_merged,
		.ctx = c
	};
	struct set_outputs outputs = { .max_n = 1u << 20 };
	char stem[PATH_MAX];
	enum ws_status st;

	if (c->how->recovering || !set_is_ranked(c->how->place) || !rank->size_known ||
	    !(how.traces || how.profiles) || !*c->first.folder)
		return WS_OK;
	st = set_outputs_add(&outputs, c->first.folder, &c->arena, err);
	/* Another prefix is another job. */
	for (size_t i = 0; i < outputs.n;)
		if (strncmp(outputs.at[i].stem, c->first.prefix, strlen(c->first.prefix)) == 0)
			i++;
		else
			outputs.at[i] = outputs.at[--outputs.n];
	if (!st)
		st = set_outputs_sort(&outputs, err);
	snprintf(stem, sizeof(stem), "%smetadata", c->first.prefix); /* which is written last */
	how.to = c->first.folder;
	if (!st && set_outputs_complete(&outputs, stem, "json", rank->size, c->how->since))
		st = sys_merge_outputs(&outputs, &how, err);
	ws_vec_fini(&outputs);
	return st;
}

static void report_end(const struct sys_convert *how, struct sys_outcome *outcome)
{
	struct output_ledger_request requests[SYS_REQUESTS_MAX];
	size_t n = sys_requests(how->values, requests);

	if (outcome->n_unrecorded)
		ws_log_error(
			"%u %s could not create the capture file: ROCPROFSYS_TMPDIR=DIR puts it "
			"elsewhere",
			outcome->n_unrecorded,
			outcome->n_unrecorded == 1 ? "process" : "processes");
	if (outcome->n_brief && set_int(how->values, SET_VERBOSE) >= 0)
		fprintf(stderr, "%s: %u more %s fewer than %u samples and nothing else: no files\n",
			how->tool, outcome->n_brief,
			outcome->n_brief == 1 ? "process has" : "processes have", BRIEF_SAMPLES);
	output_ledger_end(&outcome->ledger, requests, n,
			  set_int(how->values, SET_VERBOSE) < 0 ? NULL : stderr);
}

enum ws_status sys_convert(const struct sys_convert *how, const struct launch_rundir *dir,
			   struct sys_outcome *out_outcome, struct ws_err *err)
{
	struct conversion c = { .how = how, .outcome = out_outcome };
	enum ws_status st, merged;

	memset(out_outcome, 0, sizeof(*out_outcome));
	out_outcome->ledger.tool = how->tool;
	ws_arena_init(&c.arena, 256u << 20);
	ws_map_init(&c.stems, WS_MAP_STR, 1u << 20);
	ws_vec_init(&c.traces, 1u << 20);
	ws_vec_init(&c.recorded, 1u << 20);
	if (!how->recovering) /* that may be another machine */
		c.fallback.dir = dir->path;
	st = sys_counts(how->values) ? convert_counted(&c, dir, err) : convert_traced(&c, dir, err);
	out_outcome->n_unrecorded = launch_rundir_n_unrecorded(dir);
	launch_running_add_all(&out_outcome->running, dir);
	merged = c.traces.n <= 1                                    ? combine_ranks(&c, err)
		 : set_on(how->values, SET_PERFETTO_COMBINE_TRACES) ? combine(&c, err)
								    : WS_OK;
	if (!st && merged) {
		ws_log_error("%s", err->text);
		out_outcome->n_failed++;
	}
	if (!st)
		report_end(how, out_outcome);
	launch_fallback_agents_fini(&c.fallback);
	ws_vec_fini(&c.traces);
	ws_vec_fini(&c.recorded);
	ws_map_fini(&c.stems);
	ws_arena_fini(&c.arena);
	return st;
}
