/*
 * tables: ROCr's tools interface, declared for C.
 *
 * AMD's hsa_api_trace.h is C++ only. A table is four words of version and then
 * function pointers; the version's `minor` is the table's size in bytes, which is
 * how a tool knows which functions are there. Names are AMD's.
 */
#ifndef WS_COLLECTOR_HSA_TABLES_H
#define WS_COLLECTOR_HSA_TABLES_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ext_finalize.h>
#include <hsa/hsa_ext_image.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void (*hsa_amd_queue_intercept_packet_writer)(const void *pkts, uint64_t pkt_count);
typedef void (*hsa_amd_queue_intercept_handler)(const void *pkts, uint64_t pkt_count,
						uint64_t user_pkt_index, void *data,
						hsa_amd_queue_intercept_packet_writer writer);
typedef void (*hsa_amd_runtime_queue_notifier)(const hsa_queue_t *queue, hsa_agent_t agent,
					       void *data);

struct col_hsa_table {
	uint32_t major, minor, step, reserved; /* minor: size in bytes */
	void (*functions[])(void);
};

struct col_hsa_root {
	uint32_t major, minor, step, reserved;
	struct col_hsa_table *core, *amd, *finalizer, *image;
	struct col_hsa_table *tools; /* from 6.0 on */
	/* later versions have further tables, which are not used here */
};

/* The last is not one of functions to wrap: a tool puts its own into it. */
enum col_hsa_table_id {
	COL_HSA_CORE,
	COL_HSA_AMD,
	COL_HSA_IMAGE,
	COL_HSA_FINALIZER,
	COL_HSA_TOOLS,
	COL_HSA_TABLES,
};

#endif
