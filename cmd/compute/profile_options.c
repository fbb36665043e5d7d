#include "cmd/compute/profile.h"

#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "gpu/pc_sampler.h"

#include <stdio.h>
#include <string.h>

const char *const pf_replay_names[] = { "auto", "kernel", "application", "none", NULL };
const char *const pf_format_names[] = { "csv", "rocpd", NULL };
const char *const pf_join_names[] = { "grid", "kernel", NULL };
static const char *const pc_methods[] = { "stochastic", "host_trap", NULL };
static const char *const multiplex_names[] = { "kernel", "kernel_launch_params", NULL };
static const char *const sort_names[] = { "kernels", "dispatches", NULL };
static const char *const level_names[] = { "HBM", "L2", "vL1D", "LDS", NULL };
static const char *const type_names[] = { "FP4",  "FP6", "FP8", "FP16", "BF16", "FP32",
					  "FP64", "I8",  "I32", "I64",  NULL };

/* Cycles of stochastic sampling, microseconds of host_trap; what is modelled takes any. */
#define DEFAULT_PC_CYCLES 1048576u
#define DEFAULT_PC_US 512u
#define LEAST_PC_CYCLES 65536u
#define DEFAULT_PC_CYCLES_SOFT 1024u
#define DEFAULT_PC_US_SOFT 1u
#define LEAST_PC_CYCLES_SOFT 256u

/* clang-format off */
#define T struct pf_args
static const struct ws_opt rows[] = {
	COMPUTE_GENERAL_OPTS(T, general.),
	WS_OPT_GROUP("Where results go"),
	WS_OPT_STR(T, name, 'n', "name", "NAME", "name of the workload: results go to workloads/NAME/<GPU model>"),
	WS_OPT_STR(T, output_directory, 0, "output-directory", "DIR", "output folder instead. Placeholders: %hostname% %gpumodel% %rank% %env{NAME}%"),
	WS_OPT_STR(T, path, 'p', "path", "DIR", "deprecated: use --output-directory"),
	WS_OPT_STR(T, subpath, 0, "subpath", "KIND", "deprecated: use placeholders in --output-directory"),
	WS_OPT_BOOL(T, resume, 0, "resume", "continue an unfinished profile in the same folder"),
	WS_OPT_BOOL(T, replace, 0, "replace", "remove an earlier profile in the same folder instead of renaming it"),
	WS_OPT_STR(T, target, 0, "target", "NAME", NULL),
	WS_OPT_GROUP("What to collect"),
	WS_OPT_MANY(T, blocks, 'b', "block", "ID", "report blocks (10, lds), tables (11.2) or metrics (11.2.3); --list-blocks and --list-available-metrics list them. They are added to what an earlier run collected in the same folder"),
	WS_OPT_STR(T, set, 0, "set", "NAME", "a set of metrics that needs one pass; --list-sets lists the sets"),
	WS_OPT_MANY(T, kernels, 'k', "kernel", "TEXT", "only kernels whose name contains TEXT, or matches it as a regular expression"),
	WS_OPT_MANY(T, dispatches, 'd', "dispatch", "N", "only these dispatches: N, or FIRST:END without END, counted from 0"),
	WS_OPT_BOOL(T, list_available, 0, "list-available-metrics", "print blocks, tables and metrics of this machine's GPU"),
	WS_OPT_BOOL(T, list_sets, 0, "list-sets", "print the sets"),
	WS_OPT_GROUP("How to collect"),
	WS_OPT_CHOICE(T, replay, 0, "replay", "HOW", pf_replay_names, "kernel: one run, each dispatch is repeated; application: one run per pass; none: one run, one pass. Default: kernel on the software GPU, else application"),
	WS_OPT_SETS(T, multiplex, 0, "iteration-multiplexing", "[POLICY]", "one run: successive launches of a kernel collect successive sets of counters. POLICY: kernel, or kernel_launch_params (default), which treats launches of different sizes separately"),
	WS_OPT_CHOICE(T, join_type, 0, "join-type", "HOW", pf_join_names, "how dispatches of several passes are matched: grid (by kernel and launch size) or kernel"),
	WS_OPT_F64(T, timeout_s, 0, "timeout", "SECONDS", "end a run of the program after this time; finished passes are kept"),
	WS_OPT_BOOL(T, hip_trace, 0, "hip-trace", "also record HIP calls, in <pass>_hip_api_trace.csv"),
	WS_OPT_BOOL(T, kokkos_trace, 0, "kokkos-trace", NULL),
	WS_OPT_BOOL(T, torch_trace, 0, "torch-trace", "map kernels to PyTorch operators (with --experimental)"),
	WS_OPT_MANY(T, spatial, 0, "spatial-multiplexing", "N", "NODE NODES GPUS: this node's share of the passes (with --experimental)"),
	WS_OPT_I64(T, attach_pid, 0, "attach-pid", "PID", "profile a running process"),
	WS_OPT_I64(T, attach_msec, 0, "attach-duration-msec", "MS", "detach after MS; default: when Enter is pressed"),
	WS_OPT_BOOL(T, membw, 0, "membw-analysis", NULL),
	WS_OPT_GROUP("Files"),
	WS_OPT_CHOICE(T, format, 0, "format-rocprof-output", "FORMAT", pf_format_names, "csv: pmc_perf_N.csv per pass; rocpd: results_N.csv from databases"),
	WS_OPT_BOOL(T, merge, 0, "merge", "also write pmc_perf.csv, all passes joined: for AMD's analyze 3.0 to 3.3"),
	WS_OPT_BOOL(T, retain_rocpd, 0, "retain-rocpd-output", "keep the databases, <pass>.db"),
	WS_OPT_GROUP("PC sampling (-b 21)"),
	WS_OPT_ONE_OF(T, pc_method, 0, "pc-sampling-method", "METHOD", pc_methods, "stochastic (from MI300 on) or host_trap"),
	WS_OPT_U64(T, pc_interval, 0, "pc-sampling-interval", "N", "cycles (stochastic: a power of two, from 65536 on hardware and 256 on the software GPU) or microseconds (host_trap)"),
	WS_OPT_GROUP("Roofline"),
	WS_OPT_BOOL(T, no_roof, 0, "no-roof", "do not measure the GPU's peaks"),
	WS_OPT_BOOL(T, roof_only, 0, "roof-only", "only roofline counters and peaks"),
	WS_OPT_BOOL(T, bench_only, 0, "bench-only", "only peaks; runs no program"),
	WS_OPT_BOOL(T, roof_again, 0, "roof-again", "measure the GPU's peaks again, even if they are cached"),
	WS_OPT_I64(T, device, 0, "device", "N", "GPU to measure; -1: all"),
	WS_OPT_BOOL(T, kernel_names, 0, "kernel-names", NULL),
	WS_OPT_ONE_OF(T, sort, 0, "sort", "WHAT", sort_names, NULL),
	WS_OPT_SOME_OF(T, mem_levels, 'm', "mem-level", "LEVEL", level_names, NULL),
	WS_OPT_SOME_OF(T, data_types, 'R', "roofline-data-type", "TYPE", type_names, NULL),
	WS_OPT_GROUP("For scripts written for AMD's tool"),
	WS_OPT_BOOL(T, no_native_tool, 0, "no-native-tool", "accepted; there is one collector"),
	WS_OPT_STR(T, sdk_tool, 0, "rocprofiler-sdk-tool-path", "FILE", "accepted; wavescope's collector is used"),
	WS_OPT_STR(T, sdk_library, 0, "rocprofiler-sdk-library-path", "FILE", "the same"),
};
#undef T
/* clang-format on */

