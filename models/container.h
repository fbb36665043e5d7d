/*
 * container: docker or podman as the carrier of runs, and images that `madengine build` makes.
 *
 * The command lines are AMD's. They are run by bash, so that additional_docker_run_options may
 * be written as in a shell, and each stands in the log of the run as it can be typed again.
 *
 * On a machine without a GPU the container has no /dev/kfd. It gets the folder that wavescope is
 * installed in at /opt/wavescope, read-only, and every command runs under `wavescope run`. The
 * image must have what wavescope itself needs (see docs/madengine-cluster.md); start says
 * what is missing.
 */
#ifndef WS_MODELS_CONTAINER_H
#define WS_MODELS_CONTAINER_H

#include "base/str.h"
#include "models/run.h"

#include <stdbool.h>

struct gpu_agents;

/*
 * "docker", else "podman": the first that is in PATH and answers; NULL: none does.
 * MAD_CONTAINER_ENGINE chooses one of them, or "none". Looked up once.
 */
const char *mdl_container_engine(void);

/* An entry whose docker_image is not empty, on @engine. */
struct mdl_carrier *mdl_carrier_container(const char *engine, struct ws_arena *arena);

/* Where wavescope is in a container on a machine without a GPU. */
#define MDL_CONTAINER_PREFIX "/opt/wavescope"

/* The name of the container of an image: one per node of a job on this machine. In @arena. */
const char *mdl_container_name(const char *image, struct ws_arena *arena);
/*
 * Appends the command line that starts the container of @job. @present: the GPUs of the machine,
 * as the driver lists them. @prefix: the folder of wavescope for a machine without one.
 */
enum ws_status mdl_container_line(const char *engine, const struct mdl_job *job, const char *name,
				  const struct gpu_agents *present, const char *prefix,
				  struct ws_buf *out, struct ws_err *err);

/* ---- images ---- */

struct mdl_build_options {
	const char *root; /* folder of the definitions */
	const char *registry;
	const char *use_image;    /* no build: this image, "auto" the model's own; NULL: build */
	const char *target_archs; /* comma list; NULL: this machine's */
	bool no_cache;            /* --clean-docker-cache */
	bool live_output;
};

/*
 * Builds the images of @model (one per dockerfile that fits the context) and adds them to
 * @manifest. Logs are <model>_<dockerfile>.build.live.log. Failure: exit code 2.
 */
enum ws_status mdl_container_build(const char *engine, const struct mdl_model *model,
				   const struct ws_doc *context,
				   const struct mdl_build_options *options, struct ws_doc *manifest,
				   struct ws_arena *arena, struct ws_err *err);

/* The name of @image in @registry. In @arena. */
const char *mdl_registry_image(const char *registry, const char *image, struct ws_arena *arena);

#endif
