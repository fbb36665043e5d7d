/*
 * rocpd_priv: the database under construction.
 *
 * rocpd.c has the file, rocpd_facts.c what is not an event, rocpd_events.c the events of API
 * calls and GPUs, rocpd_host.c those of the CPU side.
 */
#ifndef WS_OUTPUT_ROCPD_PRIV_H
#define WS_OUTPUT_ROCPD_PRIV_H

#include "output/jsonw.h"
#include "output/output_priv.h"

#include <sqlite3.h>

/* clang-format off */
/* name, table, columns; one prepared INSERT each */
#define OUTPUT_ROCPD_STATEMENTS(X)                                                                     \
	X(METADATA, "rocpd_metadata", "tag, value")                                                \
	X(STRING, "rocpd_string", "id, string")                                                    \
	X(NODE, "rocpd_info_node", "id, hash, machine_id, system_name, hostname, release, "        \
		"version, hardware_name, domain_name")                                             \
	X(PROCESS, "rocpd_info_process", "id, nid, ppid, pid, init, fini, start, end, command, "   \
		"environment, extdata")                                                            \
	X(THREAD, "rocpd_info_thread", "id, nid, ppid, pid, tid, name")                            \
	X(AGENT, "rocpd_info_agent", "id, nid, pid, type, absolute_index, logical_index, "         \
		"type_index, uuid, name, model_name, vendor_name, product_name, user_name, "       \
		"extdata")                                                                         \
	X(QUEUE, "rocpd_info_queue", "id, nid, pid, name")                                         \
	X(STREAM, "rocpd_info_stream", "id, nid, pid, name")                                       \
	X(PMC, "rocpd_info_pmc", "id, nid, pid, agent_id, target_arch, name, symbol, "             \
		"description, long_description, component, value_type, block, expression, "        \
		"is_constant, is_derived, extdata")                                                \
	X(METRIC, "rocpd_info_pmc", "id, nid, pid, agent_id, target_arch, name, symbol, "          \
		"long_description, component, units, value_type")                                  \
	X(CODE_OBJECT, "rocpd_info_code_object", "id, nid, pid, agent_id, uri, load_base, "        \
		"load_size, load_delta, extdata")                                                  \
	X(KERNEL, "rocpd_info_kernel_symbol", "id, nid, pid, code_object_id, kernel_name, "        \
		"display_name, kernel_object, kernarg_segment_size, kernarg_segment_alignment, "   \
		"group_segment_size, private_segment_size, sgpr_count, arch_vgpr_count, "          \
		"accum_vgpr_count, extdata")                                                       \
	X(TRACK, "rocpd_track", "id, nid, pid, tid, name_id")                                      \
	X(EVENT, "rocpd_event", "id, category_id, stack_id, parent_stack_id, correlation_id")      \
	X(EVENT_EXT, "rocpd_event", "id, category_id, stack_id, parent_stack_id, "                 \
		"correlation_id, extdata")                                                         \
	X(EVENT_STACK, "rocpd_event", "id, category_id, stack_id, parent_stack_id, "               \
		"correlation_id, call_stack, line_info")                                           \
	X(PMC_EVENT, "rocpd_pmc_event", "event_id, pmc_id, value")                                 \
	X(REGION, "rocpd_region", "id, nid, pid, tid, start, end, name_id, event_id")              \
	X(SAMPLE, "rocpd_sample", "id, track_id, timestamp, event_id")                             \
	X(DISPATCH, "rocpd_kernel_dispatch", "id, nid, pid, tid, agent_id, kernel_id, "            \
		"dispatch_id, queue_id, stream_id, start, end, private_segment_size, "             \
		"group_segment_size, workgroup_size_x, workgroup_size_y, workgroup_size_z, "       \
		"grid_size_x, grid_size_y, grid_size_z, region_name_id, event_id")                 \
	X(COPY, "rocpd_memory_copy", "nid, pid, tid, start, end, name_id, dst_agent_id, "          \
		"dst_address, src_agent_id, src_address, size, stream_id, event_id")               \
	X(ALLOCATE, "rocpd_memory_allocate", "nid, pid, tid, agent_id, type, level, start, end, "  \
		"address, size, queue_id, stream_id, event_id")                                    \
	X(SCRATCH, "rocpd_memory_allocate", "nid, pid, tid, agent_id, type, level, start, end, "   \
		"address, size, queue_id, stream_id, event_id, extdata")
/* clang-format on */

enum output_rocpd_statement {
#define OUTPUT_ROCPD_ROW(name, table, columns) OUTPUT_ROCPD_##name,
	OUTPUT_ROCPD_STATEMENTS(OUTPUT_ROCPD_ROW)
#undef OUTPUT_ROCPD_ROW
		OUTPUT_ROCPD_STATEMENT_COUNT
};

