/*
 * CSV files from a database. Columns are those of rocprofv3's own files with the guid in
 * front; where AMD's converter differs (quoting, lost prefixes) this does as AMD's does.
 */
#include "rocpd/rocpd_priv.h"

#include "base/file.h"
#include "base/str.h"
#include "base/util.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* AGENT(x) becomes the text of the agent whose columns begin with x. */
#define AGENT(x) "\x01" x "\x02"

#define API_HEADER                                                                                 \
	"\"Guid\",\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\","        \
	"\"Start_Timestamp\",\"End_Timestamp\""
#define API(category)                                                                              \
	"SELECT guid, category, name, pid, tid, stack_id, start, \"end\" FROM "                    \
	"regions_and_samples WHERE category LIKE '" category "%' ORDER BY start, \"end\" DESC"

/* clang-format off */
static const struct {
	const char *stem, *header, *query;
	const char *quoted; /* per column: q text in quotes, . as it is, e empty agent */
} files[] = {
	{ "hip_api_trace",       API_HEADER, API("HIP"),       "qqq....." },
	{ "hsa_api_trace",       API_HEADER, API("HSA"),       "qqq....." },
	{ "rccl_api_trace",      API_HEADER, API("RCCL"),      "qqq....." },
	{ "rocdecode_api_trace", API_HEADER, API("ROCDECODE"), "qqq....." },
	{ "rocjpeg_api_trace",   API_HEADER, API("ROCJPEG"),   "qqq....." },
	{ "marker_api_trace",    API_HEADER,
	  "SELECT guid, category, COALESCE(json_extract(extdata, '$.message'), name), pid, tid, "
	  "stack_id, start, \"end\" FROM regions_and_samples WHERE category LIKE 'MARKER%' "
	  "ORDER BY start, \"end\" DESC", "qqq....." },
	{ "kernel_trace",
	  "\"Guid\",\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\","
	  "\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\","
	  "\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\","
	  "\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\","
	  "\"Grid_Size_Y\",\"Grid_Size_Z\"",
	  "SELECT guid, 'KERNEL_DISPATCH', " AGENT("agent_") ", queue_id, stream_id, tid, dispatch_id, "
	  "kernel_id, \x03, stack_id, start, \"end\", lds_size, scratch_size, vgpr_count, "
	  "accum_vgpr_count, sgpr_count, workgroup_x, workgroup_y, workgroup_z, grid_x, grid_y, "
	  "grid_z FROM kernels ORDER BY start, \"end\" DESC", "qqq.....q.............." },
	{ "memory_copy_trace",
	  "\"Guid\",\"Kind\",\"Direction\",\"Stream_Id\",\"Source_Agent_Id\",\"Destination_Agent_Id\","
	  "\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"",
	  "SELECT guid, 'MEMORY_COPY', name, stream_id, " AGENT("src_agent_") ", " AGENT("dst_agent_")
	  ", stack_id, start, \"end\" FROM memory_copies ORDER BY start, \"end\" DESC",
	  "qqq.qq..." },
	{ "memory_allocation_trace",
	  "\"Guid\",\"Kind\",\"Operation\",\"Agent_Id\",\"Allocation_Size\",\"Address\","
	  "\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"",
	  "SELECT guid, 'MEMORY_ALLOCATION', 'MEMORY_ALLOCATION_' || CASE type WHEN 'ALLOC' THEN "
	  "'ALLOCATE' ELSE type END, CASE type WHEN 'FREE' THEN NULL ELSE " AGENT("agent_")
	  " END, size, printf('0x%016llx', address), stack_id, start, \"end\" FROM memory_allocations "
	  "WHERE level != 'SCRATCH' ORDER BY start, \"end\" DESC", "qqqe.q..." },
	{ "scratch_memory_trace",
	  "\"Kind\",\"Operation\",\"Agent_Id\",\"Queue_Id\",\"Thread_Id\",\"Alloc_Flags\","
	  "\"Start_Timestamp\",\"End_Timestamp\"",
	  "SELECT 'SCRATCH_MEMORY', 'SCRATCH_MEMORY_' || operation, " AGENT("agent_") ", queue_id, tid, "
	  "alloc_flags, start, \"end\" FROM scratch_memory ORDER BY start, \"end\" DESC",
	  "qqq....." },
	{ "counter_collection",
	  "\"Pid\",\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\","
	  "\"Thread_Id\",\"Grid_Size\",\"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\","
	  "\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\","
	  "\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"",
	  "SELECT guid, stack_id, dispatch_id, " AGENT("agent_") ", queue_id, pid, tid, grid_size, "
	  "kernel_id, kernel_name, workgroup_size, lds_block_size, scratch_size, vgpr_count, "
	  "accum_vgpr_count, sgpr_count, counter_name, printf('%g', value), start, \"end\" FROM "
	  "counters_collection ORDER BY start, \"end\" DESC", "...q.....q......q..." },
	{ "region_trace",        API_HEADER,
	  "SELECT guid, category, name, pid, tid, stack_id, start, \"end\" FROM host_regions "
	  "ORDER BY start, \"end\" DESC", "qqq....." },
	{ "call_stack_sample_trace",
	  "\"Guid\",\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Depth\",\"Module\",\"File\","
	  "\"Line\",\"Start_Timestamp\",\"End_Timestamp\"",
	  "SELECT guid, category, name, pid, tid, ROW_NUMBER() OVER (PARTITION BY guid, track, start, \"end\" "
	  "ORDER BY event_id) - 1 AS depth, module, file, line, start, \"end\" FROM call_stack_samples "
	  "ORDER BY start, tid, depth", "qqq...qq..." },
	{ "metric_trace",
	  "\"Guid\",\"Domain\",\"Metric\",\"Process_Id\",\"Timestamp\",\"Value\",\"Unit\",\"Quality\"",
	  "SELECT guid, category, name, pid, timestamp, printf('%.15g', value), units, quality "
	  "FROM metrics ORDER BY timestamp, name", "qqq...qq" },
};

