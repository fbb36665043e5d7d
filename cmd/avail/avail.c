/* rocprofv3-avail: options and sub-commands. */
#include "cmd/cmd.h"

#include "base/util.h"
#include "cmd/avail/avail.h"

#include <stdio.h>
#include <string.h>

struct avail_args {
	int64_t device;
	const char *extra_counters;
	enum ws_tri pmc, agent, pc_sampling, fidelity, spm, spm_config;
	bool json;
	struct ws_strv names; /* of info --pmc */
};

/* From `rocprofv3-avail -d 1 -E FILE list`, where they stand before the sub-command. */
static int64_t device_before = -1;
static const char *extra_before;

#define COMMON                                                                                     \
	WS_OPT_I64(struct avail_args, device, 'd', "device", "N", "select GPU N"),                 \
		WS_OPT_STR(struct avail_args, extra_counters, 'E', "extra-counters", "FILE",       \
			   "also read counters from this definition file")

/* Of later versions of AMD's tool; answered with what to do instead. */
#define STREAMING                                                                                  \
	WS_OPT_TRI(struct avail_args, spm, 0, "spm", NULL),                                        \
		WS_OPT_TRI(struct avail_args, spm_config, 0, "spm-config", NULL)

static const struct ws_opt root_opts[] = { COMMON };

static const struct ws_opt list_opts[] = {
	WS_OPT_TRI(struct avail_args, pmc, 0, "pmc", "list counter names; the default"),
	WS_OPT_TRI(struct avail_args, agent, 0, "agent", "list the GPUs"),
	WS_OPT_TRI(struct avail_args, pc_sampling, 0, "pc-sampling",
		   "GPUs that support PC sampling"),
	COMMON,
	STREAMING,
};

static const struct ws_opt info_opts[] = {
	WS_OPT_SETS(struct avail_args, names, 0, "pmc", "NAME",
		    "describe counters: description, block or expression, dimensions. Without "
		    "names: all counters"),
	WS_OPT_TRI(struct avail_args, pc_sampling, 0, "pc-sampling",
		   "describe the PC sampling configurations"),
	WS_OPT_TRI(struct avail_args, fidelity, 0, "fidelity",
		   "with --pmc: also the fidelity on the software GPU"),
	WS_OPT_BOOL(struct avail_args, json, 0, "json",
		    "print everything as one JSON object, for programs"),
	COMMON,
	STREAMING,
};

static void set_defaults(void *values)
{
	struct avail_args *args = values;

	args->device = device_before;
	args->extra_counters = extra_before;
}

/* NULL when there is no such GPU, which has been said then. */
static enum ws_status look(const struct avail_args *args, struct av_machine *machine,
			   int *exit_code, struct ws_err *err)
{
	enum ws_status st = av_machine_look(args->extra_counters, machine, err);
	bool found = args->device < 0;

	for (size_t i = 0; !st && i < machine->n; i++)
		found |= machine->gpus[i].number == (uint64_t)args->device;
	if (!st && !found)
		*exit_code = av_fatal("Invalid device id : %lld", (long long)args->device);
	return st;
}

static enum ws_status check_words(const struct ws_cmd_call *call, const char *name,
				  struct ws_err *err)
{
	const struct avail_args *args = call->values;

	if (args->spm == WS_TRI_YES || args->spm_config == WS_TRI_YES)
		return ws_fail(err, WS_E_UNSUPPORTED,
			       "streaming counters (SPM) are not supported: --pmc shows the "
			       "counters per kernel");
	if (call->rest.n)
		return ws_fail(err, WS_E_USAGE, "unexpected argument '%s': %s takes only options",
			       call->rest.operands[0], name);
	return WS_OK;
}

static enum ws_status show(const struct avail_args *args, struct av_wanted *wanted, int *exit_code,
			   struct ws_err *err)
{
	struct av_machine machine;
	enum ws_status st = look(args, &machine, exit_code, err);

	wanted->device = args->device;
	if (!st && !*exit_code)
		st = args->json ? av_json(&machine, wanted, err) : av_show(&machine, wanted, err);
	av_machine_fini(&machine);
	return st;
}

static enum ws_status run_list(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct avail_args *args = call->values;
	struct av_wanted wanted = {
		.agents = args->agent == WS_TRI_YES,
		.samplers = args->pc_sampling == WS_TRI_YES,
		.counters = args->pmc == WS_TRI_YES ||
			    (!args->pmc && !args->agent && !args->pc_sampling),
	};
	enum ws_status st = check_words(call, "list", err);

	return st ? st : show(args, &wanted, exit_code, err);
}

