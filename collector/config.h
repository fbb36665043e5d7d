/*
 * config: the configuration of the collector, in one environment variable.
 *
 *	WAVESCOPE_COLLECT=1;dir=/tmp/run;services=kernel,memory-copy;period=1000000000:5000000:3
 *
 * The text is a version, then key=value words separated by ';'. In values, '%', ';' and
 * control characters are written as %XX. A key that is missing has its zero value. An
 * unknown key or service is skipped and counted: an older collector works under a newer
 * launcher, and the difference is reported.
 *
 *	dir          folder for capture files, absolute; it exists. Required
 *	services     comma-separated names of COL_SERVICE_TABLE
 *	flags        comma-separated names of COL_COLLECT_FLAG_TABLE
 *	period       delay:duration:repeat in nanoseconds, comma-separated; repeat 0: for ever. With
 *	             ":cpu" behind it the times are of the process's CPU time
 *	max          ceiling for one capture file, in bytes
 *	pc-interval  between PC samples: microseconds for host traps, cycles for stochastic ones
 *	monitor      period:duration:delay in nanoseconds of reading metrics; duration 0: to the end
 *	monitor-what comma-separated names of COL_MONITOR_TABLE
 *	monitor-cpus CPUs whose frequency and load are read: all, or numbers and ranges: 0,4-7
 *	monitor-gpus GPUs, likewise
 *	log          error, warn, info, debug or trace
 *	cputime, realtime, overflow
 *	             call-stack samplers: period:delay:duration:signal:threads. Times are in
 *	             nanoseconds; the period of overflow is a number of events. Duration 0: to
 *	             the end. Signal 0: the default. Threads by number: 0+2-5; empty: all
 *	overflow-event  what overflow counts: type:config:name, the numbers as perf_event_open(2)
 *	             has them. The name, which may contain ':', is for reports
 *	cpu-event    counted beside samples, likewise; once for each event
 *	only, except operations by name: kind:regex. The kind is a number of enum cap_kind, the
 *	             expression a POSIX extended one. Once for each expression
 *	stack-depth  frames of a stack that are recorded; 0: the default
 *
 * Each process that finds the variable in its environment opens a file of its own in
 * the folder: COL_CAPTURE_NAME with its pid and the first free number (a pid can come
 * twice: by exec, or in another container). Programs that the user's program starts
 * inherit the variable, and that is how they are followed.
 *
 * Threads  pure functions.
 * Memory   everything is in the struct; no malloc, no stdio, no locale: the parser
 *          runs in the library's constructor, inside the profiled program.
 * Failure  parse: false, and out_config->wrong says why; nothing is then
 *          collected.  print: false if the buffer is too small.
 */
#ifndef WS_COLLECTOR_CONFIG_H
#define WS_COLLECTOR_CONFIG_H

#include "capture/record.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COL_COLLECT_VARIABLE "WAVESCOPE_COLLECT"
#define COL_COLLECT_LIBRARY "libwavescope-collector.so"

/* "%u-%u.wcap" without printf: pid, then the number; see col_capture_name(). */
#define COL_CAPTURE_SUFFIX ".wcap"
/* Written instead of a capture that could not be created: an empty file needs no space. */
#define COL_UNRECORDED_SUFFIX ".unrecorded"
/* Created by the first of them, which says so on stderr. The launcher counts the others. */
#define COL_COMPLAINED_NAME "complained"

/* clang-format off */
/*
 * The services: identifier, name in the text, domain of its records (the
 * ledger's line: CAP_DOMAIN_* of capture/record.h; NONE: records of its own kind are
 * not defined yet).
 */
#define COL_SERVICE_TABLE(X)                                          \
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
	X(PC_STOCHASTIC,      "pc-stochastic",      PC_SAMPLING_STOCHASTIC) \
	X(CALL_STACKS,        "call-stacks",        CALL_STACK_SAMPLING) \
	X(METRICS,            "metrics",            METRICS)            \
	/* of whole GPUs over time; which is in the same file as for COUNTERS */ \
	X(GPU_COUNTERS,       "gpu-counters",       METRICS)            \
	X(REGIONS,            "regions",            REGIONS)

