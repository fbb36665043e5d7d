#include "cmd/rocprofv3/checks.h"

#include "base/log.h"
#include "base/path.h"
#include "base/pattern.h"
#include "base/str.h"
#include "base/util.h"
#include "cmd/rocprofv3/counting.h"
#include "cmd/rocprofv3/services.h"
#include "gpu/pc_sampler.h"
#include "launch/inject.h"
#include "launch/pc_sampling.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PC_CYCLES_MIN 64 /* the software GPU takes a sample per CU, and no more often */
#define PC_CYCLES_MAX (double)(1ull << 40)

#define F(field) offsetof(struct rp_args, field)

/* Options that are numbers. */
static const struct {
	size_t field;
	const char *name;
	uint64_t min, max;
} numbers[] = {
	{ F(perfetto_buffer_size), "perfetto-buffer-size", 0, UINT64_MAX },
	{ F(perfetto_shmem_size_hint), "perfetto-shmem-size-hint", 0, UINT64_MAX },
	{ F(minimum_output_data), "minimum-output-data", 0, UINT64_MAX >> 10 },
	{ F(wait_seconds), "wait-seconds", 0, UINT32_MAX },
	{ F(capture_limit), "capture-limit", 1, UINT64_MAX >> 20 },
	{ F(attach_duration_msec), "attach-duration-msec", 0, UINT64_MAX },
	{ F(spm_sample_interval), "spm-sample-interval", 1, UINT64_MAX },
	{ F(pmc_group_interval), "pmc_group_interval", 1, UINT32_MAX },
	{ F(att_target_cu), "att-target-cu", 0, UINT32_MAX },
	{ F(att_simd_select), "att-simd-select", 0, UINT32_MAX },
	{ F(att_buffer_size), "att-buffer-size", 1, UINT64_MAX },
	{ F(att_shader_engine_mask), "att-shader-engine-mask", 0, UINT64_MAX },
	{ F(att_perfcounter_ctrl), "att-perfcounter-ctrl", 1, 32 },
	{ F(att_activity), "att-activity", 1, 16 },
	{ F(att_consecutive_kernels), "att-consecutive-kernels", 0, UINT32_MAX },
};

static enum ws_status check_numbers(const struct rp_args *args, struct ws_err *err)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(numbers); i++) {
		const char *text = *(const char *const *)((const char *)args + numbers[i].field);
		uint64_t value;

		if (!text)
			continue;
		if (!ws_str_u64(ws_str_from(text), &value))
			return ws_fail(err, WS_E_USAGE, "option '--%s': '%s' is not a whole number",
				       numbers[i].name, text);
		if (value < numbers[i].min || value > numbers[i].max)
			return ws_fail(err, WS_E_USAGE, "option '--%s': %s is not in %llu to %llu",
				       numbers[i].name, text, (unsigned long long)numbers[i].min,
				       (unsigned long long)numbers[i].max);
	}
	return WS_OK;
}

static enum ws_status check_regex(const char *option, const char *text, struct ws_err *err)
{
	struct ws_pattern *pattern;
	enum ws_status st;

	if (!text)
		return WS_OK;
	st = ws_pattern_create(text, WS_PATTERN_SOMEWHERE, &pattern, err);
	if (st)
		return ws_fail_in(err, st, "option '--%s'", option);
	ws_pattern_destroy(pattern);
	return WS_OK;
}

static enum ws_status check_regexes(const struct rp_args *args, struct ws_err *err)
{
	enum ws_status st = check_regex("kernel-include-regex", args->kernel_include_regex, err);

	if (!st)
		st = check_regex("kernel-exclude-regex", args->kernel_exclude_regex, err);
	for (size_t i = 0; i < args->summary_groups.n && !st; i++)
		st = check_regex("summary-groups", args->summary_groups.at[i], err);
	return st;
}

