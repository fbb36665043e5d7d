/*
 * vec: a typed array that grows, up to a ceiling.
 *
 *	WS_VEC(struct ws_span) spans;
 *
 *	ws_vec_init(&spans, 1 << 20);
 *	st = ws_vec_push(&spans, ((struct ws_span){ 1, 2 }), err);
 *	ws_vec_each(span, &spans)
 *		use(span);
 *	ws_vec_fini(&spans);
 *
 * `at` and `n` may be read directly; pointers into `at` are valid until the
 * next push or reserve. A failed push leaves the array as it was.
 *
 * Threads  one at a time.
 */
#ifndef WS_BASE_VEC_H
#define WS_BASE_VEC_H

#include "base/error.h"

#include <stddef.h>
#include <stdlib.h>

/* clang-format off */
#define WS_VEC(T)                                                                                  \
	struct {                                                                                   \
		T *at;                                                                             \
		size_t n, cap, max_n;                                                              \
	}

/* For passing a vector between functions: WS_VEC_TYPE(ws_names, const char *). */
#define WS_VEC_TYPE(name, T)                                                                       \
	struct name {                                                                              \
		T *at;                                                                             \
		size_t n, cap, max_n;                                                              \
	}

WS_VEC_TYPE(ws_strv, const char *);

#define ws_vec_init(v, max)                                                                        \
	((v)->at = NULL, (v)->n = 0, (v)->cap = 0, (v)->max_n = (max), (void)0)

#define ws_vec_fini(v) (free((void *)(v)->at), (v)->at = NULL, (v)->n = 0, (v)->cap = 0, (void)0)

#define ws_vec_clear(v) ((v)->n = 0, (void)0) /* keeps the memory for the next turn */

/* Reserve space for at least @more further elements. */
#define ws_vec_reserve(v, more, err)                                                               \
	((v)->cap - (v)->n >= (more)                                                               \
		 ? WS_OK                                                                           \
		 : ws_vec_grow_((void **)&(v)->at, (v)->n, &(v)->cap, (v)->max_n, (more),          \
				sizeof(*(v)->at), (err)))

#define ws_vec_push(v, value, err)                                                                 \
	({                                                                                         \
		enum ws_status push_st_ = ws_vec_reserve((v), (size_t)1, (err));                   \
		if (!push_st_)                                                                     \
			(v)->at[(v)->n++] = (value);                                               \
		push_st_;                                                                          \
	})

#define ws_vec_each(elem, v)                                                                       \
	for (__typeof__((v)->at) elem = (v)->at, end_##elem = elem + (v)->n;                       \
	     elem != end_##elem; elem++)

#define ws_vec_sort(v, compare)                                                                    \
	((v)->n ? qsort((void *)(v)->at, (v)->n, sizeof(*(v)->at), (compare)) : (void)0)

/* clang-format on */

/* For the macros above. */
enum ws_status ws_vec_grow_(void **at, size_t n, size_t *cap, size_t max_n, size_t more,
			    size_t elem_bytes, struct ws_err *err);

#endif
