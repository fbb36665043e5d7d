/*
 * record: what a capture file holds, byte for byte.
 *
 * A record is a header of 16 bytes, fields at fixed places, and for some types a
 * tail whose length a field gives. Records are multiples of 8 bytes, aligned to
 * 8, in the byte order of the machine that wrote them (the file header tells).
 * Padding and fields called `zero` are written as 0. A layout never
 * changes: what a type lacks, a new type has.
 *
 * Nothing derivable is stored: durations, names of known enumerations, counts,
 * demangled names and percentages are the reader's work.
 *
 * Thread  A record is of the thread in its `tid` field; without one, of the thread
 *         that owns the lane at that point (CAP_REC_OWNER).
 * Time    Two clocks. `_ns` fields are nanoseconds of CLOCK_BOOTTIME, which is what
 *         ROCr stamps GPU work with. `_ticks` fields are raw counter values (x86
 *         time stamp counter, Arm virtual counter) that CAP_REC_CLOCK pairs place on
 *         CLOCK_BOOTTIME; where the counter is unusable, ticks are nanoseconds and
 *         cap_file_head.tick_kind says so. The reader converts; nobody else does.
 *         Each type's row below says which clock the header's `time` is in.
 * Ids     Small integers given out by the collector per process; 0 is "none".
 *         Agents are meant by `id` of their record, not by ROCr's handle.
 * Places  Facts (left column META) are only in chunks of kind META, which a reader
 *         takes in whole; events are only in EVENT chunks, which it streams; BULK
 *         chunks hold bytes that few readers want.
 */
#ifndef WS_CAPTURE_RECORD_H
#define WS_CAPTURE_RECORD_H

#include <stddef.h>
#include <stdint.h>

/* ---- the header ---- */

/*
 * `tag` holds type, size and a check of both, so that a reader that lost its
 * place can find the next record. For records of fixed size it is a constant.
 */
struct cap_rec {
	uint32_t tag;  /* CAP_REC_TAG() */
	uint32_t what; /* use depends on the type; named in the structs below */
	uint64_t time; /* when it began */
};

#define CAP_REC_ALIGN 8u
#define CAP_REC_BYTES_MAX (UINT16_MAX * CAP_REC_ALIGN)
#define CAP_REC_ROUND(bytes) (((bytes) + (CAP_REC_ALIGN - 1)) & ~(CAP_REC_ALIGN - 1))

#define CAP_REC_TAG(type, bytes)                                                                   \
	((uint32_t)(type) | (uint32_t)((bytes) / CAP_REC_ALIGN) << 8 |                             \
	 (uint32_t)cap_rec_check((type), (uint32_t)((bytes) / CAP_REC_ALIGN)) << 24)

static inline uint8_t cap_rec_check(uint32_t type, uint32_t n_words)
{
	return (uint8_t)(0xa5 ^ type ^ (n_words * 0x1d) ^ (n_words >> 8));
}

static inline uint32_t cap_rec_type(const struct cap_rec *rec)
{
	return rec->tag & 0xff;
}

static inline uint32_t cap_rec_bytes(const struct cap_rec *rec)
{
	return (rec->tag >> 8 & 0xffff) * CAP_REC_ALIGN;
}

static inline int cap_rec_tag_ok(uint32_t tag)
{
	return tag >> 24 == cap_rec_check(tag & 0xff, tag >> 8 & 0xffff) &&
	       (tag >> 8 & 0xffff) >= 2;
}

/* clang-format off */
/*
 * type, number, chunk kind, clock of `time`, struct, tail. The numbers are the
 * file format: never reuse one. The tail is what follows the struct: NONE,
 * TEXT (n_bytes bytes, not terminated), ARGS (argument slots), or an array.
 */
