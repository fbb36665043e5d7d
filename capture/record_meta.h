/*
 * record_meta: the facts of a process; part of record.h, include that.
 *
 * Text is interned: a `_str` field is the id of a CAP_REC_STRING, 0 is "".
 * A record that is written twice for one id replaces the first.
 */
#ifndef WS_CAPTURE_RECORD_META_H
#define WS_CAPTURE_RECORD_META_H

/* First record of a capture; CAP_REC_FACT records complete it. */
struct cap_rec_process {
	struct cap_rec h; /* what: pid; time: when the collector started */
	uint32_t ppid;
	uint32_t main_tid;
	uint64_t start_clock_ticks; /* /proc/self/stat field 22: tells reused pids apart */
	uint64_t parent_corr_id;    /* of the fork or spawn in the parent, 0 unknown */
	uint64_t domains;           /* bit per enum cap_domain: what was requested */
	uint32_t uid;
	uint32_t flags; /* CAP_PROCESS_* */
};
#define CAP_PROCESS_ATTACHED 1u /* its beginning is not in the capture */
#define CAP_PROCESS_FORKED 2u   /* forked without exec */
#define CAP_PROCESS_SOFTGPU 4u /* ran on the software GPU: GPU times are not measured on hardware */

/* `what` of CAP_REC_FACT. ARGV, ENV and CONFIG repeat, in order; ENV is NAME=value, CONFIG
 * key=value. */
enum cap_fact {
	CAP_FACT_NONE,
	CAP_FACT_ARGV,
	CAP_FACT_ENV,
	CAP_FACT_CONFIG, /* how the collector was set up; front ends add theirs on their side */
	CAP_FACT_EXE,
	CAP_FACT_CWD,
	CAP_FACT_MACHINE_ID,
	CAP_FACT_HOSTNAME, /* this and the next five: uname() */
	CAP_FACT_SYSTEM_NAME,
	CAP_FACT_RELEASE,
	CAP_FACT_VERSION,
	CAP_FACT_HARDWARE_NAME,
	CAP_FACT_DOMAIN_NAME,
	CAP_FACT_NOTE, /* something the user should read: a service that could not start, and why */
	CAP_FACT_COUNT
};

struct cap_rec_fact {
	struct cap_rec h; /* what: enum cap_fact */
	uint32_t n_bytes;
	uint32_t zero;
};

/*
 * The counter and CLOCK_BOOTTIME at one moment. Written at start, every second or
 * so, and at the end: ticks between two pairs are interpolated, outside extrapolated.
 */
struct cap_rec_clock {
	struct cap_rec h; /* time: ticks; what: uncertainty of the pair in ns */
	uint64_t boottime_ns;
	uint64_t realtime_ns; /* of the same moment, for people and for joining hosts */
};

struct cap_rec_string {
	struct cap_rec h; /* what: id, from 1 */
	uint32_t n_bytes;
	uint32_t zero;
};

struct cap_rec_thread {
	struct cap_rec h; /* what: tid; time: first seen */
	uint32_t name_str;
	uint32_t ended; /* 1: end_ticks is set */
	uint64_t end_ticks;
};

/* How an argument's value is stored: whole 8-byte slots, in order, no gaps. */
enum cap_arg_kind {
	CAP_ARG_NONE,
	CAP_ARG_U32, /* scalars: one slot, zero- or sign-extended */
	CAP_ARG_I32,
	CAP_ARG_U64,
	CAP_ARG_I64,
	CAP_ARG_BOOL,
	CAP_ARG_F32, /* one slot, the bits in its low half */
	CAP_ARG_F64,
	CAP_ARG_PTR,    /* one slot, printed in hex */
	CAP_ARG_STREAM, /* one slot: our stream id in the low half, and PTR in the next slot */
	CAP_ARG_ENUM,   /* one slot, as I32; CAP_REC_ENUM_NAME gives names */
	CAP_ARG_DIM3,   /* two slots: x | y << 32, z */
	CAP_ARG_STR,    /* one slot: length, all ones for NULL; then the bytes, padded to slots */
	CAP_ARG_KIND_COUNT
};
#define CAP_ARG_STR_MAX 1024u /* longer texts are cut to this */
#define CAP_ARG_STR_NULL UINT64_MAX

