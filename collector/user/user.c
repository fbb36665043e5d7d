/*
 * user: the functions of rocprofiler-systems/user.h.
 *
 * The collector is reached through weak references: a program that runs without it finds
 * them NULL, and then there are no callbacks. They are set by the first call after the
 * collector's constructor, which may run after constructors that call us.
 */
#include "collector/user/include/rocprofiler-systems/user.h"
#include "base/util.h"
#include "collector/regions.h"

#include <string.h>

#pragma weak col_asked
#pragma weak col_region_intern
#pragma weak col_region_enter_call
#pragma weak col_region_leave_call
#pragma weak col_region_annotate
#pragma weak col_region_annotate_text
#pragma weak col_region_thread
#pragma weak col_region_trace

/* ---- what the collector does ---- */

static int start_trace(void)
{
	col_region_trace(true);
	return 0;
}

static int stop_trace(void)
{
	col_region_trace(false);
	return 0;
}

static int start_thread_trace(void)
{
	col_region_thread(true);
	return 0;
}

static int stop_thread_trace(void)
{
	col_region_thread(false);
	return 0;
}

/* clang-format off */
/* type, C type, kind, what its bits are */
#define VALUE_TABLE(X)                                                    \
	X(SIZE_T,  size_t,   CAP_ARG_U64, uint64_t)                       \
	X(INT64,   int64_t,  CAP_ARG_I64, int64_t)                        \
	X(UINT64,  uint64_t, CAP_ARG_U64, uint64_t)                       \
	X(FLOAT64, double,   CAP_ARG_F64, double)                         \
	X(INT32,   int32_t,  CAP_ARG_I64, int64_t)                        \
	X(UINT32,  uint32_t, CAP_ARG_U64, uint64_t)                       \
	X(FLOAT32, float,    CAP_ARG_F64, double)                         \
	X(INT16,   int16_t,  CAP_ARG_I64, int64_t)                        \
	X(UINT16,  uint16_t, CAP_ARG_U64, uint64_t)
/* clang-format on */

static void annotate(const rocprofsys_annotation_t *a)
{
	uint64_t bits;

	if (!a->name || !a->value)
		return; /* how programs leave one out */
	switch (a->type) {
	case ROCPROFSYS_VALUE_CSTR:
		col_region_annotate_text(a->name, a->value);
		return;
	case ROCPROFSYS_VALUE_VOID_P:
		col_region_annotate(a->name, CAP_ARG_PTR, (uintptr_t)a->value);
		return;
#define VALUE_CASE(TYPE, C, KIND, WIDE)                                                            \
	case ROCPROFSYS_VALUE_##TYPE: {                                                            \
		C value;                                                                           \
		WIDE wide;                                                                         \
		memcpy(&value, a->value, sizeof(value));                                           \
		wide = value;                                                                      \
		memcpy(&bits, &wide, sizeof(bits));                                                \
		col_region_annotate(a->name, KIND, bits);                                          \
		return;                                                                            \
	}
		VALUE_TABLE(VALUE_CASE)
#undef VALUE_CASE
	default:
		return; /* from a newer header */
	}
}

static void annotate_all(const rocprofsys_annotation_t *annotations, size_t n)
{
	for (size_t i = 0; annotations && i < n; i++)
		annotate(&annotations[i]);
}

static int push_annotated(const char *name, rocprofsys_annotation_t *annotations, size_t n)
{
	col_region_enter_call(col_region_intern(CAP_REGION_USER, name, NULL, 0));
	annotate_all(annotations, n);
	return 0;
}

static int pop_annotated(const char *name, rocprofsys_annotation_t *annotations, size_t n)
{
	annotate_all(annotations, n);
	col_region_leave_call(col_region_intern(CAP_REGION_USER, name, NULL, 0));
	return 0;
}

static int annotated_progress(const char *name, rocprofsys_annotation_t *annotations, size_t n)
{
	uint32_t id = col_region_intern(CAP_REGION_CAUSAL, name, NULL, 0);

	col_region_enter_call(id);
	annotate_all(annotations, n);
	col_region_leave_call(id);
	return 0;
}

static int push(const char *name)
{
	return push_annotated(name, NULL, 0);
}

static int pop(const char *name)
{
	return pop_annotated(name, NULL, 0);
}

static int progress(const char *name)
{
	return annotated_progress(name, NULL, 0);
}

static const rocprofsys_user_callbacks_t collector_callbacks = {
	.start_trace = start_trace,
	.stop_trace = stop_trace,
	.start_thread_trace = start_thread_trace,
	.stop_thread_trace = stop_thread_trace,
	.push_region = push,
	.pop_region = pop,
	.progress = progress,
	.push_annotated_region = push_annotated,
	.pop_annotated_region = pop_annotated,
	.annotated_progress = annotated_progress,
};

static rocprofsys_user_callbacks_t callbacks;
static bool bound; /* the callbacks are as they should be at first, or as the program set them */

static rocprofsys_user_callbacks_t *current(void)
{
	if (!__atomic_load_n(&bound, __ATOMIC_ACQUIRE) && col_asked && col_region_intern &&
	    col_asked(COL_SERVICE_REGIONS)) {
		callbacks = collector_callbacks; /* by several threads: the same bytes */
		__atomic_store_n(&bound, true, __ATOMIC_RELEASE);
	}
	return &callbacks;
}