/* '[1-3]', '[1, 2, [5-8]]': brackets, commas and blanks separate numbers and ranges. */
static enum ws_status check_ranges(const struct rp_args *args, struct ws_err *err)
{
	for (size_t i = 0; i < args->kernel_iteration_range.n; i++) {
		const char *at = args->kernel_iteration_range.at[i];

		for (at += strspn(at, "[], "); *at; at += strspn(at, "[], ")) {
			struct ws_str low, rest = { at, strcspn(at, "[], ") };
			uint64_t a, b;

			at += rest.n;
			ws_str_next(&rest, '-', &low);
			if (!ws_str_u64(low, &a) || (rest.at && (!ws_str_u64(rest, &b) || b < a)))
				return ws_fail(err, WS_E_USAGE,
					       "option '--kernel-iteration-range': '%s' is not a "
					       "range such as [1-3] or [1, 2, [5-8]]",
					       args->kernel_iteration_range.at[i]);
		}
	}
	return WS_OK;
}

/* Options that say something about results, and need some. */
static enum ws_status check_enabled(const struct rp_args *args, bool has_program,
				    struct ws_err *err)
{
	static const char *const needy[] = { "stats",
					     "summary",
					     "summary-per-domain",
					     "summary-groups",
					     "summary-output-file",
					     "summary-units" };
	const char *ci = getenv("ROCPROFILER_CI");
	enum ws_tri tri = WS_TRI_NO;

	if (rp_n_enabled(args) || !has_program)
		return WS_OK;
	ws_log_warn("No tracing options were enabled. --kernel-trace or --sys-trace records "
		    "something");
	for (size_t i = 0; i < WS_ARRAY_LEN(needy); i++) {
		const struct ws_opt *opt = ws_opt_find(rp_opts, needy[i]);
		const void *field = (const char *)args + opt->offset;

		if (!rp_is_set(opt, args) ||
		    (opt->kind == WS_OPT_KIND_TRI && *(const enum ws_tri *)field != WS_TRI_YES))
			continue;
		return ws_fail(err, WS_E_USAGE,
			       "Fatal error: No tracing options were enabled for --%s option.: "
			       "add --kernel-trace or another trace option",
			       needy[i]);
	}
	if (ci && ws_tri_parse(ci, &tri) && tri == WS_TRI_YES)
		return ws_fail(err, WS_E_USAGE, "Fatal error: No tracing options were enabled");
	return WS_OK;
}

/*
 * Stochastic sampling counts cycles. madengine's rocprofv3_pc_sampling gives it a time, in
 * microseconds: the number of cycles that comes next, at the highest clock of the GPUs here. GPUs before MI300
 * have no stochastic sampling; there it is host_trap.
 */
static void time_as_cycles(struct rp_args *args, int64_t *interval_us)
{
	static struct gpu_agents gpus; /* too large for the stack */
	static char texts[64][24];     /* of each power: jobs may differ in it */
	double cycles, power = PC_CYCLES_MIN;
	unsigned mhz = 0, exponent = 0;
	bool has = false;
	char *text;

	if (launch_inject_gpus(&gpus, NULL))
		return;
	for (size_t i = 0; i < gpus.n; i++) {
		mhz = gpus.at[i].freq_mhz > mhz ? gpus.at[i].freq_mhz : mhz;
		has |= gpu_pc_sampler_has(gpus.at[i].arch, gpus.soft, args->pc_sampling_method);
	}
	if (!mhz)
		return;
	if (!has) {
		ws_log_warn("%s has no stochastic PC sampling: samples are taken by host traps, "
			    "every %s microseconds",
			    gpus.at[0].arch, args->pc_sampling_interval);
		args->pc_sampling_method = "host_trap";
		return;
	}
	cycles = (double)*interval_us * mhz;
	for (; power * 1.5 < cycles && power < PC_CYCLES_MAX; power *= 2)
		exponent++;
	text = texts[exponent];
	snprintf(text, sizeof(texts[0]), "%.0f", power);
	ws_log_warn("stochastic PC sampling counts in cycles: --pc-sampling-interval %s with "
		    "--pc-sampling-unit time is %s cycles, %.0f microseconds at %u MHz",
		    args->pc_sampling_interval, text, power / mhz, mhz);
	args->pc_sampling_unit = "cycles";
	args->pc_sampling_interval = text;
	*interval_us = (int64_t)power;
}

/* What a GPU can be sampled by; it is hardware's rule, and the software GPU's. */
static enum ws_status check_pc_method(struct rp_args *args, int64_t interval, struct ws_err *err)
{
	struct launch_pc_request request = { .counts = rp_counts(args),
					     .is_report = args->pc_report == WS_TRI_YES };
	bool stochastic = strcmp(args->pc_sampling_method, "stochastic") == 0;
	const char *unit;

