/*
 * record_host: what the CPU side of a process does; part of record.h, include that.
 *
 * Call stacks are written in signal handlers, which cannot take the lock of the META
 * lane. So the facts that they refer to (modules, stacks, Python code) are events: each
 * is written to the lane of the thread that meets it first, before any record that
 * refers to it is committed anywhere. A reader collects them before it reads samples.
 *
 * dlclose() may map something else at an address that was seen before. It therefore
 * begins a new generation: modules and stacks are written again when they are met again.
 * An address is looked up among the modules of the generation of its stack.
 */
#ifndef WS_CAPTURE_RECORD_HOST_H
#define WS_CAPTURE_RECORD_HOST_H

#define CAP_BUILD_ID_MAX 32u

/* An executable or shared library, when it is first met on a stack. The path follows. */
struct cap_rec_module {
	struct cap_rec h;    /* what: id, from 1 */
	uint64_t start, end; /* of its mapping */
	uint64_t bias;       /* address in memory minus address in the file */
	uint32_t generation; /* from 1 */
	uint32_t n_build_id; /* 0: it has none */
	uint8_t build_id[CAP_BUILD_ID_MAX];
	uint32_t n_bytes; /* of the path */
	uint32_t zero;
};

/*
 * A frame: the address of an instruction, or a position in Python code.
 *
 * The innermost address is of the interrupted instruction, the others are return addresses. The
 * frame that a signal handler interrupted is an instruction, too: its callee is the
 * function that the module's unwinding information marks as the handler's return.
 * Python frames follow the native frames of their stack, in the same order; the
 * reader puts them in the place of the interpreter's own frames. CAP_FRAME_ENTRY marks
 * a Python frame that began a call of the interpreter: it is the last, outermost
 * one that belongs to the same native frame.
 */
#define CAP_FRAME_PYTHON (1ull << 63)
#define CAP_FRAME_ENTRY (1ull << 62)
#define CAP_FRAME_PYTHON_CODE(frame) ((uint32_t)((frame) >> 32) & 0x3fffffffu)
/* Bytes from the start of the code's instructions; all ones: not known. */
#define CAP_FRAME_PYTHON_AT(frame) ((uint32_t)(frame))

/* A distinct call stack, innermost frame first. */
struct cap_rec_stack {
	struct cap_rec h;  /* what: id, from 1 */
	uint32_t n_frames; /* tail: uint64_t[] */
	uint32_t flags;    /* CAP_STACK_* */
	uint32_t generation;
	uint32_t n_native; /* frames before the first Python frame */
};
#define CAP_STACK_CUT 1u    /* deeper than what is recorded; its outermost frames are missing */
#define CAP_STACK_BROKEN 2u /* the caller of its outermost native frame could not be found */
#define CAP_STACK_SIGNAL 4u /* the frame after a handler's is an interrupted instruction */

/* A Python code object. The tail has three parts: qualified name, file name, line table. */
struct cap_rec_python_code {
	struct cap_rec h; /* what: id, from 1 */
	uint32_t first_line;
	uint32_t version; /* of Python: 0x030b for 3.11; says what the line table looks like.
			     0: a native function of an imported trace, which has no addresses */
	uint32_t n_name, n_file;
	uint32_t n_bytes; /* of all three; the line table is what is left */
	uint32_t zero;
};

/* What makes a thread take a sample. */
enum cap_sampler {
	CAP_SAMPLER_CPU_TIME,
	CAP_SAMPLER_REAL_TIME,
	CAP_SAMPLER_OVERFLOW,
	CAP_SAMPLER_COUNT
};

/* A kind of samples that the process takes. */
struct cap_rec_sampler {
	struct cap_rec h;         /* what: enum cap_sampler */
	uint64_t period;          /* nanoseconds; OVERFLOW: events */
	uint32_t event_str;       /* OVERFLOW: what is counted */
	uint32_t count_names_str; /* names of cap_rec_sample's counts, separated by ','; 0: none */
};