const struct ws_opts pf_opts = { rows, WS_ARRAY_LEN(rows) };

const struct ws_cmd compute_profile_cmd = {
	.name = "profile",
	.summary = "collect the counters of a program's kernels",
	.usage = "[options] -- PROGRAM [ARG...]",
	.about = "Runs PROGRAM and collects the counters of its kernels: in one run if the GPU "
		 "supports kernel replay, else in one run per pass. Writes a folder for "
		 "'rocprof-compute analyze -p'.",
	.notes = "Put an MPI launcher first; every rank has its own folder:\n"
		 "  mpirun -n 4 rocprof-compute profile -n app -- ./app\n"
		 "\n"
		 "Examples:\n"
		 "  rocprof-compute profile -n vcopy -- ./vcopy -n 1048576 -b 256\n"
		 "  rocprof-compute profile -n vcopy -b 10 7 -- ./vcopy -n 1048576 -b 256\n"
		 "  rocprof-compute profile -n vcopy --set launch_stats -- ./vcopy\n"
		 "  rocprof-compute profile -n vcopy --iteration-multiplexing -- ./vcopy -i 50",
	.opts = { rows, WS_ARRAY_LEN(rows) },
	.order = WS_OPT_MIXED,
	.values_bytes = sizeof(struct pf_args),
	.set_defaults = pf_set_defaults,
	.run = pf_run,
};

void pf_set_defaults(void *values)
{
	(void)values; /* all of them are zero */
}

enum pf_multiplex pf_multiplex_of(const struct pf_args *args)
{
	const char *policy = NULL;

	if (!args->multiplex.n)
		return PF_MULTIPLEX_OFF;
	for (size_t i = 0; i < args->multiplex.n; i++)
		policy = args->multiplex.at[i];
	return policy && strcmp(policy, multiplex_names[0]) == 0 ? PF_MULTIPLEX_KERNEL
								 : PF_MULTIPLEX_LAUNCH;
}