#define CAP_REC_TABLE(X)                                                                            \
	X(PROCESS,         1, META,  NS,    cap_rec_process,       NONE)                            \
	X(FACT,            2, META,  NONE,  cap_rec_fact,          TEXT)                            \
	X(CLOCK,           3, META,  TICKS, cap_rec_clock,         NONE)                            \
	X(STRING,          4, META,  NONE,  cap_rec_string,        TEXT)                            \
	X(THREAD,          5, META,  TICKS, cap_rec_thread,        NONE)                            \
	X(OPERATION,       6, META,  NONE,  cap_rec_operation,     OP_ARGS)                         \
	X(ENUM_NAME,       7, META,  NONE,  cap_rec_enum_name,     NONE)                            \
	X(AGENT,           8, META,  NONE,  cap_rec_agent,         NONE)                            \
	X(AGENT_BANK,      9, META,  NONE,  cap_rec_agent_bank,    NONE)                            \
	X(AGENT_CACHE,    10, META,  NONE,  cap_rec_agent_cache,   NONE)                            \
	X(AGENT_LINK,     11, META,  NONE,  cap_rec_agent_link,    NONE)                            \
	X(QUEUE,          12, META,  TICKS, cap_rec_queue,         NONE)                            \
	X(STREAM,         13, META,  TICKS, cap_rec_stream,        NONE)                            \
	X(CODE_OBJECT,    14, META,  TICKS, cap_rec_code_object,   NONE)                            \
	X(CODE_UNLOAD,    15, META,  TICKS, cap_rec_code_unload,   NONE)                            \
	X(KERNEL,         16, META,  TICKS, cap_rec_kernel,        NONE)                            \
	X(HOST_FUNCTION,  17, META,  TICKS, cap_rec_host_function, NONE)                            \
	X(COUNTER,        18, META,  NONE,  cap_rec_counter,       DIMS)                            \
	X(EXTERNAL,       19, META,  NONE,  cap_rec_external,      NONE)                            \
	X(RUNTIME,        20, META,  TICKS, cap_rec_runtime,       NONE)                            \
	X(CONTROL,        21, META,  TICKS, cap_rec_control,       NONE)                            \
	X(END,            22, META,  NS,    cap_rec_end,           NONE)                            \
	X(AGENT_NAME,     23, META,  NONE,  cap_rec_agent_name,    NONE)                            \
	X(CODE_SAME,      24, META,  NONE,  cap_rec_code_same,     NONE)                            \
	X(SAMPLER,        25, META,  NONE,  cap_rec_sampler,       NONE)                            \
	X(METRIC,         26, META,  NONE,  cap_rec_metric,        NONE)                            \
	X(REGION,         27, META,  NONE,  cap_rec_region,        NONE)                            \
	X(USAGE,          28, META,  TICKS, cap_rec_usage,         NONE)                            \
	X(OWNER,          32, ANY,   TICKS, cap_rec_owner,         NONE)                            \
	X(CALL,           33, EVENT, TICKS, cap_rec_call,          NONE)                            \
	X(CALL_ARGS,      34, EVENT, TICKS, cap_rec_call_args,     ARGS)                            \
	X(MARKER,         35, EVENT, TICKS, cap_rec_marker,        TEXT)                            \
	X(DISPATCH,       36, EVENT, NS,    cap_rec_dispatch,      VALUES)                          \
	X(COPY,           37, EVENT, NS,    cap_rec_copy,          NONE)                            \
	X(ALLOC,          38, EVENT, TICKS, cap_rec_alloc,         NONE)                            \
	X(SCRATCH,        39, EVENT, TICKS, cap_rec_scratch,       NONE)                            \
	X(PC_SAMPLE,      40, EVENT, NS,    cap_rec_pc_sample,     NONE)                            \
	X(MODULE,         41, EVENT, TICKS, cap_rec_module,        TEXT)                            \
	X(STACK,          42, EVENT, NONE,  cap_rec_stack,         FRAMES)                          \
	X(PYTHON_CODE,    43, EVENT, NONE,  cap_rec_python_code,   TEXT)                            \
	X(SAMPLE,         44, EVENT, TICKS, cap_rec_sample,        EVENT_COUNTS)                    \
	X(METRICS,        45, EVENT, TICKS, cap_rec_metrics,       METRIC_VALUES)                   \
	X(ENTER,          46, EVENT, TICKS, cap_rec_enter,         NONE)                            \
	X(LEAVE,          47, EVENT, TICKS, cap_rec_leave,         NONE)                            \
	X(COUNTED,        48, EVENT, NS,    cap_rec_counted,       NONE)                            \
	X(ANNOTATION,     49, EVENT, TICKS, cap_rec_annotation,    TEXT)                            \
	X(COLLECTIVE,     50, EVENT, TICKS, cap_rec_collective,    NONE)                            \
	X(LAUNCHED,       51, EVENT, TICKS, cap_rec_launched,      NONE)                            \
	X(CODE_BYTES,     64, BULK,  NONE,  cap_rec_code_bytes,    TEXT)
