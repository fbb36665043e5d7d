#include "cmd/rocprofv3/options.h"

#include "base/unit.h"
#include "base/util.h"
#include "launch/pc_sampling.h"
#include "trace/trace.h"

#include <string.h>

static const char *const rp_formats[] = { "csv", "json", "pftrace", "otf2", "rocpd", "html", NULL };
static const char *const rp_log_levels[] = {
	"fatal", "error", "warning", "info", "trace", "env", "config", NULL,
};
static const char *const rp_pc_units[] = { "instructions", "cycles", "time", NULL };
static const char *const rp_pc_methods[] = { "stochastic", "host_trap", NULL };
static const char *const rp_backends[] = { "inprocess", "system", NULL };
static const char *const rp_fill_policies[] = { "discard", "ring_buffer", NULL };
static const char *const rp_gpu_times[] = { "host", "simulated", NULL };
static const char *const rp_replay_modes[] = { "kernel", "application", NULL };
static const char *const rp_spm_units[] = { "sclk_cycles", NULL };
static const char *const rp_ompt_kinds[] = {
	"all", "thread", "parallel", "task", "sync", "mutex", "target", "device", "error", NULL,
};
static const char *const rp_benchmark_modes[] = {
	"disabled-sdk-contexts", "sdk-buffer-overhead", "sdk-callback-overhead",
	"tool-runtime-overhead", "execution-profile",   NULL,
};

/* clang-format off */
#define A struct rp_args
#define ROW_GROUP(heading) WS_OPT_GROUP(heading),
#define ROW_FLAG(field, ch, name, text) WS_OPT_BOOL(A, field, ch, name, text),
#define ROW_TRI(field, ch, name, env, text) WS_OPT_TRI(A, field, ch, name, text),
#define ROW_STR(field, ch, name, arg, env, text) WS_OPT_STR(A, field, ch, name, arg, text),
#define ROW_ONE(field, ch, name, arg, env, of, text) WS_OPT_ONE_OF(A, field, ch, name, arg, of, text),
#define ROW_MANY(field, ch, name, arg, of, text) WS_OPT_SOME_OF(A, field, ch, name, arg, of, text),
#define ROW_SETS(field, ch, name, arg, env, of, text) \
	{ WS_OPT_KIND_SETS, ch, name, arg, text, WS_OPT_FIELD_(A, field, struct ws_strv), of },
#define ROW_ALSO(kind, field, ch, name) ROW_ALSO_##kind(field, ch, name)
#define ROW_ALSO_tri(field, ch, name) WS_OPT_TRI(A, field, ch, name, NULL),
#define ROW_ALSO_many(field, ch, name) WS_OPT_MANY(A, field, ch, name, "", NULL),
const struct ws_opt rp_rows[RP_N_ROWS] = {
	RP_OPTION_TABLE(ROW_GROUP, ROW_FLAG, ROW_TRI, ROW_STR, ROW_ONE, ROW_MANY, ROW_MANY, ROW_SETS,
			ROW_ALSO)
};

#define ENV_GROUP(heading) NULL,
#define ENV_FLAG(field, ch, name, text) NULL,
#define ENV_TRI(field, ch, name, env, text) env,
#define ENV_STR(field, ch, name, arg, env, text) env,
#define ENV_ONE(field, ch, name, arg, env, of, text) env,
#define ENV_MANY(field, ch, name, arg, of, text) NULL,
#define ENV_SETS(field, ch, name, arg, env, of, text) env,
#define ENV_ALSO(kind, field, ch, name) NULL,
static const char *const variables[] = {
	RP_OPTION_TABLE(ENV_GROUP, ENV_FLAG, ENV_TRI, ENV_STR, ENV_ONE, ENV_MANY, ENV_MANY, ENV_SETS,
			ENV_ALSO)
};

static const struct ws_opt file_rows[] = {
	WS_OPT_SETS(A, pmc_groups, 0, "pmc-groups", "LIST", NULL),
	WS_OPT_STR(A, pmc_group_interval, 0, "pmc-group-interval", "N", NULL),
};
/* clang-format on */

