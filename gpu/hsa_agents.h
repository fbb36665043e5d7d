/*
 * hsa_agents: the agents as AMD's HSA runtime reports them, all that rocminfo shows.
 *
 * This is the one discovery of what a program will see. The runtime aborts when it disagrees with
 * its driver library, so it is asked in a child process, in the environment that the program will
 * have: the child calls gpu_hsa_agents_query() and gpu_hsa_agents_send(), the parent
 * gpu_hsa_agents_ask(). What is sent is struct gpu_hsa_agents without its unused tail, over a
 * file descriptor of its own: the child's standard output and error are the runtime's.
 *
 * Threads  one.
 */
#ifndef WS_GPU_HSA_AGENTS_H
#define WS_GPU_HSA_AGENTS_H

#include "base/error.h"
#include "gpu/agent.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * What the runtime is asked of each agent: type, member, its length, attribute (HSA_...).
 * Kernels run on GPUs only, and the second table is asked of those that run them.
 */
/* clang-format off */
#define GPU_HSA_AGENT_TABLE(X)                                                                     \
	X(char,     name,               [64], HSA_AGENT_INFO_NAME)                                 \
	X(char,     uuid,               [64], HSA_AMD_AGENT_INFO_UUID)                             \
	X(char,     product,            [64], HSA_AMD_AGENT_INFO_PRODUCT_NAME)                     \
	X(char,     vendor,             [64], HSA_AGENT_INFO_VENDOR_NAME)                          \
	X(uint32_t, feature,            ,     HSA_AGENT_INFO_FEATURE)                              \
	X(uint32_t, profile,            ,     HSA_AGENT_INFO_PROFILE)                              \
	X(uint32_t, float_rounding,     ,     HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE)          \
	X(uint32_t, queues_max,         ,     HSA_AGENT_INFO_QUEUES_MAX)                           \
	X(uint32_t, queue_min_size,     ,     HSA_AGENT_INFO_QUEUE_MIN_SIZE)                       \
	X(uint32_t, queue_max_size,     ,     HSA_AGENT_INFO_QUEUE_MAX_SIZE)                       \
	X(uint32_t, queue_type,         ,     HSA_AGENT_INFO_QUEUE_TYPE)                           \
	X(uint32_t, node,               ,     HSA_AGENT_INFO_NODE)                                 \
	X(uint32_t, device_type,        ,     HSA_AGENT_INFO_DEVICE)                               \
	X(uint32_t, cache_bytes,        [4],  HSA_AGENT_INFO_CACHE_SIZE)                           \
	X(uint32_t, chip_id,            ,     HSA_AMD_AGENT_INFO_CHIP_ID)                          \
	X(uint32_t, cacheline_bytes,    ,     HSA_AMD_AGENT_INFO_CACHELINE_SIZE)                   \
	X(uint32_t, freq_mhz,           ,     HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY)              \
	X(uint32_t, bdfid,              ,     HSA_AMD_AGENT_INFO_BDFID)                            \
	X(uint32_t, domain,             ,     HSA_AMD_AGENT_INFO_DOMAIN)                           \
	X(uint32_t, driver_node,        ,     HSA_AMD_AGENT_INFO_DRIVER_NODE_ID)                   \
	X(uint32_t, n_cus,              ,     HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT)               \
	X(uint32_t, simds_per_cu,       ,     HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU)                 \
	X(uint32_t, n_ses,              ,     HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES)               \
	X(uint32_t, arrays_per_se,      ,     HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE)         \
	X(uint32_t, watch_points,       ,     HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS)

#define GPU_HSA_KERNEL_AGENT_TABLE(X)                                                              \
	X(uint8_t,  fast_f16,           ,     HSA_AGENT_INFO_FAST_F16_OPERATION)                   \
	X(uint32_t, wave_size,          ,     HSA_AGENT_INFO_WAVEFRONT_SIZE)                       \
	X(uint32_t, workgroup_max,      ,     HSA_AGENT_INFO_WORKGROUP_MAX_SIZE)                   \
	X(uint16_t, workgroup_max_dim,  [3],  HSA_AGENT_INFO_WORKGROUP_MAX_DIM)                    \
	X(uint32_t, waves_per_cu,       ,     HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU)                 \
	X(uint32_t, grid_max,           ,     HSA_AGENT_INFO_GRID_MAX_SIZE)                        \
	X(uint32_t, grid_max_dim,       [3],  HSA_AGENT_INFO_GRID_MAX_DIM)                         \
	X(uint32_t, fbarriers_max,      ,     HSA_AGENT_INFO_FBARRIER_MAX_SIZE)

#define GPU_HSA_POOL_TABLE(X)                                                                      \
	X(uint32_t, segment,            ,     HSA_AMD_MEMORY_POOL_INFO_SEGMENT)                    \
	X(uint32_t, flags,              ,     HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS)               \
	X(uint64_t, size_bytes,         ,     HSA_AMD_MEMORY_POOL_INFO_SIZE)                       \
	X(uint8_t,  can_allocate,       ,     HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED)      \
	X(uint64_t, granule_bytes,      ,     HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE)      \
	X(uint64_t, alignment_bytes,    ,     HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT)    \
	X(uint8_t,  accessible_by_all,  ,     HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL)

