#include "cmd/madengine/run.h"

#include "models/manifest.h"

static const struct ws_opt opts[] = {
	WS_OPT_GROUP("What"),
	WS_OPT_MANY(struct mad_run_args, tags, 't', "tags", "TAG",
		    "models with these names or tags, scope/tag, tag:key=value; repeatable, commas "
		    "are fine"),
	WS_OPT_STR(struct mad_run_args, manifest_file, 'm', "manifest-file", "FILE",
		   "run what 'madengine build' wrote; without it, build and run"),
	WS_OPT_STR(struct mad_run_args, additional_context, 'c', "additional-context", "JSON",
		   "tools, environment, target; replaces keys of the file. A Python dict is fine"),
	WS_OPT_STR(struct mad_run_args, additional_context_file, 'f', "additional-context-file",
		   "FILE", "the same from a JSON file; presets are found by their name"),
	WS_OPT_STR(struct mad_run_args, tools_config, 0, "tools-config", "FILE",
		   "definitions of tools; default: scripts/common/tools.json"),
	WS_OPT_STR(struct mad_run_args, data_config, 0, "data-config", "FILE",
		   "where data is; default: data.json"),
	WS_OPT_STR(struct mad_run_args, force_mirror_local, 0, "force-mirror-local", "DIR",
		   "folder for local copies of data"),
	WS_OPT_GROUP("How"),
	WS_OPT_I64(struct mad_run_args, timeout, 0, "timeout", "SECONDS",
		   "limit for each model; 0: none; default: the model's own, or 7200"),
	WS_OPT_BOOL(struct mad_run_args, live_output, 'l', "live-output",
		    "print the log while the model runs"),
	WS_OPT_BOOL(struct mad_run_args, skip_model_run, 0, "skip-model-run",
		    "do everything but the model: status SKIPPED"),
	WS_OPT_BOOL(struct mad_run_args, keep_alive, 0, "keep-alive",
		    "leave the container and the run folder"),
	WS_OPT_BOOL(struct mad_run_args, keep_model_dir, 0, "keep-model-dir",
		    "leave the run folder"),
	WS_OPT_BOOL(struct mad_run_args, ignore_deprecated, 0, "ignore-deprecated",
		    "run models that are marked deprecated"),
	WS_OPT_BOOL(struct mad_run_args, disable_skip_gpu_arch, 0, "disable-skip-gpu-arch",
		    "run models also on architectures that they list in skip_gpu_arch"),
	WS_OPT_BOOL(struct mad_run_args, sys_env_details, 0, "sys-env-details",
		    "write <model>_env.csv; default: yes"),
	WS_OPT_STR(struct mad_run_args, registry, 'r', "registry", "HOST",
		   "registry of the images"),
	WS_OPT_BOOL(struct mad_run_args, clean_docker_cache, 0, "clean-docker-cache",
		    "build images without the cache"),
	WS_OPT_GROUP("Output"),
	WS_OPT_STR(struct mad_run_args, output, 'o', "output", "FILE",
		   "results, one row per run; default: perf.csv"),
	WS_OPT_STR(struct mad_run_args, summary_output, 's', "summary-output", "FILE",
		   "a summary as JSON"),
	WS_OPT_STR(struct mad_run_args, manifest_output, 0, "manifest-output", "FILE",
		   "the manifest of build and run; default: build_manifest.json"),
	WS_OPT_BOOL(struct mad_run_args, verbose, 'v', "verbose", "print what is done"),
	WS_OPT_BOOL(struct mad_run_args, cleanup_perf, 0, "cleanup-perf", NULL),
};

static void set_defaults(void *values)
{
	struct mad_run_args *args = values;

	args->timeout = -1;
	args->manifest_output = MDL_MANIFEST_FILE;
	args->output = "perf.csv";
	args->data_config = "data.json";
	args->sys_env_details = true;
}

const struct ws_cmd mad_run_cmd = {
	.name = "run",
	.summary = "run models, with the tools that the context names",
	.usage = "--tags TAG... [options]",
	.about = "Runs each selected model in a folder of its own (run_directory), with the "
		 "prefixes, "
		 "variables and scripts of the tools around it. The log is "
		 "<model>_<dockerfile>.run.live.log; results are appended to perf.csv.",
	.notes = "Examples:\n"
		 "  madengine run --tags dummy_prof\n"
		 "  madengine run --tags dummy_prof \\\n"
		 "      --additional-context-file rocprofv3_lightweight.json\n"
		 "  madengine run --tags dummy_prof \\\n"
		 "      --additional-context '{\"tools\": [{\"name\": \"rocprofv3_compute\"}]}'",
	.opts = { opts, WS_ARRAY_LEN(opts) },
	.values_bytes = sizeof(struct mad_run_args),
	.set_defaults = set_defaults,
	.run = mad_run,
};