/* ---- the interface ---- */

static int result(int status)
{
	return status ? ROCPROFSYS_USER_ERROR_INTERNAL : ROCPROFSYS_USER_SUCCESS;
}

static int call_trace(rocprofsys_trace_func_t fn)
{
	return fn ? result(fn()) : ROCPROFSYS_USER_ERROR_NO_BINDING;
}

static int call_region(rocprofsys_region_func_t fn, const char *name)
{
	if (!fn)
		return ROCPROFSYS_USER_ERROR_NO_BINDING;
	return name ? result(fn(name)) : ROCPROFSYS_USER_ERROR_BAD_VALUE;
}

static int call_annotated(rocprofsys_annotated_region_func_t fn, const char *name,
			  rocprofsys_annotation_t *annotations, size_t n)
{
	if (!fn)
		return ROCPROFSYS_USER_ERROR_NO_BINDING;
	if (!name || (n && !annotations))
		return ROCPROFSYS_USER_ERROR_BAD_VALUE;
	return result(fn(name, annotations, n));
}

WS_PUBLIC int rocprofsys_user_start_trace(void)
{
	return call_trace(current()->start_trace);
}

WS_PUBLIC int rocprofsys_user_stop_trace(void)
{
	return call_trace(current()->stop_trace);
}

WS_PUBLIC int rocprofsys_user_start_thread_trace(void)
{
	return call_trace(current()->start_thread_trace);
}

WS_PUBLIC int rocprofsys_user_stop_thread_trace(void)
{
	return call_trace(current()->stop_thread_trace);
}

WS_PUBLIC int rocprofsys_user_push_region(const char *name)
{
	return call_region(current()->push_region, name);
}

WS_PUBLIC int rocprofsys_user_pop_region(const char *name)
{
	return call_region(current()->pop_region, name);
}

WS_PUBLIC int rocprofsys_user_progress(const char *name)
{
	return call_region(current()->progress, name);
}

WS_PUBLIC int rocprofsys_user_push_annotated_region(const char *name,
						    rocprofsys_annotation_t *annotations,
						    size_t n_annotations)
{
	return call_annotated(current()->push_annotated_region, name, annotations, n_annotations);
}

WS_PUBLIC int rocprofsys_user_pop_annotated_region(const char *name,
						   rocprofsys_annotation_t *annotations,
						   size_t n_annotations)
{
	return call_annotated(current()->pop_annotated_region, name, annotations, n_annotations);
}

WS_PUBLIC int rocprofsys_user_annotated_progress(const char *name,
						 rocprofsys_annotation_t *annotations,
						 size_t n_annotations)
{
	return call_annotated(current()->annotated_progress, name, annotations, n_annotations);
}

/* clang-format off */
#define CALLBACK_TABLE(X)                                                         \
	X(start_trace) X(stop_trace) X(start_thread_trace) X(stop_thread_trace)   \
	X(push_region) X(pop_region) X(progress)                                  \
	X(push_annotated_region) X(pop_annotated_region) X(annotated_progress)
/* clang-format on */

WS_PUBLIC int rocprofsys_user_configure(rocprofsys_user_configure_mode_t mode,
					rocprofsys_user_callbacks_t given,
					rocprofsys_user_callbacks_t *old)
{
	rocprofsys_user_callbacks_t before = *current();
	int status = ROCPROFSYS_USER_SUCCESS;

#define UNION_ROW(field)                                                                           \
	if (given.field)                                                                           \
		callbacks.field = given.field;
#define INTERSECT_ROW(field)                                                                       \
	if (given.field != callbacks.field)                                                        \
		callbacks.field = NULL;
	switch (mode) {
	case ROCPROFSYS_USER_UNION_CONFIG:
		CALLBACK_TABLE(UNION_ROW)
		break;
	case ROCPROFSYS_USER_REPLACE_CONFIG:
		callbacks = given;
		break;
	case ROCPROFSYS_USER_INTERSECT_CONFIG:
		CALLBACK_TABLE(INTERSECT_ROW)
		break;
	default:
		status = ROCPROFSYS_USER_ERROR_INVALID_CATEGORY;
	}
#undef UNION_ROW
#undef INTERSECT_ROW
	__atomic_store_n(&bound, true, __ATOMIC_RELEASE);
	if (old)
		*old = before;
	return status;
}

WS_PUBLIC int rocprofsys_user_get_callbacks(rocprofsys_user_callbacks_t *out)
{
	if (!out)
		return ROCPROFSYS_USER_ERROR_BAD_VALUE;
	*out = *current();
	return ROCPROFSYS_USER_SUCCESS;
}

WS_PUBLIC const char *rocprofsys_user_error_string(int error)
{
	static const char *const texts[] = {
		[ROCPROFSYS_USER_SUCCESS] = "Success",
		[ROCPROFSYS_USER_ERROR_NO_BINDING] = "Function pointer not assigned",
		[ROCPROFSYS_USER_ERROR_BAD_VALUE] = "Invalid value was provided",
		[ROCPROFSYS_USER_ERROR_INVALID_CATEGORY] = "Invalid user binding category",
		[ROCPROFSYS_USER_ERROR_INTERNAL] = "The callback reported an error",
	};

	return error >= 0 && error < ROCPROFSYS_USER_ERROR_LAST ? texts[error] : "Unknown error";
}