#define COL_COLLECT_FLAG_TABLE(X)                                                           \
	/* keep the stack of roctx ranges per thread, and name kernels by it */            \
	X(KERNEL_RENAME,     "kernel-rename")                                              \
	/* recording starts switched off; roctxProfilerResume switches it on */            \
	X(SELECTED_REGIONS,  "selected-regions")                                           \
	/* nested pauses and resumes are counted */                                        \
	X(REGION_REF_COUNT,  "region-ref-count")                                           \
	/* no stream ids: all are 0 */                                                     \
	X(GROUP_BY_QUEUE,    "group-by-queue")                                             \
	/* record also the queries of symbols that are made while they are enumerated */  \
	X(SYMBOL_QUERIES,    "symbol-queries")                                             \
	/* keep the images of code objects: PC samples need them */                        \
	X(CODE_BYTES,        "code-bytes")                                                 \
	/* do not record programs that the program starts */                               \
	X(NO_CHILDREN,       "no-children")                                                \
	/* the GPU is the software GPU: its times are not hardware's */                    \
	X(SOFTGPU,           "softgpu")                                                    \
	/* functions of pthreads as regions: mutexes, reader-writer locks, spin locks ... */ \
	X(THREAD_LOCKS,      "thread-locks")                                               \
	X(THREAD_RW_LOCKS,   "thread-rw-locks")                                            \
	X(THREAD_SPIN_LOCKS, "thread-spin-locks")                                          \
	/* ... barriers and joins */                                                       \
	X(THREAD_BARRIERS,   "thread-barriers")                                            \
	X(THREAD_JOIN,       "thread-join")                                                \
	/* all MPI calls as regions; without it only initialization, ranks and sizes */    \
	X(MPI,               "mpi")                                                        \
	/* barriers after MPI_Init and before MPI_Finalize, for the clocks of several nodes */ \
	X(MPI_CLOCKS,        "mpi-clocks")                                                 \
	/* OpenMP constructs as regions */                                                 \
	X(OMPT,              "ompt")
/* clang-format on */

/* clang-format off */
/*
 * Metrics over time (collector/monitor/), in groups that are requested together. Names of
 * GPU groups are those of AMD's ROCPROFSYS_AMD_SMI_METRICS.
 */
#define COL_MONITOR_TABLE(X)                                                               \
	/* memory, context switches, page faults, CPU time */                              \
	X(PROCESS,      "process")                                                         \
	/* bytes that the process read and wrote */                                        \
	X(IO,           "io")                                                              \
	/* of the CPUs of monitor-cpus */                                                  \
	X(CPU_FREQ,     "cpu_freq")                                                        \
	X(CPU_LOAD,     "cpu_load")                                                        \
	/* of the GPUs of monitor-gpus */                                                  \
	X(GPU_BUSY,     "busy")                                                            \
	X(GPU_TEMP,     "temp")                                                            \
	X(GPU_POWER,    "power")                                                           \
	X(GPU_MEMORY,   "mem_usage")                                                       \
	X(GPU_VCN,      "vcn_activity")                                                    \
	X(GPU_JPEG,     "jpeg_activity")                                                   \
	X(GPU_CLOCK,    "clock")
/* clang-format on */

enum col_monitor_group {
#define COL_MONITOR_ROW(id, name) COL_MONITOR_##id,
	COL_MONITOR_TABLE(COL_MONITOR_ROW)
#undef COL_MONITOR_ROW
		COL_MONITOR_COUNT
};
#define COL_MONITOR_BIT(NAME) (1u << COL_MONITOR_##NAME)

enum col_service {
#define COL_SERVICE_ROW(id, name, domain) COL_SERVICE_##id,
	COL_SERVICE_TABLE(COL_SERVICE_ROW)
#undef COL_SERVICE_ROW
		COL_SERVICE_COUNT
};
#define COL_SERVICE_BIT(NAME) (1u << COL_SERVICE_##NAME)
uint32_t col_service_domain(enum col_service service); /* enum cap_domain */

enum col_collect_flag_index {
#define COL_COLLECT_FLAG_ROW(id, name) COL_COLLECT_##id##_INDEX,
	COL_COLLECT_FLAG_TABLE(COL_COLLECT_FLAG_ROW)
#undef COL_COLLECT_FLAG_ROW
		COL_COLLECT_FLAG_COUNT
};
#define COL_COLLECT_FLAG(NAME) (1u << COL_COLLECT_##NAME##_INDEX)

enum col_collect_log {
	COL_COLLECT_LOG_NONE, /* not set: warnings */
	COL_COLLECT_LOG_ERROR,
	COL_COLLECT_LOG_WARN,
	COL_COLLECT_LOG_INFO,
	COL_COLLECT_LOG_DEBUG,
	COL_COLLECT_LOG_TRACE,
	COL_COLLECT_LOG_COUNT
};

