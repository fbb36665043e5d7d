/*
 * user: the regions of a program, in the trace and profile of rocprof-sys. Link with
 * -lrocprof-sys-user. Names are AMD's.
 *
 * Without the profiler every function returns ROCPROFSYS_USER_ERROR_NO_BINDING and does nothing.
 * Regions belong to the calling thread and nest. A pop whose name is not that of the innermost
 * region also ends the regions inside.
 *
 * Threads  any.
 * Memory   names and values are copied.
 */
#ifndef ROCPROFSYS_USER_H_
#define ROCPROFSYS_USER_H_

#include "rocprofiler-systems/categories.h"
#include "rocprofiler-systems/types.h"

#ifndef ROCPROFSYS_PUBLIC_API
#define ROCPROFSYS_PUBLIC_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Recording of the whole process, of everything that was requested; on at the start. */
ROCPROFSYS_PUBLIC_API int rocprofsys_user_start_trace(void);
ROCPROFSYS_PUBLIC_API int rocprofsys_user_stop_trace(void);

/* Recording of regions of the calling thread; on at the start. */
ROCPROFSYS_PUBLIC_API int rocprofsys_user_start_thread_trace(void);
ROCPROFSYS_PUBLIC_API int rocprofsys_user_stop_thread_trace(void);

ROCPROFSYS_PUBLIC_API int rocprofsys_user_push_region(const char *name);
ROCPROFSYS_PUBLIC_API int rocprofsys_user_pop_region(const char *name);

/* The same with values. Values given to pop are added to those given to push. */
ROCPROFSYS_PUBLIC_API int rocprofsys_user_push_annotated_region(
	const char *name, rocprofsys_annotation_t *annotations, size_t n_annotations);
ROCPROFSYS_PUBLIC_API int rocprofsys_user_pop_annotated_region(const char *name,
							       rocprofsys_annotation_t *annotations,
							       size_t n_annotations);

/* A step of the program's work is done: a region without duration, category causal. */
ROCPROFSYS_PUBLIC_API int rocprofsys_user_progress(const char *name);
ROCPROFSYS_PUBLIC_API int rocprofsys_user_annotated_progress(const char *name,
							     rocprofsys_annotation_t *annotations,
							     size_t n_annotations);

/* Replaces the functions that are called. *@old gets the ones before; it may be NULL. */
ROCPROFSYS_PUBLIC_API int rocprofsys_user_configure(rocprofsys_user_configure_mode_t mode,
						    rocprofsys_user_callbacks_t callbacks,
						    rocprofsys_user_callbacks_t *old);
ROCPROFSYS_PUBLIC_API int rocprofsys_user_get_callbacks(rocprofsys_user_callbacks_t *out);

ROCPROFSYS_PUBLIC_API const char *rocprofsys_user_error_string(int error);

#ifdef __cplusplus
}
#endif

#endif