static enum ws_status check_multiplex(const struct pf_args *args, struct ws_err *err)
{
	size_t n_words = 0;

	for (size_t i = 0; i < args->multiplex.n; i++) {
		const char *word = args->multiplex.at[i];

		if (!word)
			continue;
		if (strcmp(word, multiplex_names[0]) != 0 && strcmp(word, multiplex_names[1]) != 0)
			return ws_fail(err, WS_E_USAGE,
				       "argument --iteration-multiplexing: invalid choice: '%s' "
				       "(choose from 'kernel', 'kernel_launch_params')",
				       word);
		n_words++;
	}
	if (n_words > 1)
		return ws_fail(err, WS_E_USAGE, "--iteration-multiplexing takes one policy");
	return WS_OK;
}

/* clang-format off */
/* Pairs that exclude each other, and what to say; AMD's words where it has some. */
struct pair {
	bool a, b;
	const char *why;
};

static enum ws_status check_pairs(const struct pf_args *args, struct ws_err *err)
{
	const bool block = args->blocks.n > 0, set = args->set != NULL;
	const bool mux = args->multiplex.n > 0, attach = args->attach_pid != 0;
	const struct pair pairs[] = {
		{ block, set, "--block and --set are exclusive options." },
		{ block, args->roof_only, "--block and --roof-only are exclusive options: -b 4 selects the roofline's counters" },
		{ set, args->roof_only, "--set and --roof-only are exclusive options." },
		{ args->bench_only, block || set || args->roof_only, "--bench-only excludes --block, --set and --roof-only: it runs no program" },
		{ args->no_roof, args->roof_only || args->bench_only, "--no-roof excludes --roof-only and --bench-only" },
		{ args->no_roof, args->roof_again, "--no-roof and --roof-again contradict each other: use one of them" },
		{ args->no_roof, args->kernel_names, "--kernel-names needs the roofline: remove --no-roof" },
		{ mux, args->no_native_tool, "--iteration-multiplexing and --no-native-tool are exclusive options." },
		{ mux, attach, "--iteration-multiplexing and --attach-pid are exclusive options." },
		{ attach, args->torch_trace, "--torch-trace needs a program that is started here: remove --attach-pid" },
		{ attach, args->timeout_s > 0, "--timeout does not apply to --attach-pid: use --attach-duration-msec" },
		{ attach, args->bench_only, "--bench-only and --attach-pid are exclusive options." },
		{ mux, args->replay != PF_REPLAY_AUTO, "--iteration-multiplexing collects in one run without replay: remove --replay" },
		{ attach, args->spatial.n > 0, "--spatial-multiplexing and --attach-pid are exclusive options." },
		{ mux, args->spatial.n > 0, "--iteration-multiplexing and --spatial-multiplexing are exclusive options." },
		{ args->resume, args->replace, "--resume continues the profile that --replace would remove: use one of them" },
		{ args->general.quiet, args->general.verbose, "--quiet and --verbose contradict each other: use one of them" },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(pairs); i++)
		if (pairs[i].a && pairs[i].b)
			return ws_fail(err, WS_E_USAGE, "%s", pairs[i].why);
	return WS_OK;
}

static enum ws_status check_experimental(const struct pf_args *args, struct ws_err *err)
{
	const struct {
		bool on;
		const char *label;
	} options[] = {
		{ args->torch_trace, "Torch trace" },
		{ args->spatial.n > 0, "Spatial multiplexing" },
		{ args->membw, "Memory bandwidth analysis" },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(options); i++)
		if (options[i].on && !args->general.experimental)
			return ws_fail(err, WS_E_USAGE,
				       "%s is an experimental feature. Use --experimental to enable it.",
				       options[i].label);
	return WS_OK;
}
/* clang-format on */

static enum ws_status check_values(const struct pf_args *args, struct ws_err *err)
{
	if (args->name && strchr(args->name, '/'))
		return ws_fail(err, WS_E_USAGE, "--name '%s': '/' is not allowed in a name",
			       args->name);
	if (args->name && (!*args->name || !strcmp(args->name, ".") || !strcmp(args->name, "..")))
		return ws_fail(err, WS_E_USAGE, "--name '%s' is not a valid folder name",
			       args->name);
	if (args->subpath && strcmp(args->subpath, "gpu") && strcmp(args->subpath, "gpu_model") &&
	    strcmp(args->subpath, "node_name"))
		return ws_fail(err, WS_E_USAGE,
			       "--subpath: no choice '%s': use gpu_model or node_name, or "
			       "placeholders in --output-directory",
			       args->subpath);
	if (args->subpath && !args->path)
		return ws_fail(
			err, WS_E_USAGE,
			"--subpath applies to --path only: use placeholders in --output-directory");
	if (args->kokkos_trace)
		return ws_fail(err, WS_E_USAGE,
			       "--kokkos-trace is not supported in the current version");
	if (args->membw)
		return ws_fail(err, WS_E_UNSUPPORTED,
			       "--membw-analysis: there is no block 30 in these reports: blocks 17 "
			       "and 18 have the traffic of L2 and memory");
	if (args->attach_pid < 0 || args->attach_pid > INT32_MAX)
		return ws_fail(err, WS_E_USAGE, "--attach-pid: %lld is not a process",
			       (long long)args->attach_pid);
	if (args->attach_msec < 0 || (args->attach_msec && !args->attach_pid))
		return ws_fail(err, WS_E_USAGE, "--attach-duration-msec must be at least 1");
	if (args->timeout_s < 0)
		return ws_fail(err, WS_E_USAGE, "--timeout: %g is not a time", args->timeout_s);
	return WS_OK;
}