/* agent_info: the header's words, in the case of the JSON; words of text are in quotes. */
static const char *const agent_columns[] = {
	"Cpu_Cores_Count", "Simd_Count", "Cpu_Core_Id_Base", "Simd_Id_Base", "Max_Waves_Per_Simd",
	"Lds_Size_In_Kb", "Gds_Size_In_Kb", "Num_Gws", "Wave_Front_Size", "Num_Xcc", "Cu_Count",
	"Array_Count", "Num_Shader_Banks", "Simd_Arrays_Per_Engine", "Cu_Per_Simd_Array",
	"Simd_Per_Cu", "Max_Slots_Scratch_Cu", "Gfx_Target_Version", "Vendor_Id", "Device_Id",
	"Location_Id", "Domain", "Drm_Render_Minor", "Num_Sdma_Engines", "Num_Sdma_Xgmi_Engines",
	"Num_Sdma_Queues_Per_Engine", "Num_Cp_Queues", "Max_Engine_Clk_Ccompute",
	"Max_Engine_Clk_Fcompute", "Sdma_Fw_Version", "Fw_Version", "Capability", "Cu_Per_Engine",
	"Max_Waves_Per_Cu", "Family_Id", "Workgroup_Max_Size", "Grid_Max_Size", "Local_Mem_Size",
	"Hive_Id", "Gpu_Id", "Workgroup_Max_Dim_X", "Workgroup_Max_Dim_Y", "Workgroup_Max_Dim_Z",
	"Grid_Max_Dim_X", "Grid_Max_Dim_Y", "Grid_Max_Dim_Z",
};
static const char *const agent_texts[] = { "Name", "Vendor_Name", "Product_Name", "Model_Name" };