static enum ws_status run_info(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct avail_args *args = call->values;
	struct av_wanted wanted = {
		.agents = !args->names.n && args->pc_sampling == WS_TRI_UNSET &&
			  args->fidelity != WS_TRI_YES,
		.counters = args->names.n || args->fidelity == WS_TRI_YES,
		.samplers = args->pc_sampling == WS_TRI_YES,
		.details = true,
		.fidelity = args->fidelity == WS_TRI_YES,
	};
	struct ws_strv names = { .max_n = 65536 };
	enum ws_status st = check_words(call, "info", err);

	/* NULL stands before each occurrence. */
	for (size_t i = 0; i < args->names.n && !st; i++)
		if (args->names.at[i])
			st = ws_vec_push(&names, args->names.at[i], err);
	wanted.names = names.at;
	wanted.n_names = names.n;
	if (!st)
		st = show(args, &wanted, exit_code, err);
	ws_vec_fini(&names);
	return st;
}

static enum ws_status run_check(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct avail_args *args = call->values;
	struct av_machine machine;
	enum ws_status st;

	if (!call->rest.n) {
		*exit_code = av_fatal("Provide counter to check");
		return WS_OK;
	}
	st = look(args, &machine, exit_code, err);
	if (!st && !*exit_code)
		st = av_check(&machine, args->device, call->rest.operands, (size_t)call->rest.n,
			      exit_code, err);
	av_machine_fini(&machine);
	return st;
}

static const struct ws_cmd list_cmd = {
	.name = "list",
	.summary = "list counters, GPUs, or GPUs that support PC sampling",
	.usage = "[options]",
	.opts = { list_opts, WS_ARRAY_LEN(list_opts) },
	.values_bytes = sizeof(struct avail_args),
	.set_defaults = set_defaults,
	.only_prints = true,
	.run = run_list,
};

static const struct ws_cmd info_cmd = {
	.name = "info",
	.summary = "describe counters, GPUs and PC sampling configurations",
	.usage = "[options]",
	.opts = { info_opts, WS_ARRAY_LEN(info_opts) },
	.values_bytes = sizeof(struct avail_args),
	.set_defaults = set_defaults,
	.only_prints = true,
	.run = run_info,
};

static const struct ws_opt check_opts[] = { COMMON };

static const struct ws_cmd check_cmd = {
	.name = "pmc-check",
	.summary = "check whether counters can be collected together",
	.usage = "[options] NAME[:device=N[,device=N]...]...",
	.about = "Checks the whole set: succeeds if one pass can count all of it.",
	.opts = { check_opts, WS_ARRAY_LEN(check_opts) },
	.values_bytes = sizeof(struct avail_args),
	.set_defaults = set_defaults,
	.only_prints = true,
	.run = run_check,
};

/* Options first, then a sub-command. Alone it lists the counters: AMD's prints nothing at all, which
 * is no answer to what its own guides have people type it for. */
static enum ws_status run_root(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct avail_args *args = call->values;

	if (!call->rest.n)
		return show(args, &(struct av_wanted){ .counters = true }, exit_code, err);
	/* Options stand in front of the command: without them we would not be here. */
	if (args->device < 0 && !args->extra_counters)
		return ws_fail(err, WS_E_USAGE, "option '-d': GPUs are numbered from 0");
	device_before = args->device;
	extra_before = args->extra_counters;
	*exit_code = ws_cmd_main(&cmd_rocprofv3_avail, "wavescope " WS_VERSION, call->rest.n + 1,
				 call->rest.operands - 1);
	return WS_OK;
}

const struct ws_cmd cmd_rocprofv3_avail = {
	.name = "rocprofv3-avail",
	.summary = "list the counters, and check which can be collected together",
	.usage = "[-d N] [COMMAND] [options]",
	.about =
		"Without a command it lists the counter names. Shows the GPUs that a program would "
		"see, those of the machine or software GPUs (WAVESCOPE_GPU), and their counters.",
	.opts = { root_opts, WS_ARRAY_LEN(root_opts) },
	.order = WS_OPT_FIRST,
	.values_bytes = sizeof(struct avail_args),
	.set_defaults = set_defaults,
	.subs = (const struct ws_cmd *const[]){ &list_cmd, &info_cmd, &check_cmd, NULL },
	.run = run_root,
};