#define GPU_HSA_ISA_TABLE(X)                                                                       \
	X(char,     name,               [256], HSA_ISA_INFO_NAME)                                  \
	X(uint8_t,  machine_models,     [2],  HSA_ISA_INFO_MACHINE_MODELS)                         \
	X(uint8_t,  profiles,           [2],  HSA_ISA_INFO_PROFILES)                               \
	X(uint8_t,  roundings,          [3],  HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES)           \
	X(uint8_t,  base_roundings,     [3],  HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES) \
	X(uint8_t,  fast_f16,           ,     HSA_ISA_INFO_FAST_F16_OPERATION)                     \
	X(uint16_t, workgroup_max_dim,  [3],  HSA_ISA_INFO_WORKGROUP_MAX_DIM)                      \
	X(uint32_t, workgroup_max,      ,     HSA_ISA_INFO_WORKGROUP_MAX_SIZE)                     \
	X(uint64_t, grid_max,           ,     HSA_ISA_INFO_GRID_MAX_SIZE)                          \
	X(uint32_t, grid_max_dim,       [3],  HSA_ISA_INFO_GRID_MAX_DIM)                           \
	X(uint32_t, fbarriers_max,      ,     HSA_ISA_INFO_FBARRIER_MAX_SIZE)
/* clang-format on */

#define GPU_HSA_FIELD(type, member, length, attribute) type member length;

struct gpu_hsa_pool {
	GPU_HSA_POOL_TABLE(GPU_HSA_FIELD)
};

struct gpu_hsa_isa {
	GPU_HSA_ISA_TABLE(GPU_HSA_FIELD)
};

#define GPU_HSA_POOLS_MAX 16 /* of one agent */
#define GPU_HSA_ISAS_MAX 8

struct gpu_hsa_agent {
	GPU_HSA_AGENT_TABLE(GPU_HSA_FIELD)
	GPU_HSA_KERNEL_AGENT_TABLE(GPU_HSA_FIELD)
	uint8_t runs_kernels; /* the second table has been asked */
	uint8_t has_isas;     /* CPUs have none */
	uint32_t n_pools, n_isas;
	struct gpu_hsa_pool pools[GPU_HSA_POOLS_MAX];
	struct gpu_hsa_isa isas[GPU_HSA_ISAS_MAX];
};

#undef GPU_HSA_FIELD

#define GPU_HSA_AGENTS_VERSION 1

/* Also the message between the processes, up to agents[n_agents]; texts end with a NUL. */
struct gpu_hsa_agents {
	char magic[8];                        /* "wsagents" */
	uint32_t version;                     /* GPU_HSA_AGENTS_VERSION */
	uint32_t n_bytes_head, n_bytes_agent; /* what the sender was compiled with */
	uint32_t status;                      /* enum ws_status: the runtime failed; why: error */
	char error[240];
	char library[512]; /* the runtime's file: path, size and time */
	uint16_t version_major, version_minor;
	uint32_t endianness, machine_model;
	uint64_t timestamp_hz, max_wait;
	uint8_t soft; /* the driver library is the software GPU */
	uint32_t n_agents;
	struct gpu_hsa_agent agents[GPU_AGENTS_MAX];
};

/* ---- in the child ---- */

/*
 * Start the runtime, ask it and shut it down. @through: fail unless this driver library was
 * loaded; NULL: any. A failure is in *out_agents too, so that it can be sent.
 */
enum ws_status gpu_hsa_agents_query(const char *through, struct gpu_hsa_agents *out_agents,
				    struct ws_err *err);
enum ws_status gpu_hsa_agents_send(int fd, const struct gpu_hsa_agents *agents, struct ws_err *err);

/* One agent of a runtime that this process has started; @handle: its hsa_agent_t. */
enum ws_status gpu_hsa_agent_query(uint64_t handle, struct gpu_hsa_agent *out_agent,
				   struct ws_err *err);
/* A function of the software GPU (softgpu/counters/service.h); NULL if this process is not on it. */
void *gpu_soft_function(const char *name);
bool gpu_hsa_is_soft(void);

/* ---- in the parent ---- */

#define GPU_HSA_CHILD_FD "--to" /* the child's option for the descriptor to send to */

struct gpu_hsa_ask {
	const char *program;
	char *const *argv; /* of the child; GPU_HSA_CHILD_FD and a number are appended */
	char *const *envp;
	int timeout_ms; /* 0: the runtime's output goes to ours, and there is no limit */
};

/*
 * The runtime's failure comes with its status and text. A child that is ended by a signal is
 * WS_E_STATE, with the last line that it wrote unless that went to our own output.
 */
enum ws_status gpu_hsa_agents_ask(const struct gpu_hsa_ask *ask, struct gpu_hsa_agents *out_agents,
				  struct ws_err *err);

/* What was sent; trusts nothing. WS_E_FORMAT: it is no message, or of another build. */
enum ws_status gpu_hsa_agents_receive(const void *bytes, size_t n,
				      struct gpu_hsa_agents *out_agents, struct ws_err *err);

/* ---- as descriptions ---- */

void gpu_agent_of_hsa(const struct gpu_hsa_agent *from, bool soft, struct gpu_agent *out_agent);

/* The GPUs among them. */
void gpu_agents_of_hsa(const struct gpu_hsa_agents *from, struct gpu_agents *out_agents);

#endif