/* Words whose fields the JSON has apart: column, field, where it begins. */
static const struct {
	const char *column, *field;
	int shift;
} word_fields[] = {
	{ "Sdma_Fw_Version", "uCodeSDMA", 0 }, { "Sdma_Fw_Version", "uCodeRes", 10 },
	{ "Fw_Version", "uCode", 0 }, { "Fw_Version", "Major", 10 }, { "Fw_Version", "Minor", 16 },
	{ "Fw_Version", "Stepping", 22 },
	{ "Capability", "HotPluggable", 0 }, { "Capability", "HSAMMUPresent", 1 },
	{ "Capability", "SharedWithGraphics", 2 }, { "Capability", "QueueSizePowerOfTwo", 3 },
	{ "Capability", "QueueSize32bit", 4 }, { "Capability", "QueueIdleEvent", 5 },
	{ "Capability", "VALimit", 6 }, { "Capability", "WatchPointsSupported", 7 },
	{ "Capability", "WatchPointsTotalBits", 8 }, { "Capability", "DoorbellType", 12 },
	{ "Capability", "AQLQueueDoubleMap", 14 }, { "Capability", "DebugTrapSupported", 15 },
	{ "Capability", "WaveLaunchTrapOverrideSupported", 16 },
	{ "Capability", "WaveLaunchModeSupported", 17 },
	{ "Capability", "PreciseMemoryOperationsSupported", 18 },
	{ "Capability", "DEPRECATED_SRAM_EDCSupport", 19 }, { "Capability", "Mem_EDCSupport", 20 },
	{ "Capability", "RASEventNotify", 21 }, { "Capability", "ASICRevision", 22 },
	{ "Capability", "SRAM_EDCSupport", 26 }, { "Capability", "SVMAPISupported", 27 },
	{ "Capability", "CoherentHostAccess", 28 }, { "Capability", "DebugSupportedFirmware", 29 },
};
/* clang-format on */

void rpd_put_quoted(FILE *to, const char *text)
{
	fputc('"', to);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', to);
		fputc(*text, to);
	}
	fputc('"', to);
}

static void put_row(FILE *to, sqlite3_stmt *stmt, const char *quoted)
{
	for (int i = 0; quoted[i]; i++) {
		const char *text = (const char *)sqlite3_column_text(stmt, i);

		if (i)
			fputc(',', to);
		if (quoted[i] == 'e' && !text)
			fputs("\"\"\"\"", to); /* a quoted pair of quotes, as AMD's tool has it */
		else if (quoted[i] != '.')
			rpd_put_quoted(to, text ? text : "");
		else
			fputs(text ? text : "0", to);
	}
	fputc('\n', to);
}

/* Placeholders of the queries: agents, and the name of a kernel. */
static void fill_query(const struct rpd_csv_opts *opts, const char *query, struct ws_buf *out)
{
	for (; *query; query++) {
		if (*query == 1) {
			const char *end = strchr(query, 2);
			struct ws_str p = { query + 1, (size_t)(end - query - 1) };

			if (opts->agent_index == TRC_AGENT_INDEX_TYPE)
				ws_buf_printf(out, "(%.*stype || ' ' || %.*stype_index)",
					      WS_STR_ARGS(p), WS_STR_ARGS(p));
			else
				ws_buf_printf(out, "('Agent ' || %.*s%s_index)", WS_STR_ARGS(p),
					      opts->agent_index == TRC_AGENT_INDEX_ABSOLUTE
						      ? "abs"
						      : "log");
			query = end;
		} else if (*query == 3) {
			ws_buf_add(out, opts->kernel_rename
						? "CASE WHEN COALESCE(region, '') = '' THEN name "
						  "ELSE region END"
						: "name");
		} else {
			ws_buf_add_c(out, *query, 1);
		}
	}
}

