/*
 * systrace_priv: what the parts of rocprof-sys's Perfetto trace share.
 *
 * systrace.c has the file and its limit, systrace_api.c calls and GPU work, systrace_host.c
 * regions and metrics, systrace_samples.c call stacks.
 */
#ifndef WS_OUTPUT_SYSTRACE_PRIV_H
#define WS_OUTPUT_SYSTRACE_PRIV_H

#include "output/host_samples.h"
#include "output/output_priv.h"
#include "output/pf_file.h"
#include "output/systrace.h"

/* clang-format off */
/* AMD's categories in AMD's order, then ours. */
#define OUTPUT_SYS_CATEGORY_TABLE(X)                                                               \
	X(host) X(user) X(python) X(sampling) X(rocm) X(rocm_hip_api) X(rocm_hsa_api)              \
	X(rocm_kernel_dispatch) X(rocm_memory_copy) X(rocm_hip_stream) X(rocm_scratch_memory)      \
	X(rocm_page_migration) X(rocm_counter_collection) X(rocm_marker_api)                       \
	X(rocm_rocdecode_api) X(rocm_rocjpeg_api) X(rocm_rccl_api) X(amd_smi) X(device_busy_gfx)   \
	X(device_busy_umc) X(device_busy_mm) X(device_temp) X(device_power)                        \
	X(device_memory_usage) X(device_vcn_activity) X(device_jpeg_activity) X(rccl) X(pthread)   \
	X(kokkos) X(mpi) X(ompt) X(process_sampling) X(comm_data) X(causal) X(cpu_frequency)       \
	X(process_page_fault) X(process_virtual_memory) X(process_memory_hwm)                      \
	X(process_context_switch) X(process_user_cpu_time) X(process_kernel_cpu_time)              \
	X(thread_wall_time) X(thread_cpu_time) X(thread_page_fault) X(thread_peak_memory)          \
	X(thread_context_switch) X(thread_hardware_counter) X(kernel_hardware_counter) X(numa)     \
	X(vaapi) X(timer_sampling) X(overflow_sampling) X(timemory)                                \
	X(rocm_memory_allocation) X(cpu_load) X(process_memory) X(process_io) X(device_clock) X(device_counter)

#define OUTPUT_SYS_NOTE_TABLE(X)                                                                   \
	X(begin_ns) X(end_ns) X(corr_id) X(stream_id) X(queue) X(dispatch_id) X(kernel_id)         \
	X(private_segment_size) X(group_segment_size) X(workgroup_size) X(grid_size)               \
	X(dst_agent) X(src_agent) X(agent) X(allocation_size) X(address) X(file) X(line) X(pc)     \
	X(line_address) X(lineinfo) X(inlined)
/* clang-format on */

enum output_sys_category {
#define OUTPUT_SYS_ROW(name) OUTPUT_SYS_##name,
	OUTPUT_SYS_CATEGORY_TABLE(OUTPUT_SYS_ROW)
#undef OUTPUT_SYS_ROW
		OUTPUT_SYS_CATEGORY_COUNT
};
_Static_assert(OUTPUT_SYS_CATEGORY_COUNT <= 64, "output_sys.enabled has a bit for each");

enum output_sys_note {
	OUTPUT_SYS_NOTE_none,
#define OUTPUT_SYS_ROW(name) OUTPUT_SYS_NOTE_##name,
	OUTPUT_SYS_NOTE_TABLE(OUTPUT_SYS_ROW)
#undef OUTPUT_SYS_ROW
		OUTPUT_SYS_NOTE_COUNT
};

/* A region that is open, and the annotations that it got, encoded; they go to its end. */
struct output_sys_open {
	uint32_t region;
	bool hidden;  /* it is not in the file */
	size_t depth; /* slices of its lane that are below it */
	char *notes;
	size_t n_notes, cap_notes;
};

/* The samples of one kind of a thread so far. */
struct output_sys_sampled {
	uint64_t track; /* 0: none yet */
	struct output_samples samples;
};

struct output_sys_thread {
	const struct trc_thread *thread;
	struct output_pf_track *track, *ranges;
	struct output_sys_open *open; /* innermost last */
	size_t n_open, cap_open;
	struct output_sys_sampled sampled[CAP_SAMPLER_COUNT];
	uint64_t used[OUTPUT_USED_COUNT]; /* uuids; 0: not described yet */
	uint64_t *events;                 /* uuids of CPU events */
	uint32_t n_events;
};

/* A track of values that ends with 0. */
struct output_sys_series {
	uint64_t uuid, last_ns;
};

