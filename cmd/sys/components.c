/* What a profile can measure: the names of TIMEMORY_COMPONENTS, and those that sampling adds. */
#include "cmd/sys/avail.h"

#include "base/util.h"

/* clang-format off */
#define WORDS(...) (const char *const[]){ __VA_ARGS__, NULL }
#define TIMING     WORDS("native", "timing")
#define RUSAGE     WORDS("native", "resource_usage")
#define MEMORY     WORDS("memory", "native", "resource_usage")
#define IO         WORDS("io", "native")
#define PAPI       WORDS("hardware_counter", "papi")
#define SAMPLED    WORDS("rocprofsys", "sampling")
#define GPU        WORDS("gpu", "process_sampling", "rocprofsys")

/* name, can be requested, type, file, categories, description */
#define COMPONENTS(X)                                                                                       \
X(wall_clock,               true,  "double", "wall_clock",          TIMING,  "Elapsed time")                  \
X(monotonic_clock,          false, "double", "monotonic_clock",     TIMING,  "Elapsed time of the monotonic clock") \
X(monotonic_raw_clock,      false, "double", "monotonic_raw_clock", TIMING,  "Elapsed time of the monotonic clock, not adjusted") \
X(cpu_clock,                true,  "double", "cpu_clock",           TIMING,  "CPU time in user and kernel mode") \
X(cpu_util,                 true,  "double", "cpu_util",            TIMING,  "CPU time as a share of elapsed time") \
X(user_clock,               false, "double", "user_clock",          TIMING,  "CPU time in user mode")         \
X(system_clock,             false, "double", "system_clock",        TIMING,  "CPU time in kernel mode")       \
X(process_cpu_clock,        false, "double", "process_cpu_clock",   TIMING,  "CPU time of the process")       \
X(process_cpu_util,         false, "double", "process_cpu_util",    TIMING,  "CPU time of the process as a share of elapsed time") \
X(thread_cpu_clock,         true,  "double", "thread_cpu_clock",    TIMING,  "CPU time of the thread")        \
X(thread_cpu_util,          true,  "double", "thread_cpu_util",     TIMING,  "CPU time of the thread as a share of elapsed time") \
X(timestamp,                false, "string", "timestamp",           TIMING,  "Time of each measurement")      \
X(trip_count,               true,  "int",    "trip_count",          WORDS("native"), "Number of calls, or of samples") \
X(peak_rss,                 true,  "double", "peak_rss",            MEMORY,  "Highest resident memory of the process") \
X(page_rss,                 true,  "double", "page_rss",            MEMORY,  "Resident memory of the process") \
X(current_peak_rss,         false, "string", "current_peak_rss",    MEMORY,  "Highest resident memory at the start and at the end") \
X(virtual_memory,           true,  "double", "virtual_memory",      MEMORY,  "Virtual memory of the process") \
X(user_mode_time,           false, "double", "user_mode_time",      RUSAGE,  "CPU time in user mode, from getrusage()") \
X(kernel_mode_time,         false, "double", "kernel_mode_time",    RUSAGE,  "CPU time in kernel mode, from getrusage()") \
X(num_major_page_faults,    false, "int",    "major_page_flts",     RUSAGE,  "Page faults that needed input or output") \
X(num_minor_page_faults,    false, "int",    "minor_page_flts",     RUSAGE,  "Page faults without input or output") \
X(priority_context_switch,  false, "int",    "prio_cxt_swch",       RUSAGE,  "Context switches that the system forced") \
X(voluntary_context_switch, false, "int",    "vol_cxt_swch",        RUSAGE,  "Context switches because the thread waited") \
X(num_io_in,                false, "int",    "io_in",               IO,      "Reads from file systems")       \
X(num_io_out,               false, "int",    "io_out",              IO,      "Writes to file systems")        \
X(read_bytes,               false, "string", "read_bytes",          IO,      "Bytes read from storage")       \
X(read_char,                false, "string", "read_char",           IO,      "Bytes read, from caches too")   \
X(written_bytes,            false, "string", "written_bytes",       IO,      "Bytes written to storage")      \
X(written_char,             false, "string", "written_char",        IO,      "Bytes written, to caches too")  \
X(network_stats,            false, "string", "network_stats",       IO,      "Traffic of a network interface") \
X(papi_array,               false, "string", "papi_array",          PAPI,    "CPU counters of PAPI_EVENTS")   \
X(papi_vector,              false, "string", "papi_vector",         PAPI,    "CPU counters of PAPI_EVENTS")   \
X(sampling_wall_clock,      false, "double", "sampling_wall_clock", SAMPLED, "Elapsed time by call stack, from samples") \
X(sampling_cpu_clock,       false, "double", "sampling_cpu_clock",  SAMPLED, "CPU time by call stack, from samples") \
X(sampling_percent,         false, "double", "sampling_percent",    SAMPLED, "Share of samples by function")  \
X(sampling_gpu_busy_gfx,    false, "double", "sampling_gpu_busy_gfx_percent", GPU, "Utilization of the GPU's compute units") \
X(sampling_gpu_busy_umc,    false, "double", "sampling_gpu_busy_umc_percent", GPU, "Utilization of the GPU's memory controller") \
X(sampling_gpu_busy_mm,     false, "double", "sampling_gpu_busy_mm_percent",  GPU, "Utilization of the GPU's media engines") \
X(sampling_gpu_temp,        false, "double", "sampling_gpu_temperature",      GPU, "Temperature of the GPU") \
X(sampling_gpu_power,       false, "double", "sampling_gpu_power",            GPU, "Power of the GPU")       \
X(sampling_gpu_memory_usage, false, "double", "sampling_gpu_memory_usage",    GPU, "Memory of the GPU in use") \
X(sampling_gpu_vcn,         false, "double", "sampling_gpu_vcn_percent",      GPU, "Utilization of the GPU's video engine") \
X(sampling_gpu_jpeg,        false, "double", "sampling_gpu_jpeg_percent",     GPU, "Utilization of the GPU's JPEG engine")
/* clang-format on */

const struct sys_component sys_components[] = {
#define ROW(id, requested, type, stem, words, text) { #id, requested, type, stem, text, words },
	COMPONENTS(ROW)
#undef ROW
};
const size_t sys_n_components = WS_ARRAY_LEN(sys_components);