	if (stochastic && strcmp(args->pc_sampling_unit, "time") == 0)
		time_as_cycles(args, &interval);
	stochastic = strcmp(args->pc_sampling_method, "stochastic") == 0;
	unit = stochastic ? "cycles" : "time";
	if (strcmp(args->pc_sampling_unit, unit) != 0)
		return ws_fail(err, WS_E_USAGE,
			       "Fatal error: PC sampling by %s counts in %s: use "
			       "--pc-sampling-unit %s",
			       args->pc_sampling_method, unit, unit);
	if (stochastic && (interval < PC_CYCLES_MIN || (interval & (interval - 1))))
		return ws_fail(
			err, WS_E_USAGE,
			"Fatal error: --pc-sampling-interval %s: stochastic sampling needs a "
			"power of two of at least %d cycles",
			args->pc_sampling_interval, PC_CYCLES_MIN);
	request.method = args->pc_sampling_method;
	request.interval = (uint64_t)interval;
	/* the GPUs of a process that runs already are not those of this environment */
	return args->pid.n ? WS_OK : launch_check_pc_sampling(&request, err);
}

static enum ws_status check_pc_sampling(struct rp_args *args, struct ws_err *err)
{
	int64_t interval = 0;
	unsigned n = !!args->pc_sampling_unit + !!args->pc_sampling_method +
		     !!args->pc_sampling_interval;

	if (n && args->pc_sampling_beta_enabled != WS_TRI_YES)
		return ws_fail(err, WS_E_USAGE,
			       "Fatal error: PC sampling unavailable. The feature is implicitly "
			       "disabled. To enable it, use --pc-sampling-beta-enabled");
	if ((n || args->pc_sampling_beta_enabled == WS_TRI_YES) && n < 3)
		return ws_fail(err, WS_E_USAGE,
			       "Fatal error: All three PC sampling configurations need to be set: "
			       "--pc-sampling-unit, --pc-sampling-method, --pc-sampling-interval");
	if (n && (!ws_str_i64(ws_str_from(args->pc_sampling_interval), &interval) || interval <= 0))
		return ws_fail(
			err, WS_E_USAGE,
			"Fatal error: PC sampling interval must be a positive number, not '%s'",
			args->pc_sampling_interval);
	return n ? check_pc_method(args, interval, err) : WS_OK;
}

#define ATT_NEEDS                                                                                  \
	"Thread trace needs an Instinct GPU and AMD's SDK; --pc-report shows "                     \
	"instructions and stalls"

/* Thread trace: AMD's decoder is a library of its own, which users install themselves. */
static enum ws_status find_decoder(const struct rp_args *args, struct ws_err *err)
{
	const char *path = getenv("LD_LIBRARY_PATH");
	struct ws_str rest = ws_str_from(path ? path : ""), dir;
	struct ws_buf looked;
	bool found = false;
	char file[PATH_MAX];
	enum ws_status st = WS_OK;

	ws_buf_init(&looked, 160);
	for (size_t i = 0; i < args->att_library_path.n; i++) {
		ws_buf_printf(&looked, "%s%s", looked.n ? ":" : "", args->att_library_path.at[i]);
		snprintf(file, sizeof(file), "%s/librocprof-trace-decoder.so",
			 args->att_library_path.at[i]);
		found |= ws_path_exists(file);
	}
	while (!args->att_library_path.n && ws_str_next(&rest, ':', &dir)) {
		ws_buf_printf(&looked, "%s%.*s", looked.n ? ":" : "", WS_STR_ARGS(dir));
		snprintf(file, sizeof(file), "%.*s/librocprof-trace-decoder.so", WS_STR_ARGS(dir));
		found |= ws_path_exists(file);
	}
	if (!found)
		st = ws_fail(err, WS_E_NOTFOUND,
			     "Fatal error: rocprof-trace-decoder library path not found in '%s': "
			     "set it with --att-library-path. " ATT_NEEDS,
			     looked.at);
	else
		st = ws_fail(err, WS_E_UNSUPPORTED,
			     "Fatal error: thread trace is not supported: " ATT_NEEDS);
	ws_buf_fini(&looked);
	return st;
}

