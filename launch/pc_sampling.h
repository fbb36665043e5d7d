/*
 * pc_sampling: whether the GPUs of this machine can be sampled, before a program is started.
 *
 * Hardware needs three things: a GPU with the method, AMD's kernel driver with its request for PC sampling (Linux
 * itself has none), and a runtime (ROCr) with hsa_ven_amd_pcs_*. The driver is asked by a query that changes nothing; of
 * the runtime the symbols are read, because loading it runs code.
 */
#ifndef WS_LAUNCH_PC_SAMPLING_H
#define WS_LAUNCH_PC_SAMPLING_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* What a user asks for. */
struct launch_pc_request {
	const char *method; /* "stochastic", "host_trap" */
	uint64_t interval;  /* cycles or microseconds */
	bool counts;        /* counters are wanted in the same run */
	/* stall reasons on software GPUs whose hardware has none, for a report of our own */
	bool is_report;
};

/* WS_E_UNSUPPORTED: the message says what is missing, and what to do. */
enum ws_status launch_check_pc_sampling(const struct launch_pc_request *request,
					struct ws_err *err);
/* Of --pc-report: "stochastic" where GPUs have it, or are modelled; else "host_trap". */
const char *launch_pc_best_method(void);

/* On hardware: the reason why driver and runtime here cannot sample; NULL: they can. */
const char *launch_pc_obstacle(void);

#endif