static enum ws_status write_file(struct rpd_db *db, const struct rpd_csv_opts *opts,
				 const char *stem, const char *header, const char *query,
				 const char *quoted, bool always, struct ws_err *err)
{
	sqlite3_stmt *stmt = NULL;
	char path[PATH_MAX];
	FILE *file = NULL;
	int rc;
	enum ws_status st = rpd_prepare(db->sql, query, &stmt, err);

	if (st)
		return ws_fail_in(err, st, "%s", stem);
	snprintf(path, sizeof(path), "%s_%s.csv", opts->prefix, stem);
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW || always) {
		st = ws_file_create_stream(path, &file, err);
		if (!st)
			fprintf(file, "%s\n", header);
	}
	for (; file && rc == SQLITE_ROW; rc = sqlite3_step(stmt))
		put_row(file, stmt, quoted);
	if (!st && rc != SQLITE_DONE)
		st = ws_fail(err, WS_E_FORMAT, "SQLite: %s", sqlite3_errmsg(db->sql));
	if (file && fclose(file) != 0 && !st)
		st = ws_fail_errno(err, errno, "cannot write '%s'", path);
	sqlite3_finalize(stmt);
	if (!st && file)
		opts->written(path);
	return st;
}

static void add_agent_column(const char *column, struct ws_buf *query)
{
	const char *before = "";
	char key[64];
	size_t n = strlen(column);
	bool found = false;

	for (size_t i = 0; i <= n; i++)
		key[i] = (char)(column[i] >= 'A' && column[i] <= 'Z' ? column[i] + 32 : column[i]);
	ws_buf_add(query, ", ");
	for (size_t i = 0; i < WS_ARRAY_LEN(word_fields); i++)
		if (strcmp(word_fields[i].column, column) == 0) {
			ws_buf_printf(query,
				      "%s(COALESCE(json_extract(extdata, '$.%s.%s'), 0) << %d)",
				      before, key, word_fields[i].field, word_fields[i].shift);
			before = " | ";
			found = true;
		}
	if (found)
		return;
	if (n > 6 && memcmp(key + n - 6, "_dim_", 5) == 0)
		key[n - 2] = '.';
	ws_buf_printf(query, "json_extract(extdata, '$.%s')", key);
}

static enum ws_status write_agents(struct rpd_db *db, const struct rpd_csv_opts *opts,
				   struct ws_err *err)
{
	struct ws_buf header, query, quoted;
	enum ws_status st;

	ws_buf_init(&header, 8192);
	ws_buf_init(&query, 32768);
	ws_buf_init(&quoted, 128);
	ws_buf_add(&header, "\"Guid\",\"Node_Id\",\"Logical_Node_Id\",\"Agent_Type\"");
	ws_buf_add(&query, "SELECT guid, absolute_index, logical_index, type");
	ws_buf_add(&quoted, "q..q");
	for (size_t i = 0; i < WS_ARRAY_LEN(agent_columns); i++) {
		ws_buf_printf(&header, ",\"%s\"", agent_columns[i]);
		add_agent_column(agent_columns[i], &query);
		ws_buf_add(&quoted, ".");
	}
	for (size_t i = 0; i < WS_ARRAY_LEN(agent_texts); i++) {
		ws_buf_printf(&header, ",\"%s\"", agent_texts[i]);
		ws_buf_add(&query, ", ");
		for (const char *c = agent_texts[i]; *c; c++)
			ws_buf_add_c(&query, (char)(*c >= 'A' && *c <= 'Z' ? *c + 32 : *c), 1);
		ws_buf_add(&quoted, "q");
	}
	ws_buf_add(&query, " FROM rocpd_info_agent ORDER BY guid, absolute_index");
	st = ws_buf_status(&query, err);
	if (!st)
		st = write_file(db, opts, "agent_info", header.at, query.at, quoted.at, true, err);
	ws_buf_fini(&header);
	ws_buf_fini(&query);
	ws_buf_fini(&quoted);
	return st;
}

enum ws_status rpd_write_csv(struct rpd_db *db, const struct rpd_csv_opts *opts, struct ws_err *err)
{
	enum ws_status st = write_agents(db, opts, err);

	for (size_t i = 0; i < WS_ARRAY_LEN(files) && !st; i++) {
		struct ws_buf query;

		ws_buf_init(&query, 16384);
		fill_query(opts, files[i].query, &query);
		st = ws_buf_status(&query, err);
		if (!st)
			st = write_file(db, opts, files[i].stem, files[i].header, query.at,
					files[i].quoted, false, err);
		ws_buf_fini(&query);
	}
	return st;
}