struct output_sys {
	const struct trc_trace *trace;
	const struct output_systrace_opts *opts;
	const struct trc_process *process;
	struct output_systrace_result *result;
	struct output_pf_file file;
	struct output_sink *sink;
	uint64_t enabled; /* bit per category */
	uint64_t from_ns, until_ns;
	bool full;                         /* the limit is reached: nothing is begun any more */
	struct output_sys_thread *threads; /* by index */
	size_t n_threads;
	struct output_pf_track **streams, **queues; /* by id */
	struct ws_map tracks;   /* (kind, agent, thread or queue) to struct output_pf_track */
	struct ws_map counters; /* (agent, counter) to struct output_sys_series */
	struct output_sys_series *metrics; /* by id */
	enum output_sys_category metric_category[CAP_METRIC_CATEGORY_COUNT];
	enum output_sys_category region_category[CAP_REGION_CATEGORY_COUNT];
	const char **region_names; /* by id; NULL: not looked up yet */
	struct output_counter_sum *sums;
	size_t cap_sums;
	/* of profiler samples */
	struct ws_map functions, paths, sources, mappings, frames, stacks;
	uint64_t n_sampled[CAP_SAMPLER_COUNT];
	bool sampling; /* the properties of samples are in the file */
};

static inline bool output_sys_on(const struct output_sys *sys, enum output_sys_category category)
{
	return sys->enabled >> category & 1;
}

enum ws_status output_sys_no_memory(struct output_sys *sys);

/* ---- slices: systrace.c ---- */

/* Everything of a BEGIN but its annotations, for which there are @room bytes. */
struct output_sys_begun {
	char *packet, *event;
};
struct output_sys_slice {
	uint64_t track;
	enum output_sys_category category;
	const char *name;
	bool stable_name; /* lives as long as the file is written */
	uint64_t start_ns;
	uint64_t corr_id; /* a flow; 0: none */
};
char *output_sys_begin(struct output_sys *sys, const struct output_sys_slice *slice, size_t room,
		       struct output_sys_begun *out_begun);
void output_sys_begin_done(struct output_sys *sys, char *p, const struct output_sys_begun *begun);
/* An END with annotations: @notes are encoded. */
void output_sys_end(struct output_sys *sys, uint64_t track, uint64_t at_ns, const char *notes,
		    size_t n_notes);

/* The iid of an annotation's name, written at first use; 0: it cannot be. Not within a packet. */
uint64_t output_sys_note(struct output_sys *sys, const char *name);
uint64_t output_sys_known_note(const struct output_sys *sys, const char *name); /* 0: never used */

/* ---- threads ---- */

struct output_sys_thread *output_sys_thread_of(struct output_sys *sys,
					       const struct trc_thread *thread);
struct output_pf_track *output_sys_thread_track(struct output_sys *sys,
						struct output_sys_thread *thread);

/* ---- systrace_api.c ---- */

/* Of a call, of GPU work and of memory. */
enum output_sys_category output_sys_category_of(const struct output_sys *sys,
						const struct trc_event *ev);
enum ws_status output_sys_put_call(struct output_sys *sys, const struct trc_event *ev);
enum ws_status output_sys_put_alloc(struct output_sys *sys, const struct trc_event *ev);
enum ws_status output_sys_put_kernel(struct output_sys *sys, const struct trc_event *ev);
enum ws_status output_sys_put_copy(struct output_sys *sys, const struct trc_event *ev);
enum ws_status output_sys_put_scratch(struct output_sys *sys, const struct trc_event *ev);

/* ---- systrace_host.c ---- */

/* @shown false: it is only followed, so that the ends of others are recognised. */
enum ws_status output_sys_put_region(struct output_sys *sys, const struct trc_event *ev,
				     bool shown);
enum ws_status output_sys_put_metrics(struct output_sys *sys, const struct trc_event *ev);
/* The program ended: regions that are open, and zeros. */
void output_sys_end_regions(struct output_sys *sys);
void output_sys_end_metrics(struct output_sys *sys);

/* ---- systrace_samples.c ---- */

enum output_sys_category output_sys_sample_category(uint32_t sampler);
enum ws_status output_sys_put_sample(struct output_sys *sys, const struct trc_event *ev);
void output_sys_end_samples(struct output_sys *sys);

/* ---- systrace.c ---- */

/* A process into a file that is open; for files of several. */
enum ws_status output_sys_put_process(const struct trc_trace *trace,
				      const struct trc_process *process,
				      const struct output_systrace_opts *opts,
				      struct output_sink *sink,
				      struct output_systrace_result *out_result,
				      struct ws_err *err);

/* systrace_stacks.c: the same as a profiler sample. */
enum ws_status output_sys_put_stack(struct output_sys *sys, const struct trc_event *ev,
				    const struct prof_frame *stack, size_t n);

#endif
