/*
 * container: docker or podman as the carrier of runs, and images that `madengine build` makes.
 */
#ifndef WS_MODELS_CONTAINER_H
#define WS_MODELS_CONTAINER_H

#include "models/run.h"

#include <stdbool.h>

/* "docker", else "podman", as found in PATH; NULL: neither. MAD_CONTAINER_ENGINE chooses ("none"). */
const char *mdl_container_engine(void);

/* An entry whose docker_image is not empty, on @engine. */
struct mdl_carrier *mdl_carrier_container(const char *engine, struct ws_arena *arena);

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

#endif
