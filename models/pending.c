/* Until Kubernetes is here. */
#include "models/k8s.h"

enum ws_status mdl_k8s_run(const struct mdl_entry *entry, const struct ws_doc *manifest,
			   const struct ws_doc *context, const struct mdl_chain *chain,
			   const char *root, const struct mdl_run_options *options,
			   struct ws_arena *arena, struct mdl_result *out_result,
			   struct ws_err *err)
{
	return ws_fail(err, WS_E_UNSUPPORTED, "Kubernetes is not supported in this build");
}