#define OUTPUT_ROCPD_CACHE 4096u
/* Arguments are most of the rows. Several at once: half of an insert is not the row. */
#define OUTPUT_ROCPD_ARGS 8

struct output_rocpd_db {
	struct output_run *run;
	struct ws_err *err;
	sqlite3 *db;
	sqlite3_stmt *statements[OUTPUT_ROCPD_STATEMENT_COUNT];
	sqlite3_stmt *args[OUTPUT_ROCPD_ARGS]; /* that many rows, and one */
	char suffix[40];                       /* "_0190..." */
	char path[PATH_MAX];
	uint64_t n_rows;
	uint64_t n_events; /* ids given out */
	uint64_t n_tracks;
	struct output_sink json; /* text of one extdata */

	struct ws_map strings; /* to id */
	struct ws_arena arena;
	struct {
		const char *text;
		int64_t id;
	} cache[OUTPUT_ROCPD_CACHE];
	int64_t kind_ids[CAP_KIND_COUNT], empty_id;

	/* the process being written */
	const struct trc_process *process;
	int64_t base; /* added to its ids, so that several processes fit into one database */
	int64_t nid, pid;
	struct ws_map threads; /* row ids in use, over all processes */
	struct ws_map nodes;   /* hash to row id, over all processes */
	struct ws_map tracks;  /* (thread, kind) to id */
	int64_t *thread_rows;  /* by thread index; 0: not there yet */
	bool *queue_seen, *stream_seen, *kernel_seen;
	uint64_t n_queues, n_streams;
	bool unknown_agent;
	struct ws_arena process_arena;
};

/* Bind by position, one after the other, then output_rocpd_step(). */
struct output_rocpd_row {
	sqlite3_stmt *statement;
	int at;
};
static inline struct output_rocpd_row output_rocpd_row(struct output_rocpd_db *db,
						       enum output_rocpd_statement which)
{
	return (struct output_rocpd_row){ db->statements[which], 0 };
}
static inline void output_rocpd_int(struct output_rocpd_row *row, int64_t v)
{
	sqlite3_bind_int64(row->statement, ++row->at, v);
}
static inline void output_rocpd_null(struct output_rocpd_row *row)
{
	sqlite3_bind_null(row->statement, ++row->at);
}
/* The text stays where it is until the step. NULL is NULL. */
void output_rocpd_text_n(struct output_rocpd_row *row, const char *text, size_t n);
static inline void output_rocpd_text(struct output_rocpd_row *row, const char *text)
{
	output_rocpd_text_n(row, text, text ? strlen(text) : 0);
}
static inline void output_rocpd_bind_thread(const struct output_rocpd_db *db,
					    struct output_rocpd_row *row, int64_t tid)
{
	output_rocpd_int(row, db->nid);
	output_rocpd_int(row, db->pid);
	output_rocpd_int(row, tid);
}
enum ws_status output_rocpd_step(struct output_rocpd_db *db, struct output_rocpd_row *row);
/* The same; a row whose id, which is bound first, is taken gets a new one. */
enum ws_status output_rocpd_step_or_new_id(struct output_rocpd_db *db,
					   struct output_rocpd_row *row);
/* What the database says went wrong, as a failure of ours. */
enum ws_status output_rocpd_fail(struct output_rocpd_db *db);

/* Facts of the process and of the host; all known strings before them. */
enum ws_status output_rocpd_strings(struct output_rocpd_db *db);
enum ws_status output_rocpd_begin_process(struct output_rocpd_db *db,
					  const struct trc_process *process, size_t number);
void output_rocpd_end_process(struct output_rocpd_db *db);

/* Ids of rows, which are inserted when they are not there yet; negative: failed. */
int64_t output_rocpd_string(struct output_rocpd_db *db, const char *text, bool stable);
int64_t output_rocpd_thread(struct output_rocpd_db *db, const struct trc_thread *thread);
int64_t output_rocpd_queue(struct output_rocpd_db *db, uint32_t id);
int64_t output_rocpd_stream(struct output_rocpd_db *db, uint32_t id);
int64_t output_rocpd_kernel(struct output_rocpd_db *db, const struct trc_kernel *kernel);
int64_t output_rocpd_agent(struct output_rocpd_db *db, const struct trc_agent *agent);

/* ---- events of the process ---- */

output_event_fn output_rocpd_put_event; /* of an API or a GPU */
/* All call-stack samples, regions and metrics. */
enum ws_status output_rocpd_put_host(struct output_rocpd_db *db);

/* An argument of a call, an annotation of a region. */
struct output_rocpd_arg {
	const char *type, *name;
	char value[CAP_ARG_STR_MAX + 64], extdata[48];
	size_t n_value, n_extdata;
};
/* @n from 1 to OUTPUT_ROCPD_ARGS. */
enum ws_status output_rocpd_put_args(struct output_rocpd_db *db,
				     const struct output_rocpd_arg *rows, int n, int64_t event_id,
				     int position);

#endif