struct cap_op_arg {
	uint32_t name_str;
	uint32_t type_str; /* as C spells it: "hipMemcpyKind" */
	uint32_t kind;     /* enum cap_arg_kind */
	uint32_t zero;
};

/* A function that can be called: what `what` of a call refers to. */
struct cap_rec_operation {
	struct cap_rec h; /* what: op, an index of the collector's own, from 1 */
	uint32_t kind;    /* enum cap_kind */
	uint32_t id;      /* position in AMD's enumeration of that kind */
	uint32_t domain;  /* enum cap_domain */
	uint32_t name_str;
	uint32_t n_args;   /* tail: struct cap_op_arg[] */
	uint32_t ret_kind; /* enum cap_arg_kind; NONE: void */
};

struct cap_rec_enum_name {
	struct cap_rec h; /* what: type_str of the arguments it is for */
	int64_t value;
	uint32_t name_str;
	uint32_t zero;
};

/* An agent as the KFD topology and HSA describe it; names are AMD's, in snake case. */
struct cap_rec_agent {
	struct cap_rec h; /* what: id, from 1 */
	uint64_t handle;  /* hsa_agent_t */
	uint32_t type;    /* enum cap_agent_type */
	uint32_t node_id, logical_node_id, logical_node_type_id;
	int32_t gpu_index;   /* -1: not a GPU */
	uint32_t visibility; /* bits: 1 hsa, 2 hip, 4 rccl, 8 rocdecode */
	uint32_t cpu_cores_count, simd_count, mem_banks_count, caches_count, io_links_count;
	uint32_t cpu_core_id_base, simd_id_base, max_waves_per_simd, lds_size_in_kb, gds_size_in_kb;
	uint32_t num_gws, wave_front_size, num_xcc, cu_count, array_count, num_shader_banks;
	uint32_t simd_arrays_per_engine, cu_per_simd_array, simd_per_cu, max_slots_scratch_cu;
	uint32_t gfx_target_version;
	uint32_t vendor_id, device_id, location_id, domain, drm_render_minor;
	uint32_t num_sdma_engines, num_sdma_xgmi_engines, num_sdma_queues_per_engine, num_cp_queues;
	uint32_t max_engine_clk_ccompute, max_engine_clk_fcompute; /* MHz */
	uint32_t sdma_fw_version, fw_version, capability;          /* raw words of the topology */
	uint32_t cu_per_engine, max_waves_per_cu, family_id;
	uint32_t workgroup_max_size, grid_max_size;
	uint32_t workgroup_max_dim[3], grid_max_dim[3];
	uint32_t name_str, vendor_name_str, product_name_str, model_name_str;
	uint32_t flags; /* CAP_AGENT_SOFT: a software GPU */
	uint32_t zero;
	uint64_t local_mem_size, hive_id, gpu_id;
	uint8_t uuid[16];
};
#define CAP_AGENT_SOFT 1u

struct cap_rec_agent_bank {
	struct cap_rec h; /* what: agent id; in the order of the topology, as the next two */
	uint64_t size_in_bytes;
	uint32_t heap_type, flags, width, mem_clk_max;
};

struct cap_rec_agent_cache {
	struct cap_rec h; /* what: agent id */
	uint32_t processor_id_low, size, level, cache_line_size;
	uint32_t cache_lines_per_tag, association, latency, type;
};

struct cap_rec_agent_link {
	struct cap_rec h; /* what: agent id */
	uint32_t type, version_major, version_minor, node_from, node_to, weight;
	uint32_t min_latency, max_latency, min_bandwidth, max_bandwidth;
	uint32_t recommended_transfer_size, flags;
};

/* What the program calls an agent: roctxNameHsaAgent, roctxNameHipDevice. */
struct cap_rec_agent_name {
	struct cap_rec h; /* what: agent id */
	uint32_t name_str;
	uint32_t zero;
};

struct cap_rec_queue {
	struct cap_rec h; /* what: id, from 1; time: creation */
	uint64_t hsa_id;
	uint64_t address; /* hsa_queue_t */
	uint32_t agent;
	uint32_t type; /* hsa_queue_type_t */
	uint32_t n_packets;
	uint32_t zero;
};