const struct ws_opts rp_opts = { rp_rows, RP_N_ROWS };
const struct ws_opts rp_file_opts = { file_rows, WS_ARRAY_LEN(file_rows) };

const char *rp_opt_variable(size_t i)
{
	return variables[i] && *variables[i] ? variables[i] : NULL;
}

bool rp_is_set(const struct ws_opt *opt, const struct rp_args *args)
{
	const void *field = (const char *)args + opt->offset;

	switch (opt->kind) {
	case WS_OPT_KIND_BOOL:
		return *(const bool *)field;
	case WS_OPT_KIND_TRI:
		return *(const enum ws_tri *)field != WS_TRI_UNSET;
	case WS_OPT_KIND_STR:
		return *(const char *const *)field;
	case WS_OPT_KIND_MANY:
	case WS_OPT_KIND_SETS:
		return ((const struct ws_strv *)field)->n > 0;
	default:
		return false;
	}
}

void rp_args_fini(struct rp_args *args)
{
	ws_opt_fini(rp_opts, args);
	ws_opt_fini(rp_file_opts, args);
}

/* clang-format off */
#define F(field) offsetof(struct rp_args, field)
#define DEVICE_SIDE                                                                                \
	F(marker_trace), F(kernel_trace), F(memory_copy_trace), F(memory_allocation_trace),        \
	F(scratch_memory_trace), F(rccl_trace), F(rocdecode_trace), F(rocjpeg_trace), F(kfd_trace)

/* In the order in which they are opened: a group may hold a later one. */
static const struct {
	size_t group;
	size_t members[16]; /* 0 ends it: `input` is at offset 0 */
} groups[] = {
	{ F(kokkos_trace),  { F(marker_trace), F(kernel_rename) } },
	{ F(sys_trace),     { F(hip_trace), F(hsa_trace), DEVICE_SIDE } },
	{ F(runtime_trace), { F(hip_runtime_trace), DEVICE_SIDE } },
	{ F(hip_trace),     { F(hip_compiler_trace), F(hip_runtime_trace) } },
	{ F(hsa_trace),     { F(hsa_core_trace), F(hsa_amd_trace), F(hsa_image_trace),
			      F(hsa_finalizer_trace) } },
	{ F(kfd_trace),     { F(kfd_page_migration_trace), F(kfd_page_mapping_trace),
			      F(kfd_queue_trace), F(kfd_dropped_events_trace) } },
	{ F(hip_runtime_trace), { F(hip_graph_trace), F(hip_event_trace) } },
	/* samples name dispatches, so these are recorded, too */
	{ F(pc_sampling_beta_enabled), { F(kernel_trace) } },
};
/* clang-format on */

_Static_assert(F(input) == 0, "offset 0 ends a list of members");

/* --pc-report alone: samples dense enough for kernels of some microseconds. */
static void default_samples(struct rp_args *args)
{
	bool stochastic;

	if (args->pc_report != WS_TRI_YES || args->pc_sampling_beta_enabled != WS_TRI_UNSET ||
	    args->pc_sampling_method || args->pc_sampling_unit || args->pc_sampling_interval)
		return;
	args->pc_sampling_beta_enabled = WS_TRI_YES;
	args->pc_sampling_method = launch_pc_best_method();
	stochastic = strcmp(args->pc_sampling_method, "stochastic") == 0;
	args->pc_sampling_unit = stochastic ? "cycles" : "time";
	args->pc_sampling_interval = stochastic ? "1024" : "10";
}

void rp_expand(struct rp_args *args)
{
	default_samples(args);
	for (size_t i = 0; i < WS_ARRAY_LEN(groups); i++) {
		if (*(enum ws_tri *)((char *)args + groups[i].group) != WS_TRI_YES)
			continue;
		for (const size_t *member = groups[i].members; *member; member++) {
			enum ws_tri *tri = (enum ws_tri *)((char *)args + *member);

			if (*tri == WS_TRI_UNSET)
				*tri = WS_TRI_YES;
		}
	}
}