static enum ws_status check_thread_trace(const struct rp_args *args, struct ws_err *err)
{
	bool counters = args->att_perfcounters.n || args->att_perfcounter_ctrl;

	if (args->advanced_thread_trace != WS_TRI_YES)
		return WS_OK;
	if ((counters || args->att_activity) && args->pmc.n)
		return ws_fail(err, WS_E_USAGE,
			       "Fatal error: counters of the thread trace and --pmc exclude each "
			       "other");
	if (counters && args->att_activity)
		return ws_fail(err, WS_E_USAGE,
			       "Fatal error: --att-activity excludes --att-perfcounters and "
			       "--att-perfcounter-ctrl: it sets both");
	return find_decoder(args, err);
}

/* A list of lists whose every list is empty. */
static bool names_none(const struct ws_strv *list)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->at[i])
			return false;
	return true;
}

/* Counters of whole GPUs: what chooses kernels, or counts them one by one, has no meaning. */
static enum ws_status check_interval(const struct rp_args *args, struct ws_err *err)
{
	const char *excluded = args->pmc_groups.n                  ? "pmc_groups"
			       : args->replay || args->replay_mode ? "--replay"
			       : args->kernel_include_regex        ? "--kernel-include-regex"
			       : args->kernel_exclude_regex        ? "--kernel-exclude-regex"
			       : args->kernel_iteration_range.n    ? "--kernel-iteration-range"
			       : args->pc_sampling_beta_enabled == WS_TRI_YES ? "PC sampling"
			       : args->pid.n                                  ? "--pid"
									      : NULL;
	double ms;

	if (!args->pmc_interval)
		return WS_OK;
	if (!ws_str_f64(ws_str_from(args->pmc_interval), &ms) || !(ms >= RP_INTERVAL_LEAST_MS) ||
	    !(ms <= RP_INTERVAL_MOST_MS))
		return ws_fail(err, WS_E_USAGE,
			       "option '--pmc-interval': '%s' is not a number of milliseconds from "
			       "%g to %g",
			       args->pmc_interval, RP_INTERVAL_LEAST_MS, RP_INTERVAL_MOST_MS);
	if (!rp_counts(args))
		return ws_fail(err, WS_E_USAGE, "--pmc-interval needs counters: add --pmc NAME");
	if (excluded)
		return ws_fail(err, WS_E_USAGE,
			       "--pmc-interval counts whole GPUs, not kernels: it excludes %s",
			       excluded);
	return WS_OK;
}

static enum ws_status check_counters(const struct rp_args *args, struct ws_err *err)
{
	if (args->extra_counters && args->echo != WS_TRI_YES && access(args->extra_counters, R_OK))
		return ws_fail_errno(err, errno, "--extra-counters: cannot open '%s'",
				     args->extra_counters);
	if (args->extra_counters && !args->pmc.n && !args->pmc_groups.n &&
	    args->list_avail != WS_TRI_YES)
		ws_log_warn("--extra-counters defines counters, but none is requested: add --pmc");
	double seconds;
	enum ws_status st;

	if (args->baseline &&
	    (!ws_str_f64(ws_str_from(args->baseline), &seconds) || !(seconds > 0)))
		return ws_fail(err, WS_E_USAGE,
			       "option '--baseline': '%s' is not a time in seconds",
			       args->baseline);
	if (args->pmc.n && names_none(&args->pmc))
		return ws_fail(err, WS_E_USAGE,
			       "--pmc names no counter: 'rocprofv3-avail list --pmc' lists them");
	if (args->pmc.n && args->pmc_groups.n)
		return ws_fail(
			err, WS_E_USAGE,
			"Fatal error: Cannot specify both --pmc and (input file) pmc_groups");
	st = check_interval(args, err);
	if (st)
		return st;
	if (args->spm.n && (args->pmc.n || args->pc_sampling_beta_enabled == WS_TRI_YES))
		return ws_fail(
			err, WS_E_USAGE,
			"--spm excludes --pmc and PC sampling: run them one after the other");
	if (args->spm.n && args->spm_beta_enabled != WS_TRI_YES)
		return ws_fail(err, WS_E_USAGE, "--spm needs --spm-beta-enabled");
	return WS_OK;
}