/* clang-format on */

enum cap_rec_type {
	CAP_REC_NONE = 0,
#define CAP_REC_ROW(name, number, chunk, clock, type, tail) CAP_REC_##name = number,
	CAP_REC_TABLE(CAP_REC_ROW)
#undef CAP_REC_ROW
		CAP_REC_TYPE_MAX = 255
};

/* A record's type and size from its struct: CAP_REC_INIT(CALL, struct cap_rec_call). */
#define CAP_REC_FIXED_TAG(NAME, T) CAP_REC_TAG(CAP_REC_##NAME, sizeof(T))

/* ---- the words that all services use ---- */

/* What can be requested and has a ledger line; numbers and names of the summary tables. */
/* clang-format off */
#define CAP_DOMAIN_TABLE(X)                                                                         \
	X(HSA_API,                 0) X(HIP_API,                 1) X(MARKER_API,              2)   \
	X(KERNEL_DISPATCH,         3) X(MEMORY_COPY,             4) X(SCRATCH_MEMORY,          5)   \
	X(COUNTER_COLLECTION,      6) X(RCCL_API,                7) X(MEMORY_ALLOCATION,       8)   \
	X(COUNTER_VALUES,          9) X(PC_SAMPLING_HOST_TRAP,  10) X(ROCDECODE_API,          11)   \
	X(ROCJPEG_API,            12) X(PC_SAMPLING_STOCHASTIC, 13) X(CALL_STACK_SAMPLING,    14)   \
	X(METRICS,                15) X(REGIONS,                16)

/* Record kinds as AMD numbers its buffer records. */
#define CAP_KIND_TABLE(X)                                                                           \
	X(NONE,                     0) X(HSA_CORE_API,             1) X(HSA_AMD_EXT_API,          2) \
	X(HSA_IMAGE_EXT_API,        3) X(HSA_FINALIZE_EXT_API,     4) X(HIP_RUNTIME_API,          5) \
	X(HIP_COMPILER_API,         6) X(MARKER_CORE_API,          7) X(MARKER_CONTROL_API,       8) \
	X(MARKER_NAME_API,          9) X(MEMORY_COPY,             10) X(KERNEL_DISPATCH,         11) \
	X(SCRATCH_MEMORY,          12) X(CORRELATION_ID_RETIREMENT, 13) X(RCCL_API,              14) \
	X(OMPT,                    15) X(MEMORY_ALLOCATION,       16) X(RUNTIME_INITIALIZATION,  17) \
	X(ROCDECODE_API,           18) X(ROCJPEG_API,             19) X(HIP_STREAM,              20) \
	X(HIP_RUNTIME_API_EXT,     21) X(HIP_COMPILER_API_EXT,    22) X(ROCDECODE_API_EXT,       23) \
	X(KFD_EVENT_PAGE_MIGRATE,  24) X(KFD_EVENT_PAGE_FAULT,    25) X(KFD_EVENT_QUEUE,         26) \
	X(KFD_EVENT_UNMAP_FROM_GPU, 27) X(KFD_EVENT_DROPPED_EVENTS, 28) X(KFD_PAGE_MIGRATE,      29) \
	X(KFD_PAGE_FAULT,          30) X(KFD_QUEUE,               31) X(MARKER_CORE_RANGE_API,   32)
/* clang-format on */

enum cap_domain {
#define CAP_DOMAIN_ROW(name, number) CAP_DOMAIN_##name = number,
	CAP_DOMAIN_TABLE(CAP_DOMAIN_ROW)
#undef CAP_DOMAIN_ROW
		CAP_DOMAIN_COUNT
};

