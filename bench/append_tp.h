/* The LTTng-UST tracepoint that bench_append.c compares with: the fields of struct cap_rec_call. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER ws_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "bench/append_tp.h"

#if !defined(WS_BENCH_APPEND_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define WS_BENCH_APPEND_TP_H

#include <lttng/tracepoint.h>
#include <stdint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(ws_bench, call,
	LTTNG_UST_TP_ARGS(uint32_t, op, uint64_t, start, uint64_t, end, uint64_t, corr_id,
		uint64_t, ancestor_id),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, op, op)
		lttng_ust_field_integer(uint64_t, start, start)
		lttng_ust_field_integer(uint64_t, end, end)
		lttng_ust_field_integer(uint64_t, corr_id, corr_id)
		lttng_ust_field_integer(uint64_t, ancestor_id, ancestor_id)))
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