enum ws_status pf_pc_interval(struct pf *pf, struct ws_err *err)
{
	const char *arch = pf->agents.n ? pf->agents.at[0].arch : "";
	const bool soft = pf->agents.soft, has_best = gpu_pc_sampler_has(arch, soft, pc_methods[0]);
	const uint64_t least = soft ? LEAST_PC_CYCLES_SOFT : LEAST_PC_CYCLES;
	uint64_t n = pf->args->pc_interval;
	bool cycles;

	pf->pc_method = pf->args->pc_method ? pf->args->pc_method : pc_methods[!has_best];
	cycles = strcmp(pf->pc_method, pc_methods[0]) == 0;
	if (!n)
		n = cycles ? (soft ? DEFAULT_PC_CYCLES_SOFT : DEFAULT_PC_CYCLES)
			   : (soft ? DEFAULT_PC_US_SOFT : DEFAULT_PC_US);
	if (cycles && (n < least || (n & (n - 1))))
		return ws_fail(err, WS_E_USAGE,
			       "--pc-sampling-interval: stochastic sampling takes a power of two "
			       "from %llu",
			       (unsigned long long)least);
	if (cycles && !has_best && pf->agents.n)
		return ws_fail(
			err, WS_E_UNSUPPORTED,
			"--pc-sampling-method: stochastic sampling exists from MI300 on, and "
			"not on %s: use host_trap",
			arch);
	pf->pc_interval = n;
	return WS_OK;
}

static bool lists_something(const struct pf_args *args)
{
	return args->list_available || args->list_sets || args->general.list_metrics ||
	       args->general.list_blocks || args->general.specs;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static enum ws_status check_launcher(char *const *argv, struct ws_err *err)
{
	static const char *const launchers[] = { "mpirun",         "mpiexec",     "srun",
						 "orterun",        "prterun",     "mpiexec.hydra",
						 "mpirun.openmpi", "mpirun.mpich" };
	const char *name = base_name(argv[0]);

	for (size_t i = 0; i < WS_ARRAY_LEN(launchers); i++)
		if (strcmp(name, launchers[i]) == 0)
			return ws_fail(err, WS_E_USAGE,
				       "'%s' must be in front of rocprof-compute, not after '--': "
				       "%s -n 4 rocprof-compute profile --name NAME -- ./app",
				       name, name);
	return WS_OK;
}

static enum ws_status check_command(const struct pf_args *args, char *const *argv,
				    struct ws_err *err)
{
	char path[PATH_MAX];

	if (args->bench_only || args->attach_pid)
		return argv[0] ? ws_fail(err, WS_E_USAGE, "%s runs no program: remove '%s'",
					 args->bench_only ? "--bench-only" : "--attach-pid",
					 argv[0])
			       : WS_OK;
	if (!argv[0])
		return args->resume ? WS_OK
				    : ws_fail(err, WS_E_USAGE,
					      "Profiling command required. Pass application "
					      "executable after -- at the end of options.");
	if (ws_path_program(argv[0], path, NULL))
		return ws_fail(err, WS_E_STATE,
			       "Your command %s doesn't point to a executable. Please verify.",
			       argv[0]);
	return check_launcher(argv, err);
}

enum ws_status pf_check(const struct pf_args *args, char *const *argv, struct ws_err *err)
{
	struct pf_spatial spatial;
	enum ws_status st = check_experimental(args, err);

	if (!st)
		st = check_multiplex(args, err);
	if (!st)
		st = check_pairs(args, err);
	if (!st)
		st = check_values(args, err);
	if (!st)
		st = pf_spatial_parse(args, &spatial, err);
	if (st || lists_something(args))
		return st;
	if (!args->name && !args->output_directory && !args->path)
		return ws_fail(err, WS_E_USAGE, "Either --output-directory or --name is required");
	return check_command(args, argv, err);
}
