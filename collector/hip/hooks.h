/*
 * hooks: the HIP functions that need special handling. hip.abi names them; the hooks run
 * whether or not HIP calls are recorded, because streams are numbered from creation on.
 *
 * Called by wrappers: before hooks get the arguments; after hooks the result (of functions
 * that have one), what the before hook returned or 0, and the arguments.
 */
#ifndef WS_COLLECTOR_HIP_HOOKS_H
#define WS_COLLECTOR_HIP_HOOKS_H

#include <stdint.h>

struct cap_writer;

/* HIP may make a stream by calling another of these functions: it is one stream, numbered once. */
uint64_t col_hip_creating_(void);
#define col_hip_creating(...) col_hip_creating_() /* whatever the function takes */
void col_hip_created(int32_t ret, uint64_t token, void *stream);
void col_hip_created_flags(int32_t ret, uint64_t token, void *stream, uint32_t flags);
void col_hip_created_priority(int32_t ret, uint64_t token, void *stream, uint32_t flags,
			      int32_t priority);
void col_hip_created_context(int32_t ret, uint64_t token, void *stream, void *context,
			     uint32_t flags, int32_t priority);
void col_hip_created_mask(int32_t ret, uint64_t token, void *stream, uint32_t n_words, void *mask);

/* Before, because HIP may reuse the handle for a new stream as soon as it is released. */
uint64_t col_hip_destroying(void *stream);
void col_hip_destroyed(int32_t ret, uint64_t id, void *stream);

/* A kernel's stub and its name. Pointers are kept until the module goes; texts are the module's. */
void col_hip_host_function(uint64_t token, void *modules, void *host_function,
			   void *device_function, const char *device_name, uint32_t thread_limit,
			   void *thread_id, void *block_id, void *block_dim, void *grid_dim,
			   void *workgroup_size);
uint64_t col_hip_module_gone(void *modules);

/* HIP's own dlsym gives out addresses past the wrappers; give out the wrapper's. */
void col_hip_proc_address(int32_t ret, uint64_t token, const char *symbol, void *out_function,
			  int32_t version, uint64_t flags, void *status);

/* For the provider. */
void col_hip_host_functions_state(struct cap_writer *writer);
void col_hip_host_functions_forked(void);

#endif
