/* The GPUs and the ROCm of this machine, as far as runs need to know. */
#include "models/run.h"

#include "base/file.h"
#include "base/path.h"
#include "gpu/model.h"
#include "launch/inject.h"

#include <stdio.h>
#include <stdlib.h>

/* As the driver names it; else the model, where the table has one. */
static const char *product(const struct gpu_agent *gpu)
{
	return *gpu->product || !gpu->model ? gpu->product : gpu->model->model;
}

/* ROCM_PATH, else /opt/rocm, else where distributions have it. */
static const char *find_rocm(void)
{
	const char *path = getenv("ROCM_PATH");

	if (path && *path)
		return path;
	return ws_path_exists("/opt/rocm") ? "/opt/rocm" : "/usr";
}

enum ws_status mdl_machine_look(struct ws_arena *arena, struct mdl_machine *out_machine,
				struct ws_err *err)
{
	static struct gpu_agents gpus; /* too large for the stack */
	char path[PATH_MAX], line[128];
	enum ws_status st = launch_inject_gpus(&gpus, err);

	if (st)
		return st;
	*out_machine = (struct mdl_machine){
		.n_gpus = gpus.n,
		.architecture = gpus.n ? gpus.at[0].arch : "",
		.product = gpus.n ? product(&gpus.at[0]) : "",
		.hip_version = "",
		.rocm_path = find_rocm(),
		.simulated = gpus.soft,
	};
	snprintf(path, sizeof(path), "%s/.info/version", out_machine->rocm_path);
	if (ws_file_line(path, line, sizeof(line)))
		out_machine->hip_version = ws_arena_strdup(arena, line);
	return out_machine->hip_version ? WS_OK : ws_fail(err, WS_E_NOMEM, "out of memory");
}
