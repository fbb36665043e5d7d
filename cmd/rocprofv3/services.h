/*
 * services: from options to what is asked of the collector, and to the ledger's lines.
 */
#ifndef WS_CMD_ROCPROFV3_SERVICES_H
#define WS_CMD_ROCPROFV3_SERVICES_H

#include "capture/record.h"
#include "cmd/rocprofv3/options.h"
#include "collector/config.h"

#include <stdbool.h>
#include <stdint.h>

/* One thing that can be asked for. */
struct rp_service {
	size_t field;        /* of struct rp_args; an enum ws_tri */
	int service;         /* enum col_service; -1: the collector has none for it */
	int domain;          /* enum cap_domain; -1: its records are not defined */
	const char *missing; /* what it is, when nothing here records it; NULL: something does */
	const char *method;  /* of PC sampling; NULL: any */
};
extern const struct rp_service rp_services[];
extern const size_t rp_n_services;

bool rp_wants(const struct rp_args *args, const struct rp_service *service);
uint32_t rp_service_bits(const struct rp_args *args); /* COL_SERVICE_BIT()s */

/* Things besides tracing that were asked for and that nothing here provides, one by one. */
const char *rp_missing(const struct rp_args *args, size_t i); /* NULL after the last */

/* When nothing that was asked for is provided here: the first of it. Else NULL. */
const char *rp_all_missing(const struct rp_args *args);

/* How many trace options are on. (AMD's tool counts --group-by-queue, which records nothing.) */
unsigned rp_n_enabled(const struct rp_args *args);

/* Times, flags and limits; @dir is set by the caller. */
enum ws_status rp_collect_config(const struct rp_args *args, struct col_collect_config *out_config,
				 struct ws_err *err);

#endif
