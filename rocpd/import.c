/*
 * A database as captures: rows become the records they once were, so that every writer of
 * rocprofv3 works on databases, too, whoever wrote them.
 */
#include "cmd/rocpd/convert.h"

#include "cmd/rocpd/image.h"
#include "trace/trace.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A counter's value for the dispatch of an event. */
struct counted {
	int64_t event;
	struct cap_counter_value value;
};

/* One process of one database. */
struct import {
	sqlite3 *sql;
	struct rpd_image image;
	const char *guid;
	int64_t row;              /* of rocpd_info_process */
	struct ws_map operations; /* "category name" to op */
	uint32_t n_operations;
	sqlite3_stmt *args; /* arguments of all calls, in the order of their events */
	bool more_args;
	struct ws_map counters;        /* row of rocpd_info_pmc to id */
	WS_VEC(struct counted) values; /* by event */
};

static const char *text_at(sqlite3_stmt *stmt, int i)
{
	const char *text = (const char *)sqlite3_column_text(stmt, i);

	return text ? text : "";
}

#define U32(i) ((uint32_t)sqlite3_column_int64(stmt, (i)))
#define U64(i) ((uint64_t)sqlite3_column_int64(stmt, (i)))

/* Run a query over this process's rows: ?1 is the guid, ?2 the row of the process. */
static enum ws_status each(struct import *im, const char *query,
			   void (*take)(struct import *im, sqlite3_stmt *stmt))
{
	struct ws_err *err = im->image.err;
	sqlite3_stmt *stmt = NULL;
	int rc = SQLITE_DONE;

	if (err->status || rpd_prepare(im->sql, query, &stmt, err))
		return err->status;
	sqlite3_bind_text(stmt, 1, im->guid, -1, SQLITE_STATIC);
	sqlite3_bind_int64(stmt, 2, im->row);
	while (!err->status && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
		take(im, stmt);
	if (!err->status && rc != SQLITE_DONE)
		ws_fail(err, WS_E_FORMAT, "SQLite: %s", sqlite3_errmsg(im->sql));
	sqlite3_finalize(stmt);
	return err->status;
}

static uint32_t str(struct import *im, const char *text)
{
	return rpd_image_string(&im->image, text);
}

#define META(im, TYPE, rec)                                                                        \
	rpd_image_meta(&(im)->image, CAP_REC_##TYPE, &(rec).h, sizeof(rec), NULL, 0)

/* ---- facts ---- */

static void put_fact(struct import *im, enum cap_fact fact, const char *text)
{
	struct cap_rec_fact rec = { .h.what = fact, .n_bytes = (uint32_t)strlen(text) };

	if (rec.n_bytes)
		rpd_image_meta(&im->image, CAP_REC_FACT, &rec.h, sizeof(rec), text, rec.n_bytes);
}

/* Whose times those of the GPU are: only our own databases say so. */
static void take_gpu_times(struct import *im, struct cap_rec_process *rec)
{
	struct ws_err none;
	sqlite3_stmt *stmt = NULL;
	const char *times;

	if (rpd_prepare(im->sql,
			"SELECT json_extract(value, '$.gpu_times') FROM rocpd_metadata "
			"WHERE tag = 'wavescope_ledger' AND json_extract(value, '$.pid') = ?1",
			&stmt, &none))
		return;
	sqlite3_bind_int64(stmt, 1, rec->h.what);
	if (sqlite3_step(stmt) == SQLITE_ROW && (times = text_at(stmt, 0)) && *times &&
	    strcmp(times, trc_gpu_times_word(TRC_GPU_TIMES_HARDWARE)) != 0) {
		rec->flags |= CAP_PROCESS_SOFTGPU;
		if (strcmp(times, trc_gpu_times_word(TRC_GPU_TIMES_SIMULATED)) == 0)
			put_fact(im, CAP_FACT_ENV, "WAVESCOPE_GPU_TIME=simulated");
		else if (strcmp(times, trc_gpu_times_word(TRC_GPU_TIMES_COUNTED)) == 0)
			rec->domains |= TRC_DOMAIN_BIT(COUNTER_COLLECTION);
	}
	sqlite3_finalize(stmt);
}

static void take_process(struct import *im, sqlite3_stmt *stmt)
{
	struct cap_rec_process rec = { .h = { .what = U32(0), .time = U64(2) },
				       .ppid = U32(1),
				       .main_tid = U32(0) };
	struct cap_rec_end end = { .h = { .what = CAP_END_EXIT, .time = U64(3) } };
	char *words = strdup(text_at(stmt, 4)), *save = NULL;

	take_gpu_times(im, &rec);
	META(im, PROCESS, rec);
	for (char *word = words ? strtok_r(words, " ", &save) : NULL; word;
	     word = strtok_r(NULL, " ", &save))
		put_fact(im, CAP_FACT_ARGV, word);
	free(words);
	put_fact(im, CAP_FACT_HOSTNAME, text_at(stmt, 5));
	put_fact(im, CAP_FACT_MACHINE_ID, text_at(stmt, 6));
	put_fact(im, CAP_FACT_SYSTEM_NAME, text_at(stmt, 7));
	put_fact(im, CAP_FACT_RELEASE, text_at(stmt, 8));
	put_fact(im, CAP_FACT_VERSION, text_at(stmt, 9));
	META(im, END, end);
}

static void take_thread(struct import *im, sqlite3_stmt *stmt)
{
	struct cap_rec_thread rec = { .h.what = U32(0), .name_str = str(im, text_at(stmt, 1)) };

	META(im, THREAD, rec);
}

/* Ids of agents are their node numbers + 1: 0 is nobody. */
static void take_agent(struct import *im, sqlite3_stmt *stmt)
{
	struct cap_rec_agent rec = {
		.h.what = U32(0) + 1,
		.handle = U64(9),
		.type = strcmp(text_at(stmt, 1), "GPU") ? CAP_AGENT_CPU : CAP_AGENT_GPU,
		.node_id = U32(2),
		.logical_node_id = U32(3),
		.logical_node_type_id = U32(4),
		.name_str = str(im, text_at(stmt, 5)),
		.model_name_str = str(im, text_at(stmt, 6)),
		.vendor_name_str = str(im, text_at(stmt, 7)),
		.product_name_str = str(im, text_at(stmt, 8)),
	};

	rec.gpu_index = rec.type == CAP_AGENT_GPU ? (int32_t)rec.logical_node_type_id : -1;
	META(im, AGENT, rec);
}

static void take_queue(struct import *im, sqlite3_stmt *stmt)
{
	struct cap_rec_queue rec = { .h.what = U32(0), .agent = U32(1) + 1 };

	META(im, QUEUE, rec);
}

static void take_stream(struct import *im, sqlite3_stmt *stmt)
{
	struct cap_rec_stream rec = { .h.what = U32(0), .name_str = str(im, text_at(stmt, 1)) };

	META(im, STREAM, rec);
}

static void take_code_object(struct import *im, sqlite3_stmt *stmt)
{
	struct cap_rec_code_object rec = {
		.h.what = U32(0),
		.agent = U32(1) + 1,
		.uri_str = str(im, text_at(stmt, 2)),
		.load_base = U64(3),
		.load_size = U64(4),
		.load_delta = (int64_t)U64(5),
	};

	META(im, CODE_OBJECT, rec);
}

static void take_kernel(struct import *im, sqlite3_stmt *stmt)
{
	struct cap_rec_kernel rec = {
		.h.what = U32(0),
		.code_object = U32(1),
		.name_str = str(im, text_at(stmt, 2)),
		.kernel_object = U64(3),
		.kernarg_bytes = U32(4),
		.kernarg_alignment = U32(5),
		.group_bytes = U32(6),
		.private_bytes = U32(7),
		.sgpr_count = U32(8),
		.arch_vgpr_count = U32(9),
		.accum_vgpr_count = U32(10),
	};

	META(im, KERNEL, rec);
}

/* ---- counters ---- */

/* Rows are numbered by AMD's handles, which are wider than our ids. */
static void take_counter(struct import *im, sqlite3_stmt *stmt)
{
	struct cap_rec_counter rec = {
		.h.what = (uint32_t)im->counters.n + 1,
		.agent = U32(1) + 1,
		.name_str = str(im, text_at(stmt, 2)),
		.description_str = str(im, text_at(stmt, 3)),
		.block_str = str(im, text_at(stmt, 4)),
		.expression_str = str(im, text_at(stmt, 5)),
		.flags = (U32(6) ? CAP_COUNTER_IS_CONSTANT : 0) |
			 (U32(7) ? CAP_COUNTER_IS_DERIVED : 0),
	};

	if (!ws_map_put_u64(&im->counters, U64(0), (void *)(uintptr_t)rec.h.what, im->image.err))
		META(im, COUNTER, rec);
}

static void take_value(struct import *im, sqlite3_stmt *stmt)
{
	struct counted row = {
		.event = sqlite3_column_int64(stmt, 0),
		.value = { .counter = (uint32_t)(uintptr_t)ws_map_get_u64(&im->counters, U64(1)),
			   .value = sqlite3_column_double(stmt, 2) },
	};

	if (row.value.counter)
		ws_vec_push(&im->values, row, im->image.err);
}

#define VALUES_MAX 1024u

/* The values of the dispatch of @event; how many. */
static uint32_t values_of(const struct import *im, int64_t event, struct cap_counter_value *to)
{
	size_t low = 0, high = im->values.n;
	uint32_t n = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (im->values.at[middle].event < event)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < im->values.n && im->values.at[low].event == event && n < VALUES_MAX; low++)
		to[n++] = im->values.at[low].value;
	return n;
}

/* ---- calls ---- */

#define ARGS_MAX 64u

struct arguments {
	struct cap_op_arg about[ARGS_MAX];
	uint32_t n, n_bytes;
	char slots[ARGS_MAX * 256]; /* length, then text, in whole slots */
};

/* The arguments of event @id; the cursor goes forward only, as the calls do. */
static void take_args(struct import *im, int64_t id, struct arguments *out)
{
	out->n = out->n_bytes = 0;
	while (im->more_args && sqlite3_column_int64(im->args, 0) <= id) {
		const char *value = text_at(im->args, 3);
		uint64_t n = WS_MIN(strlen(value), (size_t)CAP_ARG_STR_MAX);
		uint32_t room = 8 + (uint32_t)CAP_REC_ROUND(n);

		if (sqlite3_column_int64(im->args, 0) == id && out->n < ARGS_MAX &&
		    out->n_bytes + room <= sizeof(out->slots)) {
			char *to = out->slots + out->n_bytes;

			memset(to, 0, room);
			memcpy(to, &n, 8);
			memcpy(to + 8, value, n);
			out->n_bytes += room;
			out->about[out->n++] = (struct cap_op_arg){
				.name_str = str(im, text_at(im->args, 1)),
				.type_str = str(im, text_at(im->args, 2)),
				.kind = CAP_ARG_STR,
			};
		}
		im->more_args = sqlite3_step(im->args) == SQLITE_ROW;
	}
}

/* The kind and domain of a category: "HIP_RUNTIME_API_EXT". */
static void classify(const char *category, uint32_t *out_kind, uint32_t *out_domain)
{
	static const struct {
		const char *prefix;
		enum cap_domain domain;
	} domains[] = {
		{ "HIP", CAP_DOMAIN_HIP_API },         { "HSA", CAP_DOMAIN_HSA_API },
		{ "RCCL", CAP_DOMAIN_RCCL_API },       { "ROCDECODE", CAP_DOMAIN_ROCDECODE_API },
		{ "ROCJPEG", CAP_DOMAIN_ROCJPEG_API }, { "MARKER", CAP_DOMAIN_MARKER_API },
	};

	*out_kind = CAP_KIND_NONE;
	*out_domain = CAP_DOMAIN_HSA_API;
	for (unsigned k = 0; k < CAP_KIND_COUNT; k++)
		if (strcmp(category, trc_kind_name((enum cap_kind)k)) == 0)
			*out_kind = k;
	for (size_t i = 0; i < WS_ARRAY_LEN(domains); i++)
		if (strncmp(category, domains[i].prefix, strlen(domains[i].prefix)) == 0)
			*out_domain = domains[i].domain;
}

static uint32_t operation(struct import *im, const char *category, const char *name,
			  const struct arguments *args)
{
	struct ws_arena *arena = &im->image.arena;
	char key[512];
	struct cap_rec_operation rec = { .n_args = args->n };
	void *known;

	snprintf(key, sizeof(key), "%s %s %u", category, name, args->n);
	known = ws_map_get(&im->operations, key);
	if (known)
		return (uint32_t)(uintptr_t)known;
	rec.h.what = ++im->n_operations;
	rec.id = im->n_operations - 1;
	rec.name_str = str(im, name);
	classify(category, &rec.kind, &rec.domain);
	rpd_image_meta(&im->image, CAP_REC_OPERATION, &rec.h, sizeof(rec), args->about,
		       args->n * sizeof(args->about[0]));
	if (ws_map_put(&im->operations, ws_str_from(ws_arena_strdup(arena, key)),
		       (void *)(uintptr_t)rec.h.what, im->image.err))
		return 0;
	return rec.h.what;
}

static void put_marker(struct import *im, sqlite3_stmt *stmt)
{
	static const struct {
		const char *name;
		enum cap_marker_op op;
	} ops[] = {
		{ "roctxMarkA", CAP_MARKER_MARK },
		{ "roctxThreadRangeA", CAP_MARKER_THREAD_RANGE },
		{ "roctxProcessRangeA", CAP_MARKER_PROCESS_RANGE },
		{ "roctxGetThreadId", CAP_MARKER_GET_THREAD_ID },
		{ "roctxProfilerPause", CAP_MARKER_PAUSE },
		{ "roctxProfilerResume", CAP_MARKER_RESUME },
	};
	struct cap_rec_marker rec = {
		.h = { .what = CAP_MARKER_MARK, .time = U64(4) },
		.end_ticks = U64(5),
		.corr_id = U64(6),
		.ancestor_id = U64(7),
		.message = str(im, text_at(stmt, 9)),
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(ops); i++)
		if (strcmp(text_at(stmt, 2), ops[i].name) == 0)
			rec.h.what = ops[i].op;
	rpd_image_event(&im->image, U32(3), CAP_REC_MARKER, &rec.h, sizeof(rec), NULL, 0);
}

static void take_region(struct import *im, sqlite3_stmt *stmt)
{
	static struct arguments args;
	struct cap_rec_call_args rec = {
		.call = { .h.time = U64(4),
			  .end_ticks = U64(5),
			  .corr_id = U64(6),
			  .ancestor_id = U64(7) },
		.external_id = U64(8),
	};

	take_args(im, sqlite3_column_int64(stmt, 0), &args);
	if (strncmp(text_at(stmt, 1), "MARKER", 6) == 0) {
		put_marker(im, stmt);
		return;
	}
	rec.n_arg_bytes = args.n_bytes;
	rec.call.h.what = operation(im, text_at(stmt, 1), text_at(stmt, 2), &args);
	rpd_image_event(&im->image, U32(3), CAP_REC_CALL_ARGS, &rec.call.h, sizeof(rec), args.slots,
			args.n_bytes);
}

/* ---- work on the GPU, and memory ---- */

static void take_dispatch(struct import *im, sqlite3_stmt *stmt)
{
	struct cap_rec_dispatch rec = {
		.h = { .what = U32(1), .time = U64(2) },
		.end_ns = U64(3),
		.corr_id = U64(4),
		.external_id = U64(5),
		.dispatch_id = U64(6),
		.tid = U32(0),
		.agent = U32(7) + 1,
		.queue = U32(8),
		.stream = U32(9),
		.private_bytes = U32(10),
		.group_bytes = U32(11),
		.workgroup = { U32(12), U32(13), U32(14) },
		.grid = { U32(15), U32(16), U32(17) },
	};
	struct cap_rec_external name = { .h.what = str(im, text_at(stmt, 18)),
					 .external_id = rec.external_id };
	static struct cap_counter_value values[VALUES_MAX];

	if (name.h.what && rec.external_id)
		META(im, EXTERNAL, name);
	rec.n_values = values_of(im, sqlite3_column_int64(stmt, 19), values);
	rpd_image_event(&im->image, rec.tid, CAP_REC_DISPATCH, &rec.h, sizeof(rec), values,
			rec.n_values * sizeof(values[0]));
}

static void take_copy(struct import *im, sqlite3_stmt *stmt)
{
	struct cap_rec_copy rec = {
		.h = { .time = U64(2) },
		.end_ns = U64(3),
		.corr_id = U64(4),
		.external_id = U64(5),
		.n_bytes = U64(6),
		.dst_address = U64(7),
		.src_address = U64(8),
		.dst_agent = U32(9) + 1,
		.src_agent = U32(10) + 1,
		.tid = U32(0),
		.stream = U32(11),
	};

	for (unsigned op = 1; op <= CAP_COPY_DEVICE_TO_DEVICE; op++) {
		const char *name = trc_kind_op_name(CAP_KIND_MEMORY_COPY, op);

		if (name && strcmp(text_at(stmt, 1), name) == 0)
			rec.h.what = op;
	}
	rpd_image_event(&im->image, rec.tid, CAP_REC_COPY, &rec.h, sizeof(rec), NULL, 0);
}

static void take_memory(struct import *im, sqlite3_stmt *stmt)
{
	bool freed = strcmp(text_at(stmt, 1), "FREE") == 0;
	bool virtual_one = strcmp(text_at(stmt, 2), "VIRTUAL") == 0;
	struct cap_rec_alloc alloc = {
		.h = { .what = (freed ? CAP_ALLOC_FREE : CAP_ALLOC_ALLOCATE) + virtual_one,
		       .time = U64(3) },
		.end_ticks = U64(4),
		.corr_id = U64(5),
		.ancestor_id = U64(6),
		.external_id = U64(7),
		.address = U64(8),
		.n_bytes = U64(9),
		.agent = sqlite3_column_type(stmt, 10) == SQLITE_NULL ? 0 : U32(10) + 1,
		.stream = U32(11),
	};
	struct cap_rec_scratch scratch = {
		.h = { .what = freed ? CAP_SCRATCH_FREE
			       : strcmp(text_at(stmt, 1), "RECLAIM") == 0
				       ? CAP_SCRATCH_ASYNC_RECLAIM
				       : CAP_SCRATCH_ALLOC,
		       .time = alloc.h.time },
		.end_ticks = alloc.end_ticks,
		.corr_id = alloc.corr_id,
		.n_bytes = alloc.n_bytes,
		.agent = alloc.agent,
		.queue = U32(12),
		.tid = U32(0),
		.flags = U32(13),
	};

	if (strcmp(text_at(stmt, 2), "SCRATCH") == 0)
		rpd_image_event(&im->image, U32(0), CAP_REC_SCRATCH, &scratch.h, sizeof(scratch),
				NULL, 0);
	else
		rpd_image_event(&im->image, U32(0), CAP_REC_ALLOC, &alloc.h, sizeof(alloc), NULL,
				0);
}

/* ---- all of it ---- */

#define OF_PROCESS(alias) " WHERE " alias ".guid = ?1 AND " alias ".pid = ?2"
#define EVENT_JOIN(alias)                                                                          \
	" JOIN rocpd_event e ON e.id = " alias ".event_id AND e.guid = " alias ".guid"
#define THREAD_JOIN(alias)                                                                         \
	" LEFT JOIN rocpd_info_thread t ON t.id = " alias ".tid AND t.guid = " alias ".guid"

/* clang-format off */
static const struct {
	const char *query;
	void (*take)(struct import *im, sqlite3_stmt *stmt);
} steps[] = {
	{ "SELECT p.pid, p.ppid, COALESCE(p.start, p.init), COALESCE(p.\"end\", p.fini), p.command, "
	  "n.hostname, n.machine_id, n.system_name, n.release, n.version FROM rocpd_info_process p "
	  "LEFT JOIN rocpd_info_node n ON n.id = p.nid AND n.guid = p.guid "
	  "WHERE p.guid = ?1 AND p.id = ?2", take_process },
	{ "SELECT t.tid, t.name FROM rocpd_info_thread t" OF_PROCESS("t"), take_thread },
	{ "SELECT a.id, a.type, a.absolute_index, a.logical_index, a.type_index, a.name, "
	  "a.model_name, a.vendor_name, a.product_name, json_extract(a.extdata, '$.id.handle') "
	  "FROM rocpd_info_agent a" OF_PROCESS("a"), take_agent },
	{ "SELECT d.queue_id, MIN(d.agent_id) FROM rocpd_kernel_dispatch d" OF_PROCESS("d")
	  " AND d.queue_id > 0 GROUP BY d.queue_id", take_queue },
	{ "SELECT s.id, s.name FROM rocpd_info_stream s" OF_PROCESS("s") " AND s.id > 0", take_stream },
	{ "SELECT c.id, c.agent_id, c.uri, c.load_base, c.load_size, c.load_delta "
	  "FROM rocpd_info_code_object c" OF_PROCESS("c"), take_code_object },
	{ "SELECT k.id, k.code_object_id, k.kernel_name, k.kernel_object, k.kernarg_segment_size, "
	  "k.kernarg_segment_alignment, k.group_segment_size, k.private_segment_size, k.sgpr_count, "
	  "k.arch_vgpr_count, k.accum_vgpr_count FROM rocpd_info_kernel_symbol k" OF_PROCESS("k"),
	  take_kernel },
	{ "SELECT i.id, i.agent_id, i.name, i.description, i.block, i.expression, i.is_constant, "
	  "i.is_derived FROM rocpd_info_pmc i" OF_PROCESS("i"), take_counter },
	{ "SELECT v.event_id, v.pmc_id, v.value FROM rocpd_pmc_event v JOIN rocpd_info_pmc i "
	  "ON i.id = v.pmc_id AND i.guid = v.guid" OF_PROCESS("i") " ORDER BY v.event_id, v.id",
	  take_value },
	{ "SELECT * FROM (SELECT e.id AS event, c.string AS category, s.string AS name, t.tid, r.start, "
	  "r.\"end\", e.stack_id, e.parent_stack_id, e.correlation_id, "
	  "json_extract(e.extdata, '$.message') FROM rocpd_region r" EVENT_JOIN("r") THREAD_JOIN("r")
	  " JOIN rocpd_string s ON s.id = r.name_id AND s.guid = r.guid "
	  "JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid" OF_PROCESS("r")
	  " UNION ALL SELECT e.id, c.string, 'roctxMarkA', t.tid, m.timestamp, m.timestamp, e.stack_id, "
	  "e.parent_stack_id, e.correlation_id, json_extract(e.extdata, '$.message') "
	  "FROM rocpd_sample m" EVENT_JOIN("m")
	  " JOIN rocpd_track k ON k.id = m.track_id AND k.guid = m.guid" THREAD_JOIN("k")
	  " JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid" OF_PROCESS("k")
	  ") ORDER BY event", take_region },
	{ "SELECT t.tid, d.kernel_id, d.start, d.\"end\", e.stack_id, e.correlation_id, d.dispatch_id, "
	  "d.agent_id, d.queue_id, d.stream_id, d.private_segment_size, d.group_segment_size, "
	  "d.workgroup_size_x, d.workgroup_size_y, d.workgroup_size_z, d.grid_size_x, d.grid_size_y, "
	  "d.grid_size_z, s.string, d.event_id FROM rocpd_kernel_dispatch d" EVENT_JOIN("d") THREAD_JOIN("d")
	  " LEFT JOIN rocpd_string s ON s.id = d.region_name_id AND s.guid = d.guid" OF_PROCESS("d")
	  " ORDER BY d.start", take_dispatch },
	{ "SELECT t.tid, s.string, m.start, m.\"end\", e.stack_id, e.correlation_id, m.size, "
	  "m.dst_address, m.src_address, m.dst_agent_id, m.src_agent_id, m.stream_id "
	  "FROM rocpd_memory_copy m" EVENT_JOIN("m") THREAD_JOIN("m")
	  " JOIN rocpd_string s ON s.id = m.name_id AND s.guid = m.guid" OF_PROCESS("m")
	  " ORDER BY m.start", take_copy },
	{ "SELECT t.tid, m.type, m.level, m.start, m.\"end\", e.stack_id, e.parent_stack_id, "
	  "e.correlation_id, m.address, m.size, m.agent_id, m.stream_id, m.queue_id, "
	  "json_extract(m.extdata, '$.flags') FROM rocpd_memory_allocate m" EVENT_JOIN("m")
	  THREAD_JOIN("m") OF_PROCESS("m") " ORDER BY m.start", take_memory },
};
/* clang-format on */

static enum ws_status import_process(struct import *im, const char *path, uint32_t pid,
				     struct ws_err *err)
{
	struct cap_rec_clock clock = { .h.time = 0 };
	enum ws_status st = rpd_image_open(&im->image, path, pid, err);

	ws_map_init(&im->operations, WS_MAP_STR, 1 << 20);
	ws_map_init(&im->counters, WS_MAP_U64, 1 << 20);
	ws_vec_init(&im->values, (size_t)1 << 28);
	if (!st)
		st = rpd_prepare(
			im->sql,
			"SELECT event_id, name, type, value FROM rocpd_arg WHERE guid = ?1 "
			"ORDER BY event_id, position",
			&im->args, err);
	if (!st) {
		sqlite3_bind_text(im->args, 1, im->guid, -1, SQLITE_STATIC);
		im->more_args = sqlite3_step(im->args) == SQLITE_ROW;
		META(im, CLOCK, clock);
	}
	for (size_t i = 0; i < WS_ARRAY_LEN(steps) && !st; i++)
		st = each(im, steps[i].query, steps[i].take);
	sqlite3_finalize(im->args);
	im->args = NULL;
	ws_map_fini(&im->operations);
	ws_map_fini(&im->counters);
	ws_vec_fini(&im->values);
	return rpd_image_close(&im->image);
}

enum ws_status rpd_import(struct rpd_db *db, const char *folder, struct ws_strv *out_paths,
			  struct ws_err *err)
{
	sqlite3_stmt *stmt = NULL;
	enum ws_status st =
		rpd_prepare(db->sql,
			    "SELECT guid, id, pid FROM rocpd_info_process ORDER BY init, id", &stmt,
			    err);

	out_paths->max_n = 1 << 20;
	while (!st && sqlite3_step(stmt) == SQLITE_ROW) {
		struct import im = { .sql = db->sql,
				     .guid = text_at(stmt, 0),
				     .row = sqlite3_column_int64(stmt, 1) };
		char path[PATH_MAX], *kept;

		snprintf(path, sizeof(path), "%s/%u-%zu.wcap", folder, U32(2), out_paths->n);
		st = import_process(&im, path, U32(2), err);
		kept = strdup(path);
		if (!st && !kept)
			st = ws_fail(err, WS_E_NOMEM, "out of memory");
		else if (kept)
			st = st ? st : ws_vec_push(out_paths, kept, err);
	}
	sqlite3_finalize(stmt);
	return st;
}
