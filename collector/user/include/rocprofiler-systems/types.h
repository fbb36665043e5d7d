/* Callbacks and return values of rocprofiler-systems/user.h; names and values are AMD's. */
#ifndef ROCPROFSYS_TYPES_H_
#define ROCPROFSYS_TYPES_H_

#include "rocprofiler-systems/categories.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int (*rocprofsys_trace_func_t)(void);
typedef int (*rocprofsys_region_func_t)(const char *name);
typedef int (*rocprofsys_annotated_region_func_t)(const char *name,
						  rocprofsys_annotation_t *annotations,
						  size_t n_annotations);

/* What the functions of user.h call; NULL: nothing, and they return NO_BINDING. */
typedef struct rocprofsys_user_callbacks {
	rocprofsys_trace_func_t start_trace;
	rocprofsys_trace_func_t stop_trace;
	rocprofsys_trace_func_t start_thread_trace;
	rocprofsys_trace_func_t stop_thread_trace;
	rocprofsys_region_func_t push_region;
	rocprofsys_region_func_t pop_region;
	rocprofsys_region_func_t progress;
	rocprofsys_annotated_region_func_t push_annotated_region;
	rocprofsys_annotated_region_func_t pop_annotated_region;
	rocprofsys_annotated_region_func_t annotated_progress;
} rocprofsys_user_callbacks_t;

#ifndef ROCPROFSYS_USER_CALLBACKS_INIT
#define ROCPROFSYS_USER_CALLBACKS_INIT                                                             \
	{                                                                                          \
		NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL                         \
	}
#endif

typedef enum ROCPROFSYS_USER_CONFIGURE_MODE {
	ROCPROFSYS_USER_UNION_CONFIG = 0, /* the given callbacks that are not NULL */
	ROCPROFSYS_USER_REPLACE_CONFIG,   /* all given callbacks, also those that are NULL */
	ROCPROFSYS_USER_INTERSECT_CONFIG, /* keep those that are equal; the others become NULL */
	ROCPROFSYS_USER_CONFIGURE_MODE_LAST
} rocprofsys_user_configure_mode_t;

typedef enum ROCPROFSYS_USER_ERROR {
	ROCPROFSYS_USER_SUCCESS = 0,
	ROCPROFSYS_USER_ERROR_NO_BINDING, /* the profiler is not loaded, or there is no callback */
	ROCPROFSYS_USER_ERROR_BAD_VALUE,
	ROCPROFSYS_USER_ERROR_INVALID_CATEGORY,
	ROCPROFSYS_USER_ERROR_INTERNAL, /* the callback returned something other than 0 */
	ROCPROFSYS_USER_ERROR_LAST
} rocprofsys_user_error_t;

#ifdef __cplusplus
}
#endif

#endif
