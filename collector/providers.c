/*
 * providers: who is in this collector, in the order they are told things.
 *
 * The references are weak: a collector built where a provider cannot be (no headers
 * for it) has a NULL there.
 */
#include "collector/collector_priv.h"

#pragma weak ws_provider_hsa
#pragma weak ws_provider_hip
#pragma weak ws_provider_roctx
#pragma weak ws_provider_rccl

extern const struct ws_provider ws_provider_hsa, ws_provider_hip, ws_provider_roctx,
	ws_provider_rccl;

const struct ws_provider *const ws_providers[WS_PROVIDERS] = {
	&ws_provider_hsa,
	&ws_provider_hip,
	&ws_provider_roctx,
	&ws_provider_rccl,
};
