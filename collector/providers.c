/*
 * providers: the providers of this collector, in the order in which they are called.
 *
 * The references are weak: a collector built where a provider cannot be (no headers
 * for it) has a NULL there.
 */
#include "collector/collector_priv.h"

#pragma weak col_provider_hsa
#pragma weak col_provider_hip
#pragma weak col_provider_roctx
#pragma weak col_provider_rccl
#pragma weak col_provider_sample
#pragma weak col_provider_monitor
#pragma weak col_provider_instrument

extern const struct col_provider col_provider_hsa, col_provider_hip, col_provider_roctx,
	col_provider_rccl, col_provider_regions, col_provider_comm, col_provider_instrument,
	col_provider_sample, col_provider_monitor;

const struct col_provider *const col_providers[COL_PROVIDERS] = {
	&col_provider_hsa,
	&col_provider_hip,
	&col_provider_roctx,
	&col_provider_rccl,
	&col_provider_regions,
	&col_provider_comm,
	&col_provider_instrument,
	/* last: in the child of a fork the first opens the capture, the second starts a thread */
	&col_provider_sample,
	&col_provider_monitor,
};
