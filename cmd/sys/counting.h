/*
 * counting: ROCM_EVENTS, which is to rocprof-sys what --pmc is to rocprofv3.
 */
#ifndef WS_CMD_SYS_COUNTING_H
#define WS_CMD_SYS_COUNTING_H

#include "cmd/rocprofv3/options.h"
#include "settings/values.h"

bool sys_counts(const struct set_values *values);

/* The same request as options of rocprofv3. ws_vec_fini(&out_args->pmc) afterwards. */
enum ws_status sys_count_args(const struct set_values *values, struct ws_arena *arena,
			      struct rp_args *out_args, struct ws_err *err);

#endif