struct cap_rec_stream {
	struct cap_rec h; /* what: id, from 1 */
	uint64_t handle;  /* hipStream_t */
	uint32_t agent;
	uint32_t flags; /* hipStreamCreateWithFlags */
	int32_t priority;
	uint32_t name_str;
};

enum cap_code_storage { CAP_CODE_STORAGE_NONE, CAP_CODE_STORAGE_FILE, CAP_CODE_STORAGE_MEMORY };

struct cap_rec_code_object {
	struct cap_rec h; /* what: id, from 1; time: load */
	uint64_t load_base, load_size;
	int64_t load_delta;
	uint64_t memory_base,
		memory_size; /* MEMORY; a file's descriptor number is of no use later */
	uint32_t agent;
	uint32_t storage; /* enum cap_code_storage */
	uint32_t uri_str;
	uint32_t zero;
};

struct cap_rec_code_unload {
	struct cap_rec h; /* what: code object id */
};

/* The image is that of another code object, whose bytes are kept. */
struct cap_rec_code_same {
	struct cap_rec h; /* what: code object id */
	uint32_t same_as; /* code object id */
	uint32_t zero;
};

struct cap_rec_kernel {
	struct cap_rec h; /* what: id, from 1 */
	uint64_t kernel_object;
	uint64_t kernel_address;
	int64_t entry_byte_offset;
	uint32_t code_object;
	uint32_t name_str; /* the symbol as the ELF has it, ".kd" included */
	uint32_t kernarg_bytes, kernarg_alignment;
	uint32_t group_bytes, private_bytes;
	uint32_t sgpr_count, arch_vgpr_count, accum_vgpr_count;
	uint32_t zero;
};

/* A kernel's stub in the program, as passed to __hipRegisterFunction. */
struct cap_rec_host_function {
	struct cap_rec h; /* what: id, from 1 */
	uint64_t host_function, modules;
	uint64_t thread_ids, block_ids, block_dims, grid_dims, workgroup_size; /* addresses or 0 */
	uint32_t kernel, code_object;
	uint32_t device_function_str; /* mangled name */
	uint32_t thread_limit;
};

struct cap_counter_dim {
	uint32_t name_str;
	uint32_t id;    /* AMD's dimension id */
	uint32_t n;     /* instances */
	uint32_t shift; /* of its position inside cap_counter_value.instance */
};

struct cap_rec_counter {
	struct cap_rec h; /* what: id */
	uint32_t agent;
	uint32_t name_str, description_str, block_str, expression_str;
	uint32_t flags;  /* CAP_COUNTER_* */
	uint32_t n_dims; /* tail: struct cap_counter_dim[] */
	uint32_t zero;
};
#define CAP_COUNTER_IS_CONSTANT 1u
#define CAP_COUNTER_IS_DERIVED 2u
#define CAP_COUNTER_IS_MODELLED 4u /* a software GPU's value that follows from a model */

/* What an external correlation id stands for: with --kernel-rename, the range's message. */
struct cap_rec_external {
	struct cap_rec h; /* what: string id */
	uint64_t external_id;
};

struct cap_rec_runtime {
	struct cap_rec h; /* what: enum cap_runtime; time: when it was first used */
	uint32_t version;
	uint32_t zero;
};

/* Recording was switched: pause and resume, collection periods, attach and detach. */
struct cap_rec_control {
	struct cap_rec h; /* what: 1 on, 0 off */
	uint32_t cause;   /* enum cap_control_cause */
	uint32_t tid;
};
enum cap_control_cause {
	CAP_CONTROL_ROCTX,
	CAP_CONTROL_PERIOD,
	CAP_CONTROL_ATTACH,
	CAP_CONTROL_LIMIT
};

/* The collector closed its books. Absent: the process was killed, or still runs. */
struct cap_rec_end {
	struct cap_rec h; /* what: enum cap_end_cause; time: fini */
};
enum cap_end_cause { CAP_END_EXIT, CAP_END_SIGNAL, CAP_END_DETACH, CAP_END_EXEC };

#endif
