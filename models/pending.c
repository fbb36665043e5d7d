/* Until the parts for clusters and containers are here. */
#include "models/container.h"
#include "models/k8s.h"

const char *mdl_container_engine(void)
{
	return NULL;
}

struct mdl_carrier *mdl_carrier_container(const char *engine, struct ws_arena *arena)
{
	return NULL;
}

enum ws_status mdl_container_build(const char *engine, const struct mdl_model *model,
				   const struct ws_doc *context,
				   const struct mdl_build_options *options, struct ws_doc *manifest,
				   struct ws_arena *arena, struct ws_err *err)
{
	return ws_fail(err, WS_E_UNSUPPORTED, "images are not supported in this build");
}

enum ws_status mdl_k8s_run(const struct mdl_entry *entry, const struct ws_doc *manifest,
			   const struct ws_doc *context, const struct mdl_chain *chain,
			   const char *root, const struct mdl_run_options *options,
			   struct ws_arena *arena, struct mdl_result *out_result,
			   struct ws_err *err)
{
	return ws_fail(err, WS_E_UNSUPPORTED, "Kubernetes is not supported in this build");
}