enum cap_kind {
#define CAP_KIND_ROW(name, number) CAP_KIND_##name = number,
	CAP_KIND_TABLE(CAP_KIND_ROW)
#undef CAP_KIND_ROW
		CAP_KIND_COUNT
};

/* `what` of the event records; numbers are AMD's operation ids. */
enum cap_copy_op {
	CAP_COPY_NONE,
	CAP_COPY_HOST_TO_HOST,
	CAP_COPY_HOST_TO_DEVICE,
	CAP_COPY_DEVICE_TO_HOST,
	CAP_COPY_DEVICE_TO_DEVICE,
};
enum cap_alloc_op {
	CAP_ALLOC_NONE,
	CAP_ALLOC_ALLOCATE,
	CAP_ALLOC_VMEM_ALLOCATE,
	CAP_ALLOC_FREE,
	CAP_ALLOC_VMEM_FREE,
};
enum cap_scratch_op {
	CAP_SCRATCH_NONE,
	CAP_SCRATCH_ALLOC,
	CAP_SCRATCH_FREE,
	CAP_SCRATCH_ASYNC_RECLAIM,
};
/* of MARKER_CORE_RANGE_API, except the last two */
enum cap_marker_op {
	CAP_MARKER_MARK,          /* roctxMarkA */
	CAP_MARKER_THREAD_RANGE,  /* push to pop */
	CAP_MARKER_PROCESS_RANGE, /* start to stop; may end on another thread */
	CAP_MARKER_GET_THREAD_ID,
	CAP_MARKER_PAUSE = 0x100, /* MARKER_CONTROL_API 0 */
	CAP_MARKER_RESUME,        /* MARKER_CONTROL_API 1 */
};
/* operation ids of RUNTIME_INITIALIZATION */
enum cap_runtime {
	CAP_RUNTIME_NONE,
	CAP_RUNTIME_HSA,
	CAP_RUNTIME_HIP,
	CAP_RUNTIME_MARKER,
	CAP_RUNTIME_RCCL,
	CAP_RUNTIME_ROCDECODE,
	CAP_RUNTIME_ROCJPEG,
};
enum cap_agent_type { CAP_AGENT_NONE, CAP_AGENT_CPU, CAP_AGENT_GPU };

#include "capture/record_host.h"
#include "capture/record_meta.h"

/* ---- events ---- */

/* From here on the lane's records are those of thread @tid. First in every chunk. */
struct cap_rec_owner {
	struct cap_rec h; /* what: tid; time: when it took the lane */
};

/*
 * An API call, appended when it returns, so calls of a thread are in the order of
 * their ends. Correlation ids are unique in the process.
 */
struct cap_rec_call {
	struct cap_rec h; /* what: cap_rec_operation.op; time: entry */
	uint64_t end_ticks;
	uint64_t corr_id;
	uint64_t ancestor_id; /* of the enclosing traced call; 0: none */
};

/* The same with what HIP and rocDecode calls carry besides. */
struct cap_rec_call_args {
	struct cap_rec_call call;
	uint64_t external_id; /* CAP_REC_EXTERNAL; 0: none */
	uint64_t retval;      /* as the ABI returned it, zero-extended */
	uint32_t stream;      /* 0: the default stream, or none */
	uint32_t n_arg_bytes; /* tail: slots as cap_rec_operation describes them; 0: not taken */
};

/* A roctx mark or range; the message follows unless it was interned. */
struct cap_rec_marker {
	struct cap_rec h;   /* what: enum cap_marker_op */
	uint64_t end_ticks; /* a mark ends when it begins */
	uint64_t corr_id;
	uint64_t ancestor_id;
	uint32_t message; /* string id; 0: it is in the tail */
	uint32_t n_bytes; /* of the tail */
};

struct cap_counter_value {
	uint32_t counter;  /* cap_rec_counter.id */
	uint32_t instance; /* dimension positions, packed as the counter's dims say */
	double value;
};

/*
 * A kernel's execution. With counters, their values follow; with
 * CAP_DISPATCH_UNASKED kernel tracing itself was off.
 */
