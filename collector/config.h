/*
 * config: what the launcher asks of the collector, as one environment variable.
 *
 *	WAVESCOPE_COLLECT=1;dir=/tmp/run;services=kernel,memory-copy;period=1000000000:5000000:3
 *
 * The text is a version, then key=value words separated by ';'. In values, the
 * set has its zero value. An unknown key or service is skipped and counted, so that
 * an older collector works under a newer launcher and the difference can be told.
 *
 *	dir          folder for capture files, absolute; it exists. Required
 *	services     comma-separated names of WS_SERVICE_TABLE
 *	flags        comma-separated names of WS_COLLECT_FLAG_TABLE
 *	period       delay:duration:repeat in nanoseconds, comma-separated; repeat 0: for ever
 *	max          ceiling for one capture file, in bytes
 *	pc-interval  between PC samples: microseconds for host traps, cycles for stochastic ones
 *	log          error, warn, info, debug or trace
 *
 * Each process that finds the variable in its environment opens a file of its own in
 * the folder: WS_CAPTURE_NAME with its pid and the first free number (a pid can come
 * twice: by exec, or in another container). Programs that the user's program starts
 * inherit the variable, and that is how they are followed.
 *
 * Threads  pure functions.
 * Memory   everything is in the struct; no malloc, no stdio, no locale: the parser
 *          runs in the library's constructor, inside somebody else's program.
 * Failure  parse: false, and out_config->wrong says in a few words why; nothing is
 *          then to be collected.  print: false when there is not enough room.
 */
#ifndef WS_COLLECTOR_CONFIG_H
#define WS_COLLECTOR_CONFIG_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WS_COLLECT_VARIABLE "WAVESCOPE_COLLECT"
#define WS_COLLECT_LIBRARY "libwavescope-collector.so"

/* "%u-%u.wcap" without printf: pid, then the number; see ws_capture_name(). */
#define WS_CAPTURE_SUFFIX ".wcap"
/* Left in the place of a capture that could not be made: an empty file takes no room. */
#define WS_UNRECORDED_SUFFIX ".unrecorded"

/* clang-format off */
/*
 * What can be asked for: identifier, name in the text, domain of its records (the
 * ledger's line: WS_DOMAIN_* of capture/record.h; NONE: records of its own kind are
 * not defined yet).
 */
#define WS_SERVICE_TABLE(X)                                          \
	X(HIP_RUNTIME,        "hip-runtime",        HIP_API)           \
	X(HIP_COMPILER,       "hip-compiler",       HIP_API)           \
	X(HSA_CORE,           "hsa-core",           HSA_API)           \
	X(HSA_AMD,            "hsa-amd",            HSA_API)           \
	X(HSA_IMAGE,          "hsa-image",          HSA_API)           \
	X(HSA_FINALIZER,      "hsa-finalizer",      HSA_API)           \
	X(MARKER,             "marker",             MARKER_API)        \
	X(KERNEL,             "kernel",             KERNEL_DISPATCH)   \
	X(MEMORY_COPY,        "memory-copy",        MEMORY_COPY)       \
	X(MEMORY_ALLOCATION,  "memory-allocation",  MEMORY_ALLOCATION) \
	X(SCRATCH_MEMORY,     "scratch-memory",     SCRATCH_MEMORY)    \
	X(RCCL,               "rccl",               RCCL_API)          \
	X(ROCDECODE,          "rocdecode",          ROCDECODE_API)     \
	X(ROCJPEG,            "rocjpeg",            ROCJPEG_API)       \
	/* which, and of what, is in the file that count/request.h describes */ \
	X(COUNTERS,           "counters",           COUNTER_COLLECTION) \
	X(PC_HOST_TRAP,       "pc-host-trap",       PC_SAMPLING_HOST_TRAP) \
	X(PC_STOCHASTIC,      "pc-stochastic",      PC_SAMPLING_STOCHASTIC)

#define WS_COLLECT_FLAG_TABLE(X)                                                           \
	/* keep the stack of roctx ranges per thread, and name kernels by it */            \
	X(KERNEL_RENAME,     "kernel-rename")                                              \
	/* recording starts switched off; roctxProfilerResume switches it on */            \
	X(SELECTED_REGIONS,  "selected-regions")                                           \
	/* nested pauses and resumes are counted */                                        \
	X(REGION_REF_COUNT,  "region-ref-count")                                           \
	/* no stream ids: all are 0 */                                                     \
	X(GROUP_BY_QUEUE,    "group-by-queue")                                             \
	/* keep the images of code objects: PC samples need them */                        \
	X(CODE_BYTES,        "code-bytes")                                                 \
	/* do not record programs that the program starts */                               \
	X(NO_CHILDREN,       "no-children")                                                \
	/* the GPU is the software GPU: its times are not hardware's */                    \
	X(SOFTGPU,           "softgpu")
/* clang-format on */

enum ws_service {
#define WS_SERVICE_ROW(id, name, domain) WS_SERVICE_##id,
	WS_SERVICE_TABLE(WS_SERVICE_ROW)
#undef WS_SERVICE_ROW
		WS_SERVICE_COUNT
};
#define WS_SERVICE_BIT(NAME) (1u << WS_SERVICE_##NAME)

enum ws_collect_flag_index {
#define WS_COLLECT_FLAG_ROW(id, name) WS_COLLECT_##id##_INDEX,
	WS_COLLECT_FLAG_TABLE(WS_COLLECT_FLAG_ROW)
#undef WS_COLLECT_FLAG_ROW
		WS_COLLECT_FLAG_COUNT
};
#define WS_COLLECT_FLAG(NAME) (1u << WS_COLLECT_##NAME##_INDEX)

enum ws_collect_log {
	WS_COLLECT_LOG_NONE, /* not set: warnings */
	WS_COLLECT_LOG_ERROR,
	WS_COLLECT_LOG_WARN,
	WS_COLLECT_LOG_INFO,
	WS_COLLECT_LOG_DEBUG,
	WS_COLLECT_LOG_TRACE,
	WS_COLLECT_LOG_COUNT
};

struct ws_collect_period {
	uint64_t delay_ns, duration_ns;
	uint64_t repeat; /* 0: until the program ends */
};
#define WS_COLLECT_PERIODS_MAX 64u

struct ws_collect_config {
	char dir[PATH_MAX];
	uint32_t services; /* WS_SERVICE_BIT()s */
	uint32_t flags;    /* WS_COLLECT_FLAG()s */
	uint64_t max_bytes;
	uint64_t pc_interval; /* 0: no samples */
	uint32_t log;         /* enum ws_collect_log */
	uint32_t n_periods;
	struct ws_collect_period periods[WS_COLLECT_PERIODS_MAX];
	uint32_t n_unknown; /* keys and names this version does not know */
	const char *wrong;  /* NULL, or a constant text */
};

/* The largest text that print can make; fits every kernel's limit for one variable. */
#define WS_COLLECT_TEXT_MAX 32768u

bool ws_collect_parse(const char *text, struct ws_collect_config *out_config);
bool ws_collect_print(const struct ws_collect_config *config, char *to, size_t room);

/* "PID-N.wcap" into @to (32 bytes are enough); returns its length. */
size_t ws_capture_name(uint32_t pid, uint32_t n, char *to);

const char *ws_service_name(enum ws_service service);

#endif
