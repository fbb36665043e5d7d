/*
 * options: the settings of one run, and the table they come from.
 *
 * Values of the command line, of input files and of the environment all end in one
 * struct rp_args, field by field; unset is a state of its own in each kind.
 */
#ifndef WS_CMD_ROCPROFV3_OPTIONS_H
#define WS_CMD_ROCPROFV3_OPTIONS_H

#include "base/arena.h"
#include "base/opt.h"
#include "cmd/rocprofv3/option_table.h"

#include <stdbool.h>
#include <stdint.h>

#define RP_GROUP(heading)
#define RP_FLAG(field, ...) bool field;
#define RP_TRI(field, ...) enum ws_tri field;
#define RP_STR(field, ...) const char *field;
#define RP_MANY(field, ...) struct ws_strv field;
#define RP_ALSO(kind, ...)
struct rp_args {
	RP_OPTION_TABLE(RP_GROUP, RP_FLAG, RP_TRI, RP_STR, RP_STR, RP_MANY, RP_MANY, RP_MANY,
			RP_ALSO)
	/* Input files only. */
	struct ws_strv pmc_groups;      /* as SETS: NULL before each group */
	const char *pmc_group_interval; /* dispatches per group */
};
#undef RP_GROUP
#undef RP_FLAG
#undef RP_TRI
#undef RP_STR
#undef RP_MANY
#undef RP_ALSO

#define RP_COUNT_ROW(...) +1
enum {
	RP_N_ROWS = RP_OPTION_TABLE(RP_COUNT_ROW, RP_COUNT_ROW, RP_COUNT_ROW, RP_COUNT_ROW,
				    RP_COUNT_ROW, RP_COUNT_ROW, RP_COUNT_ROW, RP_COUNT_ROW,
				    RP_COUNT_ROW)
};
extern const struct ws_opt rp_rows[RP_N_ROWS];

extern const struct ws_opts rp_opts;      /* what a person types */
extern const struct ws_opts rp_file_opts; /* rows that exist in input files only */

/* The environment variable that presets row @i of rp_opts, without ROCPROF_; NULL: none. */
const char *rp_opt_variable(size_t i);

/* A text that was given and is not empty: -d "" is the same as no -d. */
static inline bool rp_given(const char *text)
{
	return text && *text;
}

/* Whether the field of @opt has a value. */
bool rp_is_set(const struct ws_opt *opt, const struct rp_args *args);

/* What the ROCPROF_ variables say, into a zeroed @args; texts live in @arena. */
enum ws_status rp_from_environment(struct rp_args *args, struct ws_arena *arena,
				   struct ws_err *err);
void rp_args_fini(struct rp_args *args); /* frees the lists */

/* Groups of services to services: kokkos, sys, runtime, hip, hsa, kfd; only what is unset. */
void rp_expand(struct rp_args *args);

#endif
