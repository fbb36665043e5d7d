/*
 * A database as captures: rows become the records they once were, so that every writer of
 * rocprofv3 also works on databases, whoever wrote them.
 */
#include "rocpd/import_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_MAX (512u << 20)

const char *rpd_text(sqlite3_stmt *stmt, int i)
{
	const char *text = (const char *)sqlite3_column_text(stmt, i);

	return text ? text : "";
}

/* ---- records ---- */

static void write_failed(struct rpd_import *im)
{
	if (!im->err->status)
		ws_fail(im->err, WS_E_IO,
			"cannot write '%s': the disk is full or a limit is reached",
			cap_writer_path(im->writer));
}

uint32_t rpd_import_string(struct rpd_import *im, const char *text)
{
	uint32_t id = cap_writer_intern(im->writer, text, strlen(text));

	if (!id && *text)
		write_failed(im);
	return id;
}

void rpd_import_fact(struct rpd_import *im, enum cap_fact fact, const char *text)
{
	if (*text && !cap_writer_fact(im->writer, fact, text))
		write_failed(im);
}

void rpd_import_meta(struct rpd_import *im, uint32_t tag, struct cap_rec *rec)
{
	rec->tag = tag;
	if (!cap_writer_meta(im->writer, rec))
		write_failed(im);
}

/* The lane of the current table, handed on to thread @tid. */
static struct cap_lane *lane_of(struct rpd_import *im, uint32_t tid)
{
	if (im->lane && im->lane->tid != tid) {
		cap_lane_put(im->lane);
		im->lane = NULL;
	}
	if (!im->lane)
		im->lane = cap_lane_get(im->writer, tid);
	return im->lane;
}

void rpd_import_event(struct rpd_import *im, uint32_t tid, uint32_t type, const struct cap_rec *rec,
		      size_t n_bytes, const void *tail, size_t n_tail)
{
	size_t total = CAP_REC_ROUND(n_bytes + n_tail);
	struct cap_lane *lane = lane_of(im, tid);
	char *to = lane ? cap_lane_reserve(&lane, (uint32_t)total) : NULL;

	if (!to) {
		write_failed(im);
		return;
	}
	memcpy(to, rec, n_bytes);
	if (n_tail)
		memcpy(to + n_bytes, tail, n_tail);
	cap_lane_commit(lane, (struct cap_rec *)to, CAP_REC_TAG(type, total));
}

/* ---- queries ---- */

#define OF_PROCESS(alias) " WHERE " alias ".guid = ?1 AND " alias ".pid = ?2"
#define EVENT_JOIN(alias)                                                                          \
	" JOIN rocpd_event e ON e.id = " alias ".event_id AND e.guid = " alias ".guid"
#define THREAD_JOIN(alias)                                                                         \
	" LEFT JOIN rocpd_info_thread t ON t.id = " alias ".tid AND t.guid = " alias ".guid"

/* Categories: those of API calls are AMD's names of kinds, or what rocprof-sys calls them. */
#define IS_CALL                                                                                    \
	"(c.string GLOB '*_API*' OR (c.string GLOB 'rocm_*_api' AND c.string != "                  \
	"'rocm_marker_api'))"
#define IS_SAMPLED "c.string IN ('timer_sampling', 'overflow_sampling')"
#define OF_DISPATCH "(SELECT event_id FROM rocpd_kernel_dispatch WHERE guid = ?1)"
#define JSON(column, path)                                                                         \
	"CASE WHEN json_valid(" column ") THEN json_extract(" column ", '" path "') END"