struct col_collect_period {
	uint64_t delay_ns, duration_ns;
	uint64_t repeat;   /* 0: until the program ends */
	uint64_t cpu_time; /* 1: of the process's CPU time, else of elapsed time */
};
#define COL_COLLECT_PERIODS_MAX 64u

/* Threads are numbered in the order of their creation; the main thread is 0. */
struct col_thread_range {
	uint32_t first, last; /* both included */
};
#define COL_SAMPLER_RANGES_MAX 64u

/* A source of call-stack samples. */
struct col_sampler_config {
	uint64_t period;                /* nanoseconds; CAP_SAMPLER_OVERFLOW: events; 0: off */
	uint64_t delay_ns, duration_ns; /* duration 0: to the end */
	uint32_t signal;                /* 0: the default, see collector/sample/sample.h */
	uint32_t n_ranges;              /* 0: all threads */
	struct col_thread_range ranges[COL_SAMPLER_RANGES_MAX];
};

#define COL_CPU_EVENT_NAME_MAX 124u
struct col_cpu_event {
	uint64_t config;                   /* perf_event_attr.config */
	uint32_t type;                     /* perf_event_attr.type */
	char name[COL_CPU_EVENT_NAME_MAX]; /* "": no event was chosen */
};
#define COL_CPU_EVENTS_MAX 16u /* beside samples; each is a file descriptor of each thread */

/* Operations of a kind that are recorded, or that are not. */
#define COL_OPS_REGEX_MAX 508u
struct col_ops_filter {
	uint16_t kind; /* enum cap_kind; of markers MARKER_CORE_RANGE_API */
	bool exclude;
	char regex[COL_OPS_REGEX_MAX + 1];
};
#define COL_OPS_FILTERS_MAX 32u

/* Numbers of CPUs or GPUs. */
#define COL_COLLECT_NUMBERS 1024u
struct col_collect_numbers {
	uint64_t all; /* 1: all there are, and no bits */
	uint64_t bits[COL_COLLECT_NUMBERS / 64];
};

static inline bool col_collect_has(const struct col_collect_numbers *numbers, uint32_t n)
{
	return numbers->all || (n < COL_COLLECT_NUMBERS && (numbers->bits[n / 64] >> n % 64 & 1));
}

struct col_collect_monitor {
	uint64_t period_ns; /* 0: no metrics */
	uint64_t duration_ns, delay_ns;
	uint32_t what; /* COL_MONITOR_BIT()s */
	uint32_t zero;
	struct col_collect_numbers cpus, gpus;
};

struct col_collect_config {
	char dir[PATH_MAX];
	uint32_t services; /* COL_SERVICE_BIT()s */
	uint32_t flags;    /* COL_COLLECT_FLAG()s */
	uint64_t max_bytes;
	uint64_t pc_interval; /* 0: no samples */
	uint32_t log;         /* enum col_collect_log */
	uint32_t n_periods;
	struct col_collect_period periods[COL_COLLECT_PERIODS_MAX];
	struct col_sampler_config samplers[CAP_SAMPLER_COUNT];
	struct col_cpu_event overflow_event;
	uint32_t n_cpu_events;
	struct col_cpu_event cpu_events[COL_CPU_EVENTS_MAX];
	uint32_t stack_depth; /* 0: the default */
	uint32_t n_ops_filters;
	struct col_ops_filter ops_filters[COL_OPS_FILTERS_MAX];
	struct col_collect_monitor monitor;
	uint32_t n_unknown; /* keys and names this version does not know */
	const char *wrong;  /* NULL, or a constant text */
};

/* The largest text that print can make; fits every kernel's limit for one variable. */
#define COL_COLLECT_TEXT_MAX 98304u

bool col_collect_parse(const char *text, struct col_collect_config *out_config);
bool col_collect_print(const struct col_collect_config *config, char *to, size_t room);

/* A list of threads, "0,2-5", into out_sampler's ranges; ' ', '+' and ';' separate, too. */
bool col_threads_parse(const char *text, struct col_sampler_config *out_sampler);

/* "PID-N.wcap" into @to (32 bytes are enough); returns its length. */
size_t col_capture_name(uint32_t pid, uint32_t n, char *to);

const char *col_service_name(enum col_service service);

#endif
