/* What a profile can measure: the names of TIMEMORY_COMPONENTS, and those that sampling adds. */
#include "cmd/sys/avail.h"

#include "base/util.h"
#include "profile/report.h"

#include <string.h>

/* clang-format off */
#define WORDS(...) (const char *const[]){ __VA_ARGS__, NULL }
#define TIMING     WORDS("native", "timing")
#define RUSAGE     WORDS("native", "resource_usage")
#define MEMORY     WORDS("memory", "native", "resource_usage")
#define IO         WORDS("io", "native")
#define PAPI       WORDS("hardware_counter", "papi")
#define SAMPLED    WORDS("rocprofsys", "sampling")
#define GPU        WORDS("gpu", "process_sampling", "rocprofsys")

/* name, type, file, categories, description */
#define COMPONENTS(X)                                                                                       \
X(wall_clock,               "double", "wall_clock",          TIMING,  "Elapsed time")                  \
X(monotonic_clock,          "double", "monotonic_clock",     TIMING,  "Elapsed time of the monotonic clock") \
X(monotonic_raw_clock,      "double", "monotonic_raw_clock", TIMING,  "Elapsed time of the monotonic clock, not adjusted") \
X(cpu_clock,                "double", "cpu_clock",           TIMING,  "CPU time in user and kernel mode") \
X(cpu_util,                 "double", "cpu_util",            TIMING,  "CPU time as a share of elapsed time") \
X(user_clock,               "double", "user_clock",          TIMING,  "CPU time in user mode")         \
X(system_clock,             "double", "system_clock",        TIMING,  "CPU time in kernel mode")       \
X(process_cpu_clock,        "double", "process_cpu_clock",   TIMING,  "CPU time of the process")       \
X(process_cpu_util,         "double", "process_cpu_util",    TIMING,  "CPU time of the process as a share of elapsed time") \
X(thread_cpu_clock,         "double", "thread_cpu_clock",    TIMING,  "CPU time of the thread")        \
X(thread_cpu_util,          "double", "thread_cpu_util",     TIMING,  "CPU time of the thread as a share of elapsed time") \
X(timestamp,                "string", "timestamp",           TIMING,  "Time of each measurement")      \
X(trip_count,               "int",    "trip_count",          WORDS("native"), "Number of calls, or of samples") \
X(peak_rss,                 "double", "peak_rss",            MEMORY,  "Highest resident memory of the process") \
X(page_rss,                 "double", "page_rss",            MEMORY,  "Resident memory of the process") \
X(current_peak_rss,         "string", "current_peak_rss",    MEMORY,  "Highest resident memory at the start and at the end") \
X(virtual_memory,           "double", "virtual_memory",      MEMORY,  "Virtual memory of the process") \
X(user_mode_time,           "double", "user_mode_time",      RUSAGE,  "CPU time in user mode, from getrusage()") \
X(kernel_mode_time,         "double", "kernel_mode_time",    RUSAGE,  "CPU time in kernel mode, from getrusage()") \
X(num_major_page_faults,    "int",    "major_page_flts",     RUSAGE,  "Page faults that needed input or output") \
X(num_minor_page_faults,    "int",    "minor_page_flts",     RUSAGE,  "Page faults without input or output") \
X(priority_context_switch,  "int",    "prio_cxt_swch",       RUSAGE,  "Context switches that the system forced") \
X(voluntary_context_switch, "int",    "vol_cxt_swch",        RUSAGE,  "Context switches because the thread waited") \
X(num_io_in,                "int",    "io_in",               IO,      "Reads from file systems")       \
X(num_io_out,               "int",    "io_out",              IO,      "Writes to file systems")        \
X(read_bytes,               "string", "read_bytes",          IO,      "Bytes read from storage")       \
X(read_char,                "string", "read_char",           IO,      "Bytes read, from caches too")   \
X(written_bytes,            "string", "written_bytes",       IO,      "Bytes written to storage")      \
X(written_char,             "string", "written_char",        IO,      "Bytes written, to caches too")  \
X(network_stats,            "string", "network_stats",       IO,      "Traffic of a network interface") \
X(papi_array,               "string", "papi_array",          PAPI,    "CPU counters of PAPI_EVENTS")   \
X(papi_vector,              "string", "papi_vector",         PAPI,    "CPU counters of PAPI_EVENTS")   \
X(sampling_wall_clock,      "double", "sampling_wall_clock", SAMPLED, "Elapsed time by call stack, from samples") \
X(sampling_cpu_clock,       "double", "sampling_cpu_clock",  SAMPLED, "CPU time by call stack, from samples") \
X(sampling_percent,         "double", "sampling_percent",    SAMPLED, "Share of samples by function")  \
X(sampling_gpu_busy_gfx,    "double", "sampling_gpu_busy_gfx_percent", GPU, "Utilization of the GPU's compute units") \
X(sampling_gpu_busy_umc,    "double", "sampling_gpu_busy_umc_percent", GPU, "Utilization of the GPU's memory controller") \
X(sampling_gpu_busy_mm,     "double", "sampling_gpu_busy_mm_percent",  GPU, "Utilization of the GPU's media engines") \
X(sampling_gpu_temp,        "double", "sampling_gpu_temperature",      GPU, "Temperature of the GPU") \
X(sampling_gpu_power,       "double", "sampling_gpu_power",            GPU, "Power of the GPU")       \
X(sampling_gpu_memory_usage, "double", "sampling_gpu_memory_usage",    GPU, "Memory of the GPU in use") \
X(sampling_gpu_vcn,         "double", "sampling_gpu_vcn_percent",      GPU, "Utilization of the GPU's video engine") \
X(sampling_gpu_jpeg,        "double", "sampling_gpu_jpeg_percent",     GPU, "Utilization of the GPU's JPEG engine")
/* clang-format on */

const struct sys_component sys_components[] = {
#define ROW(id, type, stem, words, text) { #id, type, stem, text, words },
	COMPONENTS(ROW)
#undef ROW
};
const size_t sys_n_components = WS_ARRAY_LEN(sys_components);

bool sys_has_component(const struct sys_component *component)
{
	/* What sampling adds needs no request. */
	return strncmp(component->name, "sampling_", 9) != 0 &&
	       prof_report_has_component(component->name);
}