/* clang-format off */
static const struct {
	const char *query;
	rpd_take *take;
} steps[] = {
	{ "SELECT p.pid, p.ppid, COALESCE(p.start, p.init), COALESCE(p.\"end\", p.fini), p.command, "
	  "n.hostname, n.machine_id, n.system_name, n.release, n.version FROM rocpd_info_process p "
	  "LEFT JOIN rocpd_info_node n ON n.id = p.nid AND n.guid = p.guid "
	  "WHERE p.guid = ?1 AND p.id = ?2", rpd_take_process },
	{ "SELECT v.key || '=' || v.value FROM rocpd_info_process p, json_each(CASE WHEN "
	  "json_valid(p.environment) THEN p.environment ELSE '{}' END) v WHERE p.guid = ?1 AND p.id = ?2 "
	  "AND v.value IS NOT NULL", rpd_take_environment },
	{ "SELECT t.tid, t.name FROM rocpd_info_thread t" OF_PROCESS("t"), rpd_take_thread },
	{ "SELECT a.id, a.type, a.absolute_index, a.logical_index, a.type_index, a.name, "
	  "a.model_name, a.vendor_name, a.product_name, json_extract(a.extdata, '$.id.handle') "
	  "FROM rocpd_info_agent a" OF_PROCESS("a"), rpd_take_agent },
	{ "SELECT d.queue_id, MIN(d.agent_id) FROM rocpd_kernel_dispatch d" OF_PROCESS("d")
	  " AND d.queue_id > 0 GROUP BY d.queue_id", rpd_take_queue },
	{ "SELECT s.id, s.name FROM rocpd_info_stream s" OF_PROCESS("s") " AND s.id > 0", rpd_take_stream },
	{ "SELECT c.id, c.agent_id, c.uri, c.load_base, c.load_size, c.load_delta "
	  "FROM rocpd_info_code_object c" OF_PROCESS("c"), rpd_take_code_object },
	{ "SELECT k.id, k.code_object_id, k.kernel_name, k.kernel_object, k.kernarg_segment_size, "
	  "k.kernarg_segment_alignment, k.group_segment_size, k.private_segment_size, k.sgpr_count, "
	  "k.arch_vgpr_count, k.accum_vgpr_count FROM rocpd_info_kernel_symbol k" OF_PROCESS("k"),
	  rpd_take_kernel },
	{ "SELECT i.id, i.agent_id, i.name, i.description, i.block, i.expression, i.is_constant, "
	  "i.is_derived FROM rocpd_info_pmc i" OF_PROCESS("i") " AND (i.component = 'rocm' OR i.id IN "
	  "(SELECT pmc_id FROM rocpd_pmc_event WHERE guid = ?1 AND event_id IN " OF_DISPATCH "))",
	  rpd_take_counter },
	{ "SELECT v.event_id, v.pmc_id, v.value FROM rocpd_pmc_event v JOIN rocpd_info_pmc i "
	  "ON i.id = v.pmc_id AND i.guid = v.guid" OF_PROCESS("i") " AND v.event_id IN " OF_DISPATCH
	  " ORDER BY v.event_id, v.id", rpd_take_value },
	{ "SELECT * FROM (SELECT e.id AS event, c.string AS category, s.string AS name, t.tid, r.start, "
	  "r.\"end\", e.stack_id, e.parent_stack_id, e.correlation_id, "
	  "json_extract(e.extdata, '$.message') FROM rocpd_region r" EVENT_JOIN("r") THREAD_JOIN("r")
	  " JOIN rocpd_string s ON s.id = r.name_id AND s.guid = r.guid "
	  "JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid" OF_PROCESS("r") " AND " IS_CALL
	  " UNION ALL SELECT e.id, c.string, 'roctxMarkA', t.tid, m.timestamp, m.timestamp, e.stack_id, "
	  "e.parent_stack_id, e.correlation_id, json_extract(e.extdata, '$.message') "
	  "FROM rocpd_sample m" EVENT_JOIN("m")
	  " JOIN rocpd_track k ON k.id = m.track_id AND k.guid = m.guid" THREAD_JOIN("k")
	  " JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid" OF_PROCESS("k") " AND " IS_CALL
	  ") ORDER BY event", rpd_take_region },
	{ "SELECT t.tid, d.kernel_id, d.start, d.\"end\", e.stack_id, e.correlation_id, d.dispatch_id, "
	  "d.agent_id, d.queue_id, d.stream_id, d.private_segment_size, d.group_segment_size, "
	  "d.workgroup_size_x, d.workgroup_size_y, d.workgroup_size_z, d.grid_size_x, d.grid_size_y, "
	  "d.grid_size_z, s.string, d.event_id FROM rocpd_kernel_dispatch d" EVENT_JOIN("d") THREAD_JOIN("d")
	  " LEFT JOIN rocpd_string s ON s.id = d.region_name_id AND s.guid = d.guid" OF_PROCESS("d")
	  " ORDER BY d.start", rpd_take_dispatch },
	{ "SELECT t.tid, s.string, m.start, m.\"end\", e.stack_id, e.correlation_id, m.size, "
	  "m.dst_address, m.src_address, m.dst_agent_id, m.src_agent_id, m.stream_id "
	  "FROM rocpd_memory_copy m" EVENT_JOIN("m") THREAD_JOIN("m")
	  " JOIN rocpd_string s ON s.id = m.name_id AND s.guid = m.guid" OF_PROCESS("m")
	  " ORDER BY m.start", rpd_take_copy },
	{ "SELECT t.tid, m.type, m.level, m.start, m.\"end\", e.stack_id, e.parent_stack_id, "
	  "e.correlation_id, m.address, m.size, m.agent_id, m.stream_id, m.queue_id, "
	  "json_extract(m.extdata, '$.flags') FROM rocpd_memory_allocate m" EVENT_JOIN("m")
	  THREAD_JOIN("m") OF_PROCESS("m") " ORDER BY m.start", rpd_take_memory },
	{ "SELECT e.id, c.string, s.string, t.tid, r.start, r.\"end\", " JSON("e.line_info", "$.inlined.location")
	  ", " JSON("e.line_info", "$.inlined.line") ", a.name, a.type, a.value FROM rocpd_region r"
	  EVENT_JOIN("r") THREAD_JOIN("r")
	  " JOIN rocpd_string s ON s.id = r.name_id AND s.guid = r.guid "
	  "JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid "
	  "LEFT JOIN rocpd_arg a ON a.event_id = e.id AND a.guid = e.guid" OF_PROCESS("r")
	  " AND NOT " IS_CALL " AND c.string NOT IN ('timer_sampling', 'overflow_sampling') "
	  "ORDER BY t.tid, r.start, r.\"end\" DESC, e.id, a.position",
	  rpd_take_host_region },
	{ "SELECT k.id, c.string, n.string, t.tid, r.start, r.\"end\", s.string, "
	  JSON("e.call_stack", "$.pc") ", COALESCE(" JSON("e.line_info", "$.inlined.location") ", "
	  JSON("e.call_stack", "$.location") ", " JSON("e.call_stack", "$.file") "), COALESCE("
	  JSON("e.line_info", "$.inlined.line") ", " JSON("e.call_stack", "$.line") "), "
	  JSON("e.call_stack", "$.inlined") " FROM rocpd_region r" EVENT_JOIN("r") THREAD_JOIN("r")
	  " JOIN rocpd_string s ON s.id = r.name_id AND s.guid = r.guid "
	  "JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid "
	  "JOIN rocpd_sample m ON m.event_id = e.id AND m.guid = e.guid "
	  "JOIN rocpd_track k ON k.id = m.track_id AND k.guid = m.guid "
	  "JOIN rocpd_string n ON n.id = k.name_id AND n.guid = k.guid" OF_PROCESS("r")
	  " AND " IS_SAMPLED " AND e.call_stack != '{}' ORDER BY k.id, e.id",
	  rpd_take_frame },
	{ "SELECT i.id, i.name, i.symbol, c.string, i.units, i.target_arch, a.type_index, "
	  "i.long_description, x.t, v.value FROM rocpd_pmc_event v "
	  "JOIN (SELECT event_id, MIN(timestamp) AS t FROM rocpd_sample WHERE guid = ?1 "
	  "GROUP BY event_id) x ON x.event_id = v.event_id "
	  "JOIN rocpd_info_pmc i ON i.id = v.pmc_id AND i.guid = v.guid "
	  "JOIN rocpd_event e ON e.id = v.event_id AND e.guid = v.guid "
	  "JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid "
	  "LEFT JOIN rocpd_info_agent a ON a.id = i.agent_id AND a.guid = i.guid" OF_PROCESS("i")
	  " AND v.guid = ?1 ORDER BY x.t", rpd_take_metric_value },
};
/* clang-format on */