/* One sample: the stack of the thread that owns the lane, and what it has used so far. */
struct cap_rec_sample {
	struct cap_rec h;  /* what: stack id; 0: no stack could be recorded */
	uint64_t cpu_ns;   /* CPU time of the thread; 0: what it used is not known */
	uint32_t sampler;  /* enum cap_sampler */
	uint32_t n_missed; /* expiries since the previous sample that found the signal pending */
	uint32_t n_switches, n_faults; /* of the thread: context switches, page faults */
	uint32_t peak_kb;              /* of the process: highest resident set */
	uint32_t n_counts;             /* tail: uint64_t[], CPU events of the thread */
};

/* What a thread or the process has used in all, when it ended. */
struct cap_rec_usage {
	struct cap_rec h; /* what: tid; 0: the process */
	uint64_t cpu_ns;
	uint32_t peak_kb, resident_kb; /* of the process: highest and present resident set */
};

/* A quantity over time. */
struct cap_rec_metric {
	struct cap_rec h;  /* what: id, from 1 */
	uint32_t name_str; /* of its track: "CPU Frequency [0] (S)" */
	uint32_t category; /* enum cap_metric_category */
	uint32_t unit_str;
	int32_t device;    /* GPU or CPU number; -1: the process */
	uint32_t flags;    /* CAP_METRIC_* */
	uint32_t instance; /* DEVICE_COUNTER: of its block; else 0 */
};
#define CAP_METRIC_SIMULATED 1u /* of the software GPU */

/*
 * Names as AMD's tool has its categories, and in their style where it has none. Those of threads
 * are of imported traces: the collector writes them with each sample.
 */
/* clang-format off */
#define CAP_METRIC_CATEGORY_TABLE(X)                                                                \
	X(CPU_FREQUENCY,           "cpu_frequency")                                                 \
	X(CPU_LOAD,                "cpu_load")                                                      \
	X(PROCESS_PAGE_FAULT,      "process_page_fault")                                            \
	X(PROCESS_MEMORY,          "process_memory")                                                \
	X(PROCESS_VIRTUAL_MEMORY,  "process_virtual_memory")                                        \
	X(PROCESS_MEMORY_HWM,      "process_memory_hwm")                                            \
	X(PROCESS_CONTEXT_SWITCH,  "process_context_switch")                                        \
	X(PROCESS_USER_CPU_TIME,   "process_user_cpu_time")                                         \
	X(PROCESS_KERNEL_CPU_TIME, "process_kernel_cpu_time")                                       \
	X(PROCESS_IO,              "process_io")                                                    \
	X(DEVICE_BUSY_GFX,         "device_busy_gfx")                                               \
	X(DEVICE_BUSY_UMC,         "device_busy_umc")                                               \
	X(DEVICE_BUSY_MM,          "device_busy_mm")                                                \
	X(DEVICE_TEMP,             "device_temp")                                                   \
	X(DEVICE_POWER,            "device_power")                                                  \
	X(DEVICE_MEMORY_USAGE,     "device_memory_usage")                                           \
	X(DEVICE_VCN_ACTIVITY,     "device_vcn_activity")                                           \
	X(DEVICE_JPEG_ACTIVITY,    "device_jpeg_activity")                                          \
	X(DEVICE_CLOCK,            "device_clock")                                                  \
	X(COMM_DATA,               "comm_data")                                                     \
	X(THREAD_CPU_TIME,         "thread_cpu_time")                                               \
	X(THREAD_PEAK_MEMORY,      "thread_peak_memory")                                            \
	X(THREAD_CONTEXT_SWITCH,   "thread_context_switch")                                         \
	X(THREAD_PAGE_FAULT,       "thread_page_fault")                                             \
	X(THREAD_HARDWARE_COUNTER, "thread_hardware_counter")                                       \
	/* of a whole GPU; a value is what was added since the reading before */                    \
	X(DEVICE_COUNTER,          "device_counter")

