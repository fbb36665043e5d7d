#include "base/vec.h"

#include <stdint.h>

enum ws_status ws_vec_grow_(void **at, size_t n, size_t *cap, size_t max_n, size_t more,
			    size_t elem_bytes, struct ws_err *err)
{
	size_t want, next, bytes;
	void *moved;

	if (more > max_n || n > max_n - more)
		return ws_fail(err, WS_E_LIMIT, "more than %zu elements", max_n);
	want = n + more;
	/* A factor of 1.5: growing stays linear, and freed blocks can be reused. */
	next = *cap + *cap / 2;
	next = WS_MIN(WS_MAX(WS_MAX(next, want), (size_t)8), max_n);
	if (__builtin_mul_overflow(next, elem_bytes, &bytes))
		return ws_fail(err, WS_E_NOMEM, "out of memory for %zu elements", next);
	moved = realloc(*at, bytes);
	if (!moved)
		return ws_fail(err, WS_E_NOMEM, "out of memory for %zu elements", next);
	*at = moved;
	*cap = next;
	return WS_OK;
}