/* Run a query over this process's rows: ?1 is the guid, ?2 the row of the process. */
static enum ws_status each(struct rpd_import *im, const char *query, rpd_take *take)
{
	struct ws_err *err = im->err;
	sqlite3_stmt *stmt = NULL;
	int rc = SQLITE_DONE;

	/*
	 * A lane per table: each is in the order of time, which makes reading back cheap. The
	 * lane before is left to the writer.
	 */
	im->lane = NULL;
	if (err->status || rpd_prepare(im->sql, query, &stmt, err))
		return err->status;
	sqlite3_bind_text(stmt, 1, im->guid, -1, SQLITE_STATIC);
	sqlite3_bind_int64(stmt, 2, im->row);
	while (!err->status && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
		take(im, stmt);
	if (!err->status)
		rpd_import_host_flush(im);
	if (!err->status && rc != SQLITE_DONE)
		ws_fail(err, WS_E_FORMAT, "SQLite: %s", sqlite3_errmsg(im->sql));
	sqlite3_finalize(stmt);
	return err->status;
}

static enum ws_status import_process(struct rpd_import *im, const char *path, uint32_t pid,
				     struct ws_err *err)
{
	struct cap_writer_opts opts = { .imported = true, .pid = pid };
	struct cap_rec_clock clock = { .h.time = 0 };
	struct rpd_clock source;
	char guid_text[sizeof(RPD_GUID_CONFIG) + 64];
	enum ws_status st;

