#include "cmd/madengine/madengine.h"

#include "cmd/cmd.h"

static const struct ws_cmd *const subs[] = {
	&mad_run_cmd,
	&mad_build_cmd,
	&mad_discover_cmd,
	&mad_lint_profile_cmd,
	&mad_report_cmd,
	&mad_database_cmd,
	NULL,
};

const struct ws_cmd cmd_madengine = {
	.name = "madengine",
	.summary = "run models by tag, with profiling tools around them",
	.usage = "COMMAND [options]",
	.about = "Selects models of models.json by tag, runs each with the tools that the "
		 "additional context names, reads its performance from the log, and appends a row "
		 "to perf.csv. A run whose tool recorded nothing is a failed run.",
	.notes =
		"A model runs in a container if docker or podman is installed and the model has a\n"
		"dockerfile, else as a process on this machine. A context with slurm or k8s sends\n"
		"it to a cluster.\n"
		"\n"
		"Environment:\n"
		"  MODEL_DIR             folder with models.json, scripts and docker; default: "
		"the\n"
		"                        working folder, and without models there the samples\n"
		"  MAD_CONTAINER_ENGINE  docker, podman, or none: processes on this machine\n"
		"  MAD_LAUNCHER          launcher of ranks if no context names one\n"
		"  WAVESCOPE_GPU         software GPUs, as for wavescope run\n"
		"\n"
		"Exit codes:\n"
		"  0  every model succeeded or was skipped\n"
		"  1  another error, or interrupted\n"
		"  2  an image could not be built\n"
		"  3  at least one model failed\n"
		"  4  wrong options, tags or context\n"
		"\n"
		"'madengine COMMAND --help' describes a command.",
	.usage_exit = MAD_EXIT_ARGS,
	.subs = subs,
};