/* What is looked up in folders is the loader's business; a path is there or not. */
static enum ws_status check_preload(const struct rp_args *args, struct ws_err *err)
{
	for (size_t i = 0; i < args->preload.n; i++) {
		const char *lib = args->preload.at[i];

		if (lib && strchr(lib, '/') && args->echo != WS_TRI_YES && !ws_path_exists(lib))
			return ws_fail(err, WS_E_NOTFOUND,
				       "--preload: no library '%s': check the path", lib);
	}
	return WS_OK;
}

/* Options that would be taken for something they are not. */
static void warn_of_filters(const struct rp_args *args)
{
	if ((args->kernel_include_regex || args->kernel_exclude_regex ||
	     args->kernel_iteration_range.n) &&
	    !rp_counts(args) && args->pc_sampling_beta_enabled != WS_TRI_YES &&
	    args->pc_report != WS_TRI_YES)
		ws_log_warn("kernel filters apply to counters and PC samples only: without them "
			    "every kernel is traced");
}

static enum ws_status check_attach(const struct rp_args *args, bool has_program, struct ws_err *err)
{
	if (has_program)
		return ws_fail(err, WS_E_USAGE,
			       "--pid attaches to a running process: remove the program after '--' "
			       "(collection periods are -P)");
	if (args->collection_period.n || args->selected_regions == WS_TRI_YES)
		return ws_fail(err, WS_E_USAGE,
			       "--pid excludes --collection-period and --selected-regions: use "
			       "--attach-duration-msec");
	if (args->spm.n)
		return ws_fail(
			err, WS_E_UNSUPPORTED,
			"--pid excludes --spm: start the program with 'rocprofv3 ... -- PROGRAM'");
	if (!rp_n_enabled(args))
		return ws_fail(err, WS_E_USAGE,
			       "Fatal error: No tracing options were enabled: add --hip-trace or "
			       "another trace option");
	if (args->gpu_time)
		return ws_fail(err, WS_E_USAGE,
			       "--pid excludes --gpu-time: start the program with "
			       "WAVESCOPE_GPU_TIME=%s",
			       args->gpu_time);
	return WS_OK;
}

enum ws_status rp_check(struct rp_args *args, bool has_program, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	st = args->pid.n ? check_attach(args, has_program, err) : WS_OK;
	if (!st)
		st = check_numbers(args, err);
	if (!st)
		st = check_regexes(args, err);
	if (!st)
		st = check_ranges(args, err);
	if (!st && !args->mpi_world_rank_variable != !args->mpi_world_size_variable)
		st = ws_fail(err, WS_E_USAGE,
			     "--mpi-world-rank-variable and --mpi-world-size-variable must be used "
			     "together");
	if (!st)
		st = check_preload(args, err);
	if (!st)
		st = check_counters(args, err);
	if (!st)
		st = check_enabled(args, has_program, err);
	if (!st && args->benchmark_mode && strcmp(args->benchmark_mode, "execution-profile") == 0 &&
	    args->group_by_queue == WS_TRI_YES)
		st = ws_fail(err, WS_E_USAGE,
			     "Fatal error: --benchmark-mode execution-profile excludes "
			     "--group-by-queue");
	if (!st && !has_program && !args->pid.n && args->echo != WS_TRI_YES &&
	    args->list_avail != WS_TRI_YES && args->dry_run != WS_TRI_YES)
		st = ws_fail(err, WS_E_USAGE,
			     "Fatal error: No application provided: put it after --, as in "
			     "'rocprofv3 --kernel-trace -- ./app'");
	if (!st)
		st = check_pc_sampling(args, err);
	if (!st)
		st = check_thread_trace(args, err);
	/* Better no run than one that records nothing. */
	if (!st && has_program && args->echo != WS_TRI_YES && rp_all_missing(args))
		st = ws_fail(err, WS_E_UNSUPPORTED,
			     "%s are not supported by this version, and nothing else was "
			     "requested: use --kernel-trace or another trace option",
			     rp_all_missing(args));
	if (st)
		return st;
	warn_of_filters(args);
	/* Regions are switched by markers: without those nothing would ever start. */
	if (args->selected_regions == WS_TRI_YES && args->marker_trace != WS_TRI_YES) {
		ws_log_info("--selected-regions needs roctx: --marker-trace is enabled");
		args->marker_trace = WS_TRI_YES;
	}
	return WS_OK;
}