	snprintf(guid_text, sizeof(guid_text), RPD_GUID_CONFIG "%s", im->guid);

	if (rpd_clock_find(im->sql, im->guid, im->row, &source)) {
		memcpy(opts.boot_id, source.id, sizeof(opts.boot_id));
		opts.created_ns = clock.boottime_ns = source.init_ns;
		opts.created_realtime_ns = clock.realtime_ns =
			source.init_ns + (uint64_t)source.realtime_offset_ns;
	}

	err->status = WS_OK;
	im->err = err;
	ws_arena_init(&im->arena, ARENA_MAX);
	ws_map_init(&im->operations, WS_MAP_STR, 1 << 20);
	ws_map_init(&im->counters, WS_MAP_U64, 1 << 20);
	ws_vec_init(&im->values, (size_t)1 << 28);
	rpd_import_host_init(&im->host);
	st = cap_writer_open(path, &opts, &im->writer, err);
	if (!st)
		st = rpd_prepare(
			im->sql,
			"SELECT event_id, name, type, value FROM rocpd_arg WHERE guid = ?1 "
			"ORDER BY event_id, position",
			&im->args, err);
	if (!st) {
		sqlite3_bind_text(im->args, 1, im->guid, -1, SQLITE_STATIC);
		im->more_args = sqlite3_step(im->args) == SQLITE_ROW;
		RPD_META(im, CLOCK, clock);
		rpd_import_fact(im, CAP_FACT_CONFIG, guid_text);
	}
	for (size_t i = 0; i < WS_ARRAY_LEN(steps) && !st; i++)
		st = each(im, steps[i].query, steps[i].take);
	if (im->writer && !st)
		cap_writer_end(im->writer, CAP_END_EXIT);
	cap_writer_close(im->writer);
	sqlite3_finalize(im->args);
	ws_map_fini(&im->operations);
	ws_map_fini(&im->counters);
	ws_vec_fini(&im->values);
	rpd_import_host_fini(&im->host);
	ws_arena_fini(&im->arena);
	return st;
}

enum ws_status rpd_import_captures(struct rpd_db *db, const char *folder, struct ws_strv *out_paths,
				   struct ws_err *err)
{
	sqlite3_stmt *stmt = NULL;
	enum ws_status st =
		rpd_prepare(db->sql,
			    "SELECT guid, id, pid FROM rocpd_info_process ORDER BY init, id", &stmt,
			    err);

	out_paths->max_n = 1 << 20;
	while (!st && sqlite3_step(stmt) == SQLITE_ROW) {
		struct rpd_import im = { .sql = db->sql,
					 .guid = rpd_text(stmt, 0),
					 .row = sqlite3_column_int64(stmt, 1) };
		char *path = NULL;

		if (asprintf(&path, "%s/%u-%zu.wcap", folder, U32(2), out_paths->n) < 0)
			st = ws_fail(err, WS_E_NOMEM, "out of memory");
		else if ((st = ws_vec_push(out_paths, path, err)))
			free(path);
		/* In the list before it is written: the caller removes what a failure leaves. */
		if (!st)
			st = import_process(&im, path, U32(2), err);
	}
	sqlite3_finalize(stmt);
	return st;
}
