/*
 * services: from options to the collector's services, and to the lines of the ledger.
 */
#ifndef WS_CMD_ROCPROFV3_SERVICES_H
#define WS_CMD_ROCPROFV3_SERVICES_H

#include "capture/record.h"
#include "cmd/rocprofv3/options.h"
#include "collector/config.h"
#include "output/ledger.h"

#include <stdbool.h>
#include <stdint.h>

/* One thing that can be requested. */
struct rp_service {
	size_t field;        /* of struct rp_args; an enum ws_tri */
	int service;         /* enum col_service; -1: the collector has none for it */
	const char *missing; /* what it is, when it is not supported; NULL: it is */
	const char *method;  /* of PC sampling; NULL: any */
};
extern const struct rp_service rp_services[];
extern const size_t rp_n_services;

bool rp_wants(const struct rp_args *args, const struct rp_service *service);
uint32_t rp_service_bits(const struct rp_args *args); /* COL_SERVICE_BIT()s */

/* Requested besides tracing, and not supported: one by one. */
const char *rp_missing(const struct rp_args *args, size_t i); /* NULL after the last */

#define RP_REQUESTS_MAX 64u
/* Everything that @args request, for the ledger; @asked is the same before groups were opened. */
size_t rp_requests(const struct rp_args *args, const struct rp_args *asked,
		   struct output_ledger_request out_requests[RP_REQUESTS_MAX]);

/* When nothing that was requested is supported: the first of it. Else NULL. */
const char *rp_all_missing(const struct rp_args *args);

/* How many trace options are on. (AMD's tool counts --group-by-queue, which records nothing.) */
unsigned rp_n_enabled(const struct rp_args *args);

/* Times, flags and limits; @dir is set by the caller. */
enum ws_status rp_collect_config(const struct rp_args *args, struct col_collect_config *out_config,
				 struct ws_err *err);

#endif