struct cap_rec_dispatch {
	struct cap_rec h; /* what: kernel id; time: start */
	uint64_t end_ns;
	uint64_t corr_id;
	uint64_t external_id;
	uint64_t dispatch_id; /* from 1, in order of submission; see CAP_DISPATCH_ORDERED */
	uint32_t tid;         /* who launched it: the writer is another thread */
	uint32_t agent;
	uint32_t queue;
	uint32_t stream;
	uint32_t private_bytes; /* per work-item, as dispatched */
	uint32_t group_bytes;   /* LDS, static and dynamic */
	uint32_t workgroup[3];
	uint32_t grid[3];  /* in work-items */
	uint32_t n_values; /* tail: struct cap_counter_value[] */
	uint32_t flags;
};
#define CAP_DISPATCH_UNASKED 1u
#define CAP_DISPATCH_ORDERED                                                                       \
	2u /* dispatch_id grows with submission, but not by 1: trace/launches.c */

/* How the values of a dispatch came about; follows its CAP_REC_DISPATCH in the same lane. */
struct cap_rec_counted {
	struct cap_rec h; /* what: agent id; time: the dispatch's start */
	uint64_t dispatch_id;
	double sampled;       /* 1, or the part of the workgroups that was modelled */
	uint32_t set;         /* which was counted; UINT32_MAX - 1: all of them, by replay */
	uint32_t n_executed;  /* 1, or how often the kernel ran to count all sets */
	uint64_t saved_bytes; /* of memory, put back between these */
	uint64_t replay_ns;   /* host time of the additional ones */
	uint64_t cycles;
	uint32_t clock_mhz;
	uint32_t zero;
};

struct cap_rec_copy {
	struct cap_rec h; /* what: enum cap_copy_op; time: start */
	uint64_t end_ns;
	uint64_t corr_id;
	uint64_t external_id;
	uint64_t n_bytes;
	uint64_t dst_address, src_address;
	uint32_t dst_agent, src_agent;
	uint32_t tid; /* the thread that submitted it */
	uint32_t stream;
};

struct cap_rec_alloc {
	struct cap_rec h; /* what: enum cap_alloc_op */
	uint64_t end_ticks;
	uint64_t corr_id;
	uint64_t external_id;
	uint64_t ancestor_id;
	uint64_t address;
	uint64_t n_bytes; /* 0 for frees */
	uint32_t agent;   /* 0 for frees */
	uint32_t stream;
};

struct cap_rec_scratch {
	struct cap_rec h; /* what: enum cap_scratch_op */
	uint64_t end_ticks;
	uint64_t corr_id;
	uint64_t n_bytes; /* 0 for frees */
	uint32_t agent;
	uint32_t queue;
	uint32_t tid;
	uint32_t flags; /* CAP_SCRATCH_*: numbers of AMD's */
};
#define CAP_SCRATCH_USE_ONCE 1u
#define CAP_SCRATCH_ALTERNATE 2u

struct cap_rec_pc_sample {
	struct cap_rec h;     /* what: CAP_PC_* flags */
	uint64_t code_object; /* id; 0: `offset` is an address */
	uint64_t offset;      /* from the load base */
	uint64_t exec_mask;
	uint64_t dispatch_id;
	uint64_t corr_id, external_id;
	uint32_t workgroup[3];
	uint32_t agent;
	uint8_t wave_in_group, chiplet, wave_id, simd_id, pipe_id, cu_or_wgp_id;
	uint8_t shader_array_id, shader_engine_id, hw_workgroup_id, vm_id, queue_id;
	uint8_t microengine_id;
	/* stochastic only */
	uint8_t wave_issued, inst_type, stall_reason, dual_issue_valu;
	uint32_t wave_count;
	uint16_t arb_issue, arb_stall; /* bit per pipe, in the order of the spec's list */
};
#define CAP_PC_STOCHASTIC 1u
#define CAP_PC_HAS_MEM_CNT 2u

/* A piece of a code object's ELF image: the file that held it may be gone, or never was one. */
struct cap_rec_code_bytes {
	struct cap_rec h;     /* what: code object id */
	uint64_t at_bytes;    /* offset in the image */
	uint64_t total_bytes; /* of the image */
	uint32_t n_bytes;     /* tail */
	uint32_t zero;
};

#endif