/* Where a region comes from; names as AMD's tool has its categories. */
#define CAP_REGION_CATEGORY_TABLE(X)                                                                \
	X(HOST,    "host")                                                                          \
	X(USER,    "user")                                                                          \
	X(PYTHON,  "python")                                                                        \
	X(PTHREAD, "pthread")                                                                       \
	X(MPI,     "mpi")                                                                           \
	X(OMPT,    "ompt")                                                                          \
	X(KOKKOS,  "kokkos")                                                                        \
	X(RCCL,    "rccl")                                                                          \
	X(CAUSAL,  "causal")
/* clang-format on */

enum cap_metric_category {
#define CAP_METRIC_CATEGORY_ROW(id, name) CAP_METRIC_##id,
	CAP_METRIC_CATEGORY_TABLE(CAP_METRIC_CATEGORY_ROW)
#undef CAP_METRIC_CATEGORY_ROW
		CAP_METRIC_CATEGORY_COUNT
};

enum cap_region_category {
#define CAP_REGION_CATEGORY_ROW(id, name) CAP_REGION_##id,
	CAP_REGION_CATEGORY_TABLE(CAP_REGION_CATEGORY_ROW)
#undef CAP_REGION_CATEGORY_ROW
		CAP_REGION_CATEGORY_COUNT
};

struct cap_metric_value {
	uint32_t metric; /* cap_rec_metric.id */
	uint32_t zero;
	double value;
};

/* Values that were read together. */
struct cap_rec_metrics {
	struct cap_rec h;  /* time: of the reading */
	uint32_t n_values; /* tail: struct cap_metric_value[] */
	uint32_t zero;
};

/* Something with a beginning and an end on one thread: a function, a user's region. */
struct cap_rec_region {
	struct cap_rec h;  /* what: id, from 1 */
	uint32_t category; /* enum cap_region_category */
	uint32_t name_str; /* 0: the function at `address` */
	uint64_t address;
	uint32_t file_str;
	uint32_t line;
};

/*
 * Its beginning and its end, in the order of the thread. Two records, so that a
 * region which is open when the process is killed is in the capture. A LEAVE that does not match
 * the innermost open region closes those above it; one that matches none is ignored.
 */
struct cap_rec_enter {
	struct cap_rec h; /* what: region id */
};
struct cap_rec_leave {
	struct cap_rec h; /* what: region id */
};

/* A value of the innermost open region; the tail is its name, then the text of a text. */
struct cap_rec_annotation {
	struct cap_rec h; /* what: enum cap_arg_kind: U64, I64, F64, PTR or STR */
	uint64_t bits;
	uint32_t n_name;
	uint32_t n_bytes; /* of the tail */
};

/*
 * A collective operation that the thread took part in, when its call returns. (comm, seq) is the same
 * operation in the captures of all ranks: each numbers the collectives of a communicator, which
 * all of its ranks call in the same order.
 */
#define CAP_CLOCK_EXCHANGE                                                                         \
	"clock exchange" /* name of the region of those that are not the program's */
struct cap_rec_collective {
	struct cap_rec h; /* what: region id; time: entry */
	uint64_t end_ticks;
	uint64_t comm;          /* from its members; the same on all of them, 0: not known */
	uint64_t seq;           /* from 0, also counts those that were not recorded */
	uint32_t rank, n_ranks; /* in the communicator */
	int32_t root;           /* in the communicator; -1: it has none */
	uint32_t launch;        /* cap_rec_launched: GPU work does it; 0: the call itself did */
};

/*
 * GPU work that a call of RCCL launched, or the end of a group of calls: what the thread launched
 * with a correlation id from the first up to the end. It carries out all collectives with this number.
 */
struct cap_rec_launched {
	struct cap_rec h; /* what: from 1; time: when the call returned */
	uint64_t first_corr_id, end_corr_id;
	uint32_t tid;
	uint32_t zero;
};

#endif
