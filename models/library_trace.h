/*
 * library_trace: calls into AMD's libraries, counted from what the libraries log, as library_trace.csv.
 *
 *	jobid,created_date,model,library,config,calls
 *	0,2026-11-16 08:40:12,dummy,rocblas,./rocblas-bench -f gemm_ex ...,12
 *
 * A mode turns on the log of one library. Each distinct line that it then prints is a row, with the
 * number of times it was printed. Such a line is taken out of the program's output; all others pass.
 *
 *	modes = mdl_library_modes(getenv);
 *	mdl_library_env(modes, &env, err);                 for the program
 *	...
 *	mdl_library_trace_feed(trace, bytes, n, &pass);    its output; pass is what is left of it
 *	mdl_library_trace_write(trace, "library_trace.csv", err);
 *
 * Threads  one at a time.
 * Memory   grows with the number of different lines, up to MDL_LIBRARY_BYTES_MAX; the calls that
 *          have no place any more are one row per library, MDL_LIBRARY_OTHERS.
 */
#ifndef WS_MODELS_LIBRARY_TRACE_H
#define WS_MODELS_LIBRARY_TRACE_H

#include "base/env.h"
#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MDL_LIBRARY_BYTES_MAX (256u << 20)
#define MDL_LIBRARY_LINE_MAX (1u << 20) /* a longer line passes */
#define MDL_LIBRARY_OTHERS "(other calls)"

/* clang-format off */
/* mode, the variable that requests it */
#define MDL_LIBRARY_MODE_TABLE(X)                   \
	X(ROCBLAS,   "rocblas_trace",   "ROCBLAS_TRACE")    \
	X(HIPBLASLT, "hipblaslt_trace", "HIPBLASLT_TRACE")  \
	X(MIOPEN,    "miopen_trace",    "MIOPEN_TRACE")     \
	X(TENSILE,   "tensile_trace",   "TENSILE_TRACE")    \
	X(RCCL,      "rccl_trace",      "RCCL_TRACE")
/* clang-format on */

enum mdl_library_mode {
#define MDL_LIBRARY_MODE_ROW(id, name, variable) MDL_LIBRARY_##id,
	MDL_LIBRARY_MODE_TABLE(MDL_LIBRARY_MODE_ROW)
#undef MDL_LIBRARY_MODE_ROW
		MDL_LIBRARY_MODES
};
#define MDL_LIBRARY_BIT(ID) (1u << MDL_LIBRARY_##ID)

/* Set in the program's environment: a trace inside of a trace leaves the counting to the outer one. */
#define MDL_LIBRARY_INSIDE "WAVESCOPE_LIBRARY_TRACE"

/* The modes of a comma-separated list of names; an unknown one is WS_E_USAGE. */
enum ws_status mdl_library_modes_parse(const char *list, uint32_t *out_modes, struct ws_err *err);
/* Those whose variable is set and not empty, and those in TRACE_MODE. */
enum ws_status mdl_library_modes_env(const struct ws_env *env, uint32_t *out_modes,
				     struct ws_err *err);
/* What makes the libraries log; a level that the user set for hipBLASLt would switch that off. */
enum ws_status mdl_library_env(uint32_t modes, struct ws_env *env, struct ws_err *err);

/*
 * Takes nested prefixes out of a command, so that several traces act as one. Changes @argv, which
 * stays terminated.
 */
void mdl_library_unnest(char **argv);

struct mdl_library_trace; /* layout is library_trace.c's business */

enum ws_status mdl_library_trace_create(uint32_t modes, struct mdl_library_trace **out_trace,
					struct ws_err *err);
void mdl_library_trace_destroy(struct mdl_library_trace *trace); /* NULL is fine */

/* Appends to @pass what is no line of a library. The end of the input may be kept for the next call. */
void mdl_library_trace_feed(struct mdl_library_trace *trace, const char *bytes, size_t n,
			    struct ws_buf *pass);
/* The program was silent for a while, or has ended: what is kept passes, unless it may be a line. */
void mdl_library_trace_flush(struct mdl_library_trace *trace, bool at_end, struct ws_buf *pass);

/* Lines counted so far. */
uint64_t mdl_library_trace_n_calls(const struct mdl_library_trace *trace);
/* Replaces the file whole. jobid and model are JENKINS_BUILD_NUMBER and MAD_MODEL_NAME of @env. */
enum ws_status mdl_library_trace_write(const struct mdl_library_trace *trace,
				       const struct ws_env *env, const char *path,
				       struct ws_err *err);

#endif
