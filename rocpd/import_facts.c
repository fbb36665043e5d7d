/* Rows about the process and its GPUs as facts of a capture. */
#include "rocpd/import_priv.h"

#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

/* What the GPU times are: hardware's, the host's or simulated. Only our own databases say so. */
static void take_gpu_times(struct rpd_import *im, struct cap_rec_process *rec)
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
	if (sqlite3_step(stmt) == SQLITE_ROW && (times = rpd_text(stmt, 0)) && *times &&
	    strcmp(times, trc_gpu_times_word(TRC_GPU_TIMES_HARDWARE)) != 0) {
		rec->flags |= CAP_PROCESS_SOFTGPU;
		if (strcmp(times, trc_gpu_times_word(TRC_GPU_TIMES_SIMULATED)) == 0)
			rpd_import_fact(im, CAP_FACT_ENV, "WAVESCOPE_GPU_TIME=simulated");
		else if (strcmp(times, trc_gpu_times_word(TRC_GPU_TIMES_COUNTED)) == 0)
			rec->domains |= TRC_DOMAIN_BIT(COUNTER_COLLECTION);
	}
	sqlite3_finalize(stmt);
}

void rpd_take_process(struct rpd_import *im, sqlite3_stmt *stmt)
{
	struct cap_rec_process rec = { .h = { .what = U32(0), .time = U64(2) },
				       .ppid = U32(1),
				       .main_tid = U32(0) };
	struct cap_rec_end end = { .h = { .what = CAP_END_EXIT, .time = U64(3) } };
	char *words = strdup(rpd_text(stmt, 4)), *save = NULL;

	im->main_tid = rec.main_tid;
	take_gpu_times(im, &rec);
	RPD_META(im, PROCESS, rec);
	for (char *word = words ? strtok_r(words, " ", &save) : NULL; word;
	     word = strtok_r(NULL, " ", &save))
		rpd_import_fact(im, CAP_FACT_ARGV, word);
	free(words);
	rpd_import_fact(im, CAP_FACT_HOSTNAME, rpd_text(stmt, 5));
	rpd_import_fact(im, CAP_FACT_MACHINE_ID, rpd_text(stmt, 6));
	rpd_import_fact(im, CAP_FACT_SYSTEM_NAME, rpd_text(stmt, 7));
	rpd_import_fact(im, CAP_FACT_RELEASE, rpd_text(stmt, 8));
	rpd_import_fact(im, CAP_FACT_VERSION, rpd_text(stmt, 9));
	RPD_META(im, END, end);
}

void rpd_take_environment(struct rpd_import *im, sqlite3_stmt *stmt)
{
	rpd_import_fact(im, CAP_FACT_ENV, rpd_text(stmt, 0));
}

void rpd_take_thread(struct rpd_import *im, sqlite3_stmt *stmt)
{
	struct cap_rec_thread rec = { .h.what = U32(0),
				      .name_str = rpd_import_string(im, rpd_text(stmt, 1)) };

	RPD_META(im, THREAD, rec);
}

/* Ids of agents are their node numbers + 1: 0 is no agent. */
void rpd_take_agent(struct rpd_import *im, sqlite3_stmt *stmt)
{
	struct cap_rec_agent rec = {
		.h.what = U32(0) + 1,
		.handle = U64(9),
		.type = strcmp(rpd_text(stmt, 1), "GPU") ? CAP_AGENT_CPU : CAP_AGENT_GPU,
		.node_id = U32(2),
		.logical_node_id = U32(3),
		.logical_node_type_id = U32(4),
		.name_str = rpd_import_string(im, rpd_text(stmt, 5)),
		.model_name_str = rpd_import_string(im, rpd_text(stmt, 6)),
		.vendor_name_str = rpd_import_string(im, rpd_text(stmt, 7)),
		.product_name_str = rpd_import_string(im, rpd_text(stmt, 8)),
	};

	rec.gpu_index = rec.type == CAP_AGENT_GPU ? (int32_t)rec.logical_node_type_id : -1;
	RPD_META(im, AGENT, rec);
}

void rpd_take_queue(struct rpd_import *im, sqlite3_stmt *stmt)
{
	struct cap_rec_queue rec = { .h.what = U32(0), .agent = U32(1) + 1 };

	RPD_META(im, QUEUE, rec);
}

void rpd_take_stream(struct rpd_import *im, sqlite3_stmt *stmt)
{
	struct cap_rec_stream rec = { .h.what = U32(0),
				      .name_str = rpd_import_string(im, rpd_text(stmt, 1)) };

	RPD_META(im, STREAM, rec);
}

void rpd_take_code_object(struct rpd_import *im, sqlite3_stmt *stmt)
{
	struct cap_rec_code_object rec = {
		.h.what = U32(0),
		.agent = U32(1) + 1,
		.uri_str = rpd_import_string(im, rpd_text(stmt, 2)),
		.load_base = U64(3),
		.load_size = U64(4),
		.load_delta = (int64_t)U64(5),
	};

	RPD_META(im, CODE_OBJECT, rec);
}

void rpd_take_kernel(struct rpd_import *im, sqlite3_stmt *stmt)
{
	struct cap_rec_kernel rec = {
		.h.what = U32(0),
		.code_object = U32(1),
		.name_str = rpd_import_string(im, rpd_text(stmt, 2)),
		.kernel_object = U64(3),
		.kernarg_bytes = U32(4),
		.kernarg_alignment = U32(5),
		.group_bytes = U32(6),
		.private_bytes = U32(7),
		.sgpr_count = U32(8),
		.arch_vgpr_count = U32(9),
		.accum_vgpr_count = U32(10),
	};

	RPD_META(im, KERNEL, rec);
}

/* ---- counters ---- */

/* Rows are numbered by AMD's handles, which are wider than our ids. */
void rpd_take_counter(struct rpd_import *im, sqlite3_stmt *stmt)
{
	struct cap_rec_counter rec = {
		.h.what = (uint32_t)im->counters.n + 1,
		.agent = U32(1) + 1,
		.name_str = rpd_import_string(im, rpd_text(stmt, 2)),
		.description_str = rpd_import_string(im, rpd_text(stmt, 3)),
		.block_str = rpd_import_string(im, rpd_text(stmt, 4)),
		.expression_str = rpd_import_string(im, rpd_text(stmt, 5)),
		.flags = (U32(6) ? CAP_COUNTER_IS_CONSTANT : 0) |
			 (U32(7) ? CAP_COUNTER_IS_DERIVED : 0),
	};

	if (!ws_map_put_u64(&im->counters, U64(0), (void *)(uintptr_t)rec.h.what, im->err))
		RPD_META(im, COUNTER, rec);
}

void rpd_take_value(struct rpd_import *im, sqlite3_stmt *stmt)
{
	struct rpd_counted row = {
		.event = sqlite3_column_int64(stmt, 0),
		.value = { .counter = (uint32_t)(uintptr_t)ws_map_get_u64(&im->counters, U64(1)),
			   .value = sqlite3_column_double(stmt, 2) },
	};

	if (row.value.counter)
		ws_vec_push(&im->values, row, im->err);
}
